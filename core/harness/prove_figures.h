/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * prove_figures: counts what happened to the frames of a probe, and says what an impairment may do
 * to as many. Pure.
 */
#ifndef VPCLAB_HARNESS_PROVE_FIGURES_H
#define VPCLAB_HARNESS_PROVE_FIGURES_H

#include "emulator/lab/frames.h"
#include "emulator/model/wire.h"

struct figures {
	int64_t sent;	    /* frames that were handed over */
	int64_t arrived;    /* of them, damaged ones too */
	int64_t duplicates; /* arrivals beyond the first of a frame */
	int64_t damaged;
	int64_t reordered; /* arrived after one that was sent later (RFC 4737, 3.3) */
	int64_t lost;

	/* Where those are that did not arrive whole. */
	int64_t first_missing; /* frames sent before the first; all of them: -1 */
	double distance;       /* mean distance of two that follow each other; NAN: less than two */
	bool regular;	       /* all distances are the same */
	bool all_after_missing; /* none arrived after the first */

	/* Delays of first arrivals, in nanoseconds; NAN: there are less than FIGURES_LEAST. */
	size_t n_delays;
	double least_ns, median_ns, p99_ns, low_ns, high_ns; /* low, high: quartiles */
	double deviation_ns;
};
#define FIGURES_LEAST 10

void figures_count(const struct frames_log *log, struct figures *out);

/* Share lost on average, 0…1; NAN: not by chance (every Nth, after N). */
double figures_loss(const struct wire_impair *i);
/* One standard deviation of the share lost of n packets, and of a share of independent ones. */
double figures_loss_deviation(const struct wire_impair *i, double n);
double figures_share_deviation(double share, double n);

/* The jitter as declared (deviation, half width, scale), from figures; NAN: cannot be told. */
double figures_jitter(const struct wire_impair *i, enum impair_engine engine,
		      const struct figures *f);
/* Its relative standard deviation for n frames. */
double figures_jitter_deviation(const struct wire_impair *i, double n);
/* By how much the median of the delay is above the delay. */
double figures_median_shift(const struct wire_impair *i);
/* One standard deviation of the median of n delays, in nanoseconds. */
double figures_median_deviation(const struct wire_impair *i, double n);

#endif
