// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests of emulator/lab/account_walk and account_way: the way of packets through each arrangement
 * of devices, ledgers that close from counters as a kernel gives them, and holes where they do not.
 */
#include "tests/unit/model/lab.h"

#include "emulator/lab/account.h"
#include "emulator/lab/account_walk.h"

/* ---- counters by hand ---- */

struct bed {
	struct lab lab;
	json_t *snapshot;
	struct account a;
};

static void bed_init(struct bed *b, const char *topology)
{
	json_t *nodes = json_object();

	lab_init(&b->lab, topology);
	b->snapshot = json_pack("{s:I, s:o, s:o}", "at_ns", (json_int_t)1, "nodes", nodes, "relays",
				json_object());
	VEC_FOREACH (n, &b->lab.w.nodes)
		json_object_set_new(
		    nodes, n->name,
		    json_pack("{s:o, s:o}", "devices", json_object(), "rules", json_array()));
	VEC_FOREACH (d, &b->lab.w.devs) {
		json_t *node = json_object_get(nodes, b->lab.w.nodes.v[d->node].name);

		json_object_set_new(json_object_get(node, "devices"), d->name,
				    json_pack("{s:[]}", "qdiscs"));
	}
}

static void bed_done(struct bed *b)
{
	account_done(&b->a);
	json_decref(b->snapshot);
	lab_done(&b->lab);
}

static json_t *node_of(struct bed *b, const char *node)
{
	return json_object_get(json_object_get(b->snapshot, "nodes"), node);
}

static json_t *dev_of(struct bed *b, const char *node, const char *dev)
{
	json_t *d = json_object_get(json_object_get(node_of(b, node), "devices"), dev);

	if (!d)
		fail_msg("no device %s in %s", dev, node);
	return d;
}

/* `n` packets leave by a device, and its peer receives them. */
static void sends(struct bed *b, const char *node, const char *dev, int64_t n)
{
	const struct wire *w = &b->lab.w;
	const struct wire_dev *peer = &w->devs.v[w->devs.v[lab_dev(&b->lab, node, dev)].peer];

	json_object_set_new(dev_of(b, node, dev), "tx_packets", json_integer(n));
	json_object_set_new(dev_of(b, w->nodes.v[peer->node].name, peer->name), "rx_packets",
			    json_integer(n));
}

static void drops(struct bed *b, const char *node, const char *dev, int64_t dropped, int64_t waits)
{
	json_array_append_new(json_object_get(dev_of(b, node, dev), "qdiscs"),
			      json_pack("{s:s, s:s, s:s, s:I, s:I}", "kind", "tbf", "handle",
					"1:", "parent", "root", "dropped", (json_int_t)dropped,
					"backlog_packets", (json_int_t)waits));
}

static void rule(struct bed *b, const char *node, const char *chain, int64_t packets)
{
	json_array_append_new(json_object_get(node_of(b, node), "rules"),
			      json_pack("{s:s, s:s, s:s, s:i, s:I}", "family", "netdev", "table",
					node[0] == 'w' ? "wires" : "tap", "chain", chain, "number",
					0, "packets", (json_int_t)packets));
}

static const struct account_direction *ledger(struct bed *b, const char *link, bool ba)
{
	account_done(&b->a);
	account_walk(&b->lab.w, b->snapshot, &b->a);
	for (size_t i = 0; i < b->lab.w.links.n; i++)
		if (str_eq(b->lab.w.links.v[i].name, link))
			return account_find(&b->a, (int)i, ba);
	fail_msg("no link '%s'", link);
	return NULL;
}

static void expect(const struct account_direction *d, int64_t entered, int64_t left, int64_t lost,
		   int64_t hole)
{
	assert_non_null(d);
	assert_int_equal(d->entered, entered);
	assert_int_equal(d->left, left);
	assert_int_equal(account_lost(d), lost);
	assert_int_equal(d->hole, hole);
	/* What the header says of the hole, whatever the way was. */
	assert_int_equal(d->entered - d->left - account_lost(d) - d->waiting + d->duplicated,
			 d->hole);
}

/* ---- arrangements ---- */

#define MACHINES "version: 1\nname: t\nnodes:\n  a: {kind: machine, addresses: [10.0.1.1/24]}\n"

