// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests of core/cli/top: rates between two readings, order, and sar's columns to the byte. */
#include "tests/unit/model/lab.h"

#include <jansson.h>

#include "core/cli/top.h"

static const char topology[] = "version: 1\nname: t\nnodes:\n"
			       "  a: {kind: machine, addresses: [10.0.1.1/24]}\n"
			       "  r: {kind: router, addresses: {eth1: 10.0.1.2/24}}\n"
			       "links:\n  - endpoints: [\"a:eth1\", \"r:eth1\"]\n"
			       "    ba: {rate: 1mbit}\n";

/* `n` packets of 1,000 bytes from r to a so far, `dropped` by r's queue, 3 wait. */
static json_t *reading(double t_s, int64_t n, int64_t dropped)
{
	return json_pack(
	    "{s:I, s:{s:{s:{s:{s:i, s:I}, s:{s:I, s:I, s:I, s:i, s:[]}}, s:{s:I}},"
	    " s:{s:{s:{s:I, s:I, s:i, s:[{s:s, s:s, s:s, s:I, s:I, s:i, s:i}]}}}}}",
	    "at_ns", (json_int_t)(t_s * 1e9), "nodes", "a", "devices", "lo", "rx_packets", 0,
	    "rx_bytes", (json_int_t)0, "eth1", "rx_packets", (json_int_t)n, "rx_bytes",
	    (json_int_t)n * 1000, "rx_multicast", (json_int_t)n / 10, "speed_mbps", 10000, "qdiscs",
	    "udp", "rcvbuf_errors", (json_int_t)(n / 2), "r", "devices", "eth1", "tx_packets",
	    (json_int_t)n, "tx_bytes", (json_int_t)n * 1000, "speed_mbps", 10000, "qdiscs", "kind",
	    "tbf", "handle", "1:", "parent", "root", "dropped", (json_int_t)dropped, "sent_packets",
	    (json_int_t)n, "backlog_packets", 3, "backlog_bytes", 3000);
}

struct bed {
	struct lab lab;
	json_t *before, *after;
	struct top t;
};

static void bed_init(struct bed *b, const struct top_filter *f)
{
	lab_init(&b->lab, topology);
	b->before = reading(10, 1000, 5);
	b->after = reading(12, 1300, 65);
	assert_non_null(b->before);
	top_rows(&b->lab.w, b->before, b->after, f, &b->t);
}

static void bed_done(struct bed *b)
{
	top_done(&b->t);
	json_decref(b->before);
	json_decref(b->after);
	lab_done(&b->lab);
}

static void test_rows(void **state)
{
	struct bed b;

	(void)state;
	bed_init(&b, &(struct top_filter){0});
	/* Idle ones are left out, the busiest is first. */
	assert_int_equal(b.t.rows.n, 3);
	const struct top_row *r = &b.t.rows.v[0];
	assert_string_equal(r->node, "r");
	assert_string_equal(r->dev, "eth1");
	assert_float_equal(r->tx_pps, 150, 1e-9);
	assert_float_equal(r->tx_Bps, 150000, 1e-6);
	assert_float_equal(r->drop_pps[TOP_QDISC], 30, 1e-9);
	assert_int_equal(r->dropped[TOP_QDISC], 65);
	assert_int_equal(r->waiting_packets, 3);
	/* The node itself: its sockets. */
	assert_null(b.t.rows.v[2].dev);
	assert_float_equal(b.t.rows.v[2].drop_pps[TOP_SOCKET], 75, 1e-9);
	bed_done(&b);
}

static void test_table(void **state)
{
	autostr struct strbuf out = {0};
	struct bed b;

	(void)state;
	bed_init(&b, &(struct top_filter){.node = "r"});
	top_table(&b.t, true, &out);
	assert_non_null(strstr(strbuf_text(&out), "      150"));
	assert_non_null(strstr(strbuf_text(&out), "1.20        30        3  qdisc\n"));
	assert_non_null(strstr(strbuf_text(&out), "tbf 1:"));
	assert_null(strstr(strbuf_text(&out), "\na "));
	bed_done(&b);
}

/* As sysstat 12.6.1 prints it in the C locale. */
static void test_sar(void **state)
{
	autostr struct strbuf out = {0};
	struct bed b;

	(void)state;
	bed_init(&b, &(struct top_filter){.node = "a", .all = true});
	top_sar(&b.t, "16:19:14", "16:19:16", true, &out);
	assert_string_equal(strbuf_text(&out),
			    "\n16:19:14        IFACE   rxpck/s   txpck/s    rxkB/s    txkB/s   "
			    "rxcmp/s   txcmp/s  rxmcst/s   %ifutil\n"
			    "16:19:16           lo      0.00      0.00      0.00      0.00      "
			    "0.00      0.00      0.00      0.00\n"
			    "16:19:16         eth1    150.00      0.00    146.48      0.00      "
			    "0.00      0.00     15.00      0.01\n");
	bed_done(&b);
}

static void test_json(void **state)
{
	struct bed b;

	(void)state;
	bed_init(&b, &(struct top_filter){0});
	json_t *j = top_json(&b.t, b.after);
	const json_t *first = json_array_get(json_object_get(j, "interfaces"), 0);
	assert_float_equal(json_real_value(json_object_get(j, "interval_s")), 2, 1e-9);
	assert_float_equal(json_real_value(json_object_get(first, "tx_bps")), 1200000, 1e-6);
	assert_int_equal(json_integer_value(json_object_get(
			     json_object_get(json_object_get(first, "drops"), "qdisc"), "packets")),
			 65);
	json_decref(j);
	bed_done(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_rows),
	    cmocka_unit_test(test_table),
	    cmocka_unit_test(test_sar),
	    cmocka_unit_test(test_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
