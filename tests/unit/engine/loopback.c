/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The engines for real: two worker processes over the loopback device of a namespace of our own.
 * What is asserted holds however busy the machine is: sums, bounds and accounts, never a rate.
 */
#include "tests/unit/engine/workers.h"
#include "tests/unit/engine/near.h"

#include <math.h>
#include <string.h>

static void measure(struct run *run)
{
	drive_to_end(run);
	assert_int_equal(run->flows, run->spec.streams);
}

static double sum_of_intervals(const struct engine_result *r, const char *key)
{
	double sum = 0, last = 0;
	size_t i;
	json_t *one;

	json_array_foreach(r->intervals, i, one)
	{
		double t = json_number_value(json_object_get(one, "t_s"));

		assert_true(t > last);
		sum += json_number_value(json_object_get(one, key)) * (t - last);
		last = t;
	}
	return sum;
}

static void check_tcp(struct run *run)
{
	measure(run);
	const struct engine_result *r = &run->result;
	double seconds = (double)DURATION / 1e9;

	assert_true(r->server.bytes > 0);
	assert_int_equal(r->server.window_ns, DURATION);
	near(r->goodput_bps, (double)r->server.bytes * 8 / seconds, 100);
	near(sum_of_intervals(r, "bps"), (double)r->server.bytes * 8, 100);
	near(sum_of_intervals(r, "sent_bps"), (double)r->client.bytes * 8, 100);
	assert_true(r->server.bytes <= r->server.bytes_all);
	assert_true(r->server.bytes_all <= r->client.bytes_all);
	assert_int_equal(json_array_size(r->intervals), 3);
	assert_true(run->intervals == 3);
	assert_true(r->mss > 500);
	assert_true(strlen(r->congestion) > 0);
	engine_result_done(&run->result);
}

static void tcp_stream(void **state)
{
	struct run run;

	(void)state;
	prepare(&run, TEST_TCP_STREAM);
	check_tcp(&run);
}

static void tcp_stream_with_four_streams(void **state)
{
	struct run run;

	(void)state;
	prepare(&run, TEST_TCP_STREAM);
	run.spec.streams = 4;
	check_tcp(&run);
}

static void tcp_stream_over_ipv6(void **state)
{
	struct run run;

	(void)state;
	prepare(&run, TEST_TCP_STREAM);
	run.address = "::1";
	check_tcp(&run);
}

static void check_udp(struct run *run)
{
	measure(run);
	const struct engine_result *r = &run->result;

	assert_int_equal(r->client.packets, r->server.packets + r->lost);
	assert_int_equal(r->client.bytes, r->client.packets * r->size);
	assert_true(r->loss >= 0 && r->loss <= 1);
	assert_true(r->lost_host <= r->lost);
	/* Loopback loses nothing but at the socket: the account closes to the last datagram. */
	assert_int_equal(r->client.packets_all, r->server.packets_all + r->drops_all);
	assert_int_equal(r->lost_host, r->lost);
	assert_int_equal(r->duplicated, 0);
	assert_int_equal(r->reordered, 0);
	near(sum_of_intervals(r, "pps"), r->pps * (double)DURATION / 1e9, 1e-3);
}

static void udp_stream_on_a_schedule(void **state)
{
	struct run run;

	(void)state;
	prepare(&run, TEST_UDP_STREAM);
	run.spec.rate_pps = 2000;
	run.spec.size = 200;
	run.spec.streams = 2;
	check_udp(&run);
	const struct engine_result *r = &run.result;
	assert_true(r->client.packets <= 600);
	assert_true(r->client.packets >= 600 - r->missed);
	assert_true(r->delay.count == r->server.packets);
	assert_true(r->delay.min >= 0);
	near(r->offered_bps, 2000 * 1600, 1e-3);
	engine_result_done(&run.result);
}

/* A minimum-size Ethernet frame has room for 18 bytes; over IPv6 too. */
static void udp_stream_of_the_smallest_frames(void **state)
{
	struct run run;

	(void)state;
	prepare(&run, TEST_UDP_STREAM);
	run.spec.size = 18;
	check_udp(&run);
	engine_result_done(&run.result);
	prepare(&run, TEST_UDP_STREAM);
	run.spec.size = 18;
	run.address = "::1";
	check_udp(&run);
	engine_result_done(&run.result);
}

/* A receiver with room for a few datagrams only: what it drops is the host's loss, not the path's.
 */
static void udp_stream_that_the_receiver_drops(void **state)
{
	struct run run;

	(void)state;
	prepare(&run, TEST_UDP_STREAM);
	run.spec.rcvbuf = 4096;
	run.spec.size = 1000;
	check_udp(&run);
	assert_true(run.result.lost > 0);
	engine_result_done(&run.result);
}

static void check_rr(struct run *run)
{
	measure(run);
	const struct engine_result *r = &run->result;
	const struct engine_dist *d = &r->latency;

	assert_true(d->count > 0);
	assert_int_equal(d->count, r->client.packets);
	assert_true(d->min <= d->p50 && d->p50 <= d->max);
	assert_int_equal(r->lost, 0);
	near(sum_of_intervals(r, "tps"), (double)d->count, 1e-3);
	near(r->pps, (double)d->count / ((double)DURATION / 1e9), 1e-3);
	/* One after the other without a gap: together they are the time of all streams, but for the
	 * transactions that lie across the two edges. */
	double all = (double)d->count * d->mean, streams = run->spec.streams;
	near(all, streams * (double)DURATION, 2 * streams * d->max + 0.01 * all);
	engine_result_done(&run->result);
}

