/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Links with limits and impairments: middles, spans, who impairs, scale, offloads, paths. */
#include "tests/unit/model/lab.h"

#define CUT (OFFLOAD_TSO | OFFLOAD_GSO | OFFLOAD_GRO | OFFLOAD_UDP_SEG)

/* Two machines with addresses and one link, of which `more` says what it is. */
static void two_machines(struct lab *l, const char *more, const struct compile_options *o)
{
	char text[1024];

	snprintf(text, sizeof(text),
		 "version: 1\nnodes: {a: {addresses: [10.0.0.1/24]}, b: {addresses: "
		 "[10.0.0.2/24]}}\nlinks:\n  - {endpoints: [\"a:e\", \"b:e\"]%s}\n",
		 more);
	lab_init_with(l, text, o, NULL);
}

static const struct compile_options here = {.machine = MACHINE_DEFAULT};

static void expect_spans(const struct lab *l, const struct wire_link *link)
{
	assert_int_equal(link->middle[0], lab_dev(l, "wires", "a-e"));
	assert_int_equal(link->middle[1], lab_dev(l, "wires", "b-e"));
	assert_int_equal(link->span[0], lab_dev(l, "wires", "a-e-span"));
	assert_int_equal(link->span[1], lab_dev(l, "wires", "b-e-span"));
	assert_int_equal(l->w.devs.v[link->span[0]].peer, link->span[1]);
	assert_int_equal(l->w.devs.v[link->span[0]].role, ROLE_SPAN);
	assert_int_equal(l->w.devs.v[link->dev_a].peer, link->middle[0]);
	assert_int_equal(l->w.devs.v[link->dev_b].peer, link->middle[1]);
	lab_expect_chain(l, "wires", "netdev wires", "from-a-e", "fwd to \"a-e-span\"\n");
	lab_expect_chain(l, "wires", "netdev wires", "from-b-e", "fwd to \"b-e-span\"\n");
}

static void test_netem(void **state)
{
	const struct wire_link *link;
	struct lab l;

	(void)state;
	two_machines(&l, ", rate: 10mbit, delay: 5ms, ba: {loss: 1%}", &here);
	link = lab_link(&l, "a-b");
	assert_int_equal(link->engine, IMPAIR_NETEM);
	expect_spans(&l, link);
	lab_expect_chain(&l, "wires", "netdev wires", "from-b-e-span", "fwd to \"b-e\"\n");
	lab_expect_chain(&l, "wires", "netdev wires", "from-a-e-span", "fwd to \"a-e\"\n");
	/* What a sends: the rate before the impairment. */
	assert_int_equal(link->shaper_ab, link->span[0]);
	assert_int_equal(link->shaper_ba, link->span[1]);
	assert_int_equal(l.w.devs.v[link->span[0]].egress.rate.bps, 10000000);
	assert_true(l.w.devs.v[link->span[1]].egress_ba);
	assert_int_equal(l.w.devs.v[link->middle[1]].netem_link, 0);
	assert_false(l.w.devs.v[link->middle[1]].netem_ba);
	assert_int_equal(l.w.devs.v[link->middle[0]].netem_link, 0);
	assert_true(l.w.devs.v[link->middle[0]].netem_ba);
	assert_int_equal(l.w.devs.v[link->middle[0]].egress.rate.bps, 0);
	assert_int_equal(link->impair_ab.delay_ns, 5000000);
	assert_int_equal(link->impair_ab.loss, LOSS_NONE);
	assert_int_equal(link->impair_ba.loss_ppm, 10000);
	assert_string_equal(link->path, "links.0");
	lab_done(&l);
}

