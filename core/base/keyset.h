/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * keyset: byte strings in scopes, each with a number: which keys, names and addresses were there
 * already, and where. Used by the YAML reader, the topology checks and the compilation, and
 * whoever looks for names among thousands.
 */
#ifndef VPCLAB_BASE_KEYSET_H
#define VPCLAB_BASE_KEYSET_H

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

/*
 * Adds a key, which is copied; false, and nothing changes, when `scope` (a name space) has it
 * already. A scope is any number, or the address of what the keys belong to.
 */
bool keyset_add(struct keyset *s, uint64_t scope, const void *key, size_t len, int value);
bool keyset_add_text(struct keyset *s, uint64_t scope, const char *key, int value);
/* Adds a key, or gives one that is there another number. */
void keyset_set_text(struct keyset *s, uint64_t scope, const char *key, int value);
/* The number of a key, or -1. */
int keyset_find(const struct keyset *s, uint64_t scope, const void *key, size_t len);
int keyset_find_text(const struct keyset *s, uint64_t scope, const char *key);

#endif
