/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A scenario's schedule: what is read, in which order, what it stands for, what is wrong with it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/harness/schedule.h"

static const char topology[] = "version: 1\n"
			       "nodes: {a: {addresses: [10.0.0.1/24]}, b: {addresses: "
			       "[10.0.0.2/24]}, c: {addresses: [10.0.1.1/24]}, d: {addresses: "
			       "[10.0.1.2/24]}}\n"
			       "links:\n"
			       "  - {endpoints: [\"a:e\", \"b:e\"], rate: 10mbit, delay: 0s}\n"
			       "  - {endpoints: [\"c:e\", \"d:e\"]}\n";

/* A scenario whose schedule, and that of its measurement `own`, are these lines. */
static struct scenario *parse(const char *schedule, const char *own, struct problems *p)
{
	autofree char *text =
	    mem_printf("version: 1\ntopology: t.yaml\npaths: {p: {from: a, to: b}}\nmeasure:\n"
		       "  long: {test: udp_stream, duration: 5s}\n"
		       "  own: {test: udp_stream, duration: 2s%s}\n"
		       "schedule:\n%s",
		       own, schedule);

	problems_init(p);
	return scenario_parse("t.scenario.yaml", text, strlen(text), p);
}

/* A line a change. */
static void write_schedule(const struct scenario_schedule *s, struct strbuf *out)
{
	VEC_FOREACH (c, &s->changes) {
		strbuf_addf(out, "%lld %s ", (long long)(c->at_ns / 1000000), c->link);
		schedule_text(c, out);
		strbuf_addc(out, '\n');
	}
}

static void test_read(void **state)
{
	struct strbuf out = {0};
	struct problems p;

	(void)state;
	struct scenario *s =
	    parse("  - {at: 4s, link: a-b, ab: {delay: 5ms, loss: {every: 3}}, rate: }\n"
		  "  - {at: 1s, link: client vNIC, pps: 1kpps}\n"
		  "  - {at: 4s, link: a, rate: {base: 1gbit, burst: \"2gbit\"}, ba.rate: 5mbit}\n",
		  ", schedule: [{at: 500ms, link: a, queue: 1ms}]", &p);
	problems_print(&p, &out);
	assert_string_equal(strbuf_text(&out), "");
	write_schedule(&s->schedule, &out);
	assert_string_equal(strbuf_text(&out),
			    "1000 client vNIC pps=1kpps\n"
			    "4000 a-b ab.delay=5ms ab.loss={every: 3} rate=\n"
			    "4000 a rate={base: 1gbit, burst: \"2gbit\"} ba.rate=5mbit\n");
	assert_ptr_equal(scenario_schedule_of(s, &s->measures.v[0]), &s->schedule);
	assert_ptr_equal(scenario_schedule_of(s, &s->measures.v[1]), &s->measures.v[1].schedule);
	s->measures.v[0].unshaped = true;
	assert_int_equal(scenario_schedule_of(s, &s->measures.v[0])->changes.n, 0);
	scenario_free(s);
	problems_done(&p);
	strbuf_done(&out);
}

/* An empty list is a schedule: none. */
static void test_none(void **state)
{
	struct problems p;

	(void)state;
	struct scenario *s = parse("  - {at: 1s, link: a, rate: 1mbit}\n", ", schedule: []", &p);
	assert_int_equal(problems_count(&p), 0);
	assert_int_equal(scenario_schedule_of(s, &s->measures.v[1])->changes.n, 0);
	assert_int_equal(scenario_schedule_of(s, &s->measures.v[0])->changes.n, 1);
	scenario_free(s);
	problems_done(&p);
}

static void expect_problems(const char *schedule, const char *own, const char *wanted)
{
	const struct compile_options o = {.machine = MACHINE_DEFAULT};
	const struct topology_source src = {.main = {"t.yaml", topology, strlen(topology)}};
	struct strbuf out = {0};
	struct problems p;
	struct wire w;

	struct scenario *s = parse(schedule, own, &p);
	struct topology *t = topology_parse(&src, &p);
	if (!problems_count(&p)) {
		topology_compile(t, &o, &w, &p);
		schedule_check(s, &src, &o, &w, &p);
		wire_done(&w);
	}
	problems_print(&p, &out);
	assert_string_equal(strbuf_text(&out), wanted);
	topology_free(t);
	scenario_free(s);
	problems_done(&p);
	strbuf_done(&out);
}

#define FINE "  - {at: 1s, link: a-b, rate: 1mbit}\n"

static void test_check(void **state)
{
	(void)state;
	expect_problems(FINE, "", "");
	/* each after those before it: without a rate there is no queue */
	expect_problems("  - {at: 1s, link: a, rate: }\n  - {at: 2s, link: a, queue: 100ms}\n", "",
			"t.scenario.yaml:9:5: a queue needs a rate\n1 problem\n");
	expect_problems("  - {at: 1s, link: a, rate: }\n"
			"  - {at: 2s, link: a, queue: 100ms, rate: 1mbit}\n",
			"", "");
	expect_problems("  - {at: 1s, link: a-d, rate: 1mbit}\n", "",
			"t.scenario.yaml:8:20: there is no link 'a-d' in 't'; did you mean "
			"'a-b'?\n1 problem\n");
	expect_problems("  - {at: 1s, link: a, rte: 1mbit}\n", "",
			"t.scenario.yaml:8:5: unknown key 'rte' in link; did you mean 'rate'?\n"
			"1 problem\n");
	expect_problems("  - {at: 1s, link: c, rate: 1mbit}\n", "",
			"t.scenario.yaml:8:5: link 'c-d' has no middle where packets could be "
			"limited; declare a rate or `delay: 0s` for it in the topology, so that it "
			"can be changed later\n1 problem\n");
}

static void test_times(void **state)
{
	(void)state;
	/* after the end of one measurement, not of all that have it */
	expect_problems("  - {at: 3s, link: a, rate: 1mbit}\n", "", "");
	expect_problems("  - {at: 5s, link: a, rate: 1mbit}\n", "",
			"t.scenario.yaml:8:5: at: 5 s is after the measuring window, which is 5 s\n"
			"1 problem\n");
	expect_problems(FINE, ", schedule: [{at: 2s, link: a, rate: 1mbit}]",
			"t.scenario.yaml:6:52: at: 2 s is after the measuring window, which is 2 "
			"s\n1 problem\n");
	expect_problems(FINE, ", unshaped: true, schedule: [{at: 1s, link: a, rate: 1mbit}]",
			"t.scenario.yaml:6:68: an unshaped measurement has nothing that could "
			"change\n1 problem\n");
}

static void test_bad(void **state)
{
	(void)state;
	expect_problems(
	    "  - {link: a, rate: 1mbit}\n  - {at: 1s, rate: 1mbit}\n  - {at: 1s, link: a}\n"
	    "  - {at: soon, link: a, rate: 1mbit}\n  - now\n",
	    "",
	    "t.scenario.yaml:8:5: a change has no 'at': how long after the measuring "
	    "window has begun, like 2s\n"
	    "t.scenario.yaml:9:5: a change has no 'link': the name of one of the "
	    "topology\n"
	    "t.scenario.yaml:10:5: a change says nothing to change, like rate: 5mbit\n"
	    "t.scenario.yaml:11:10: at: 'soon' is not a time; write it like 20ms (ns, "
	    "us, ms, s, min, h)\n"
	    "t.scenario.yaml:12:5: 'a change' must be a map, this is a text\n"
	    "5 problems\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_read),  cmocka_unit_test(test_none), cmocka_unit_test(test_check),
	    cmocka_unit_test(test_times), cmocka_unit_test(test_bad),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
