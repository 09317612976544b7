// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests of core/harness/losses: ledgers of the links on a way and the counts of its two ends make
 * one sentence that closes, or says what does not.
 */
#include "tests/unit/model/lab.h"

#include <sys/socket.h>

#include "core/harness/losses.h"

static const char topology[] = "version: 1\nname: t\nnodes:\n"
			       "  a: {kind: machine, addresses: [10.0.1.1/24], "
			       "routes: [default via 10.0.1.2]}\n"
			       "  r: {kind: router, addresses: {eth1: 10.0.1.2/24, eth2: "
			       "10.0.2.2/24}}\n"
			       "  b: {kind: machine, addresses: [10.0.2.1/24], "
			       "routes: [default via 10.0.2.2]}\n"
			       "links:\n  - endpoints: [\"a:eth1\", \"r:eth1\"]\n"
			       "  - endpoints: [\"b:eth1\", \"r:eth2\"]\n";

struct bed {
	struct lab lab;
	struct path there, back;
	struct losses_at at;
	struct account between;
	struct losses l;
	struct losses_flow flow;
};

/* 100 packets: the second link, which they cross from its b to its a, loses 30 in a queue. */
static void bed_init(struct bed *b)
{
	static const struct account_loss queue = {"queue", "r:eth2", 1, 30};
	struct err err = ERR_INIT;

	*b = (struct bed){0};
	lab_init(&b->lab, topology);
	assert_int_equal(path_find(&b->lab.w, "a", "b", AF_INET, &b->there, &err), 0);
	assert_int_equal(path_reverse(&b->lab.w, &b->there, &b->back, &err), 0);
	b->at = (struct losses_at){NULL, &b->lab.w, &b->there, &b->back};
	for (int link = 0; link < 2; link++)
		for (int ba = 0; ba < 2; ba++)
			*VEC_ADD(&b->between.arena, &b->between.directions) =
			    (struct account_direction){.link = link, .ba = ba};
	b->between.directions.v[0].entered = b->between.directions.v[0].left = 100;
	b->between.directions.v[3].entered = 100;
	b->between.directions.v[3].left = 70;
	b->between.directions.v[3].lost[0] = queue;
	b->between.directions.v[3].n_lost = 1;
	b->flow = (struct losses_flow){
	    .from = "a", .to = "b", .sent = 100, .arrived = 70, .delivered = 70};
}

static void bed_done(struct bed *b)
{
	arena_done(&b->between.arena);
	path_done(&b->there);
	path_done(&b->back);
	lab_done(&b->lab);
}

static void expect(struct bed *b, int64_t unexplained, const char *words)
{
	autostr struct strbuf text = {0};

	losses_of(&b->at, &b->between, &b->between.arena, &b->l);
	losses_follow(&b->at, &b->between, &b->flow, &b->between.arena, &b->l);
	losses_describe(&b->l, &text);
	assert_int_equal(b->l.unexplained, unexplained);
	assert_string_equal(strbuf_text(&text), words);
	/* Results outlive the lab's model, so they have no text of it. */
	VEC_FOREACH (l, &b->l.list)
		VEC_FOREACH (of, &b->at.wire->links)
			assert_ptr_not_equal(l->link, of->name);
}

static void test_closes(void **state)
{
	struct bed b;

	(void)state;
	bed_init(&b);
	expect(&b, 0, "30 of 100: 30 at r:eth2's queue; nothing unexplained");
	bed_done(&b);
}

static void test_socket(void **state)
{
	struct bed b;

	(void)state;
	bed_init(&b);
	b.flow.delivered = 60;
	b.flow.socket = 8;
	b.flow.unread_most = 5;
	expect(&b, 0,
	       "40 of 100: 30 at r:eth2's queue, 8 at b (socket), 2 at b (unread at the end); "
	       "nothing unexplained");
	b.flow.unread_most = 1;
	expect(&b, 1,
	       "40 of 100: 30 at r:eth2's queue, 8 at b (socket), 1 at b (unread at the end); "
	       "1 packets unexplained between a and b");
	bed_done(&b);
}

static void test_hole_between(void **state)
{
	struct bed b;

	(void)state;
	bed_init(&b);
	b.flow.arrived = b.flow.delivered = 67; /* three vanished behind the last link */
	expect(&b, 3, "33 of 100: 30 at r:eth2's queue; 3 packets unexplained between a and b");
	b.flow.arrived = b.flow.delivered = 72; /* two more than can have come */
	expect(&b, 2,
	       "28 of 100: 30 at r:eth2's queue; 2 packets more between a and b than were sent");
	bed_done(&b);
}

