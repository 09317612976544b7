/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ifname: short, unique and still readable interface names. It does not know what a name means;
 * compile_dev.c asks it for every device.
 */
#include "emulator/model/ifname.h"

#include <string.h>

#include "core/base/hash.h"

#define DIGITS	 6 /* of hash in a short form */
#define HEAD_MIN 8 /* bytes of a short form for head, dash and digits */

/* `text` in at most `max` bytes: its start and digits of its hash. */
static const char *shorten(struct arena *a, const char *text, size_t max, uint64_t seed)
{
	uint64_t hash = hash_fnv(text, strlen(text), seed);

	return arena_printf(a, "%.*s-%06x", (int)(max - DIGITS - 1), text,
			    (unsigned)((hash ^ hash >> 29) & 0xffffff));
}

void ifname_pick(struct keyset *taken, struct arena *a, const struct ifname_want *want,
		 const char **name, const char **altname)
{
	const char *tail = want->tail ? want->tail : "", *head = want->head;
	const char *full = arena_printf(a, "%s%s", head, tail);

	*altname = NULL;
	if (strlen(full) <= IFNAME_LEN && keyset_add_text(taken, want->node, full, 0)) {
		*name = full;
		return;
	}
	if (strlen(tail) > IFNAME_LEN - HEAD_MIN) {
		head = full;
		tail = "";
	}
	/* 24 bits of hash meet after some thousand names: then the next seed. */
	for (uint64_t seed = 0;; seed++) {
		*name = arena_printf(a, "%s%s", shorten(a, head, IFNAME_LEN - strlen(tail), seed),
				     tail);
		if (keyset_add_text(taken, want->node, *name, 0))
			break;
	}
	if (strlen(full) > IFNAME_ALTLEN)
		full = shorten(a, full, IFNAME_ALTLEN, 0);
	if (keyset_add_text(taken, want->node, full, 0))
		*altname = full;
}
