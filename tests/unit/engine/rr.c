/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The transaction engines for real, over the loopback device of a namespace of our own: many
 * connections, many requests on the way, any sizes, connections made and closed. What is asserted
 * holds however busy the machine is.
 */
#include "tests/unit/engine/workers.h"

#include <math.h>
#include <string.h>

static int64_t detail(const struct run *run, const char *key)
{
	const json_t *v = json_object_get(run->result.detail, key);

	if (!json_is_integer(v))
		fail_msg("detail has no number '%s'", key);
	return json_integer_value(v);
}

#define TRIES 8 /* a machine that is busy with other things starves some runs of their CPU */

/*
 * Little's law: as many requests are on the way at any time as were asked for, so the sum of their
 * times is that number times the window. At its begin, some are as old as the oldest; at its end
 * some have not been answered, which are many only where the machine has forgotten us. Gives that:
 * too few were on the way.
 */
static bool is_starved(const struct run *run, double requests)
{
	const struct engine_result *r = &run->result;
	double sum = r->latency.mean * (double)r->latency.count, all = requests * (double)DURATION;

	if (!r->latency.count)
		return true;
	if (sum > all + requests * r->latency.max)
		fail_msg("%g s of waiting where %g are possible", sum / 1e9, all / 1e9);
	return sum < 0.9 * all - requests * r->latency.max;
}

/* Measures, in as many tries as it takes. */
static void measure_busy(struct run *run, double requests)
{
	struct engine_spec spec = run->spec;
	const char *address = run->address;

	drive_to_end(run);
	for (int i = 1; i < TRIES && is_starved(run, requests); i++) {
		engine_result_done(&run->result);
		prepare(run, spec.test);
		run->spec = spec;
		run->address = address;
		drive_to_end(run);
	}
	if (is_starved(run, requests))
		fail_msg("in none of %d tries were %g requests always on the way", TRIES, requests);
}

static void check(struct run *run)
{
	const struct engine_spec *s = &run->spec;
	const struct engine_result *r = &run->result;

	if (engine_test_traits(s->test).datagram) /* none is given up and asked again */
		run->spec.timeout_ns = 10 * NSEC_PER_SEC;
	measure_busy(run, (double)s->streams * s->outstanding);
	assert_int_equal(r->latency.count, r->client.packets);
	assert_int_equal(r->client.bytes, r->client.packets * (s->size + s->response_size));
	assert_true(r->client.packets_all <= r->server.packets_all);
	assert_in_range(r->lost, 0, s->streams * s->outstanding); /* unanswered at the end */
	assert_int_equal(detail(run, "connections"), s->streams);
	assert_int_equal(detail(run, "outstanding"), s->outstanding);
	engine_result_done(&run->result);
}

static void rr(enum engine_test test, int connections, int outstanding, int64_t size)
{
	struct run run;

	prepare(&run, test);
	run.spec.streams = connections;
	run.spec.outstanding = outstanding;
	run.spec.size = run.spec.response_size = size;
	check(&run);
}

static void tcp_rr_with_300_connections(void **state)
{
	(void)state;
	rr(TEST_TCP_RR, 300, 1, 1);
}

static void tcp_rr_with_many_requests(void **state)
{
	(void)state;
	rr(TEST_TCP_RR, 1, 64, 10);
	rr(TEST_TCP_RR, 7, 5, 3000);
}

static void tcp_rr_with_large_messages(void **state)
{
	(void)state;
	rr(TEST_TCP_RR, 1, 1, 1024000);
	rr(TEST_TCP_RR, 3, 4, 1024000);
}

static void udp_rr_with_300_connections(void **state)
{
	(void)state;
	rr(TEST_UDP_RR, 300, 1, 1);
}

static void udp_rr_with_many_requests(void **state)
{
	(void)state;
	rr(TEST_UDP_RR, 1, 16, 1);
	rr(TEST_UDP_RR, 5, 30, 2);
	rr(TEST_UDP_RR, 2, 3, 65507);
}

static void sizes_may_differ(void **state)
{
	struct run run;

	(void)state;
	prepare(&run, TEST_TCP_RR);
	run.spec.size = 100000;
	run.spec.outstanding = 3;
	check(&run);
	prepare(&run, TEST_UDP_RR);
	run.spec.response_size = 20000;
	run.spec.streams = 2;
	check(&run);
}

static void threads_share_the_connections(void **state)
{
	struct run run;

	(void)state;
	prepare(&run, TEST_TCP_RR);
	run.spec.streams = 5;
	run.spec.threads = 2;
	measure_busy(&run, 5);
	assert_int_equal(detail(&run, "threads"), 2);
	assert_int_equal(detail(&run, "server_threads"), 2);
	engine_result_done(&run.result);
}

static void both_ends_may_spin(void **state)
{
	struct run run;

	(void)state;
	for (int connections = 1; connections <= 3; connections += 2) {
		prepare(&run, TEST_TCP_RR);
		run.spec.spin = true;
		run.spec.streams = connections;
		check(&run);
		prepare(&run, TEST_UDP_RR);
		run.spec.spin = true;
		run.spec.streams = connections;
		check(&run);
	}
}

