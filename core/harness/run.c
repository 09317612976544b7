// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * run: the order of things. Measurements one after the other; inside one, a run on every path in
 * turn, again and again, so that whatever drifts on the machine hits all paths alike; a path rests
 * once its interval is narrow enough. One that fails does not stop the others. Called by `vpclab
 * run`.
 */
#include "core/harness/run.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "core/base/clock.h"
#include "core/base/units.h"
#include "core/harness/attempt.h"
#include "core/harness/bench.h"
#include "core/harness/verdict.h"

#define PROVE_NS (20 * NSEC_PER_SEC) /* what the proof of links may take at most */

enum { FAILURES_MAX = 2 }; /* of one measurement on one path, before it is given up */

struct runner {
	const struct scenario *s;
	const struct run_options *o;
	struct run_result *r;
	struct bench bench;
	int64_t begun_ns;
	double idle_busy; /* CPUs busy before the present measurement */
	char doing[160];
	bool step; /* `doing` is new */
};

void run_interrupt(void)
{
	attempt_interrupt();
}

/* What one run will take: its own times, or its file at the predicted rate, and start and end. */
static int64_t planned_ns(const struct run_result *r, const struct run_cell *c)
{
	const struct engine_spec *e = &r->scenario->measures.v[c->measure].spec;
	int64_t ns = e->warmup_ns + e->duration_ns;

	if (engine_test_traits(e->test).files && c->predicted.known) {
		double one = (double)e->file_size * 8 / c->predicted.goodput_bps * 1e9;
		double all = one * (double)(e->count > 1 ? e->count : 1);

		ns = e->warmup_ns +
		     (e->count || (int64_t)all > e->duration_ns ? (int64_t)all : e->duration_ns);
	}
	return ns + 150 * NSEC_PER_MSEC;
}

/* Runs that are certain to come; more may, so the estimate can grow. */
static int64_t left_ns(const struct run_result *r)
{
	int64_t sum = 0;

	VEC_FOREACH (c, &r->cells) {
		int more = r->scenario->measures.v[c->measure].repeat.min - (int)c->runs.n;

		if (more > 0 && !c->error)
			sum += more * planned_ns(r, c);
	}
	return sum;
}

static void show(void *arg)
{
	struct runner *run = arg;
	int64_t elapsed = clock_now_ns() - run->begun_ns, left = left_ns(run->r);
	struct run_progress p = {
	    .text = run->doing,
	    .done = (double)elapsed / (double)(elapsed + left + 1),
	    .left_ns = left,
	    .step = run->step,
	};

	run->step = false;
	if (run->o->progress)
		run->o->progress(run->o->arg, &p);
}

