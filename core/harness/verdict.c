// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * verdict: pass, fail, inconclusive or skip for each expectation, with the figures that say so, and
 * what each path costs over the base. Pure; prints nothing. Called by run.c.
 *
 * Every expectation becomes one question: where does a figure with its interval lie, seen from a
 * region? Against a value the figure is the mean, against another figure it is the difference of
 * both.
 */
#include "core/harness/verdict.h"

#include <math.h>
#include <stdio.h>

#include "core/base/mem.h"
#include "core/base/str.h"

struct question {
	double figure, half_width; /* half_width NAN: one run only */
	double low, high;	   /* the region */
	bool strict;		   /* the whole interval must be inside */
	const char *target;	   /* "predicted 941.5 Mbit/s (−0.02 %)" */
};

enum place { PLACE_IN, PLACE_BELOW, PLACE_ABOVE, PLACE_UNCLEAR };

static enum place place_of(const struct question *q)
{
	double reach = isnan(q->half_width) ? 0 : q->half_width;
	bool mean_in = q->figure >= q->low && q->figure <= q->high;

	if (q->strict && isnan(q->half_width))
		return PLACE_UNCLEAR;
	if (q->strict)
		mean_in = q->figure - reach > q->low && q->figure + reach < q->high;
	if (mean_in)
		return PLACE_IN;
	if (q->figure + reach < q->low || (q->strict && q->figure + reach <= q->low))
		return PLACE_BELOW;
	if (q->figure - reach > q->high || (q->strict && q->figure - reach >= q->high))
		return PLACE_ABOVE;
	return PLACE_UNCLEAR;
}

/*
 * Was the machine short of something in one of the runs? CPU and sockets that are full are what a
 * measurement without shapers looks for, and a request/response pair on one CPU keeps that busy:
 * there only what comes from outside counts.
 */
static const struct run_sample *limited_run(const struct run_result *r, const struct run_cell *c)
{
	const struct scenario_measure *m = &r->scenario->measures.v[c->measure];
	bool by_design = m->unshaped || engine_test_traits(m->spec.test).transactions;

	VEC_FOREACH (run, &c->runs) {
		if (run->error || run->fidelity.limit == FIDELITY_ENOUGH)
			continue;
		if (!by_design || run->fidelity.limit == FIDELITY_STEAL ||
		    run->fidelity.limit == FIDELITY_OTHERS || run->fidelity.limit == FIDELITY_RELAY)
			return run;
	}
	return NULL;
}

/* A link whose relay lost or delayed packets of its own was not the link that was asked for. */
static const struct run_sample *relay_run(const struct run_cell *c)
{
	VEC_FOREACH (run, &c->runs)
		if (!run->error && run->fidelity.limit == FIDELITY_RELAY)
			return run;
	return NULL;
}

static const struct run_sample *disagreeing_run(const struct run_cell *c, const struct metric *m)
{
	VEC_FOREACH (run, &c->runs) {
		if (run->error)
			continue;
		if (run->counted.agreement == TRUTH_DISAGREE)
			return run;
		/* What is compared with a truth needs that truth; a latency does not. */
		if (run->counted.agreement == TRUTH_UNKNOWN && m->truth != METRIC_UNPREDICTED)
			return run;
	}
	return NULL;
}

static const char *with_interval(struct arena *a, enum metric_unit unit, double v,
				 double half_width)
{
	char text[64];

	metric_format_interval(text, sizeof(text), unit, (struct metric_interval){v, half_width});
	return arena_strdup(a, text);
}

/* By how much a figure is off its target. */
static const char *off(struct arena *a, double figure, double target)
{
	double percent = round((figure / target - 1) * 1e4) / 100; /* no −0.00 */

	if (!(target > 0))
		return "";
	return arena_printf(a, " (%s%.2f %%)", percent < 0 ? "−" : "+", fabs(percent));
}

static void set_region(const struct scenario_expect *e, double low, double high, double tolerance,
		       struct question *q)
{
	bool from = e->relation == EXPECT_ABOVE || e->relation == EXPECT_AT_LEAST;
	bool to = e->relation == EXPECT_BELOW || e->relation == EXPECT_AT_MOST;

	q->low = to ? -INFINITY : low - tolerance;
	q->high = from ? INFINITY : high + tolerance;
}

static double tolerance_of(const struct scenario_expect *e, double target)
{
	return fmax(e->tolerance_abs, e->tolerance_share * fabs(target));
}

