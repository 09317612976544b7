/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two workers' findings become one result: whose count is the headline, what is lost, what is not
 * known; and CPU shares. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>

#include "core/base/units.h"
#include "core/engine/cpu.h"
#include "core/engine/result.h"
#include "tests/unit/engine/near.h"

static void merge(enum engine_test test, const char *client, const char *server,
		  struct engine_result *out)
{
	struct engine_spec s;
	json_t *c = json_loads(client, 0, NULL), *d = json_loads(server, 0, NULL);

	assert_non_null(c);
	assert_non_null(d);
	engine_spec_default(&s, test);
	s.file_size = 1000000;
	s.rate_pps = test == TEST_UDP_STREAM ? 1000 : 0;
	result_merge(&s, c, d, json_array(), out);
	json_decref(c);
	json_decref(d);
}

static void tcp_headline_is_the_receivers(void **state)
{
	struct engine_result r;

	(void)state;
	merge(
	    TEST_TCP_STREAM,
	    "{\"bytes\":3000,\"window_ns\":2000000000,\"retransmits\":7,\"cwnd\":9.5,\"mss\":1448,"
	    "\"congestion\":\"cubic\",\"cpu_busy\":null,\"intervals\":[{\"t_s\":1,\"bps\":16000,"
	    "\"retransmits\":4,\"rtt_us\":12.5,\"cwnd\":8},{\"t_s\":2,\"bps\":8000}]}",
	    "{\"bytes\":2000,\"window_ns\":2000000000,\"rcvbuf\":131072,\"cpu_busy\":0.25,"
	    "\"intervals\":[{\"t_s\":1,\"bps\":10000},{\"t_s\":2,\"bps\":6000}]}",
	    &r);
	same(r.goodput_bps, 8000);
	same(r.sent_bps, 12000);
	assert_int_equal(r.retransmits, 7);
	assert_int_equal(r.mss, 1448);
	assert_string_equal(r.congestion, "cubic");
	assert_true(isnan(r.client.cpu_busy)); /* could not be measured: not 0 */
	same(r.server.cpu_busy, 0.25);
	assert_false(r.partial);
	const json_t *first = json_array_get(r.intervals, 0);
	same(result_number(first, "bps"), 10000);
	same(result_number(first, "sent_bps"), 16000);
	same(result_number(first, "rtt_us"), 12.5);
	assert_int_equal(result_integer(first, "retransmits"), 4);
	assert_null(json_object_get(json_array_get(r.intervals, 1), "retransmits"));
	engine_result_done(&r);
}

static void udp_loss_is_what_was_sent_and_not_received(void **state)
{
	struct engine_result r;

	(void)state;
	merge(TEST_UDP_STREAM,
	      "{\"sent_each\":[100,50],\"packets\":150,\"bytes\":15000,\"size\":100,\"missed\":3,"
	      "\"refused\":1,\"window_ns\":1000000000,\"intervals\":[]}",
	      "{\"received\":[80,50],\"seen\":[90,50],\"packets\":130,\"bytes\":13000,\"units\":"
	      "128.5,"
	      "\"lost_host\":5,\"drops_all\":6,\"duplicated\":2,\"reordered\":4,\"late\":1,"
	      "\"window_ns\":1000000000,\"intervals\":[]}",
	      &r);
	assert_int_equal(r.lost, 20); /* not only the gaps: the last ten were never followed */
	assert_int_equal(r.lost + r.server.packets, r.client.packets);
	same(r.loss, 20.0 / 150);
	same(r.pps, 128.5); /* by time */
	same(r.goodput_bps, 128.5 * 800);
	same(r.sent_pps, 150);
	same(r.offered_pps, 1000);
	same(r.offered_bps, 800000);
	assert_int_equal(r.lost_host, 5);
	assert_int_equal(r.drops_all, 6);
	assert_int_equal(r.missed, 3);
	assert_int_equal(r.duplicated, 2);
	assert_int_equal(r.reordered, 4);
	engine_result_done(&r);
}

static void udp_total_loss_is_all_of_it(void **state)
{
	struct engine_result r;

	(void)state;
	merge(TEST_UDP_STREAM,
	      "{\"sent_each\":[100],\"packets\":100,\"size\":100,\"window_ns\":1000000000,"
	      "\"intervals\":[]}",
	      "{\"received\":[0],\"seen\":[0],\"packets\":0,\"units\":0,\"lost_host\":500,"
	      "\"window_ns\":1000000000,\"intervals\":[]}",
	      &r);
	same(r.loss, 1);
	assert_int_equal(r.lost, 100);
	assert_int_equal(r.lost_host, 100); /* never more than were lost */
	assert_true(isnan(r.delay.mean));
	assert_true(r.goodput_bps == 0);
	engine_result_done(&r);
}