static void test_hole_on_link(void **state)
{
	struct bed b;

	(void)state;
	bed_init(&b);
	b.between.directions.v[3].hole = 4;
	b.flow.arrived = b.flow.delivered = 66;
	expect(&b, 8, "34 of 100: 30 at r:eth2's queue; 4 packets unexplained on link b-r, b→a");
	bed_done(&b);
}

/* ARP and its like are dropped by full queues too. */
static void test_others(void **state)
{
	struct bed b;

	(void)state;
	bed_init(&b);
	b.between.directions.v[0].entered = b.between.directions.v[0].left = 102;
	b.between.directions.v[3].entered = 102;
	b.flow.arrived = b.flow.delivered = 72;
	expect(&b, 0,
	       "28 of 100: 30 at r:eth2's queue, 2 of them not of this measurement; nothing "
	       "unexplained");
	bed_done(&b);
}

static void test_nodes(void **state)
{
	struct bed b;

	(void)state;
	bed_init(&b);
	*VEC_ADD(&b.between.arena, &b.between.elsewhere) =
	    (struct account_loss){"no_route", "r", lab_node(&b.lab, "r"), 5};
	*VEC_ADD(&b.between.arena, &b.between.elsewhere) =
	    (struct account_loss){"connections", "b:vnic connections", lab_node(&b.lab, "b"), 9};
	b.flow.arrived = 66;
	b.flow.delivered = 60;
	expect(&b, 0,
	       "40 of 100: 30 at r:eth2's queue, 4 at r (no route), 6 at b:vnic connections "
	       "(connections); nothing unexplained");
	assert_int_equal(b.l.behind, 6);
	bed_done(&b);
}

static void test_never_left(void **state)
{
	struct bed b;

	(void)state;
	bed_init(&b);
	b.flow.sent = 104;
	expect(&b, 0, "34 of 104: 30 at r:eth2's queue, 4 at a (never left); nothing unexplained");
	bed_done(&b);
}

static void test_duplicates(void **state)
{
	struct bed b;

	(void)state;
	bed_init(&b);
	b.between.directions.v[3].duplicated = 6;
	b.between.directions.v[3].left = 76;
	b.flow.arrived = 76;
	expect(&b, 0, "30 of 100: 30 at r:eth2's queue; nothing unexplained");
	bed_done(&b);
}

static void test_busy(void **state)
{
	autostr struct strbuf text = {0};
	struct bed b;

	(void)state;
	bed_init(&b);
	b.between.directions.v[3].waiting = 7;
	b.between.directions.v[3].hole = -2;
	losses_of(&b.at, &b.between, &b.between.arena, &b.l);
	losses_describe(&b.l, &text);
	assert_int_equal(b.l.unexplained, 0);
	assert_string_equal(strbuf_text(&text),
			    "30 at r:eth2's queue; 7 packets still wait on the way");
	bed_done(&b);
}

/* What was on the way when the flow began has arrived meanwhile, or was lost, and is none of it. */
static void test_earlier(void **state)
{
	struct bed b;

	(void)state;
	bed_init(&b);
	b.between.directions.v[3].waiting = -1;
	b.between.directions.v[3].left = 71;
	expect(&b, 0, "30 of 100: 30 at r:eth2's queue; nothing unexplained");
	bed_done(&b);
	bed_init(&b);
	b.between.directions.v[3].waiting = -1;
	b.flow.arrived = b.flow.delivered = 71;
	expect(&b, 0, "29 of 100: 30 at r:eth2's queue; nothing unexplained");
	bed_done(&b);
}

/* Without a loss with a cause the sentence begins with what is wrong. */
static void test_only_unexplained(void **state)
{
	autostr struct strbuf text = {0};
	struct bed b;

	(void)state;
	bed_init(&b);
	b.between.directions.v[3].n_lost = 0;
	b.between.directions.v[3].hole = -2;
	losses_of(&b.at, &b.between, &b.between.arena, &b.l);
	losses_describe(&b.l, &text);
	assert_int_equal(b.l.unexplained, 2);
	assert_string_equal(strbuf_text(&text),
			    "2 packets more left link b-r, b→a, than entered it");
	bed_done(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_closes),	 cmocka_unit_test(test_socket),
	    cmocka_unit_test(test_hole_between), cmocka_unit_test(test_hole_on_link),
	    cmocka_unit_test(test_others),	 cmocka_unit_test(test_nodes),
	    cmocka_unit_test(test_never_left),	 cmocka_unit_test(test_duplicates),
	    cmocka_unit_test(test_busy),	 cmocka_unit_test(test_only_unexplained),
	    cmocka_unit_test(test_earlier),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