/* The figure that the model, the counters, a publication or the sentence itself gives. */
static bool find_target(const struct run_result *r, const struct run_cell *c,
			const struct scenario_expect *e, double v[3])
{
	switch (e->against) {
	case AGAINST_VALUE:
		v[0] = v[1] = v[2] = e->value;
		return true;
	case AGAINST_COUNTED:
		v[0] = v[1] = v[2] = result_counted(c, e->what.metric);
		return !isnan(v[0]);
	case AGAINST_REFERENCE:
		v[0] = v[1] = v[2] =
		    scenario_reference(r->scenario, e->what.measure, e->what.metric, e->what.path);
		return !isnan(v[0]);
	case AGAINST_PREDICTED:
		return result_predicted(r, c, e->what.metric, &v[0], &v[1], &v[2]);
	case AGAINST_QUANTITY:
		break;
	}
	return false;
}

static const char *target_word(enum expect_against against)
{
	static const char *const words[] = {
	    [AGAINST_VALUE] = "asked",
	    [AGAINST_PREDICTED] = "predicted",
	    [AGAINST_COUNTED] = "counted",
	    [AGAINST_REFERENCE] = "published",
	};

	return words[against];
}

static bool ask_target(struct run_result *r, const struct run_cell *c,
		       const struct scenario_expect *e, struct question *q)
{
	struct summary s;
	double v[3]; /* point, low, high */
	char text[64];

	if (!find_target(r, c, e, v))
		return false;
	result_summary(c, e->what.metric, r->scenario->measures.v[c->measure].repeat.confidence,
		       &s);
	for (int i = 0; i < 3; i++)
		v[i] *= e->factor;
	*q = (struct question){.figure = s.mean, .half_width = s.half_width};
	/* The least of all runs is what it is: it has no interval. */
	q->strict = e->relation != EXPECT_WITHIN && e->what.metric->over == METRIC_MEAN;
	set_region(e, v[1], v[2], tolerance_of(e, v[0]), q);
	metric_format(text, sizeof(text), e->what.metric->unit, v[0]);
	q->target = arena_printf(&r->arena, "%s %s%s", target_word(e->against), text,
				 off(&r->arena, s.mean, v[0]));
	return true;
}

static void ask_other(struct run_result *r, const struct run_cell *c, const struct run_cell *other,
		      const struct scenario_expect *e, struct question *q)
{
	double confidence = r->scenario->measures.v[c->measure].repeat.confidence;
	double a[RESULT_MAX_RUNS], b[RESULT_MAX_RUNS];
	size_t n_a = result_values(c, e->what.metric, a, RESULT_MAX_RUNS);
	size_t n_b = result_values(other, e->other.metric, b, RESULT_MAX_RUNS);
	double step_b = result_step(other, e->other.metric) * fabs(e->factor);
	struct summary s;
	struct difference d = {.half_width = NAN};

	for (size_t i = 0; i < n_b; i++)
		b[i] *= e->factor;
	summary_of(b, n_b, confidence, &s);
	summary_widen(&s, step_b);
	if (n_a > 1 && n_b > 1) {
		summary_difference(b, n_b, a, n_a, confidence, &d);
		summary_widen_difference(&d, step_b + result_step(c, e->what.metric));
	} else {
		d.diff = a[0] - s.mean;
	}
	*q = (struct question){.figure = d.diff, .half_width = d.half_width};
	q->strict = e->relation != EXPECT_WITHIN;
	set_region(e, 0, 0, tolerance_of(e, s.mean), q);
	q->target = arena_printf(
	    &r->arena, "%s has %s, difference %s", r->scenario->paths.v[e->other.path].name,
	    with_interval(&r->arena, e->what.metric->unit, s.mean, s.half_width),
	    with_interval(&r->arena, e->what.metric->unit, d.diff, d.half_width));
}

static const char *no_figure(const struct run_cell *c, const struct metric *m)
{
	for (size_t i = 0; c && i < c->runs.n && str_eq(m->name, "cpu_per_packet"); i++)
		if (c->runs.v[i].cpu_missing)
			return c->runs.v[i].cpu_missing;
	return "no run gave this figure";
}

/* What was never measured says nothing about the network; verdict_overall() knows the error. */
static void set_missing(struct run_result *r, const struct run_cell *c, const struct metric *m,
			struct run_verdict *out)
{
	const char *error = c ? result_error(r, c) : "no run worked";

	out->found = "not measured";
	out->verdict = VERDICT_INCONCLUSIVE;
	out->evidence = error ? error : no_figure(c, m);
	if (!error && r->interrupted && !result_worked(c)) {
		out->verdict = VERDICT_SKIP;
		out->evidence = "interrupted";
	}
}

