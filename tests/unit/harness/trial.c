// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests of core/harness/trial and tolerance: a trial is read whole, and what is wrong with one is
 * told with its place and, where a word is meant, which. All that come along are read without a
 * word. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>
#include <string.h>

#include "core/base/file.h"
#include "core/base/mem.h"
#include "core/base/str.h"
#include "core/harness/tolerance.h"
#include "core/harness/trial.h"

static const char good[] =
    "version: 1\n"
    "name: t\n"
    "link: {rate: 20mbit, queue: 50ms}\n"
    "via: router\n"
    "ask:\n"
    "  - {test: udp_stream, rate: 5mbit, size: 1000, duration: 3s}\n"
    "  - {test: ping, size: 56, rate: 10pps, duration: 3s}\n"
    "events: [{at: 1s, cut: true, for: 2s}, {at: 500ms, kill: server}, {at: 1500ms, link: r-b, "
    "rate: 5mbit, ab: {delay: 1ms}}, {at: 2s, node: r, cut: true}]\n"
    "before:\n"
    "  - {node: n, run: [nft, -f, rules]}\n"
    "truth: {loss: counted, goodput: predicted, latency_p99: 450ms, "
    "latency_p999: none}\n"
    "tolerance: {loss: 0.1%, latency_p99: 2% or 1ms}\n"
    "exit: success\n"
    "ends_within: 20s\n";

static struct trial *read_text(const char *text, char **problems)
{
	autostr struct strbuf all = {0};
	struct problems p;

	problems_init(&p);
	struct trial *t = trial_parse("t.yaml", text, strlen(text), &p);
	problems_print(&p, &all);
	problems_done(&p);
	*problems = mem_strdup(strbuf_text(&all));
	return t;
}

static void test_whole(void **state)
{
	autofree char *problems = NULL;
	struct trial *t = read_text(good, &problems);

	(void)state;
	assert_string_equal(problems, "");
	assert_string_equal(t->from, "client");
	assert_non_null(strstr(t->topology, "rate: 20mbit"));
	assert_int_equal(t->asks.n, 2);
	assert_int_equal(t->asks.v[0].spec.rate_bps, 5000000);
	assert_string_equal(t->asks.v[1].test, "ping");
	assert_int_equal(t->events.n, 4);
	assert_int_equal(t->events.v[0].kind, EVENT_CUT);
	assert_int_equal(t->events.v[0].for_ns, 2000000000);
	assert_int_equal(t->events.v[1].kind, EVENT_KILL_SERVER);
	assert_null(t->events.v[0].change.link);
	assert_int_equal(t->events.v[2].kind, EVENT_CHANGE);
	assert_string_equal(t->events.v[2].change.link, "r-b");
	assert_string_equal(t->events.v[2].change.changes.v[0], "rate=5mbit");
	assert_string_equal(t->events.v[2].change.changes.v[1], "ab.delay=1ms");
	assert_string_equal(t->events.v[3].node, "r");
	assert_int_equal(t->before.v[0].argv.n, 3);
	assert_int_equal(t->questions.n, 4);
	assert_int_equal(t->questions.v[0].source, TRUTH_COUNTED);
	assert_float_equal(t->questions.v[0].tolerance_abs, 0.001, 1e-12);
	assert_int_equal(t->questions.v[1].source, TRUTH_PREDICTED);
	assert_float_equal(t->questions.v[1].tolerance_share, 0.02, 1e-12); /* the usual one */
	assert_float_equal(t->questions.v[2].value, 0.45, 1e-12);
	assert_float_equal(t->questions.v[2].tolerance_share, 0.02, 1e-12);
	assert_float_equal(t->questions.v[2].tolerance_abs, 0.001, 1e-12);
	assert_int_equal(t->questions.v[3].source, TRUTH_NONE);
	assert_int_equal(t->exit, WANT_SUCCESS);
	assert_int_equal(t->ends_within_ns, 20000000000);
	trial_free(t);
}

