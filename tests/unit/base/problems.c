/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Collected problems: order, form, lifetime. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "core/base/problems.h"

static struct mark at(const char *file, int line, int column)
{
	return (struct mark){file, line, column};
}

static void sorted_by_place_and_counted(void **state)
{
	autostr struct strbuf out = {0};
	struct problems p;

	(void)state;
	problems_init(&p);
	problems_add(&p, at("b.yaml", 1, 1), "b");
	problems_add(&p, at("a.yaml", 10, 2), "late");
	problems_add(&p, at("a.yaml", 9, 30), "same place, first");
	problems_add(&p, at("a.yaml", 9, 30), "same place, %s", "second");
	problems_add(&p, at("a.yaml", 9, 4), "early");
	problems_add(&p, at("a.yaml", 0, 0), "the whole file");
	problems_add(&p, at(NULL, 0, 0), "no file");
	problems_add(&p, at("a.yaml", 3, 0), "a line");
	assert_int_equal(problems_count(&p), 8);
	problems_print(&p, &out);
	assert_string_equal(strbuf_text(&out), "no file\n"
					       "a.yaml: the whole file\n"
					       "a.yaml:3: a line\n"
					       "a.yaml:9:4: early\n"
					       "a.yaml:9:30: same place, first\n"
					       "a.yaml:9:30: same place, second\n"
					       "a.yaml:10:2: late\n"
					       "b.yaml:1:1: b\n"
					       "8 problems\n");
	problems_done(&p);
}

static void one_is_not_plural_and_none_prints_nothing(void **state)
{
	autostr struct strbuf out = {0};
	struct problems p;

	(void)state;
	problems_init(&p);
	problems_print(&p, &out);
	assert_string_equal(strbuf_text(&out), "");
	problems_add(&p, at("f", 1, 2), "x");
	problems_add(&p, at("f", 1, 2), "x"); /* the same again, as through an alias */
	problems_print(&p, &out);
	assert_string_equal(strbuf_text(&out), "f:1:2: x\n1 problem\n");
	problems_done(&p);
}

static void the_file_name_may_go_away(void **state)
{
	autostr struct strbuf out = {0};
	char name[] = "gone.yaml";
	struct problems p;

	(void)state;
	problems_init(&p);
	problems_add(&p, at(name, 1, 1), "x");
	memset(name, '?', sizeof(name) - 1);
	problems_print(&p, &out);
	assert_string_equal(strbuf_text(&out), "gone.yaml:1:1: x\n1 problem\n");
	problems_done(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(sorted_by_place_and_counted),
	    cmocka_unit_test(one_is_not_plural_and_none_prints_nothing),
	    cmocka_unit_test(the_file_name_may_go_away),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
