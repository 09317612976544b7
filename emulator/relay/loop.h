/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * loop: the thread that carries packets, both directions of a link. It sleeps when there is nothing
 * to do, and wakes a little before a packet is due: by as much as this machine was late to wake it
 * before, at most LOOP_LEAD_NS, and spins for what is left.
 *
 * One thread for both directions: a change takes effect in both between two packets without locks,
 * and on a small machine the CPUs are needed by those who send and receive.
 */
#ifndef VPCLAB_RELAY_LOOP_H
#define VPCLAB_RELAY_LOOP_H

#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "emulator/relay/lane.h"

#define LOOP_LEAD_NS INT64_C(60000)

struct loop;
typedef void loop_fn(struct loop *l, void *arg);

struct loop {
	struct lane lanes[RELAY_DIRECTIONS];
	struct fatelog log;
	const char *name;
	int wake; /* eventfd */
	int64_t lead_ns;
	bool end, down; /* down: some device is, or was when last looked at */
	/* What another thread wants done between two packets. */
	_Atomic(loop_fn *) call;
	atomic_bool stopped;
	void *arg;
	sem_t called;
};

/* Borrows `s`, whose impairments must live until others are set. */
int loop_open(struct loop *l, const struct relay_spec *s, struct err *err);
void loop_close(struct loop *l);

/* Carries packets until `end` is set. -ENODEV: a device has gone. */
int loop_run(struct loop *l, struct err *err);

/* From another thread: runs `fn` in the loop's, between two packets, and returns when it has run.
 * One caller at a time. When the loop has stopped it runs in the caller's thread. */
void loop_call(struct loop *l, loop_fn *fn, void *arg);

#endif
