/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * link_set: links as people name them, and "key=value" on a link as overrides of its topology.
 * Pure.
 */
#ifndef VPCLAB_MODEL_LINK_SET_H
#define VPCLAB_MODEL_LINK_SET_H

#include "emulator/model/topology.h"

/*
 * Index of the link that `name` means: its name ("client vNIC", "r-b"), one of its ends
 * ("NODE:DEV") or a node that has no other link ("client"). Else a negative errno and ERR_INPUT
 * with what there is.
 */
int link_find(const struct wire *w, const char *name, struct err *err);

struct link_sets {
	VEC(const char *) v; /* "path=value", as in struct topology_source */
};

/*
 * Adds to `out` what "key=value" on a link means, in order: `path` is the link's map in the
 * topology (struct wire_link), keys are those of the topology, with dots ("ab.delay",
 * "rate.burst"). An empty value or "none" takes the key away. A key of both directions also takes
 * away what the directions have of it for themselves, so that it counts for both. Texts live in
 * `a`. ERR_INPUT for a key to take away that no such map can have; what else is wrong is found when
 * the overrides are applied.
 */
int link_sets(const struct topology_source *src, const char *path, const char *assignment,
	      struct arena *a, struct link_sets *out, struct err *err);

#endif
