/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pair_flow: what one pair's datagrams look like where they arrive: which came, how often, in what
 * order, how late. About 800 bytes a pair. Private to this folder.
 */
#ifndef VPCLAB_ENGINE_PAIR_FLOW_H
#define VPCLAB_ENGINE_PAIR_FLOW_H

#include <jansson.h>
#include <stdint.h>

#define PAIR_FLOW_WINDOW 4096 /* numbers back that are remembered; older ones are `late` */

struct pair_flow {
	int64_t received;		     /* once each */
	int64_t bytes;			     /* of those */
	int64_t duplicated, reordered, late; /* as in seq.h */
	int64_t next;			     /* highest number + 1 */
	int64_t run, longest;		     /* of numbers in a row that never came: now, at most */
	int64_t runs;			     /* how many such rows */
	int64_t unplayed;		     /* came later than the jitter buffer waits */
	double jitter_ns;		     /* RFC 3550, 6.4.1 */
	double delay_mean, delay_squares;    /* one way, ns (Welford) */
	int64_t delay_min, delay_max, transit;
	uint64_t bits[PAIR_FLOW_WINDOW / 64];
};

struct pair_arrival {
	uint64_t number;
	int64_t delay_ns, bytes;
	int64_t jitter_buffer_ns; /* 0: nobody plays it */
};

void pair_flow_add(struct pair_flow *f, const struct pair_arrival *a);
/* After the last arrival: what is still missing below `next` is lost. */
void pair_flow_settle(struct pair_flow *f);
/* At the driver: those that came after `next` and never arrived, by the sender's count. */
void pair_flow_close(struct pair_flow *f, int64_t sent);
/* Adds up; delays of both, the larger jitter. */
void pair_flow_merge(struct pair_flow *into, const struct pair_flow *from);

json_t *pair_flow_pack(const struct pair_flow *f); /* gives a reference */
void pair_flow_unpack(const json_t *j, struct pair_flow *out);

#endif
