/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * udp_latency and path_check for real, over the loopback device of a namespace of our own, also
 * with two clocks; and udp_latency's accounts from findings that were made up.
 *
 * alone: an answer that comes too late is a loss
 */
#include "tests/unit/engine/workers.h"

#include <math.h>
#include <string.h>

#include "core/engine/latency.h"
#include "core/stats/hist.h"

static void finish(struct run *run)
{
	drive_to_end(run);
	assert_string_equal(run->result.invalid, "");
}

static const json_t *at(const json_t *j, const char *a, const char *b)
{
	j = json_object_get(json_object_get(j, a), b);
	assert_non_null(j);
	return j;
}

static int64_t integer(const json_t *j, const char *key)
{
	const json_t *v = json_object_get(j, key);

	if (!json_is_integer(v))
		fail_msg("%s is no integer", key);
	return json_integer_value(v);
}

static double number(const json_t *j, const char *key)
{
	const json_t *v = json_object_get(j, key);

	if (!json_is_number(v))
		fail_msg("%s is no number", key);
	return json_number_value(v);
}

/* What holds of every run over loopback, which loses, doubles and reorders nothing. */
static void check_account(const struct engine_result *r, int64_t sent)
{
	const json_t *d = r->detail;

	assert_int_equal(integer(d, "sent"), sent);
	assert_int_equal(r->client.packets, sent);
	assert_int_equal(r->server.packets, sent - r->lost_host);
	assert_int_equal(integer(d, "answered") + r->lost, sent);
	assert_int_equal(r->lost, r->lost_host);
	assert_int_equal(r->duplicated + r->reordered, 0);
	assert_int_equal(integer(d, "stamps_strange"), 0);
	assert_int_equal(r->latency.count, integer(d, "answered"));
	assert_true(r->latency.min > 0);
	/* Due before sent, and the whole is its parts, whatever the machine does. */
	const json_t *due = at(d, "round_trip", "due"), *whole = at(d, "round_trip", "sent");
	double ways = number(at(d, "forward", "delay"), "mean") +
		      number(at(d, "host", "turnaround"), "mean") +
		      number(at(d, "back", "delay"), "mean");
	assert_true(number(due, "mean") >= number(whole, "mean"));
	assert_true(fabs(ways - number(whole, "mean")) <= 2 + 1e-6 * ways + r->clock_error_ns);
}

static void each_probe_is_accounted_for(void **state)
{
	struct run run;

	(void)state;
	prepare(&run, TEST_UDP_LATENCY);
	finish(&run);
	check_account(&run.result, 300);
	assert_true(run.result.offered_pps == 1000);
	assert_true(json_is_null(json_object_get(
	    json_object_get(json_object_get(run.result.detail, "round_trip"), "due"), "p999")));
	assert_true(json_is_true(at(run.result.detail, "clock", "shared")));
	engine_result_done(&run.result);
}

static void four_streams_over_ipv6(void **state)
{
	struct run run;

	(void)state;
	prepare(&run, TEST_UDP_LATENCY);
	run.address = "::1";
	run.spec.streams = 4;
	run.spec.burst = 5;
	run.spec.size = 300;
	run.spec.response_size = 100;
	finish(&run);
	/* Each stream's 75 come in fives: those begun in the window. */
	check_account(&run.result, 300);
	engine_result_done(&run.result);
}

/* Told to stop in the middle: what is still on its way is neither lost nor sent. */
static void a_stop_loses_nothing(void **state)
{
	struct run run;

	(void)state;
	prepare(&run, TEST_UDP_LATENCY);
	run.spec.duration_ns = 20 * NSEC_PER_SEC;
	run.spec.rate_pps = 5000;
	run.stop_fd = run.hooks.stop_fd = eventfd(0, EFD_CLOEXEC);
	assert_true(run.stop_fd > 0);
	if (drive(&run))
		fail_msg("%s", run.err.text);
	worker_end(&run.client);
	worker_end(&run.server);
	assert_true(run.result.partial);
	assert_int_equal(run.result.lost, run.result.lost_host);
	assert_true(integer(run.result.detail, "sent") < 5000 * 20);
	close(run.stop_fd);
	engine_result_done(&run.result);
}

/* How many probes a random schedule has in the window is decided by its seed alone. */
static int64_t sent_with(enum engine_schedule schedule, int64_t seed)
{
	struct run run;

	prepare(&run, TEST_UDP_LATENCY);
	run.spec.schedule = schedule;
	run.spec.seed = seed;
	finish(&run);
	int64_t sent = integer(run.result.detail, "sent");
	check_account(&run.result, sent);
	assert_int_equal(run.result.seed, seed);
	engine_result_done(&run.result);
	return sent;
}

