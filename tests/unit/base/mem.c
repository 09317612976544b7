/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Arenas and arrays in them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdalign.h>
#include <string.h>

#include "core/base/mem.h"

static void arena_memory_is_zeroed_aligned_and_apart(void **state)
{
	static const size_t sizes[] = {0, 1, 7, 16, 100, 5000, 16384, 16385, 70000, 1, 300000, 3};
	unsigned char *p[ARRAY_SIZE(sizes)];
	struct arena a;

	(void)state;
	arena_init(&a);
	for (size_t round = 0; round < 20; round++) {
		for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
			p[i] = arena_alloc(&a, sizes[i]);
			assert_int_equal((uintptr_t)p[i] % alignof(max_align_t), 0);
			for (size_t k = 0; k < sizes[i]; k++)
				assert_int_equal(p[i][k], 0);
			memset(p[i], (int)i + 1, sizes[i]);
		}
		for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
			for (size_t k = 0; k < sizes[i]; k++)
				assert_int_equal(p[i][k], i + 1);
	}
	arena_done(&a);
	assert_null(a.head);
}

static void arena_texts(void **state)
{
	struct arena a;

	(void)state;
	arena_init(&a);
	assert_null(arena_strdup(&a, NULL));
	assert_string_equal(arena_strdup(&a, "x"), "x");
	assert_string_equal(arena_strndup(&a, "abcdef", 3), "abc");
	assert_string_equal(arena_strndup(&a, "ab", 30), "ab");
	assert_string_equal(arena_printf(&a, "%s-%d", "n", 7), "n-7");
	arena_done(&a);
}

static void vectors_grow_and_keep_their_items(void **state)
{
	VEC(struct {
		int a;
		char b;
	})
	v = {0};
	struct arena a;
	int sum = 0;

	(void)state;
	arena_init(&a);
	VEC_FOREACH (it, &v)
		fail();
	for (int i = 0; i < 10000; i++) {
		__typeof__(v.v) it = VEC_ADD(&a, &v);

		assert_int_equal(it->a, 0);
		assert_int_equal(it->b, 0);
		it->a = i;
		it->b = 1;
	}
	assert_int_equal(v.n, 10000);
	for (int i = 0; i < 10000; i++)
		assert_int_equal(v.v[i].a, i);
	VEC_FOREACH (it, &v)
		sum += it->b;
	assert_int_equal(sum, 10000);
	arena_done(&a);
}

static void heap_helpers(void **state)
{
	autofree char *s = mem_printf("%05d", 42);
	autofree char *copy = mem_strdup(s);
	autofree unsigned char *zero = mem_zalloc(10);
	autofree char *none = mem_strdup(NULL);

	(void)state;
	assert_string_equal(copy, "00042");
	assert_null(none);
	zero = mem_realloc(zero, 1000);
	for (int i = 0; i < 10; i++)
		assert_int_equal(zero[i], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(arena_memory_is_zeroed_aligned_and_apart),
	    cmocka_unit_test(arena_texts),
	    cmocka_unit_test(vectors_grow_and_keep_their_items),
	    cmocka_unit_test(heap_helpers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
