/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Networks with a VLAN: what they compile to, the way of their frames, and what is refused. */
#include <sys/socket.h>

#include "emulator/model/path.h"
#include "tests/unit/model/lab.h"

#define HEAD                                                                                       \
	"version: 1\nname: t\nfabric: {nic: {rate: 1gbit}}\nhosts: {h1: {}, h2: {}}\n"             \
	"networks:\n"                                                                              \
	"  plain: {type: flat, cidr: 10.9.0.0/24}\n"                                               \
	"  red: {type: flat, vlan: 100, cidr: 10.0.0.0/24, gateway: 10.0.0.254}\n"                 \
	"  blue: {type: flat, vlan: 4094, cidr: 10.0.0.0/24, gateway: 10.0.0.254}\n"               \
	"vms:\n"                                                                                   \
	"  p: {host: h1, network: plain}\n"                                                        \
	"  r1: {host: h1, network: red, vnic: {address: 10.0.0.1}}\n"                              \
	"  r2: {host: h2, network: red, vnic: {address: 10.0.0.2}}\n"                              \
	"  b1: {host: h1, network: blue, vnic: {address: 10.0.0.1}}\n"                             \
	"  b2: {host: h2, network: blue, vnic: {address: 10.0.0.2}}\n"

static void init(struct lab *l, bool vlan, const char *set)
{
	struct compile_options o = {.machine = MACHINE_DEFAULT};

	o.machine.vlan = vlan;
	lab_init_with(l, HEAD, &o, set);
}

static const struct wire_dev *dev(const struct lab *l, const char *node, const char *name)
{
	return &l->w.devs.v[lab_dev(l, node, name)];
}

static void test_linux(void **state)
{
	struct lab l;

	(void)state;
	init(&l, true, NULL);
	for (int i = 0; i < 2; i++) {
		const char *host = i ? "h2" : "h1";
		const struct wire_dev *d = dev(&l, host, "nic.100");

		assert_int_equal(d->kind, DEV_VLAN);
		assert_int_equal(d->vlan, 100);
		assert_int_equal(d->lower, lab_dev(&l, host, "nic"));
		assert_int_equal(d->master, lab_dev(&l, host, "br-red"));
		assert_int_equal(d->mtu, 1500);
		assert_int_equal(dev(&l, host, "nic.4094")->vlan, 4094);
		assert_int_equal(wire_find_dev(&l.w, lab_node(&l, host), "nic2"), -1);
	}
	/* One bridge and one wire to each host carry all. */
	assert_int_equal(wire_find_dev(&l.w, lab_node(&l, "fabric"), "br1"), -1);
	assert_int_equal(wire_find_dev(&l.w, lab_node(&l, "fabric"), "h1-2"), -1);
	assert_int_equal(l.w.choices.n, 0);
	lab_done(&l);
}

static void test_without_8021q(void **state)
{
	struct lab l;

	(void)state;
	init(&l, false, NULL);
	VEC_FOREACH (d, &l.w.devs)
		assert_int_not_equal(d->kind, DEV_VLAN);
	assert_int_equal(dev(&l, "h1", "nic2")->master, lab_dev(&l, "h1", "br-red"));
	assert_int_equal(dev(&l, "fabric", "h1-2")->master, lab_dev(&l, "fabric", "br1"));
	assert_int_equal(l.w.choices.n, 2);
	assert_string_equal(l.w.choices.v[0].what, "vlan 100");
	assert_string_equal(l.w.choices.v[0].how, "own wire; 802.1Q not in this kernel");
	assert_string_equal(l.w.choices.v[1].what, "vlan 4094");
	lab_done(&l);
}

/* Open vSwitch tags by itself, but a Linux host at the other end cannot. */
static void test_ovs(void **state)
{
	struct compile_options o = {.machine = MACHINE_DEFAULT};
	const char *set = "hosts.h1.bridge=ovs";
	struct lab l;

	(void)state;
	init(&l, false, set);
	assert_int_equal(l.w.choices.n, 2);
	lab_done(&l);
	init(&l, true, set);
	const struct wire_dev *tag = dev(&l, "h1", "vlan100-tag");
	assert_int_equal(tag->vlan, 100);
	assert_int_equal(tag->master, lab_dev(&l, "h1", "br-plain"));
	assert_int_equal(tag->peer, lab_dev(&l, "h1", "vlan100"));
	assert_int_equal(dev(&l, "h1", "vlan100")->master, lab_dev(&l, "h1", "br-red"));
	assert_int_equal(dev(&l, "h1", "vlan100")->vlan, 0);
	assert_int_equal(dev(&l, "h2", "nic.100")->kind, DEV_VLAN);
	assert_int_equal(l.w.choices.n, 0);
	lab_done(&l);
	o.machine.vlan = false;
	lab_init_with(&l,
		      "version: 1\nname: t\nhosts: {h1: {bridge: ovs}, h2: {bridge: ovs}}\n"
		      "networks: {red: {type: flat, vlan: 5, cidr: 10.0.0.0/24}}\n"
		      "vms: {a: {host: h1, network: red}, b: {host: h2, network: red}}\n",
		      &o, NULL);
	assert_int_equal(l.w.choices.n, 0);
	assert_int_equal(dev(&l, "h1", "vlan5-tag")->vlan, 5);
	lab_done(&l);
}

