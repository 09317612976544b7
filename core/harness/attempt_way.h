/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * attempt_way: one way of an attempt's data, and what the kernel says about it. Private to this
 * folder.
 *
 * A measurement has one, from its client to its server or (tcp_maerts) back, or both of them
 * (tcp_bidir). Each has a receiving device with counters, a share of the links' losses, and a claim
 * of the engine's that the counters confirm or not.
 */
#ifndef VPCLAB_HARNESS_ATTEMPT_WAY_H
#define VPCLAB_HARNESS_ATTEMPT_WAY_H

#include "core/harness/counters.h"
#include "core/harness/losses.h"
#include "core/harness/result.h"

struct way {
	const struct engine_spec *spec; /* as used; borrowed, as are the paths of `links` */
	struct losses_at links; /* of the data, and of the answers: NULL where a way of its own */
	const char *from, *to;	/* endpoints of the data */
	int family;		/* AF_INET or AF_INET6 */
	bool from_server;	/* the server sends */
	bool both;		/* data runs the other way too */
	bool others;		/* so do other pairs, on any way */
	struct counters *counters;
	struct err counters_err;	 /* why there are none */
	struct truth_counts first, last; /* readings in the window */
	struct truth_counts at_end;	 /* what had come when the ends stopped */
	int64_t late_packets;		 /* of the flow, that arrived when the ends had stopped */
};

/* What one way found: in a sample's own place, or in its `back`. */
struct way_found {
	struct truth_counts *whole, *window;
	struct truth_counted *counted;
	struct losses *losses;
};

/* Starts to count (`shared`: see counters.h, or NULL); without counters a measurement still is one,
 * and the sample says why. */
void way_open(struct way *way, const json_t *flows, struct counters_shared *shared);
/* Reads the counters within the window. */
void way_read(struct way *way);
/* Reads them right when the ends have stopped, for what comes too late for them. */
void way_end(struct way *way);

/*
 * All is over and the links are quiet: what was counted, lost and claimed. `between` is the
 * difference of the links' ledgers, or NULL. Texts live in `arena`.
 */
void way_judge(struct way *way, const struct engine_result *e, const struct account *between,
	       struct arena *arena, struct way_found *out);
void way_close(struct way *way);

#endif