/* Cut short, what is under way is not lost. */
static void udp_partial_counts_gaps(void **state)
{
	struct engine_result r;

	(void)state;
	merge(TEST_UDP_STREAM,
	      "{\"sent_each\":[100],\"packets\":100,\"size\":100,\"window_ns\":1000000000,"
	      "\"partial\":"
	      "true,"
	      "\"intervals\":[]}",
	      "{\"received\":[60],\"seen\":[62],\"packets\":60,\"units\":60,"
	      "\"window_ns\":1000000000,\"intervals\":[]}",
	      &r);
	assert_true(r.partial);
	assert_int_equal(r.lost, 2);
	same(r.loss, 2.0 / 62);
	engine_result_done(&r);
}

static json_t *hist_of(const int64_t *v, size_t n)
{
	struct hist *h = hist_new();

	for (size_t i = 0; i < n; i++)
		hist_add(h, v[i]);
	json_t *j = hist_json(h);
	hist_free(h);
	return j;
}

static void throughput_is_bytes_over_time(void **state)
{
	static const int64_t times[] = {100000000, 300000000}; /* 80 and 26.7 Mbit/s */
	struct engine_spec s;
	struct engine_result r;
	json_t *client =
	    json_pack("{s:o,s:i,s:i,s:i,s:i,s:[{s:i,s:i,s:f,s:f}],s:[]}", "time", hist_of(times, 2),
		      "measured_ns", 400000000, "window_ns", 400000000, "bytes", 2000000, "packets",
		      2, "pairs", "stream", 0, "transactions", 2, "rate_mean", 53333333.5,
		      "rate_squares", 1.0, "intervals");
	json_t *server = json_pack("{s:[]}", "intervals");

	(void)state;
	assert_non_null(client);
	engine_spec_default(&s, TEST_THROUGHPUT);
	s.file_size = 1000000;
	result_merge(&s, client, server, json_array(), &r);
	same(r.rate.mean, 40e6); /* not the mean of the two rates */
	same(r.rate.min, 8e15 / 300000000);
	same(r.rate.max, 80e6);
	same(r.goodput_bps, 40e6);
	same(r.latency.min, 100e6);
	same(r.latency.max, 300e6);
	assert_true(isnan(r.rate.p99)); /* two transactions do not tell */
	assert_int_equal(json_array_size(r.pairs), 1);
	assert_null(json_object_get(json_array_get(r.pairs, 0), "rate_mean"));
	engine_result_done(&r);
	json_decref(client);
	json_decref(server);
}

static void unknown_numbers_are_null_in_json(void **state)
{
	struct engine_result r;

	(void)state;
	merge(TEST_TCP_RR, "{\"packets\":0,\"window_ns\":1000000000,\"cpu_busy\":null}",
	      "{\"window_ns\":1000000000}", &r);
	json_t *j = engine_result_json(&r);
	assert_true(json_is_null(json_object_get(json_object_get(j, "latency_ns"), "p99")));
	assert_true(json_is_null(json_object_get(json_object_get(j, "client"), "cpu_busy")));
	assert_int_equal(result_integer(j, "lost"), 0);
	json_decref(j);
	engine_result_done(&r);
}

static void cpu_shares(void **state)
{
	struct cpu_sample a = {0}, b = {0};
	struct cpu_use use;

	(void)state;
	assert_int_equal(cpu_parse_stat("cpu  10 0 20 100 5 0 10 2 0 0\ncpu0 1\n", &a), 0);
	assert_int_equal(cpu_parse_stat("cpu  40 0 40 140 5 0 30 12 7 0\n", &b), 0);
	a.user_s = 1, b.user_s = 1.5;
	cpu_between(&a, &b, &use);
	same(use.user_s, 0.5);
	same(use.busy, 80.0 / 120);
	same(use.softirq, 20.0 / 120);
	same(use.steal, 10.0 / 120);
	assert_int_equal(cpu_parse_stat("intr 5", &b), -EINVAL);
	cpu_between(&(struct cpu_sample){0}, &(struct cpu_sample){0}, &use);
	assert_true(isnan(use.busy));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(tcp_headline_is_the_receivers),
	    cmocka_unit_test(udp_loss_is_what_was_sent_and_not_received),
	    cmocka_unit_test(udp_total_loss_is_all_of_it),
	    cmocka_unit_test(udp_partial_counts_gaps),
	    cmocka_unit_test(throughput_is_bytes_over_time),
	    cmocka_unit_test(unknown_numbers_are_null_in_json),
	    cmocka_unit_test(cpu_shares),
	};
	return cmocka_run_group_tests_name("engine: merge", tests, NULL, NULL);
}
