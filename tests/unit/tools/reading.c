/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reading: figures out of outputs as tools really print them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/file.h"
#include "core/base/mem.h"
#include "core/base/str.h"
#include "core/tools/reading.h"

static struct arena arena; /* of tests that have no adapter */

struct bed {
	struct adapter *a;
	struct tool_output o;
	struct readings r;
};

static void read_it(struct bed *b, const char *tool, const char *test, const char *out)
{
	autofree char *path = mem_printf("scenarios/tools/%s.yaml", tool), *text = NULL;
	struct err err = ERR_INIT;
	struct problems p;
	size_t len;

	assert_int_equal(file_read(path, &text, &len, &err), 0);
	problems_init(&p);
	b->a = adapter_parse(path, text, len, &p);
	problems_done(&p);
	b->o = (struct tool_output){.text = {(char *)(uintptr_t)out, (char *)(uintptr_t) "",
					     (char *)(uintptr_t) "", (char *)(uintptr_t) ""}};
	readings_of(adapter_test(b->a, test), &b->o, &b->r);
}

static void done(struct bed *b)
{
	readings_done(&b->r);
	adapter_free(b->a);
}

static void is(const struct bed *b, enum figure f, double value)
{
	const struct reading *r = readings_headline(&b->r, f);

	assert_non_null(r);
	if (!r->found)
		fail_msg("%s: %s", figure_name(f), r->why);
	if (fabs(r->value - value) > fabs(value) * 1e-9)
		fail_msg("%s: %g instead of %g", figure_name(f), r->value, value);
}

static void test_iperf3(void **state)
{
	static const char out[] =
	    "{\"intervals\":[{\"sum\":{\"bits_per_second\":10}},{\"sum\":{\"bits_per_second\":20}}]"
	    ","
	    "\"end\":{\"sum_sent\":{\"bits_per_second\":30.5,\"retransmits\":7,\"seconds\":2.0},"
	    "\"sum_received\":{\"bits_per_second\":25.5}}}";
	struct bed b;

	(void)state;
	read_it(&b, "iperf3", "tcp_stream", out);
	is(&b, FIGURE_GOODPUT, 25.5);
	is(&b, FIGURE_RETRANSMITS, 7);
	assert_int_equal(b.r.list.v[2].series.n, 2);
	assert_float_equal(b.r.list.v[2].series.v[1], 20, 0);
	assert_string_equal(b.r.list.v[0].raw, "25.5 bit/s");
	done(&b);

	read_it(&b, "iperf3", "tcp_stream", "iperf3: error - unable to connect");
	assert_true(b.r.json_broken);
	assert_false(readings_headline(&b.r, FIGURE_GOODPUT)->found);
	done(&b);
	read_it(&b, "iperf3", "udp_stream", "{\"end\":{}}");
	assert_false(b.r.json_broken);
	assert_string_equal(readings_headline(&b.r, FIGURE_LOSS)->why,
			    "there is no number at 'end.sum.lost_percent'");
	done(&b);
}

static void test_iperf(void **state)
{
	static const char out[] =
	    "[  1] 0.0000-1.0017 sec   613 KBytes  5020000 bits/sec\n"
	    "[  1] Sent 629 datagrams\n"
	    "[  1] Server Report:\n"
	    "[ ID] Interval       Transfer     Bandwidth        Jitter   Lost/Total Datagrams\n"
	    "[  1] 0.0000-1.0017 sec   613 KBytes  4010000 bits/sec   0.001 ms 126/628 (20%)\n";
	struct bed b;

	(void)state;
	read_it(&b, "iperf", "udp_stream", out);
	is(&b, FIGURE_GOODPUT, 4010000);
	is(&b, FIGURE_LOSS, 0.2);
	is(&b, FIGURE_LOST, 126);
	is(&b, FIGURE_SENT, 629);
	is(&b, FIGURE_JITTER, 1e-6);
	done(&b);
	read_it(&b, "iperf", "udp_stream",
		"[  1] 0.0000-1.0017 sec   613 KBytes  5020000 bits/sec\n"
		"[  1] WARNING: did not receive ack of last datagram after 10 tries.\n");
	assert_false(readings_headline(&b.r, FIGURE_GOODPUT)->found);
	assert_int_equal(b.r.warnings.n, 1);
	assert_string_equal(b.r.warnings.v[0],
			    "[  1] WARNING: did not receive ack of last datagram after 10 tries.");
	done(&b);
	read_it(&b, "iperf", "tcp_stream",
		"[  2] 0.0000-1.0150 sec  2786852924 Bytes  21964477648 bits/sec\n"
		"[  1] 0.0000-2.0158 sec  2226520124 Bytes  8836072295 bits/sec\n"
		"[SUM] 0.0000-1.0006 sec  5013373048 Bytes  40081452499 bits/sec\n");
	is(&b, FIGURE_GOODPUT, 40081452499.0);
	done(&b);
}

