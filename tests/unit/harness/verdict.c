// SPDX-License-Identifier: GPL-2.0-or-later
/* verdict: each rule against figures made up for it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "core/base/str.h"
#include "core/harness/verdict.h"

enum { STREAM, RR, FLOOD }; /* measurements */
enum { DIRECT, EIP };	    /* paths */

static const char head[] = "version: 1\n"
			   "topology: t.yaml\n"
			   "repeat: {confidence: 95%}\n"
			   "paths:\n"
			   "  direct: {from: a, to: b}\n"
			   "  eip: {from: a, to: c}\n"
			   "measure:\n"
			   "  stream: {test: tcp_stream}\n"
			   "  rr: {test: tcp_rr}\n"
			   "  flood: {test: udp_stream, frame: 64, unshaped: true}\n"
			   "reference:\n"
			   "  source: somebody\n"
			   "  stream: {direct: {goodput: 900mbit}}\n"
			   "compare: {base: direct, with: [eip], metrics: [stream, rr, flood]}\n"
			   "expect:\n";

struct bed {
	struct scenario *s;
	struct problems p;
	struct run_result r;
};

static void bed_init(struct bed *b, const char *sentence)
{
	autofree char *text = mem_printf("%s  - %s\n", head, sentence);

	problems_init(&b->p);
	b->s = scenario_parse("t.yaml", text, strlen(text), &b->p);
	if (problems_count(&b->p))
		fail_msg("%s", b->p.list.v[0].text);
	result_init(&b->r, b->s);
	for (int m = 0; m < 3; m++)
		for (int p = 0; p < 2; p++)
			*VEC_ADD(&b->r.arena, &b->r.cells) =
			    (struct run_cell){.measure = m, .path = p, .ceiling_bps = NAN};
	for (int p = 0; p < 2; p++) {
		struct truth_predicted *t = &result_cell(&b->r, STREAM, p)->predicted;

		t->known = true;
		t->goodput_bps = t->low_bps = t->high_bps = 941.5e6;
	}
}

static void bed_done(struct bed *b)
{
	result_done(&b->r);
	scenario_free(b->s);
	problems_done(&b->p);
}

/* A run that found `value`: Mbit/s, µs or packets/s, as the measurement's default metric is. */
static struct run_sample *add_run(struct bed *b, int measure, int path, double value)
{
	struct run_cell *c = result_cell(&b->r, measure, path);
	struct run_sample *run = VEC_ADD(&b->r.arena, &c->runs);

	run->index = (int)c->runs.n;
	run->counted = (struct truth_counted){.goodput_bps = value * 1e6, .pps = value};
	if (measure == STREAM)
		run->engine.goodput_bps = value * 1e6;
	else if (measure == RR)
		run->engine.latency.p50 = value * 1e3;
	else
		run->engine.pps = value;
	return run;
}

static void add_runs(struct bed *b, int measure, int path, double mean, double spread)
{
	add_run(b, measure, path, mean - spread);
	add_run(b, measure, path, mean);
	add_run(b, measure, path, mean + spread);
}

static void add_every(struct bed *b)
{
	for (int p = 0; p < 2; p++) {
		add_runs(b, STREAM, p, 941, 0.2);
		add_runs(b, RR, p, 20, 0.2);
		add_runs(b, FLOOD, p, 100000, 10);
	}
}

static void limit_last(struct bed *b, int measure, int path, enum fidelity_limit limit)
{
	struct run_cell *c = result_cell(&b->r, measure, path);

	c->runs.v[c->runs.n - 1].fidelity.limit = limit;
	snprintf(c->runs.v[c->runs.n - 1].fidelity.why, 64, "CPU 0 was 99.9 %% busy");
}

static void check_bed(struct bed *b, enum verdict want, const char *evidence)
{
	verdict_judge(&b->r);
	assert_int_equal(b->r.verdicts.n, 1);
	const struct run_verdict *v = &b->r.verdicts.v[0];
	if (v->verdict != want)
		fail_msg("%s, want %s: %s; %s", verdict_name(v->verdict), verdict_name(want),
			 v->found, v->evidence ? v->evidence : "");
	if (evidence && (!v->evidence || !strstr(v->evidence, evidence)))
		fail_msg("evidence '%s', want '%s'", v->evidence ? v->evidence : "", evidence);
	if (!evidence)
		assert_null(v->evidence);
}

static void check_stream(const char *sentence, double mean, double spread, enum verdict want,
			 const char *evidence)
{
	struct bed b;

	bed_init(&b, sentence);
	add_runs(&b, STREAM, DIRECT, mean, spread);
	check_bed(&b, want, evidence);
	bed_done(&b);
}

#define WITHIN "stream of direct within 1% of predicted"

