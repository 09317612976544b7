// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * measure_several: opens the ends, runs the pairs, prints each and their sum. What runs at the same
 * time is core/harness/several.c's business. Called by cmd_measure.c.
 */
#include "core/cli/measure_several.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/str.h"
#include "core/base/units.h"
#include "core/cli/command.h"
#include "core/cli/print.h"
#include "core/harness/attempt_many.h"
#include "core/harness/bench.h"
#include "core/report/json.h"
#include "core/report/text.h"

enum { SHOWN_WHOLE = 4 }; /* pairs; of more, a line each */

struct run {
	const struct measure_ends *ends;
	struct measurement *of; /* [n] */
	struct several_pair *pairs;
	size_t n;
	struct truth_predicted sum; /* what the model says for all together */
	struct arena arena;
};

static void run_init(struct run *x, const struct measure_ends *ends)
{
	*x = (struct run){.ends = ends, .n = ends->pairs.n};
	x->of = mem_zalloc((x->n + 1) * sizeof(*x->of));
	x->pairs = mem_zalloc((x->n + 1) * sizeof(*x->pairs));
	arena_init(&x->arena);
}

static void run_done(struct run *x)
{
	several_done(x->pairs, x->n);
	free(x->pairs);
	free(x->of);
	arena_done(&x->arena);
}

/* ---- printing ---- */

static bool failed(const struct run *x, size_t i)
{
	return x->pairs[i].err.kind != ERR_NONE;
}

static int status_of(const struct run *x)
{
	int status = EXIT_PASS;

	for (size_t i = 0; i < x->n; i++)
		if (failed(x, i) || measure_status(&x->of[i]) != EXIT_PASS)
			status = EXIT_INCONCLUSIVE;
	return status;
}

static enum metric_unit unit_of(const struct run *x)
{
	return engine_test_traits(x->of[0].spec.engine.test).transactions ? METRIC_TPS : METRIC_BPS;
}

static void print_line(const struct run *x, size_t i, struct strbuf *out)
{
	const struct measurement *m = &x->of[i];
	const struct engine_result *e = &x->pairs[i].result;
	char rate[64];

	strbuf_addf(out, "%s → %s  ", m->spec.from, m->spec.to);
	if (failed(x, i)) {
		strbuf_addf(out, "failed: %s\n", x->pairs[i].err.text);
		return;
	}
	metric_format(rate, sizeof(rate), unit_of(x),
		      unit_of(x) == METRIC_TPS ? e->pps : e->goodput_bps);
	strbuf_addf(out, "%s, %s%s%s\n", rate,
		    m->sample.counted.agreement == TRUTH_AGREE ? "counters agree"
							       : m->sample.counted.why,
		    e->invalid[0] ? "; invalid: " : "", e->invalid);
}

static void add_prediction(const struct run *x, struct strbuf *out)
{
	const struct truth_predicted *p = &x->sum;
	char low[64], high[64];

	if (!p->known) {
		if (p->unknown[0])
			strbuf_addf(out, "  %-16s nothing: %s\n", "predicted", p->unknown);
		return;
	}
	metric_format(low, sizeof(low), METRIC_BPS, p->low_bps);
	metric_format(high, sizeof(high), METRIC_BPS, p->high_bps);
	strbuf_addf(out, "  %-16s %s%s%s: ", "predicted", low, str_eq(low, high) ? "" : " … ",
		    str_eq(low, high) ? "" : high);
	truth_limit_text(p, out);
	strbuf_addf(out, "%s%s\n", p->assumption ? ", " : "", p->assumption ? p->assumption : "");
}

static void add_total(const struct run *x, const struct several_total *t, struct strbuf *out)
{
	bool transactions = unit_of(x) == METRIC_TPS;
	char sum[64], back[64], mean[64], min[64], max[64];

	metric_format(sum, sizeof(sum), unit_of(x), transactions ? t->pps : t->goodput_bps);
	metric_format(back, sizeof(back), METRIC_BPS, t->back_goodput_bps);
	metric_format(mean, sizeof(mean), unit_of(x), t->mean);
	metric_format(min, sizeof(min), unit_of(x), t->min);
	metric_format(max, sizeof(max), unit_of(x), t->max);
	strbuf_addf(out, "together, %zu of %zu pairs\n", t->pairs, x->n);
	if (!t->pairs)
		return;
	strbuf_addf(out, "  %-16s %s over the %.2f s in which all ran%s\n", "sum", sum, t->window_s,
		    t->cut ? "; what some did after that is left out" : "");
	if (t->back_goodput_bps > 0)
		strbuf_addf(out, "  %-16s %s\n", "sum, back", back);
	strbuf_addf(out, "  %-16s mean %s, least %s, most %s", "each", mean, min, max);
	if (isfinite(t->stddev) && t->mean > 0)
		strbuf_addf(out, ", deviation %.1f %%", 100 * t->stddev / t->mean);
	strbuf_addf(out, "; fairness %.3f (1: all equal)\n", t->fairness);
	add_prediction(x, out);
}

