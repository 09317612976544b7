/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What errors say, and which exit status follows from them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "core/base/err.h"
#include "core/base/str.h"

static void system_errors_say_why(void **state)
{
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(err_sys(&err, ENOENT, "cannot open '%s'", "x"), -ENOENT);
	assert_string_equal(err.text, "cannot open 'x': No such file or directory");
	assert_int_equal(err.code, ENOENT);
	assert_int_equal(err_exit_status(&err), 1);
	assert_int_equal(err_sys(&err, EMFILE, "opening"), -EMFILE);
	assert_non_null(strstr(err.text, "opening: Too many open files (the limit is "));
	assert_non_null(strstr(err.text, "ulimit -n"));
}

static void kinds_give_exit_statuses(void **state)
{
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(err_exit_status(&err), 0);
	assert_int_equal(err_input(&err, "'%s' is not a rate", "x"), -EINVAL);
	assert_string_equal(err.text, "'x' is not a rate");
	assert_int_equal(err_exit_status(&err), 2);
	assert_int_equal(err_unsupported(&err, "no netem"), -ENOTSUP);
	assert_int_equal(err_exit_status(&err), 4);
	assert_int_equal(err_fail(&err, ETIMEDOUT, "too late"), -ETIMEDOUT);
	assert_string_equal(err.text, "too late");
	assert_int_equal(err_exit_status(&err), 1);
	err.kind = ERR_INCONCLUSIVE;
	assert_int_equal(err_exit_status(&err), 3);
}

static void wrapping_puts_context_before(void **state)
{
	struct err err = ERR_INIT;

	(void)state;
	err_input(&err, "'x' is not a rate");
	assert_int_equal(err_wrap(&err, "link %d", 3), -EINVAL);
	assert_int_equal(err_wrap(&err, "t.yaml"), -EINVAL);
	assert_string_equal(err.text, "t.yaml: link 3: 'x' is not a rate");
	assert_int_equal(err.kind, ERR_INPUT);
}

static void own_text_may_be_an_argument(void **state)
{
	struct err err = ERR_INIT;

	(void)state;
	err_input(&err, "inner");
	err_fail(&err, EIO, "outer (%s)", err.text);
	assert_string_equal(err.text, "outer (inner)");
}

static void long_texts_are_cut(void **state)
{
	struct err err = ERR_INIT;
	char big[5000];

	(void)state;
	memset(big, 'a', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	err_sys(&err, EPERM, "%s", big);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
	err_wrap(&err, "%s", big);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
}

/* Half a character is no UTF-8, and then no JSON can hold the text. */
static void cut_texts_end_with_a_whole_character(void **state)
{
	static const char *const letters[] = {"\xc2\xb5", "\xe2\x82\xac", "\xf0\x9f\x98\x80"};
	char big[5000];

	(void)state;
	for (size_t k = 0; k < sizeof(letters) / sizeof(letters[0]); k++)
		for (int shift = 0; shift < 4; shift++) {
			struct err err = ERR_INIT;
			size_t at = 0, len = strlen(letters[k]);

			while (at < (size_t)shift)
				big[at++] = 'x';
			for (; at + len < sizeof(big); at += len)
				memcpy(big + at, letters[k], len);
			big[at] = '\0';
			err_input(&err, "%s", big);
			assert_int_equal(str_bad_byte(err.text, strlen(err.text)),
					 strlen(err.text));
			assert_in_range(strlen(err.text), sizeof(err.text) - 4,
					sizeof(err.text) - 1);
			err_wrap(&err, "%s", "yyy");
			assert_int_equal(str_bad_byte(err.text, strlen(err.text)),
					 strlen(err.text));
		}
}

static void without_an_error_object_the_code_remains(void **state)
{
	(void)state;
	assert_int_equal(err_sys(NULL, EPERM, "x"), -EPERM);
	assert_int_equal(err_input(NULL, "x"), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(system_errors_say_why),
	    cmocka_unit_test(kinds_give_exit_statuses),
	    cmocka_unit_test(wrapping_puts_context_before),
	    cmocka_unit_test(own_text_may_be_an_argument),
	    cmocka_unit_test(long_texts_are_cut),
	    cmocka_unit_test(cut_texts_end_with_a_whole_character),
	    cmocka_unit_test(without_an_error_object_the_code_remains),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