static void test_own_egress(void **state)
{
	struct bed b = {0};

	(void)state;
	bed_init(&b, MACHINES
		 "  r: {kind: router, addresses: {eth1: 10.0.1.2/24}}\n"
		 "links:\n  - endpoints: [\"r:eth1\", \"a:eth1\"]\n    ab: {rate: 1mbit}\n");
	drops(&b, "r", "eth1", 30, 5);
	sends(&b, "r", "eth1", 65);
	sends(&b, "a", "eth1", 7);
	const struct account_direction *d = ledger(&b, "r-a", false);
	expect(d, 100, 65, 30, 0);
	assert_int_equal(d->waiting, 5);
	assert_string_equal(d->lost[0].cause, "queue");
	assert_string_equal(d->lost[0].where, "r:eth1");
	expect(ledger(&b, "r-a", true), 7, 7, 0, 0);
	bed_done(&b);
}

static void test_middle(void **state)
{
	struct bed b = {0};

	(void)state;
	bed_init(&b, MACHINES "  b: {kind: machine, addresses: [10.0.1.2/24]}\n"
			      "links:\n  - endpoints: [\"a:eth1\", \"b:eth1\"]\n"
			      "    rate: 1mbit\n    pps: {police: 1kpps}\n");
	sends(&b, "a", "eth1", 100);
	rule(&b, "wires", "from-a-eth1", 20);
	drops(&b, "wires", "b-eth1", 10, 0);
	sends(&b, "wires", "b-eth1", 70);
	const struct account_direction *d = ledger(&b, "a-b", false);
	expect(d, 100, 70, 30, 0);
	assert_string_equal(d->lost[0].cause, "police");
	assert_string_equal(d->lost[1].where, "wires:b-eth1");
	/* Three packets that nobody knows of: between the rule and the queue. */
	sends(&b, "wires", "b-eth1", 67);
	expect(ledger(&b, "a-b", false), 100, 67, 30, 3);
	bed_done(&b);
}

static json_t *relay(int64_t in, int64_t out, int64_t twice, int64_t loss, int64_t overrun)
{
	return json_pack("{s:{s:I, s:I, s:I, s:{s:I, s:I}}}", "ab", "in_packets", (json_int_t)in,
			 "out_packets", (json_int_t)out, "duplicated", (json_int_t)twice, "lost",
			 "loss", (json_int_t)loss, "overrun", (json_int_t)overrun);
}

static void test_relay(void **state)
{
	struct bed b = {0};

	(void)state;
	bed_init(&b, MACHINES
		 "  b: {kind: machine, addresses: [10.0.1.2/24]}\n"
		 "links:\n  - endpoints: [\"a:eth1\", \"b:eth1\"]\n    loss: {every: 7}\n");
	json_t *relays = json_object_get(b.snapshot, "relays");
	const struct wire_link *l = &b.lab.w.links.v[0];
	assert_int_equal(l->engine, IMPAIR_RELAY);
	sends(&b, "a", "eth1", 100);
	sends(&b, "wires", b.lab.w.devs.v[l->span[0]].name, 100);
	json_object_set_new(relays, "a-b", relay(95, 90, 5, 10, 5));
	sends(&b, "wires", b.lab.w.devs.v[l->middle[1]].name, 90);
	const struct account_direction *d = ledger(&b, "a-b", false);
	expect(d, 100, 90, 15, 0);
	assert_int_equal(d->duplicated, 5);
	assert_string_equal(d->lost[0].where, "relay a-b");
	/* One that has ended explains nothing. */
	json_object_set_new(relays, "a-b", json_null());
	sends(&b, "wires", b.lab.w.devs.v[l->middle[1]].name, 0);
	expect(ledger(&b, "a-b", false), 100, 0, 0, 100);
	bed_done(&b);
}

#define VM                                                                                         \
	"version: 1\nname: t\nhosts: {h: {nic: {rate: 1gbit}}}\n"                                  \
	"networks: {n: {type: flat, cidr: 10.0.0.0/24}}\n"                                         \
	"vms:\n  x: {host: h, network: n, vnic: {rate: 50mbit"

