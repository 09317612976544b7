// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * attempt_many: the attempts of several pairs around one several_run(). Called by `vpclab measure`.
 */
#include "core/harness/attempt_many.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/engine/cpu.h"
#include "core/harness/attempt_part.h"

void attempt_spread(size_t i, struct engine_spec *spec)
{
	int n = 0, *places[] = {&spec->client_cpu, &spec->server_cpu};

	while (cpu_allowed(n) >= 0)
		n++;
	for (size_t p = 0; p < ARRAY_SIZE(places); p++)
		for (int k = 0; k < n; k++)
			if (cpu_allowed(k) == *places[p]) {
				*places[p] = cpu_allowed((int)(((size_t)k + i) % (size_t)n));
				break;
			}
}

struct many {
	struct attempt_many *m;
	struct attempt *attempts;
	struct counters_shared *counters;
};

/* Counters of all pairs, before the first packet of any. */
static int on_connected(void *arg, struct err *err)
{
	struct many *x = arg;

	for (size_t i = 0; i < x->m->n; i++) {
		struct attempt *a = &x->attempts[i];

		for (int way = 0; way < a->n_ways; way++)
			way_open(&a->ways[way], x->m->pairs[i].flows, x->counters);
	}
	int r = fidelity_read(&x->attempts[0].before, err);
	for (size_t i = 1; i < x->m->n; i++)
		x->attempts[i].before = x->attempts[0].before;
	return r;
}

static void on_interval(void *arg, size_t pair, const json_t *interval)
{
	struct many *x = arg;

	attempt_on_interval(&x->attempts[pair], interval);
}

static int open_all(struct many *x, struct err *err)
{
	for (size_t i = 0; i < x->m->n; i++) {
		struct attempt *a = &x->attempts[i];
		struct several_pair *p = &x->m->pairs[i];
		int r = attempt_open(a, err);

		if (r)
			return r;
		p->spec = a->spec;
		p->server = attempt_server(a);
		p->ends = (struct engine_ends){a->fd[0], a->fd[0], a->fd[1], a->fd[1]};
	}
	return 0;
}

static void assess_all(struct many *x, struct arena *arena)
{
	for (size_t i = 0; i < x->m->n; i++) {
		struct attempt *a = &x->attempts[i];
		struct run_sample *sample = &x->m->samples[i];

		if (x->m->pairs[i].err.kind)
			continue;
		*sample = (struct run_sample){
		    .index = 1, .spec = a->spec, .engine = x->m->pairs[i].result};
		a->after = x->attempts[0].after;
		attempt_assess(a, arena, sample);
	}
}

static int run(struct many *x, struct arena *arena, struct err *err)
{
	struct several_hooks hooks = {on_connected, on_interval, x, attempt_interrupt_fd()};
	int r = several_run(x->m->pairs, x->m->n, &hooks, err);

	if (r && attempt_interrupted())
		return err_fail(err, EINTR, "interrupted");
	if (!r)
		r = fidelity_read(&x->attempts[0].after, err);
	if (!r)
		assess_all(x, arena);
	return r;
}

int attempt_run_many(struct attempt_many *m, struct arena *arena, struct err *err)
{
	struct many x = {.m = m};

	if (m->n > SEVERAL_MOST)
		return err_input(err, "%zu pairs are more than the %d that run at the same time",
				 m->n, SEVERAL_MOST);
	x.counters = counters_shared_new();
	x.attempts = mem_zalloc((m->n + 1) * sizeof(*x.attempts));
	for (size_t i = 0; i < m->n; i++)
		x.attempts[i] =
		    (struct attempt){.s = &m->specs[i], .spec = m->specs[i].engine, .others = true};
	int r = open_all(&x, err);
	if (!r)
		r = run(&x, arena, err);
	for (size_t i = 0; i < m->n; i++)
		attempt_close(&x.attempts[i]);
	counters_shared_free(x.counters);
	free(x.attempts);
	return r;
}

/* ---- prediction ---- */

void attempt_predict_many(const struct truth_predicted *lone, size_t n, struct truth_predicted *out)
{
	bool shaped = false;

	memset(out, 0, sizeof(*out));
	for (size_t i = 0; i < n; i++)
		shaped = shaped || lone[i].known || lone[i].unknown[0];
	if (!shaped)
		return; /* the machine limits them */
	for (size_t i = 0; i < n; i++) {
		const struct truth_predicted *p = &lone[i];
		bool shared = p->limit == LIMIT_RATE || p->limit == LIMIT_PACKETS;

		if (p->known && shared && p->shaper == lone[0].shaper)
			continue;
		snprintf(out->unknown, sizeof(out->unknown),
			 "the pairs have no one link that limits all of them");
		return;
	}
	*out = lone[0];
	for (size_t i = 1; i < n; i++) { /* packets of different size, or ways back */
		if (lone[i].low_bps < out->low_bps)
			out->low_bps = lone[i].low_bps;
		if (lone[i].high_bps > out->high_bps)
			out->high_bps = lone[i].high_bps;
	}
}
