// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ramp: connections at the same time, more and more. A count counts as failed when two tries in a
 * row fail: the last one's words are kept, and what the system says. Called by `vpclab search
 * connections`; declared in saturate.h.
 */
#include <errno.h>
#include <math.h>

#include "core/harness/saturate.h"

enum { MOST_CONNECTIONS = 10000, GROW = 10, TRIES = 2 };

struct ramper {
	struct procedure *p;
	const struct ramp_options *o;
	const struct engine_spec *base;
	struct ramp *out;
};

/* More connections wait for each other, so answers may take as much longer as there are more. */
static bool is_slow(const struct ramper *s, const struct ramp_point *now)
{
	const struct ramp_point *before = NULL;

	VEC_FOREACH (p, &s->out->points)
		if (!p->error && p->connections < now->connections &&
		    (!before || p->connections > before->connections))
			before = p;
	return before && now->p50_ns > 2 * before->p50_ns * (double)now->connections /
					   (double)before->connections;
}

/* 0 and the point is there, whether it worked or not. */
static int try_count(struct ramper *s, int n, struct ramp_point *out, struct err *err)
{
	struct engine_spec spec = *s->base;

	spec.streams = n;
	*out = (struct ramp_point){.connections = n, .tps = NAN, .p50_ns = NAN, .p99_ns = NAN};
	for (int i = 0; i < TRIES; i++) {
		struct run_sample sample = {.index = i + 1};
		struct err failed = ERR_INIT;
		int r = procedure_measure(s->p, &spec, &sample, &failed);

		if (r == -EINTR || (r && failed.kind == ERR_INPUT)) {
			*err = failed;
			return r;
		}
		out->error = r ? arena_strdup(s->p->arena, failed.text) : NULL;
		if (!r && (sample.engine.invalid[0] || sample.engine.partial))
			out->error = arena_printf(s->p->arena, "%s",
						  sample.engine.invalid[0] ? sample.engine.invalid
									   : "it ended early");
		if (!r) {
			out->tps = sample.engine.pps;
			out->p50_ns = sample.engine.latency.p50;
			out->p99_ns = sample.engine.latency.p99;
			engine_result_done(&sample.engine);
		}
		if (!out->error)
			break;
	}
	if (out->error && s->o->evidence)
		out->evidence = s->o->evidence(s->o->arg, s->p->arena);
	return 0;
}

/* 1: it worked; 0: not; negative: error. */
static int add_point(struct ramper *s, int n, struct err *err)
{
	struct ramp_point point;
	int r = try_count(s, n, &point, err);

	if (r)
		return r;
	if (!point.error)
		point.slow = is_slow(s, &point);
	procedure_tell(s->p, "%d connection%s: %s", n, n == 1 ? "" : "s",
		       point.error  ? point.error
		       : point.slow ? "answers take much longer"
				    : "as they should");
	*VEC_ADD(s->p->arena, &s->out->points) = point;
	if (point.error && (!s->out->fails || n < s->out->fails))
		s->out->fails = n;
	if (!point.error && n > s->out->works)
		s->out->works = n;
	if (point.slow && (!s->out->slow || n < s->out->slow))
		s->out->slow = n;
	return !point.error;
}

static bool apart(const struct ramper *s)
{
	int gap = s->out->fails - s->out->works;

	return gap > 1 && (double)gap > s->o->width * (double)s->out->fails;
}

int ramp_run(struct procedure *p, const struct engine_spec *base, const struct ramp_options *o,
	     struct ramp *out, struct err *err)
{
	struct ramper s = {.p = p, .o = o, .base = base, .out = out};
	int most = o->most > 0 ? o->most : MOST_CONNECTIONS, r = 1;

	for (int n = o->least > 0 ? o->least : 1; r > 0; n = n > most / GROW ? most : n * GROW) {
		r = add_point(&s, n, err);
		if (n >= most)
			break;
	}
	/* Less than were asked for at first may work. */
	while (r >= 0 && out->fails && apart(&s))
		r = add_point(&s, out->works + (out->fails - out->works) / 2, err);
	return r < 0 ? r : 0;
}
