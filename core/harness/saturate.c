// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * saturate: the curve of a figure over streams, and where it becomes flat. Called by `vpclab
 * search saturate`; tcp_crr and tcp_cc give the connection rate that way.
 */
#include "core/harness/saturate.h"

#include <errno.h>
#include <math.h>

enum { MOST_STREAMS = 1024, FLAT_STEPS = 2 };

#define FLAT_LEAST 0.02 /* share: what is less apart is as much */
#define FLAT_MOST  0.10

struct saturator {
	struct procedure *p;
	const struct saturate_options *o;
	const struct engine_spec *base;
	struct saturate *s;
	size_t metric;
	int best; /* index of the point with the highest figure; -1 */
};

static double gain(const struct saturate_point *a, const struct saturate_point *b)
{
	return b->figure.mean / a->figure.mean - 1;
}

/* Is b better than a by more than chance explains, and by more than a little? */
static bool better(const struct saturator *s, const struct saturate_point *a,
		   const struct saturate_point *b)
{
	double va[RESULT_MAX_RUNS], vb[RESULT_MAX_RUNS];
	struct difference d;

	if (!a->figure.n || !b->figure.n)
		return b->figure.n > 0;
	size_t na = repeat_values(&a->r, s->metric, va), nb = repeat_values(&b->r, s->metric, vb);
	summary_difference(va, na, vb, nb, s->o->repeat.confidence, &d);
	return gain(a, b) > FLAT_LEAST && (na < 2 || nb < 2 || d.significant);
}

/* As much as the best, but for what the repeats cannot tell apart. */
static bool as_much(const struct saturator *s, const struct saturate_point *p)
{
	const struct saturate_point *best = &s->s->points.v[s->best];
	double spread = best->figure.half_width / fabs(best->figure.mean), near = FLAT_LEAST;

	if (spread > near)
		near = fmin(spread, FLAT_MOST);
	return p->figure.n && gain(p, best) <= near;
}

static int find_point(const struct saturate *s, int streams, int threads)
{
	for (size_t i = 0; i < s->points.n; i++)
		if (s->points.v[i].streams == streams && s->points.v[i].threads == threads)
			return (int)i;
	return -1;
}

static int measure_point(struct saturator *s, int streams, int threads, int *index, struct err *err)
{
	struct saturate_point point = {.streams = streams, .threads = threads};
	struct engine_spec spec = *s->base;
	char figure[64];

	*index = find_point(s->s, streams, threads);
	if (*index >= 0)
		return 0;
	spec.streams = streams;
	spec.threads = threads;
	int r = repeat_run(s->p, &spec, &s->o->repeat, &point.r, err);
	if (r)
		return r;
	repeat_summary(&point.r, s->metric, s->o->repeat.confidence, &point.figure);
	procedure_tell(s->p, "%d stream%s: %s", streams, streams == 1 ? "" : "s",
		       point.figure.n ? metric_format(figure, sizeof(figure), s->s->metric->unit,
						      point.figure.mean)
				      : point.r.error);
	*index = (int)s->s->points.n;
	*VEC_ADD(s->p->arena, &s->s->points) = point;
	return 0;
}

/* Doubles; *last is the most that worked, s->best the first that nothing later surpassed. */
static int grow(struct saturator *s, struct err *err)
{
	int most = s->o->most_streams > 0 ? s->o->most_streams : MOST_STREAMS, flat = 0, at;
	int threads = s->base->threads;

	for (int n = 1;; n = n > most / 2 ? most : n * 2) {
		int r = measure_point(s, n, threads, &at, err);

		if (r)
			return r;
		const struct saturate_point *p = &s->s->points.v[at];
		if (!p->figure.n) {
			s->s->end = SATURATE_FAILED;
			s->s->why = p->r.error ? p->r.error : "it has no figure";
			return 0;
		}
		if (s->best < 0 || better(s, &s->s->points.v[s->best], p)) {
			s->best = at;
			flat = 0;
		} else {
			flat++;
		}
		if (flat >= FLAT_STEPS) {
			s->s->end = SATURATE_FLAT;
			return 0;
		}
		if (n == most) {
			s->s->end = flat ? SATURATE_FLAT : SATURATE_OPEN;
			return 0;
		}
	}
}

/* The least number of streams that gives as much, between two that were measured. */
static int refine(struct saturator *s, struct err *err)
{
	int low = 0, high = s->s->points.v[s->best].streams, at;
	int threads = s->base->threads;

	VEC_FOREACH (p, &s->s->points)
		if (p->streams < high && as_much(s, p))
			high = p->streams;
	VEC_FOREACH (p, &s->s->points)
		if (p->streams < high && p->streams > low)
			low = p->streams;
	while (high - low > 1 && (high - low) * 8 > high) {
		int n = low + (high - low) / 2, r = measure_point(s, n, threads, &at, err);

		if (r)
			return r;
		if (as_much(s, &s->s->points.v[at]))
			high = n;
		else
			low = n;
	}
	s->s->streams = high;
	return 0;
}

static int grow_threads(struct saturator *s, struct err *err)
{
	int best = find_point(s->s, s->s->streams, s->base->threads), at;

	for (int t = 2; t <= s->o->most_threads && t <= s->s->streams; t *= 2) {
		int r = measure_point(s, s->s->streams, t, &at, err);

		if (r)
			return r;
		if (best < 0 || !better(s, &s->s->points.v[best], &s->s->points.v[at]))
			break;
		best = at;
	}
	s->s->threads = s->s->points.v[best].threads;
	return 0;
}

static void sort_points(struct saturate *s)
{
	for (size_t i = 1; i < s->points.n; i++)
		for (size_t k = i; k > 0; k--) {
			struct saturate_point *a = &s->points.v[k - 1], *b = a + 1, swap = *a;

			if (a->threads < b->threads ||
			    (a->threads == b->threads && a->streams <= b->streams))
				break;
			*a = *b;
			*b = swap;
		}
}

static void conclude(struct saturator *s)
{
	struct saturate *out = s->s;
	int one, at;

	sort_points(out);
	one = find_point(out, 1, s->base->threads);
	at = find_point(out, out->streams, out->threads);
	out->single = one < 0 ? NAN : out->points.v[one].figure.mean;
	out->figure = at < 0 ? NAN : out->points.v[at].figure.mean;
	if (at < 0)
		return;
	VEC_FOREACH (run, &out->points.v[at].r.runs) {
		if (run->limit)
			out->limit = run->limit;
		else if (run->machine && !out->limit)
			out->limit = run->machine;
	}
}

/* What more streams raise: transactions a second, else the default if more of it is better. */
static const struct metric *pick_metric(enum engine_test test, size_t *index)
{
	const struct metric *want = metric_find("tps", test), *m;

	if (!want)
		want = metric_find(NULL, test);
	if (!want || want->better != METRIC_HIGHER)
		return NULL;
	for (*index = 0; (m = metric_at(*index)) && m != want; (*index)++)
		;
	return m;
}

int saturate_run(struct procedure *p, const struct engine_spec *base,
		 const struct saturate_options *o, struct saturate *out, struct err *err)
{
	struct saturator s = {.p = p, .o = o, .base = base, .s = out, .best = -1};

	out->metric = pick_metric(base->test, &s.metric);
	if (!out->metric)
		return err_input(err, "%s has no figure that streams could raise",
				 engine_test_name(base->test));
	out->single = out->figure = NAN;
	out->threads = base->threads;
	int r = grow(&s, err);
	if (s.best >= 0)
		out->streams = out->points.v[s.best].streams;
	if (!r && s.best >= 0 && out->end == SATURATE_FLAT)
		r = refine(&s, err);
	if (!r && s.best >= 0)
		r = grow_threads(&s, err);
	if (r)
		out->end = SATURATE_UNKNOWN;
	conclude(&s);
	return r;
}