static void test_others(void **state)
{
	struct bed b;

	(void)state;
	read_it(&b, "qperf", "tcp_stream",
		"tcp_bw:\n    bw              =  2.15 GB/sec\n    msg_rate        =  32.8 K/sec\n");
	is(&b, FIGURE_GOODPUT, 17.2e9);
	done(&b);
	read_it(&b, "qperf", "udp_rr",
		"udp_lat:\n    latency        =  6.6 us\n    msg_rate       =  152 K/sec\n");
	is(&b, FIGURE_LATENCY_MEAN, 6.6e-6);
	is(&b, FIGURE_TRANSACTIONS, 76000);
	done(&b);
	read_it(
	    &b, "sockperf", "udp_rr",
	    "sockperf: # dropped messages = 3; # duplicated messages = 1; # out-of-order messages "
	    "= 2\nsockperf: Summary: Latency is 27.548 usec\n"
	    "sockperf: ---> percentile 99.000 =   79.438\n");
	is(&b, FIGURE_LATENCY_MEAN, 27.548e-6);
	is(&b, FIGURE_LATENCY_P99, 79.438e-6);
	is(&b, FIGURE_LOST, 3);
	is(&b, FIGURE_REORDERED, 2);
	done(&b);
	read_it(
	    &b, "nuttcp", "udp_stream",
	    "megabytes=0.5960 real_seconds=1.00 rate_Mbps=4.9864 tx_cpu=39 rx_cpu=0 drop=4 pkt=625 "
	    "data_loss=0.64000\n");
	is(&b, FIGURE_GOODPUT, 4986400);
	is(&b, FIGURE_LOSS, 0.0064);
	done(&b);
	read_it(
	    &b, "netperf", "udp_stream",
	    "LOCAL_SEND_THROUGHPUT=664.31\nREMOTE_RECV_THROUGHPUT=380.10\nLOCAL_SEND_CALLS=83141\n"
	    "REMOTE_RECV_CALLS=47571\n");
	is(&b, FIGURE_GOODPUT, 380.1e6);
	is(&b, FIGURE_RECEIVED, 47571);
	done(&b);
	read_it(
	    &b, "ping", "ping",
	    "3 packets transmitted, 2 received, +1 duplicates, 33.3333% packet loss, time 408ms\n"
	    "rtt min/avg/max/mdev = 0.025/0.033/0.040/0.006 ms\n");
	is(&b, FIGURE_LATENCY_MEAN, 33e-6);
	is(&b, FIGURE_LATENCY_MAX, 40e-6);
	is(&b, FIGURE_LOSS, 0.333333);
	is(&b, FIGURE_DUPLICATED, 1);
	done(&b);
}

static void test_status(void **state)
{
	struct bed b;

	(void)state;
	read_it(&b, "iperf3", "tcp_stream", "{}");
	assert_true(readings_claims_success(adapter_test(b.a, "tcp_stream"), &b.o));
	b.o.status[0] = 1;
	assert_false(readings_claims_success(adapter_test(b.a, "tcp_stream"), &b.o));
	b.o.status[0] = 137;
	assert_false(readings_claims_success(adapter_test(b.a, "tcp_stream"), &b.o));
	done(&b);
}

/* One read of an output, without an adapter's file. */
static const struct reading *read_one(struct bed *b, struct tool_test *t, struct tool_read read,
				      const char *out)
{
	*t = (struct tool_test){0};
	b->a = NULL;
	b->o = (struct tool_output){.text = {(char *)(uintptr_t)out, (char *)(uintptr_t) "",
					     (char *)(uintptr_t) "", (char *)(uintptr_t) ""}};
	*VEC_ADD(&arena, &t->reads) = read;
	readings_of(t, &b->o, &b->r);
	assert_int_equal(b->r.list.n, 1);
	return &b->r.list.v[0];
}

static struct tool_read text_read(enum tool_pick pick)
{
	return (struct tool_read){.figure = FIGURE_LOST,
				  .match = "lost (?<value>.*)",
				  .unit = "count",
				  .pick = pick,
				  .factor = 1,
				  .headline = true,
				  .absent = NAN};
}

/* NAN: is no number, and none is made of it. */
static void test_numbers(void **state)
{
	static const struct {
		const char *text;
		double value;
	} cases[] = {
	    {"5", 5},
	    {" 5.50 ", 5.5},
	    {"+1e3", 1000},
	    {"-5", -5},
	    {"1,234", 1234},
	    {"1,234.5", 1234.5},
	    {"12,345,678", 12345678},
	    {"1,5", NAN},
	    {"1,23", NAN},
	    {"1234,567", NAN},
	    {"1,2345", NAN},
	    {",123", NAN},
	    {"1,234,56", NAN},
	    {"1.5,678", NAN},
	    {"1 000", NAN},
	    {"1'000", NAN},
	    {"nan", NAN},
	    {"-nan", NAN},
	    {"inf", NAN},
	    {"Infinity", NAN},
	    {"1e400", NAN},
	    {"-1e400", NAN},
	    {"0x10", NAN},
	    {"5e", NAN},
	    {"", NAN},
	    {"-", NAN},
	    {"1.2.3", NAN},
	    {"5\xff", NAN},
	    {"\xd9\xa5", NAN},
	    {"--5", NAN},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		autofree char *out = mem_printf("lost %s\n", cases[i].text);
		struct tool_test t;
		struct bed b;
		const struct reading *r = read_one(&b, &t, text_read(PICK_LAST), out);

		if (r->found != !isnan(cases[i].value) ||
		    (r->found && r->value != cases[i].value)) /* exactly: they are decimal */
			fail_msg("'%s': %d %g", cases[i].text, r->found, r->value);
		assert_true(r->found ||
			    (*r->why && str_bad_byte(r->why, strlen(r->why)) == strlen(r->why)));
		done(&b);
	}
}

