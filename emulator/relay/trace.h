/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace: a link that delivers at the times of a trace, as mahimahi's mm-link does (Netravali et
 * al., "Mahimahi: Accurate Record-and-Replay for HTTP", USENIX ATC 2015; its link_queue.cc): each
 * time is an opportunity for 1,504 bytes. A packet needs its IP length and 4 bytes (mahimahi counts
 * the header of its tunnel device); several small packets share an opportunity, a larger one goes
 * on in the next; what is left of an opportunity when the queue is empty is lost. After the last
 * time the trace begins again there: the last time is the period.
 *
 * Pure. When a packet will leave follows from its arrival, so it is told at once.
 */
#ifndef VPCLAB_RELAY_TRACE_H
#define VPCLAB_RELAY_TRACE_H

#include <stddef.h>
#include <stdint.h>

#define TRACE_BYTES	  1504
#define TRACE_QUEUE_BYTES (INT64_C(1000) * TRACE_BYTES) /* more than that waits not: droptail */

struct trace;

/* Borrows `ms`: n times, not falling, the last above 0. Heap; trace_free(). */
struct trace *trace_new(const int64_t *ms, size_t n, int64_t started_ns);
void trace_free(struct trace *t);		       /* NULL is fine */
void trace_borrow(struct trace *t, const int64_t *ms); /* the same times elsewhere; NULL is fine */

/*
 * A packet arrives; arrivals do not fall. Gives when its last byte leaves, or -1: the queue is
 * full.
 */
int64_t trace_pass(struct trace *t, int64_t arrival_ns, int64_t ip_bytes);

#endif
