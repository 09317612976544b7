/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "core/base/mem.h"
#include "core/base/names.h"

static void scopes_are_apart(void **state)
{
	struct names names = {0};
	int a, b;
	bool fresh;

	(void)state;
	assert_null(names_find(&names, NULL, "x"));
	names_take(&names, &a, "x", &fresh)->index = 1;
	assert_true(fresh);
	names_take(&names, &b, "x", &fresh)->index = 2;
	assert_true(fresh);
	names_take(&names, NULL, "", &fresh)->index = 3;
	assert_true(fresh);
	assert_int_equal(names_take(&names, &a, "x", &fresh)->index, 1);
	assert_false(fresh);
	assert_int_equal(names_find(&names, &b, "x")->index, 2);
	assert_int_equal(names_find(&names, NULL, "")->index, 3);
	assert_null(names_find(&names, NULL, "x"));
	names_done(&names);
	assert_null(names_find(&names, &a, "x"));
}

static void many_names_stay_found(void **state)
{
	struct names names = {0};
	struct arena arena;
	char text[16];
	bool fresh;

	(void)state;
	arena_init(&arena);
	for (size_t i = 0; i < 20000; i++) {
		char *name = arena_printf(&arena, "n%zu", i);

		names_take(&names, NULL, name, &fresh)->index = i;
		assert_true(fresh);
	}
	for (size_t i = 0; i < 20000; i++) {
		snprintf(text, sizeof(text), "n%zu", i);
		assert_int_equal(names_find(&names, NULL, text)->index, i);
	}
	assert_null(names_find(&names, NULL, "n20000"));
	names_done(&names);
	arena_done(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(scopes_are_apart),
	    cmocka_unit_test(many_names_stay_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
