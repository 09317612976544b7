/* SPDX-License-Identifier: GPL-2.0-or-later */
/* adapter: what adapters may say, and that every mistake is named where it stands. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <glob.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/file.h"
#include "core/base/mem.h"
#include "core/tools/adapter.h"
#include "core/tools/command.h"

static struct adapter *parse(const char *text, struct problems *p)
{
	problems_init(p);
	return adapter_parse("t.yaml", text, strlen(text), p);
}

#define HEAD                                                                                       \
	"version: 1\n"                                                                             \
	"name: toy\n"                                                                              \
	"find: {program: toy}\n"                                                                   \
	"tests:\n"                                                                                 \
	"  udp_stream:\n"
#define CLIENT "    client: {argv: [toy, \"{server.address}\"]}\n"
#define READS  "    reads: [{metric: lost, from: client.stdout, match: 'lost (?<value>\\d+)'}]\n"
#define FAULT  "known_faults: [{id: a, kind: hidden-loss, versions: "

static void test_mistakes(void **state)
{
	static const struct {
		const char *text, *wanted;
	} cases[] = {
	    {"name: toy\n", "1:1: the adapter has no 'version'"},
	    {"version: 1\nname: my tool\n", "2:7: name: 'my tool' is no name"},
	    {"version: 2\n", "1:10: version: this program reads version 1, not '2'"},
	    {HEAD CLIENT, "test 'udp_stream' reads nothing"},
	    {HEAD READS, "test 'udp_stream' has no 'client'"},
	    {HEAD "    client: {argv: [toy, \"{server.adress}\"]}\n" READS,
	     "6:26: there is no placeholder '{server.adress}'; did you mean '{server.address}'?"},
	    {HEAD "    client: {argv: [toy, \"{port\"]}\n" READS,
	     "6:26: '{port': a brace is not closed"},
	    {HEAD "    client: {argv: [toy, {with: stream, args: [-P]}]}\n" READS,
	     "there is no placeholder 'stream'; did you mean 'streams'?"},
	    {HEAD "    client: {argv: [toy, {args: [-P]}]}\n" READS, "has 'with' or 'without'"},
	    {HEAD "    server: {argv: [toy, -s]}\n" CLIENT READS, "server: say when it is ready"},
	    {HEAD "    server: {argv: [toy, -s], ready: {listen: sctp}}\n" CLIENT READS,
	     "listen: 'sctp' is neither tcp nor udp"},
	    {HEAD CLIENT "    reads: [{metric: lost, from: client.stdout, match: 'lost (\\d+)'}]\n",
	     "7:56: 'lost (\\d+)' has no capture named 'value'"},
	    {HEAD CLIENT "    reads: [{metric: lost, from: client.stdout, match: 'lost ('}]\n",
	     "is no regular expression: missing closing parenthesis"},
	    {HEAD CLIENT "    reads: [{metric: goodput, from: client.stdout, match: '(?<value>.)', "
			 "unit: furlong}]\n",
	     "unknown unit 'furlong'"},
	    {HEAD CLIENT "    reads: [{metric: goodput, from: client.stdout, match: '(?<value>.)', "
			 "unit: ms}]\n",
	     "unit 'ms' is that of a time, this is a data rate"},
	    {HEAD CLIENT
	     "    reads: [{metric: goodput, from: client.stdout, match: '(?<value>.)'}]\n",
	     "goodput: say its unit"},
	    {HEAD CLIENT
	     "    reads: [{metric: lostt, from: client.stdout, match: '(?<value>.)'}]\n",
	     "7:22: 'lostt' is not a figure; did you mean 'lost'?"},
	    {HEAD CLIENT "    reads: [{metric: lost, from: client.json}]\n", "needs a 'path'"},
	    {HEAD CLIENT "    reads: [{metric: lost, from: client.stdout}]\n", "needs a 'match'"},
	    {HEAD CLIENT "    reads: [{metric: lost, from: client.json, path: 'a[*'}]\n",
	     "7:53: 'a[*' is no path"},
	    {HEAD CLIENT READS "    exit: {256: ok}\n", "exit: '256' is not"},
	    {HEAD CLIENT READS FAULT "3.1...4, reference: r}]\n", "'3.1...4' is none of all"},
	    {HEAD CLIENT READS FAULT ".., reference: r}]\n", "'..' is none of all"},
	    {HEAD CLIENT READS FAULT "new, reference: r}]\n", "'new' is none of all"},
	    {HEAD CLIENT READS FAULT "3.12..3.9, reference: r}]\n", "ends before it begins"},
	    {HEAD CLIENT READS "    ready: 1\n", "unknown key 'ready' in test"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		autostr struct strbuf all = {0};
		struct problems p;
		struct adapter *a = parse(cases[i].text, &p);

		problems_print(&p, &all);
		if (!strstr(strbuf_text(&all), cases[i].wanted))
			fail_msg("case %zu: wanted '%s', got:\n%s", i, cases[i].wanted,
				 strbuf_text(&all));
		adapter_free(a);
		problems_done(&p);
	}
}

static void test_words(void **state)
{
	struct problems p;
	struct adapter *a =
	    parse(HEAD "    client: {argv: [toy, -x, \"a{{b\", {with: streams, args: [-P, "
		       "\"{streams}\"]}, {without: rate.bps, args: [-b, \"0\"]}]}\n" READS,
		  &p);
	struct command_values v = {.streams = 4, .program = "/opt/toy"};
	struct command_line l;
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(problems_count(&p), 0);
	assert_int_equal(command_expand(&a->tests.v[0].client, &v, &l, &err), 0);
	assert_int_equal(l.argv.n, 7);
	assert_string_equal(l.argv.v[0], "/opt/toy"); /* what was found, by the tool's name */
	assert_string_equal(l.argv.v[2], "a{b");
	assert_string_equal(l.argv.v[4], "4");
	assert_string_equal(l.argv.v[6], "0");
	command_done(&l);
	v.streams = 1;
	v.rate_bps = 1000;
	assert_int_equal(command_expand(&a->tests.v[0].client, &v, &l, &err), 0);
	assert_int_equal(l.argv.n, 3);
	assert_null(l.argv.v[3]);
	command_done(&l);
	adapter_free(a);
	problems_done(&p);

	/* What was not asked for cannot be written. */
	a = parse(HEAD "    client: {argv: [toy, \"{rate.bps}\"]}\n" READS, &p);
	v.rate_bps = 0;
	assert_int_not_equal(command_expand(&a->tests.v[0].client, &v, &l, &err), 0);
	assert_non_null(strstr(err.text, "'{rate.bps}' was not asked for"));
	command_done(&l);
	adapter_free(a);
	problems_done(&p);
}

