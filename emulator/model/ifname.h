/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ifname: interface names, which the kernel limits to 15 bytes and which are unique, together with
 * the alternative names, in their namespace.
 */
#ifndef VPCLAB_MODEL_IFNAME_H
#define VPCLAB_MODEL_IFNAME_H

#include "core/base/keyset.h"

#define IFNAME_LEN    15  /* IFNAMSIZ - 1 */
#define IFNAME_ALTLEN 127 /* ALTIFNAMSIZ - 1 */

struct ifname_want {
	int node;	  /* its namespace */
	const char *head; /* of a machine or network, any length */
	const char *tail; /* what it is to that: "-tap"; "" or NULL for none */
};

/*
 * Picks a name: head and tail themselves where they are short enough and free, else the start of
 * the head, six digits of its hash and the tail, so that what belongs together looks alike; then
 * *altname is the name in full (NULL where that is taken too, and cut where it is over 127 bytes).
 * `taken` remembers both. Texts live in `a`.
 */
void ifname_pick(struct keyset *taken, struct arena *a, const struct ifname_want *want,
		 const char **name, const char **altname);

#endif
