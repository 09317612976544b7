/* SPDX-License-Identifier: GPL-2.0-or-later */
/* queues: what waits on the lab's links, so that one run does not begin with the packets of the one
 * before. */
#ifndef VPCLAB_HARNESS_QUEUES_H
#define VPCLAB_HARNESS_QUEUES_H

#include "core/base/mem.h"
#include "emulator/lab/lab.h"
#include "emulator/model/path.h"

struct queues_at {
	const struct lab *lab;
	const struct wire *wire;
	const struct path *there; /* of the data */
	bool (*stop)(void);	  /* asked while waiting: give up? */
};

/*
 * Waits until no limited or impaired link of the lab holds a packet and the last link on the way
 * stands still, or the deadline (CLOCK_MONOTONIC, ns) has come: then it is -ETIMEDOUT with what
 * waits.
 */
int queues_wait(const struct queues_at *at, int64_t deadline_ns, struct err *err);

#endif
