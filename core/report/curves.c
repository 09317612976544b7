// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * curves: faces of what is measured at many points. Called by `vpclab search` and `vpclab measure
 * --sweep, --repeat`.
 */
#include "core/report/curves.h"

#include <math.h>
#include <stdio.h>

#include "core/base/units.h"
#include "core/report/grid.h"
#include "core/report/nullable.h"
#include "core/report/text.h"

static const char *figure(char *buf, size_t size, const struct metric *m, const struct summary *s)
{
	struct metric_interval v = {s->mean, s->half_width};

	return metric_format_interval(buf, size, m->unit, v);
}

static void saturate_sentence(const struct saturate *s, enum engine_test test, struct strbuf *out)
{
	const char *name = engine_test_name(test);
	const char *what = engine_test_traits(test).transactions ? "connection" : "stream";
	char a[64], b[64];

	metric_format(a, sizeof(a), s->metric->unit, s->figure);
	metric_format(b, sizeof(b), s->metric->unit, s->single);
	if (!s->streams)
		strbuf_addf(out, "%s: nothing worked%s%s\n", name, s->why ? ": " : "",
			    s->why ? s->why : "");
	else if (s->end == SATURATE_FLAT && s->streams == 1)
		strbuf_addf(out, "%s: one %s gives all: %s\n", name, what, a);
	else if (s->end == SATURATE_FLAT)
		strbuf_addf(out, "%s stops growing at %d %ss: %s; one %s gave %s\n", name,
			    s->streams, what, a, what, b);
	else if (s->end == SATURATE_OPEN)
		strbuf_addf(out, "%s still grows at %d %ss: %s; one %s gave %s\n", name, s->streams,
			    what, a, what, b);
	else
		strbuf_addf(out, "%s: most is %s, with %d %s%s%s%s\n", name, a, s->streams, what,
			    s->streams == 1 ? "" : "s", s->why ? "; more could not be run: " : "",
			    s->why ? s->why : "");
	if (s->streams)
		strbuf_addf(out, "the limit there: %s\n",
			    s->limit ? s->limit : "nothing that was measured proves one");
}

void curves_saturate_text(const struct saturate *s, enum engine_test test, struct strbuf *out)
{
	char a[64];
	struct grid g;

	grid_init(&g, 5, 0);
	grid_add(&g, "streams");
	grid_add(&g, "threads");
	grid_add(&g, s->metric->name);
	grid_add(&g, "runs");
	grid_add(&g, "");
	VEC_FOREACH (p, &s->points) {
		grid_addf(&g, "%d", p->streams);
		grid_addf(&g, p->threads ? "%d" : "own", p->threads);
		grid_add(&g, p->figure.n ? figure(a, sizeof(a), s->metric, &p->figure) : NULL);
		grid_addf(&g, "%zu", p->r.runs.n);
		grid_add(&g, p->r.error						    ? p->r.error
			     : p->streams == s->streams && p->threads == s->threads ? "◂"
										    : "");
	}
	grid_print(&g, "  ", out);
	grid_done(&g);
	saturate_sentence(s, test, out);
}

static json_t *summary_json(const struct summary *s)
{
	json_t *j = json_object();

	json_object_set_new(j, "n", json_integer((json_int_t)s->n));
	json_object_set_new(j, "mean", s->n ? nullable_number(s->mean) : json_null());
	json_object_set_new(j, "half_width", s->n ? nullable_number(s->half_width) : json_null());
	json_object_set_new(j, "min", s->n ? nullable_number(s->min) : json_null());
	json_object_set_new(j, "max", s->n ? nullable_number(s->max) : json_null());
	json_object_set_new(j, "median", s->n ? nullable_number(s->median) : json_null());
	return j;
}

static const char *end_name(enum saturate_end end)
{
	static const char *const names[] = {"unknown", "flat", "open", "failed"};

	return names[end];
}

json_t *curves_saturate_json(const struct saturate *s)
{
	json_t *j = json_object(), *points = json_array();

	VEC_FOREACH (p, &s->points) {
		json_t *o = summary_json(&p->figure);

		json_object_set_new(o, "streams", json_integer(p->streams));
		json_object_set_new(o, "threads", json_integer(p->threads));
		json_object_set_new(o, "error", nullable_text(p->r.error));
		json_array_append_new(points, o);
	}
	json_object_set_new(j, "metric", json_string(s->metric->name));
	json_object_set_new(j, "unit", json_string(metric_unit_name(s->metric->unit)));
	json_object_set_new(j, "end", json_string(end_name(s->end)));
	json_object_set_new(j, "streams", s->streams ? json_integer(s->streams) : json_null());
	json_object_set_new(j, "threads", json_integer(s->threads));
	json_object_set_new(j, "figure", nullable_number(s->figure));
	json_object_set_new(j, "single", nullable_number(s->single));
	json_object_set_new(j, "limit", nullable_text(s->limit));
	json_object_set_new(j, "why", nullable_text(s->why));
	json_object_set_new(j, "points", points);
	return j;
}

void curves_ramp_text(const struct ramp *r, struct strbuf *out)
{
	char a[64];
	struct grid g;

	grid_init(&g, 5, 0);
	grid_add(&g, "connections");
	grid_add(&g, "transactions");
	grid_add(&g, "median");
	grid_add(&g, "99 %");
	grid_add(&g, "");
	VEC_FOREACH (p, &r->points) {
		grid_addf(&g, "%d", p->connections);
		grid_add(&g, p->error ? NULL : metric_format(a, sizeof(a), METRIC_TPS, p->tps));
		grid_add(&g, p->error ? NULL : metric_format(a, sizeof(a), METRIC_NS, p->p50_ns));
		grid_add(&g, p->error ? NULL : metric_format(a, sizeof(a), METRIC_NS, p->p99_ns));
		grid_add(&g, p->error ? p->error : p->slow ? "slow" : "");
	}
	grid_print(&g, "  ", out);
	grid_done(&g);
	if (r->fails)
		strbuf_addf(out, "%d connections work, %d do not\n", r->works, r->fails);
	else
		strbuf_addf(out, "%d connections work; more were not tried\n", r->works);
	if (r->slow)
		strbuf_addf(out, "from %d on answers take longer than more connections explain\n",
			    r->slow);
	VEC_FOREACH (p, &r->points)
		if (p->connections == r->fails && p->evidence && p->evidence[0])
			strbuf_addf(out, "the kernel at %d: %s\n", p->connections, p->evidence);
}

json_t *curves_ramp_json(const struct ramp *r)
{
	json_t *j = json_object(), *points = json_array();

	VEC_FOREACH (p, &r->points) {
		json_t *o = json_object();

		json_object_set_new(o, "connections", json_integer(p->connections));
		json_object_set_new(o, "transactions_tps", nullable_number(p->tps));
		json_object_set_new(o, "p50_ns", nullable_number(p->p50_ns));
		json_object_set_new(o, "p99_ns", nullable_number(p->p99_ns));
		json_object_set_new(o, "slow", json_boolean(p->slow));
		json_object_set_new(o, "error", nullable_text(p->error));
		json_object_set_new(o, "evidence", nullable_text(p->evidence));
		json_array_append_new(points, o);
	}
	json_object_set_new(j, "works", json_integer(r->works));
	json_object_set_new(j, "fails", r->fails ? json_integer(r->fails) : json_null());
	json_object_set_new(j, "slow", r->slow ? json_integer(r->slow) : json_null());
	json_object_set_new(j, "points", points);
	return j;
}

/* Has any point a value of the metric with that index? */
static bool has_metric(const struct sweep *s, size_t index)
{
	double v[RESULT_MAX_RUNS];

	VEC_FOREACH (p, &s->points)
		if (repeat_values(&p->r, index, v))
			return true;
	return false;
}

enum { TEXT_METRICS = 4 }; /* more columns than a terminal has room for */

static void pick(const struct sweep *s, size_t index, size_t *out, size_t *n, size_t most)
{
	for (size_t i = 0; i < *n; i++)
		if (out[i] == index)
			return;
	if (*n < most && has_metric(s, index))
		out[(*n)++] = index;
}

/* The default metrics first, of each test that is there, then the others in the order of the table.
 */
static size_t pick_metrics(const struct sweep *s, size_t *out, size_t most)
{
	size_t n = 0, first;

	VEC_FOREACH (p, &s->points)
		if (repeat_metric(p->r.spec.test, &first))
			pick(s, first, out, &n, most);
	for (size_t i = 0; metric_at(i); i++)
		pick(s, i, out, &n, most);
	return n;
}

static const char *why_of(const struct repeat *r, const struct scenario_repeat *how)
{
	if (r->error)
		return r->error;
	if (how->max > 1 && !r->settled)
		return "not as narrow as asked";
	VEC_FOREACH (run, &r->runs)
		if (run->machine)
			return run->machine;
	return "";
}

void curves_sweep_text(const struct sweep_plan *plan, const struct sweep *s,
		       const struct scenario_repeat *how, struct strbuf *out)
{
	size_t metrics[TEXT_METRICS], n = pick_metrics(s, metrics, TEXT_METRICS);
	char a[64];
	struct grid g;

	grid_init(&g, plan->axes.n + n + 2, 0);
	VEC_FOREACH (axis, &plan->axes)
		grid_add(&g, axis->key);
	for (size_t i = 0; i < n; i++)
		grid_add(&g, metric_at(metrics[i])->name);
	grid_add(&g, "runs");
	grid_add(&g, "");
	VEC_FOREACH (p, &s->points) {
		for (size_t i = 0; i < plan->axes.n; i++)
			grid_add(&g, plan->axes.v[i].texts.v[p->at[i]]);
		for (size_t i = 0; i < n; i++) {
			struct summary sum;

			repeat_summary(&p->r, metrics[i], how->confidence, &sum);
			grid_add(&g,
				 sum.n ? figure(a, sizeof(a), metric_at(metrics[i]), &sum) : NULL);
		}
		grid_addf(&g, "%zu", p->r.runs.n);
		grid_add(&g, why_of(&p->r, how));
	}
	grid_print(&g, "  ", out);
	grid_done(&g);
}

static json_t *metrics_json(const struct repeat *r, double confidence)
{
	json_t *j = json_object();
	const struct metric *m;
	char name[64];

	for (size_t i = 0; (m = metric_at(i)); i++) {
		double v[RESULT_MAX_RUNS];
		size_t n = repeat_values(r, i, v);
		json_t *one, *runs;
		struct summary sum;

		if (!(m->tests & METRIC_TEST(r->spec.test)))
			continue;
		repeat_summary(r, i, confidence, &sum);
		one = summary_json(&sum);
		runs = json_array();
		for (size_t k = 0; k < n; k++)
			json_array_append_new(runs, json_real(v[k]));
		json_object_set_new(one, "runs", runs);
		snprintf(name, sizeof(name), "%s_%s", m->name, metric_unit_name(m->unit));
		json_object_set_new(j, name, one);
	}
	return j;
}

json_t *curves_sweep_json(const struct sweep_plan *plan, const struct sweep *s,
			  const struct scenario_repeat *how)
{
	json_t *j = json_object(), *points = json_array();

	VEC_FOREACH (p, &s->points) {
		json_t *o = json_object(), *at = json_object();

		for (size_t i = 0; i < plan->axes.n; i++)
			json_object_set_new(at, plan->axes.v[i].key,
					    json_string(plan->axes.v[i].texts.v[p->at[i]]));
		json_object_set_new(o, "at", at);
		json_object_set_new(o, "spec", engine_spec_json(&p->r.spec));
		json_object_set_new(o, "runs", json_integer((json_int_t)p->r.runs.n));
		json_object_set_new(o, "failed", json_integer(p->r.failed));
		json_object_set_new(o, "settled", json_boolean(p->r.settled));
		json_object_set_new(o, "error", nullable_text(p->r.error));
		json_object_set_new(o, "metrics", metrics_json(&p->r, how->confidence));
		json_array_append_new(points, o);
	}
	json_object_set_new(j, "confidence_share", json_real(how->confidence));
	json_object_set_new(j, "width_share", json_real(how->width));
	json_object_set_new(j, "interrupted", json_boolean(s->interrupted));
	json_object_set_new(j, "points", points);
	return j;
}

static void csv_number(struct strbuf *out, double v)
{
	strbuf_addc(out, ',');
	if (isfinite(v))
		strbuf_addf(out, "%.12g", v);
}

static void csv_head(const struct sweep_plan *plan, const size_t *metrics, size_t n,
		     struct strbuf *out)
{
	char name[96];

	VEC_FOREACH (axis, &plan->axes)
		grid_csv(out, axis == plan->axes.v, axis->key);
	grid_csv(out, !plan->axes.n, "runs");
	for (size_t i = 0; i < n; i++) {
		const struct metric *m = metric_at(metrics[i]);

		snprintf(name, sizeof(name), "%s_%s", m->name, metric_unit_name(m->unit));
		grid_csv(out, false, name);
		snprintf(name, sizeof(name), "%s_half_width_%s", m->name,
			 metric_unit_name(m->unit));
		grid_csv(out, false, name);
	}
	strbuf_add(out, ",error\n");
}

void curves_sweep_csv(const struct sweep_plan *plan, const struct sweep *s,
		      const struct scenario_repeat *how, struct strbuf *out)
{
	size_t metrics[128], n = pick_metrics(s, metrics, ARRAY_SIZE(metrics));
	char runs[32];

	csv_head(plan, metrics, n, out);
	VEC_FOREACH (p, &s->points) {
		for (size_t i = 0; i < plan->axes.n; i++)
			grid_csv(out, !i, plan->axes.v[i].texts.v[p->at[i]]);
		snprintf(runs, sizeof(runs), "%zu", p->r.runs.n);
		grid_csv(out, !plan->axes.n, runs);
		for (size_t i = 0; i < n; i++) {
			struct summary sum;

			repeat_summary(&p->r, metrics[i], how->confidence, &sum);
			csv_number(out, sum.n ? sum.mean : NAN);
			csv_number(out, sum.n ? sum.half_width : NAN);
		}
		grid_csv(out, false, p->r.error ? p->r.error : "");
		strbuf_addc(out, '\n');
	}
}
