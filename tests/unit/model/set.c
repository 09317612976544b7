/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Overrides of a topology, and what "key=value" on a link means as overrides. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "emulator/model/link_set.h"
#include "emulator/model/parse.h"

static const char topology[] = "links:\n"
			       "  - endpoints: [\"a:eth1\", \"r:eth1\"]\n"
			       "    rate: 100mbit\n"
			       "    queue: 20ms\n"
			       "    ab: {rate: 5mbit, delay: 10ms}\n"
			       "    ba: {loss: {every: 3}}\n"
			       "vms:\n"
			       "  web.1:\n"
			       "    vnic: {rate: {base: 1gbit}}\n";

/* The document as flow text, keys as they stand. */
static void write_node(const struct yaml_node *n, struct strbuf *out)
{
	switch (n->kind) {
	case YAML_NULL:
		strbuf_add(out, "~");
		break;
	case YAML_SCALAR:
		strbuf_addf(out, n->quoted ? "\"%s\"" : "%s", n->text);
		break;
	case YAML_SEQ:
		strbuf_addc(out, '[');
		VEC_FOREACH (item, &n->items) {
			if (item != n->items.v)
				strbuf_addc(out, ' ');
			write_node(*item, out);
		}
		strbuf_addc(out, ']');
		break;
	case YAML_MAP:
		strbuf_addc(out, '{');
		VEC_FOREACH (pair, &n->pairs) {
			strbuf_addf(out, "%s%s:", pair == n->pairs.v ? "" : " ", pair->key);
			write_node(pair->value, out);
		}
		strbuf_addc(out, '}');
		break;
	}
}

/* The document after `set`, from the place of `text` that begins with `head`. */
static void expect_set(const char *text, const char *set, const char *wanted)
{
	struct strbuf out = {0};
	struct problems p;
	struct yaml y;

	problems_init(&p);
	assert_int_equal(yaml_parse(&y, "t.yaml", text, strlen(text), &p), 0);
	topology_set(&y, set, &p);
	problems_print(&p, &out);
	assert_string_equal(strbuf_text(&out), "");
	write_node(y.root, &out);
	assert_string_equal(strbuf_text(&out), wanted);
	strbuf_done(&out);
	yaml_done(&y);
	problems_done(&p);
}

static void test_values(void **state)
{
	(void)state;
	/* a map over a text, a text over a map, a list */
	expect_set("{l: [{rate: 1gbit}]}", "l.0.rate={base: 1gbit, burst: 2gbit}",
		   "{l:[{rate:{base:1gbit burst:2gbit}}]}");
	expect_set("{l: {rate: {base: 1gbit}, mtu: 9000}}", "l.rate=20mbit",
		   "{l:{rate:20mbit mtu:9000}}");
	expect_set("{l: 1}", "l=[a, {b: c}, \"d: e\"]", "{l:[a {b:c} \"d: e\"]}");
	expect_set("{l: {loss: {every: 3}}}", "l.loss.every=7", "{l:{loss:{every:7}}}");
	/* maps on the way */
	expect_set("{l: {}}", "l.ab.loss={every: 100}", "{l:{ab:{loss:{every:100}}}}");
	expect_set("{}", "a.b=x=y", "{a:{b:x=y}}");
	/* names with dots: the longest counts */
	expect_set("{v: {web.1: {}, web: {1: {}}}}", "v.web.1.rate=1",
		   "{v:{web.1:{rate:1} web:{1:{}}}}");
}

static void test_take_away(void **state)
{
	(void)state;
	expect_set("{a: {x: 1, y: 2, z: 3}}", "a.y=", "{a:{x:1 z:3}}");
	expect_set("{a: {x: {y: 2}}}", "a.x=", "{a:{}}");
	expect_set("{l: [{x: 1}, {x: 2, y: 3}]}", "l.1.x=", "{l:[{x:1} {y:3}]}");
	/* what is not there */
	expect_set("{a: {x: 1}}", "a.y=", "{a:{x:1}}");
	expect_set("{a: {x: 1}}", "b.y=", "{a:{x:1}}");
	expect_set("{a: {x: 1}}", "a.x.y=", "{a:{x:1}}");
}

static void expect_problem(const char *set, const char *wanted)
{
	struct strbuf out = {0};
	struct problems p;
	struct yaml y;

	problems_init(&p);
	yaml_parse(&y, "t.yaml", topology, strlen(topology), &p);
	topology_set(&y, set, &p);
	problems_print(&p, &out);
	assert_string_equal(strbuf_text(&out), wanted);
	strbuf_done(&out);
	yaml_done(&y);
	problems_done(&p);
}

