/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a running lab needs to become another one: which operations, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "emulator/model/topology.h"
#include "emulator/plan/plan_diff.h"

static const char topology[] = "version: 1\n"
			       "nodes:\n"
			       "  a: {addresses: [10.0.0.1/24]}\n"
			       "  b: {addresses: [10.0.0.2/24]}\n"
			       "  c: {addresses: [10.0.1.1/24]}\n"
			       "  d: {addresses: [10.0.1.2/24]}\n"
			       "hosts: {h1: {}, h2: {}}\n"
			       "networks: {net: {type: flat, cidr: 10.1.0.0/24}}\n"
			       "vms:\n"
			       "  v: {host: h1, network: net, vnic: {pps: 1kpps}}\n"
			       "  w: {host: h2, network: net}\n"
			       "links:\n"
			       "  - {endpoints: [\"a:e\", \"b:e\"], rate: 10mbit, delay: 0s, via: "
			       "relay}\n"
			       "  - {endpoints: [\"c:e\", \"d:e\"]}\n";

struct lab { /* the topology with one override more than a lab has */
	struct wire wire;
	struct plan plan;
};

static void lab_init(struct lab *l, const char *const *sets, size_t n)
{
	const struct compile_options o = {.machine = MACHINE_DEFAULT};
	struct strbuf out = {0};
	struct problems p;

	problems_init(&p);
	struct topology *t = topology_parse(
	    &(struct topology_source){
		.main = {"t.yaml", topology, strlen(topology)}, .sets = sets, .n_sets = n},
	    &p);
	wire_init(&l->wire);
	if (!problems_count(&p)) {
		wire_done(&l->wire);
		topology_compile(t, &o, &l->wire, &p);
	}
	problems_print(&p, &out);
	assert_string_equal(strbuf_text(&out), "");
	plan_build(&l->wire, &o.machine, &l->plan);
	topology_free(t);
	problems_done(&p);
	strbuf_done(&out);
}

static void lab_done(struct lab *l)
{
	plan_done(&l->plan);
	wire_done(&l->wire);
}

/* A line a change: "wires tc change DEV 1:0", "h1 rule 0 of 3 TEXT", … */
static void write_change(const struct plan_change *c, struct strbuf *out)
{
	static const char *const words[] = {
	    [PLAN_OFFLOAD] = "offload",
	    [PLAN_TC_ADD] = "tc add",
	    [PLAN_TC_CHANGE] = "tc change",
	    [PLAN_TC_DELETE] = "tc delete",
	    [PLAN_RULE] = "rule",
	    [PLAN_CHAIN] = "chain",
	    [PLAN_CHAIN_DELETE] = "no chain",
	    [PLAN_RELAY] = "relay",
	};

	strbuf_addf(out, "%s: %s", c->ns, words[c->kind]);
	if (c->kind == PLAN_OFFLOAD)
		strbuf_addf(out, " %s off %x on %x", c->dev, c->off, c->on);
	else if (c->kind <= PLAN_TC_DELETE)
		strbuf_addf(out, " %s%s %x:%x", c->maybe ? "maybe " : "", c->dev,
			    c->op->tc.handle >> 16, c->op->tc.handle & 0xffff);
	else if (c->kind == PLAN_RULE)
		strbuf_addf(out, " %zu of %zu: %s", c->place, c->of, c->op->nft.text);
	else if (c->kind == PLAN_CHAIN)
		strbuf_addf(out, " %s with %zu rules", c->op->nft.chain, c->n_rules);
	else if (c->kind == PLAN_CHAIN_DELETE)
		strbuf_addf(out, " %s", c->op->nft.chain);
	else
		strbuf_addf(out, " %s", c->op->relay.link);
	strbuf_addc(out, '\n');
}

/* From the topology with `from` to that with `to`; either may be NULL. */
static void expect(const char *from, const char *to, const char *wanted)
{
	struct lab before, after;
	struct plan_diff diff;
	struct strbuf out = {0};
	struct err err = ERR_INIT;

	lab_init(&before, &from, from ? 1 : 0);
	lab_init(&after, &to, to ? 1 : 0);
	const struct plan_diff_side was = {&before.wire, &before.plan};
	const struct plan_diff_side is = {&after.wire, &after.plan};
	if (plan_diff(&was, 1, &is, &diff, &err)) {
		assert_int_equal(err.kind, ERR_INPUT);
		strbuf_add(&out, err.text);
	}
	VEC_FOREACH (c, &diff.changes)
		write_change(c, &out);
	assert_string_equal(strbuf_text(&out), wanted);
	plan_diff_done(&diff);
	lab_done(&before);
	lab_done(&after);
	strbuf_done(&out);
}

static void test_same(void **state)
{
	(void)state;
	expect(NULL, NULL, "");
	expect("links.0.rate=20mbit", "links.0.rate=20mbit", "");
}

static void test_tc(void **state)
{
	(void)state;
	/* figures change where they are */
	expect(NULL, "links.0.rate=20mbit",
	       "wires: tc change a-e-span 1:0\nwires: tc change b-e-span 1:0\n");
	expect(NULL, "links.0.ab={rate: 20mbit}", "wires: tc change a-e-span 1:0\n");
	/* a second limit is the child of the first, and goes again */
	expect(NULL, "links.0.pps=1kpps",
	       "wires: tc add a-e-span 2:0\nwires: tc add a-e-span 3:0\n"
	       "wires: tc change a-e-span 1:0\n"
	       "wires: tc add b-e-span 2:0\nwires: tc add b-e-span 3:0\n"
	       "wires: tc change b-e-span 1:0\n");
	expect("links.0.ab={pps: 1kpps}", NULL,
	       "wires: tc delete a-e-span 2:0\nwires: tc change a-e-span 1:0\n");
	/* all limits away */
	expect(NULL,
	       "links.0.rate=", "wires: tc delete a-e-span 1:0\nwires: tc delete b-e-span 1:0\n");
	expect("links.0.rate=", NULL, "wires: tc add a-e-span 1:0\nwires: tc add b-e-span 1:0\n");
}