static void check_way(const struct lab *l, const char *from, const char *to, const char *text)
{
	autostr struct strbuf out = {0};
	struct err err = ERR_INIT;
	struct path p;

	if (path_find(&l->w, from, to, AF_INET, &p, &err))
		fail_msg("%s", err.text);
	assert_string_equal(l->w.nodes.v[p.dst_node].name, to);
	VEC_FOREACH (hop, &p.hops) {
		strbuf_addf(&out, "%s: %s", l->w.nodes.v[hop->node].name, hop->text);
		/* No shaper and no counter of Linux sees the tag. */
		assert_int_equal(hop->encap_bytes, 0);
		if (hop->shaper >= 0)
			strbuf_addf(&out, " [%s]", l->w.devs.v[hop->shaper].name);
		strbuf_addc(&out, '\n');
	}
	assert_int_equal(p.mtu, 1500);
	assert_string_equal(strbuf_text(&out), text);
	path_done(&p);
}

static void test_way(void **state)
{
	struct lab l;

	(void)state;
	init(&l, true, NULL);
	check_way(&l, "r1", "r2",
		  "r1: 10.0.0.1 → 10.0.0.2\nh1: forward to r1-out\nh1: tag VLAN 100 [nic]\n"
		  "fabric: forward to h2 [h2]\nh2: forward to r2\nh2: forward to r2\n"
		  "r2: 10.0.0.1 → 10.0.0.2\n");
	check_way(&l, "b2", "b1",
		  "b2: 10.0.0.2 → 10.0.0.1\nh2: forward to b2-out\nh2: tag VLAN 4094 [nic]\n"
		  "fabric: forward to h1 [h1]\nh1: forward to b1\nh1: forward to b1\n"
		  "b1: 10.0.0.2 → 10.0.0.1\n");
	lab_done(&l);
	init(&l, true, "hosts.h1.bridge=ovs");
	check_way(&l, "r1", "r2",
		  "r1: 10.0.0.1 → 10.0.0.2\nh1: forward to r1-out\nh1: forward to vlan100\n"
		  "h1: forward to nic [nic]\nfabric: forward to h2 [h2]\nh2: forward to r2\n"
		  "h2: forward to r2\nr2: 10.0.0.1 → 10.0.0.2\n");
	check_way(&l, "b2", "b1",
		  "b2: 10.0.0.2 → 10.0.0.1\nh2: forward to b2-out\nh2: tag VLAN 4094 [nic]\n"
		  "fabric: forward to h1 [h1]\nh1: untag VLAN 4094\nh1: forward to b1\n"
		  "h1: forward to b1\nb1: 10.0.0.2 → 10.0.0.1\n");
	lab_done(&l);
}

/* Same addresses, other VLAN: never reached; nor is what is untagged. */
static void test_apart(void **state)
{
	struct err err = ERR_INIT;
	struct path p;
	struct lab l;

	(void)state;
	init(&l, true, NULL);
	assert_int_not_equal(path_find(&l.w, "r1", "b2", AF_INET, &p, &err), 0);
	path_done(&p);
	assert_int_not_equal(path_find(&l.w, "p", "r2", AF_INET, &p, &err), 0);
	path_done(&p);
	lab_done(&l);
}

static void test_picture(void **state)
{
	struct strbuf out = {0};
	struct err err = ERR_INIT;
	struct lab l;

	(void)state;
	init(&l, true, NULL);
	assert_int_equal(graph_print(&l.w, "text", &out, &err), 0);
	assert_non_null(strstr(strbuf_text(&out), "nic.100"));
	assert_non_null(strstr(strbuf_text(&out), "VLAN 100 on nic"));
	strbuf_done(&out);
	assert_int_equal(graph_print(&l.w, "dot", &out, &err), 0);
	assert_non_null(strstr(strbuf_text(&out), "label=\"VLAN 4094\""));
	strbuf_done(&out);
	lab_done(&l);
}

static void test_refused(void **state)
{
	static const struct {
		const char *networks, *problem;
	} cases[] = {
	    {"a: {type: flat, vlan: 0, cidr: 10.0.0.0/24}", "vlan"},
	    {"a: {type: flat, vlan: 4095, cidr: 10.0.0.0/24}", "vlan"},
	    {"a: {type: flat, vlan: red, cidr: 10.0.0.0/24}", "vlan"},
	    {"a: {type: vpc, vlan: 5, cidr: 10.0.0.0/24}",
	     "network 'a' is a vpc: its layer 2 is its overlay, not 'vlan'"},
	    {"a: {type: flat, vlan: 5, l2: x, cidr: 10.0.0.0/24}",
	     "a VLAN is on the wire that all hosts share"},
	    {"a: {type: flat, vlan: 5, cidr: 10.0.0.0/24}, "
	     "b: {type: flat, vlan: 5, cidr: 10.1.0.0/24}",
	     "networks 'a' and 'b' have the same VLAN 5"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		autofree char *text =
		    mem_printf("version: 1\nname: t\nhosts: {h1: {}, h2: {}}\nnetworks: {%s}\n",
			       cases[i].networks);
		struct topology_source src = {.main = {"lab.yaml", text, strlen(text)}};
		autostr struct strbuf out = {0};
		struct problems p;

		problems_init(&p);
		topology_free(topology_parse(&src, &p));
		assert_int_not_equal(problems_count(&p), 0);
		problems_print(&p, &out);
		if (!strstr(strbuf_text(&out), cases[i].problem))
			fail_msg("%s: %s", cases[i].networks, strbuf_text(&out));
		problems_done(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_linux),   cmocka_unit_test(test_without_8021q),
	    cmocka_unit_test(test_ovs),	    cmocka_unit_test(test_way),
	    cmocka_unit_test(test_apart),   cmocka_unit_test(test_picture),
	    cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
