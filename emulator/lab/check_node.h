/* SPDX-License-Identifier: GPL-2.0-or-later */
/* check_node: what the files of check share: one node under comparison. */
#ifndef VPCLAB_LAB_CHECK_NODE_H
#define VPCLAB_LAB_CHECK_NODE_H

#include <jansson.h>

#include "core/base/str.h"
#include "emulator/kernel/dump.h"
#include "emulator/kernel/netns.h"
#include "emulator/plan/plan.h"

struct check_node {
	const char *name;
	struct arena arena;
	VEC(const struct op *) ops; /* of this node, and veths whose other end is here */
	bool ovs;
	const json_t *choices; /* of all nodes, or NULL */
	struct netns ns;
	struct dump dump;
	struct strbuf *out;
	size_t *n;
};

/* Adds a difference: "NODE: text". */
void check_say(struct check_node *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Index of the device that an operation concerns, 0 when it is not there. */
int check_ifindex(const struct check_node *c, const struct op *op);

/* Name of a device by index, "?" when it is not there. */
const char *check_name(const struct check_node *c, int ifindex);

void check_links(struct check_node *c);
int check_offloads(struct check_node *c, struct err *err);
void check_qdiscs(struct check_node *c);
void check_addrs(struct check_node *c);
void check_routes(struct check_node *c);
void check_neighs(struct check_node *c);
void check_ovs(struct check_node *c);

/* Iterates over the node's operations of one kind. */
#define CHECK_FOREACH(op, c, wanted)                                                               \
	for (const struct op **op##_at = (c)->ops.v, *op;                                          \
	     op##_at < (c)->ops.v + (c)->ops.n && (op = *op##_at, true); op##_at++)                \
		if (op->kind == (wanted))

#endif