static void test_relay(void **state)
{
	(void)state;
	expect(NULL, "links.0.delay=5ms", "wires: relay a-b\n");
	expect("links.0.loss=1%", "links.0.loss={every: 100}", "wires: relay a-b\n");
}

static void test_rules(void **state)
{
	(void)state;
	/* one rule instead of another */
	expect("vms.v.vnic.pps={police: 1kpps}", "vms.v.vnic.pps={police: 2kpps}",
	       "h1: rule 0 of 3: limit rate over 2000/second burst 100 packets counter drop\n"
	       "h1: rule 0 of 2: limit rate over 2000/second burst 100 packets counter drop\n");
	/* a chain with a rule more or less is filled anew; a shaper becomes a rule */
	expect(NULL, "vms.v.vnic.pps={police: 1kpps}",
	       "h1: tc delete v-tap 1:0\n"
	       "h1: tc delete v-out 1:0\n"
	       "h1: chain from-v-tap with 3 rules\n"
	       "h1: chain from-v-out with 2 rules\n");
	/* chains that come and go */
	expect(NULL, "vms.v.vnic.connections=5",
	       "v: chain connections with 1 rules\n"
	       "v: chain input with 1 rules\n"
	       "v: chain output with 1 rules\n");
	expect("vms.v.vnic.connections=5", NULL,
	       "v: no chain connections\n"
	       "v: no chain input\n"
	       "v: no chain output\n");
	expect("vms.v.vnic.connections=5", "vms.v.vnic.connections=6",
	       "v: rule 0 of 1: ct state new ct count over 6 counter drop\n");
}

static void test_refused(void **state)
{
	(void)state;
	expect(NULL, "links.1.delay=5ms",
	       "link 'c-d' has no middle where packets could be delayed or lost; declare `delay: "
	       "0s` for it in the topology, so that it can be changed later");
	expect(NULL, "links.1.rate=5mbit",
	       "link 'c-d' has no middle where packets could be limited; declare a rate or `delay: "
	       "0s` for it in the topology, so that it can be changed later");
	expect("links.1.rate=5mbit", NULL,
	       "link 'c-d' cannot lose its middle while the lab runs; declare `delay: 0s` for it "
	       "in the topology, or set `delay=0s` as well");
	expect(NULL, "links.0.mtu=9000",
	       "link 'a-b' has the MTU that it was built with; declare another one in the "
	       "topology");
	expect(NULL, "vms.v.vnic.queues={count: 4}",
	       "link 'v vNIC' has as many queues as it was built with; declare another `queues` in "
	       "the topology");
	expect(NULL, "nodes.a.addresses=[10.0.0.3/24]",
	       "this cannot change in a running lab: it would change addr of a:e; links can change "
	       "in what they carry");
	expect(NULL, "links.0.via=netem",
	       "link 'a-b' would need netem instead of its relay; declare `via: netem` for it in "
	       "the topology");
}

/* A change that was broken off: each part is old or new. */
static void test_either(void **state)
{
	const char *to = "links.0.rate=20mbit", *third = "links.0.rate=30mbit";
	struct lab a, b, c;
	struct plan_diff diff;
	struct strbuf out = {0};
	struct err err = ERR_INIT;

	(void)state;
	lab_init(&a, NULL, 0);
	lab_init(&b, &to, 1);
	lab_init(&c, &third, 1);
	const struct plan_diff_side sides[] = {{&a.wire, &a.plan}, {&b.wire, &b.plan}};
	const struct plan_diff_side after = {&c.wire, &c.plan};
	assert_int_equal(plan_diff(sides, 2, &after, &diff, &err), 0);
	VEC_FOREACH (change, &diff.changes)
		write_change(change, &out);
	assert_string_equal(strbuf_text(&out), "wires: tc delete maybe a-e-span 1:0\n"
					       "wires: tc add a-e-span 1:0\n"
					       "wires: tc delete maybe b-e-span 1:0\n"
					       "wires: tc add b-e-span 1:0\n");
	plan_diff_done(&diff);
	strbuf_done(&out);
	/* back to the first, which one of them already is */
	assert_int_equal(plan_diff(sides, 2, &sides[0], &diff, &err), 0);
	VEC_FOREACH (change, &diff.changes)
		write_change(change, &out);
	assert_string_equal(strbuf_text(&out), "wires: tc delete maybe a-e-span 1:0\n"
					       "wires: tc add a-e-span 1:0\n"
					       "wires: tc delete maybe b-e-span 1:0\n"
					       "wires: tc add b-e-span 1:0\n");
	plan_diff_done(&diff);
	strbuf_done(&out);
	lab_done(&a);
	lab_done(&b);
	lab_done(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_same),    cmocka_unit_test(test_tc),
	    cmocka_unit_test(test_relay),   cmocka_unit_test(test_rules),
	    cmocka_unit_test(test_refused), cmocka_unit_test(test_either),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
