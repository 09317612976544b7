/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * starved: how long the threads of a lab's processes were ready to run and had no CPU. A tool that
 * waits reads its clock late and its socket too late; that is the machine's fault and not its own.
 */
#ifndef VPCLAB_HARNESS_STARVED_H
#define VPCLAB_HARNESS_STARVED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct starved;

struct starved_found {		    /* of the thread that waited most */
	bool known;		    /* false: this kernel does not tell (CONFIG_SCHED_INFO) */
	double waited_s, longest_s; /* in all; in one go, or in several between two looks */
};

/* `inside`: a process of the lab, by whose /proc all others are found. Heap, never NULL. */
struct starved *starved_new(pid_t inside);
/* To be called again and again while it matters: a thread that ends between two looks is known up
 * to the last one. Microseconds a thread. */
void starved_look(struct starved *s);
void starved_found(const struct starved *s, struct starved_found *out);
void starved_free(struct starved *s); /* NULL is fine */

/* The two figures of /proc/PID/task/TID/schedstat (kernel's Documentation/scheduler/sched-stats):
 * nanoseconds on a CPU and waited for one. False: it is not that. */
bool starved_parse(const char *text, int64_t *ran_ns, int64_t *waited_ns);

#endif
