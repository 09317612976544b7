/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two workers with clocks of their own, which time namespaces give them: the offset's arithmetic,
 * that windows line up, and that a one-way delay is right within the bound that is told.
 */
#include "tests/unit/engine/workers.h"

#include <math.h>
#include <string.h>

#include "core/engine/clock_offset.h"

static void the_shortest_round_trip_counts(void **state)
{
	struct clock_offset o = CLOCK_OFFSET_UNKNOWN;

	(void)state;
	/* Theirs is 1000 ahead; 30 there and 10 back: the middle is 10 off, and the bound 20. */
	clock_offset_add(&o, 100, 1130, 140);
	assert_int_equal(o.ahead_ns, 1010);
	assert_int_equal(o.bound_ns, 20);
	clock_offset_add(&o, 200, 1204, 206);
	assert_int_equal(o.ahead_ns, 1001);
	assert_int_equal(o.bound_ns, 3);
	clock_offset_add(&o, 300, 1390, 400); /* says less */
	assert_int_equal(o.ahead_ns, 1001);
	assert_int_equal(o.at_ns, 206);
	assert_int_equal(o.rounds, 3);
	clock_offset_add(&o, 400, 1390, 399); /* cannot be */
	assert_int_equal(o.bound_ns, 3);
}

static int64_t error_of(const struct clock_offset *v, size_t n)
{
	struct clock_track t = {0};

	for (size_t i = 0; i < n; i++)
		clock_track_add(&t, &v[i]);
	int64_t error = clock_track_error_ns(&t);
	clock_track_done(&t);
	return error;
}

static void drift_adds_to_the_error(void **state)
{
	struct clock_offset v[2] = {{.ahead_ns = 1000, .bound_ns = 30},
				    {.ahead_ns = 1000, .bound_ns = 10}};

	(void)state;
	assert_in_range(error_of(v, 2), 10, 11); /* of two at one time the surer counts */
	v[1].ahead_ns = 950;			 /* at the same time: that contradicts */
	assert_in_range(error_of(v, 2), 60, 61);
	assert_int_equal(error_of(v, 1), INT64_MAX);
	v[1] = CLOCK_OFFSET_UNKNOWN;
	assert_int_equal(error_of(v, 2), INT64_MAX);
	/* A second apart they may have been 1.2 ms apart and back again: the half of it each way.
	 */
	v[1] = (struct clock_offset){.ahead_ns = 1000, .bound_ns = 10, .at_ns = NSEC_PER_SEC};
	assert_in_range(error_of(v, 2), 600 * NSEC_PER_USEC + 20, 600 * NSEC_PER_USEC + 21);
}

/* Courses of one clock against another, ns, at `s` seconds; within what the kernel slews. */
static double steady(double s)
{
	return 80e3 * s;
}

static double bends(double s)
{
	return s < 3 ? 500e3 * s : 1500e3 - 700e3 * (s - 3);
}

static double there_and_back(double s)
{
	return s < 5 ? 1100e3 * s : 5500e3 - 1100e3 * (s - 5);
}

static double waves(double s)
{
	return 1e6 * sin(s);
}

static double steps(double s) /* what CLOCK_MONOTONIC never does */
{
	return s < 4.321 ? 50e3 * s : 40e6 - 50e3 * s;
}

/* Ten seconds, looked at now and then over a path whose round trips vary: at no time was the clock
 * farther from its first look than the bound says, and the bound is of use. */
static void no_course_of_a_clock_leaves_its_bound(void **state)
{
	static double (*const courses[])(double) = {steady, bends, there_and_back, waves, steps};
	static const double gaps_s[] = {0.1, 1, 10};
	uint64_t random = 1;

	(void)state;
	for (size_t k = 0; k < 5; k++)
		for (size_t g = 0; g < 3; g++) {
			struct clock_track t = {0};
			double first = 0, farthest = 0;

			for (double s = 0; s < 10.001; s += gaps_s[g]) {
				struct clock_offset o = CLOCK_OFFSET_UNKNOWN;
				random =
				    random * UINT64_C(6364136223846793005) + 1442695040888963407u;
				int64_t there = 20000 + (int64_t)(random >> 33) % 400000;
				random =
				    random * UINT64_C(6364136223846793005) + 1442695040888963407u;
				int64_t back = 20000 + (int64_t)(random >> 33) % 400000;
				int64_t at = (int64_t)(s * 1e9), mid = at + there;

				clock_offset_add(&o, at,
						 mid + (int64_t)courses[k]((double)mid / 1e9),
						 mid + back);
				clock_track_add(&t, &o);
				first = t.n == 1 ? (double)o.ahead_ns : first;
			}
			for (double s = 0; s < 10; s += 0.001)
				farthest = fmax(farthest, fabs(courses[k](s) - first));
			double bound = (double)clock_track_error_ns(&t);

			if (!(farthest <= bound))
				fail_msg(
				    "course %zu, each %g s: %.0f ns off, and the bound is %.0f", k,
				    gaps_s[g], farthest, bound);
			assert_true(bound <= farthest + 1200e3 * gaps_s[g] + 2e6);
			clock_track_done(&t);
		}
}