static json_t *run_json(const struct run *x, const struct several_total *t)
{
	json_t *o = json_object(), *pairs = json_array(), *total = several_total_json(t);

	for (size_t i = 0; i < x->n; i++) {
		json_t *one = failed(x, i)
				  ? json_pack("{s:s,s:s,s:s}", "from", x->of[i].spec.from, "to",
					      x->of[i].spec.to, "error", x->pairs[i].err.text)
				  : measure_json(&x->of[i]);
		json_array_append_new(pairs, one);
	}
	json_object_set_new(total, "predicted", json_predicted(&x->sum));
	json_object_set_new(o, "test", json_string(engine_test_name(x->of[0].spec.engine.test)));
	json_object_set_new(o, "pairs", pairs);
	json_object_set_new(o, "total", total);
	return o;
}

static int print_all(const struct run *x, bool json)
{
	autostr struct strbuf out = {0};
	struct several_total total;

	several_total(x->pairs, x->n, &total);
	if (json) {
		print_json(run_json(x, &total));
		return status_of(x);
	}
	for (size_t i = 0; i < x->n; i++) {
		if (!failed(x, i) && x->n <= SHOWN_WHOLE)
			measure_print(&x->of[i]);
		else
			print_line(x, i, &out);
	}
	add_total(x, &total, &out);
	print_text(&out);
	return status_of(x);
}

/* ---- in a lab ---- */

static void specify(struct run *x, const struct attempt_spec *first, struct attempt_spec *specs)
{
	for (size_t i = 0; i < x->n; i++) {
		specs[i] = *first;
		specs[i].from = x->ends->pairs.v[i].from;
		specs[i].to = x->ends->pairs.v[i].to;
		attempt_spread(i, &specs[i].engine);
		x->of[i].spec = specs[i];
	}
}

static void predict(struct run *x)
{
	autofree struct truth_predicted *lone = mem_zalloc((x->n + 1) * sizeof(*lone));
	struct err ignored = ERR_INIT; /* what has no way fails when it runs */

	for (size_t i = 0; i < x->n; i++) {
		attempt_predict(&x->of[i].spec, &lone[i], &ignored);
		x->of[i].predicted = lone[i];
		x->of[i].predicted.known = false;
		snprintf(x->of[i].predicted.unknown, sizeof(x->of[i].predicted.unknown),
			 "other pairs run at the same time");
	}
	attempt_predict_many(lone, x->n, &x->sum);
}

int measure_in_lab(const struct measure_ends *ends, const struct attempt_spec *first, bool json,
		   struct err *err)
{
	struct run x;
	double idle_busy;
	int r = bench_idle(&idle_busy, err);

	if (r)
		return r;
	run_init(&x, ends);
	struct attempt_spec *specs = mem_zalloc((x.n + 1) * sizeof(*specs));
	struct run_sample *samples = mem_zalloc((x.n + 1) * sizeof(*samples));
	struct attempt_many many = {specs, samples, x.pairs, x.n};

	specify(&x, first, specs);
	for (size_t i = 0; i < x.n; i++)
		specs[i].idle_busy = idle_busy;
	predict(&x);
	r = attempt_run_many(&many, &x.arena, err);
	if (r && attempt_interrupted())
		err->kind = ERR_INCONCLUSIVE;
	for (size_t i = 0; i < x.n; i++)
		x.of[i].sample = samples[i];
	if (!r)
		r = print_all(&x, json);
	run_done(&x);
	free(samples);
	free(specs);
	return r;
}

/* ---- real machines ---- */

struct machines {
	struct run run;
	const struct remote_options *o;
	struct remote_end (*ends)[2];	    /* [n]: client, server */
	struct remote_worker (*workers)[2]; /* [n] */
	size_t opened;			    /* pairs that may have workers */
};