static void test_within(void **state)
{
	(void)state;
	check_stream(WITHIN, 941.0, 0.2, VERDICT_PASS, NULL);
	check_stream(WITHIN, 933.0, 0.2, VERDICT_PASS, NULL);
	check_stream(WITHIN, 930.0, 0.2, VERDICT_FAIL, "below");
	check_stream(WITHIN, 960.0, 0.2, VERDICT_FAIL, "above");
	/* 930 ± 12 reaches into the region: three runs cannot tell. */
	check_stream(WITHIN, 930.0, 5, VERDICT_INCONCLUSIVE, "both sides");
	/* The larger tolerance counts. */
	check_stream("stream of direct within 1% or 20mbit of predicted", 925.0, 0.2, VERDICT_PASS,
		     NULL);
	check_stream("stream of direct within 1% of reference", 905.0, 0.2, VERDICT_PASS, NULL);
	check_stream("stream of direct within 1% of counted", 905.0, 0.2, VERDICT_PASS, NULL);
	check_stream("stream of direct at least 0.9 times predicted", 850.0, 0.2, VERDICT_PASS,
		     NULL);
}

static void test_bounds(void **state)
{
	(void)state;
	check_stream("stream of direct at least 900mbit", 900.5, 0.01, VERDICT_PASS, NULL);
	check_stream("stream of direct at least 900mbit", 899.0, 0.01, VERDICT_FAIL, "below");
	check_stream("stream of direct at most 900mbit", 899.0, 0.01, VERDICT_PASS, NULL);
	check_stream("stream of direct at most 900mbit", 901.0, 0.01, VERDICT_FAIL, "above");
	check_stream("stream of direct above 900mbit", 901.0, 0.01, VERDICT_PASS, NULL);
	check_stream("stream of direct below 900mbit", 901.0, 0.01, VERDICT_FAIL, "above");
	/* The mean is on the right side, its interval is not: nothing is shown. */
	check_stream("stream of direct at least 900mbit", 900.5, 1, VERDICT_INCONCLUSIVE,
		     "both sides");
	check_stream("stream of direct above 900mbit", 900.5, 1, VERDICT_INCONCLUSIVE,
		     "both sides");
	check_stream("stream of direct at most 900mbit", 899.5, 1, VERDICT_INCONCLUSIVE,
		     "both sides");
	check_stream("stream of direct below 900mbit", 899.5, 1, VERDICT_INCONCLUSIVE,
		     "both sides");
	check_stream("stream of direct below 900mbit", 900.5, 1, VERDICT_INCONCLUSIVE,
		     "both sides");
}

static void test_machine(void **state)
{
	struct bed b;

	(void)state;
	bed_init(&b, WITHIN);
	add_every(&b);
	result_cell(&b.r, STREAM, DIRECT)->runs.n = 0;
	add_runs(&b, STREAM, DIRECT, 700, 0.2);
	limit_last(&b, STREAM, DIRECT, FIDELITY_CPU);
	result_cell(&b.r, STREAM, DIRECT)->ceiling_bps = 705e6;
	check_bed(&b, VERDICT_INCONCLUSIVE, "it carries 705.0 Mbit/s on this path unshaped");
	assert_int_equal(verdict_exit_status(verdict_overall(&b.r)), 3);
	bed_done(&b);
	/* Busy, and as expected all the same: a pass. */
	bed_init(&b, WITHIN);
	add_runs(&b, STREAM, DIRECT, 941, 0.2);
	limit_last(&b, STREAM, DIRECT, FIDELITY_CPU);
	check_bed(&b, VERDICT_PASS, NULL);
	bed_done(&b);
	/* More than the wire carries: a busy machine is no excuse. */
	bed_init(&b, WITHIN);
	add_runs(&b, STREAM, DIRECT, 1000, 0.2);
	limit_last(&b, STREAM, DIRECT, FIDELITY_CPU);
	check_bed(&b, VERDICT_FAIL, "above");
	assert_int_equal(verdict_exit_status(verdict_overall(&b.r)), 1);
	bed_done(&b);
}

/* A flood without shapers fills the CPU by design; only what comes from outside excuses it. */
static void test_by_design(void **state)
{
	struct bed b;

	(void)state;
	bed_init(&b, "flood of direct at least 200kpps");
	add_runs(&b, FLOOD, DIRECT, 100000, 10);
	limit_last(&b, FLOOD, DIRECT, FIDELITY_CPU);
	check_bed(&b, VERDICT_FAIL, "below");
	bed_done(&b);
	bed_init(&b, "flood of direct at least 200kpps");
	add_runs(&b, FLOOD, DIRECT, 100000, 10);
	limit_last(&b, FLOOD, DIRECT, FIDELITY_STEAL);
	check_bed(&b, VERDICT_INCONCLUSIVE, "machine was the limit");
	bed_done(&b);
}

