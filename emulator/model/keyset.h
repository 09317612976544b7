/* SPDX-License-Identifier: GPL-2.0-or-later */
/* keyset: byte strings, each with a number; who asks whether a name or an address is taken. */
#ifndef VPCLAB_MODEL_KEYSET_H
#define VPCLAB_MODEL_KEYSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/mem.h"

struct keyset_entry;
struct keyset {
	struct arena arena;	/* keys are copied into it */
	struct keyset_entry *v; /* heap */
	size_t n, cap;
};

void keyset_init(struct keyset *s);
void keyset_done(struct keyset *s);

/* Adds a key; false, and nothing changes, when `scope` (a name space) has it already. */
bool keyset_add(struct keyset *s, int scope, const void *key, size_t len, int value);
bool keyset_add_text(struct keyset *s, int scope, const char *key, int value);
/* The number of a key, or -1. */
int keyset_find(const struct keyset *s, int scope, const void *key, size_t len);
int keyset_find_text(const struct keyset *s, int scope, const char *key);

uint64_t keyset_hash(const void *key, size_t len, uint64_t seed); /* FNV-1a, 64 bits */

#endif
