// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests of core/harness/judge_excuse: what a wait for a CPU excuses, and no more: each rule with an
 * honest figure just within what the wait explains and a lie just beyond it.
 */
#include "tests/unit/harness/judge_bed.h"

/* One question with a tolerance of 2 % of rates and times, of `share` of others. */
static void one(struct bed *b, enum figure f, enum truth_source source, double value, double said)
{
	bed_init(b);
	b->e.least_bps = b->e.most_bps = 10e6;
	tells(b, f, said);
	asks(b, f, source, value);
}

/* Which kind it is called is judge_why's, and its tests'. */
static void judged_as(struct bed *b, double said, enum judgement j)
{
	const struct answer *a;

	b->r.list.v[0].value = said;
	judge_it(b);
	a = about(b, figure_name(b->reads[0].figure));
	if (a->judgement != j)
		fail_msg("%s instead of %s: %s", judgement_name(a->judgement), judgement_name(j),
			 a->text);
}

/* A clock read 30 ms late at both ends of 3 s: 2 % on top of the tolerance, either way. */
static void test_late_clock(void **state)
{
	struct bed b;

	(void)state;
	one(&b, FIGURE_GOODPUT, TRUTH_COUNTED, 0, 10e6);
	judged_as(&b, 10.39e6, JUDGED_LIE); /* nobody waited */
	b.e.waited_s = b.e.waited_longest_s = 0.03;
	judged_as(&b, 10.39e6, JUDGED_INCONCLUSIVE);
	assert_non_null(strstr(about(&b, "goodput")->text, "30 ms"));
	judged_as(&b, 9.61e6, JUDGED_INCONCLUSIVE);
	judged_as(&b, 10.41e6, JUDGED_LIE);
	judged_as(&b, 9.59e6, JUDGED_LIE);
	judged_as(&b, 10.1e6, JUDGED_TRUE);
	bed_done(&b);
}

/* Its socket overflowed while it waited: as many as came in that time, and not one more. */
static void test_full_socket(void **state)
{
	struct bed b;

	(void)state;
	one(&b, FIGURE_LOSS, TRUTH_COUNTED, 0, 0.02);
	b.e.lost_host = 75; /* of 3750 */
	judged_as(&b, 0.02, JUDGED_LIE);
	b.e.waited_s = 0.061; /* of 1250 a second: 76 */
	judged_as(&b, 0.02, JUDGED_INCONCLUSIVE);
	judged_as(&b, 0.0215, JUDGED_LIE); /* more than that */
	b.e.waited_s = 0.059;		   /* 74 */
	judged_as(&b, 0.02, JUDGED_LIE);
	bed_done(&b);
}

/* What came to the card is delivered, and so is what the program could have of it; no less. */
static void test_had(void **state)
{
	struct bed b;

	(void)state;
	one(&b, FIGURE_GOODPUT, TRUTH_COUNTED, 0, 8.8e6);
	judged_as(&b, 8.8e6, JUDGED_LIE);
	b.e.lost_host = 375; /* of 3750 */
	judged_as(&b, 8.85e6, JUDGED_TRUE);
	judged_as(&b, 9.5e6, JUDGED_TRUE);
	judged_as(&b, 10.15e6, JUDGED_TRUE);
	judged_as(&b, 8.75e6, JUDGED_LIE);
	judged_as(&b, 10.25e6, JUDGED_LIE);
	b.t.questions.v[0].source = TRUTH_PREDICTED; /* what the link carries is another question */
	judged_as(&b, 8.85e6, JUDGED_LIE);
	bed_done(&b);
	one(&b, FIGURE_LOSS, TRUTH_COUNTED, 0, 0.1); /* … and calling it the path's is one, too */
	b.e.lost_host = 375;
	judged_as(&b, 0.1, JUDGED_LIE);
	bed_done(&b);
}

