// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests of core/cli/options: every form in which an option can be typed, and every mistake. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "core/cli/options.h"

struct fields {
	bool flag, other;
	const char *word, *text;
	struct option_list list;
	int64_t number, rate, time;
};

static const char *const words[] = {"text", "json", NULL};
static const struct option_def defs[] = {
    {"flag", 'f', OPT_FLAG, NULL, "a flag", OPT_AT(struct fields, flag), NULL, 0, 0},
    {"other", 'o', OPT_FLAG, NULL, "another", OPT_AT(struct fields, other), NULL, 0, 0},
    {"format", 'F', OPT_STRING, "FORMAT", "a word", OPT_AT(struct fields, word), words, 0, 0},
    {"text", 't', OPT_STRING, "TEXT", "a text", OPT_AT(struct fields, text), NULL, 0, 0},
    {"set", 's', OPT_LIST, "P=V", "a list", OPT_AT(struct fields, list), NULL, 0, 0},
    {"number", 'n', OPT_INT, "N", "a number", OPT_AT(struct fields, number), NULL, 1, 9},
    {"rate", 0, OPT_RATE, "RATE", "a rate", OPT_AT(struct fields, rate), NULL, 0, 0},
    {"time", 0, OPT_TIME, "TIME", "a time", OPT_AT(struct fields, time), NULL, 0, 0},
};
static const struct fields defaults = {.word = "text", .number = 5};

static const struct command plain = {
    .name = "try",
    .summary = "try options",
    .operands = "FILE…",
    .max_operands = -1,
    .options = defs,
    .n_options = ARRAY_SIZE(defs),
    .options_size = sizeof(struct fields),
    .defaults = &defaults,
};
static const struct command running = {
    .name = "go",
    .summary = "go somewhere",
    .operands = "NODE -- CMD…",
    .min_operands = 1,
    .max_operands = 1,
    .takes_rest = true,
};

#define PARSE(command, parsed, err, ...)                                                           \
	options_parse(command, ARRAY_SIZE(((char *[]){"try", __VA_ARGS__})),                       \
		      (char *[]){"try", __VA_ARGS__, NULL}, parsed, err)

static void test_forms(void **state)
{
	static const char *const forms[][3] = {{"--text", "x", NULL},
					       {"--text=x", NULL, NULL},
					       {"-t", "x", NULL},
					       {"-tx", NULL, NULL}};
	(void)state;

	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		struct err err = ERR_INIT;
		struct parsed p;
		char *argv[] = {"try", (char *)forms[i][0], (char *)forms[i][1], NULL};

		assert_int_equal(options_parse(&plain, 2, argv, &p, &err), 0);
		const struct fields *f = p.call.options;
		assert_string_equal(f->text, "x");
		assert_int_equal(p.call.argc, 0);
		parsed_done(&p);
	}
}

static void test_mixed(void **state)
{
	struct err err = ERR_INIT;
	struct parsed p;
	(void)state;

	assert_int_equal(PARSE(&plain, &p, &err, "a", "-fo", "b", "--set", "x=1", "-sy=2", "--rate",
			       "100mbit", "--time=2s", "--", "--flag", "-"),
			 0);
	const struct fields *f = p.call.options;
	assert_true(f->flag && f->other);
	assert_string_equal(f->word, "text");
	assert_int_equal(f->number, 5);
	assert_int_equal(f->rate, 100000000);
	assert_int_equal(f->time, INT64_C(2000000000));
	assert_int_equal(f->list.n, 2);
	assert_string_equal(f->list.v[0], "x=1");
	assert_string_equal(f->list.v[1], "y=2");
	assert_int_equal(p.call.argc, 4);
	assert_string_equal(p.call.argv[2], "--flag");
	assert_string_equal(p.call.argv[3], "-");
	assert_null(p.call.argv[4]);
	assert_null(p.call.rest);
	parsed_done(&p);
}