static const char *machine_evidence(struct run_result *r, const struct run_cell *c,
				    const struct run_sample *run)
{
	char rate[64];

	if (isnan(c->ceiling_bps))
		return arena_printf(&r->arena, "the machine was the limit: %s (%s, run %d)",
				    run->fidelity.why, r->scenario->paths.v[c->path].name,
				    run->index);
	metric_format(rate, sizeof(rate), METRIC_BPS, c->ceiling_bps);
	return arena_printf(
	    &r->arena,
	    "the machine was the limit: %s (%s, run %d); it carries %s on this path "
	    "unshaped",
	    run->fidelity.why, r->scenario->paths.v[c->path].name, run->index, rate);
}

/* More than is possible is wrong on any machine. */
static bool excusable(const struct scenario_expect *e, enum place place)
{
	if (e->against == AGAINST_QUANTITY)
		return true;
	return place == (e->what.metric->better == METRIC_HIGHER ? PLACE_BELOW : PLACE_ABOVE);
}

/* The machine's share in it, or NULL. */
static const char *find_limit(struct run_result *r, const struct run_cell *const cells[2])
{
	for (int i = 0; i < 2 && cells[i]; i++) {
		const struct run_sample *run = limited_run(r, cells[i]);

		if (run)
			return machine_evidence(r, cells[i], run);
	}
	return NULL;
}

/* With what held the rate, where a run knows it: a reader asks that next. */
static const char *miss(struct run_result *r, const struct run_cell *c, enum place place)
{
	const char *text =
	    place == PLACE_BELOW ? "below what is expected" : "above what is expected";

	VEC_FOREACH (run, &c->runs)
		if (!run->error && run->engine.limit[0] && place == PLACE_BELOW)
			return arena_printf(&r->arena, "%s; the limit was the %s: %s (run %d)",
					    text, run->engine.limit, run->engine.limit_why,
					    run->index);
	return text;
}

static void decide_miss(struct run_result *r, const struct run_cell *const cells[2],
			const struct scenario_expect *e, enum place place, struct run_verdict *out)
{
	const char *limit = excusable(e, place) ? find_limit(r, cells) : NULL;

	out->verdict = limit ? VERDICT_INCONCLUSIVE : VERDICT_FAIL;
	out->evidence = limit ? limit : miss(r, cells[0], place);
}

static void decide_unclear(struct run_result *r, const struct run_cell *const cells[2],
			   const struct question *q, struct run_verdict *out)
{
	const char *limit = find_limit(r, cells);

	out->verdict = VERDICT_INCONCLUSIVE;
	if (isnan(q->half_width))
		out->evidence = "one run has no interval: measure at least twice";
	else
		out->evidence = arena_printf(
		    &r->arena, "the interval lies on both sides of what is expected%s%s",
		    limit ? "; " : "", limit ? limit : "");
}

static void decide(struct run_result *r, const struct run_cell *const cells[2],
		   const struct scenario_expect *e, const struct question *q,
		   struct run_verdict *out)
{
	enum place place = place_of(q);
	const struct run_sample *run = NULL, *relay;
	const char *error = NULL, *limit = NULL;

	if (place == PLACE_UNCLEAR) {
		decide_unclear(r, cells, q, out);
		return;
	}
	if (place != PLACE_IN) {
		decide_miss(r, cells, e, place, out);
		return;
	}
	for (int i = 0; i < 2 && cells[i] && !run && !error && !limit; i++) {
		relay = relay_run(cells[i]);
		limit = relay ? machine_evidence(r, cells[i], relay) : NULL;
		run = disagreeing_run(cells[i], e->what.metric);
		error = result_error(r, cells[i]);
	}
	out->verdict = run || error || limit ? VERDICT_INCONCLUSIVE : VERDICT_PASS;
	if (limit)
		out->evidence = limit;
	else if (run)
		out->evidence =
		    arena_printf(&r->arena, "%s (run %d)", run->counted.why, run->index);
	else if (error)
		out->evidence = arena_printf(&r->arena, "given up early: %s", error);
}

static size_t count_values(const struct run_cell *c, const struct metric *m)
{
	double v[RESULT_MAX_RUNS];

	return c ? result_values(c, m, v, RESULT_MAX_RUNS) : 0;
}

