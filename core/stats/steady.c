/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * steady: the cut of least standard error and a test of the slope behind it. It knows nothing of
 * time: a caller turns figures into seconds. Used by core/engine/findings.c.
 */
#include "core/stats/steady.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#define MATHLIB_STANDALONE
#include <Rmath.h>

static double steady_mean(const double *v, size_t n)
{
	double sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += v[i];
	return sum / (double)n;
}

/* Of the batches from `first` on: their squared deviations over their number squared. */
static double steady_error(const double *v, size_t batch, size_t first, size_t batches)
{
	double n = (double)(batches - first),
	       mean = steady_mean(v + first * batch, (batches - first) * batch);
	double sum = 0;
	for (size_t b = first; b < batches; b++) {
		double d = steady_mean(v + b * batch, batch) - mean;
		sum += d * d;
	}
	return sum / (n * n);
}

/* Slope of the line of least squares, and how sure it is: Student's t. */
static double steady_slope(const double *v, size_t n, double *t)
{
	double mean = steady_mean(v, n), middle = (double)(n - 1) / 2, xx = 0, xy = 0, rest = 0;
	for (size_t i = 0; i < n; i++) {
		xx += ((double)i - middle) * ((double)i - middle);
		xy += ((double)i - middle) * (v[i] - mean);
	}
	double slope = xy / xx;
	for (size_t i = 0; i < n; i++) {
		double d = v[i] - mean - slope * ((double)i - middle);
		rest += d * d;
	}
	double error = sqrt(rest / (double)(n - 2) / xx);
	*t = error > 0 ? fabs(slope) / error : slope != 0 ? INFINITY : 0;
	return slope;
}

/* Noise has a least error somewhere too: only a begin that is off what follows is cut. */
static bool steady_differs(const double *v, size_t cut, size_t n)
{
	if (!cut)
		return false;
	double head = steady_mean(v, cut), mean = steady_mean(v + cut, n - cut), sum = 0;
	for (size_t i = cut; i < n; i++)
		sum += (v[i] - mean) * (v[i] - mean);
	double error = sqrt(sum / (double)(n - cut) / (double)cut);
	return fabs(head - mean) > fmax(0.01 * fabs(mean), 3 * error);
}

void steady_find(const double *v, size_t n, struct steady *out)
{
	*out = (struct steady){.cut = -1, .trend = NAN};
	if (n < STEADY_LEAST) {
		snprintf(out->why, sizeof(out->why), "%zu intervals are too few to tell", n);
		return;
	}
	size_t batch = n / 20 > 5 ? 5 : n / 20 ? n / 20 : 1, batches = n / batch, cut = 0;
	double least = INFINITY;
	for (size_t b = 0; b <= batches / 2 && batches - b >= STEADY_LEAST; b++)
		least = fmin(least, steady_error(v, batch, b, batches));
	while (steady_error(v, batch, cut, batches) > least * STEADY_NEAR)
		cut++;
	cut *= batch;
	if (!steady_differs(v, cut, n))
		cut = 0;
	size_t rest = n - cut;
	double t, mean = steady_mean(v + cut, rest), slope = steady_slope(v + cut, rest, &t);
	out->trend = mean != 0 ? slope * (double)(rest - 1) / mean : 0;
	if (fabs(out->trend) > STEADY_TREND && t > qt(0.995, (double)(rest - 2), 1, 0))
		snprintf(out->why, sizeof(out->why),
			 "it still %s, by %.0f %% over the last %zu "
			 "intervals",
			 out->trend > 0 ? "grew" : "fell", fabs(out->trend) * 100, rest);
	else
		out->cut = (int)cut;
}
