/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * events: what a thread with many sockets waits on: epoll, level-triggered, so that one receive an
 * event is enough and nothing is forgotten. Private to this folder. Facts: epoll(7).
 */
#ifndef VPCLAB_ENGINE_EVENTS_H
#define VPCLAB_ENGINE_EVENTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>

#include "core/engine/worker.h"

#define EVENTS_MAX 256

struct events {
	int fd;
	const struct worker *w;
	struct epoll_event got[EVENTS_MAX];
};

/* The end of the run is an event too, with data.ptr NULL. 0 or negative errno. */
int events_open(struct events *e, struct worker *w);
void events_close(struct events *e);

int events_add(struct events *e, int fd, uint32_t what, void *ptr); /* 0 or negative errno */
int events_change(struct events *e, int fd, uint32_t what, void *ptr);

/*
 * Waits for events until the deadline (spec.spin: without sleeping): how many are in `got`; 0 at
 * the deadline, sometimes sooner. now_ns is about what the clock says: a busy thread has read it.
 */
int events_wait(struct events *e, int64_t now_ns, int64_t deadline_ns);

#endif