static void test_relay(void **state)
{
	const struct wire_link *link;
	struct lab l;

	(void)state;
	two_machines(&l, ", rate: 10mbit, loss: {every: 100}", &here);
	link = lab_link(&l, "a-b");
	assert_int_equal(link->engine, IMPAIR_RELAY);
	expect_spans(&l, link);
	/* Nobody hands on what the relay takes. */
	lab_expect_chain(&l, "wires", "netdev wires", "from-b-e-span", "drop\n");
	lab_expect_chain(&l, "wires", "netdev wires", "from-a-e-span", "drop\n");
	VEC_FOREACH (d, &l.w.devs)
		assert_int_equal(d->netem_link, -1);
	assert_int_equal(link->shaper_ab, link->span[0]);
	/* Its frames are single, their checksums done. */
	assert_int_equal(l.w.devs.v[link->dev_a].offloads_off, CUT | OFFLOAD_TX);
	assert_int_equal(l.w.devs.v[link->span[1]].offloads_off, CUT | OFFLOAD_TX);
	assert_int_equal(l.w.devs.v[link->middle[1]].offloads_off, OFFLOAD_GRO);
	lab_done(&l);
}

static void test_who_impairs(void **state)
{
	static const struct {
		const char *more;
		bool netem;
		enum impair_engine want;
	} cases[] = {
	    {"", true, IMPAIR_NONE},
	    {", delay: 0s", true, IMPAIR_NETEM},
	    {", delay: 1ms", false, IMPAIR_RELAY},
	    {", delay: 1ms, via: relay", true, IMPAIR_RELAY},
	    {", delay: 1ms, via: netem", true, IMPAIR_NETEM},
	    {", delay: 5ms, jitter: {pareto: 1ms, correlation: 25%}", true, IMPAIR_NETEM},
	    {", loss: {random: 1%, correlation: 10%}", true, IMPAIR_NETEM},
	    {", loss: {bursts: {to_bad: 1%, to_good: 50%}}", true, IMPAIR_NETEM},
	    {", duplication: 1%, corruption: 0.1%", true, IMPAIR_NETEM},
	    {", loss: {every: 10}", true, IMPAIR_RELAY},
	    {", loss: {after: 10}", true, IMPAIR_RELAY},
	    {", ba: {reordering: 1%}", true, IMPAIR_RELAY},
	    {", delay: 1ms, ab: {flap: {up: 1s, down: 1s}}", true, IMPAIR_RELAY},
	    {", black_hole: 1400", true, IMPAIR_RELAY},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct compile_options o = here;
		struct lab l;

		o.machine.netem = cases[i].netem;
		two_machines(&l, cases[i].more, &o);
		if (l.w.links.v[0].engine != cases[i].want)
			fail_msg("'%s' is done by %d", cases[i].more, l.w.links.v[0].engine);
		assert_int_equal(l.w.links.v[0].span[0] >= 0, cases[i].want != IMPAIR_NONE);
		lab_done(&l);
	}
}

static void expect_choices(const char *more, const struct compile_options *o, const char *want)
{
	struct strbuf got = {0};
	struct lab l;

	two_machines(&l, more, o);
	VEC_FOREACH (choice, &l.w.choices)
		strbuf_addf(&got, "%s: %s\n", choice->what, choice->how);
	assert_string_equal(strbuf_text(&got), want);
	strbuf_done(&got);
	lab_done(&l);
}

/* What this machine lacks is told, what was asked for is not. */
static void test_choices(void **state)
{
	struct compile_options bare = here;

	(void)state;
	bare.machine.netem = bare.machine.police = false;
	expect_choices(", delay: 1ms", &bare, "impairments: the relay; netem not in this kernel\n");
	expect_choices(", police: 1mbit", &bare,
		       "police: a queue of two frames; act_police not in this kernel\n");
	expect_choices(", loss: {every: 3}", &bare, "");
	expect_choices(", delay: 1ms, via: relay", &bare, "");
	expect_choices(", delay: 1ms, police: 1mbit", &here, "");
}

static void expect_problem(const char *more, const struct compile_options *o, const char *want)
{
	static const char base[] =
	    "version: 1\nnodes: {a: {}, b: {}}\nlinks:\n  - {endpoints: [\"a:e\", \"b:e\"], %s}\n";
	struct strbuf out = {0};
	struct topology *t;
	struct problems p;
	struct wire w;
	char text[512];
	int len = snprintf(text, sizeof(text), base, more);

	problems_init(&p);
	t = topology_parse(&(struct topology_source){.main = {"lab.yaml", text, (size_t)len}}, &p);
	topology_compile(t, o, &w, &p);
	problems_print(&p, &out);
	if (!strstr(strbuf_text(&out), want))
		fail_msg("'%s' is not in: %s", want, strbuf_text(&out));
	strbuf_done(&out);
	wire_done(&w);
	topology_free(t);
	problems_done(&p);
}

