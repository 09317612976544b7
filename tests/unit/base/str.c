/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Growing text, quoting, suggestions, UTF-8. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/base/str.h"

static void text_grows(void **state)
{
	autostr struct strbuf b = {0};
	char *taken;

	(void)state;
	assert_string_equal(strbuf_text(&b), "");
	for (int i = 0; i < 1000; i++) {
		strbuf_add(&b, "ab");
		strbuf_addc(&b, 'c');
		strbuf_addn(&b, "defgh", 1);
		strbuf_addf(&b, "%03d", i);
	}
	assert_int_equal(b.len, 7000);
	assert_int_equal(strlen(strbuf_text(&b)), 7000);
	assert_memory_equal(b.s + 6993, "abcd999", 8);
	taken = strbuf_take(&b);
	assert_int_equal(strlen(taken), 7000);
	free(taken);
	assert_int_equal(b.len, 0);
	taken = strbuf_take(&b);
	assert_string_equal(taken, "");
	free(taken);
}

static void long_formats_fit(void **state)
{
	autostr struct strbuf b = {0};
	char big[3000];

	(void)state;
	memset(big, 'x', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	strbuf_addf(&b, "<%s>", big);
	assert_int_equal(b.len, 3001);
	assert_int_equal(b.s[3000], '>');
}

static void comparisons(void **state)
{
	(void)state;
	assert_true(str_eq("a", "a"));
	assert_false(str_eq("a", "b"));
	assert_true(str_eq(NULL, NULL));
	assert_false(str_eq("", NULL));
	assert_true(str_starts("abc", "ab"));
	assert_true(str_starts("abc", ""));
	assert_false(str_starts("ab", "abc"));
	assert_true(str_ends("x.yaml", ".yaml"));
	assert_false(str_ends("yaml", ".yaml"));
}

static void shell_words_are_quoted_where_needed(void **state)
{
	static const char *const cases[][2] = {
	    {"plain", "plain"},
	    {"10.0.0.1/24", "10.0.0.1/24"},
	    {"a=b", "a=b"},
	    {"=a", "'=a'"},
	    {"", "''"},
	    {"a b", "'a b'"},
	    {"it's", "'it'\\''s'"},
	    {"$HOME", "'$HOME'"},
	    {"*", "'*'"},
	    {"~", "'~'"},
	    {"#x", "'#x'"},
	    {"a\nb", "'a\nb'"},
	    {"\xc3\xa9", "'\xc3\xa9'"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		autostr struct strbuf b = {0};

		str_shell_quote(&b, cases[i][0]);
		assert_string_equal(strbuf_text(&b), cases[i][1]);
	}
}

static void suggestions(void **state)
{
	static const char *const known[] = {"rate",	 "delay", NULL, "queue",
					    "endpoints", "loss",  "mtu"};
	static const struct {
		const char *word, *near;
	} cases[] = {
	    {"rat", "rate"},
	    {"raet", "rate"},
	    {"Rate", "rate"},
	    {"dealy", "delay"},
	    {"endpionts", "endpoints"},
	    {"endpoint", "endpoints"},
	    {"edpoint", "endpoints"},
	    {"los", "loss"},
	    {"mtuu", "mtu"},
	    {"x", NULL},
	    {"", NULL},
	    {"banana", NULL},
	    {"lots", "loss"},
	    {"q", NULL},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *near = str_suggest(cases[i].word, known, ARRAY_SIZE(known));

		if (!str_eq(near, cases[i].near))
			fail_msg("'%s' gives '%s'", cases[i].word, near ? near : "(none)");
	}
}

static void the_nearest_is_suggested_the_first_of_equals(void **state)
{
	static const char *const known[] = {"tenantx", "tenant", "tennantt"};
	static const char *const equal[] = {"vm1", "vm2"};
	char big[200];

	(void)state;
	assert_string_equal(str_suggest("tennant", known, 3), "tenant");
	assert_string_equal(str_suggest("vm3", equal, 2), "vm1");
	memset(big, 'a', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	assert_null(str_suggest(big, known, 3));
}

static void bad_bytes_are_found(void **state)
{
	static const struct {
		const char *text;
		size_t len, bad;
	} cases[] = {
	    {"", 0, 0},
	    {"abc", 3, 3},
	    {"a\0b", 3, 1},
	    {"\xc3\xa9x", 3, 3},
	    {"\xe2\x82\xac", 3, 3},
	    {"\xf0\x9f\x98\x80", 4, 4},
	    {"x\xc3", 2, 1},		/* cut off */
	    {"\xc0\x80", 2, 0},		/* overlong NUL */
	    {"\xe0\x80\x80", 3, 0},	/* overlong */
	    {"\xed\xa0\x80", 3, 0},	/* surrogate */
	    {"\xf4\x90\x80\x80", 4, 0}, /* above U+10FFFF */
	    {"\xf5\x80\x80\x80", 4, 0},
	    {"\x80", 1, 0},
	    {"ab\xe2\x82", 4, 2},
	    {"\xe2\x28\xa1", 3, 0},
	    {"\xe2\x82\x28", 3, 0},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(str_bad_byte(cases[i].text, cases[i].len), cases[i].bad);
}

static void strangers_lines_are_fit_to_be_printed(void **state)
{
	static const struct {
		const char *said, *added;
		size_t most;
	} cases[] = {
	    {"plain", "plain", 9},
	    {"a\nb\x1b[31m\x7f", "a b [31m ", 99},
	    {"\xc2\x9b"
	     "1m",
	     " 1m", 99}, /* a control character of two bytes */
	    {"x\xff\xc3", "x\xef\xbf\xbd\xef\xbf\xbd", 99},
	    {"\xc2\xb5s", "\xc2\xb5s", 99},
	    {"abcdef", "abc\xe2\x80\xa6", 3},
	    {"abc", "abc", 3},
	    {"\xe2\x82\xac\xe2\x82\xac", "\xe2\x82\xac\xe2\x80\xa6", 2},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		autostr struct strbuf b = {0};

		strbuf_add(&b, "> ");
		str_add_line(&b, cases[i].said, cases[i].most);
		assert_string_equal(strbuf_text(&b) + 2, cases[i].added);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(text_grows),
	    cmocka_unit_test(long_formats_fit),
	    cmocka_unit_test(comparisons),
	    cmocka_unit_test(shell_words_are_quoted_where_needed),
	    cmocka_unit_test(suggestions),
	    cmocka_unit_test(the_nearest_is_suggested_the_first_of_equals),
	    cmocka_unit_test(bad_bytes_are_found),
	    cmocka_unit_test(strangers_lines_are_fit_to_be_printed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
