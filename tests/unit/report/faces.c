/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One result on its faces: iperf's lines, CSV, netperf's names, and in words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/report/findings.h"
#include "core/report/flat.h"
#include "core/report/lines.h"

static void has(const struct strbuf *out, const char *part)
{
	if (!strstr(strbuf_text(out), part))
		fail_msg("no '%s' in:\n%s", part, strbuf_text(out));
}

static void hasnt(const struct strbuf *out, const char *part)
{
	if (strstr(strbuf_text(out), part))
		fail_msg("'%s' in:\n%s", part, strbuf_text(out));
}

static const struct engine_dist none = {0, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};

/* Two intervals of a second, 1 Gbit/s and 500 Mbit/s. */
static void stream(struct engine_spec *s, struct engine_result *r)
{
	engine_spec_default(s, TEST_TCP_STREAM);
	s->size = 64;
	*r = (struct engine_result){
	    .test = TEST_TCP_STREAM,
	    .goodput_bps = 750e6,
	    .sent_bps = 751e6,
	    .retransmits = 3,
	    .size = 64,
	    .mss = 1448,
	    .congestion = "cubic",
	    .latency = none,
	    .rate = none,
	    .delay = none,
	    .messages_pps = 1464843.75,
	    .segments_pps = 64748,
	    .coalescing = 22.6,
	    .limit = "link",
	    .limit_why = "because, well",
	    .began_s = 1234567890.25,
	};
	r->client = r->server = (struct engine_side){.window_ns = 2000000000,
						     .bytes = 187500000,
						     .cpu_busy = 0.25,
						     .us_per_kib = 1.5,
						     .us_per_packet = 2,
						     .machine_us_per_packet = 3,
						     .n_threads = 1};
	r->intervals = json_loads(
	    "[{\"t_s\":1,\"bytes\":125000000,\"bps\":1e9,\"retransmits\":3,\"rtt_us\":120.0,"
	    "\"cwnd\":40.0},{\"t_s\":2,\"bytes\":62500000,\"bps\":5e8,\"retransmits\":0}]",
	    0, NULL);
	r->tcp = json_loads("{\"rtt_us\":120,\"min_rtt_us\":20,\"rttvar_us\":5,\"cwnd\":40,"
			    "\"rwnd_limited\":0.25,\"sndbuf_limited\":0}",
			    0, NULL);
	assert_non_null(r->intervals);
}

static void lines_of_tcp(void **state)
{
	autostr struct strbuf out = {0};
	struct engine_spec s;
	struct engine_result r;

	(void)state;
	stream(&s, &r);
	lines_intervals(&s, &r, &out);
	lines_summary(&s, &r, &out);
	has(&out, "[ ID] Interval           Transfer     Bitrate           Retr   Cwnd");
	has(&out, "[  1]   0.00-1.00   sec   119 MBytes   1.00 Gbits/sec      3  40 segments");
	has(&out, "[  1]   1.00-2.00   sec  59.6 MBytes    500 Mbits/sec      0  -");
	const char *receiver = strstr(strbuf_text(&out), "receiver");
	const char *sender = strstr(strbuf_text(&out), "sender");
	assert_true(receiver && sender && receiver < sender);
	engine_result_done(&r);
}

static struct strbuf live;

static void keep(const char *text)
{
	strbuf_add(&live, text);
}

/* The sender's part may come before or after, or not at all. */
static void live_lines_wait_for_the_sender(void **state)
{
	json_t *one = json_pack("{s:f,s:f,s:i}", "t_s", 1.0, "bps", 8e6, "bytes", 1000000);
	json_t *two = json_pack("{s:f,s:f,s:i}", "t_s", 2.0, "bps", 8e6, "bytes", 1000000);
	json_t *sender = json_pack("{s:f,s:i,s:f,s:f}", "t_s", 1.0, "retransmits", 77, "rtt_us",
				   9.0, "cwnd", 10.0);
	struct engine_spec s;
	struct lines l;

	(void)state;
	engine_spec_default(&s, TEST_TCP_STREAM);
	lines_init(&l, &s, keep);
	lines_each(&l, true, one);
	assert_int_equal(live.len, 0);
	lines_each(&l, false, sender);
	has(&live, "0.00-1.00");
	has(&live, "   77  10 segments");
	lines_each(&l, true, two);
	hasnt(&live, "1.00-2.00");
	lines_end(&l);
	has(&live, "1.00-2.00");
	strbuf_done(&live);
	json_decref(one);
	json_decref(two);
	json_decref(sender);
}

