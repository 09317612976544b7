/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What both ends' findings say together: the steady part, segments, costs, and what held the rate.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/engine/limit.h"
#include "core/engine/result.h"
#include "core/engine/sample.h"
#include "tests/unit/engine/near.h"

/* A finished TCP stream of one second in which nothing was short of anything. */
static void easy(enum engine_test test, struct engine_spec *s, struct engine_result *r)
{
	engine_spec_default(s, test);
	*r = (struct engine_result){.test = test};
	r->client = r->server = (struct engine_side){.window_ns = 1000000000,
						     .cpu = -1,
						     .n_threads = 1,
						     .thread_cpu_s = 0.2,
						     .thread_wait_s = 0.1,
						     .cpus = 2};
}

static void tcp_is(struct engine_result *r, const char *text)
{
	r->tcp = json_loads(text, 0, NULL);
	assert_non_null(r->tcp);
}

static void limit_is(const struct engine_spec *s, struct engine_result *r, const char *limit,
		     const char *evidence)
{
	limit_find(s, r);
	assert_string_equal(r->limit, limit);
	if (!strstr(r->limit_why, evidence))
		fail_msg("'%s' does not say '%s'", r->limit_why, evidence);
	engine_result_done(r);
}

static void nothing_is_proven(void **state)
{
	struct engine_spec s;
	struct engine_result r;

	(void)state;
	easy(TEST_TCP_STREAM, &s, &r);
	limit_is(&s, &r, "", "20 % busy and waited for a CPU for 10 %");
	easy(TEST_TCP_RR, &s, &r);
	limit_is(&s, &r, "", "waits for its answer");
	easy(TEST_UDP_LATENCY, &s, &r);
	limit_is(&s, &r, "schedule", "schedule");
}

static void threads_without_time_left(void **state)
{
	struct engine_spec s;
	struct engine_result r;

	(void)state;
	easy(TEST_TCP_STREAM, &s, &r);
	r.client.thread_cpu_s = 0.97;
	limit_is(&s, &r, "sender", "97 %");
	easy(TEST_TCP_STREAM, &s, &r);
	r.server.thread_cpu_s = 0.5;
	r.server.thread_wait_s = 0.47; /* ready all the time, and others had the CPU */
	limit_is(&s, &r, "receiver", "50 % busy and waited for a CPU for 47 %");
	easy(TEST_TCP_MAERTS, &s, &r); /* the other way: the server sends */
	r.server.thread_cpu_s = 0.97;
	limit_is(&s, &r, "sender", "97 %");
	easy(TEST_TCP_RR, &s, &r);
	r.same_machine = true;
	r.client.cpu = r.server.cpu = 0;
	r.client.thread_cpu_s = r.server.thread_cpu_s = 0.49;
	limit_is(&s, &r, "sender", "share CPU 0");
	easy(TEST_TCP_STREAM, &s, &r);
	s.spin = true; /* busy by design */
	r.client.thread_cpu_s = 1;
	limit_is(&s, &r, "", "busy");
}

static void windows_that_are_full(void **state)
{
	static const char rwnd[] = "{\"rwnd_limited\":0.8,\"sndbuf_limited\":0,\"busy_us\":900000}";
	struct engine_spec s;
	struct engine_result r;

	(void)state;
	easy(TEST_TCP_STREAM, &s, &r);
	tcp_is(&r, rwnd);
	limit_is(&s, &r, "window", "80 % of the time");
	easy(TEST_TCP_STREAM, &s, &r);
	tcp_is(&r, rwnd);
	r.server.thread_cpu_s = 0.99; /* closed since nobody reads */
	limit_is(&s, &r, "receiver", "99 % busy");
	easy(TEST_TCP_STREAM, &s, &r);
	tcp_is(&r, "{\"rwnd_limited\":0,\"sndbuf_limited\":0.9,\"busy_us\":900000}");
	limit_is(&s, &r, "window", "sndbuf");
}

static void path_by_tcp(void **state)
{
	struct engine_spec s;
	struct engine_result r;

	(void)state;
	easy(TEST_TCP_STREAM, &s, &r);
	tcp_is(&r, "{\"busy_us\":999000,\"retransmits\":12,\"rtt_us\":1000,\"min_rtt_us\":900,"
		   "\"rwnd_limited\":0,\"sndbuf_limited\":0}");
	limit_is(&s, &r, "link", "12 segments were sent again");
	easy(TEST_TCP_STREAM, &s, &r);
	tcp_is(&r, "{\"busy_us\":999000,\"retransmits\":0,\"rtt_us\":5000,\"min_rtt_us\":900,"
		   "\"rwnd_limited\":0,\"sndbuf_limited\":0}");
	limit_is(&s, &r, "link", "5000 µs over a least of 900 µs");
	easy(TEST_TCP_STREAM, &s, &r); /* half of the time there was nothing to send */
	tcp_is(&r, "{\"busy_us\":500000,\"retransmits\":12,\"rtt_us\":5000,\"min_rtt_us\":900,"
		   "\"rwnd_limited\":0,\"sndbuf_limited\":0}");
	limit_is(&s, &r, "", "nothing was lost or full");
}

