// SPDX-License-Identifier: GPL-2.0-or-later
/* several: sums, spread and the common window of pairs, and what the model says for all together;
 * and that a pair which fails keeps the others from starting. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#include "core/base/units.h"
#include "core/harness/attempt_many.h"

#define MBIT 1e6

/* A pair that received `bps` for `seconds`, in intervals of one second. */
static struct several_pair pair_of(enum engine_test test, double bps, int seconds)
{
	struct several_pair p = {.spec = {.test = test}, .ran = true};

	p.result.goodput_bps = bps;
	p.result.pps = bps / 8000;
	p.result.server.window_ns = seconds * NSEC_PER_SEC;
	p.result.intervals = json_array();
	for (int s = 1; s <= seconds; s++)
		json_array_append_new(
		    p.result.intervals,
		    json_pack("{s:f,s:f,s:f}", "t_s", (double)s, "bps", bps, "pps", bps / 8000));
	return p;
}

static void test_sum(void **state)
{
	struct several_pair p[] = {pair_of(TEST_TCP_STREAM, 10 * MBIT, 5),
				   pair_of(TEST_TCP_STREAM, 30 * MBIT, 5)};
	struct several_total t;

	(void)state;
	p[0].result.retransmits = 2;
	p[1].result.lost = 7;
	several_total(p, 2, &t);
	assert_int_equal(t.pairs, 2);
	assert_false(t.cut);
	assert_float_equal(t.window_s, 5, 1e-9);
	assert_float_equal(t.goodput_bps, 40 * MBIT, 1e-3);
	assert_float_equal(t.mean, 20 * MBIT, 1e-3);
	assert_float_equal(t.min, 10 * MBIT, 1e-3);
	assert_float_equal(t.max, 30 * MBIT, 1e-3);
	assert_float_equal(t.stddev, sqrt(200) * MBIT, 1);
	assert_float_equal(t.fairness, 1600.0 / (2 * 1000), 1e-9); /* (Σx)² / n Σx² */
	assert_int_equal(t.retransmits, 2);
	assert_int_equal(t.lost, 7);
	several_done(p, 2);
}

/* One went on for 4 s alone, faster: only what all did is a sum. */
static void test_common_window(void **state)
{
	struct several_pair p[] = {pair_of(TEST_TCP_STREAM, 10 * MBIT, 2),
				   pair_of(TEST_TCP_STREAM, 20 * MBIT, 6)};
	struct several_total t;

	(void)state;
	for (size_t i = 2; i < 6; i++)
		json_object_set_new(json_array_get(p[1].result.intervals, i), "bps",
				    json_real(50 * MBIT));
	p[1].result.goodput_bps = 40 * MBIT;
	several_total(p, 2, &t);
	assert_true(t.cut);
	assert_float_equal(t.window_s, 2, 1e-9);
	assert_float_equal(t.goodput_bps, 30 * MBIT, 1);
	several_done(p, 2);
}

static void test_transactions(void **state)
{
	struct several_pair p[] = {pair_of(TEST_TCP_RR, 8 * MBIT, 1),
				   pair_of(TEST_TCP_RR, 24 * MBIT, 1)};
	struct several_total t;

	(void)state;
	several_total(p, 2, &t);
	assert_float_equal(t.pps, 4000, 1e-6);
	assert_float_equal(t.mean, 2000, 1e-6); /* of transactions, not of bits */
	several_done(p, 2);
}

static void test_failed_pair_is_left_out(void **state)
{
	struct several_pair p[] = {pair_of(TEST_TCP_STREAM, 10 * MBIT, 1),
				   pair_of(TEST_TCP_STREAM, 30 * MBIT, 1)};
	struct several_total t;

	(void)state;
	err_fail(&p[1].err, EPIPE, "died");
	json_decref(p[1].result.intervals);
	p[1].result.intervals = NULL;
	several_total(p, 2, &t);
	assert_int_equal(t.pairs, 1);
	assert_float_equal(t.goodput_bps, 10 * MBIT, 1e-3);
	assert_true(isnan(t.stddev));
	json_t *j = several_total_json(&t);
	assert_true(json_is_null(json_object_get(j, "stddev")));
	json_decref(j);
	several_done(p, 2);
}

