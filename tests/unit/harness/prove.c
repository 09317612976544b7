// SPDX-License-Identifier: GPL-2.0-or-later
/* prove: rates from arrivals that are early, late and lost; figures of frames; verdicts and what
 * excuses them; where a link is probed. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "core/harness/prove_figures.h"
#include "core/harness/prove_judge.h"
#include "core/harness/prove_way.h"
#include "emulator/lab/frames_packet.h"
#include "emulator/model/topology.h"

/* ---- rates ---- */

enum { N = 4000, CHARGE = 1538 };
#define PER_S	  12500000.0 /* 100 Mbit/s in bytes */
#define BRIDGE_NS 2000000

static uint32_t random_state = 1;

static double random_share(void)
{
	random_state = random_state * 1664525u + 1013904223u;
	return random_state / 4294967296.0;
}

/* What a token bucket of that depth lets through: `saved` bytes at once, then at the rate. */
static void fill_points(struct judge_point *v, size_t n, double saved)
{
	double charged = 0;

	for (size_t i = 0; i < n; i++) {
		double beyond = charged > saved ? charged - saved : 0;

		v[i] = (struct judge_point){(int64_t)(beyond / PER_S * 1e9), CHARGE};
		charged += CHARGE;
	}
}

static void check_rate(const struct judge_point *v, size_t n, double share)
{
	struct judge_rate r;

	judge_rate(v, n, 30000, BRIDGE_NS, &r);
	assert_float_equal(r.rate / PER_S, 1, share);
}

static void test_rate(void **state)
{
	static struct judge_point v[N];
	struct judge_rate r;

	(void)state;
	fill_points(v, N, 25000);
	check_rate(v, N, 1e-6);
	/* Without the burst thrown away it would be too fast only while the bucket empties. */
	judge_rate(v, 40, 0, BRIDGE_NS, &r);
	assert_true(r.rate > PER_S * 1.2);
	judge_rate(v, 23, 30000, BRIDGE_NS, &r);
	assert_true(r.n < 4 && r.rate == 0);
	judge_rate(v, 0, 0, BRIDGE_NS, &r);
	assert_true(r.n == 0 && r.rate == 0);
}

/* Each packet late by up to a millisecond, as a late timer makes them: in order. */
static void test_late_timers(void **state)
{
	static struct judge_point v[N];

	(void)state;
	fill_points(v, N, 25000);
	for (size_t i = 0; i < N; i += 8) {
		int64_t late = (int64_t)(random_share() * 1e6);

		for (size_t k = i; k < i + 8; k++)
			if (v[k].at_ns < v[i].at_ns + late)
				v[k].at_ns = v[i].at_ns + late;
	}
	for (size_t i = 1; i < N; i++)
		if (v[i].at_ns < v[i - 1].at_ns)
			v[i].at_ns = v[i - 1].at_ns;
	check_rate(v, N, 1e-4);
}

/* A machine that stands still: what follows is later for good, and that is told. */
static void test_pause(void **state)
{
	static struct judge_point v[N];
	struct judge_rate r;

	(void)state;
	fill_points(v, N, 25000);
	for (size_t i = N / 2; i < N; i++)
		v[i].at_ns += 10000000;
	judge_rate(v, N, 30000, BRIDGE_NS, &r);
	assert_true(r.rate < PER_S * 0.99);
	assert_int_equal(r.paused_ns / 1000000, 10);
	assert_int_equal(r.longest_ns / 1000000, 10);
	assert_float_equal(r.rate / (1 - (double)r.paused_ns / (double)r.window_ns) / PER_S, 1,
			   2e-3);
}

/* ---- verdicts ---- */

