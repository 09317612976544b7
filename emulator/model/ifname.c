/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ifname: short, unique and still readable interface names. It does not know what a name means;
 * compile_dev.c asks it for every device.
 */
#include "emulator/model/ifname.h"

#include <string.h>

#define DIGITS                                                                                     \
	6 /* of hash in a short form: after them and a dash, 8 bytes of the name are left          \
	   */

static const char *shorten(struct arena *a, const char *text, size_t max, uint64_t seed)
{
	uint64_t hash = keyset_hash(text, strlen(text), seed);

	return arena_printf(a, "%.*s-%06x", (int)(max - DIGITS - 1), text,
			    (unsigned)(hash & 0xffffff));
}

const char *ifname_short(struct arena *a, const char *text, size_t max)
{
	return strlen(text) <= max ? arena_strdup(a, text) : shorten(a, text, max, 0);
}

void ifname_pick(struct keyset *taken, struct arena *a, int node, const char *want,
		 const char **name, const char **altname)
{
	const char *alt;

	*altname = NULL;
	if (strlen(want) <= IFNAME_LEN && keyset_add_text(taken, node, want, 0)) {
		*name = arena_strdup(a, want);
		return;
	}
	/* 24 bits of hash meet after some thousand names: then the next seed. */
	for (uint64_t seed = 0;; seed++) {
		*name = shorten(a, want, IFNAME_LEN, seed);
		if (keyset_add_text(taken, node, *name, 0))
			break;
	}
	alt = ifname_short(a, want, IFNAME_ALTLEN);
	if (keyset_add_text(taken, node, alt, 0))
		*altname = alt;
}
