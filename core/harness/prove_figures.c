/* SPDX-License-Identifier: GPL-2.0-or-later */
/* prove_figures: counting and a little statistics. Called by prove_impair.c and prove_times.c. */
#include "core/harness/prove_figures.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/mem.h"

#define PPM 1e-6

/* ---- counting ---- */

static void count_arrivals(const struct frames_log *log, int64_t *delays, bool *seen,
			   struct figures *out)
{
	int64_t next = 0; /* NextExp of RFC 4737: the lowest number that is not late */

	for (size_t i = 0; i < log->n_arrivals; i++) {
		const struct frames_arrival *a = &log->arrivals[i];

		if (a->kind == FRAMES_DAMAGED)
			out->damaged++;
		if (a->kind != FRAMES_OURS || a->seq >= log->n_sent || !log->sent_ns[a->seq])
			continue;
		if (seen[a->seq]) {
			out->duplicates++;
			continue;
		}
		seen[a->seq] = true;
		out->arrived++;
		delays[out->n_delays++] = a->at_ns - log->sent_ns[a->seq];
		if (a->seq < next)
			out->reordered++;
		else
			next = (int64_t)a->seq + 1;
	}
	out->arrived += out->damaged;
}

static void find_missing(const struct frames_log *log, const bool *seen, struct figures *out)
{
	int64_t index = 0, last = -1, first_distance = 0, n = 0;

	out->first_missing = -1;
	out->regular = out->all_after_missing = true;
	out->distance = NAN;
	for (size_t i = 0; i < log->n_sent; i++) {
		if (!log->sent_ns[i])
			continue;
		index++;
		if (seen[i]) {
			out->all_after_missing = out->all_after_missing && last < 0;
			continue;
		}
		if (last < 0)
			out->first_missing = index - 1;
		else if (!n++)
			first_distance = index - last;
		else if (index - last != first_distance)
			out->regular = false;
		last = index;
	}
	out->sent = index;
	if (n)
		out->distance = (double)(last - 1 - out->first_missing) / (double)n;
}

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static double quantile(const int64_t *sorted, size_t n, double q)
{
	return (double)sorted[(size_t)(q * (double)(n - 1) + 0.5)];
}

static void describe_delays(int64_t *delays, struct figures *out)
{
	size_t n = out->n_delays;
	double sum = 0, squares = 0, mean;

	out->least_ns = out->median_ns = out->p99_ns = out->low_ns = out->high_ns =
	    out->deviation_ns = NAN;
	if (n < FIGURES_LEAST)
		return;
	qsort(delays, n, sizeof(*delays), compare);
	for (size_t i = 0; i < n; i++)
		sum += (double)delays[i];
	mean = sum / (double)n;
	for (size_t i = 0; i < n; i++)
		squares += ((double)delays[i] - mean) * ((double)delays[i] - mean);
	out->least_ns = (double)delays[0];
	out->low_ns = quantile(delays, n, 0.25);
	out->median_ns = quantile(delays, n, 0.5);
	out->high_ns = quantile(delays, n, 0.75);
	out->p99_ns = quantile(delays, n, 0.99);
	out->deviation_ns = sqrt(squares / (double)(n - 1));
}

void figures_count(const struct frames_log *log, struct figures *out)
{
	int64_t *delays = mem_zalloc((log->n_arrivals + 1) * sizeof(*delays));
	bool *seen = mem_zalloc(log->n_sent + 1);

	*out = (struct figures){0};
	count_arrivals(log, delays, seen, out);
	find_missing(log, seen, out);
	out->lost = out->sent - out->arrived;
	describe_delays(delays, out);
	free(delays);
	free(seen);
}

/* ---- loss ---- */

/* Share of time in the bad state of Gilbert-Elliott. */
static double share_bad(const struct wire_impair *i)
{
	double both = (double)i->to_bad_ppm + i->to_good_ppm;

	return both > 0 ? i->to_bad_ppm / both : 0;
}

double figures_loss(const struct wire_impair *i)
{
	double bad = share_bad(i);

	switch (i->loss) {
	case LOSS_NONE:
		return 0;
	case LOSS_RANDOM:
		return i->loss_ppm * PPM;
	case LOSS_BURSTS:
		return (bad * i->bad_loss_ppm + (1 - bad) * i->good_loss_ppm) * PPM;
	case LOSS_EVERY:
	case LOSS_AFTER:
		break;
	}
	return NAN;
}

double figures_share_deviation(double share, double n)
{
	return n > 0 ? sqrt(share * (1 - share) / n) : 0;
}

/*
 * What is correlated by rho from one packet to the next counts like (1 - rho) / (1 + rho) as many
 * independent ones; of bursts only the state is.
 */
double figures_loss_deviation(const struct wire_impair *i, double n)
{
	double share = figures_loss(i), rho = 0, state = 0;

	if (i->loss == LOSS_RANDOM) {
		rho = i->loss_correlation_ppm * PPM;
		return figures_share_deviation(share, n * (1 - rho) / (1 + rho));
	}
	if (i->loss == LOSS_BURSTS && n > 0) {
		double bad = share_bad(i), apart = (i->bad_loss_ppm - i->good_loss_ppm) * PPM;

		rho = 1 - (i->to_bad_ppm + i->to_good_ppm) * PPM;
		state = bad * (1 - bad) * apart * apart * 2 * rho / (1 - rho) / n;
	}
	return sqrt(fmax(0, state) + pow(figures_share_deviation(share, n), 2));
}

/* ---- jitter ---- */

/* Lomax of shape 3: its quantile q is scale x ((1 - q)^(-1/3) - 1); see emulator/relay/fate.h. */
static double lomax(double q)
{
	return pow(1 - q, -1 / 3.0) - 1;
}

double figures_jitter(const struct wire_impair *i, enum impair_engine engine,
		      const struct figures *f)
{
	switch (i->jitter) {
	case JITTER_NORMAL:
		return f->deviation_ns;
	case JITTER_UNIFORM:
		return f->deviation_ns * sqrt(3);
	case JITTER_PARETO: /* netem's table is another one */
		return engine == IMPAIR_RELAY
			   ? (f->high_ns - f->low_ns) / (lomax(0.75) - lomax(0.25))
			   : NAN;
	}
	return NAN;
}

/* Asymptotic: sqrt((kurtosis - 1) / 4n) for deviations; for the quartiles by their density. */
double figures_jitter_deviation(const struct wire_impair *i, double n)
{
	static const double factor[] = {
	    [JITTER_NORMAL] = 0.7071, [JITTER_UNIFORM] = 0.4472, [JITTER_PARETO] = 1.5};
	double rho = i->jitter_correlation_ppm * PPM;

	return factor[i->jitter] / sqrt(n * (1 - rho * rho) / (1 + rho * rho));
}

double figures_median_shift(const struct wire_impair *i)
{
	return i->jitter_ns && i->jitter == JITTER_PARETO ? (double)i->jitter_ns * lomax(0.5) : 0;
}

double figures_median_deviation(const struct wire_impair *i, double n)
{
	double rho = i->jitter_correlation_ppm * PPM;

	return 1.2533 * (double)i->jitter_ns / sqrt(n * (1 - rho) / (1 + rho));
}