static void test_verdicts(void **state)
{
	static const struct {
		double got;
		struct judge_evidence e;
		enum verdict verdict;
		const char *why; /* a part of it; NULL: there is none */
	} cases[] = {
	    {100.2, {.offered = 150}, VERDICT_PASS, NULL},
	    {99.8, {.offered = 150}, VERDICT_PASS, NULL},
	    {100, {.offered = 150, .paused_share = 0.05}, VERDICT_INCONCLUSIVE, "stood still"},
	    {100, {.offered = 150, .paused_share = 0.001}, VERDICT_PASS, NULL},
	    {90, {.offered = 150}, VERDICT_FAIL, NULL},
	    {110, {.offered = 150}, VERDICT_FAIL, NULL},
	    {90, {.offered = 90}, VERDICT_INCONCLUSIVE, "could offer only 90.0 %"},
	    {90, {.offered = 90, .pushed_back = true}, VERDICT_FAIL, NULL},
	    {95, {.offered = 150, .paused_share = 0.05}, VERDICT_INCONCLUSIVE, "stood still"},
	    {90, {.offered = 150, .paused_share = 0.05}, VERDICT_FAIL, NULL},
	    {103,
	     {.offered = 150, .paused_share = 0.1, .saved_share = 0.04},
	     VERDICT_INCONCLUSIVE,
	     "keep the link full"},
	    {103, {.offered = 150, .saved_share = 0.04}, VERDICT_FAIL, NULL},
	    {90, {.offered = 150, .softnet_dropped = 3}, VERDICT_INCONCLUSIVE, "backlog dropped 3"},
	    {90, {.offered = 150, .overrun = 5}, VERDICT_INCONCLUSIVE, "5 arrivals were not seen"},
	    {90,
	     {.offered = 150, .arrived = 1000, .foreign = 20},
	     VERDICT_INCONCLUSIVE,
	     "20 packets of others"},
	    {90, {.offered = 150, .arrived = 1000, .foreign = 1}, VERDICT_FAIL, NULL},
	    {90, {.busy = "all CPUs"}, VERDICT_INCONCLUSIVE, "all CPUs"},
	    {90, {.relay = "the relay"}, VERDICT_INCONCLUSIVE, "the relay"},
	    {100.1, {.busy = "all CPUs", .overrun = 1}, VERDICT_PASS, NULL},
	    {NAN, {.sent = 50}, VERDICT_FAIL, "none of 50 frames arrived"},
	    {NAN, {.sent = 50, .arrived = 3}, VERDICT_INCONCLUSIVE, "only 3 of 50"},
	    {NAN, {.sent = 50, .arrived = 50}, VERDICT_INCONCLUSIVE, "could send only 50 frames"},
	};
	struct arena arena;

	(void)state;
	arena_init(&arena);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct proof p = {.asked = 100, .got = cases[i].got, .tolerance = 0.003};

		judge_proof(&p, &cases[i].e, &arena);
		if (p.verdict != cases[i].verdict)
			fail_msg("case %zu: verdict %d, %s", i, p.verdict, p.why ? p.why : "");
		assert_true(!p.why == !cases[i].why);
		if (p.why && !strstr(p.why, cases[i].why))
			fail_msg("case %zu: %s", i, p.why);
	}
	arena_done(&arena);
}

static void test_absolute(void **state)
{
	struct proof p = {.asked = 1e7, .got = 1.005e7, .tolerance = 1e5, .absolute = true};
	struct judge_evidence e = {0};
	struct arena arena;

	(void)state;
	arena_init(&arena);
	judge_proof(&p, &e, &arena);
	assert_int_equal(p.verdict, VERDICT_PASS);
	assert_float_equal(proof_error(&p), 5e4, 1);
	p.got = 1.02e7;
	judge_proof(&p, &e, &arena);
	assert_int_equal(p.verdict, VERDICT_FAIL);
	p = (struct proof){.asked = 0, .got = 0, .unit = PROOF_SHARE};
	judge_proof(&p, &e, &arena);
	assert_int_equal(p.verdict, VERDICT_PASS);
	p.got = 0.001;
	judge_proof(&p, &e, &arena);
	assert_int_equal(p.verdict, VERDICT_FAIL);
	arena_done(&arena);
}

static void add_proof(struct proofs *all, enum verdict verdict, double got)
{
	struct proof *p = VEC_ADD(&all->arena, &all->list);

	*p = (struct proof){.asked = 100, .got = got, .verdict = verdict};
}

