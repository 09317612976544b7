/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Specifications: defaults, both ways through JSON, units, names, and each mistake with its text.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/base/units.h"
#include "core/engine/engine.h"
#include "core/engine/engines.h"

static int parse(const char *text, struct engine_spec *s, struct err *err)
{
	json_t *j = json_loads(text, 0, NULL);

	assert_non_null(j);
	*err = ERR_INIT;
	int r = engine_spec_parse(j, s, err);
	json_decref(j);
	return r;
}

static void the_table_is_whole(void **state)
{
	(void)state;
	for (size_t i = 0; engines_at(i); i++) {
		const struct engine_def *def = engines_at(i);

		assert_int_equal(def->test, i);
		assert_ptr_equal(engines_get((enum engine_test)i), def);
		for (int side = 0; side < 2; side++)
			assert_true(def->body[side] || def->crew[side]);
		assert_int_equal(!def->prepare, !def->release);
	}
	assert_non_null(engines_at(TEST_THROUGHPUT));
	assert_null(engines_at(TEST_PATH_CHECK + 1));
}

static void names_and_aliases(void **state)
{
	static const struct {
		const char *name;
		enum engine_test test;
	} names[] = {
	    {"tcp_stream", TEST_TCP_STREAM}, {"TCP_STREAM", TEST_TCP_STREAM},
	    {"tcp_bw", TEST_TCP_STREAM},     {"udp_bw", TEST_UDP_STREAM},
	    {"Tcp_Lat", TEST_TCP_RR},	     {"response_time", TEST_TCP_RR},
	    {"udp_lat", TEST_UDP_RR},	     {"Throughput.scr", TEST_THROUGHPUT},
	};
	struct err err = ERR_INIT;
	enum engine_test test;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		assert_int_equal(engine_test_parse(names[i].name, &test, &err), 0);
		assert_int_equal(test, names[i].test);
	}
	assert_int_equal(engine_test_parse("tcp_steam", &test, &err), -EINVAL);
	assert_string_equal(err.text, "unknown test 'tcp_steam'; did you mean 'tcp_stream'?");
	err = ERR_INIT;
	assert_int_equal(engine_test_parse("ping", &test, &err), -EINVAL);
	assert_non_null(strstr(err.text, "there are tcp_stream, udp_stream"));
}

static void defaults(void **state)
{
	struct engine_spec s;

	(void)state;
	engine_spec_default(&s, TEST_TCP_STREAM);
	assert_int_equal(s.duration_ns, 5 * NSEC_PER_SEC);
	assert_int_equal(s.warmup_ns, NSEC_PER_SEC);
	assert_int_equal(s.size, 128 << 10);
	assert_false(s.no_delay);
	assert_string_equal(s.congestion, "cubic");
	engine_spec_default(&s, TEST_TCP_RR);
	assert_int_equal(s.size, 1);
	assert_int_equal(s.response_size, 1);
	assert_true(s.no_delay);
	assert_int_equal(s.client_cpu, s.server_cpu);
	engine_spec_default(&s, TEST_THROUGHPUT);
	assert_int_equal(s.warmup_ns, 0);
	assert_int_equal(s.file_size, 999999999);
}