/* One part of the good one replaced by another. */
static const struct {
	const char *part, *by, *says;
} broken[] = {
    {"version: 1", "version: 2", "t.yaml:1:1: version: this program reads version 1"},
    {"name: t\n", "", "has no 'name'"},
    {"name: t\n", "name: \"t\\n# x\"\n", "t.yaml:2:7: name: 't # x' is no name"},
    {"via: router", "vai: router", "did you mean 'via'?"},
    {"link: {rate: 20mbit, queue: 50ms}\nvia: router\n", "topology: eip\nfrom: a\nto: b\n",
     "which 'link'?"},
    {"via: router", "via: switch", "t.yaml:4:6: via: 'switch' is not router"},
    {"link: {rate: 20mbit, queue: 50ms}\n", "", "either 'link' or 'topology'"},
    {"rate: 20mbit", "rat: 20mbit", "did you mean 'rate'?"},
    {"rate: 20mbit", "rat: 20mbit", "t.yaml:3:8: link, rat: "},
    {"queue: 50ms", "queue: {deep: 1}", "t.yaml:3:22: link, queue: "},
    {"rate: 5mbit", "rat: 5mbit", "t.yaml:6:"},
    {"rate: 5mbit", "rate: 5mbt, siez: 9", "t.yaml:6:24: ask: rate_bps: '5mbt'"},
    {"rate: 5mbit", "rate: 5mbt, siez: 9", "did you mean 'size'?"},
    {"loss: counted", "loss: conted", "did you mean 'counted'?"},
    {"test: udp_stream, ", "", "which 'test'?"},
    {"loss: counted", "los: counted", "did you mean 'loss'?"},
    {"loss: counted", "loss: lots", "one of counted, predicted, none"},
    {"loss: 0.1%", "goodput: fast", "tolerance: "},
    {"loss: 0.1%", "reordered: 5", "tolerance of 'reordered', of which no truth is told"},
    {"at: 1s, ", "", "an event has no 'at'"},
    {"cut: true, ", "kill: server, cut: true, ", "an event is one of"},
    {"500ms, kill: server", "500ms, kill: server, for: 1s", "only a cut lasts"},
    {"node: r, cut: true", "node: r, rate: 1mbit", "only a cut takes one"},
    {"node: r, cut: true", "node: r, link: a-b, cut: true", "only a cut takes one"},
    {"cut: true, ", "", "an event is one of cut, freeze, kill, or changes a link"},
    {"kill: server", "kill: client", "'client' is not server"},
    {"node: n, ", "", "a 'node' and what to 'run'"},
    {"via: router", "via: router\nfamily: link-local", "link-local is for a 'link' without 'via'"},
    {"via: router", "family: ipx", "none of ipv4, ipv6, link-local"},
    {"exit: success", "exit: well", "t.yaml:13:7: exit: 'well' is neither success nor failure"},
    {"ends_within: 20s", "ends_within: 20", "ends_within: "},
};

static void test_broken(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(broken); i++) {
		const char *at = strstr(good, broken[i].part);
		autofree char *problems = NULL;

		assert_non_null(at);
		autofree char *text = mem_printf("%.*s%s%s", (int)(at - good), good, broken[i].by,
						 at + strlen(broken[i].part));
		trial_free(read_text(text, &problems));
		if (!strstr(problems, broken[i].says))
			fail_msg("%s: '%s' instead of '%s'", broken[i].by, problems,
				 broken[i].says);
	}
}

static void test_asks_for_nothing(void **state)
{
	autofree char *problems = NULL;

	(void)state;
	trial_free(read_text("version: 1\nname: t\nlink: {mtu: 1500}\nask: {test: udp_stream, "
			     "duration: 1s}\n",
			     &problems));
	assert_non_null(strstr(problems, "asks for nothing"));
}