static void test_tap(void **state)
{
	struct bed b = {0};

	(void)state;
	bed_init(&b, VM "}}\n");
	sends(&b, "x", "eth0", 50);
	drops(&b, "h", "x-out", 8, 0);
	sends(&b, "h", "x-out", 42);
	sends(&b, "h", "x", 9);
	drops(&b, "h", "x-tap", 2, 0);
	sends(&b, "h", "x-tap", 7);
	/* The packet that was handed on as a copy is dropped by rule: no loss. */
	expect(ledger(&b, "x vNIC", false), 50, 42, 8, 0);
	expect(ledger(&b, "x vNIC", true), 9, 7, 2, 0);
	bed_done(&b);
}

/* One queue for both directions: what each lost in it follows from what came out for each. */
static void test_sum(void **state)
{
	struct bed b = {0};

	(void)state;
	bed_init(&b, VM ", direction: sum}}\n");
	sends(&b, "x", "eth0", 100);
	sends(&b, "h", "x", 50);
	drops(&b, "h", "x-cap", 33, 2);
	sends(&b, "h", "x-cap", 115);
	sends(&b, "h", "x-out", 75);
	sends(&b, "h", "x-tap", 40);
	expect(ledger(&b, "x vNIC", false), 100, 75, 25, 0);
	const struct account_direction *d = ledger(&b, "x vNIC", true);
	expect(d, 50, 40, 8, 0);
	assert_int_equal(d->waiting, 2);
	sends(&b, "h", "x-tap", 39);
	expect(ledger(&b, "x vNIC", true), 50, 39, 8, 1);
	bed_done(&b);
}

static void test_classes(void **state)
{
	struct bed b = {0};

	(void)state;
	bed_init(&b, VM "}}\n");
	sends(&b, "x", "eth0", 50);
	drops(&b, "h", "x-out", 8, 0);
	sends(&b, "h", "x-out", 42);
	json_object_set_new(dev_of(&b, "h", "x-out"), "classes",
			    json_pack("[{s:s, s:b, s:i}, {s:s, s:b, s:i}, {s:s, s:b, s:i}]", "id",
				      "1:1", "leaf", 0, "dropped", 8, "id", "1:100", "leaf", 1,
				      "dropped", 3, "id", "1:101", "leaf", 1, "dropped", 5));
	const struct account_direction *d = ledger(&b, "x vNIC", false);
	autostr struct strbuf text = {0};
	expect(d, 50, 42, 8, 0);
	assert_int_equal(d->n_lost, 2);
	account_describe(&d->lost[1], &text);
	assert_string_equal(strbuf_text(&text), "5 at h:x-out's queue of class 1:101");
	bed_done(&b);
}

/* ---- two readings, and words ---- */

static void test_between(void **state)
{
	struct account before = {0}, between;
	struct bed b = {0};

	(void)state;
	bed_init(&b, VM "}}\n");
	sends(&b, "x", "eth0", 50);
	drops(&b, "h", "x-out", 8, 0);
	sends(&b, "h", "x-out", 42);
	account_walk(&b.lab.w, b.snapshot, &before);
	sends(&b, "x", "eth0", 60);
	sends(&b, "h", "x-out", 45);
	json_object_set_new(dev_of(&b, "h", "x-out"), "tx_dropped", json_integer(6));
	json_object_set_new(b.snapshot, "softnet", json_pack("{s:i}", "dropped", 9));
	ledger(&b, "x vNIC", false);
	account_between(&before, &b.a, &between);
	expect(account_find(&between, 0, false), 10, 3, 6, 1);
	/* The machine has thrown away as many for want of room: so it was that. */
	assert_string_equal(between.directions.v[0].lost[0].cause, "softnet");
	account_done(&before);
	account_done(&between);
	bed_done(&b);
}

static void test_number(void **state)
{
	char buf[32];

	(void)state;
	assert_string_equal(account_number(buf, 0), "0");
	assert_string_equal(account_number(buf, 999), "999");
	assert_string_equal(account_number(buf, 1000), "1,000");
	assert_string_equal(account_number(buf, -12345678), "-12,345,678");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_own_egress), cmocka_unit_test(test_middle),
	    cmocka_unit_test(test_relay),      cmocka_unit_test(test_tap),
	    cmocka_unit_test(test_sum),	       cmocka_unit_test(test_classes),
	    cmocka_unit_test(test_between),    cmocka_unit_test(test_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