static void test_census(void **state)
{
	struct proofs all = {0};
	struct proofs_census c;

	(void)state;
	arena_init(&all.arena);
	proofs_count(&all, &c);
	assert_true(c.all == 0 && isnan(c.worst_share));
	add_proof(&all, VERDICT_PASS, 100.1);
	add_proof(&all, VERDICT_PASS, 99.8);
	add_proof(&all, VERDICT_SKIP, NAN);
	assert_int_equal(proofs_overall(&all), VERDICT_PASS);
	add_proof(&all, VERDICT_INCONCLUSIVE, 50);
	assert_int_equal(proofs_overall(&all), VERDICT_INCONCLUSIVE);
	add_proof(&all, VERDICT_FAIL, 120);
	assert_int_equal(proofs_overall(&all), VERDICT_FAIL);
	proofs_count(&all, &c);
	assert_true(c.all == 5 && c.pass == 2 && c.fail == 1 && c.inconclusive == 1 && c.skip == 1);
	assert_float_equal(c.worst_share, 0.002, 1e-9);
	proofs_done(&all);
}

/* ---- figures ---- */

enum { FRAMES = 1000, GAP_NS = 1000000, DELAY_NS = 5000000 };

struct log { /* what frames_run() gives */
	struct frames_log log;
	int64_t sent[FRAMES];
	struct frames_arrival arrivals[2 * FRAMES];
};

static void init_log(struct log *l)
{
	memset(l, 0, sizeof(*l));
	l->log = (struct frames_log){.sent_ns = l->sent, .n_sent = FRAMES, .arrivals = l->arrivals};
	for (int i = 0; i < FRAMES; i++)
		l->sent[i] = (int64_t)(i + 1) * GAP_NS;
}

static void arrive(struct log *l, uint32_t seq, int64_t delay_ns, enum frames_kind kind)
{
	l->arrivals[l->log.n_arrivals++] = (struct frames_arrival){
	    .at_ns = l->sent[seq] + delay_ns, .seq = seq, .bytes = 114, .kind = kind};
}

static void test_every(void **state)
{
	static struct log l;
	struct figures f;

	(void)state;
	init_log(&l);
	for (uint32_t i = 0; i < FRAMES; i++)
		if (i % 100 != 99)
			arrive(&l, i, DELAY_NS + (i == 7 ? 300000 : 0), FRAMES_OURS);
	figures_count(&l.log, &f);
	assert_true(f.sent == FRAMES && f.lost == 10 && f.arrived == 990 && !f.duplicates);
	assert_true(f.regular && f.first_missing == 99 && !f.all_after_missing && !f.reordered);
	assert_float_equal(f.distance, 100, 1e-9);
	assert_float_equal(f.median_ns, DELAY_NS, 1);
	assert_float_equal(f.least_ns, DELAY_NS, 1);
	assert_float_equal(f.p99_ns, DELAY_NS, 1);
	l.arrivals[150].kind = FRAMES_FOREIGN;
	figures_count(&l.log, &f);
	assert_true(f.lost == 11 && !f.regular);
}

static void test_after(void **state)
{
	static struct log l;
	struct figures f;

	(void)state;
	init_log(&l);
	for (uint32_t i = 0; i < 200; i++)
		arrive(&l, i, DELAY_NS, FRAMES_OURS);
	figures_count(&l.log, &f);
	assert_true(f.first_missing == 200 && f.all_after_missing && f.lost == 800);
	arrive(&l, 500, DELAY_NS, FRAMES_OURS);
	figures_count(&l.log, &f);
	assert_false(f.all_after_missing);
}

static void test_order(void **state)
{
	static const uint32_t order[] = {0, 1, 3, 2, 4, 6, 7, 5, 8, 8, 9, 10, 11};
	static struct log l;
	struct figures f;

	(void)state;
	init_log(&l);
	for (size_t i = 0; i < ARRAY_SIZE(order); i++)
		arrive(&l, order[i], DELAY_NS, FRAMES_OURS);
	arrive(&l, 0, 0, FRAMES_DAMAGED);
	l.sent[12] = 0; /* pushed back: never sent */
	figures_count(&l.log, &f);
	assert_true(f.reordered == 2 && f.duplicates == 1 && f.damaged == 1);
	assert_true(f.sent == FRAMES - 1 && f.arrived == 13 && f.lost == FRAMES - 14);
}

