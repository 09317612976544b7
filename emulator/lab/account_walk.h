/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * account_walk: the ledger of a lab from its wire model and one reading of its counters. Pure.
 *
 * A direction of a link is a chain of stages. Each stage is a device out of whose egress the
 * packets go; its peer receives them, and there a rule or the relay hands them to the next stage,
 * or the link ends. What a stage was given is what its device sent, what it could not send, and
 * what its qdisc dropped or still holds; what its peer received less what rules dropped there must
 * be what the next stage was given.
 *
 *   a ──► MIDDLE a  ⇉ fwd ⇉  SPAN 1 ──► SPAN 2  ⇉ relay ⇉  MIDDLE b ──► b
 *   stage 0                  stage 1                       stage 2
 *
 * The unit is what crosses a device at once (struct sk_buff): in exact mode one frame; in fast mode
 * super-packets count as one at every stage, since no stage's bucket is smaller than they are.
 */
#ifndef VPCLAB_LAB_ACCOUNT_WALK_H
#define VPCLAB_LAB_ACCOUNT_WALK_H

#include "emulator/lab/account.h"

#define ACCOUNT_STAGES_MAX 8

struct account_stage {
	int dev;       /* whose egress */
	bool relayed;  /* the relay puts packets here, not a rule */
	unsigned mark; /* of the packets by then, 0: none */
	bool shared;   /* both directions go through it */
};

struct account_way {
	struct account_stage stages[ACCOUNT_STAGES_MAX];
	size_t n; /* at least 1 */
	int exit; /* device that receives what the last stage sends */
};

/* The wire model, prepared: which rules see what a device receives. */
struct account_map {
	const struct wire *w;
	int *first, *next; /* by device: its first ingress chain; by chain: the next one; -1 */
};
void account_map_init(struct account_map *m, const struct wire *w); /* borrows `w` */
void account_map_done(struct account_map *m);

void account_way_of(const struct account_map *m, int link, bool ba, struct account_way *out);

/* Does a packet with that mark meet a rule of these words? */
bool account_meets(const char *rule, unsigned mark);

/* Fills `out`, which is empty, from a reading as count_snapshot() gives it. */
void account_walk(const struct wire *w, const json_t *snapshot, struct account *out);

/* Packets that rules and policers dropped of what a device received, and rules elsewhere in a node;
 * since the lab is up. */
int64_t account_ruled_out(const struct account_map *m, const json_t *snapshot, int dev);
int64_t account_refused(const struct account_map *m, const json_t *snapshot, int node);

/* Adds to the packets lost for a cause at a place (texts are copied); nothing for 0. */
void account_lose(struct arena *arena, struct account_direction *d, const struct account_loss *l);

#endif
