// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests of core/cli/columns: alignment by characters, no blanks at line ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/cli/columns.h"

static void print(size_t n_columns, const char *const *cells, const char *indent,
		  struct strbuf *out)
{
	struct columns c;

	columns_init(&c, n_columns);
	for (; *cells; cells++)
		columns_add(&c, *cells);
	columns_print(&c, indent, out);
	columns_done(&c);
}

static void test_align(void **state)
{
	static const char *const cells[] = {"node", "x", "longer name", "y", NULL};
	autostr struct strbuf out = {0};
	(void)state;

	print(2, cells, "  ", &out);
	assert_string_equal(strbuf_text(&out), "  node         x\n  longer name  y\n");
}

/* "µs" and "→" take one column each character, whatever their bytes. */
static void test_utf8(void **state)
{
	static const char *const cells[] = {"a→b", "1", "abc", "2", NULL};
	autostr struct strbuf out = {0};
	(void)state;

	print(2, cells, "", &out);
	assert_string_equal(strbuf_text(&out), "a→b  1\nabc  2\n");
}

static void test_empty_cells(void **state)
{
	static const char *const cells[] = {"a", "", "b", "c", NULL};
	autostr struct strbuf out = {0};
	struct columns c;
	(void)state;

	print(2, cells, "", &out);
	assert_string_equal(strbuf_text(&out), "a\nb  c\n");
	strbuf_done(&out);
	columns_init(&c, 2);
	columns_add(&c, NULL);
	columns_addf(&c, "%d", 7);
	columns_print(&c, "", &out);
	columns_done(&c);
	assert_string_equal(strbuf_text(&out), "  7\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_align),
	    cmocka_unit_test(test_utf8),
	    cmocka_unit_test(test_empty_cells),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