static int open_pair(struct machines *x, size_t i, struct err *err)
{
	const struct measure_pair *p = &x->run.ends->pairs.v[i];
	struct several_pair *pair = &x->run.pairs[i];
	struct remote_worker *w = x->workers[i];
	const char *texts[] = {p->from, p->to};
	struct ip_zone at = {0};
	int r = 0;

	for (int side = 0; side < 2; side++)
		w[side] = (struct remote_worker){.in = -1, .out = -1, .words = -1};
	x->opened = i + 1;
	for (int side = 0; side < 2 && !r; side++)
		r = remote_parse(texts[side], &x->run.arena, &x->ends[i][side], err);
	for (int side = 0; side < 2 && !r; side++)
		r = remote_open(&x->ends[i][side], x->o, &w[side], err);
	if (!r)
		r = remote_address(&x->ends[i][1], &w[0], x->o, &at, err);
	pair->server = at.ip;
	memcpy(pair->spec.zone, at.zone, sizeof(at.zone));
	pair->ends = (struct engine_ends){w[0].out, w[0].in, w[1].out, w[1].in};
	/* Ours too: by it they are told when to start. */
	pair->own_clocks = !remote_here(&w[0]) || !remote_here(&w[1]);
	return r;
}

/* Nothing of ours counts packets there: that is said, not passed over. */
static void fill_samples(struct machines *x)
{
	const struct truth_claim none = {-1, 0};

	for (size_t i = 0; i < x->run.n; i++) {
		struct measurement *m = &x->run.of[i];
		struct truth_traffic t = {.family = x->o->family};

		if (x->run.pairs[i].err.kind)
			continue;
		m->sample = (struct run_sample){.index = 1,
						.spec = x->run.pairs[i].spec,
						.engine = x->run.pairs[i].result,
						.cpu_per_packet_ns = NAN,
						.cpu_missing = "real machines are not looked into"};
		m->sample.whole.missing = "the ends are real machines, and nothing but the two "
					  "engines confirms the figures";
		truth_count(&t, &m->sample.whole, NULL, &none, &m->sample.counted);
	}
}

static void explain(struct machines *x)
{
	for (size_t i = 0; i < x->run.n; i++)
		for (int side = 0; side < 2; side++)
			remote_explain(&x->ends[i][side], &x->workers[i][side],
				       &x->run.pairs[i].err);
}

static int run_machines(struct machines *x, struct err *err)
{
	struct several_hooks hooks = {.stop_fd = attempt_interrupt_fd()};
	int r = several_run(x->run.pairs, x->run.n, &hooks, err);

	explain(x);
	if (r) { /* the same with what ssh said */
		for (size_t i = 0; i < x->run.n; i++)
			if (str_starts(x->run.pairs[i].err.text, err->text))
				*err = x->run.pairs[i].err;
		if (attempt_interrupted())
			err->kind = ERR_INCONCLUSIVE;
		return r;
	}
	fill_samples(x);
	return 0;
}

static int print_machines(const struct machines *x, bool json)
{
	const struct run *run = &x->run;

	if (run->n > 1)
		return print_all(run, json);
	if (json)
		print_json(measure_json(&run->of[0]));
	else
		measure_print(&run->of[0]);
	return status_of(run);
}

int measure_machines(const struct measure_ends *ends, const struct engine_spec *spec,
		     const struct remote_options *o, bool json, struct err *err)
{
	struct machines x = {.o = o};
	int r = ends->pairs.n > SEVERAL_MOST
		    ? err_input(err, "%zu pairs are more than the %d that run at the same time",
				ends->pairs.n, SEVERAL_MOST)
		    : 0;

	run_init(&x.run, ends);
	x.ends = mem_zalloc((x.run.n + 1) * sizeof(*x.ends));
	x.workers = mem_zalloc((x.run.n + 1) * sizeof(*x.workers));
	for (size_t i = 0; i < x.run.n && !r; i++) {
		x.run.pairs[i].spec = *spec;
		x.run.of[i].spec = (struct attempt_spec){.from = ends->pairs.v[i].from,
							 .to = ends->pairs.v[i].to,
							 .family = o->family,
							 .engine = *spec};
		r = open_pair(&x, i, err);
	}
	if (!r)
		r = run_machines(&x, err);
	if (!r && x.run.n == 1 && x.run.pairs[0].err.kind) {
		*err = x.run.pairs[0].err;
		r = -err->code;
	}
	if (!r)
		r = print_machines(&x, json);
	for (size_t i = 0; i < x.opened; i++)
		for (int side = 0; side < 2; side++)
			remote_close(&x.workers[i][side]);
	free(x.workers);
	free(x.ends);
	run_done(&x.run);
	return r;
}