static void test_loss_by_chance(void **state)
{
	struct wire_impair i = {.loss = LOSS_RANDOM, .loss_ppm = 10000};

	(void)state;
	assert_float_equal(figures_loss(&i), 0.01, 1e-12);
	assert_float_equal(figures_loss_deviation(&i, 10000), sqrt(0.01 * 0.99 / 10000), 1e-9);
	i.loss_correlation_ppm = 500000; /* as a third of the packets */
	assert_float_equal(figures_loss_deviation(&i, 10000), sqrt(0.01 * 0.99 / 10000 * 3), 1e-9);
	i = (struct wire_impair){.loss = LOSS_BURSTS,
				 .to_bad_ppm = 10000,
				 .to_good_ppm = 190000,
				 .bad_loss_ppm = 800000};
	assert_float_equal(figures_loss(&i), 0.05 * 0.8, 1e-12);
	/* In the bad state 5 packets in a row: far more than independent ones vary. */
	assert_true(figures_loss_deviation(&i, 10000) > 2 * sqrt(0.04 * 0.96 / 10000));
	i.loss = LOSS_EVERY;
	assert_true(isnan(figures_loss(&i)));
}

static void check_jitter(enum wire_jitter kind)
{
	static struct log l;
	struct wire_impair i = {.jitter_ns = 1000000, .jitter = kind};
	struct figures f;

	init_log(&l);
	for (uint32_t k = 0; k < FRAMES; k++) {
		double u = (k * 617 % FRAMES + 0.5) / FRAMES, ns = 0;

		if (kind == JITTER_UNIFORM)
			ns = (2 * u - 1) * 1e6;
		else if (kind == JITTER_PARETO)
			ns = (pow(1 - u, -1 / 3.0) - 1) * 1e6;
		else /* Box and Muller, with the other number evenly spread too */
			ns = sqrt(-2 * log(u)) * cos(2 * M_PI * (k * 379 % FRAMES) / FRAMES) * 1e6;
		arrive(&l, k, DELAY_NS + (int64_t)ns, FRAMES_OURS);
	}
	figures_count(&l.log, &f);
	assert_float_equal(figures_jitter(&i, IMPAIR_RELAY, &f) / 1e6, 1, 0.03);
	assert_float_equal(f.median_ns - figures_median_shift(&i), DELAY_NS, 5e4);
}

static void test_jitter(void **state)
{
	struct wire_impair pareto = {.jitter = JITTER_PARETO};
	struct figures f = {0};

	(void)state;
	check_jitter(JITTER_NORMAL);
	check_jitter(JITTER_UNIFORM);
	check_jitter(JITTER_PARETO);
	assert_true(isnan(figures_jitter(&pareto, IMPAIR_NETEM, &f)));
}

/* ---- frames ---- */

static void test_packet(void **state)
{
	unsigned char frame[114];
	struct frames_id id = {.run = 77, .stream = 1, .seq = 123456, .source = 20005};
	struct frames_id found = {.run = 77, .stream = 1}, other = {.run = 78, .stream = 1};

	(void)state;
	frames_packet_write(frame, 100, &id, true);
	assert_true(frames_packet_read(frame, sizeof(frame), &found));
	assert_true(found.seq == 123456 && found.source == 20005);
	assert_true(frames_packet_intact(frame, sizeof(frame), &found));
	assert_false(frames_packet_read(frame, sizeof(frame), &other));
	assert_false(frames_packet_read(frame, 40, &found));
	other = (struct frames_id){.run = 77, .stream = 0};
	assert_false(frames_packet_read(frame, sizeof(frame), &other));
	for (size_t bit = 0; bit < sizeof(frame) * 8; bit++) {
		struct frames_id damaged = {.run = 77, .stream = 1};

		frame[bit / 8] ^= (unsigned char)(1 << bit % 8);
		if (frames_packet_read(frame, sizeof(frame), &damaged) &&
		    frames_packet_intact(frame, sizeof(frame), &damaged))
			fail_msg("bit %zu changed and nobody noticed", bit);
		frame[bit / 8] ^= (unsigned char)(1 << bit % 8);
	}
}