/* An uneven flow has another rate in each time: only if somebody waited. */
static void test_uneven(void **state)
{
	struct bed b;

	(void)state;
	one(&b, FIGURE_GOODPUT, TRUTH_COUNTED, 0, 9e6);
	b.e.least_bps = 9.1e6;
	b.e.most_bps = 11e6;
	b.e.waited_s = 0.14;
	judged_as(&b, 9e6, JUDGED_LIE);
	b.e.waited_s = 0.16; /* 5 % of 3 s */
	judged_as(&b, 9e6, JUDGED_INCONCLUSIVE);
	judged_as(&b, 11.1e6, JUDGED_INCONCLUSIVE);
	judged_as(&b, 8.8e6, JUDGED_LIE);
	judged_as(&b, 11.3e6, JUDGED_LIE);
	bed_done(&b);
}

/* A quantile may be the longest wait, a mean is not; and no wait makes a time shorter. */
static void test_times(void **state)
{
	struct bed b;

	(void)state;
	one(&b, FIGURE_LATENCY_P99, TRUTH_FIXED, 0.01, 0.059);
	b.e.waited_s = 0.05;
	judged_as(&b, 0.059, JUDGED_LIE);
	b.e.waited_longest_s = 0.05;
	judged_as(&b, 0.059, JUDGED_INCONCLUSIVE);
	judged_as(&b, 0.061, JUDGED_LIE);
	judged_as(&b, 0.005, JUDGED_LIE);
	bed_done(&b);
	one(&b, FIGURE_LATENCY_MEAN, TRUTH_FIXED, 0.01, 0.011);
	b.e.waited_s = b.e.waited_longest_s = 0.05; /* 1/60 of the time: 1 ms on 10 */
	judged_as(&b, 0.0111, JUDGED_INCONCLUSIVE);
	judged_as(&b, 0.013, JUDGED_LIE);
	bed_done(&b);
}

/* A stall that a closed loop does not see is 240 ms of 450 that it should be; waits can make it
 * look true. What is surely inside stays true. */
static void test_hidden(void **state)
{
	struct bed b;

	(void)state;
	one(&b, FIGURE_LATENCY_P99, TRUTH_FIXED, 0.45, 0.442); /* 9 ms */
	judged_as(&b, 0.442, JUDGED_TRUE);
	b.e.waited_s = 0.2;
	b.e.waited_longest_s = 0.002;
	judged_as(&b, 0.442, JUDGED_INCONCLUSIVE);
	judged_as(&b, 0.444, JUDGED_TRUE);
	judged_as(&b, 0.458, JUDGED_TRUE); /* nothing makes it shorter */
	b.e.waited_s = 0.1;		   /* nobody felt it */
	judged_as(&b, 0.442, JUDGED_TRUE);
	bed_done(&b);
	one(&b, FIGURE_GOODPUT, TRUTH_COUNTED, 0, 10.19e6);
	b.e.waited_s = 0.2;
	b.e.waited_longest_s = 0.003; /* 0.2 % */
	judged_as(&b, 10.19e6, JUDGED_INCONCLUSIVE);
	judged_as(&b, 9.81e6, JUDGED_INCONCLUSIVE);
	judged_as(&b, 10.17e6, JUDGED_TRUE);
	b.e.waited_longest_s = 0.5;
	judged_as(&b, 10.11e6, JUDGED_INCONCLUSIVE);
	judged_as(&b, 10.09e6, JUDGED_TRUE);
	bed_done(&b);
}

/* It may be off by half of the last digit that it wrote, on any machine. */
static void test_digits(void **state)
{
	struct bed b;

	(void)state;
	one(&b, FIGURE_GOODPUT, TRUTH_COUNTED, 0, 10.24e6);
	judged_as(&b, 10.24e6, JUDGED_LIE);
	b.r.list.v[0].raw = "10.2 Mbits/sec";
	judged_as(&b, 10.24e6, JUDGED_TRUE);
	b.r.list.v[0].raw = "10.26 Mbits/sec";
	judged_as(&b, 10.26e6, JUDGED_LIE);
	bed_done(&b);
	one(&b, FIGURE_LOST, TRUTH_FIXED, 0, 1); /* one is one */
	b.r.list.v[0].raw = "1";
	judged_as(&b, 1, JUDGED_LIE);
	bed_done(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_late_clock), cmocka_unit_test(test_full_socket),
	    cmocka_unit_test(test_had),	       cmocka_unit_test(test_uneven),
	    cmocka_unit_test(test_times),      cmocka_unit_test(test_hidden),
	    cmocka_unit_test(test_digits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
