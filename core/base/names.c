/* SPDX-License-Identifier: GPL-2.0-or-later */
/* names: open addressing with linear probing, at most half full. It removes nothing. */
#include "core/base/names.h"

#include <stdint.h>
#include <stdlib.h>

#include "core/base/mem.h"
#include "core/base/str.h"

void names_done(struct names *names)
{
	free(names->slot);
	*names = (struct names){0};
}

static size_t hash(const void *scope, const char *name)
{
	uint64_t h = (uintptr_t)scope * UINT64_C(0x9e3779b97f4a7c15);

	for (; *name; name++)
		h = (h ^ (uint8_t)*name) * UINT64_C(0x100000001b3);
	return (size_t)(h ^ h >> 29);
}

/* The slot that has the name, or the free one where it belongs. There must be a free one. */
static struct name *probe(const struct names *names, const void *scope, const char *name)
{
	for (size_t i = hash(scope, name);; i++) {
		struct name *slot = &names->slot[i & (names->n_slots - 1)];

		if (!slot->name || (slot->scope == scope && str_eq(slot->name, name)))
			return slot;
	}
}

static void grow(struct names *names)
{
	struct name *old = names->slot;
	size_t n = names->n_slots;

	names->n_slots = n ? n * 2 : 256; /* a power of two */
	names->slot = mem_zalloc(names->n_slots * sizeof(*names->slot));
	for (size_t i = 0; i < n; i++)
		if (old[i].name)
			*probe(names, old[i].scope, old[i].name) = old[i];
	free(old);
}

struct name *names_find(const struct names *names, const void *scope, const char *name)
{
	struct name *slot = names->n_slots ? probe(names, scope, name) : NULL;

	return slot && slot->name ? slot : NULL;
}

struct name *names_take(struct names *names, const void *scope, const char *name, bool *fresh)
{
	struct name *slot;

	if (names->n * 2 >= names->n_slots)
		grow(names);
	slot = probe(names, scope, name);
	*fresh = !slot->name;
	if (*fresh) {
		*slot = (struct name){.scope = scope, .name = name};
		names->n++;
	}
	return slot;
}