static void test_rest(void **state)
{
	struct err err = ERR_INIT;
	struct parsed p;
	(void)state;

	assert_int_equal(PARSE(&running, &p, &err, "vm", "--", "ping", "-c", "1", "--help"), 0);
	assert_int_equal(p.call.argc, 1);
	assert_string_equal(p.call.rest[0], "ping");
	assert_string_equal(p.call.rest[3], "--help");
	assert_null(p.call.rest[4]);
	assert_false(p.help);
	parsed_done(&p);
}

static void test_help(void **state)
{
	struct err err = ERR_INIT;
	struct parsed p;
	(void)state;

	assert_int_equal(PARSE(&running, &p, &err, "--help"), 0);
	assert_true(p.help);
	parsed_done(&p);
	assert_int_equal(PARSE(&plain, &p, &err, "-fh"), 0);
	assert_true(p.help);
	parsed_done(&p);
}

/* The text must name what was typed and what would be right. */
static void test_mistakes(void **state)
{
	static const struct {
		const struct command *command;
		char *arg, *value;
		const char *text;
	} cases[] = {
	    {&plain, "--fromat=text", NULL, "unknown option '--fromat'; did you mean '--format'?"},
	    {&plain, "--time=1.5", NULL, "--time: '1.5' has no unit; write 1.5s"},
	    {&plain, "--hlep", NULL, "unknown option '--hlep'; did you mean '--help'?"},
	    {&plain, "--zzzzzz", NULL, "unknown option '--zzzzzz'; see vpclab try --help"},
	    {&plain, "-z", NULL, "unknown option '-z'; see vpclab try --help"},
	    {&plain, "-fz", NULL, "unknown option '-z'; see vpclab try --help"},
	    {&plain, "--flag=1", NULL, "option '--flag' takes no value"},
	    {&plain, "--text", NULL, "option '--text' needs TEXT"},
	    {&plain, "-t", NULL, "option '-t' needs TEXT"},
	    {&plain, "--format", "jsn",
	     "--format: 'jsn' is none of text, json; did you mean 'json'?"},
	    {&running, "vm", "ping",
	     "put '--' before the command to run; usage: vpclab go NODE -- CMD…"},
	};
	(void)state;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char *argv[] = {"try", cases[i].arg, cases[i].value, NULL};
		struct err err = ERR_INIT;
		struct parsed p;

		assert_true(options_parse(cases[i].command, 2, argv, &p, &err) < 0);
		assert_int_equal(err_exit_status(&err), EXIT_USAGE);
		assert_string_equal(err.text, cases[i].text);
		parsed_done(&p);
	}
}

static void test_numbers(void **state)
{
	static const char *const bad[][2] = {
	    {"--number", "0"},	  {"--number", "10"},	   {"--number", "x"},
	    {"--rate", "100mbs"}, {"--time", "2 parsecs"}, {"--number", ""},
	};
	(void)state;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		char *argv[] = {"try", (char *)bad[i][0], (char *)bad[i][1], NULL};
		struct err err = ERR_INIT;
		struct parsed p;

		assert_true(options_parse(&plain, 3, argv, &p, &err) < 0);
		assert_int_equal(err_exit_status(&err), EXIT_USAGE);
		assert_memory_equal(err.text, bad[i][0], strlen(bad[i][0]));
		parsed_done(&p);
	}
}

/* Help names each option in the form in which it can be typed, and the operands. */
static void test_help_text(void **state)
{
	struct strbuf text = {0};
	(void)state;

	options_print_help(&plain, &text);
	assert_non_null(strstr(text.s, "Usage: vpclab try [OPTION]… FILE…\n\nTry options.\n"));
	assert_non_null(strstr(text.s, "-F, --format FORMAT"));
	assert_non_null(strstr(text.s, "a word: text, json\n"));
	assert_non_null(strstr(text.s, "--rate RATE"));
	assert_non_null(strstr(text.s, "(may be repeated)"));
	assert_non_null(strstr(text.s, "-h, --help"));
	strbuf_done(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_forms),     cmocka_unit_test(test_mixed),
	    cmocka_unit_test(test_rest),      cmocka_unit_test(test_help),
	    cmocka_unit_test(test_mistakes),  cmocka_unit_test(test_numbers),
	    cmocka_unit_test(test_help_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