static void lines_of_datagrams_and_transactions(void **state)
{
	autostr struct strbuf out = {0};
	struct engine_spec s;
	struct engine_result r;

	(void)state;
	stream(&s, &r);
	engine_spec_default(&s, TEST_UDP_STREAM);
	r.lost = 7;
	r.client.packets = 1000;
	json_object_set_new(json_array_get(r.intervals, 0), "packets", json_integer(990));
	json_object_set_new(json_array_get(r.intervals, 0), "sent_packets", json_integer(1000));
	json_object_set_new(json_array_get(r.intervals, 0), "pps", json_real(990));
	lines_intervals(&s, &r, &out);
	lines_summary(&s, &r, &out);
	has(&out, "10/1000 (1%)");
	has(&out, "Lost/Total Datagrams");
	has(&out, "7/1000 (0.7%)  receiver");
	strbuf_done(&out);
	engine_spec_default(&s, TEST_TCP_RR);
	s.streams = 4;
	s.outstanding = 2;
	json_object_set_new(json_array_get(r.intervals, 0), "transactions", json_integer(8000));
	json_object_set_new(json_array_get(r.intervals, 0), "tps", json_real(8000));
	lines_intervals(&s, &r, &out);
	has(&out, "[SUM]   0.00-1.00   sec         8000      8000.0 trans/sec    1000.0 us");
	engine_result_done(&r);
}

/* Fields of a row of CSV without quotes. */
static int fields(const char *row)
{
	int n = 1;

	for (; *row && *row != '\n'; row++)
		n += *row == ',';
	return n;
}

static void csv(void **state)
{
	autostr struct strbuf out = {0};
	struct flat_about about = {"a", "eip(b, \"c\")", false};
	struct engine_spec s;
	struct engine_result r;
	int rows = 0;

	(void)state;
	stream(&s, &r);
	flat_csv(&about, &s, &r, &out);
	has(&out, "time,from,to,test,kind,way,start_s,end_s,bytes,bits_per_s,");
	has(&out,
	    "2009-02-13T23:31:30.250Z,a,\"eip(b, \"\"c\"\")\",tcp_stream,interval,forward,0,1,"
	    "125000000,1000000000,");
	has(&out, "2009-02-13T23:31:31.250Z,a,");
	has(&out, ",total,forward,0,2,187500000,750000000,");
	strbuf_done(&out);
	about.to = "b";
	flat_csv(&about, &s, &r, &out);
	int columns = fields(strbuf_text(&out));
	for (const char *row = strbuf_text(&out); *row; row = strchr(row, '\n') + 1, rows++)
		assert_int_equal(fields(row), columns);
	assert_int_equal(rows, 4);
	/* Both ways: a series and a total more. */
	strbuf_done(&out);
	r.back.intervals = json_incref(r.intervals);
	s.test = TEST_TCP_BIDIR;
	about.headless = true;
	flat_csv(&about, &s, &r, &out);
	hasnt(&out, "time,from");
	has(&out, ",total,back,");
	rows = 0;
	for (const char *row = strbuf_text(&out); *row; row = strchr(row, '\n') + 1, rows++)
		assert_int_equal(fields(row), columns);
	assert_int_equal(rows, 6);
	engine_result_done(&r);
}

static void netperf(void **state)
{
	autostr struct strbuf out = {0};
	struct engine_spec s;
	struct engine_result r;

	(void)state;
	stream(&s, &r);
	flat_netperf(&s, &r, &out);
	has(&out, "THROUGHPUT=750.00\nTHROUGHPUT_UNITS=10^6bits/s\n");
	has(&out, "ELAPSED_TIME=2.00\n");
	has(&out, "LOCAL_CPU_UTIL=25.00\nLOCAL_SD=1.500\n");
	has(&out, "SD_UNITS=usec/KB\n");
	has(&out, "LOCAL_TRANSPORT_RETRANS=3\n");
	hasnt(&out, "LATENCY");
	strbuf_done(&out);
	engine_spec_default(&s, TEST_TCP_RR);
	r.pps = 12345.5;
	r.latency = (struct engine_dist){100, 80e3, 1e3, 70e3, 200e3, 79e3, 90e3, NAN, NAN};
	flat_netperf(&s, &r, &out);
	has(&out, "THROUGHPUT=12345.50\nTHROUGHPUT_UNITS=Trans/s\n");
	has(&out, "MEAN_LATENCY=80.00\n");
	has(&out, "P90_LATENCY=90.00\n");
	hasnt(&out, "P99_LATENCY"); /* 100 samples do not support it */
	has(&out, "LOCAL_SD=3.000\n");
	engine_result_done(&r);
}