static void a_seed_is_a_schedule(void **state)
{
	(void)state;
	int64_t sent = sent_with(SCHEDULE_POISSON, 11);

	/* 300 expected, the deviation is 17. */
	assert_true(sent > 300 - 70 && sent < 300 + 70);
	assert_int_equal(sent_with(SCHEDULE_POISSON, 11), sent);
	sent = sent_with(SCHEDULE_NORMAL, 11); /* a quarter of the mean: hardly more than ±4 */
	assert_true(sent > 280 && sent < 320);
}

static void delays_by_two_clocks(void **state)
{
	struct run run;

	(void)state;
	prepare_shifted(&run, TEST_UDP_LATENCY, 500250, 70001);
	run.hooks.own_clocks = true;
	int r = drive(&run);
	int status[2] = {worker_end(&run.client), worker_end(&run.server)};
	if (WEXITSTATUS(status[0]) == 77 || WEXITSTATUS(status[1]) == 77) {
		print_message("skipped: no time namespace here\n");
		skip();
	}
	if (r)
		fail_msg("%s", run.err.text);
	const json_t *d = run.result.detail;
	double error = run.result.clock_error_ns;
	assert_true(error > 0 && error < 1e9);
	assert_true(json_is_false(at(d, "clock", "shared")));
	assert_true(json_is_true(at(d, "clock", "comparable")));
	/* The clocks differ by minutes; what is told does not. */
	assert_true(run.result.delay.count > 0);
	assert_true(run.result.delay.min <= error + 50e6);
	assert_true(number(at(d, "back", "delay"), "min") <= error + 50e6);
	assert_true(number(at(d, "host", "server_receive"), "min") < 50e6);
	assert_true(number(at(d, "host", "client_send"), "min") < 50e6);
	engine_result_done(&run.result);
}

/* Findings as the two workers would send them. */
static json_t *client_found(int64_t sent, int64_t answered, int64_t late_ns)
{
	struct hist *h = hist_new();
	json_t *hists = json_object();

	for (int64_t i = 0; i < answered; i++)
		hist_add(h, i < answered / 10 ? late_ns : 1000000);
	for (int kind = 0; kind < LATENCY_KINDS; kind++)
		json_object_set_new(hists, latency_names[kind], hist_json(h));
	hist_free(h);
	return json_pack("{s:I,s:I,s:I,s:I,s:o}", "packets", (json_int_t)sent, "answered",
			 (json_int_t)answered, "lost", (json_int_t)(sent - answered), "duplicated",
			 (json_int_t)3, "hists", hists);
}

static void losses_have_a_way(void **state)
{
	static const struct {
		int64_t sent, answered, seen, drops, forward, back, host;
	} cases[] = {
	    {1000, 1000, 1000, 0, 0, 0, 0},
	    {1000, 900, 940, 0, 60, 40, 0},
	    {1000, 900, 940, 25, 60, 40, 25},
	    {1000, 900, 1000, 5, 0, 100, 0},   /* drops of another phase */
	    {1000, 900, 880, 500, 100, 0, 100} /* cannot be; then no less than nothing */
	};
	struct engine_spec s;

	(void)state;
	engine_spec_default(&s, TEST_UDP_LATENCY);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct engine_result r = {.client.window_ns = NSEC_PER_SEC};
		json_t *client = client_found(cases[i].sent, cases[i].answered, 700000000);
		json_t *server =
		    json_pack("{s:I,s:I,s:I}", "unique", (json_int_t)cases[i].seen, "drops_all",
			      (json_int_t)cases[i].drops, "duplicated", (json_int_t)2);

		latency_merge(&s, client, server, &r);
		assert_int_equal(r.lost, cases[i].sent - cases[i].answered);
		assert_int_equal(integer(json_object_get(r.detail, "forward"), "lost"),
				 cases[i].forward);
		assert_int_equal(integer(json_object_get(r.detail, "back"), "lost"), cases[i].back);
		assert_int_equal(r.lost_host, cases[i].host);
		assert_int_equal(r.duplicated, 5);
		json_decref(client);
		json_decref(server);
		engine_result_done(&r);
	}
}

/* What is lost is late for every deadline. */
static void deadlines_count_what_is_lost(void **state)
{
	struct engine_spec s;
	struct engine_result r = {.client.window_ns = NSEC_PER_SEC};
	json_t *client = client_found(1000, 800, 300000000), *server = json_object();

	(void)state;
	engine_spec_default(&s, TEST_UDP_LATENCY);
	latency_merge(&s, client, server, &r);
	size_t i;
	json_t *one;
	json_array_foreach(json_object_get(r.detail, "deadline"), i, one)
	{
		double ms = number(one, "within_ms");
		double want = ms < 1 ? 0 : ms < 300 ? 0.72 : 0.8;

		/* At 1 ms itself the bucket decides, which is 1/256 wide. */
		if (ms != 1 && fabs(number(one, "share") - want) > 1e-9)
			fail_msg("within %g ms: %g", ms, number(one, "share"));
	}
	assert_true(i > 5);
	json_decref(client);
	json_decref(server);
	engine_result_done(&r);
}

