/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * queues: what waits in the lab's queues, and what they dropped: so that one run does not begin
 * with the packets of the one before, and a loss has a place.
 */
#ifndef VPCLAB_HARNESS_QUEUES_H
#define VPCLAB_HARNESS_QUEUES_H

#include "core/base/mem.h"
#include "emulator/lab/lab.h"
#include "emulator/model/path.h"

struct queues_at {
	const struct lab *lab;
	const struct wire *wire;
	const struct path *there, *back; /* of the data, and of the answers */
	bool (*stop)(void);		 /* asked while waiting: give up? */
};

/*
 * Waits until no shaper of the lab holds a packet and the device where the data arrives stands
 * still, or the deadline (CLOCK_MONOTONIC, ns) has come: then it is -ETIMEDOUT with what waits.
 */
int queues_wait(const struct queues_at *at, int64_t deadline_ns, struct err *err);

/* The counters of all nodes on both ways (count_snapshot()). Gives a reference. */
int queues_read(const struct queues_at *at, json_t **out, struct err *err);

enum queue_kind { QUEUE_SHAPER, QUEUE_DEVICE, QUEUE_SOCKET };

struct queue_drop {
	enum queue_kind kind;
	const char *node, *dev; /* dev: NULL for a socket */
	const char *link;	/* whose direction the device is, or NULL */
	int64_t packets;
};

struct queue_drops {
	VEC(struct queue_drop) list;
};

/* What was dropped between two readings; names are the wire's, or in `arena`. */
void queues_between(const struct wire *w, const json_t *before, const json_t *after,
		    struct arena *arena, struct queue_drops *out);

/* "67894 at h1 nic (queue of h1 uplink)", into `out`. */
void queues_describe(const struct queue_drop *d, struct strbuf *out);

#endif