/* Why 64-byte writes read 1.1 Gbit/s. */
static void small_writes_are_explained(void **state)
{
	autostr struct strbuf out = {0};
	struct engine_spec s;
	struct engine_result r;

	(void)state;
	stream(&s, &r);
	findings_describe(&s, &r, 64800, &out);
	has(&out, "1,464,844 writes a second, 64,748 TCP segments, 64,800 packets");
	has(&out, "joined 23 writes of 64 bytes into each segment of 1446");
	has(&out, "--no-delay on");
	has(&out, "udp_stream --size 64");
	has(&out, "link: because, well");
	has(&out, "25 % of the time held by the receiver's window");
	strbuf_done(&out);
	r.coalescing = 0.1;
	findings_describe(&s, &r, NAN, &out);
	hasnt(&out, "joined");
	hasnt(&out, "receiver's card");
	engine_result_done(&r);
}

static void detail_in_words(void **state)
{
	autostr struct strbuf out = {0};
	json_t *rows = json_array();
	json_t *j =
	    json_pack("{s:{s:i,s:f,s:f,s:n},s:i,s:b,s:s,s:{s:f},s:{s:i}}", "round_trip", "count", 7,
		      "mean", 2000.0, "p50", 1500.0, "p99", "connections", 3, "spin", 0, "close",
		      "rst", "forward", "jitter_ns", 2500.0, "histogram", "secret", 1);

	(void)state;
	assert_non_null(j);
	for (int i = 0; i < FINDINGS_ROWS + 3; i++)
		json_array_append_new(rows, json_pack("{s:i,s:i}", "id", i, "lost", i * 2));
	json_object_set_new(j, "receivers", rows);
	findings_detail(j, &out);
	has(&out, "round trip       mean 2.0 µs, p50 1.5 µs, 7 in all");
	has(&out, "connections      3\n");
	has(&out, "spin             no\n");
	has(&out, "forward.jitter   2.5 µs");
	has(&out, "id 3, lost 6\n");
	has(&out, "… and 3 more");
	hasnt(&out, "secret");
	json_decref(j);
}

static void pairs_in_words(void **state)
{
	struct engine_spec s;
	struct engine_result r = {.test = TEST_PAIRS};
	autostr struct strbuf out = {0};

	(void)state;
	engine_spec_default(&s, TEST_PAIRS);
	r.detail =
	    json_pack("{s:s,s:[{s:s,s:i,s:f},{s:s,s:i,s:f}],s:s,s:{s:i,s:n,s:f,s:f}}", "script",
		      "mix", "groups", "name", "web", "pairs", 2, "response_s", 0.0125, "name",
		      "call", "pairs", 1, "mos", 4.2, "shown", "all pairs", "total", "pairs", 3,
		      "jitter_ns", "throughput_bps", 5e6, "throughput_half_width_bps", 1e5);
	r.pairs = json_pack("[{s:i,s:s},{s:i,s:s,s:s}]", "pair", 0, "state", "cut", "pair", 1,
			    "state", "failed", "why", "Connection refused");
	findings_describe(&s, &r, NAN, &out);
	has(&out, "script           mix\n");
	has(&out, "name web, pairs 2, response 12.5");
	has(&out, "name call, pairs 1, mos 4.2\n"); /* what the first has not */
	has(&out, "pairs 3, throughput 5.00 Mbit/s\n");
	has(&out, "pair 1: Connection refused");
	hasnt(&out, "state cut");
	hasnt(&out, "all pairs");
	engine_result_done(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(lines_of_tcp),
	    cmocka_unit_test(live_lines_wait_for_the_sender),
	    cmocka_unit_test(lines_of_datagrams_and_transactions),
	    cmocka_unit_test(csv),
	    cmocka_unit_test(netperf),
	    cmocka_unit_test(small_writes_are_explained),
	    cmocka_unit_test(detail_in_words),
	    cmocka_unit_test(pairs_in_words),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