/* Every value of every key survives. */
static void both_ways(void **state)
{
	static const char text[] =
	    "{\"test\":\"udp_stream\",\"duration_ns\":2000000000,\"warmup_ns\":1,"
	    "\"interval_ns\":100000000,\"streams\":7,\"size\":64,\"response_size\":9,"
	    "\"rate_bps\":123,\"rate_pps\":0,\"file_size\":77,\"count\":0,\"no_delay\":true,"
	    "\"congestion\":\"bbr\",\"congestion_required\":false,\"client_cpu\":-1,\"server_cpu\":"
	    "3,\"dscp\":46,\"rcvbuf\":4096,"
	    "\"sndbuf\":8192,\"bind_device\":\"eth0\",\"threads\":2,\"mss\":1200,\"spin\":true,"
	    "\"discard\":false,\"io\":\"gso\",\"outstanding\":1,\"burst\":3,"
	    "\"schedule\":\"poisson\",\"seed\":12345678901,\"timeout_ns\":5,\"close\":\"fin\","
	    "\"ports\":9,\"steady\":true,\"group\":\"239.1.1.2\",\"client_address\":\"10.0.0.1\","
	    "\"zone\":\"eth7\",\"total_loss\":true,\"bounded\":false,"
	    "\"spread\":false,\"script\":\"{}\"}";
	struct engine_spec s;
	struct err err;

	(void)state;
	assert_int_equal(parse(text, &s, &err), 0);
	assert_int_equal(s.streams, 7);
	assert_int_equal(s.server_cpu, 3);
	json_t *again = engine_spec_json(&s), *first = json_loads(text, 0, NULL);
	assert_true(json_equal(again, first));
	json_decref(again);
	json_decref(first);
}

/* A duration that was asked for ends a transfer, a default one or a count do not. */
static void duration_that_was_asked_for(void **state)
{
	struct engine_spec s;
	struct err err;

	(void)state;
	assert_int_equal(parse("{\"test\":\"throughput\"}", &s, &err), 0);
	assert_false(s.bounded);
	assert_int_equal(parse("{\"test\":\"throughput\",\"duration\":\"1s\"}", &s, &err), 0);
	assert_true(s.bounded);
	assert_int_equal(
	    parse("{\"test\":\"throughput\",\"duration_ns\":1000000000,\"count\":2}", &s, &err), 0);
	assert_false(s.bounded);
}

/* Named in a specification it is wanted; ours by default only where the system lets us. */
static void congestion_that_was_asked_for(void **state)
{
	struct engine_spec s, again;
	struct err err;

	(void)state;
	assert_int_equal(parse("{\"test\":\"tcp_rr\"}", &s, &err), 0);
	assert_false(s.congestion_required);
	json_t *j = engine_spec_json(&s);
	assert_int_equal(engine_spec_parse(j, &again, &err), 0);
	assert_false(again.congestion_required);
	json_decref(j);
	assert_int_equal(parse("{\"test\":\"tcp_rr\",\"congestion\":\"reno\"}", &s, &err), 0);
	assert_true(s.congestion_required);
}

static void one_more_key(void **state)
{
	struct engine_spec s;
	struct err err = ERR_INIT;

	(void)state;
	engine_spec_default(&s, TEST_UDP_STREAM);
	json_t *right = json_integer(512), *wrong = json_integer(-5);
	assert_int_equal(engine_spec_change(&s, "size", right, &err), 0);
	assert_int_equal(s.size, 512);
	assert_int_equal(engine_spec_change(&s, "size", wrong, &err), -EINVAL);
	assert_string_equal(err.text, "size: -5 is not within 0 to 1073741824");
	assert_int_equal(s.size, 512);
	json_decref(right);
	json_decref(wrong);
}

static void texts_with_units(void **state)
{
	struct engine_spec s;
	struct err err;

	(void)state;
	assert_int_equal(parse("{\"test\":\"udp_bw\",\"duration\":\"2s\",\"rate\":\"10mbit\","
			       "\"size\":\"1KiB\",\"interval_ns\":\"100ms\"}",
			       &s, &err),
			 0);
	assert_int_equal(s.duration_ns, 2 * NSEC_PER_SEC);
	assert_int_equal(s.rate_bps, 10000000);
	assert_int_equal(s.size, 1024);
	assert_int_equal(s.interval_ns, 100 * NSEC_PER_MSEC);
}

static void keys_of_the_protocol_pass(void **state)
{
	struct engine_spec s;
	struct err err;

	(void)state;
	assert_int_equal(parse("{\"type\":\"spec\",\"version\":1,\"role\":\"server\",\"session\":5,"
			       "\"family\":\"ipv4\",\"clock\":\"shared\",\"test\":\"tcp_rr\"}",
			       &s, &err),
			 0);
}

