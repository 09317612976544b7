/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * names: which names were there already, and where: a hash table of (scope, name). The YAML reader
 * finds duplicate keys and anchors with it; other readers may find duplicate names.
 */
#ifndef VPCLAB_BASE_NAMES_H
#define VPCLAB_BASE_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/problems.h"

struct name {
	const void *scope; /* names of different scopes differ; any pointer, or NULL */
	const char *name;  /* borrowed from the caller */
	struct mark at;	   /* for the caller to set */
	size_t index;	   /* for the caller to set */
};

struct names { /* zeroed is empty; names_done() frees */
	struct name *slot;
	size_t n, n_slots;
};

void names_done(struct names *names);

/* The entry, or NULL. Good until the next names_take(). */
struct name *names_find(const struct names *names, const void *scope, const char *name);

/* The entry, made when it was not there (then *fresh). Good until the next names_take(). */
struct name *names_take(struct names *names, const void *scope, const char *name, bool *fresh);

#endif
