/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The intervals of every test of rates add up to its total, to the last byte, datagram and
 * transaction, and the last of them ends where the window does. Real runs, so that a new engine
 * cannot be forgotten.
 */
#include "tests/unit/engine/workers.h"

#include <math.h>
#include <string.h>

static double sum(const json_t *intervals, const char *key)
{
	double all = 0;
	size_t i;
	json_t *one;

	json_array_foreach((json_t *)intervals, i, one)
	{
		const json_t *v = json_object_get(one, key);

		if (!json_is_integer(v))
			fail_msg("interval %zu has no %s", i, key);
		all += (double)json_integer_value(v);
	}
	return all;
}

static void equal(const char *test, double got, double want)
{
	if (!(fabs(got - want) < 1))
		fail_msg("%s: the intervals add up to %.0f, the total is %.3f", test, got, want);
}

/* A total that is a rate, over the window of whoever counted. */
static double over(double rate, const struct engine_side *side)
{
	return rate * (double)side->window_ns / 1e9;
}

static void check(enum engine_test test, const struct engine_result *r)
{
	struct engine_traits t = engine_test_traits(test);
	const struct engine_side *counts = t.way == WAY_BACK ? &r->client : &r->server;
	const char *name = engine_test_name(test);

	if (test == TEST_UDP_LATENCY) /* of what was sent, what was answered */
		equal(name, sum(r->intervals, "transactions"), over(r->pps, &r->client));
	else if (t.transactions)
		equal(name, sum(r->intervals, "transactions"), (double)r->client.packets);
	else if (t.datagram)
		equal(name, sum(r->intervals, "packets"), over(r->pps, counts));
	else
		equal(name, sum(r->intervals, "bytes"), (double)counts->bytes);
	if (t.way != WAY_BOTH)
		return;
	if (t.datagram)
		equal(name, sum(r->back.intervals, "packets"), over(r->back.pps, &r->client));
	else
		equal(name, sum(r->back.intervals, "bytes"),
		      over(r->back.goodput_bps / 8, &r->client));
}

static void measure(enum engine_test test, int64_t interval_ns)
{
	struct run run;

	prepare(&run, test);
	run.spec.interval_ns = interval_ns;
	if (test == TEST_THROUGHPUT) {
		run.spec.file_size = 1000003;
		run.spec.count = 50;
	}
	if (drive(&run))
		fail_msg("%s: %s", engine_test_name(test), run.err.text);
	worker_end(&run.client);
	worker_end(&run.server);
	check(test, &run.result);
	assert_true(run.result.intervals != NULL);
	engine_result_done(&run.result);
}

static void every_test(void **state)
{
	(void)state;
	for (int test = 0; test < ENGINE_TESTS; test++)
		/* path_check has findings and no series. */
		if (test != TEST_PATH_CHECK)
			measure((enum engine_test)test, 100 * NSEC_PER_MSEC);
}

/* 300 ms in intervals of 130 ms: the last one is shorter. */
static void last_is_shorter(void **state)
{
	(void)state;
	measure(TEST_TCP_STREAM, 130 * NSEC_PER_MSEC);
	measure(TEST_UDP_BIDIR, 130 * NSEC_PER_MSEC);
	measure(TEST_TCP_RR, 130 * NSEC_PER_MSEC);
	measure(TEST_UDP_LATENCY, 130 * NSEC_PER_MSEC);
}

/* Of more connections than are looked at, the totals are still of all, and the result says so. */
static void a_sample_is_named(void **state)
{
	struct run run;

	(void)state;
	prepare(&run, TEST_TCP_STREAM);
	run.spec.streams = 100;
	if (drive(&run))
		fail_msg("%s", run.err.text);
	worker_end(&run.client);
	worker_end(&run.server);
	assert_int_equal(run.result.tcp_sampled, 50);
	assert_true(sum(run.result.intervals, "bytes_acked") <=
		    (double)json_integer_value(json_object_get(run.result.tcp, "bytes_acked")));
	assert_true(run.result.segments_pps > 0);
	engine_result_done(&run.result);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_test),
	    cmocka_unit_test(last_is_shorter),
	    cmocka_unit_test(a_sample_is_named),
	};
	return cmocka_run_group_tests(tests, own_namespace, NULL);
}