static void test_netem_cannot(void **state)
{
	struct compile_options without = here;

	(void)state;
	without.machine.netem = false;
	expect_problem("via: netem, loss: {every: 10}", &here, "netem");
	expect_problem("via: netem, delay: 1ms", &without, "lab.yaml:4:");
}

static void traced(struct wire *w, const char *scale)
{
	const struct topology_file file = {"t.up", "1\n5\n5\n20\n40\n", 12};
	struct topology_source src = {.files = &file, .n_files = 1};
	struct topology *t;
	struct problems p;
	char text[256];

	snprintf(text, sizeof(text),
		 "version: 1\nscale: %s\nnodes: {a: {}, b: {}}\nlinks:\n"
		 "  - {endpoints: [\"a:e\", \"b:e\"], ab: {trace: t.up}}\n",
		 scale);
	src.main = (struct topology_file){"lab.yaml", text, strlen(text)};
	problems_init(&p);
	t = topology_parse(&src, &p);
	topology_compile(t, &here, w, &p);
	topology_free(t);
	assert_int_equal(problems_count(&p), 0);
	problems_done(&p);
}

/* A trace is delivered by the relay, at times that outlive the topology. */
static void test_trace(void **state)
{
	const struct wire_impair *i;
	struct wire w;

	(void)state;
	traced(&w, "1");
	assert_int_equal(w.links.v[0].engine, IMPAIR_RELAY);
	i = &w.links.v[0].impair_ab;
	assert_int_equal(i->trace_n, 5);
	assert_int_equal(i->trace_ms[0], 1);
	assert_int_equal(i->trace_ms[4], 40);
	assert_string_equal(i->trace_file, "t.up");
	assert_int_equal(w.links.v[0].impair_ba.trace_n, 0);
	wire_done(&w);
}

/* The share of deliveries that is left is spread, and the period stays. */
static void test_scaled_trace(void **state)
{
	const struct wire_impair *i;
	struct wire w;

	(void)state;
	traced(&w, "1/2");
	i = &w.links.v[0].impair_ab;
	assert_int_equal(i->trace_n, 3);
	assert_int_equal(i->trace_ms[0], 1);
	assert_int_equal(i->trace_ms[1], 5);
	assert_int_equal(i->trace_ms[2], 40);
	wire_done(&w);
	traced(&w, "1/1000");
	i = &w.links.v[0].impair_ab;
	assert_int_equal(i->trace_n, 1);
	assert_int_equal(i->trace_ms[0], 40);
	wire_done(&w);
}

/* Without an impairment there is no span, and routers shape themselves. */
static void test_short_middle(void **state)
{
	const struct wire_link *link;
	struct lab l;

	(void)state;
	two_machines(&l, ", rate: 10mbit", &here);
	link = lab_link(&l, "a-b");
	assert_int_equal(link->span[0], -1);
	assert_int_equal(link->middle[0], lab_dev(&l, "wires", "a-e"));
	assert_int_equal(link->shaper_ab, link->middle[1]);
	lab_expect_chain(&l, "wires", "netdev wires", "from-a-e", "fwd to \"b-e\"\n");
	lab_done(&l);
	two_machines(&l, "", &here);
	assert_int_equal(lab_link(&l, "a-b")->middle[0], -1);
	assert_int_equal(wire_find_node(&l.w, "wires"), -1);
	lab_done(&l);
}

