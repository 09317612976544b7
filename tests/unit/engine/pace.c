/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pacing: due times without accumulated error, streams that interleave, bounded catching up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "core/base/mem.h"
#include "core/base/units.h"
#include "core/engine/pace.h"

#define START (123 * NSEC_PER_SEC)

static struct pace pace_of(uint64_t work, uint64_t rate)
{
	struct pace p;

	pace_init(&p, work, rate);
	pace_stream(&p, START, 1, 0);
	return p;
}

static void due_times(void **state)
{
	static const struct {
		uint64_t work, rate, packet;
		int64_t due; /* after the start */
	} table[] = {
	    {1, 1000, 0, 0},
	    {1, 1000, 1, NSEC_PER_MSEC},
	    {1, 3, 1, 333333333},
	    {1, 3, 3, NSEC_PER_SEC}, /* not three thirds that are cut off */
	    {1472 * 8, 100000000, 1, 117760},
	    {1472 * 8, 100000000, 1000000, 117760 * INT64_C(1000000)},
	    {8, 1, 86400, 86400 * 8 * NSEC_PER_SEC},
	    {1, 1000000000, 86400000000000, 86400 * NSEC_PER_SEC},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct pace p = pace_of(table[i].work, table[i].rate);

		assert_int_equal(pace_due(&p, table[i].packet), START + table[i].due);
		p.next = table[i].packet;
		assert_int_equal(pace_due(&p, 0), START + table[i].due);
	}
}

static void ready(void **state)
{
	struct pace p = pace_of(1, 1000);

	(void)state;
	assert_int_equal(pace_ready(&p, START - 1, 64), 0);
	assert_int_equal(pace_ready(&p, START, 64), 1);
	pace_sent(&p, 1);
	assert_int_equal(pace_ready(&p, START + NSEC_PER_MSEC - 1, 64), 0);
	assert_int_equal(pace_ready(&p, START + NSEC_PER_MSEC, 64), 1);
	assert_int_equal(p.missed, 0);
}

/* 100 kpps: a sender that wakes 0.5 ms late sends what is due, all of it, and keeps the grid. */
static void catches_up_a_little(void **state)
{
	struct pace p = pace_of(1, 100000);

	(void)state;
	assert_int_equal(pace_ready(&p, START + NSEC_PER_MSEC / 2, 64), 51);
	assert_int_equal(pace_ready(&p, START + NSEC_PER_MSEC / 2, 20), 20);
	pace_sent(&p, 51);
	assert_int_equal(pace_due(&p, 0), START + 510 * NSEC_PER_USEC);
	assert_int_equal(p.missed, 0);
}

/* One that was away for 5 ms sends 1 ms of packets and gives up the rest. */
static void gives_up_what_is_too_late(void **state)
{
	struct pace p = pace_of(1, 100000);

	(void)state;
	assert_int_equal(pace_ready(&p, START + 5 * NSEC_PER_MSEC, 1000), 101);
	assert_int_equal(p.missed, 400);
	pace_sent(&p, 101);
	assert_int_equal(pace_due(&p, 0), START + 5 * NSEC_PER_MSEC + 10 * NSEC_PER_USEC);
}

/* With a gap of 100 ms it is one packet that may come late, not 1 ms. */
static void a_slow_flow_catches_up_one_packet(void **state)
{
	struct pace p = pace_of(1, 10);

	(void)state;
	assert_int_equal(pace_ready(&p, START + 30 * NSEC_PER_MSEC, 64), 1);
	assert_int_equal(p.missed, 0);
	assert_int_equal(pace_ready(&p, START + 1050 * NSEC_PER_MSEC, 64), 2);
	assert_int_equal(p.missed, 9);
	assert_int_equal(pace_due(&p, 0), START + 900 * NSEC_PER_MSEC);
}

static void streams_share_the_rate_and_interleave(void **state)
{
	struct pace p[3];

	(void)state;
	for (int i = 0; i < 3; i++) {
		pace_init(&p[i], 1, 3000);
		pace_stream(&p[i], START, 3, i);
		assert_int_equal(pace_due(&p[i], 0), START + i * NSEC_PER_SEC / 3000);
		assert_int_equal(pace_due(&p[i], 1000),
				 START + NSEC_PER_SEC + i * NSEC_PER_SEC / 3000);
	}
}

/* Whatever the sender's delays below the limit, the number sent in a second is the rate. */
static void the_number_is_exact(void **state)
{
	struct pace p = pace_of(18 * 8, 7777777);
	int64_t sent = 0, now = START, step = 1;
	int64_t want = 0;

	(void)state;
	while (pace_due(&p, (uint64_t)want) < START + NSEC_PER_SEC)
		want++;
	for (; now < START + NSEC_PER_SEC; now += step = step * 16807 % 900001) {
		int n = pace_ready(&p, now, 64);

		pace_sent(&p, n);
		sent += n;
	}
	while (pace_due(&p, 0) < START + NSEC_PER_SEC) {
		pace_sent(&p, 1);
		sent++;
	}
	assert_int_equal(sent + p.missed, want);
	assert_int_equal(p.missed, 0);
}