static int never(void *arg, struct err *err)
{
	(void)err;
	*(bool *)arg = true;
	return 0;
}

/* Workers whose channel is closed already: nothing starts, and it is said why. */
static void test_none_starts_alone(void **state)
{
	struct several_pair p[2] = {{.spec = {0}}, {.spec = {0}}};
	bool connected = false;
	struct several_hooks hooks = {.on_connected = never, .arg = &connected, .stop_fd = -1};
	struct err err = ERR_INIT;
	int fds[2][2];

	(void)state;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(pipe(fds[i]), 0);
		close(fds[i][1]);
		engine_spec_default(&p[i].spec, TEST_TCP_STREAM);
		assert_int_equal(ip_parse("127.0.0.1", &p[i].server, &err), 0);
		/* What is read from has ended, and cannot be written to. */
		p[i].ends = (struct engine_ends){fds[i][0], fds[i][0], fds[i][0], fds[i][0]};
	}
	assert_true(several_run(p, 2, &hooks, &err) < 0);
	assert_true(err.text[0]);
	assert_false(connected);
	assert_false(p[0].ran || p[1].ran);
	several_done(p, 2);
	for (int i = 0; i < 2; i++)
		close(fds[i][0]);
}

/* A worker that a listener started may be of any version: it says which. */
static void test_other_version(void **state)
{
	static const char ready[] = "{\"type\":\"ready\",\"program\":\"0.0.1\"}\n";
	struct several_pair p = {.spec = {0}};
	struct several_hooks hooks = {.stop_fd = -1};
	struct err err = ERR_INIT;
	int fds[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	assert_int_equal(write(fds[1], ready, strlen(ready)), strlen(ready));
	engine_spec_default(&p.spec, TEST_TCP_RR);
	assert_int_equal(ip_parse("127.0.0.1", &p.server, &err), 0);
	p.ends = (struct engine_ends){fds[0], fds[0], fds[0], fds[0]};
	assert_int_equal(several_run(&p, 1, &hooks, &err), -ENOTSUP);
	assert_non_null(strstr(err.text, "is of vpclab 0.0.1, and this is vpclab"));
	several_done(&p, 1);
	close(fds[0]);
	close(fds[1]);
}

static void test_prediction(void **state)
{
	struct truth_predicted lone[2] = {
	    {.known = true, .limit = LIMIT_RATE, .shaper = 4, .low_bps = 90, .high_bps = 100},
	    {.known = true, .limit = LIMIT_RATE, .shaper = 4, .low_bps = 80, .high_bps = 95}};
	struct truth_predicted out;

	(void)state;
	attempt_predict_many(lone, 2, &out);
	assert_true(out.known);
	assert_float_equal(out.low_bps, 80, 1e-9);
	assert_float_equal(out.high_bps, 100, 1e-9);
	lone[1].shaper = 5; /* the other direction, or another link */
	attempt_predict_many(lone, 2, &out);
	assert_false(out.known);
	assert_true(out.unknown[0]);
	lone[1].shaper = 4;
	lone[1].limit = LIMIT_FLOW; /* what a flow may have is not shared */
	attempt_predict_many(lone, 2, &out);
	assert_false(out.known);
	memset(lone, 0, sizeof(lone)); /* no shaper at all */
	attempt_predict_many(lone, 2, &out);
	assert_false(out.known);
	assert_string_equal(out.unknown, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_sum),
	    cmocka_unit_test(test_common_window),
	    cmocka_unit_test(test_transactions),
	    cmocka_unit_test(test_failed_pair_is_left_out),
	    cmocka_unit_test(test_none_starts_alone),
	    cmocka_unit_test(test_other_version),
	    cmocka_unit_test(test_prediction),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
