// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests of core/harness/judge: what is a fault and what is not: tolerances, warnings, a machine
 * that was the limit, the run's end and status, invariants. Wrong figures: judge_why.c.
 */
#include "tests/unit/harness/judge_bed.h"

#include <errno.h>
#include <signal.h>

static bool derived[FAULT_KINDS];

/* Half of a round trip is half of it on any machine; a longer one may be the machine's. */
static void test_busy_times(void **state)
{
	struct bed b;

	(void)state;
	bed_init(&b);
	b.e.machine = "the relay was late";
	tells(&b, FIGURE_LATENCY_MEAN, 0.0052);
	asks(&b, FIGURE_LATENCY_MEAN, TRUTH_FIXED, 0.01);
	judge_it(&b);
	is(&b, "latency_mean", JUDGED_LIE, FAULT_HALF_ROUND_TRIP);
	b.r.list.v[0].value = 0.017;
	judge_it(&b);
	is(&b, "latency_mean", JUDGED_INCONCLUSIVE, FAULT_OTHER);
	bed_done(&b);
}

/* A tool that warns of it does not lie; a machine that was the limit accuses nobody. */
static void test_softer(void **state)
{
	struct bed b;

	(void)state;
	bed_init(&b);
	tells(&b, FIGURE_GOODPUT, 1.25e6);
	asks(&b, FIGURE_GOODPUT, TRUTH_COUNTED, 0);
	*VEC_ADD(&b.r.arena, &b.r.warnings) = "WARNING: may be wrong";
	judge_it(&b);
	is(&b, "goodput", JUDGED_OFF, FAULT_WRONG_UNIT);
	b.e.machine = "CPU 0 was 100 % busy";
	judge_it(&b); /* what was counted is so all the same, but for the times of reading */
	is(&b, "goodput", JUDGED_OFF, FAULT_WRONG_UNIT);
	b.r.list.v[0].value = 10e6 / 1.073741824;
	judge_it(&b);
	is(&b, "goodput", JUDGED_INCONCLUSIVE, FAULT_WRONG_UNIT);
	b.r.list.v[0].value = 1.25e6;
	b.t.questions.v[0].source = TRUTH_PREDICTED;
	judge_it(&b);
	is(&b, "goodput", JUDGED_INCONCLUSIVE, FAULT_WRONG_UNIT);
	b.r.list.v[0].value = 80e6; /* a busy machine makes no rate greater */
	judge_it(&b);
	is(&b, "goodput", JUDGED_OFF, FAULT_WRONG_UNIT);
	b.e.spoilt = "the link is not what it says"; /* then nothing is known */
	judge_it(&b);
	is(&b, "goodput", JUDGED_INCONCLUSIVE, FAULT_WRONG_UNIT);
	b.e.spoilt = NULL;
	b.r.list.v[0].value = 1.25e6;
	judge_it(&b);
	assert_non_null(strstr(about(&b, "goodput")->text, "CPU 0 was 100 % busy"));
	b.e.machine = NULL;
	b.t.questions.v[0].source = TRUTH_COUNTED;
	b.e.counted_bps = NAN;
	judge_it(&b);
	is(&b, "goodput", JUDGED_INCONCLUSIVE, FAULT_NONE);
	bed_done(&b);
}

static void test_tolerance(void **state)
{
	struct bed b;

	(void)state;
	bed_init(&b);
	tells(&b, FIGURE_GOODPUT, 10.2e6);
	asks(&b, FIGURE_GOODPUT, TRUTH_COUNTED, 0);
	judge_it(&b);
	is(&b, "goodput", JUDGED_TRUE, FAULT_NONE);
	b.r.list.v[0].value = 10.3e6;
	judge_it(&b);
	assert_int_equal(about(&b, "goodput")->judgement, JUDGED_LIE);
	b.t.questions.v[0].tolerance_abs = 0.31e6; /* the greater of the two counts */
	judge_it(&b);
	is(&b, "goodput", JUDGED_TRUE, FAULT_NONE);
	bed_done(&b);
}

