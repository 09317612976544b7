/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pairs for real: two worker processes over the loopback device of a namespace of our own. What is
 * asserted holds however busy the machine is: accounts, order and bounds, never a rate.
 */
#include "tests/unit/engine/workers.h"

#include <math.h>
#include <string.h>

#include "core/base/str.h"

static double number(const json_t *j, const char *key)
{
	const json_t *v = json_object_get(j, key);

	return json_is_null(v) ? (double)NAN : json_number_value(v);
}

static const json_t *total(const struct run *run)
{
	return json_object_get(run->result.detail, "total");
}

/* A script of one group, single quotes for double ones. */
static const char *script(const char *end, const char *more, const char *commands)
{
	static char text[8192];

	snprintf(text, sizeof(text),
		 "{'version':1,'name':'test','end':'%s','groups':[{'name':'g',%s"
		 "'commands':[%s]}]}",
		 end, more, commands);
	for (char *c = text; *c; c++)
		if (*c == '\'')
			*c = '"';
	return text;
}

static void prepare_pairs(struct run *run, const char *text)
{
	prepare(run, TEST_PAIRS);
	run->spec.warmup_ns = 0;
	run->spec.duration_ns = 60 * NSEC_PER_SEC;
	run->spec.script = text;
	run->spec.seed = 1;
}

static void measure(struct run *run)
{
	if (drive(run))
		fail_msg("%s", run->err.text);
	if (strstr(run->result.invalid, "heard")) {
		print_message("skipped: the machine is too busy: %s\n", run->result.invalid);
		engine_result_done(&run->result);
		worker_end(&run->client);
		worker_end(&run->server);
		skip();
	}
	if (run->result.invalid[0])
		fail_msg("%s", run->result.invalid);
	assert_int_equal(worker_end(&run->client), 0);
	assert_int_equal(worker_end(&run->server), 0);
	assert_false(run->result.partial);
}

#define RANDOM                                                                                     \
	"'connect',{'loop':{'count':{'uniform':[2,6]},'do':['start_timer',"                        \
	"{'send':{'normal':[20000,9000]}},{'receive':{'exponential':30000}},'confirm',"            \
	"'end_timer',{'sleep':{'exponential':'1ms'}}]}},'disconnect'"

/* Bytes and records of a run of a script whose sizes and turns are random. */
static int64_t run_random(int64_t seed, int64_t *records)
{
	struct run run;

	prepare_pairs(&run, script("all", "'pairs':40,'validate':true,", RANDOM));
	run.spec.seed = seed;
	measure(&run);
	const json_t *t = total(&run);
	int64_t bytes = (int64_t)number(t, "bytes");
	*records = (int64_t)number(t, "records");
	assert_string_equal(json_string_value(json_object_get(run.result.detail, "ended_by")),
			    "all");
	assert_int_equal(number(t, "complete"), 40);
	assert_int_equal(number(run.result.detail, "seed"), seed);
	assert_null(json_object_get(run.result.detail, "changed_on_the_way"));
	/* What was received at both ends is what the records say: nothing is left over. */
	assert_int_equal(run.result.client.bytes + run.result.server.bytes, bytes);
	engine_result_done(&run.result);
	return bytes;
}

static void the_same_seed_gives_the_same_run(void **state)
{
	int64_t records[3];
	int64_t first = run_random(5, &records[0]);

	(void)state;
	assert_int_equal(run_random(5, &records[1]), first);
	assert_int_equal(records[1], records[0]);
	assert_int_not_equal(run_random(6, &records[2]), first);
	assert_true(records[0] >= 40 * 2 && records[0] <= 40 * 6);
}

static void pairs_groups_and_total_agree(void **state)
{
	struct run run;
	double records = 0, bytes = 0, measured = 0;
	size_t i;
	json_t *j;

	(void)state;
	prepare_pairs(&run, script("all", "'pairs':7,", RANDOM));
	measure(&run);
	json_array_foreach(run.result.pairs, i, j)
	{
		records += number(j, "records");
		bytes += number(j, "bytes");
		measured += number(j, "measured_s");
		double mean = number(j, "throughput_bps");
		assert_true(fabs(mean * number(j, "measured_s") / 8 - number(j, "bytes")) < 1);
		assert_true(number(j, "throughput_min_bps") <= mean * (1 + 1e-9));
		assert_true(number(j, "throughput_max_bps") >= mean * (1 - 1e-9));
		assert_string_equal(json_string_value(json_object_get(j, "state")), "complete");
	}
	assert_int_equal(json_array_size(run.result.pairs), 7);
	const json_t *group = json_array_get(json_object_get(run.result.detail, "groups"), 0);
	const json_t *sums[] = {total(&run), group};
	for (i = 0; i < 2; i++) {
		assert_true(number(sums[i], "records") == records);
		assert_true(number(sums[i], "bytes") == bytes);
		assert_true(fabs(number(sums[i], "measured_s") - measured) < 1e-6);
		assert_true(
		    fabs(number(sums[i], "throughput_bps") * number(sums[i], "elapsed_s") / 8 -
			 bytes) < 1);
	}
	assert_int_equal(run.result.latency.count, records);
	engine_result_done(&run.result);
}