/* Every answer is late that takes longer than no time at all. */
static void late_answers_are_counted(void **state)
{
	struct run run;

	(void)state;
	for (int outstanding = 1; outstanding <= 2; outstanding++) {
		prepare(&run, TEST_TCP_RR);
		run.spec.timeout_ns = 1;
		run.spec.outstanding = outstanding;
		drive_to_end(&run);
		assert_true(run.result.late > 0);
		assert_in_range(run.result.latency.count - run.result.late, 0, outstanding);
		engine_result_done(&run.result);
	}
}

static void crr(struct run *run)
{
	const struct engine_result *r = &run->result;

	measure_busy(run, run->spec.streams);
	assert_int_equal(r->latency.count, r->client.packets);
	assert_true(r->client.packets_all <= r->server.packets_all);
	assert_int_equal(r->lost, 0);
	assert_int_equal(detail(run, "refused") + detail(run, "reset") + detail(run, "timed_out") +
			     detail(run, "address_not_available") + detail(run, "other"),
			 0);
	const json_t *connect = json_object_get(r->detail, "connect_ns");
	assert_int_equal(json_integer_value(json_object_get(connect, "count")), r->latency.count);
	double mean = json_number_value(json_object_get(connect, "mean"));
	assert_true(mean > 0 && mean < r->latency.mean);
}

static void tcp_crr_leaves_nothing_behind(void **state)
{
	struct run run;

	(void)state;
	for (int connections = 1; connections <= 20; connections += 19) {
		prepare(&run, TEST_TCP_CRR);
		run.spec.streams = connections;
		run.spec.ports = 3;
		crr(&run);
		assert_int_equal(detail(&run, "time_wait"), 0);
		assert_int_equal(run.flows, 3);
		engine_result_done(&run.result);
	}
}

static void tcp_crr_with_fin_has_sockets_in_time_wait(void **state)
{
	struct run run;

	(void)state;
	prepare(&run, TEST_TCP_CRR);
	run.spec.size = run.spec.response_size = 300000;
	memcpy(run.spec.close, "fin", 4);
	crr(&run);
	assert_true(detail(&run, "time_wait") > 0);
	assert_true(detail(&run, "ports_used") > 0);
	assert_int_equal(run.result.client.bytes, run.result.client.packets * 600000);
	engine_result_done(&run.result);
}

static void tcp_cc_makes_connections_only(void **state)
{
	static const char *const closes[] = {"rst", "fin"};
	struct run run;

	(void)state;
	for (int i = 0; i < 4; i++) {
		prepare(&run, TEST_TCP_CC);
		memcpy(run.spec.close, closes[i % 2], 4);
		run.spec.streams = i < 2 ? 1 : 8;
		run.spec.threads = i < 2 ? 1 : 2;
		run.address = i < 2 ? "127.0.0.1" : "::1";
		crr(&run);
		assert_int_equal(run.result.client.bytes, 0);
		engine_result_done(&run.result);
	}
}

static void refused(const char *text, const char *part)
{
	struct engine_spec s;
	struct err err = ERR_INIT;
	json_t *j = json_loads(text, 0, NULL);

	assert_non_null(j);
	assert_true(engine_spec_parse(j, &s, &err));
	if (!strstr(err.text, part))
		fail_msg("'%s' is not in: %s", part, err.text);
	json_decref(j);
}

static void what_cannot_be_is_named(void **state)
{
	(void)state;
	refused("{\"test\":\"tcp_rr\",\"streams\":1000,\"outstanding\":101}", "at most 100");
	refused("{\"test\":\"udp_rr\",\"outstanding\":17}", "at least 2");
	refused("{\"test\":\"udp_rr\",\"size\":65508}", "size: a datagram");
	refused("{\"test\":\"tcp_rr\",\"size\":0}", "size: ");
	refused("{\"test\":\"tcp_crr\",\"close\":\"reset\"}", "close: 'reset'");
	refused("{\"test\":\"tcp_cc\",\"outstanding\":2}", "streams");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(tcp_crr_leaves_nothing_behind), /* first: none is there yet */
	    cmocka_unit_test(tcp_rr_with_300_connections),
	    cmocka_unit_test(tcp_rr_with_many_requests),
	    cmocka_unit_test(tcp_rr_with_large_messages),
	    cmocka_unit_test(udp_rr_with_300_connections),
	    cmocka_unit_test(udp_rr_with_many_requests),
	    cmocka_unit_test(sizes_may_differ),
	    cmocka_unit_test(threads_share_the_connections),
	    cmocka_unit_test(both_ends_may_spin),
	    cmocka_unit_test(late_answers_are_counted),
	    cmocka_unit_test(tcp_crr_with_fin_has_sockets_in_time_wait),
	    cmocka_unit_test(tcp_cc_makes_connections_only),
	    cmocka_unit_test(what_cannot_be_is_named),
	};

	return cmocka_run_group_tests(tests, own_namespace, NULL);
}
