/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hist: log-linear histogram of non-negative int64 values with a relative error of at most 1/256.
 * Values below 256 are exact. Adding costs a few instructions and never allocates. The unit is the
 * caller's, the same for all values and for what is asked.
 */
#ifndef VPCLAB_STATS_HIST_H
#define VPCLAB_STATS_HIST_H

#include <jansson.h>
#include <stdint.h>

#define HIST_SUB_BITS 8
#define HIST_BUCKETS  ((64 - HIST_SUB_BITS) << HIST_SUB_BITS)

struct hist {
	int64_t count, min, max;
	double sum, sum_squares;
	uint64_t bucket[HIST_BUCKETS];
};

struct hist *hist_new(void); /* heap; free with hist_free() */
void hist_free(struct hist *h);
void hist_reset(struct hist *h);
void hist_add(struct hist *h, int64_t value); /* below 0 counts as 0 */
void hist_merge(struct hist *into, const struct hist *from);
double hist_mean(const struct hist *h);	  /* exact; NAN without samples */
double hist_stddev(const struct hist *h); /* of the sample (n - 1); NAN below two */
/*
 * Quantile q in 0…1: highest value of the bucket where it lies, within min…max; NAN when there are
 * fewer than 10 / (1 - q) samples (q above 0.5), which would not support the tail.
 */
double hist_quantile(const struct hist *h, double q);
/* Width of the bucket in which this value lies: what two quantiles near it can differ by at least.
 * 1 below 512, then 1/512 to 1/256 of it; NAN for NAN. */
double hist_step(double value);
/* How many values are at most this, to the bucket in which it lies (1/256). */
int64_t hist_at_most(const struct hist *h, int64_t value);
json_t *hist_json(const struct hist *h); /* non-empty buckets; gives a reference */
/* Reads what hist_json() wrote. 0, or -EINVAL, which leaves *h alone. */
int hist_parse(const json_t *j, struct hist *h);

#endif