static void test_packets(void **state)
{
	const struct wire_link *link;
	struct lab l;

	(void)state;
	two_machines(&l, ", pps: 10kpps, rate: 20gbit", &here);
	link = lab_link(&l, "a-b");
	/* One frame is one packet only where frames are single. */
	assert_int_equal(link->ab.rate.mode, SHAPE_EXACT);
	assert_int_equal(link->ab.pps.pps, 10000);
	assert_int_equal(link->shaper_ab, link->middle[1]);
	assert_int_equal(l.w.devs.v[link->middle[1]].egress.pps.pps, 10000);
	assert_int_equal(l.w.devs.v[link->dev_a].offloads_off, CUT);
	lab_done(&l);
	two_machines(&l, ", pps: {police: 10kpps, burst: 64}, ba: {pps: {police: 100pps}}", &here);
	lab_expect_chain(&l, "wires", "netdev wires", "from-a-e",
			 "limit rate over 10000/second burst 64 packets counter drop\n"
			 "fwd to \"b-e\"\n");
	lab_expect_chain(&l, "wires", "netdev wires", "from-b-e",
			 "limit rate over 100/second burst 20 packets counter drop\n"
			 "fwd to \"a-e\"\n");
	lab_done(&l);
}

/* Routers get a middle where a rule polices what they send. */
static void test_police_of_router(void **state)
{
	struct lab l;

	(void)state;
	lab_init(&l, "version: 1\nnodes: {r: {kind: router}, q: {kind: router}}\nlinks:\n"
		     "  - {endpoints: [\"r:e\", \"q:e\"], rate: 10mbit, ab: {pps: {police: "
		     "1kpps}}}\n");
	assert_int_equal(l.w.links.v[0].shaper_ab, lab_dev(&l, "r", "e"));
	assert_int_equal(l.w.links.v[0].shaper_ba, lab_dev(&l, "q", "e"));
	lab_expect_chain(&l, "wires", "netdev wires", "from-r-e",
			 "limit rate over 1000/second burst 50 packets counter drop\n"
			 "fwd to \"q-e\"\n");
	lab_expect_chain(&l, "wires", "netdev wires", "from-q-e", "fwd to \"r-e\"\n");
	lab_done(&l);
}

static void test_modes(void **state)
{
	struct compile_options o = here;
	struct lab l;

	(void)state;
	o.machine.exact_max_bps = 1000;
	two_machines(&l, ", rate: 10mbit, delay: 1ms", &o);
	assert_int_equal(l.w.links.v[0].ab.rate.mode, SHAPE_EXACT);
	assert_int_equal(lab_dev_at(&l, "a", "e")->offloads_off, CUT);
	lab_done(&l);
	/* netem takes super-packets where speed is wanted … */
	two_machines(&l, ", rate: 10mbit, delay: 1ms, mode: fast", &o);
	assert_int_equal(l.w.links.v[0].ab.rate.mode, SHAPE_FAST);
	assert_int_equal(lab_dev_at(&l, "a", "e")->offloads_off, 0);
	lab_done(&l);
	/* … the relay does not. */
	two_machines(&l, ", rate: 10mbit, delay: 1ms, mode: fast, via: relay", &o);
	assert_int_equal(l.w.links.v[0].ab.rate.mode, SHAPE_EXACT);
	assert_int_equal(lab_dev_at(&l, "a", "e")->offloads_off, CUT | OFFLOAD_TX);
	lab_done(&l);
}

static void test_unshaped(void **state)
{
	struct compile_options o = here;
	struct lab l;

	(void)state;
	o.unshaped = true;
	two_machines(&l, ", rate: 10mbit, delay: 1ms, loss: 1%", &o);
	assert_int_equal(l.w.links.v[0].engine, IMPAIR_NONE);
	assert_false(l.w.links.v[0].impair_ab.given);
	assert_false(wire_shape_any(&l.w.links.v[0].ab));
	assert_int_equal(lab_dev_at(&l, "a", "e")->peer, lab_dev(&l, "b", "e"));
	/* Single frames, as its twin has them. */
	assert_int_equal(lab_dev_at(&l, "a", "e")->offloads_off, CUT);
	lab_done(&l);
}

static const char fabric[] = "version: 1\nscale: 1/20\nhosts: {h1: {}, h2: {nic: {rate: 2gbit}}}\n"
			     "fabric: {nic: {rate: 1gbit, queue: 100kB}, delay: 1ms}\n"
			     "networks: {net: {cidr: 10.0.0.0/24}}\n";

