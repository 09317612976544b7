/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * prove_judge: from times and sizes of arrivals to a rate, and from figures to verdicts. Pure.
 */
#ifndef VPCLAB_HARNESS_PROVE_JUDGE_H
#define VPCLAB_HARNESS_PROVE_JUDGE_H

#include "core/harness/prove.h"
#include "emulator/lab/frames.h"

struct judge_point {	/* one arrival */
	int64_t at_ns;	/* rising */
	int64_t charge; /* what it counts: bytes by some basis, or 1 */
};

/*
 * How fast a backlogged token bucket let packets through.
 *
 * The bucket lets no packet go before its tokens are there, and all packets that wait as soon as
 * they are; only a late timer makes a packet late, and later ones make up for it. So the earliest
 * packets, relative to a straight line, tell the rate whatever the timers did: one of the first
 * third and one of the last third, and what was charged between them. Tokens that were lost for
 * good (the machine stood still for longer than the bucket is deep) do lower it; `paused_ns` tells
 * how much of the window that could be.
 */
struct judge_rate {
	size_t n;	    /* arrivals in the window; less than 4: nothing is known */
	double rate;	    /* charge a second */
	int64_t window_ns;  /* between the two packets */
	int64_t paused_ns;  /* sum of the gaps between arrivals that are longer than `bridge_ns` */
	int64_t longest_ns; /* of all gaps */
};

/* `skip`: so much is thrown away at the start, for what the bucket had saved. */
void judge_rate(const struct judge_point *v, size_t n, int64_t skip, int64_t bridge_ns,
		struct judge_rate *out);

/* What stands beside a figure and may excuse it. Zeroed: nothing does. */
struct judge_evidence {
	double offered;	     /* what was offered, in the figure's unit; 0: does not matter */
	bool pushed_back;    /* the link itself made the sender wait: it was offered enough */
	double paused_share; /* of the window, see judge_rate */
	double saved_share;  /* what a bucket that filled up meanwhile can add, of the figure */
	int64_t longest_ns;
	int64_t arrived;	 /* of our frames */
	int64_t sent;		 /* of our frames */
	int64_t foreign;	 /* packets of others that the figure does not account for */
	int64_t overrun;	 /* arrivals that were not seen */
	int64_t softnet_dropped; /* by the machine's own queues, in the meantime */
	const char *relay;	 /* that the relay of the link was at its limit, in words */
	const char *busy;	 /* for times: that other programs held the CPUs, in words */
};

/* Sets verdict and why (in `arena`) of a figure that is filled in. */
void judge_proof(struct proof *p, const struct judge_evidence *e, struct arena *arena);

#endif
