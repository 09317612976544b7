/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * canary: tells when the network namespaces of a lab are gone from the kernel, which takes them
 * down on its own time after the last process has ended.
 */
#ifndef VPCLAB_LAB_CANARY_H
#define VPCLAB_LAB_CANARY_H

#include "emulator/lab/handle.h"

struct canary {
	struct proc proc;
	int line; /* a word on it says: all processes have ended; -1: closed */
};

/* Puts the canary into a lab that still runs. */
int canary_start(const struct lab *lab, struct canary *c, struct err *err);

/* After the lab's processes have ended: waits until its namespaces are gone. Frees the canary.
 * -ETIMEDOUT when the deadline comes first. */
int canary_wait(struct canary *c, int64_t deadline_ns, struct err *err);

/* Frees a canary that is not waited for. */
void canary_done(struct canary *c);

#endif
