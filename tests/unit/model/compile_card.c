/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Caps of vNICs: each direction, sum, egress; packets, queues, flows, connections, paths. */
#include "tests/unit/model/lab.h"

static const struct compile_options here = {.machine = MACHINE_DEFAULT};

/* One VM `a` with this vNIC. */
static void one_vm(struct lab *l, const char *vnic, const struct compile_options *o)
{
	char text[1024];

	snprintf(text, sizeof(text),
		 "version: 1\nhosts: {h: {}}\nnetworks: {net: {cidr: 10.0.0.0/24}}\n"
		 "vms: {a: {network: net, vnic: {%s}}}\n",
		 vnic);
	lab_init_with(l, text, o, NULL);
}

static void test_each(void **state)
{
	const struct wire_link *link;
	struct lab l;

	(void)state;
	one_vm(&l, "rate: {base: 10mbit, burst: 50mbit, credit: 2s}, pps: 1kpps", &here);
	link = lab_link(&l, "a vNIC");
	assert_int_equal(link->shaper_ab, lab_dev(&l, "h", "a-out"));
	assert_int_equal(link->shaper_ba, lab_dev(&l, "h", "a-tap"));
	assert_false(link->sum);
	for (int i = 0; i < 2; i++) {
		const struct wire_dev *d = &l.w.devs.v[i ? link->shaper_ba : link->shaper_ab];

		assert_int_equal(d->egress.rate.bps, 10000000);
		assert_int_equal(d->egress.rate.burst_bps, 50000000);
		assert_int_equal(d->egress.rate.credit_ns, 2000000000);
		assert_int_equal(d->egress.rate.mode, SHAPE_EXACT);
		assert_int_equal(d->egress.pps.pps, 1000);
		assert_int_equal(d->egress_link, 0);
		assert_int_equal(d->egress_ba, i);
	}
	assert_string_equal(link->path, "vms.a.vnic");
	assert_null(link->profile);
	lab_done(&l);
}

static void test_egress(void **state)
{
	const struct wire_link *link;
	struct lab l;

	(void)state;
	one_vm(&l, "rate: 10mbit, pps: {police: 1kpps}, direction: egress", &here);
	link = lab_link(&l, "a vNIC");
	assert_int_equal(link->ab.rate.bps, 10000000);
	assert_int_equal(link->shaper_ab, lab_dev(&l, "h", "a-out"));
	assert_false(wire_shape_any(&link->ba));
	assert_int_equal(link->shaper_ba, -1);
	lab_expect_chain(&l, "h", "netdev tap", "from-a-tap",
			 "limit rate over 1000/second burst 50 packets counter drop\n"
			 "dup to \"a-out\"\ndrop\n");
	lab_expect_chain(&l, "h", "netdev tap", "from-a-out", "fwd to \"a-tap\"\n");
	lab_done(&l);
}

static void test_sum(void **state)
{
	const struct wire_link *link;
	const struct wire_dev *cap;
	struct lab l;

	(void)state;
	one_vm(&l, "rate: 10mbit, pps: {police: 1kpps}, direction: sum", &here);
	link = lab_link(&l, "a vNIC");
	cap = lab_dev_at(&l, "h", "a-cap");
	assert_true(link->sum);
	assert_int_equal(link->shaper_ab, lab_dev(&l, "h", "a-cap"));
	assert_int_equal(link->shaper_ba, link->shaper_ab);
	assert_int_equal(link->ba.rate.bps, 10000000);
	assert_int_equal(cap->role, ROLE_CAP);
	assert_int_equal(cap->egress.rate.bps, 10000000);
	assert_int_equal(cap->peer, lab_dev(&l, "h", "a-cpo"));
	assert_int_equal(lab_dev_at(&l, "h", "a-tap")->egress.rate.bps, 0);
	assert_int_equal(lab_dev_at(&l, "h", "a-out")->egress.rate.bps, 0);
	lab_expect_chain(&l, "h", "netdev tap", "from-a-tap",
			 "meta mark set 1\ndup to \"a-cap\"\ndrop\n");
	lab_expect_chain(&l, "h", "netdev tap", "from-a-out",
			 "meta mark set 2\nfwd to \"a-cap\"\n");
	/* One bucket for both. */
	lab_expect_chain(&l, "h", "netdev tap", "from-a-cpo",
			 "limit rate over 1000/second burst 50 packets counter drop\n"
			 "meta mark 1 fwd to \"a-out\"\nmeta mark 2 fwd to \"a-tap\"\n");
	lab_done(&l);
}

