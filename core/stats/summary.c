/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * summary: what a handful of independent runs say, and whether two handfuls differ. It does not
 * decide how many runs to make; the harness does, and compare.
 */
#include "core/stats/summary.h"

#define MATHLIB_STANDALONE /* the library alone, without R */
#include <Rmath.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median_of(const double *v, size_t n)
{
	autofree double *sorted = mem_zalloc(n * sizeof(*sorted));

	memcpy(sorted, v, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), by_value);
	return n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

/* The two-sided quantile of Student's t. */
static double t_of(double confidence, double degrees)
{
	if (!(confidence > 0 && confidence < 1))
		return NAN;
	return qt(1 - (1 - confidence) / 2, degrees, 1, 0);
}

double summary_half_width(double stddev, size_t n, double confidence)
{
	return n < 2 ? NAN : t_of(confidence, (double)(n - 1)) * stddev / sqrt((double)n);
}

/* Mean and sample variance (n - 1); the variance is NAN for n < 2. Two passes, so exact enough. */
static double mean_of(const double *v, size_t n, double *variance)
{
	double sum = 0, squares = 0, mean;

	for (size_t i = 0; i < n; i++)
		sum += v[i];
	mean = sum / (double)n;
	for (size_t i = 0; i < n; i++)
		squares += (v[i] - mean) * (v[i] - mean);
	*variance = n < 2 ? NAN : squares / (double)(n - 1);
	return mean;
}

void summary_of(const double *v, size_t n, double confidence, struct summary *out)
{
	struct summary s = {.n = n, .confidence = confidence};
	double variance;

	s.mean = s.stddev = s.min = s.max = s.median = s.half_width = NAN;
	if (n) {
		s.mean = mean_of(v, n, &variance);
		s.stddev = sqrt(variance);
		s.median = median_of(v, n);
	}
	for (size_t i = 0; i < n; i++) {
		s.min = fmin(s.min, v[i]);
		s.max = fmax(s.max, v[i]);
	}
	s.half_width = summary_half_width(s.stddev, n, confidence);
	*out = s;
}

static double widened(double half_width, double step)
{
	return half_width < step ? step : half_width; /* false for NAN */
}

void summary_widen(struct summary *s, double step)
{
	s->half_width = widened(s->half_width, step);
}

/* Degrees of freedom by Welch and Satterthwaite, from the two squared standard errors. */
static double welch_degrees(double se2_a, size_t n_a, double se2_b, size_t n_b)
{
	double both = se2_a + se2_b;

	return both * both /
	       (se2_a * se2_a / (double)(n_a - 1) + se2_b * se2_b / (double)(n_b - 1));
}

void summary_difference(const double *a, size_t n_a, const double *b, size_t n_b, double confidence,
			struct difference *out)
{
	struct difference d = {.diff = NAN, .half_width = NAN};
	double se2_a, se2_b;

	if (n_a && n_b) {
		d.diff = mean_of(b, n_b, &se2_b) - mean_of(a, n_a, &se2_a);
		se2_a /= (double)n_a;
		se2_b /= (double)n_b;
	}
	if (n_a >= 2 && n_b >= 2 && se2_a + se2_b > 0)
		d.half_width =
		    t_of(confidence, welch_degrees(se2_a, n_a, se2_b, n_b)) * sqrt(se2_a + se2_b);
	else if (n_a >= 2 && n_b >= 2 && se2_a + se2_b == 0)
		d.half_width = 0; /* no spread at all */
	d.significant = fabs(d.diff) > d.half_width;
	*out = d;
}

void summary_widen_difference(struct difference *d, double step)
{
	d->half_width = widened(d->half_width, step);
	d->significant = fabs(d->diff) > d->half_width;
}
