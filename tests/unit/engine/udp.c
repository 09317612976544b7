/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * UDP streams for real, in all ways and by all means of handing datagrams over, on the loopback
 * device. It loses nothing but at the receiver's socket, so each account closes to the datagram.
 *
 * alone: each window is short, and something has to be sent in it
 */
#include "tests/unit/engine/workers.h"

#include <net/if.h>
#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

#include "core/engine/steer.h"

static void small(struct run *run, enum engine_test test)
{
	prepare(run, test);
	run->spec.size = 100;
}

/* Counts of one way: from `from` to `to`. */
static void closes(const struct engine_side *from, const struct engine_side *to,
		   const struct engine_result *r)
{
	assert_true(from->packets > 0);
	assert_int_equal(from->packets, to->packets + r->lost);
	assert_int_equal(from->packets_all, to->packets_all + r->drops_all);
	assert_int_equal(r->lost_host, r->lost);
	assert_int_equal(r->duplicated, 0);
	assert_int_equal(r->reordered, 0);
}

static void from_server_to_client(void **state)
{
	struct run run;

	(void)state;
	small(&run, TEST_UDP_MAERTS);
	run.spec.rate_pps = 3000;
	run.spec.streams = 3;
	drive_to_end(&run);
	closes(&run.result.server, &run.result.client, &run.result);
	assert_true(run.result.server.packets <= 900);
	assert_true(run.result.delay.count == run.result.client.packets);
	engine_result_done(&run.result);
}

/* With a buffer that is too small, each way loses for itself. */
static void both_ways(void **state)
{
	struct run run;

	(void)state;
	small(&run, TEST_UDP_BIDIR);
	run.spec.rate_pps = 2000;
	run.spec.streams = 2;
	run.spec.rcvbuf = 2304;
	drive_to_end(&run);
	const struct engine_result *r = &run.result;
	const json_t *back = json_object_get(r->detail, "back");
	closes(&r->client, &r->server, r);
	assert_true(r->back.pps > 0 && r->back.sent_pps > 0);
	assert_int_equal(json_integer_value(json_object_get(back, "sent")),
			 json_integer_value(json_object_get(back, "received")) + r->back.lost);
	assert_int_equal(r->back.lost_host, r->back.lost);
	assert_true(json_array_size(r->back.intervals) == 3);
	engine_result_done(&run.result);
}

static void many_datagrams_as_one(void **state)
{
	struct run run;

	(void)state;
	small(&run, TEST_UDP_STREAM);
	strcpy(run.spec.io, "gso");
	drive_to_end(&run);
	closes(&run.result.client, &run.result.server, &run.result);
	assert_string_equal(run.result.io, "gso");
	double each = json_number_value(json_object_get(run.result.detail, "datagrams_a_message"));
	assert_true(each > 1 && each <= 64);
	engine_result_done(&run.result);
}

/* The kernel counts a drop of 64 as one; where nothing else loses, the account closes all the same.
 */
static void many_datagrams_as_one_that_the_receiver_drops(void **state)
{
	struct run run;

	(void)state;
	small(&run, TEST_UDP_STREAM);
	strcpy(run.spec.io, "gso");
	run.spec.rcvbuf = 4096;
	drive_to_end(&run);
	closes(&run.result.client, &run.result.server, &run.result);
	assert_true(run.result.lost > 0);
	assert_string_equal(run.result.limit, "receiver");
	engine_result_done(&run.result);
}

/* 65,507 bytes hold 43 of these; with a rate, no more go together than are due. */
static void large_datagrams_as_one_with_a_rate(void **state)
{
	struct run run;

	(void)state;
	prepare(&run, TEST_UDP_STREAM);
	strcpy(run.spec.io, "gso");
	run.spec.size = 1500;
	run.spec.rate_pps = 4300;
	run.spec.burst = 43;
	drive_to_end(&run);
	closes(&run.result.client, &run.result.server, &run.result);
	assert_true(run.result.client.packets <= 4300 * 3 / 10 + 43);
	engine_result_done(&run.result);
}

static void to_a_group(void **state)
{
	struct run run;

	(void)state;
	small(&run, TEST_UDP_MULTICAST);
	run.spec.streams = 4;
	run.spec.rate_pps = 2000;
	drive_to_end(&run);
	const struct engine_result *r = &run.result;
	const json_t *receivers = json_object_get(r->detail, "receivers");
	int64_t sum = 0;
	assert_int_equal(run.flows, 1);
	assert_int_equal(json_array_size(receivers), 4);
	for (size_t i = 0; i < 4; i++)
		sum +=
		    json_integer_value(json_object_get(json_array_get(receivers, i), "received"));
	assert_true(r->client.packets > 0 && r->client.packets <= 600);
	assert_int_equal(sum, r->server.packets);
	assert_int_equal(r->client.packets * 4, r->server.packets + r->lost);
	assert_int_equal(r->client.packets_all * 4, r->server.packets_all + r->drops_all);
	engine_result_done(&run.result);
}

/* Gaps are those of the schedule's places, and each of the window but the first is there. */
static void gaps_are_measured(void **state)
{
	struct run run;

	(void)state;
	small(&run, TEST_UDP_STREAM);
	run.spec.rate_pps = 1000;
	run.spec.burst = 10;
	drive_to_end(&run);
	const json_t *gaps = json_object_get(run.result.detail, "gap_ns");
	int64_t count = json_integer_value(json_object_get(gaps, "count"));
	assert_true(count == run.result.client.packets || count == run.result.client.packets - 1);
	/* Nine of ten are with the one before. */
	assert_int_equal(json_integer_value(json_object_get(gaps, "min")), 0);
	assert_true(json_number_value(json_object_get(gaps, "p50")) < 1000);
	assert_true(json_number_value(json_object_get(gaps, "max")) > 5e6);
	engine_result_done(&run.result);
}