/* A figure that nothing supports is wrong whatever it is; not to tell it is right. */
static void test_unsupported(void **state)
{
	struct bed b;

	(void)state;
	bed_init(&b);
	tells(&b, FIGURE_LATENCY_P999, 0.0104);
	asks(&b, FIGURE_LATENCY_P999, TRUTH_NONE, 0);
	judge_it(&b);
	is(&b, "latency_p999", JUDGED_LIE, FAULT_UNSUPPORTED_DIGITS);
	derived[FAULT_UNSUPPORTED_DIGITS] = true;
	b.r.list.v[0].found = false;
	judge_it(&b);
	is(&b, "latency_p999", JUDGED_TRUE, FAULT_NONE);
	b.r.list.n = 0;
	judge_it(&b);
	is(&b, "latency_p999", JUDGED_TRUE, FAULT_NONE);
	bed_done(&b);
}

static void test_no_figure(void **state)
{
	struct bed b;

	(void)state;
	bed_init(&b);
	asks(&b, FIGURE_LOSS, TRUTH_COUNTED, 0);
	judge_it(&b);
	is(&b, "loss", JUDGED_SILENT, FAULT_NONE); /* it never tells that */
	tells(&b, FIGURE_LOSS, NAN);
	judge_it(&b);
	is(&b, "loss", JUDGED_LIE, FAULT_NO_RESULT);
	derived[FAULT_NO_RESULT] = true;
	b.o.status[0] = 1; /* it says itself that it has none */
	judge_it(&b);
	is(&b, "loss", JUDGED_SILENT, FAULT_NONE);
	bed_done(&b);
}

/* ---- the run ---- */

static void test_exit(void **state)
{
	static const struct tool_exit three_is_well = {3, true};
	static const struct {
		enum trial_exit wanted;
		int status;
		bool right;
	} rows[] = {{WANT_SUCCESS, 0, true},  {WANT_SUCCESS, 1, false}, {WANT_SUCCESS, 3, true},
		    {WANT_FAILURE, 0, false}, {WANT_FAILURE, 1, true},	{WANT_FAILURE, 3, false}};
	struct bed b;

	(void)state;
	bed_init(&b);
	*VEC_ADD(&b.t.arena, &b.test.exits) = three_is_well;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		b.t.exit = rows[i].wanted;
		b.o.status[0] = rows[i].status;
		b.e.spoilt = NULL;
		judge_it(&b);
		is(&b, "exit", rows[i].right ? JUDGED_TRUE : JUDGED_WRONG_EXIT,
		   rows[i].right ? FAULT_NONE : FAULT_WRONG_EXIT);
		if (rows[i].right)
			continue;
		b.e.spoilt = "an event did not happen"; /* then it may be right */
		judge_it(&b);
		is(&b, "exit", JUDGED_INCONCLUSIVE, FAULT_WRONG_EXIT);
	}
	b.e.spoilt = NULL;
	b.e.machine = "CPU 0 was 100 % busy";
	b.t.no_server = true; /* success without an answer is not right on any machine */
	b.t.exit = WANT_FAILURE;
	b.o.status[0] = 0;
	judge_it(&b);
	is(&b, "exit", JUDGED_WRONG_EXIT, FAULT_WRONG_EXIT);
	derived[FAULT_WRONG_EXIT] = true;
	b.t.exit = WANT_EITHER;
	judge_it(&b);
	assert_null(about(&b, "exit"));
	bed_done(&b);
}

