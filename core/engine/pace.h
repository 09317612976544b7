/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pace: when each packet is due, and what to do when the sender is late.
 *
 * A schedule is a row of places with `burst` packets at each. Periodic: place k of stream i of n is
 * due at start + (k·n + i) · burst · unit, so that the streams of one worker interleave and no
 * error adds up. Random ones (Poisson: exponential gaps; uniform: from 0 to twice the mean; normal:
 * deviation a quarter of the mean, none below 0) have that mean gap, the first one before the first
 * place, and each stream draws its own from the seed.
 *
 * A sender that is late catches up at most 1 ms of packets, or one place where the gap is longer;
 * those before that are given up and counted: after an outage there is no burst.
 */
#ifndef VPCLAB_ENGINE_PACE_H
#define VPCLAB_ENGINE_PACE_H

#include <stdint.h>

#include "core/engine/engine.h"
#include "core/stats/distribution.h"

#define PACE_CATCH_UP_NS INT64_C(1000000)
#define PACE_AHEAD	 128 /* places of a random schedule that are known at a time */

struct pace {
	int64_t start_ns;
	uint64_t work, rate;	 /* one packet of all streams takes work / rate seconds */
	uint64_t streams, index; /* of this stream */
	uint64_t burst;		 /* packets a place */
	uint64_t next;		 /* packet on the schedule */
	int64_t missed;		 /* packets given up */
	/* random schedules only */
	bool random;
	struct distribution gap; /* ns */
	struct distribution_source source;
	uint64_t made; /* places drawn */
	double last;   /* the last one drawn, ns since start_ns */
	int64_t due[PACE_AHEAD];
};

/* work: bits of a packet where rate is bits per second, 1 where it is packets per second. Periodic,
 * one packet a place, until one of the next three says otherwise; in this order. */
void pace_init(struct pace *p, uint64_t work, uint64_t rate);
void pace_stream(struct pace *p, int64_t start_ns, int streams, int index);
void pace_burst(struct pace *p, int64_t burst);
void pace_schedule(struct pace *p, enum engine_schedule schedule, int64_t seed);

/* Of the packet that many after the next; random schedules: of the next PACE_AHEAD places. */
int64_t pace_due(struct pace *p, uint64_t ahead);
int64_t pace_gap_ns(const struct pace *p); /* mean, from place to place of this stream */

/* How many packets, at most `max`, are due at now_ns; gives up what is too late. */
int pace_ready(struct pace *p, int64_t now_ns, int max);
void pace_sent(struct pace *p, int packets);

#endif
