/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * prove_rate: one limit, filled beyond what it lets through, and what comes out. prove_limits.c
 * says which limits there are.
 */
#ifndef VPCLAB_HARNESS_PROVE_RATE_H
#define VPCLAB_HARNESS_PROVE_RATE_H

#include "core/harness/prove_run.h"

struct limit {
	bool packets; /* it counts packets, else bytes by `basis` */
	enum rate_basis basis;
	double per_s;		 /* packets or bytes a second */
	double pace_per_s;	 /* what is offered follows this, where it is more than per_s */
	double saved;		 /* what passes faster at the start, and does not count */
	bool at_once;		 /* … and is sent at once, else at the pace */
	int sizes[FRAMES_SIZES]; /* bytes of IP packets, in turn */
	size_t n_sizes;
	int flows;
	int64_t window_ns; /* how long it is looked at; 0: as usual */
	bool once;	   /* a second try would find something else */
};

double limit_mean(const struct limit *limit); /* of the frames that are sent */

/*
 * Chooses sizes: full frames of the way's MTU, shorter ones on slow links; and, `mixed` and where
 * the machine can send as many, the shortest in between, which tell bases and least frames apart.
 */
void limit_sizes(const struct way *way, bool mixed, struct limit *limit);

/* Sends by n ways at the same time, 1 or both directions of a link, and sets what the proof got and
 * its verdict. */
int prove_limit(struct prover *p, const struct way *ways, size_t n, const struct limit *limit,
		struct proof *proof, struct err *err);

#endif