static void broken_findings_are_no_crash(void **state)
{
	static const char *const broken[] = {"{}", "{\"hists\": 3}",
					     "{\"hists\": {\"round_trip\": {\"count\": -1}}}"};
	struct engine_spec s;

	(void)state;
	engine_spec_default(&s, TEST_UDP_LATENCY);
	for (size_t i = 0; i < ARRAY_SIZE(broken); i++) {
		struct engine_result r = {0};
		json_t *j = json_loads(broken[i], 0, NULL);

		latency_merge(&s, j, j, &r);
		assert_int_equal(r.latency.count, 0);
		json_decref(j);
		engine_result_done(&r);
	}
}

static void bad_input(void **state)
{
	static const struct {
		const char *spec, *text;
	} bad[] = {
	    {"{'test':'owd','size':19}", "size: a probe has 20 to"},
	    {"{'test':'irtt','response_size':59}", "response_size: an answer has 60 to"},
	    {"{'test':'udp_ping','streams':65}", "streams: udp_latency has 1 to 64"},
	    {"{'test':'under_load','timeout':'5s'}", "timeout_ns: udp_latency waits for at most 4"},
	    {"{'test':'pmtu','streams':2}", "streams: path_check asks one"},
	    {"{'test':'pmtu','script':'hop'}", "did you mean 'hops'"},
	    {"{'test':'pmtu','script':'[3]'}", "a list has names"},
	    {"{'test':'pmtu','script':'[~idl~]'}", "did you mean 'idle'"},
	    {"{'test':'pmtu','script':'{~idle~:{~form~:~3s~}}'}", "did you mean 'from'"},
	    {"{'test':'pmtu','script':'{~idle~:{~from~:~3s~,~to~:~2s~}}'}", "from is later"},
	    {"{'test':'pmtu','script':'{~dscp~:[1,64]}'}", "from 0 to 63"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct engine_spec s;
		struct err err = ERR_INIT;
		char text[256] = "";

		/* ' is ", and ~ one inside of a text */
		for (const char *p = bad[i].spec; *p; p++) {
			char one[3] = {*p == '\''  ? '"'
				       : *p == '~' ? '\\'
						   : *p,
				       *p == '~' ? '"' : '\0', '\0'};
			strcat(text, one);
		}
		json_t *j = json_loads(text, 0, NULL);
		assert_non_null(j);
		assert_true(engine_spec_parse(j, &s, &err) < 0);
		if (!strstr(err.text, bad[i].text))
			fail_msg("%s: %s", text, err.text);
		json_decref(j);
	}
}

static void a_path_of_no_hops(void **state)
{
	static const char *const addresses[] = {"127.0.0.1", "::1"};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(addresses); i++) {
		struct run run;

		prepare(&run, TEST_PATH_CHECK);
		run.spec.duration_ns = 10 * NSEC_PER_SEC;
		run.spec.warmup_ns = 0;
		run.spec.script = "{\"mtu\":1,\"hops\":1,\"translations\":1,\"dscp\":[46],"
				  "\"idle\":{\"from\":\"100ms\",\"to\":\"150ms\"}}";
		run.address = addresses[i];
		finish(&run);
		const json_t *d = run.result.detail;
		assert_true(json_is_true(json_object_get(d, "reached")));
		/* lo's 65536 and UDP's 65535 bytes of length */
		assert_true(integer(d, "path_mtu") >= 65535 - 20);
		const json_t *forward = at(d, "mtu", "forward");
		assert_string_equal(json_string_value(json_object_get(forward, "limit")), "device");
		assert_int_equal(json_array_size(json_object_get(d, "hops")), 1);
		assert_int_equal(integer(json_object_get(d, "distance"), "forward"), 0);
		assert_true(json_is_false(at(d, "translations", "source")));
		assert_int_equal(integer(json_array_get(json_object_get(d, "dscp"), 0), "arrived"),
				 46);
		assert_true(number(json_object_get(d, "idle"), "survived_s") == 0.15);
		assert_true(json_is_null(at(d, "idle", "expired_s")));
		engine_result_done(&run.result);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_probe_is_accounted_for),
	    cmocka_unit_test(four_streams_over_ipv6),
	    cmocka_unit_test(a_stop_loses_nothing),
	    cmocka_unit_test(a_seed_is_a_schedule),
	    cmocka_unit_test(delays_by_two_clocks),
	    cmocka_unit_test(losses_have_a_way),
	    cmocka_unit_test(deadlines_count_what_is_lost),
	    cmocka_unit_test(broken_findings_are_no_crash),
	    cmocka_unit_test(bad_input),
	    cmocka_unit_test(a_path_of_no_hops),
	};
	return cmocka_run_group_tests(tests, own_namespace, NULL);
}