/* What is no number stands where it stands: no other one is taken in its place. */
static void test_bad_among_good(void **state)
{
	static const struct {
		const char *out;
		enum tool_pick pick;
		double value;
	} cases[] = {
	    {"lost 1\nlost nan\n", PICK_LAST, NAN},	 {"lost nan\nlost 2\n", PICK_LAST, 2},
	    {"lost 1\nlost nan\n", PICK_FIRST, 1},	 {"lost nan\nlost 2\n", PICK_FIRST, NAN},
	    {"lost nan\nlost 2\n", PICK_SUM, NAN},	 {"lost 1\nlost nan\n", PICK_MAX, NAN},
	    {"lost 1e308\nlost 1e308\n", PICK_SUM, NAN},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct tool_test t;
		struct bed b;
		const struct reading *r = read_one(&b, &t, text_read(cases[i].pick), cases[i].out);

		if (r->found != !isnan(cases[i].value) || (r->found && r->value != cases[i].value))
			fail_msg("%zu: %d %g", i, r->found, r->value);
		done(&b);
	}
}

/* A tool may print anything and as much as it likes: it costs bounded time and memory, and what is
 * said of it is a line of text. */
static void test_hostile(void **state)
{
	size_t size = (size_t)8 << 20;
	char *out = mem_zalloc(size + 1);
	struct tool_read read = text_read(PICK_LAST);
	struct tool_test t = {0};
	const struct reading *r;
	struct bed b;

	(void)state;
	for (size_t i = 0; i < size; i++)
		out[i] = "lost \x1b\xff\x01"[i % 8];
	*VEC_ADD(&arena, &t.warnings) = "lost"; /* a million times in one line */
	b.o = (struct tool_output){
	    .text = {out, (char *)(uintptr_t) "", (char *)(uintptr_t) "", (char *)(uintptr_t) ""}};
	*VEC_ADD(&arena, &t.reads) = read;
	readings_of(&t, &b.o, &b.r);
	assert_int_equal(b.r.warnings.n, 1);
	for (int i = 0; i < 2; i++) {
		const char *said = i ? b.r.list.v[0].why : b.r.warnings.v[0];

		assert_in_range(strlen(said), 1, 600);
		assert_int_equal(str_bad_byte(said, strlen(said)), strlen(said));
		assert_null(strchr(said, '\x1b'));
	}
	readings_done(&b.r);

	read.match = "(?:(?<value>\\w+)*)*[!?]"; /* as slow as an expression can be */
	r = read_one(&b, &t, read,
		     "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
	assert_false(r->found);
	assert_non_null(strstr(r->why, "tries too many ways"));
	read.absent = 0; /* nobody knows whether it is absent */
	readings_done(&b.r);
	r = read_one(&b, &t, read,
		     "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
	assert_false(r->found);
	readings_done(&b.r);

	read = text_read(PICK_LAST); /* nor what was cut off */
	read.absent = 0;
	t = (struct tool_test){0};
	*VEC_ADD(&arena, &t.reads) = read;
	b.o.flooded = 1u << FROM_CLIENT_OUT;
	readings_of(&t, &b.o, &b.r);
	assert_false(b.r.list.v[0].found);
	assert_true(b.r.json_broken);
	readings_done(&b.r);
	free(out);
}

static void test_paths(void **state)
{
	static const char *const good[] = {"a",	    "a.b",     "a[0].c", "[*]",
					   "[*].x", "a[*][1]", "a b.c"},
				 *const bad[] = {
				     "",      "[",   "[*",    "a[",
				     "a[x]",  "a[0", "a[*",   "a..b",
				     ".a",    "a.",  "a]",    "a[-1]",
				     "a.[0]", "[]",  "a[0]b", "a[99999999999999999999]"};
	struct err err = ERR_INIT;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		if (reading_check_path(good[i], &err))
			fail_msg("%s", err.text);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		if (!reading_check_path(bad[i], &err))
			fail_msg("'%s' is taken", bad[i]);
}

static int set_up(void **state)
{
	(void)state;
	arena_init(&arena);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	arena_done(&arena);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_iperf3),  cmocka_unit_test(test_iperf),
	    cmocka_unit_test(test_others),  cmocka_unit_test(test_status),
	    cmocka_unit_test(test_numbers), cmocka_unit_test(test_bad_among_good),
	    cmocka_unit_test(test_hostile), cmocka_unit_test(test_paths),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