static void test_fabric(void **state)
{
	const struct wire_link *one, *two;
	struct lab l;

	(void)state;
	lab_init(&l, fabric);
	one = lab_link(&l, "h1 uplink");
	two = lab_link(&l, "h2 uplink");
	assert_int_equal(one->engine, IMPAIR_NETEM);
	assert_int_equal(one->impair_ab.delay_ns, 1000000);
	assert_false(one->impair_ba.given); /* of what each host sends */
	assert_int_equal(one->dev_a, lab_dev(&l, "h1", "nic"));
	assert_int_equal(one->dev_b, lab_dev(&l, "fabric", "h1"));
	assert_int_equal(one->shaper_ab, lab_dev(&l, "wires", "h1-nic-span"));
	assert_int_equal(one->shaper_ba, lab_dev(&l, "wires", "fabric-h1-span"));
	/* Bridges see a plain link. */
	assert_int_equal(lab_dev_at(&l, "h1", "nic")->master, lab_dev(&l, "h1", "br-net"));
	assert_true(
	    mac_equal(&lab_dev_at(&l, "h1", "nic")->mac, &lab_dev_at(&l, "h1", "br-net")->mac));
	/* No two hosts lose the same packets. */
	assert_true(one->impair_ab.seed != two->impair_ab.seed);
	lab_done(&l);
}

static void test_scale(void **state)
{
	struct lab l;

	(void)state;
	lab_init(&l, fabric);
	assert_int_equal(l.w.scale_num, 1);
	assert_int_equal(l.w.scale_den, 20);
	assert_int_equal(lab_link(&l, "h1 uplink")->ab.rate.bps, 50000000);
	assert_int_equal(lab_link(&l, "h2 uplink")->ab.rate.bps, 100000000);
	assert_int_equal(lab_link(&l, "h1 uplink")->ab.rate.queue_bytes, 5000);
	assert_int_equal(lab_link(&l, "h1 uplink")->impair_ab.delay_ns, 1000000);
	lab_done(&l);
	lab_init(&l, "version: 1\nscale: 1/1000000\nhosts: {h: {}}\n"
		     "networks: {net: {cidr: 10.0.0.0/24}}\nvms: {a: {network: net, vnic: {rate: "
		     "{base: 1mbit, burst: 400gbit, credit: 3s}, pps: {shape: 100kpps, burst: "
		     "300}, queue: 20ms}}}\n");
	/* Nothing becomes nothing, and times stay. */
	assert_int_equal(l.w.links.v[0].ab.rate.bps, 8);
	assert_int_equal(l.w.links.v[0].ab.rate.burst_bps, 400000);
	assert_int_equal(l.w.links.v[0].ab.rate.credit_ns, INT64_C(3000000000));
	assert_int_equal(l.w.links.v[0].ab.rate.queue_ns, 20000000);
	assert_int_equal(l.w.links.v[0].ab.pps.pps, 1);
	assert_int_equal(l.w.links.v[0].ab.pps.burst, 1);
	lab_done(&l);
}

/* `auto` asks what the machine has to carry, which is the scaled rate. */
static void test_scaled_mode(void **state)
{
	struct compile_options o = here;
	struct lab l;

	(void)state;
	o.machine.exact_max_bps = 50000000;
	lab_init_with(&l, fabric, &o, NULL);
	assert_int_equal(lab_link(&l, "h1 uplink")->ab.rate.mode, SHAPE_EXACT);
	lab_done(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_netem),	 cmocka_unit_test(test_relay),
	    cmocka_unit_test(test_who_impairs),	 cmocka_unit_test(test_choices),
	    cmocka_unit_test(test_netem_cannot), cmocka_unit_test(test_trace),
	    cmocka_unit_test(test_scaled_trace), cmocka_unit_test(test_short_middle),
	    cmocka_unit_test(test_packets),	 cmocka_unit_test(test_police_of_router),
	    cmocka_unit_test(test_modes),	 cmocka_unit_test(test_unshaped),
	    cmocka_unit_test(test_fabric),	 cmocka_unit_test(test_scale),
	    cmocka_unit_test(test_scaled_mode),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