static void judge(struct run_result *r, const struct scenario_expect *e, struct run_verdict *out)
{
	const struct run_cell *cells[2] = {result_cell(r, e->what.measure, e->what.path), NULL};
	struct question q;
	struct summary s;

	if (e->against == AGAINST_QUANTITY)
		cells[1] = result_cell(r, e->other.measure, e->other.path);
	if (!count_values(cells[0], e->what.metric)) {
		set_missing(r, cells[0], e->what.metric, out);
		return;
	}
	if (e->against == AGAINST_QUANTITY && !count_values(cells[1], e->other.metric)) {
		set_missing(r, cells[1], e->other.metric, out);
		return;
	}
	result_summary(cells[0], e->what.metric,
		       r->scenario->measures.v[e->what.measure].repeat.confidence, &s);
	const char *found = with_interval(&r->arena, e->what.metric->unit, s.mean, s.half_width);
	if (e->against == AGAINST_QUANTITY) {
		ask_other(r, cells[0], cells[1], e, &q);
	} else if (!ask_target(r, cells[0], e, &q)) {
		out->verdict = VERDICT_INCONCLUSIVE;
		out->found = found;
		out->evidence = cells[0]->error
				    ? cells[0]->error
				    : arena_printf(&r->arena, "nothing is %s for it on this path",
						   target_word(e->against));
		return;
	}
	out->found = arena_printf(&r->arena, "%s; %s", found, q.target);
	decide(r, cells, e, &q, out);
}

static void compare(struct run_result *r, int path, const struct scenario_quantity *metric)
{
	const struct scenario *s = r->scenario;
	struct run_overhead *o = VEC_ADD(&r->arena, &r->overheads);
	double confidence = s->measures.v[metric->measure].repeat.confidence;
	double a[RESULT_MAX_RUNS], b[RESULT_MAX_RUNS];
	const struct run_cell *base = result_cell(r, metric->measure, s->compare_base);
	const struct run_cell *with = result_cell(r, metric->measure, path);

	*o = (struct run_overhead){.what = *metric};
	o->what.path = path;
	if (!base || !with)
		return;
	size_t n_a = result_values(base, metric->metric, a, RESULT_MAX_RUNS);
	size_t n_b = result_values(with, metric->metric, b, RESULT_MAX_RUNS);
	if (n_a < 2 || n_b < 2)
		return;
	o->known = true;
	for (size_t i = 0; i < n_a; i++)
		o->base += a[i] / (double)n_a;
	for (size_t i = 0; i < n_b; i++)
		o->mean += b[i] / (double)n_b;
	summary_difference(a, n_a, b, n_b, confidence, &o->difference);
	summary_widen_difference(&o->difference, result_step(base, metric->metric) +
						     result_step(with, metric->metric));
}

void verdict_judge(struct run_result *r)
{
	const struct scenario *s = r->scenario;

	r->verdicts.n = r->overheads.n = 0;
	for (size_t i = 0; i < s->expects.n; i++) {
		struct run_verdict *v = VEC_ADD(&r->arena, &r->verdicts);

		*v = (struct run_verdict){.expect = (int)i};
		judge(r, &s->expects.v[i], v);
	}
	if (s->compare_base < 0)
		return;
	VEC_FOREACH (path, &s->compare_with)
		VEC_FOREACH (metric, &s->compare_metrics)
			compare(r, *path, metric);
}

enum verdict verdict_overall(const struct run_result *r)
{
	enum verdict worst = VERDICT_PASS;
	size_t skipped = 0;
	bool error = r->error != NULL;

	/* Where a link is not what it says, no figure is of what the scenario is about. */
	if (r->proven && proofs_overall(&r->proofs) == VERDICT_FAIL)
		return VERDICT_FAIL;
	/* Where nobody can say whether it is, neither can the figure. */
	if (r->proven && proofs_overall(&r->proofs) == VERDICT_INCONCLUSIVE)
		worst = VERDICT_INCONCLUSIVE;
	VEC_FOREACH (cell, &r->cells)
		error = error || (!r->interrupted && result_error(r, cell));
	VEC_FOREACH (v, &r->verdicts) {
		if (v->verdict == VERDICT_FAIL)
			return VERDICT_FAIL;
		if (v->verdict == VERDICT_INCONCLUSIVE)
			worst = VERDICT_INCONCLUSIVE;
		skipped += v->verdict == VERDICT_SKIP;
	}
	if (error)
		return VERDICT_ERROR;
	if (r->interrupted)
		return VERDICT_INCONCLUSIVE;
	return r->verdicts.n && skipped == r->verdicts.n ? VERDICT_SKIP : worst;
}

int verdict_exit_status(enum verdict v)
{
	static const int status[] = {
	    [VERDICT_PASS] = 0, [VERDICT_FAIL] = 1,  [VERDICT_INCONCLUSIVE] = 3,
	    [VERDICT_SKIP] = 4, [VERDICT_ERROR] = 1,
	};

	return status[v];
}

const char *verdict_name(enum verdict v)
{
	static const char *const names[] = {
	    [VERDICT_PASS] = "pass",
	    [VERDICT_FAIL] = "fail",
	    [VERDICT_INCONCLUSIVE] = "inconclusive",
	    [VERDICT_SKIP] = "skip",
	    [VERDICT_ERROR] = "error",
	};

	return names[v];
}
