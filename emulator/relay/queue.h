/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * queue: what waits, by when it is due: a binary heap with absolute times. What is due at the same
 * time comes out in the order in which it went in.
 */
#ifndef VPCLAB_RELAY_QUEUE_H
#define VPCLAB_RELAY_QUEUE_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/err.h"

struct queue_item {
	int64_t due_ns;
	uint64_t order;
	void *what;
};

struct queue {
	struct queue_item *items;
	size_t n, max;
	uint64_t order; /* of the next */
};

/* Reserves room for `max` items; the kernel gives pages when they are first used. */
int queue_init(struct queue *q, size_t max, struct err *err);
void queue_done(struct queue *q);
void queue_push(struct queue *q, int64_t due_ns, void *what); /* must not be full */
const struct queue_item *queue_first(const struct queue *q);  /* NULL: empty */
struct queue_item queue_pop(struct queue *q);		      /* must not be empty */
void queue_put_back(struct queue *q, struct queue_item item); /* what queue_pop() gave */

#endif