static void ten_thousand_pairs(void **state)
{
	struct run run;

	(void)state;
	prepare_pairs(&run, script("all", "'pairs':10000,",
				   "'connect','start_timer',{'send':1000},{'receive':500},"
				   "'end_timer','disconnect'"));
	if (drive(&run)) {
		if (strstr(run.err.text, "descriptors") || run.err.code == EMFILE) {
			print_message("skipped: %s\n", run.err.text);
			skip();
		}
		fail_msg("%s", run.err.text);
	}
	worker_end(&run.client);
	worker_end(&run.server);
	const json_t *t = total(&run);
	assert_int_equal(number(t, "complete"), 10000);
	assert_int_equal(number(t, "bytes"), 10000 * 1500);
	assert_int_equal(number(t, "connections"), 10000);
	assert_int_equal(run.result.server.bytes, 10000 * 1000);
	assert_int_equal(run.result.client.bytes, 10000 * 500);
	assert_int_equal(json_array_size(run.result.pairs), 10); /* the worst alone */
	engine_result_done(&run.result);
}

/* More connections than there are ports: none is left in TIME_WAIT. */
static void short_connections_do_not_run_out_of_ports(void **state)
{
	struct run run;

	(void)state;
	prepare_pairs(&run,
		      script("all", "'pairs':20,",
			     "{'loop':{'count':2000,'do':['start_timer','connect',{'send':10},"
			     "{'receive':10},'disconnect','end_timer']}}"));
	measure(&run);
	assert_int_equal(number(total(&run), "complete"), 20);
	assert_int_equal(number(total(&run), "connections"), 40000);
	assert_int_equal(run.result.server.bytes, 400000);
	engine_result_done(&run.result);
}

static void the_first_to_end_ends_all(void **state)
{
	struct run run;

	(void)state;
	prepare_pairs(&run,
		      "{\"version\":1,\"end\":\"first\",\"groups\":[{\"pairs\":3,\"commands\":["
		      "\"connect\",{\"loop\":{\"do\":[\"start_timer\",{\"send\":10},\"confirm\","
		      "\"end_timer\",{\"sleep\":\"1ms\"}]}}]},{\"commands\":[\"connect\","
		      "\"start_timer\",{\"sleep\":\"50ms\"},\"confirm\",\"end_timer\"]}]}");
	measure(&run);
	assert_string_equal(json_string_value(json_object_get(run.result.detail, "ended_by")),
			    "first");
	assert_int_equal(number(total(&run), "complete"), 1);
	assert_string_equal(
	    json_string_value(json_object_get(json_array_get(run.result.pairs, 0), "state")),
	    "cut");
	engine_result_done(&run.result);
}

/* What E1 sends before it disconnects arrives, confirmed or not. */
static void nothing_is_lost_without_a_confirmation(void **state)
{
	struct run run;

	(void)state;
	prepare_pairs(&run, script("all", "'pairs':30,'validate':true,",
				   "{'loop':{'count':5,'do':['start_timer','connect',"
				   "{'send':300000},'disconnect','end_timer']}}"));
	measure(&run);
	assert_int_equal(number(total(&run), "complete"), 30);
	assert_int_equal(run.result.server.bytes, 30 * 5 * 300000);
	engine_result_done(&run.result);
}

static void datagrams_are_counted_to_the_last(void **state)
{
	struct run run;

	(void)state;
	prepare_pairs(&run, script("all", "'pairs':25,'protocol':'udp',",
				   "'connect','start_timer',{'send':{'size':40000,'buffer':400,"
				   "'rate':'2mbit'}},'confirm','end_timer'"));
	measure(&run);
	const json_t *t = total(&run);
	assert_int_equal(number(t, "complete"), 25);
	assert_int_equal(number(t, "sent"), 25 * 100);
	assert_int_equal(number(t, "received") + number(t, "lost"), 25 * 100);
	assert_int_equal(number(t, "lost"), 0);
	assert_int_equal(run.result.delay.count, 2500);
	assert_true(number(t, "delay_min_ns") > 0);
	engine_result_done(&run.result);
}