static void test_truths(void **state)
{
	struct bed b;

	(void)state;
	bed_init(&b, WITHIN);
	add_runs(&b, STREAM, DIRECT, 941, 0.2);
	struct truth_counted *c = &result_cell(&b.r, STREAM, DIRECT)->runs.v[1].counted;
	c->agreement = TRUTH_DISAGREE;
	snprintf(c->why, sizeof(c->why), "two truths disagree: by much");
	check_bed(&b, VERDICT_INCONCLUSIVE, "two truths disagree: by much (run 2)");
	bed_done(&b);
}

static void check_other(const char *sentence, double direct, double eip, double spread,
			enum verdict want, const char *evidence)
{
	struct bed b;

	bed_init(&b, sentence);
	add_runs(&b, RR, DIRECT, direct, spread);
	add_runs(&b, RR, EIP, eip, spread);
	check_bed(&b, want, evidence);
	bed_done(&b);
}

static void test_other(void **state)
{
	(void)state;
	check_other("rr of eip above rr of direct", 20, 26, 0.3, VERDICT_PASS, NULL);
	check_other("rr of eip above rr of direct", 26, 20, 0.3, VERDICT_FAIL, "below");
	check_other("rr of eip above rr of direct", 20, 20.2, 0.5, VERDICT_INCONCLUSIVE,
		    "both sides");
	check_other("rr of eip below rr of direct", 26, 20, 0.3, VERDICT_PASS, NULL);
	check_other("rr of eip at most 2 times rr of direct", 20, 39, 0.1, VERDICT_PASS, NULL);
	check_other("rr of eip at most 2 times rr of direct", 20, 42, 0.1, VERDICT_FAIL, "above");
	check_other("rr of eip within 10% of rr of direct", 20, 21, 0.1, VERDICT_PASS, NULL);
	check_other("rr of eip within 1us of rr of direct", 20, 22, 0.1, VERDICT_FAIL, "above");
}

static void test_few_runs(void **state)
{
	struct bed b;

	(void)state;
	bed_init(&b, "rr of eip above rr of direct");
	add_run(&b, RR, DIRECT, 20);
	add_run(&b, RR, EIP, 26);
	check_bed(&b, VERDICT_INCONCLUSIVE, "one run has no interval");
	assert_false(b.r.overheads.v[1].known);
	bed_done(&b);
	bed_init(&b, WITHIN);
	add_run(&b, STREAM, DIRECT, 941);
	check_bed(&b, VERDICT_PASS, NULL);
	bed_done(&b);
	bed_init(&b, "stream of direct at least 900mbit");
	add_run(&b, STREAM, DIRECT, 941);
	check_bed(&b, VERDICT_INCONCLUSIVE, "one run has no interval");
	bed_done(&b);
}

/* Failed runs are kept as well: they are no figures. */
static void test_failed_runs(void **state)
{
	struct bed b;

	(void)state;
	bed_init(&b, WITHIN);
	for (int m = 0; m < 3; m++)
		for (int p = 0; p < 2; p++)
			add_run(&b, m, p, 941)->error = "the server died";
	check_bed(&b, VERDICT_INCONCLUSIVE, "the server died");
	assert_int_equal(verdict_overall(&b.r), VERDICT_ERROR);
	bed_done(&b);
	/* Without any expectation on it, too. */
	bed_init(&b, WITHIN);
	add_every(&b);
	assert_int_equal(verdict_overall(&b.r), VERDICT_PASS);
	result_cell(&b.r, RR, EIP)->runs.n = 0;
	assert_int_equal(verdict_overall(&b.r), VERDICT_ERROR);
	add_run(&b, RR, EIP, 20)->error = "the server died";
	check_bed(&b, VERDICT_PASS, NULL);
	assert_int_equal(verdict_overall(&b.r), VERDICT_ERROR);
	bed_done(&b);
	/* Given up after one run that worked: no pass. */
	bed_init(&b, WITHIN);
	add_every(&b);
	result_cell(&b.r, STREAM, DIRECT)->error = "the server died";
	check_bed(&b, VERDICT_INCONCLUSIVE, "given up early: the server died");
	assert_int_equal(verdict_overall(&b.r), VERDICT_ERROR);
	bed_done(&b);
	/* An error around the measurements, such as a lab that does not end. */
	bed_init(&b, WITHIN);
	add_every(&b);
	b.r.error = "taking the lab down";
	check_bed(&b, VERDICT_PASS, NULL);
	assert_int_equal(verdict_exit_status(verdict_overall(&b.r)), 1);
	bed_done(&b);
}

