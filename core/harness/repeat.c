// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * repeat: runs and their figures; keeps no intervals and no counters, only metrics. Called by
 * sweep.c, saturate.c, ramp.c and `vpclab measure --repeat`.
 */
#include "core/harness/repeat.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/units.h"

enum { FAILURES_MAX = 2, RUNS_LEAST = 3, RUNS_MOST = 30 };

static int parse_share(const char *text, const char *what, double least, double most, double *out,
		       struct err *err)
{
	int64_t ppm;

	if (units_parse_percent(text, &ppm, err))
		return err_wrap(err, "%s", what);
	*out = (double)ppm / 1e6;
	if (*out < least || *out > most)
		return err_input(err, "%s: '%s' is not within %g%% to %g%%", what, text,
				 least * 100, most * 100);
	return 0;
}

int repeat_parse(const char *text, struct scenario_repeat *out, struct err *err)
{
	struct scenario_repeat how = {.min = RUNS_LEAST, .max = RUNS_MOST};
	char part[3][32] = {{0}};
	int n = sscanf(text, "%31[^,],%31[^,],%31[^,]", part[0], part[1], part[2]);
	int64_t most = RUNS_MOST;
	int r;

	if (n < 2 || strchr(text, ' ') || text[strlen(text) - 1] == ',')
		return err_input(err,
				 "'%s' is not a target; write it like 99%%,2.5%% or 99%%,2.5%%,30 "
				 "(confidence, half width, most runs)",
				 text);
	r = parse_share(part[0], "confidence", 0.5, 0.9999, &how.confidence, err);
	if (!r)
		r = parse_share(part[1], "width", 0.0001, 1, &how.width, err);
	if (!r && n == 3 && units_parse_int(part[2], RUNS_LEAST, RESULT_MAX_RUNS, &most, err))
		r = err_wrap(err, "most runs");
	if (r)
		return r;
	how.max = (int)most;
	*out = how;
	return 0;
}

const struct metric *repeat_metric(enum engine_test test, size_t *index)
{
	const struct metric *want = metric_find(NULL, test), *m;

	for (size_t i = 0; want && (m = metric_at(i)); i++) {
		if (m != want)
			continue;
		*index = i;
		return m;
	}
	return NULL;
}

static size_t count_metrics(void)
{
	size_t n = 0;

	while (metric_at(n))
		n++;
	return n;
}

size_t repeat_values(const struct repeat *r, size_t index, double *v)
{
	size_t n = 0;

	VEC_FOREACH (run, &r->runs)
		if (!isnan(run->values[index]) && n < RESULT_MAX_RUNS)
			v[n++] = run->values[index];
	return n;
}

void repeat_summary(const struct repeat *r, size_t index, double confidence, struct summary *out)
{
	double v[RESULT_MAX_RUNS], step = 0;

	summary_of(v, repeat_values(r, index, v), confidence, out);
	VEC_FOREACH (run, &r->runs)
		step = fmax(step, run->steps[index]);
	summary_widen(out, step);
}

static void keep_run(struct procedure *p, const struct run_sample *s, struct repeat *out)
{
	struct repeat_run *run = VEC_ADD(p->arena, &out->runs);
	const struct engine_result *e = &s->engine;
	const struct metric *m;

	run->values = arena_alloc(p->arena, count_metrics() * sizeof(double));
	run->steps = arena_alloc(p->arena, count_metrics() * sizeof(double));
	for (size_t i = 0; (m = metric_at(i)); i++) {
		bool has = m->tests & METRIC_TEST(s->spec.test);

		run->values[i] = has ? m->get(s) : NAN;
		run->steps[i] = has ? metric_step(m, s) : NAN;
	}
	if (s->fidelity.limit != FIDELITY_ENOUGH)
		run->machine = arena_strdup(p->arena, s->fidelity.why);
	if (e->limit[0])
		run->limit = arena_printf(p->arena, "%s%s%s", e->limit, e->limit_why[0] ? ": " : "",
					  e->limit_why);
}

static bool narrow_enough(const struct repeat *r, const struct scenario_repeat *how)
{
	struct summary s;
	size_t index;

	if ((int)r->runs.n < how->min)
		return false;
	if (how->max == 1 || !repeat_metric(r->spec.test, &index))
		return (int)r->runs.n >= how->max;
	repeat_summary(r, index, how->confidence, &s);
	return s.n >= 2 && s.half_width <= how->width * fabs(s.mean);
}

static int run_once(struct procedure *p, const struct engine_spec *spec, struct repeat *out,
		    struct err *err)
{
	struct run_sample s = {.index = (int)out->runs.n + out->failed + 1};
	struct err failed = ERR_INIT;
	int r = procedure_measure(p, spec, &s, &failed);

	if (r == -EINTR || (r && failed.kind == ERR_INPUT)) {
		*err = failed;
		return r;
	}
	if (!r && (s.engine.partial || s.engine.invalid[0])) {
		r = err_fail(&failed, EIO, "%s",
			     s.engine.invalid[0] ? s.engine.invalid : "it ended early");
		engine_result_done(&s.engine);
	} else if (!r) {
		out->spec = s.spec;
		keep_run(p, &s, out);
		engine_result_done(&s.engine);
		return 0;
	}
	out->failed++;
	if (out->failed >= FAILURES_MAX || failed.kind == ERR_UNSUPPORTED)
		out->error = arena_strdup(p->arena, failed.text);
	return 0;
}

int repeat_run(struct procedure *p, const struct engine_spec *spec,
	       const struct scenario_repeat *how, struct repeat *out, struct err *err)
{
	out->spec = *spec;
	while (!out->error && !out->settled && (int)out->runs.n < how->max) {
		int r = run_once(p, spec, out, err);

		if (r)
			return r;
		out->settled = narrow_enough(out, how);
	}
	return 0;
}