static void test_queues(void **state)
{
	static const char slots[] =
	    "meta protocol ip meta priority set jhash ip saddr . ip daddr mod 4 seed 0x1 offset "
	    "65792\n"
	    "meta protocol ip meta l4proto != icmp meta priority set jhash ip saddr . ip daddr . "
	    "th sport . th dport mod 4 seed 0x1 offset 65792\n"
	    "meta protocol ip6 meta priority set jhash ip6 saddr . ip6 daddr mod 4 seed 0x1 offset "
	    "65792\n"
	    "meta protocol ip6 meta l4proto != ipv6-icmp meta priority set jhash ip6 saddr . ip6 "
	    "daddr . th sport . th dport mod 4 seed 0x1 offset 65792\n";
	const struct wire_shape *s;
	char want[1024];
	struct lab l;

	(void)state;
	one_vm(&l, "rate: 20gbit, queues: {count: 4, rate_each: 5gbit, pps_each: 100kpps}", &here);
	s = &lab_dev_at(&l, "h", "a-out")->egress;
	assert_int_equal(s->queues.count, 4);
	assert_int_equal(s->queues.bps_each, INT64_C(5000000000));
	assert_int_equal(s->queues.pps_each, 100000);
	assert_int_equal(s->rate.mode, SHAPE_EXACT); /* above what `auto` is exact to */
	assert_int_equal(wire_shape_slots(s), 4);
	assert_int_equal(lab_dev_at(&l, "a", "eth0")->tx_queues, 4);
	assert_int_equal(lab_dev_at(&l, "a", "eth0")->rx_queues, 4);
	assert_int_equal(lab_dev_at(&l, "h", "a-tap")->tx_queues, 4);
	assert_int_equal(lab_dev_at(&l, "h", "a-out")->tx_queues, 0);
	snprintf(want, sizeof(want), "%sdup to \"a-out\"\ndrop\n", slots);
	lab_expect_chain(&l, "h", "netdev tap", "from-a-tap", want);
	snprintf(want, sizeof(want), "%sfwd to \"a-tap\"\n", slots);
	lab_expect_chain(&l, "h", "netdev tap", "from-a-out", want);
	lab_done(&l);
}

/* Queues that cap nothing are only the device's. */
static void test_bare_queues(void **state)
{
	struct lab l;

	(void)state;
	one_vm(&l, "queues: 2", &here);
	assert_int_equal(lab_dev_at(&l, "a", "eth0")->tx_queues, 2);
	assert_int_equal(lab_dev_at(&l, "h", "a")->rx_queues, 2);
	assert_int_equal(l.w.links.v[0].shaper_ab, -1);
	assert_int_equal(l.w.nft.n, 0);
	lab_done(&l);
}

static void test_flows(void **state)
{
	struct lab l;

	(void)state;
	one_vm(&l, "rate: 100mbit, per_flow: 10mbit, direction: sum", &here);
	assert_int_equal(lab_dev_at(&l, "h", "a-cap")->egress.flow_bps, 10000000);
	assert_int_equal(wire_shape_slots(&l.w.links.v[0].ab), WIRE_SLOTS_FLOW);
	/* Told apart before the marks, once for both devices' frames. */
	VEC_FOREACH (c, &l.w.nft) {
		if (str_eq(c->chain, "from-a-tap")) {
			assert_int_equal(c->rules.n, 4 + 3);
			assert_non_null(strstr(c->rules.v[0].text, "mod 256 "));
			assert_string_equal(c->rules.v[4].text, "meta mark set 1");
		}
	}
	lab_done(&l);
}