static void mistakes_name_the_key(void **state)
{
	static const struct {
		const char *json, *text;
	} wrong[] = {
	    {"{}", "test: name the test"},
	    {"{\"test\":\"tcp_strem\"}", "test: unknown test 'tcp_strem'; did you mean"},
	    {"{\"test\":\"tcp_rr\",\"duraton_ns\":1}",
	     "unknown key 'duraton_ns'; did you mean 'duration_ns'?"},
	    {"{\"test\":\"tcp_rr\",\"xyzzy\":1}", "unknown key 'xyzzy'"},
	    {"{\"test\":\"tcp_rr\",\"streams\":0}", "streams: 0 is not within 1 to 1000"},
	    {"{\"test\":\"tcp_rr\",\"streams\":\"many\"}", "streams: "},
	    {"{\"test\":\"tcp_rr\",\"streams\":1.5}", "streams: must be a whole number"},
	    {"{\"test\":\"tcp_rr\",\"no_delay\":1}", "no_delay: must be true or false"},
	    {"{\"test\":\"tcp_rr\",\"congestion\":5}", "congestion: must be a text"},
	    {"{\"test\":\"tcp_rr\",\"congestion\":\"a-name-that-is-too-long\"}", "congestion: "},
	    {"{\"test\":\"tcp_rr\",\"duration\":2}", "duration: write a text with its unit"},
	    {"{\"test\":\"tcp_rr\",\"duration\":\"2x\"}", "duration_ns: "},
	    {"{\"test\":\"tcp_rr\",\"dscp\":64}", "dscp: 64 is not within 0 to 63"},
	    {"{\"test\":\"tcp_rr\",\"rate_bps\":5}", "rate_bps: tcp_rr goes as fast"},
	    {"{\"test\":\"tcp_rr\",\"rate_pps\":5}", "rate_pps: tcp_rr goes as fast"},
	    {"{\"test\":\"tcp_rr\",\"spread\":true,\"client_cpu\":0}", "client_cpu: with spread"},
	    {"{\"test\":\"tcp_rr\",\"count\":5}", "count: tcp_rr ends by the clock"},
	    {"{\"test\":\"udp_bw\",\"rate_pps\":5,\"rate_bps\":5}", "rate_pps: give rate_bps or"},
	    {"{\"test\":\"udp_bw\",\"size\":11}", "size: a datagram of udp_stream has 12"},
	    {"{\"test\":\"udp_bw\",\"size\":65508}", "size: "},
	    {"{\"test\":\"udp_rr\",\"size\":0}", "size: a request has at least 1"},
	    {"{\"test\":\"udp_rr\",\"response_size\":65508}", "response_size: "},
	    {"{\"test\":\"tcp_stream\",\"size\":0}", "size: a write of 0 bytes"},
	    {"{\"test\":\"tcp_stream\",\"duration_ns\":3600000000000,\"interval_ns\":1000000}",
	     "interval_ns: more than"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		struct engine_spec s = {.streams = 99};
		struct err err;

		if (parse(wrong[i].json, &s, &err) != -EINVAL ||
		    strncmp(err.text, wrong[i].text, strlen(wrong[i].text)))
			fail_msg("%s gives '%s'", wrong[i].json, err.text);
		assert_int_equal(err.kind, ERR_INPUT);
		assert_int_equal(s.streams, 99); /* written on success only */
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_table_is_whole),
	    cmocka_unit_test(names_and_aliases),
	    cmocka_unit_test(defaults),
	    cmocka_unit_test(both_ways),
	    cmocka_unit_test(congestion_that_was_asked_for),
	    cmocka_unit_test(duration_that_was_asked_for),
	    cmocka_unit_test(one_more_key),
	    cmocka_unit_test(texts_with_units),
	    cmocka_unit_test(keys_of_the_protocol_pass),
	    cmocka_unit_test(mistakes_name_the_key),
	};
	return cmocka_run_group_tests_name("engine: specification", tests, NULL, NULL);
}
