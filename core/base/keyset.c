/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * keyset: a hash table of byte strings with open addressing, at most three quarters full. It never
 * forgets a key and keeps no order.
 */
#include "core/base/keyset.h"

#include <string.h>

#include "core/base/hash.h"

struct keyset_entry {
	const void *key; /* NULL: free */
	size_t len;
	uint64_t scope;
	int value;
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

/* The entry with this key, or the free one where it belongs. The table is never full. */
static struct keyset_entry *find_slot(const struct keyset *s, uint64_t scope, const void *key,
				      size_t len)
{
	uint64_t hash = hash_fnv(key, len, scope);
	size_t i = (hash ^ hash >> 29) & (s->cap - 1);

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

/* The key's entry, made when it was not there (then *fresh). */
static struct keyset_entry *take(struct keyset *s, uint64_t scope, const void *key, size_t len,
				 bool *fresh)
{
	struct keyset_entry *e;
	char *copy;

	if (s->n * 4 >= s->cap * 3)
		grow(s);
	e = find_slot(s, scope, key, len);
	*fresh = !e->key;
	if (!*fresh)
		return e;
	copy = arena_alloc(&s->arena, len + 1);
	memcpy(copy, key, len);
	*e = (struct keyset_entry){.key = copy, .len = len, .scope = scope};
	s->n++;
	return e;
}

bool keyset_add(struct keyset *s, uint64_t scope, const void *key, size_t len, int value)
{
	bool fresh;
	struct keyset_entry *e = take(s, scope, key, len, &fresh);

	if (fresh)
		e->value = value;
	return fresh;
}

bool keyset_add_text(struct keyset *s, uint64_t scope, const char *key, int value)
{
	return keyset_add(s, scope, key, strlen(key), value);
}

void keyset_set_text(struct keyset *s, uint64_t scope, const char *key, int value)
{
	bool fresh;

	take(s, scope, key, strlen(key), &fresh)->value = value;
}

int keyset_find(const struct keyset *s, uint64_t scope, const void *key, size_t len)
{
	const struct keyset_entry *e;

	if (!s->cap)
		return -1;
	e = find_slot(s, scope, key, len);
	return e->key ? e->value : -1;
}

int keyset_find_text(const struct keyset *s, uint64_t scope, const char *key)
{
	return keyset_find(s, scope, key, strlen(key));
}