/* Who says that there is no result is asked no more. */
static void test_dscp(void **state)
{
	static const struct tool_word option = {.text = "-S{tos}"};
	static const struct {
		double marked;
		enum judgement judgement;
	} rows[] = {{3750, JUDGED_TRUE}, {3740, JUDGED_TRUE}, {1800, JUDGED_LIE}, {0, JUDGED_LIE}};
	struct bed b;

	(void)state;
	bed_init(&b);
	judge_it(&b); /* not asked for */
	assert_null(about(&b, "dscp"));
	b.e.asked_dscp = 46;
	judge_it(&b); /* it has no such option */
	is(&b, "dscp", JUDGED_SILENT, FAULT_NONE);
	*VEC_ADD(&b.t.arena, &b.test.client.argv) = option;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		b.e.marked_packets = rows[i].marked;
		judge_it(&b);
		is(&b, "dscp", rows[i].judgement,
		   rows[i].judgement == JUDGED_TRUE ? FAULT_NONE : FAULT_SILENT_FALLBACK);
	}
	b.e.spoilt = "the link is not what it says";
	judge_it(&b);
	is(&b, "dscp", JUDGED_INCONCLUSIVE, FAULT_SILENT_FALLBACK);
	b.o.status[0] = 1; /* it claims nothing */
	judge_it(&b);
	assert_null(about(&b, "dscp"));
	bed_done(&b);
}

static void test_rightly_fails(void **state)
{
	struct bed b;

	(void)state;
	bed_init(&b);
	b.t.exit = WANT_FAILURE;
	tells(&b, FIGURE_LOSS, NAN);
	asks(&b, FIGURE_LOSS, TRUTH_FIXED, 1);
	b.o.status[0] = 1;
	judge_it(&b);
	assert_int_equal(b.judged.answers.n, 1);
	is(&b, "exit", JUDGED_TRUE, FAULT_NONE);
	b.o.status[0] = 0;
	judge_it(&b);
	is(&b, "exit", JUDGED_WRONG_EXIT, FAULT_WRONG_EXIT);
	is(&b, "loss", JUDGED_LIE, FAULT_NO_RESULT);
	bed_done(&b);
}

static void test_crash(void **state)
{
	static const int crashes[] = {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL};
	struct bed b;

	(void)state;
	bed_init(&b);
	b.t.exit = WANT_SUCCESS;
	for (size_t i = 0; i < ARRAY_SIZE(crashes); i++) {
		b.o.status[0] = 128 + crashes[i];
		judge_it(&b);
		is(&b, "crash", JUDGED_CRASH, FAULT_CRASH);
		assert_null(about(&b, "exit")); /* said already */
	}
	derived[FAULT_CRASH] = true;
	b.o.status[0] = 0;
	b.o.status[1] = 128 + SIGSEGV;
	judge_it(&b);
	is(&b, "crash", JUDGED_CRASH, FAULT_CRASH);
	assert_non_null(strstr(about(&b, "crash")->text, "server"));
	b.o.status[1] = -1; /* ended by us */
	judge_it(&b);
	assert_null(about(&b, "crash"));
	b.o.status[1] = 128 + SIGINT;
	judge_it(&b);
	assert_null(about(&b, "crash"));
	bed_done(&b);
}

static void test_end(void **state)
{
	struct bed b;

	(void)state;
	bed_init(&b);
	b.t.exit = WANT_SUCCESS;
	b.o = (struct tool_output){.timed_out = true, .took_s = 18, .status = {-1, -1}};
	judge_it(&b);
	is(&b, "end", JUDGED_HANG, FAULT_HANG);
	assert_null(about(&b, "exit"));
	derived[FAULT_HANG] = true;
	b.o = (struct tool_output){.took_s = 13.5};
	judge_it(&b);
	is(&b, "end", JUDGED_HANG, FAULT_LATE_END);
	derived[FAULT_LATE_END] = true;
	b.e.machine = "CPU 0 was 100 % busy";
	judge_it(&b);
	is(&b, "end", JUDGED_INCONCLUSIVE, FAULT_LATE_END);
	b.e.machine = NULL;
	b.o.took_s = 12.9; /* 3 s and 10 s */
	judge_it(&b);
	assert_null(about(&b, "end"));
	b.t.ends_within_ns = 5000000000;
	judge_it(&b);
	is(&b, "end", JUDGED_HANG, FAULT_LATE_END);
	b.test.start_s = 8; /* it says how long it takes to begin */
	judge_it(&b);
	assert_null(about(&b, "end"));
	bed_done(&b);
}