/* Eight bytes of UDP and 20 of IP: what is larger than the device's packets travels in several. */
static void fragments_are_told(void **state)
{
	static const struct {
		int64_t size, fragments;
		const char *address;
	} table[] = {{65507, 1, "127.0.0.1"}, {65500, 2, "::1"}, {65480, 1, "::1"}};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct run run;

		prepare(&run, TEST_UDP_STREAM);
		run.address = table[i].address;
		run.spec.size = table[i].size;
		run.spec.rate_pps = 100;
		drive_to_end(&run);
		assert_int_equal(
		    json_integer_value(json_object_get(run.result.detail, "fragments")),
		    table[i].fragments);
		engine_result_done(&run.result);
	}
}

static void what_makes_no_sense_is_refused(void **state)
{
	struct {
		const char *test, *key, *text;
		json_t *value;
	} table[] = {
	    {"udp_stream", "io", "did you mean 'steer'", json_string("ster")},
	    {"udp_stream", "burst", "burst: needs a rate", json_integer(2)},
	    {"udp_stream", "io", "did you mean 'gso'", json_string("gs0")},
	    {"udp_bidir", "schedule", "schedule: needs a rate", json_string("poisson")},
	    {"udp_maerts", "size", "size: a datagram of udp_maerts", json_integer(11)},
	    {"udp_multicast", "group", "no multicast address", json_string("10.0.0.1")},
	    {"udp_multicast", "group", "group", json_string("nonsense")},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct engine_spec spec;
		struct err err = ERR_INIT;
		json_t *j =
		    json_pack("{s:s,s:o}", "test", table[i].test, table[i].key, table[i].value);

		assert_int_not_equal(engine_spec_parse(j, &spec, &err), 0);
		if (!strstr(err.text, table[i].text))
			fail_msg("'%s' is not in '%s'", table[i].text, err.text);
		json_decref(j);
	}
}

/* Root of the machine may steer and take packets early; anyone else is told. With a CPU of its own
 * for receiving, that CPU's queue can overflow: those are the only losses beside the socket's. */
static void check_privileged(const char *io, const char *address)
{
	struct run run;

	small(&run, TEST_UDP_STREAM);
	strcpy(run.spec.io, io);
	run.address = address;
	if (!drive(&run)) {
		const struct engine_result *r = &run.result;
		int64_t elsewhere = r->client.packets_all - r->server.packets_all - r->drops_all;
		assert_true(r->server.packets > 0);
		assert_int_equal(r->client.packets, r->server.packets + r->lost);
		assert_in_range(elsewhere, 0,
				json_integer_value(json_object_get(r->detail, "backlog_drops")));
		assert_string_equal(run.result.io, io);
		engine_result_done(&run.result);
	} else {
		if (!strstr(run.err.text, "only root may"))
			fail_msg("%s", run.err.text);
		assert_int_equal(run.err.kind, ERR_UNSUPPORTED);
	}
	worker_end(&run.client);
	worker_end(&run.server);
}

/* An empty datagram is one; only the end of the socket is none. */
static void where_the_first_one_came_in(void **state)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	char byte;

	(void)state;
	assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &(socklen_t){sizeof(at)}), 0);
	assert_int_equal(sendto(fd, "", 0, 0, (struct sockaddr *)&at, sizeof(at)), 0);
	steer_ask(fd, AF_INET, true); /* what is queued by now does not say it */
	assert_int_equal(sendto(fd, "", 0, 0, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(sendto(fd, "x", 1, 0, (struct sockaddr *)&at, sizeof(at)), 1);
	assert_int_equal(steer_arrival(fd, AF_INET), if_nametoindex("lo"));
	assert_int_equal(recv(fd, &byte, 1, 0), 0);
	assert_int_equal(recv(fd, &byte, 1, 0), 1);
	shutdown(fd, SHUT_RD);
	assert_int_equal(steer_arrival(fd, AF_INET), 0);
	close(fd);
}

static void steering(void **state)
{
	(void)state;
	check_privileged("steer", "127.0.0.1");
	check_privileged("steer", "::1");
}

static void before_the_stack(void **state)
{
	(void)state;
	check_privileged("afxdp", "127.0.0.1");
	check_privileged("afxdp", "::1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(from_server_to_client),
	    cmocka_unit_test(both_ways),
	    cmocka_unit_test(many_datagrams_as_one),
	    cmocka_unit_test(many_datagrams_as_one_that_the_receiver_drops),
	    cmocka_unit_test(large_datagrams_as_one_with_a_rate),
	    cmocka_unit_test(to_a_group),
	    cmocka_unit_test(gaps_are_measured),
	    cmocka_unit_test(fragments_are_told),
	    cmocka_unit_test(what_makes_no_sense_is_refused),
	    cmocka_unit_test(where_the_first_one_came_in),
	    cmocka_unit_test(steering),
	    cmocka_unit_test(before_the_stack),
	};
	return cmocka_run_group_tests_name("engine: UDP streams", tests, own_namespace, NULL);
}
