/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ifname: interface names, which the kernel limits to 15 bytes and which are unique, together with
 * the alternative names, in their namespace.
 */
#ifndef VPCLAB_MODEL_IFNAME_H
#define VPCLAB_MODEL_IFNAME_H

#include "emulator/model/keyset.h"

#define IFNAME_LEN    15  /* IFNAMSIZ - 1 */
#define IFNAME_ALTLEN 127 /* ALTIFNAMSIZ - 1 */

/*
 * Picks a name in namespace `node`: `want` itself where it is short enough and free, else its head
 * with six digits of its hash; then *altname is `want` in full (NULL where that is taken too, and
 * cut where it is over 127 bytes). `taken` remembers both. Texts live in `a`.
 */
void ifname_pick(struct keyset *taken, struct arena *a, int node, const char *want,
		 const char **name, const char **altname);

/* `text` when it has at most `max` (at least 8) bytes, else its head and six digits of its hash. */
const char *ifname_short(struct arena *a, const char *text, size_t max);

#endif