static void test_shipped(void **state)
{
	DIR *d = opendir("scenarios/trials");
	struct dirent *e;
	int n = 0;

	(void)state;
	assert_non_null(d);
	while ((e = readdir(d))) {
		autofree char *path = mem_printf("scenarios/trials/%s", e->d_name), *text = NULL;
		autofree char *problems = NULL;
		struct err err = ERR_INIT;
		size_t len;

		if (!str_ends(e->d_name, ".yaml"))
			continue;
		assert_int_equal(file_read(path, &text, &len, &err), 0);
		struct trial *t = read_text(text, &problems);
		autofree char *file = mem_printf("%s.yaml", t->name ? t->name : "?");

		if (*problems || strcmp(file, e->d_name) != 0 || !t->title)
			fail_msg("%s: %s", e->d_name, *problems ? problems : "name or title");
		trial_free(t);
		n++;
	}
	closedir(d);
	assert_true(n >= 26);
}

static void test_tolerance(void **state)
{
	static const struct {
		const char *text;
		enum figure f;
		double share, abs;
	} rows[] = {
	    {"1%", FIGURE_GOODPUT, 0.01, 0},
	    {"1mbit", FIGURE_GOODPUT, 0, 1e6},
	    {"2% or 1ms", FIGURE_LATENCY_P50, 0.02, 1e-3},
	    {"1ms or 2%", FIGURE_LATENCY_P50, 0.02, 1e-3},
	    {"0.1%", FIGURE_LOSS, 0, 0.001}, /* a share itself: absolute */
	    {"0", FIGURE_LOSS, 0, 0},
	    {"5", FIGURE_REORDERED, 0, 5},
	    {"10% or 5", FIGURE_REORDERED, 0.1, 5},
	};
	struct err err = ERR_INIT;
	double share, abs;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_int_equal(tolerance_parse(rows[i].text, rows[i].f, &share, &abs, &err), 0);
		if (share != rows[i].share || abs != rows[i].abs)
			fail_msg("%s of %s: %g, %g", rows[i].text, figure_name(rows[i].f), share,
				 abs);
	}
	assert_true(tolerance_parse("much", FIGURE_LOSS, &share, &abs, &err) < 0);
	assert_true(tolerance_parse("1mbit", FIGURE_LATENCY_P50, &share, &abs, &err) < 0);
	assert_true(tolerance_parse("1 or", FIGURE_LOST, &share, &abs, &err) < 0);
	assert_true(tolerance_parse("nan", FIGURE_LOST, &share, &abs, &err) < 0);
}

/* What the topology's parser says of the link is the trial's fault, told when it is read. */
static void test_link(void **state)
{
	autofree char *wrong = NULL, *small = NULL, *usual = NULL;
	struct trial *t = read_text("version: 1\nname: t\nlink: {reorder: 5%}\n"
				    "ask: {test: ping, duration: 1s}\nexit: success\n",
				    &wrong);

	(void)state;
	assert_non_null(strstr(wrong, "reordering"));
	trial_free(t);
	t = read_text("version: 1\nname: t\nlink: {mtu: 576}\nvia: router\n"
		      "ask: {test: ping, duration: 1s}\nexit: success\n",
		      &small);
	assert_string_equal(small, "");
	assert_null(strstr(t->topology, "fd08::"));
	assert_non_null(strstr(t->topology, "default via 10.8.0.254]"));
	trial_free(t);
	t = read_text("version: 1\nname: t\nlink: {mtu: 1280}\nvia: router\n"
		      "ask: {test: udp_stream, duration: 1s, warmup: 2s}\nexit: success\n",
		      &usual);
	assert_string_equal(usual, "");
	assert_non_null(strstr(t->topology, "fd09::1/64"));
	assert_true(t->asks.v[0].warmup);
	trial_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_whole),     cmocka_unit_test(test_broken),
	    cmocka_unit_test(test_shipped),   cmocka_unit_test(test_asks_for_nothing),
	    cmocka_unit_test(test_tolerance), cmocka_unit_test(test_link),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
