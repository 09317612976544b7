// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * result: finding figures in a finished or half-finished run. Neither measures nor judges. Called
 * by run.c (is the interval narrow enough?), verdict.c and the reports.
 */
#include "core/harness/result.h"

#include <math.h>
#include <string.h>

#include "core/base/units.h"

void result_init(struct run_result *r, const struct scenario *s)
{
	memset(r, 0, sizeof(*r));
	arena_init(&r->arena);
	r->scenario = s;
}

void result_done(struct run_result *r)
{
	VEC_FOREACH (cell, &r->cells)
		VEC_FOREACH (run, &cell->runs)
			engine_result_done(&run->engine);
	VEC_FOREACH (lab, &r->labs) {
		json_decref(lab->choices);
		json_decref(lab->links);
	}
	proofs_done(&r->proofs);
	arena_done(&r->arena);
	memset(r, 0, sizeof(*r));
}

struct run_cell *result_cell(const struct run_result *r, int measure, int path)
{
	VEC_FOREACH (cell, &r->cells)
		if (cell->measure == measure && cell->path == path)
			return cell;
	return NULL;
}

bool result_worked(const struct run_cell *c)
{
	VEC_FOREACH (run, &c->runs)
		if (!run->error)
			return true;
	return false;
}

const char *result_error(const struct run_result *r, const struct run_cell *c)
{
	if (c->error)
		return c->error;
	if (r->interrupted || result_worked(c))
		return NULL;
	return c->runs.n ? c->runs.v[c->runs.n - 1].error : "it was never run";
}

size_t result_values(const struct run_cell *c, const struct metric *m, double *v, size_t max)
{
	size_t n = 0;

	VEC_FOREACH (run, &c->runs) {
		double value = run->error ? NAN : m->get(run);

		if (!isnan(value) && n < max)
			v[n++] = value;
	}
	return n;
}

double result_step(const struct run_cell *c, const struct metric *m)
{
	double most = 0;

	VEC_FOREACH (run, &c->runs)
		if (!run->error)
			most = fmax(most, metric_step(m, run));
	return most;
}

void result_summary(const struct run_cell *c, const struct metric *m, double confidence,
		    struct summary *out)
{
	double v[RESULT_MAX_RUNS];
	size_t n = result_values(c, m, v, RESULT_MAX_RUNS);

	*out = (struct summary){.half_width = NAN,
				.mean = NAN,
				.min = NAN,
				.max = NAN,
				.median = NAN,
				.stddev = NAN,
				.confidence = confidence};
	if (!n)
		return;
	summary_of(v, n, confidence, out);
	summary_widen(out, result_step(c, m));
	/* The least of all runs is one number without an interval. */
	if (m->over == METRIC_MEAN)
		return;
	out->mean = m->over == METRIC_LEAST ? out->min : out->max;
	out->half_width = NAN;
}

bool result_predicted(const struct run_result *r, const struct run_cell *c, const struct metric *m,
		      double *point, double *low, double *high)
{
	const struct truth_predicted *p = &c->predicted;
	double bits = (double)r->scenario->measures.v[c->measure].spec.file_size * 8;

	if (!p->known || m->truth == METRIC_UNPREDICTED)
		return false;
	if (m->truth == METRIC_PACKETS) {
		*point = p->pps;
		*low = p->low_pps;
		*high = p->high_pps;
	} else if (m->truth == METRIC_GOODPUT) {
		*point = p->goodput_bps;
		*low = p->low_bps;
		*high = p->high_bps;
	} else {
		*point = bits / p->goodput_bps * (double)NSEC_PER_SEC;
		*low = bits / p->high_bps * (double)NSEC_PER_SEC;
		*high = bits / p->low_bps * (double)NSEC_PER_SEC;
	}
	return true;
}

double result_counted(const struct run_cell *c, const struct metric *m)
{
	double sum = 0;
	int n = 0;

	VEC_FOREACH (run, &c->runs) {
		double v = m->truth == METRIC_PACKETS ? run->counted.pps : run->counted.goodput_bps;

		if (run->error || isnan(v))
			continue;
		sum += v;
		n++;
	}
	return n ? sum / n : NAN;
}