/* ---- invariants ---- */

static void test_broken_output(void **state)
{
	struct bed b;

	(void)state;
	bed_init(&b);
	b.r.json_broken = true;
	judge_it(&b);
	is(&b, "output", JUDGED_LIE, FAULT_BROKEN_OUTPUT);
	derived[FAULT_BROKEN_OUTPUT] = true;
	b.o.status[0] = 1;
	judge_it(&b);
	assert_null(about(&b, "output"));
	bed_done(&b);
}

static void test_shares(void **state)
{
	struct bed b;

	(void)state;
	bed_init(&b);
	tells(&b, FIGURE_LOSS, 1.3);
	judge_it(&b);
	is(&b, "loss within 0 and 100 %", JUDGED_LIE, FAULT_WRONG_DENOMINATOR);
	b.r.list.v[0].value = -0.01;
	judge_it(&b);
	is(&b, "loss within 0 and 100 %", JUDGED_LIE, FAULT_WRONG_DENOMINATOR);
	b.r.list.v[0].value = 0.1;
	tells(&b, FIGURE_LOST, 375);
	tells(&b, FIGURE_SENT, 3750);
	tells(&b, FIGURE_RECEIVED, 3375);
	judge_it(&b);
	assert_int_equal(b.judged.answers.n, 0);
	b.r.list.v[0].value = 0.2;
	judge_it(&b);
	is(&b, "loss and lost agree", JUDGED_LIE, FAULT_DISAGREES);
	b.r.list.v[0].value = 0.1;
	b.r.list.v[3].value = 3750;
	judge_it(&b);
	is(&b, "sent is received and lost", JUDGED_LIE, FAULT_DISAGREES);
	b.e.duplicated = 375; /* then these may be among those received */
	judge_it(&b);
	assert_int_equal(b.judged.answers.n, 0);
	b.r.list.v[3].value = 3000;
	judge_it(&b);
	is(&b, "sent is received and lost", JUDGED_LIE, FAULT_DISAGREES);
	derived[FAULT_DISAGREES] = true;
	bed_done(&b);
}

static void series(struct bed *b, enum figure f, const double *values, size_t n)
{
	struct tool_read *read = tells(b, f, values[n - 1]);

	read->series = true;
	read->headline = false;
	for (size_t i = 0; i < n; i++)
		*VEC_ADD(&b->r.arena, &b->r.list.v[b->r.list.n - 1].series) = values[i];
}

static void test_intervals(void **state)
{
	static const double rates[] = {9e6, 11e6, 10e6, 2e6};
	static const double lost[] = {10, 0, 5};
	struct bed b;

	(void)state;
	bed_init(&b);
	tells(&b, FIGURE_GOODPUT, 10e6);
	series(&b, FIGURE_GOODPUT, rates, ARRAY_SIZE(rates));
	tells(&b, FIGURE_RETRANSMITS, 15);
	series(&b, FIGURE_RETRANSMITS, lost, ARRAY_SIZE(lost));
	judge_it(&b);
	assert_int_equal(b.judged.answers.n, 0);
	b.r.list.v[0].value = 14e6; /* more than in any interval */
	judge_it(&b);
	is(&b, "intervals make the total", JUDGED_LIE, FAULT_DISAGREES);
	b.reads[1].side = SIDE_SENDER; /* of another side: nothing to compare */
	judge_it(&b);
	assert_int_equal(b.judged.answers.n, 0);
	b.r.list.v[2].value = 30;
	judge_it(&b);
	is(&b, "intervals make the total", JUDGED_LIE, FAULT_DISAGREES);
	bed_done(&b);
}

