/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * keyset: an open-addressing hash table of byte strings. It never forgets a key and keeps no order.
 * Used by the topology checks and by the compilation, where thousands of names meet.
 */
#include "emulator/model/keyset.h"

#include <string.h>

struct keyset_entry {
	const void *key; /* NULL: free */
	size_t len;
	int scope, value;
};

void keyset_init(struct keyset *s)
{
	*s = (struct keyset){0};
	arena_init(&s->arena);
}

void keyset_done(struct keyset *s)
{
	free(s->v);
	s->v = NULL;
	arena_done(&s->arena);
}

uint64_t keyset_hash(const void *key, size_t len, uint64_t seed)
{
	const uint8_t *b = key;
	uint64_t h = UINT64_C(14695981039346656037) ^ (seed * UINT64_C(0x9e3779b97f4a7c15));

	for (size_t i = 0; i < len; i++)
		h = (h ^ b[i]) * UINT64_C(1099511628211);
	return h ^ (h >> 29);
}

/* The entry with this key, or the free one where it belongs. The table is never full. */
static struct keyset_entry *find_slot(const struct keyset *s, int scope, const void *key,
				      size_t len)
{
	size_t i = keyset_hash(key, len, (uint64_t)(unsigned)scope) & (s->cap - 1);

	for (;; i = (i + 1) & (s->cap - 1)) {
		struct keyset_entry *e = &s->v[i];

		if (!e->key)
			return e;
		if (e->scope == scope && e->len == len && !memcmp(e->key, key, len))
			return e;
	}
}

static void grow(struct keyset *s)
{
	struct keyset old = *s;

	s->cap = old.cap ? old.cap * 2 : 64;
	s->v = mem_zalloc(s->cap * sizeof(*s->v));
	for (size_t i = 0; i < old.cap; i++) {
		const struct keyset_entry *e = &old.v[i];

		if (e->key)
			*find_slot(s, e->scope, e->key, e->len) = *e;
	}
	free(old.v);
}

bool keyset_add(struct keyset *s, int scope, const void *key, size_t len, int value)
{
	struct keyset_entry *e;
	char *copy;

	if (s->n * 4 >= s->cap * 3)
		grow(s);
	e = find_slot(s, scope, key, len);
	if (e->key)
		return false;
	copy = arena_alloc(&s->arena, len + 1);
	memcpy(copy, key, len);
	*e = (struct keyset_entry){.key = copy, .len = len, .scope = scope, .value = value};
	s->n++;
	return true;
}

bool keyset_add_text(struct keyset *s, int scope, const char *key, int value)
{
	return keyset_add(s, scope, key, strlen(key), value);
}

int keyset_find(const struct keyset *s, int scope, const void *key, size_t len)
{
	const struct keyset_entry *e;

	if (!s->cap)
		return -1;
	e = find_slot(s, scope, key, len);
	return e->key ? e->value : -1;
}

int keyset_find_text(const struct keyset *s, int scope, const char *key)
{
	return keyset_find(s, scope, key, strlen(key));
}