/* Ten at each place: the same number in a second, together. */
static void bursts_come_together_at_the_same_rate(void **state)
{
	struct pace p = pace_of(1, 1000);

	(void)state;
	pace_burst(&p, 10);
	assert_int_equal(pace_gap_ns(&p), 10 * NSEC_PER_MSEC);
	assert_int_equal(pace_ready(&p, START, 64), 10);
	assert_int_equal(pace_ready(&p, START, 7), 7);
	pace_sent(&p, 7);
	assert_int_equal(pace_ready(&p, START, 64), 3);
	pace_sent(&p, 3);
	assert_int_equal(pace_ready(&p, START + 10 * NSEC_PER_MSEC - 1, 64), 0);
	assert_int_equal(pace_due(&p, 9), START + 10 * NSEC_PER_MSEC);
	assert_int_equal(pace_due(&p, 10), START + 20 * NSEC_PER_MSEC);
	/* Late by five places: one of them may be caught up. */
	assert_int_equal(pace_ready(&p, START + 65 * NSEC_PER_MSEC, 64), 20);
	assert_int_equal(p.missed, 40);
}

static struct pace random_pace(enum engine_schedule schedule, int64_t seed, int streams, int index)
{
	struct pace p;

	pace_init(&p, 1, 10000);
	pace_stream(&p, START, streams, index);
	pace_schedule(&p, schedule, seed);
	return p;
}

/* Mean and deviation of 100,000 gaps are the schedule's; none is negative. */
static void random_gaps_have_their_distribution(void **state)
{
	static const struct {
		enum engine_schedule schedule;
		double deviation; /* of a mean of 1 */
	} table[] = {{SCHEDULE_POISSON, 1}, {SCHEDULE_UNIFORM, 0.57735}, {SCHEDULE_NORMAL, 0.25}};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct pace p = random_pace(table[i].schedule, 11, 2, 1);
		double n = 100000, mean = 200000, sum = 0, squares = 0;
		int64_t last = START;

		assert_int_equal(pace_gap_ns(&p), 200000);
		for (int k = 0; k < (int)n; k++) {
			int64_t due = pace_due(&p, 0);
			double gap = (double)(due - last);

			assert_true(due >= last);
			last = due;
			sum += gap;
			squares += gap * gap;
			pace_sent(&p, 1);
		}
		double deviation = sqrt(squares / n - sum / n * (sum / n));

		/* Five standard errors. */
		assert_true(fabs(sum / n - mean) < 5 * mean * table[i].deviation / sqrt(n));
		assert_true(fabs(deviation / mean - table[i].deviation) < 0.02);
	}
}

static void the_seed_decides(void **state)
{
	struct pace a = random_pace(SCHEDULE_POISSON, 5, 2, 0);
	struct pace b = random_pace(SCHEDULE_POISSON, 5, 2, 0);
	struct pace other = random_pace(SCHEDULE_POISSON, 6, 2, 0);
	struct pace stream = random_pace(SCHEDULE_POISSON, 5, 2, 1);

	(void)state;
	for (int i = 0; i < 1000; i++) {
		assert_int_equal(pace_due(&a, 0), pace_due(&b, 0));
		assert_int_not_equal(pace_due(&a, 0), pace_due(&other, 0));
		assert_int_not_equal(pace_due(&a, 0), pace_due(&stream, 0));
		pace_sent(&a, 1);
		pace_sent(&b, 1);
		pace_sent(&other, 1);
		pace_sent(&stream, 1);
	}
}

/* Whatever the delays: what is sent and what is given up is the schedule, and nothing is early. */
static void random_ones_lose_no_place(void **state)
{
	struct pace p = random_pace(SCHEDULE_POISSON, 9, 1, 0), all = p;
	int64_t sent = 0, want = 0, now = START, step = 1;

	(void)state;
	for (; now < START + NSEC_PER_SEC; now += step = step * 16807 % 3000001) {
		int n = pace_ready(&p, now, 64);

		for (int i = 0; i < n; i++)
			assert_true(pace_due(&p, (uint64_t)i) <= now &&
				    pace_due(&p, (uint64_t)i) >= now - PACE_CATCH_UP_NS);
		pace_sent(&p, n);
		sent += n;
	}
	while (pace_due(&all, 0) < pace_due(&p, 0)) {
		pace_sent(&all, 1);
		want++;
	}
	assert_true(p.missed > 0);
	assert_int_equal(sent + p.missed, want);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(due_times),
	    cmocka_unit_test(ready),
	    cmocka_unit_test(catches_up_a_little),
	    cmocka_unit_test(gives_up_what_is_too_late),
	    cmocka_unit_test(a_slow_flow_catches_up_one_packet),
	    cmocka_unit_test(streams_share_the_rate_and_interleave),
	    cmocka_unit_test(the_number_is_exact),
	    cmocka_unit_test(bursts_come_together_at_the_same_rate),
	    cmocka_unit_test(random_gaps_have_their_distribution),
	    cmocka_unit_test(the_seed_decides),
	    cmocka_unit_test(random_ones_lose_no_place),
	};
	return cmocka_run_group_tests_name("engine: pacing", tests, NULL, NULL);
}