/* ---- ways ---- */

static const char topology[] = "version: 1\n"
			       "name: ways\n"
			       "hosts: {h1: {}, h2: {}}\n"
			       "fabric: {nic: {rate: 1gbit}}\n"
			       "networks: {net: {type: flat, cidr: 10.0.0.0/24}}\n"
			       "vms:\n"
			       "  vm: {host: h1, network: net, vnic: {rate: 100mbit}}\n"
			       "nodes:\n"
			       "  a: {kind: machine, addresses: [10.9.0.1/24]}\n"
			       "  b: {kind: machine, addresses: [10.9.0.2/24]}\n"
			       "links:\n"
			       "  - {endpoints: ['a:eth0', 'b:eth0'], rate: 10mbit, delay: 5ms}\n";

static int link_named(const struct wire *w, const char *name)
{
	for (size_t i = 0; i < w->links.n; i++)
		if (!strcmp(w->links.v[i].name, name))
			return (int)i;
	fail_msg("no link %s", name);
	return -1;
}

static void check_way(const struct wire *w, const char *link, bool ba, const char *ends)
{
	struct way way;
	struct frames_stream s;
	char found[200];

	way_of(w, link_named(w, link), ba, &way);
	way_stream(&way, &s);
	snprintf(found, sizeof(found), "%s/%s > %s/%s%s", s.from_node, s.from_dev, s.to_node,
		 s.to_dev, s.leaving ? " leaving" : "");
	assert_string_equal(found, ends);
}

static void test_ways(void **state)
{
	struct topology_source source = {.main = {"ways.yaml", topology, strlen(topology)}};
	struct compile_options o = {.machine = MACHINE_DEFAULT};
	struct problems problems;
	struct topology *t;
	struct way way;
	struct frames_stream s;
	struct wire w;

	(void)state;
	o.machine.netem = false;
	problems_init(&problems);
	t = topology_parse(&source, &problems);
	topology_compile(t, &o, &w, &problems);
	assert_int_equal(problems_count(&problems), 0);
	check_way(&w, "h1 uplink", false, "h1/nic > fabric/h1");
	check_way(&w, "h1 uplink", true, "fabric/h1 > h1/nic");
	/* The far side of a tap is its port, and what comes there left the device before it. */
	check_way(&w, "vm vNIC", false, "vm/eth0 > h1/vm-out leaving");
	check_way(&w, "vm vNIC", true, "h1/vm > vm/eth0");
	check_way(&w, "a-b", false, "a/eth0 > b/eth0");
	way_of(&w, link_named(&w, "a-b"), true, &way);
	assert_string_equal(way_direction(&way, &w.arena), "b→a");
	way_shaper_stream(&way, &s); /* before the delay */
	assert_string_equal(s.to_node, "wires");
	assert_true(s.leaving);
	way_of(&w, link_named(&w, "vm vNIC"), true, &way);
	assert_string_equal(way_direction(&way, &w.arena), "rx");
	topology_free(t);
	wire_done(&w);
	problems_done(&problems);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_rate),     cmocka_unit_test(test_late_timers),
	    cmocka_unit_test(test_pause),    cmocka_unit_test(test_verdicts),
	    cmocka_unit_test(test_absolute), cmocka_unit_test(test_census),
	    cmocka_unit_test(test_every),    cmocka_unit_test(test_after),
	    cmocka_unit_test(test_order),    cmocka_unit_test(test_loss_by_chance),
	    cmocka_unit_test(test_jitter),   cmocka_unit_test(test_packet),
	    cmocka_unit_test(test_ways),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