static void test_connections(void **state)
{
	struct lab l;

	(void)state;
	lab_init(
	    &l, "version: 1\nhosts: {h: {}}\nnetworks: {x: {cidr: 10.0.0.0/24}, y: {cidr: "
		"10.1.0.0/24}}\nvms: {a: {vnics: [{network: x}, {network: y, connections: 9}]}}\n");
	assert_int_equal(l.w.links.v[0].connections, 0);
	assert_int_equal(l.w.links.v[1].connections, 9);
	lab_expect_chain(&l, "a", "inet vnic", "connections-2",
			 "ct state new ct count over 9 counter drop\n");
	lab_expect_chain(&l, "a", "inet vnic", "input-2", "iifname \"eth1\" jump connections-2\n");
	lab_expect_chain(&l, "a", "inet vnic", "output-2", "oifname \"eth1\" jump connections-2\n");
	assert_int_equal(l.w.nft.n, 3); /* nothing is shaped: no taps */
	assert_string_equal(l.w.links.v[0].path, "vms.a.vnics.0");
	assert_string_equal(l.w.links.v[1].path, "vms.a.vnics.1");
	lab_done(&l);
}

static void test_unshaped(void **state)
{
	struct compile_options o = here;
	struct lab l;

	(void)state;
	o.unshaped = true;
	one_vm(&l,
	       "rate: 10mbit, pps: 1kpps, queues: {count: 2, rate_each: 1mbit}, per_flow: 1mbit, "
	       "connections: 5, direction: sum",
	       &o);
	assert_false(wire_shape_any(&l.w.links.v[0].ab));
	assert_false(l.w.links.v[0].sum);
	assert_int_equal(l.w.links.v[0].connections, 0);
	assert_int_equal(l.w.nft.n, 0);
	/* The card itself is the same. */
	assert_int_equal(lab_dev_at(&l, "a", "eth0")->tx_queues, 2);
	assert_int_equal(lab_dev_at(&l, "a", "eth0")->peer, lab_dev(&l, "h", "a"));
	lab_done(&l);
}

static void test_profile_and_count(void **state)
{
	struct lab l;

	(void)state;
	lab_init(&l, "version: 1\nscale: 1/2\nprofiles: {small: {rate: 10mbit, queues: 2}}\n"
		     "hosts: {h: {}}\nnetworks: {net: {cidr: 10.0.0.0/24}}\n"
		     "vms: {w: {network: net, count: 2, profile: small}}\n");
	assert_int_equal(l.w.links.n, 2);
	for (size_t i = 0; i < 2; i++) {
		assert_string_equal(l.w.links.v[i].profile, "small");
		assert_string_equal(l.w.links.v[i].path, "vms.w.vnic"); /* alike, changed alike */
		assert_int_equal(l.w.links.v[i].ab.rate.bps, 5000000);
		assert_int_equal(wire_shape_slots(&l.w.links.v[i].ab), 2);
	}
	lab_done(&l);
}

static void test_police_burst(void **state)
{
	(void)state;
	assert_int_equal(wire_police_burst(&(struct wire_pps){.pps = 100}), 20);
	assert_int_equal(wire_police_burst(&(struct wire_pps){.pps = 1000}), 50);
	assert_int_equal(wire_police_burst(&(struct wire_pps){.pps = 1000, .burst = 3}), 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_each),
	    cmocka_unit_test(test_egress),
	    cmocka_unit_test(test_sum),
	    cmocka_unit_test(test_queues),
	    cmocka_unit_test(test_bare_queues),
	    cmocka_unit_test(test_flows),
	    cmocka_unit_test(test_connections),
	    cmocka_unit_test(test_unshaped),
	    cmocka_unit_test(test_profile_and_count),
	    cmocka_unit_test(test_police_burst),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
