/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Interface names: short, unique, readable; by the thousand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "core/base/str.h"
#include "emulator/model/ifname.h"

struct names {
	struct keyset taken;
	struct arena arena;
	const char *name, *alt;
};

static void names_init(struct names *n)
{
	keyset_init(&n->taken);
	arena_init(&n->arena);
}

static void names_done(struct names *n)
{
	keyset_done(&n->taken);
	arena_done(&n->arena);
}

static void pick(struct names *n, int node, const char *want)
{
	struct ifname_want w = {.node = node, .head = want};

	ifname_pick(&n->taken, &n->arena, &w, &n->name, &n->alt);
}

static void test_short_names_stay(void **state)
{
	struct names n;

	(void)state;
	names_init(&n);
	pick(&n, 0, "fifteen-bytes-x");
	assert_string_equal(n.name, "fifteen-bytes-x");
	assert_null(n.alt);
	pick(&n, 1, "fifteen-bytes-x"); /* another namespace */
	assert_string_equal(n.name, "fifteen-bytes-x");
	names_done(&n);
}

static void test_long_names_are_cut(void **state)
{
	struct names n;

	(void)state;
	names_init(&n);
	pick(&n, 0, "sixteen-bytes-xx");
	assert_int_equal(strlen(n.name), IFNAME_LEN);
	assert_true(str_starts(n.name, "sixteen-"));
	assert_string_equal(n.alt, "sixteen-bytes-xx");
	names_done(&n);
}

/* What belongs to one VM looks alike. */
static void test_tails_stay(void **state)
{
	static const char vm[] = "a-virtual-machine";
	struct ifname_want tap = {.head = vm, .tail = "-tap"}, out = {.head = vm, .tail = "-out"};
	struct ifname_want longest = {.head = "vm", .tail = "-123456-very-long"};
	struct names n;
	char head[12];

	(void)state;
	names_init(&n);
	ifname_pick(&n.taken, &n.arena, &tap, &n.name, &n.alt);
	assert_int_equal(strlen(n.name), IFNAME_LEN);
	assert_true(str_ends(n.name, "-tap"));
	assert_string_equal(n.alt, "a-virtual-machine-tap");
	memcpy(head, n.name, 11);
	head[11] = '\0';
	ifname_pick(&n.taken, &n.arena, &out, &n.name, &n.alt);
	assert_true(str_starts(n.name, head) && str_ends(n.name, "-out"));
	ifname_pick(&n.taken, &n.arena, &longest, &n.name, &n.alt);
	assert_int_equal(strlen(n.name), IFNAME_LEN);
	assert_string_equal(n.alt, "vm-123456-very-long");
	names_done(&n);
}

static void test_taken_names_differ(void **state)
{
	struct names n;

	(void)state;
	names_init(&n);
	pick(&n, 0, "nic");
	pick(&n, 0, "nic");
	assert_true(str_starts(n.name, "nic-"));
	assert_null(n.alt); /* "nic" in full is the other one's name */
	names_done(&n);
}

static void test_very_long_names(void **state)
{
	char want[201];
	struct names n;

	(void)state;
	names_init(&n);
	memset(want, 'x', sizeof(want) - 1);
	want[200] = '\0';
	pick(&n, 0, want);
	assert_int_equal(strlen(n.name), IFNAME_LEN);
	assert_int_equal(strlen(n.alt), IFNAME_ALTLEN);
	names_done(&n);
}

/* Enough that 24 bits of hash meet several times: the birthday bound is near 5,000. */
static void test_thousands_of_like_names(void **state)
{
	enum { COUNT = 60000 };
	struct keyset seen;
	struct names n;

	(void)state;
	names_init(&n);
	keyset_init(&seen);
	for (int i = 0; i < COUNT; i++) {
		autofree char *want = mem_printf("production-web-server-%d-out", i);

		pick(&n, 0, want);
		assert_true(strlen(n.name) <= IFNAME_LEN);
		assert_true(keyset_add_text(&seen, 0, n.name, i));
		assert_string_equal(n.alt, want);
	}
	keyset_done(&seen);
	names_done(&n);
}

static void test_same_input_same_names(void **state)
{
	struct names a, b;

	(void)state;
	names_init(&a);
	names_init(&b);
	for (int i = 0; i < 1000; i++) {
		autofree char *want = mem_printf("a-rather-long-name-%d", i % 500);

		pick(&a, i % 3, want);
		pick(&b, i % 3, want);
		assert_string_equal(a.name, b.name);
	}
	names_done(&a);
	names_done(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_short_names_stay),
	    cmocka_unit_test(test_long_names_are_cut),
	    cmocka_unit_test(test_tails_stay),
	    cmocka_unit_test(test_taken_names_differ),
	    cmocka_unit_test(test_very_long_names),
	    cmocka_unit_test(test_thousands_of_like_names),
	    cmocka_unit_test(test_same_input_same_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