static void calls_have_r_values(void **state)
{
	struct run run;

	(void)state;
	prepare_pairs(&run, script("all",
				   "'pairs':5,'protocol':'rtp','voip':{'codec':'g729',"
				   "'jitter_buffer':'10s','extra_delay':'100ms'},",
				   "'connect','start_timer',{'send':'400ms'},'end_timer'"));
	measure(&run);
	const json_t *call = json_array_get(run.result.pairs, 2);
	/* 20 ms of speech, 5 of looking ahead, the buffer and 100 ms; and the path. */
	double d = 20 + 5 + 10000 + 100 + number(call, "delay_ns") / 1e6;
	double r = 93.2 - 0.024 * d - 0.11 * (d - 177.3) - 11;
	assert_int_equal(number(call, "sent"), 20);
	assert_int_equal(number(call, "lost"), 0);
	assert_true(fabs(number(call, "r_value") - r) < 1e-6);
	assert_true(number(call, "mos") == 1);
	engine_result_done(&run.result);
}

static void time_cuts_what_would_go_on(void **state)
{
	struct run run;
	double sum = 0, before = 0;
	size_t i;
	json_t *j;

	(void)state;
	prepare_pairs(&run, script("time", "'pairs':4,",
				   "'connect',{'loop':{'do':['start_timer',{'send':5000},"
				   "{'receive':5000},'end_timer']}}"));
	run.spec.duration_ns = DURATION;
	measure(&run);
	assert_string_equal(json_string_value(json_object_get(run.result.detail, "ended_by")),
			    "time");
	assert_true(number(total(&run), "records") > 4);
	assert_true(run.result.client.window_ns >= DURATION);
	json_array_foreach(run.result.intervals, i, j)
	{
		sum += number(j, "bps") * (number(j, "t_s") - before) / 8;
		before = number(j, "t_s");
	}
	double both = (double)(run.result.client.bytes + run.result.server.bytes);
	if (fabs(sum - both) > 10)
		fail_msg("intervals have %.1f bytes, the total %.1f", sum, both);
	engine_result_done(&run.result);
}

/* The server dies: an error, or a result that says that it is none; and soon. */
static void a_dead_server_is_noticed(void **state)
{
	struct run run;

	(void)state;
	prepare_pairs(&run, script("time", "'pairs':4,",
				   "'connect',{'loop':{'do':['start_timer',{'send':5000},"
				   "{'receive':5000},'end_timer']}}"));
	run.spec.duration_ns = 3 * NSEC_PER_SEC;
	run.victim = run.server.pid;
	int r = drive(&run);
	if (!r)
		assert_true(run.result.partial && run.result.invalid[0]);
	assert_true(run.ended_ns - run.killed_ns < 8 * NSEC_PER_SEC);
	worker_end(&run.client);
	worker_end(&run.server);
	if (!r)
		engine_result_done(&run.result);
}

static void a_broken_script_is_an_error(void **state)
{
	struct engine_spec spec;
	struct err err = ERR_INIT;

	(void)state;
	json_t *j = json_pack("{s:s,s:s}", "test", "pairs", "script",
			      "{\"version\":1,\"groups\":[{\"commands\":[\"conect\"]}]}");
	assert_int_equal(engine_spec_parse(j, &spec, &err), -EINVAL);
	assert_non_null(strstr(err.text, "script: /groups/0/commands/0: unknown command 'conect'; "
					 "did you mean 'connect'?"));
	json_object_set_new(j, "script", json_string("{"));
	assert_int_equal(engine_spec_parse(j, &spec, &err), -EINVAL);
	json_object_del(j, "script");
	json_object_set_new(j, "streams", json_integer(3));
	assert_int_equal(engine_spec_parse(j, &spec, &err), -EINVAL);
	assert_non_null(strstr(err.text, "streams"));
	json_decref(j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_same_seed_gives_the_same_run),
	    cmocka_unit_test(pairs_groups_and_total_agree),
	    cmocka_unit_test(ten_thousand_pairs),
	    cmocka_unit_test(short_connections_do_not_run_out_of_ports),
	    cmocka_unit_test(the_first_to_end_ends_all),
	    cmocka_unit_test(nothing_is_lost_without_a_confirmation),
	    cmocka_unit_test(datagrams_are_counted_to_the_last),
	    cmocka_unit_test(calls_have_r_values),
	    cmocka_unit_test(time_cuts_what_would_go_on),
	    cmocka_unit_test(a_dead_server_is_noticed),
	    cmocka_unit_test(a_broken_script_is_an_error),
	};

	return cmocka_run_group_tests(tests, own_namespace, NULL);
}