static void tcp_rr(void **state)
{
	struct run run;

	(void)state;
	prepare(&run, TEST_TCP_RR);
	check_rr(&run);
	prepare(&run, TEST_TCP_RR);
	run.spec.streams = 5;
	run.spec.size = 3000;
	run.spec.response_size = 70000;
	check_rr(&run);
}

static void udp_rr(void **state)
{
	struct run run;

	(void)state;
	prepare(&run, TEST_UDP_RR);
	check_rr(&run);
	prepare(&run, TEST_UDP_RR);
	run.spec.streams = 3;
	run.spec.size = 12; /* as long as a hello */
	run.spec.response_size = 12;
	run.address = "::1";
	check_rr(&run);
}

static void throughput_by_count(void **state)
{
	struct run run;

	(void)state;
	prepare(&run, TEST_THROUGHPUT);
	run.spec.file_size = 1000001;
	run.spec.count = 3;
	run.spec.streams = 2;
	measure(&run);
	const struct engine_result *r = &run.result;
	assert_int_equal(r->latency.count, 6);
	assert_int_equal(r->server.bytes, 6 * 1000001);
	assert_int_equal(r->client.bytes, 6 * 1000001);
	assert_int_equal(json_array_size(r->pairs), 2);
	assert_true(r->rate.min <= r->rate.mean && r->rate.mean <= r->rate.max);
	near(r->rate.min * r->latency.max, 8e9 * 1000001, 1e3);
	near(sum_of_intervals(r, "bps"), 8.0 * 6 * 1000001, 100);
	engine_result_done(&run.result);
}

static void throughput_by_duration_does_one_at_least(void **state)
{
	struct run run;

	(void)state;
	prepare(&run, TEST_THROUGHPUT);
	run.spec.duration_ns = NSEC_PER_MSEC;
	run.spec.interval_ns = NSEC_PER_MSEC;
	run.spec.file_size = 20000000;
	measure(&run);
	assert_int_equal(run.result.latency.count, 1);
	assert_int_equal(run.result.server.bytes, 20000000);
	engine_result_done(&run.result);
}

/* Every flow of the client is from there: an option that an engine takes has to do something. */
static void client_address(void **state)
{
	static const enum engine_test tests[] = {TEST_TCP_STREAM, TEST_TCP_MAERTS, TEST_UDP_STREAM,
						 TEST_TCP_RR,	  TEST_UDP_RR,	   TEST_TCP_CRR,
						 TEST_PAIRS};
	(void)state;
	for (size_t i = 0; i < sizeof(tests) / sizeof(*tests); i++) {
		struct run run;
		size_t k;
		json_t *flow;

		prepare(&run, tests[i]);
		strcpy(run.spec.client_address, "127.0.0.7");
		measure(&run);
		assert_true(json_array_size(run.result.flows) > 0);
		json_array_foreach(run.result.flows, k, flow)
		{
			const char *local = json_string_value(json_object_get(flow, "local"));
			if (!local || strcmp(local, "127.0.0.7") != 0)
				fail_msg("%s: from %s", engine_test_name(tests[i]), local);
		}
		engine_result_done(&run.result);
	}
}

static void refused(struct run *run, const char *why)
{
	assert_int_not_equal(drive(run), 0);
	if (!strstr(run->err.text, why))
		fail_msg("'%s' does not say '%s'", run->err.text, why);
	worker_end(&run->client);
	worker_end(&run->server);
}

static void client_address_that_is_not_here(void **state)
{
	struct run run;

	(void)state;
	prepare(&run, TEST_TCP_STREAM);
	strcpy(run.spec.client_address, "192.0.2.77");
	refused(&run, "client_address: binding to 192.0.2.77");
	prepare(&run, TEST_UDP_RR);
	strcpy(run.spec.client_address, "::1");
	refused(&run, "client_address: ::1 is not of the family");
}

static void mss(void **state)
{
	struct run run;

	(void)state;
	prepare(&run, TEST_TCP_STREAM);
	run.spec.mss = 600;
	measure(&run);
	assert_in_range(run.result.mss, 600 - 40, 600); /* TCP's options are in it */
	engine_result_done(&run.result);
	prepare(&run, TEST_TCP_STREAM);
	run.spec.mss = 20;
	refused(&run, "mss: setting it to 20");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(tcp_stream),
	    cmocka_unit_test(tcp_stream_with_four_streams),
	    cmocka_unit_test(tcp_stream_over_ipv6),
	    cmocka_unit_test(udp_stream_on_a_schedule),
	    cmocka_unit_test(udp_stream_of_the_smallest_frames),
	    cmocka_unit_test(udp_stream_that_the_receiver_drops),
	    cmocka_unit_test(tcp_rr),
	    cmocka_unit_test(udp_rr),
	    cmocka_unit_test(throughput_by_count),
	    cmocka_unit_test(throughput_by_duration_does_one_at_least),
	    cmocka_unit_test(client_address),
	    cmocka_unit_test(client_address_that_is_not_here),
	    cmocka_unit_test(mss),
	};
	return cmocka_run_group_tests_name("engine: loopback", tests, own_namespace, NULL);
}