static void test_problems(void **state)
{
	(void)state;
	expect_problem("links.0.rate={base: 1gbit",
		       "--set links.0.rate={base: 1gbit: a ',' or '}' is missing before this\n"
		       "1 problem\n");
	expect_problem("links.0.rate.base=1",
		       "--set links.0.rate.base=1: nothing can be set below the text '100mbit'\n"
		       "1 problem\n");
	expect_problem("links.7=", "--set links.7=: '7' is no place in a list of 1 (the first is "
				   "0)\n1 problem\n");
	expect_problem("links.0=", "--set links.0=: an item of a list cannot be taken away\n"
				   "1 problem\n");
}

/* "key=value" on a link, as one override a line; or the error. */
static void expect_sets(const char *path, const char *change, const char *earlier,
			const char *wanted)
{
	const struct topology_source src = {
	    .main = {"t.yaml", topology, strlen(topology)},
	    .sets = &earlier,
	    .n_sets = earlier ? 1 : 0,
	};
	struct link_sets sets = {0};
	struct strbuf out = {0};
	struct err err = ERR_INIT;

	if (link_sets_add(&src, path, change, &sets, &err)) {
		assert_int_equal(err.kind, ERR_INPUT);
		strbuf_add(&out, err.text);
	}
	VEC_FOREACH (s, &sets.v)
		strbuf_addf(&out, "%s\n", *s);
	assert_string_equal(strbuf_text(&out), wanted);
	strbuf_done(&out);
	link_sets_done(&sets);
}

static void test_link_sets(void **state)
{
	(void)state;
	expect_sets("links.0", "queue=50ms", NULL, "links.0.queue=50ms\n");
	/* both directions: what one has for itself goes */
	expect_sets("links.0", "rate=20mbit", NULL, "links.0.ab.rate=\nlinks.0.rate=20mbit\n");
	expect_sets("links.0", "loss.every=9", NULL, "links.0.ba.loss=\nlinks.0.loss.every=9\n");
	expect_sets("links.0", "rate=20mbit", "links.0.ba.rate=1mbit",
		    "links.0.ab.rate=\nlinks.0.ba.rate=\nlinks.0.rate=20mbit\n");
	expect_sets("links.0", "rate=20mbit", "links.0.ab.rate=", "links.0.rate=20mbit\n");
	/* one direction */
	expect_sets("links.0", "ab.rate={base: 1mbit}", NULL, "links.0.ab.rate={base: 1mbit}\n");
	/* away */
	expect_sets("links.0", "queue=none", NULL, "links.0.queue=\n");
	expect_sets("links.0", "ab.delay=", NULL, "links.0.ab.delay=\n");
	/* … from one direction, of what both have: the other one keeps it */
	expect_sets("links.0", "ab.queue=none", NULL,
		    "links.0.ba.queue=20ms\nlinks.0.queue=\nlinks.0.ab.queue=\n");
	expect_sets("links.0", "ab.loss=none", "links.0.loss={random: 1%, \"a: b\": [c, \"1\"]}",
		    "links.0.loss=\nlinks.0.ab.loss=\n");
	expect_sets("links.0", "ba.jitter=none",
		    "links.0.jitter={normal: 1ms, \"a: b\": [c, \"1\"]}",
		    "links.0.ab.jitter={normal: 1ms, \"a: b\": [c, \"1\"]}\nlinks.0.jitter=\n"
		    "links.0.ba.jitter=\n");
	expect_sets("links.0", "ba.rate=none", NULL, "links.0.rate=\nlinks.0.ba.rate=\n");
	expect_sets("links.0", "delay=none", NULL, "links.0.ab.delay=\nlinks.0.delay=\n");
	/* cards have no directions of their own */
	expect_sets("vms.web.1.vnic", "rate.burst=2gbit", NULL,
		    "vms.web.1.vnic.rate.burst=2gbit\n");
	expect_sets("hosts.h1.nic", "rate=none", NULL, "hosts.h1.nic.rate=\n");
	/* … nor impairments: those are the fabric's */
	expect_sets("hosts.h1.nic", "delay=5ms", NULL, "fabric.delay=5ms\n");
	expect_sets("hosts.h1.nic", "loss.every=none", NULL, "fabric.loss.every=\n");
}

