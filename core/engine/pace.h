/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pace: when each packet is due, on a fixed grid, and what to do when the sender is late.
 *
 * Packet k of stream i of n is due at start + (k·n + i) · unit, so that the streams of one worker
 * interleave. A sender that is late catches up at most 1 ms of packets, or one packet where the gap
 * is longer; the places on the grid before that are given up and counted.
 */
#ifndef VPCLAB_ENGINE_PACE_H
#define VPCLAB_ENGINE_PACE_H

#include <stdint.h>

#define PACE_CATCH_UP_NS INT64_C(1000000)

struct pace {
	int64_t start_ns;
	uint64_t work, rate;	 /* one packet of all streams takes work / rate seconds */
	uint64_t streams, index; /* of this stream */
	uint64_t next;		 /* packet on the grid */
	int64_t missed;		 /* places given up */
};

/* work: bits of a packet where rate is bits per second, 1 where it is packets per second. */
void pace_init(struct pace *p, uint64_t work, uint64_t rate);
void pace_stream(struct pace *p, int64_t start_ns, int streams, int index);
int64_t pace_due(const struct pace *p, uint64_t ahead); /* of the packet that many after the next */

/* How many packets, at most `max`, are due at now_ns; gives up what is too late. */
int pace_ready(struct pace *p, int64_t now_ns, int max);
void pace_sent(struct pace *p, int packets);

#endif
