/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * summary: mean, spread and Student-t confidence of independent runs (libRmath's quantiles). The
 * unit of all results is that of the values.
 */
#ifndef VPCLAB_STATS_SUMMARY_H
#define VPCLAB_STATS_SUMMARY_H

#include <stddef.h>

struct summary {
	size_t n;
	double mean, stddev, min, max, median;
	double half_width; /* of the confidence interval of the mean; NAN for n < 2 */
	double confidence; /* 0…1, as asked */
};

/* All NAN for n = 0; stddev and half_width need two values. `confidence` in 0…1, like 0.95. */
void summary_of(const double *v, size_t n, double confidence, struct summary *out);

/* The interval of values that come in steps is no narrower than one step, in their unit, however
 * alike they are. Leaves one that is not there (NAN) alone, as does a step of 0 or NAN. */
void summary_widen(struct summary *s, double step);

/* Half the confidence interval of a mean from n values of that deviation; NAN for n < 2. */
double summary_half_width(double stddev, size_t n, double confidence);

/* Difference of two means (Welch): mean of b − mean of a and its half width at that confidence. */
struct difference {
	double diff, half_width;
	int significant; /* the interval excludes zero */
};
void summary_difference(const double *a, size_t n_a, const double *b, size_t n_b, double confidence,
			struct difference *out);
/* Likewise for a difference, whose step is that of both sides together. */
void summary_widen_difference(struct difference *d, double step);

#endif