static void test_link_sets_bad(void **state)
{
	(void)state;
	expect_sets("links.0", "rate", NULL,
		    "'rate' is no change; write key=value, like rate=20mbit");
	expect_sets("links.0", "=5", NULL, "'=5' is no change; write key=value, like rate=20mbit");
	expect_sets("links.0", "quue=", NULL,
		    "quue=: unknown key 'quue' in link; did you mean 'queue'?");
	expect_sets("links.0", "ab.quue=none", NULL,
		    "ab.quue=: unknown key 'quue' in direction; did you mean 'queue'?");
	expect_sets("vms.web.1.vnic", "modee=", NULL,
		    "modee=: unknown key 'modee' in vnic; did you mean 'mode'?");
}

/* ---- names of links ---- */

static int add_dev(struct wire *w, int node, const char *name)
{
	struct wire_dev *d = VEC_ADD(&w->arena, &w->devs);

	d->node = node;
	d->name = name;
	return (int)w->devs.n - 1;
}

static void add_link(struct wire *w, const char *name, int a, int b)
{
	*VEC_ADD(&w->arena, &w->links) =
	    (struct wire_link){.name = name, .dev_a = a, .dev_b = b, .path = "links.0"};
}

static void expect_link(const struct wire *w, const char *name, int wanted, const char *error)
{
	struct err err = ERR_INIT;
	int got = link_find(w, name, &err);

	assert_string_equal(err.text, error);
	if (wanted >= 0)
		assert_int_equal(got, wanted);
	else
		assert_true(got < 0 && err.kind == ERR_INPUT);
}

static void test_link_find(void **state)
{
	struct wire w;

	(void)state;
	wire_init(&w);
	w.name = "lab";
	VEC_ADD(&w.arena, &w.nodes)->name = "client";
	VEC_ADD(&w.arena, &w.nodes)->name = "h1";
	VEC_ADD(&w.arena, &w.nodes)->name = "fabric";
	add_link(&w, "client vNIC", add_dev(&w, 0, "eth0"), add_dev(&w, 1, "client_o"));
	add_link(&w, "h1 uplink", add_dev(&w, 1, "uplink"), add_dev(&w, 2, "h1"));
	expect_link(&w, "h1 uplink", 1, "");
	expect_link(&w, "client", 0, "");
	expect_link(&w, "fabric", 1, "");
	expect_link(&w, "client:eth0", 0, "");
	expect_link(&w, "h1:uplink", 1, "");
	expect_link(&w, "h1", -1, "'h1' has 2 links; say which: 'client vNIC', 'h1 uplink'");
	expect_link(&w, "client vnic", -1,
		    "there is no link 'client vnic' in 'lab'; did you mean 'client vNIC'?");
	expect_link(&w, "x", -1,
		    "there is no link 'x' in 'lab'; there are 'client vNIC', 'h1 uplink'");
	wire_done(&w);
}

/* Several changes of one link: each sees those before it. */
static void test_change(void **state)
{
	static const char *const changes[] = {"ba.queue=1ms", "queue=2ms"};
	const struct topology_source src = {.main = {"t.yaml", topology, strlen(topology)}};
	const struct link_change c = {"l", changes, 2}, unknown = {"x", changes, 2};
	struct link_sets sets = {0};
	struct err err = ERR_INIT;
	struct wire w;

	(void)state;
	wire_init(&w);
	w.name = "lab";
	VEC_ADD(&w.arena, &w.nodes)->name = "a";
	add_link(&w, "l", add_dev(&w, 0, "eth0"), add_dev(&w, 0, "eth1"));
	assert_int_equal(link_sets_change(&src, &w, &c, &sets, &err), 0);
	assert_int_equal(sets.v.n, 3);
	assert_string_equal(sets.v.v[0], "links.0.ba.queue=1ms");
	assert_string_equal(sets.v.v[1], "links.0.ba.queue=");
	assert_string_equal(sets.v.v[2], "links.0.queue=2ms");
	assert_true(link_sets_change(&src, &w, &unknown, &sets, &err) < 0);
	assert_int_equal(err.kind, ERR_INPUT);
	link_sets_done(&sets);
	wire_done(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_values),	  cmocka_unit_test(test_take_away),
	    cmocka_unit_test(test_problems),	  cmocka_unit_test(test_link_sets),
	    cmocka_unit_test(test_link_sets_bad), cmocka_unit_test(test_link_find),
	    cmocka_unit_test(test_change),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