static void datagrams(void **state)
{
	struct engine_spec s;
	struct engine_result r;

	(void)state;
	easy(TEST_UDP_STREAM, &s, &r);
	r.client.packets = 1000;
	r.lost = 100;
	limit_is(&s, &r, "link", "100 of 1000");
	easy(TEST_UDP_STREAM, &s, &r);
	r.lost = 100;
	r.lost_host = 90;
	limit_is(&s, &r, "receiver", "90 of the 100");
	easy(TEST_UDP_STREAM, &s, &r);
	r.offered_pps = 1000;
	r.sent_pps = 990;
	r.missed = 10;
	limit_is(&s, &r, "schedule", "10 places");
	easy(TEST_UDP_STREAM, &s, &r);
	r.offered_pps = 1000;
	r.sent_pps = 600;
	r.client.thread_cpu_s = 1;
	limit_is(&s, &r, "sender", "60.0 %");
	easy(TEST_UDP_STREAM, &s, &r);
	r.offered_pps = r.sent_pps = 1000;
	limit_is(&s, &r, "schedule", "all of it arrived");
	r.limit[0] = '\0';
	r.client.thread_cpu_s = 1; /* as busy as they may be: they did what was asked */
	r.server.thread_cpu_s = 1;
	limit_is(&s, &r, "schedule", "all of it arrived");
	r.limit[0] = '\0';
	r.sent_pps = 996;
	r.client.packets = 1000;
	r.lost = 10;
	r.server.thread_cpu_s = 0.5;
	limit_is(&s, &r, "link", "10 of 1000");
	r.limit[0] = '\0';
	r.server.thread_cpu_s = 0.97; /* less than the sender's, and yet */
	limit_is(&s, &r, "receiver", "97 %");
	easy(TEST_UDP_STREAM, &s, &r);
	snprintf(r.limit, sizeof(r.limit), "sender"); /* the engine knew it already */
	limit_is(&s, &r, "sender", "");
}

