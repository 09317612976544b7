/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of keys, and its hash. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "core/base/hash.h"
#include "core/base/keyset.h"

static void scopes_are_apart(void **state)
{
	struct keyset s;
	int a, b;

	(void)state;
	keyset_init(&s);
	assert_int_equal(keyset_find_text(&s, 0, "x"), -1);
	assert_true(keyset_add_text(&s, (uintptr_t)&a, "x", 1));
	assert_true(keyset_add_text(&s, (uintptr_t)&b, "x", 2));
	assert_true(keyset_add_text(&s, 0, "", 3));
	assert_false(keyset_add_text(&s, (uintptr_t)&a, "x", 4));
	assert_int_equal(keyset_find_text(&s, (uintptr_t)&a, "x"), 1);
	assert_int_equal(keyset_find_text(&s, (uintptr_t)&b, "x"), 2);
	assert_int_equal(keyset_find_text(&s, 0, ""), 3);
	assert_int_equal(keyset_find_text(&s, 0, "x"), -1);
	keyset_done(&s);
}

static void many_keys_stay_found(void **state)
{
	struct keyset s;
	char key[16];

	(void)state;
	keyset_init(&s);
	for (int i = 0; i < 20000; i++) {
		snprintf(key, sizeof(key), "%d", i); /* the table keeps a copy */
		assert_true(keyset_add_text(&s, (uint64_t)i % 2, key, i));
	}
	for (int i = 0; i < 20000; i++) {
		snprintf(key, sizeof(key), "%d", i);
		assert_int_equal(keyset_find_text(&s, (uint64_t)i % 2, key), i);
		assert_int_equal(keyset_find_text(&s, (uint64_t) !(i % 2), key), -1);
	}
	keyset_done(&s);
}

/* Keys are bytes, NUL among them, and their length counts. */
static void keys_are_bytes(void **state)
{
	struct keyset s;

	(void)state;
	keyset_init(&s);
	assert_true(keyset_add(&s, 0, "a\0b", 3, 1));
	assert_true(keyset_add(&s, 0, "a\0c", 3, 2));
	assert_true(keyset_add(&s, 0, "a", 1, 3));
	assert_int_equal(keyset_find(&s, 0, "a\0bx", 3), 1);
	assert_int_equal(keyset_find(&s, 0, "a\0c", 3), 2);
	assert_int_equal(keyset_find_text(&s, 0, "a"), 3);
	keyset_done(&s);
}

static void a_number_can_change(void **state)
{
	struct keyset s;

	(void)state;
	keyset_init(&s);
	keyset_set_text(&s, 0, "x", 1);
	keyset_set_text(&s, 0, "x", 2);
	assert_int_equal(keyset_find_text(&s, 0, "x"), 2);
	keyset_done(&s);
}

/* The authors' own examples: addresses and names that labs have today are theirs tomorrow. */
static void hash_is_fnv(void **state)
{
	(void)state;
	assert_true(hash_fnv("", 0, 0) == UINT64_C(0xcbf29ce484222325));
	assert_true(hash_fnv("a", 1, 0) == UINT64_C(0xaf63dc4c8601ec8c));
	assert_true(hash_fnv("foobar", 6, 0) == UINT64_C(0x85944171f73967e8));
	assert_true(hash_fnv("a", 1, 1) != hash_fnv("a", 1, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(scopes_are_apart), cmocka_unit_test(many_keys_stay_found),
	    cmocka_unit_test(keys_are_bytes),	cmocka_unit_test(a_number_can_change),
	    cmocka_unit_test(hash_is_fnv),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
