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

static void drift_adds_to_the_error(void **state)
{
	struct clock_offset before = {.ahead_ns = 1000, .bound_ns = 30};
	struct clock_offset after = {.ahead_ns = 1000, .bound_ns = 10};
	struct clock_offset unknown = CLOCK_OFFSET_UNKNOWN;

	(void)state;
	assert_int_equal(clock_offset_error_ns(&before, &after), 30);
	after.ahead_ns = 950;
	assert_int_equal(clock_offset_error_ns(&before, &after), 60);
	assert_int_equal(clock_offset_error_ns(&before, &unknown), INT64_MAX);
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
	    cmocka_unit_test(windows_line_up_and_delays_are_right),
	    cmocka_unit_test(one_clock_has_no_error),
	    cmocka_unit_test(clocks_that_are_taken_for_one),
	    cmocka_unit_test(whoever_asked_for_it_chooses_the_start),
	    cmocka_unit_test(a_start_that_is_given_up),
	};
	return cmocka_run_group_tests_name("engine: clocks", tests, own_namespace, NULL);
}