static void test_missing(void **state)
{
	struct bed b;

	(void)state;
	bed_init(&b, WITHIN);
	result_cell(&b.r, STREAM, DIRECT)->error = "connection refused";
	check_bed(&b, VERDICT_INCONCLUSIVE, "connection refused");
	assert_int_equal(verdict_overall(&b.r), VERDICT_ERROR);
	assert_int_equal(verdict_exit_status(verdict_overall(&b.r)), 1);
	bed_done(&b);
	bed_init(&b, WITHIN);
	b.r.interrupted = true;
	check_bed(&b, VERDICT_SKIP, "interrupted");
	assert_int_equal(verdict_exit_status(verdict_overall(&b.r)), 3);
	bed_done(&b);
	/* A figure that the machine did not allow says why. */
	bed_init(&b, "flood.cpu_per_packet of direct below 10us");
	add_runs(&b, FLOOD, DIRECT, 100000, 10);
	VEC_FOREACH (run, &result_cell(&b.r, FLOOD, DIRECT)->runs) {
		run->cpu_per_packet_ns = NAN;
		run->cpu_missing = "other programs were busy";
	}
	check_bed(&b, VERDICT_INCONCLUSIVE, "other programs were busy");
	bed_done(&b);
	/* No shaper on the path: nothing is predicted. */
	bed_init(&b, WITHIN);
	add_runs(&b, STREAM, DIRECT, 941, 0.2);
	result_cell(&b.r, STREAM, DIRECT)->predicted.known = false;
	check_bed(&b, VERDICT_INCONCLUSIVE, "nothing is predicted");
	bed_done(&b);
}

static void test_overheads(void **state)
{
	struct bed b;

	(void)state;
	bed_init(&b, WITHIN);
	add_runs(&b, STREAM, DIRECT, 941, 0.5);
	add_runs(&b, STREAM, EIP, 941.2, 0.5);
	add_runs(&b, RR, DIRECT, 20, 0.2);
	add_runs(&b, RR, EIP, 27, 0.2);
	verdict_judge(&b.r);
	verdict_judge(&b.r); /* again is the same */
	assert_int_equal(b.r.verdicts.n, 1);
	assert_int_equal(b.r.overheads.n, 3);
	assert_true(b.r.overheads.v[0].known);
	assert_false(b.r.overheads.v[0].difference.significant);
	assert_true(b.r.overheads.v[1].difference.significant);
	assert_float_equal(b.r.overheads.v[1].difference.diff, 7000, 1e-6);
	assert_float_equal(b.r.overheads.v[1].base, 20000, 1e-6);
	assert_false(b.r.overheads.v[2].known);
	bed_done(&b);
}

/* What a relay did of its own was not the link: neither hit nor miss counts, nor a latency. */
static void test_relay(void **state)
{
	static const double values[] = {941.0, 900.0};
	struct bed b;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		bed_init(&b, WITHIN);
		add_runs(&b, STREAM, DIRECT, values[i], 0.2);
		limit_last(&b, STREAM, DIRECT, FIDELITY_RELAY);
		check_bed(&b, VERDICT_INCONCLUSIVE, "the machine was the limit");
		bed_done(&b);
	}
	bed_init(&b, "rr of eip below 50us");
	add_runs(&b, RR, EIP, 20, 0.2);
	limit_last(&b, RR, EIP, FIDELITY_RELAY);
	check_bed(&b, VERDICT_INCONCLUSIVE, "the machine was the limit");
	bed_done(&b);
}

/* The run is worth no more than the proofs of its links. */
static void test_proofs(void **state)
{
	static const enum verdict verdicts[] = {VERDICT_PASS, VERDICT_SKIP, VERDICT_INCONCLUSIVE,
						VERDICT_FAIL};
	static const enum verdict want[] = {VERDICT_PASS, VERDICT_PASS, VERDICT_INCONCLUSIVE,
					    VERDICT_FAIL};
	struct bed b;

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		bed_init(&b, WITHIN);
		add_every(&b);
		verdict_judge(&b.r);
		assert_int_equal(verdict_overall(&b.r), VERDICT_PASS);
		b.r.proven = true;
		VEC_ADD(&b.r.proofs.arena, &b.r.proofs.list)->verdict = verdicts[i];
		assert_int_equal(verdict_overall(&b.r), want[i]);
		bed_done(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_within),    cmocka_unit_test(test_bounds),
	    cmocka_unit_test(test_machine),   cmocka_unit_test(test_by_design),
	    cmocka_unit_test(test_truths),    cmocka_unit_test(test_other),
	    cmocka_unit_test(test_few_runs),  cmocka_unit_test(test_missing),
	    cmocka_unit_test(test_overheads), cmocka_unit_test(test_failed_runs),
	    cmocka_unit_test(test_relay),     cmocka_unit_test(test_proofs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