/* Tools read numbers in many ways; all read plain decimals. */
static void test_plain_numbers(void **state)
{
	static const struct {
		double rate_bps;
		const char *word;
	} cases[] = {
	    {1, "1"},
	    {40e9, "40000000000"},
	    {123456789012, "123456789012"},
	    {1000000, "1000000"},
	    {0.1, "0.1"},
	    {2e-5, "0.00002"},
	    {1.0 / 3, "0.333333333"},
	};
	struct problems p;
	struct adapter *a = parse(HEAD "    client: {argv: [toy, \"{rate.bps}\"]}\n" READS, &p);

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct command_values v = {.program = "/opt/toy", .rate_bps = cases[i].rate_bps};
		struct err err = ERR_INIT;
		struct command_line l;

		if (command_expand(&a->tests.v[0].client, &v, &l, &err))
			fail_msg("%s", err.text);
		assert_string_equal(l.argv.v[1], cases[i].word);
		command_done(&l);
	}
	adapter_free(a);
	problems_done(&p);
}

static void test_versions(void **state)
{
	struct problems p;
	struct adapter *a = parse(HEAD CLIENT READS
				  "known_faults:\n"
				  "  - {id: a, kind: hidden-loss, versions: ..3.13, reference: r}\n"
				  "  - {id: b, kind: hidden-loss, trials: [tail-loss, clean], "
				  "versions: 3.16.., reference: "
				  "r}\n",
				  &p);

	(void)state;
	assert_int_equal(problems_count(&p), 0);
	assert_true(adapter_version_compare("3.9", "3.12") < 0);
	assert_true(adapter_version_compare("3.12", "3.12.0") == 0);
	assert_true(adapter_version_compare("3.16.1", "3.16") > 0);
	assert_string_equal(adapter_known(a, "3.12", "hidden-loss", "clean")->id, "a");
	assert_string_equal(adapter_known(a, "3.17", "hidden-loss", "clean")->id, "b");
	assert_null(adapter_known(a, "3.17", "hidden-loss", "lean"));
	assert_null(adapter_known(a, "3.14", "hidden-loss", "clean"));
	assert_null(adapter_known(a, "3.12", "wrong-side", "clean"));
	adapter_free(a);
	problems_done(&p);
}

/* Those that come with vpclab have no mistakes. */
static void test_shipped(void **state)
{
	glob_t found;

	(void)state;
	assert_int_equal(glob("scenarios/tools/*.yaml", 0, NULL, &found), 0);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		autostr struct strbuf all = {0};
		autofree char *text = NULL;
		struct err err = ERR_INIT;
		struct problems p;
		size_t len;

		assert_int_equal(file_read(found.gl_pathv[i], &text, &len, &err), 0);
		problems_init(&p);
		adapter_free(adapter_parse(found.gl_pathv[i], text, len, &p));
		problems_print(&p, &all);
		if (problems_count(&p))
			fail_msg("%s", strbuf_text(&all));
		problems_done(&p);
	}
	assert_true(found.gl_pathc >= 9);
	globfree(&found);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_mistakes),	  cmocka_unit_test(test_words),
	    cmocka_unit_test(test_plain_numbers), cmocka_unit_test(test_versions),
	    cmocka_unit_test(test_shipped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