/* What the receiving machine dropped, before any link; unless too few, or nothing is missing. */
static void drops_of_the_machine(void **state)
{
	static const struct {
		enum engine_test test;
		int64_t missing, drops;
		const char *limit;
	} cases[] = {
	    {TEST_UDP_STREAM, 100, 100, "receiver"}, {TEST_UDP_STREAM, 100, 50, "receiver"},
	    {TEST_UDP_STREAM, 100, 49, "link"},	     {TEST_UDP_STREAM, 0, 100, ""},
	    {TEST_TCP_STREAM, 12, 30, "receiver"},   {TEST_TCP_STREAM, 12, 0, "link"},
	    {TEST_TCP_MAERTS, 12, 30, "receiver"},   {TEST_UDP_MAERTS, 100, 100, "receiver"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		bool udp = engine_test_traits(cases[i].test).datagram;
		struct engine_spec s;
		struct engine_result r;

		easy(cases[i].test, &s, &r);
		bool back = engine_test_traits(cases[i].test).way == WAY_BACK;
		(back ? &r.client : &r.server)->host =
		    json_pack("{s:I}", "backlog_drops", (json_int_t)cases[i].drops);
		r.lost = udp ? cases[i].missing : 0;
		r.retransmits = udp ? 0 : cases[i].missing;
		if (!udp)
			tcp_is(&r, "{\"busy_us\":999000,\"retransmits\":12,\"rtt_us\":1000,"
				   "\"min_rtt_us\":900,\"rwnd_limited\":0,"
				   "\"sndbuf_limited\":0}");
		limit_is(&s, &r, cases[i].limit, "");
	}
}

#define INTERVAL(t, bps)                                                                           \
	"{\"t_s\":" #t ",\"bps\":" #bps ",\"bytes\":1,\"data_segs_out\":5,\"sent_bps\":" #bps "}"

static void merged(bool steady, struct engine_result *out)
{
	struct engine_spec s;
	json_t *client =
	    json_loads("{\"window_ns\":1000000000,\"bytes\":640000,\"messages\":10000,\"cpus\":2,"
		       "\"cpu_user_s\":0.1,\"cpu_system_s\":0.3,\"cpu_busy\":0.5,"
		       "\"tcp\":{\"data_segs_out\":500},\"tcp_sampled\":1,"
		       "\"machine\":{\"boot_id\":\"a\"},\"intervals\":[]}",
		       0, NULL);
	json_t *server = json_loads(
	    "{\"window_ns\":1000000000,\"bytes\":640000,\"cpus\":2,\"cpu_user_s\":0,"
	    "\"cpu_system_s\":0.1,\"cpu_busy\":0.5,\"machine\":{\"boot_id\":\"a\"},\"intervals\":"
	    "[" INTERVAL(0.1, 100) "," INTERVAL(0.2, 200) "," INTERVAL(0.3, 1000) "," INTERVAL(0.4, 1002) "," INTERVAL(
		0.5,
		998) "," INTERVAL(0.6,
				  1001) "," INTERVAL(0.7,
						     999) "," INTERVAL(0.8,
								       1000) "," INTERVAL(0.9,
											  1001) "," INTERVAL(1.0,
													     999) "]}",
	    0, NULL);

	assert_non_null(client);
	assert_non_null(server);
	engine_spec_default(&s, TEST_TCP_STREAM);
	s.size = 64;
	s.steady = steady;
	result_merge(&s, client, server, json_array(), out);
	json_decref(client);
	json_decref(server);
}

static void writes_segments_costs(void **state)
{
	struct engine_result r;

	(void)state;
	merged(false, &r);
	same(r.messages_pps, 10000);
	same(r.segments_pps, 500);
	same(r.coalescing, 20);
	same(r.client.us_per_packet, 0.4e6 / 500);
	same(r.client.machine_us_per_packet, 1e6 / 500);
	same(r.client.us_per_kib, 1e6 / 625); /* half of two CPUs for a second; 625 KiB */
	assert_true(r.same_machine);
	same(r.goodput_bps, 5120000); /* all of the window: nobody asked for a cut */
	same(r.steady_s, 0.2);
	assert_true(r.cut_s == 0);
	engine_result_done(&r);
}

static void steady_part_alone(void **state)
{
	struct engine_result r;

	(void)state;
	merged(true, &r);
	same(r.cut_s, 0.2);
	same(r.goodput_bps, 1000);
	same(r.sent_bps, 1000);
	assert_non_null(strstr(r.steady_why, "first 2 of 10 intervals is 15.0 %"));
	engine_result_done(&r);
}

static void host_counters(void **state)
{
	struct sample_host h;

	(void)state;
	sample_parse_host("Ip: Forwarding OutRequests X\nIp: 1 77 2\nTcp: A OutSegs RetransSegs\n"
			  "Tcp: -1 900 3\nUdp: OutDatagrams RcvbufErrors SndbufErrors\nUdp: 5 6 7\n"
			  "UdpLite: OutDatagrams\nUdpLite: 99\n",
			  "Ip6OutRequests                  \t23\nUdp6OutDatagrams \t10\n", &h);
	assert_int_equal(h.ip_out, 100);
	assert_int_equal(h.tcp_out, 900);
	assert_int_equal(h.tcp_retransmit, 3);
	assert_int_equal(h.udp_out, 15);
	assert_int_equal(h.udp_rcvbuf_errors, 6);
	assert_int_equal(h.udp_sndbuf_errors, 7);
	sample_parse_host("", "", &h);
	assert_int_equal(h.tcp_out, 0);
	sample_parse_host("Tcp: OutSegs", "", &h); /* cut short */
	assert_int_equal(h.tcp_out, 0);
}

static void thread_times(void **state)
{
	struct cpu_thread t = {0};

	(void)state;
	assert_int_equal(cpu_parse_thread("7 (a) b) S 1 2 3 4 5 6 7 8 9 10 250 150 0 0", &t), 0);
	same(t.user_s, 2.5);
	same(t.system_s, 1.5);
	assert_int_not_equal(cpu_parse_thread("nothing", &t), 0);
}

static void sockets_add_up(void **state)
{
	struct socket_tcp sum = {0};

	(void)state;
	socket_tcp_add(&sum, &(struct socket_tcp){.sockets = 1,
						  .retransmits = 2,
						  .rtt_us = 10,
						  .min_rtt_us = 8,
						  .cwnd = 4,
						  .mss = 1448});
	socket_tcp_add(&sum, &(struct socket_tcp){.sockets = 1,
						  .retransmits = 3,
						  .rtt_us = 30,
						  .min_rtt_us = 5,
						  .cwnd = 8,
						  .mss = 1400});
	assert_int_equal(sum.sockets, 2);
	assert_int_equal(sum.retransmits, 5);
	same(sum.rtt_us, 20);
	same(sum.min_rtt_us, 5);
	same(sum.cwnd, 6);
	assert_int_equal(sum.mss, 1400);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(nothing_is_proven),
	    cmocka_unit_test(threads_without_time_left),
	    cmocka_unit_test(windows_that_are_full),
	    cmocka_unit_test(path_by_tcp),
	    cmocka_unit_test(datagrams),
	    cmocka_unit_test(drops_of_the_machine),
	    cmocka_unit_test(writes_segments_costs),
	    cmocka_unit_test(steady_part_alone),
	    cmocka_unit_test(host_counters),
	    cmocka_unit_test(thread_times),
	    cmocka_unit_test(sockets_add_up),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