/* 2000 datagrams a second over loopback, where the true delay is far below a millisecond, on a
 * machine that may be busy. */
static void measure(struct run *run, long long client_ms, long long server_ms)
{
	prepare_shifted(run, TEST_UDP_STREAM, client_ms, server_ms);
	run->spec.rate_pps = 2000;
	run->spec.size = 200;
	run->hooks.own_clocks = true;
	int r = drive(run);
	int status[2] = {worker_end(&run->client), worker_end(&run->server)};
	if (WEXITSTATUS(status[0]) == 77 || WEXITSTATUS(status[1]) == 77) {
		print_message("skipped: no time namespace here\n");
		skip();
	}
	if (r)
		fail_msg("%s", run->err.text);
	assert_string_equal(run->result.invalid, "");
}

static void check_shifted(long long client_ms, long long server_ms)
{
	struct run run;

	measure(&run, client_ms, server_ms);
	const struct engine_result *r = &run.result;
	assert_int_equal(r->server.window_ns, DURATION);
	assert_int_equal(r->client.packets, r->server.packets + r->lost);
	assert_int_equal(r->lost, r->lost_host);
	assert_true(r->client.packets >= 600 - r->missed);
	assert_true(r->clock_error_ns > 0 && r->clock_error_ns < 1e9);
	assert_true(r->delay.count > 0);
	/* What the clocks differ by is minutes. */
	assert_true(r->delay.min >= 0 && r->delay.min <= r->clock_error_ns + 50e6);
	engine_result_done(&run.result);
}

static void windows_line_up_and_delays_are_right(void **state)
{
	(void)state;
	check_shifted(0, 123456);
	check_shifted(123456, 0);
	check_shifted(500250, 70001);
}

static void one_clock_has_no_error(void **state)
{
	struct run run;

	(void)state;
	measure(&run, 0, 0);
	assert_true(run.result.clock_error_ns == 0);
	assert_true(run.result.delay.count > 0);
	engine_result_done(&run.result);
}

/* The control of the above: taken for one clock, two of them are noticed. */
static void clocks_that_are_taken_for_one(void **state)
{
	struct run run;

	(void)state;
	prepare_shifted(&run, TEST_UDP_STREAM, 0, 123456);
	int r = drive(&run);
	worker_end(&run.client);
	worker_end(&run.server);
	assert_true(r < 0 || run.result.invalid[0]);
	if (!r)
		engine_result_done(&run.result);
}

static int64_t later(void *arg, int64_t earliest_ns)
{
	*(int64_t *)arg = earliest_ns + 300 * NSEC_PER_MSEC;
	return *(int64_t *)arg;
}

static void window_is(void *arg, int64_t window_ns)
{
	int64_t *start = arg;

	*start = window_ns - *start;
}

static void whoever_asked_for_it_chooses_the_start(void **state)
{
	struct run run;
	int64_t start = 0;

	(void)state;
	prepare(&run, TEST_TCP_RR);
	run.hooks = (struct engine_hooks){.start = later, .on_start = window_is, .arg = &start};
	if (drive(&run))
		fail_msg("%s", run.err.text);
	assert_int_equal(start, run.spec.warmup_ns);
	engine_result_done(&run.result);
	worker_end(&run.client);
	worker_end(&run.server);
}

static int64_t never(void *arg, int64_t earliest_ns)
{
	(void)arg;
	(void)earliest_ns;
	return -ETIMEDOUT;
}

static void a_start_that_is_given_up(void **state)
{
	struct run run;

	(void)state;
	prepare(&run, TEST_TCP_RR);
	run.hooks = (struct engine_hooks){.start = never};
	assert_int_equal(drive(&run), -ETIMEDOUT);
	assert_string_equal(run.err.text, "the common start was given up");
	worker_end(&run.client);
	worker_end(&run.server);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_shortest_round_trip_counts),
	    cmocka_unit_test(drift_adds_to_the_error),
	    cmocka_unit_test(no_course_of_a_clock_leaves_its_bound),
	    cmocka_unit_test(windows_line_up_and_delays_are_right),
	    cmocka_unit_test(one_clock_has_no_error),
	    cmocka_unit_test(clocks_that_are_taken_for_one),
	    cmocka_unit_test(whoever_asked_for_it_chooses_the_start),
	    cmocka_unit_test(a_start_that_is_given_up),
	};
	return cmocka_run_group_tests_name("engine: clocks", tests, own_namespace, NULL);
}