static void announce(struct runner *run, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
static void announce(struct runner *run, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(run->doing, sizeof(run->doing), fmt, ap);
	va_end(ap);
	run->step = true;
	show(run);
}

static void specify(struct runner *run, const struct scenario_measure *m, int path,
		    const struct bench_lab *lab, struct attempt_spec *out)
{
	*out = (struct attempt_spec){
	    .lab = lab ? lab->lab : NULL,
	    .wire = lab ? &lab->wire : &run->bench.labs[0].wire,
	    .from = run->s->paths.v[path].from,
	    .to = run->s->paths.v[path].to,
	    .family = m->family,
	    .engine = m->spec,
	    .idle_busy = run->idle_busy,
	    .slip_ns = run->r->machine.model.slip_ns,
	    .schedule = scenario_schedule_of(run->s, m),
	    .tick = show,
	    .arg = run,
	};
	attempt_place_given(m->cpus, &(struct attempt_pins){m->client_cpu, m->server_cpu},
			    &out->engine);
	if (m->frame)
		out->engine.size = attempt_frame_payload(m->frame, m->family);
}

/* A cell for each measurement on each path, with what the model predicts for it. */
static void make_cells(struct runner *run)
{
	for (size_t m = 0; m < run->s->measures.n; m++) {
		for (size_t p = 0; p < run->s->paths.n; p++) {
			struct run_cell *c = VEC_ADD(&run->r->arena, &run->r->cells);
			struct attempt_spec spec;
			struct err err = ERR_INIT;

			c->measure = (int)m;
			c->path = (int)p;
			c->ceiling_bps = NAN;
			if (run->s->measures.v[m].unshaped)
				continue;
			specify(run, &run->s->measures.v[m], (int)p, NULL, &spec);
			if (attempt_predict(&spec, &c->predicted, &err))
				c->error = arena_strdup(&run->r->arena, err.text);
		}
	}
}

static int count_failures(const struct run_cell *c)
{
	int n = 0;

	VEC_FOREACH (sample, &c->runs)
		n += sample->error != NULL;
	return n;
}

static bool narrow_enough(const struct run_result *r, const struct run_cell *c)
{
	const struct scenario_measure *m = &r->scenario->measures.v[c->measure];
	struct summary s;

	result_summary(c, metric_find(NULL, m->spec.test), m->repeat.confidence, &s);
	if ((int)s.n < m->repeat.min)
		return false;
	return s.n == 1 ? m->repeat.min == 1 : s.half_width <= m->repeat.width * fabs(s.mean);
}

static void note_failure(struct runner *run, struct run_cell *c, struct run_sample *sample,
			 const struct err *err)
{
	sample->error = arena_strdup(&run->r->arena, err->text);
	if (attempt_interrupted())
		run->r->interrupted = true;
	else if (count_failures(c) >= FAILURES_MAX || !err->code || err->kind == ERR_UNSUPPORTED)
		c->error = sample->error;
}

static void run_once(struct runner *run, struct run_cell *c, const struct bench_lab *lab)
{
	const struct scenario_measure *m = &run->s->measures.v[c->measure];
	struct attempt_spec spec;
	struct err err = ERR_INIT;
	struct run_sample sample = {
	    .index = (int)c->runs.n + 1,
	    .started_ns = clock_now_ns() - run->begun_ns,
	};

	announce(run, "%s %s, run %d of at most %d", run->s->paths.v[c->path].name, m->name,
		 sample.index, m->repeat.max);
	specify(run, m, c->path, lab, &spec);
	int failed = attempt_run(&spec, &run->r->arena, &sample, &err);
	if (!failed && sample.engine.invalid[0]) { /* a part of a run is no sample of it */
		failed = err_fail(&err, EIO, "invalid: %s", sample.engine.invalid);
		engine_result_done(&sample.engine);
	}
	struct run_sample *stored = VEC_ADD(&run->r->arena, &c->runs);
	*stored = sample;
	if (failed)
		note_failure(run, c, stored, &err);
	c->settled = narrow_enough(run->r, c);
}

static bool resting(const struct run_result *r, const struct run_cell *c)
{
	return c->error || c->settled ||
	       (int)c->runs.n >= r->scenario->measures.v[c->measure].repeat.max;
}

/* One run on each path that still wants one; false when none does. */
static bool run_round(struct runner *run, int measure, const struct bench_lab *lab)
{
	bool any = false;

	for (size_t p = 0; p < run->s->paths.n && !run->r->interrupted; p++) {
		struct run_cell *c = result_cell(run->r, measure, (int)p);

		if (resting(run->r, c))
			continue;
		run_once(run, c, lab);
		any = true;
	}
	return any;
}

static void give_up(struct runner *run, int measure, const struct err *err)
{
	VEC_FOREACH (c, &run->r->cells)
		if (c->measure == measure && !c->error)
			c->error = arena_strdup(&run->r->arena, err->text);
}

static void show_proof(void *arg, size_t index, size_t n, const char *text)
{
	announce(arg, "%s (%zu of %zu)", text, index + 1, n);
}

/* Once, when the shaped lab is up: a link that is not what it says makes every figure wrong. */
static int prove_links(struct runner *run, const struct bench_lab *lab, struct err *err)
{
	struct prove_options o = {.quick = true,
				  .limit_ns = PROVE_NS,
				  .progress = show_proof,
				  .arg = run,
				  .stop = attempt_interrupted};

	if (run->r->proven)
		return 0;
	run->r->proven = prove_lab(lab->lab, &lab->wire, &o, &run->r->proofs, err) == 0;
	if (run->r->proven || !attempt_interrupted())
		return run->r->proven ? 0 : -err->code;
	run->r->interrupted = true;
	return 0;
}

/* Before each measurement, since what others do on the machine comes and goes. */
static int look_at_idle(struct runner *run, struct err *err)
{
	int r = bench_idle(&run->idle_busy, err);

	run->r->machine.idle_busy = fmax(run->r->machine.idle_busy, run->idle_busy);
	return r;
}

/* The shaped lab is the scenario itself; the unshaped one is only some measurements' need. */
static int measure_all(struct runner *run, struct err *err)
{
	for (size_t m = 0; m < run->s->measures.n && !run->r->interrupted; m++) {
		bool unshaped = run->s->measures.v[m].unshaped;
		struct bench_lab *lab;
		struct err one = ERR_INIT;

		if (!run->bench.labs[unshaped].lab)
			announce(run, unshaped ? "building the lab without shapers"
					       : "building the lab");
		if (bench_lab(&run->bench, unshaped, &lab, &one)) {
			if (!unshaped) {
				*err = one;
				return -one.code;
			}
			give_up(run, (int)m, &one);
			continue;
		}
		if ((!unshaped && prove_links(run, lab, err)) || look_at_idle(run, err))
			return -err->code;
		while (run_round(run, (int)m, lab))
			;
	}
	return 0;
}

/* The same path and engine without any shaper for a second: what does this machine carry there? */
static void find_ceiling(struct runner *run, struct run_cell *c)
{
	struct scenario_measure m = run->s->measures.v[c->measure];
	struct run_sample sample = {0};
	struct attempt_spec spec;
	struct bench_lab *lab;
	struct err ignored = ERR_INIT;

	if (engine_test_traits(m.spec.test).files)
		engine_spec_default(&m.spec, TEST_TCP_STREAM);
	m.unshaped = true;
	m.spec.rate_bps = m.spec.rate_pps = 0;
	m.spec.duration_ns = NSEC_PER_SEC;
	m.spec.warmup_ns = 200 * NSEC_PER_MSEC;
	announce(run, "%s %s, without shapers", run->s->paths.v[c->path].name, m.name);
	if (bench_lab(&run->bench, true, &lab, &ignored))
		return;
	specify(run, &m, c->path, lab, &spec);
	if (attempt_run(&spec, &run->r->arena, &sample, &ignored))
		return;
	if (!sample.engine.invalid[0])
		c->ceiling_bps = sample.engine.goodput_bps;
	engine_result_done(&sample.engine);
}

/* Only where a prediction was missed does it matter what the machine could have done. */
static void find_ceilings(struct runner *run)
{
	verdict_judge(run->r);
	VEC_FOREACH (v, &run->r->verdicts) {
		const struct scenario_expect *e = &run->s->expects.v[v->expect];
		struct run_cell *c = result_cell(run->r, e->what.measure, e->what.path);

		if (v->verdict == VERDICT_PASS || e->what.metric->truth == METRIC_UNPREDICTED ||
		    run->r->interrupted || run->s->measures.v[c->measure].unshaped ||
		    result_error(run->r, c) || !isnan(c->ceiling_bps))
			continue;
		find_ceiling(run, c);
	}
}

static bool was_measured(const struct run_result *r)
{
	VEC_FOREACH (c, &r->cells)
		if (c->runs.n)
			return true;
	return false;
}

/* Once something was measured, no error may lose it: it becomes a part of the result. */
int run_scenario(const struct scenario *s, const struct run_options *o, struct run_result *out,
		 struct problems *p, struct err *err)
{
	struct runner run = {.s = s, .o = o, .r = out, .begun_ns = clock_now_ns()};
	struct err down = ERR_INIT;

	result_init(out, s);
	out->started_s = (int64_t)time(NULL);
	int r = bench_open(&run.bench, s, out, p, err);
	if (!r) {
		make_cells(&run);
		r = measure_all(&run, err);
	}
	if (!r)
		find_ceilings(&run);
	if (r && was_measured(out)) {
		out->error = arena_strdup(&out->arena, err->text);
		r = 0;
	}
	if (bench_close(&run.bench, &down) && !r)
		out->error =
		    arena_printf(&out->arena, "taking the lab down: %s%s%s", down.text,
				 out->error ? "; before it: " : "", out->error ? out->error : "");
	out->total_ns = clock_now_ns() - run.begun_ns;
	if (!r)
		verdict_judge(out);
	return r;
}