static void test_ends_agree(void **state)
{
	struct bed b;

	(void)state;
	bed_init(&b);
	tells(&b, FIGURE_GOODPUT, 10e6)->side = SIDE_RECEIVER;
	struct tool_read *server = tells(&b, FIGURE_GOODPUT, 10.1e6);
	server->side = SIDE_RECEIVER;
	server->from = FROM_SERVER_OUT;
	server->headline = false;
	judge_it(&b);
	assert_int_equal(b.judged.answers.n, 0);
	b.r.list.v[1].value = 8e6;
	judge_it(&b);
	is(&b, "client and server agree", JUDGED_LIE, FAULT_DISAGREES);
	server->side = SIDE_SENDER;
	judge_it(&b);
	assert_int_equal(b.judged.answers.n, 0);
	bed_done(&b);
}

static void test_capacity(void **state)
{
	static const struct with overload[] = {OVERLOAD};
	struct bed b;

	(void)state;
	bed_init(&b);
	change(&b, overload, ARRAY_SIZE(overload));
	tells(&b, FIGURE_GOODPUT, 40e6);
	judge_it(&b);
	is(&b, "delivered within capacity", JUDGED_LIE, FAULT_WRONG_SIDE);
	b.e.spoilt = "the link is not what it says";
	judge_it(&b);
	is(&b, "delivered within capacity", JUDGED_INCONCLUSIVE, FAULT_WRONG_SIDE);
	b.e.spoilt = NULL;
	b.r.list.v[0].value = 10.2e6;
	judge_it(&b);
	assert_int_equal(b.judged.answers.n, 0);
	b.r.list.v[0].value = 40e6;
	b.e.counted_bps = 40e6; /* it did come: the link was changed, or had a burst */
	judge_it(&b);
	assert_int_equal(b.judged.answers.n, 0);
	b.e = plain; /* less is asked for than the link carries: no capacity */
	judge_it(&b);
	assert_int_equal(b.judged.answers.n, 0);
	b.e.predicted_bps = NAN;
	judge_it(&b);
	assert_int_equal(b.judged.answers.n, 0);
	bed_done(&b);
}

/* After all others: no kind is left that no test derives. */
static void test_all_kinds(void **state)
{
	(void)state;
	derived[FAULT_OTHER] = true; /* of a figure */
	for (int k = FAULT_DISAGREES; k < FAULT_KINDS; k++)
		if (!derived[k])
			fail_msg("%s is never derived", fault_name((enum fault_kind)k));
}

static void test_words(void **state)
{
	struct err err = ERR_INIT;
	enum fault_kind kind;

	(void)state;
	for (int k = FAULT_NONE + 1; k < FAULT_KINDS; k++) {
		assert_int_equal(fault_parse(fault_name((enum fault_kind)k), &kind, &err), 0);
		assert_int_equal(kind, k);
		assert_non_null(fault_sentence(kind));
		assert_true(strlen(fault_explain(kind)) > 80);
	}
	assert_int_equal(fault_parse(fault_name(FAULT_NONE), &kind, &err), -EINVAL);
	err = ERR_INIT;
	assert_int_equal(fault_parse("wrong-sid", &kind, &err), -EINVAL);
	assert_non_null(strstr(err.text, "did you mean 'wrong-side'?"));
	err = ERR_INIT;
	assert_int_equal(fault_parse("zzzz", &kind, &err), -EINVAL);
	assert_non_null(strstr(err.text, "--explain"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_busy_times),	  cmocka_unit_test(test_softer),
	    cmocka_unit_test(test_tolerance),	  cmocka_unit_test(test_unsupported),
	    cmocka_unit_test(test_no_figure),	  cmocka_unit_test(test_exit),
	    cmocka_unit_test(test_dscp),	  cmocka_unit_test(test_rightly_fails),
	    cmocka_unit_test(test_crash),	  cmocka_unit_test(test_end),
	    cmocka_unit_test(test_broken_output), cmocka_unit_test(test_shares),
	    cmocka_unit_test(test_intervals),	  cmocka_unit_test(test_ends_agree),
	    cmocka_unit_test(test_capacity),	  cmocka_unit_test(test_all_kinds),
	    cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
