/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * distribution: random numbers from a seed of one's own, uniform, normal, Poisson, exponential,
 * Pareto and lognormal. The same seed gives the same numbers on every machine; nothing is global,
 * so that a thread with a source of its own needs no lock. Units are the caller's.
 *
 * The bits are xoshiro256** (Blackman and Vigna, ACM TOMS 47(4), 2021), its state filled by
 * splitmix64. Every draw takes one of them and goes through the inverse of the distribution
 * function (libRmath's quantiles where there is no short formula), so what is drawn depends on the
 * place in the sequence alone.
 */
#ifndef VPCLAB_STATS_DISTRIBUTION_H
#define VPCLAB_STATS_DISTRIBUTION_H

#include <stdint.h>

#include "core/base/err.h"

struct distribution_source { /* of one thread */
	uint64_t state[4];
};

/* Any seed will do; 0 is one like the others. Two sources of one measurement: see _fork(). */
void distribution_seed(struct distribution_source *r, uint64_t seed);

/* For the index-th part (a stream, a pair) of what has this seed: sources that do not overlap. */
void distribution_fork(struct distribution_source *r, uint64_t seed, uint64_t index);

/* A seed from the system's generator, 1 to 2⁵³ − 1: exact in JSON. */
int64_t distribution_seed_new(void);

uint64_t distribution_bits(struct distribution_source *r); /* 64 of them */
double distribution_unit(struct distribution_source *r);   /* uniform in (0, 1), never an end */

enum distribution_kind {
	DISTRIBUTION_CONSTANT,	  /* a */
	DISTRIBUTION_UNIFORM,	  /* from a to b */
	DISTRIBUTION_NORMAL,	  /* mean a, standard deviation b; can be below 0 */
	DISTRIBUTION_POISSON,	  /* mean a; whole numbers */
	DISTRIBUTION_EXPONENTIAL, /* mean a */
	DISTRIBUTION_PARETO,	  /* at least a, shape b: P(X > x) = (a / x)ᵇ */
	DISTRIBUTION_LOGNORMAL,	  /* its logarithm: mean a, standard deviation b */
};

struct distribution {
	enum distribution_kind kind;
	double a, b;
};

/* "constant", "uniform", … ; -EINVAL with a suggestion. */
int distribution_kind_parse(const char *name, enum distribution_kind *kind, struct err *err);

/* -EINVAL where the parameters make no distribution (b < a, a negative deviation, …). */
int distribution_check(const struct distribution *d, struct err *err);

double distribution_draw(const struct distribution *d, struct distribution_source *r);
/* P(X ≤ x): what tests hold draws against. */
double distribution_cdf(const struct distribution *d, double x);

#endif
