/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plan_diff: what a running lab of one plan needs to become that of another, as operations:
 * shapers, rules, offloads and relays change in place; whatever would need other devices, addresses
 * or routes is refused, in words that say what to declare when the lab is built. Pure.
 */
#ifndef VPCLAB_PLAN_PLAN_DIFF_H
#define VPCLAB_PLAN_PLAN_DIFF_H

#include "core/base/err.h"
#include "emulator/plan/plan.h"

enum plan_change_kind {
	PLAN_OFFLOAD,	   /* features of a device: `off` off, then `on` on */
	PLAN_TC_ADD,	   /* `op`'s step, where none is */
	PLAN_TC_CHANGE,	   /* `op`'s step, which keeps its queue */
	PLAN_TC_DELETE,	   /* `op`'s step of before, and what hangs below it */
	PLAN_RULE,	   /* `op` instead of the rule at `place` of its chain */
	PLAN_CHAIN,	   /* `op`, made where it is not there, emptied, then filled with `rules` */
	PLAN_CHAIN_DELETE, /* `op`'s chain of before */
	PLAN_RELAY,	   /* `op`'s relay is told its impairments */
};

struct plan_change {
	enum plan_change_kind kind;
	const char *ns;
	const char *dev; /* PLAN_OFFLOAD, PLAN_TC_… */
	int ifindex;
	const struct op *op; /* of one of the plans; NULL: PLAN_OFFLOAD */
	unsigned off, on;    /* OFFLOAD_… */
	size_t place;	     /* PLAN_RULE: from 0 */
	size_t of;	     /* PLAN_RULE: how many rules its chain has */
	const struct op *const *rules;
	size_t n_rules;
	bool maybe; /* PLAN_TC_DELETE: it may not be there */
};

struct plan_diff {
	struct arena arena;
	/* By namespace, in the order of the plan; inside one in the order of enum plan_change_kind,
	 * deletions of steps before additions where they belong to one device. */
	VEC(struct plan_change) changes;
};

struct plan_diff_side {
	const struct wire *wire;
	const struct plan *plan; /* of that wire model */
};

#define PLAN_DIFF_BEFORE_MAX 8

/*
 * `before`: what the lab is. More than one: each part of it may be what any of them says, since a
 * change was broken off; parts on which they do not agree are then made anew. ERR_INPUT when the
 * lab would have to be built differently. plan_diff_done() is needed in either case; all plans must
 * outlive the difference.
 */
int plan_diff(const struct plan_diff_side *before, size_t n_before,
	      const struct plan_diff_side *after, struct plan_diff *out, struct err *err);
void plan_diff_done(struct plan_diff *d);

#endif
