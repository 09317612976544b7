/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * repeat: one specification measured again and again until the confidence interval of its figure
 * is as narrow as asked (Student's t over independent runs), or often enough. The figure that
 * decides is the test's default metric (metric.h); all of its metrics are kept. An interval is
 * never narrower than the figure is fine (metric_step()): runs that give the same percentile to the
 * digit are not the same to the nanosecond. A target below that is never reached.
 */
#ifndef VPCLAB_HARNESS_REPEAT_H
#define VPCLAB_HARNESS_REPEAT_H

#include "core/harness/procedure.h"
#include "core/stats/summary.h"

struct repeat_run {
	double *values;	     /* of metric_at(0…); NAN: not of this test, or not measured */
	double *steps;	     /* … and how fine they are: metric_step() */
	const char *machine; /* what this machine was short of, or NULL */
	const char *limit; /* what held the rate, in the engine's or the machine's words; or NULL */
};

struct repeat {			     /* zeroed is empty; in the procedure's arena */
	struct engine_spec spec;     /* as it was run */
	VEC(struct repeat_run) runs; /* those that worked */
	int failed;
	const char *error; /* why there are no (further) runs, or NULL */
	bool settled;	   /* the interval became as narrow as asked */
};

/* "99%,2.5%", "95%,5%,30": confidence, half width of the interval over the mean, most runs (30).
 * At least 3 runs. -EINVAL with the form. */
int repeat_parse(const char *text, struct scenario_repeat *out, struct err *err);

/*
 * Runs in `out`; what fails twice is given up, and out->error says why: that is no error here.
 * -EINTR when stopped: what was measured until then is in *out.
 */
int repeat_run(struct procedure *p, const struct engine_spec *spec,
	       const struct scenario_repeat *how, struct repeat *out, struct err *err);

/* The metric that decides for this test; its place in the table in *index. NULL: it has none. */
const struct metric *repeat_metric(enum engine_test test, size_t *index);

/* Of the metric with that index over all runs; .n 0 when there is none. Its interval is never
 * narrower than the coarsest step of the figure. */
void repeat_summary(const struct repeat *r, size_t index, double confidence, struct summary *out);
/* Its value in each run, where it is a number, into v[RESULT_MAX_RUNS]; gives how many. */
size_t repeat_values(const struct repeat *r, size_t index, double *v);

#endif
