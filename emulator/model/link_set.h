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

struct link_sets { /* zeroed is empty; link_sets_done() */
	struct arena arena;
	VEC(const char *) v; /* "path=value", as in struct topology_source */
};
void link_sets_done(struct link_sets *s);

/*
 * Adds to `out` what "key=value" on a link means after the overrides of `src` and those that are in
 * `out` already. `path` is the link's map in the topology (struct wire_link), keys are those of the
 * topology, with dots ("ab.delay", "rate.burst"). An empty value or "none" takes the key away. A
 * key of both directions also takes away what the directions have of it for themselves, so that it
 * counts for both; one that is taken away from one direction leaves the other as it is. ERR_INPUT
 * for a key to take away that no such map can have; what else is wrong is found when the overrides
 * are applied.
 */
int link_sets_add(const struct topology_source *src, const char *path, const char *assignment,
		  struct link_sets *out, struct err *err);

struct link_change {
	const char *link; /* as link_find() takes it */
	const char *const *changes;
	size_t n;
};

/* The same for several changes of a link of `w`, the wire model of `src`. */
int link_sets_change(const struct topology_source *src, const struct wire *w,
		     const struct link_change *c, struct link_sets *out, struct err *err);

#endif
