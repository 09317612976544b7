// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * several: threads of one process, a barrier before the start, and the arithmetic of sums. Starts
 * no workers and counts nothing. Called by attempt_many.c and by `vpclab measure` for real
 * machines.
 */
#include "core/harness/several.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/base/str.h"
#include "core/base/units.h"

/* After all are let go, for the threads to wake up and tell their workers. */
#define SEVERAL_LEAD_NS (20 * NSEC_PER_MSEC)

struct group {
	struct several_pair *pairs;
	size_t n;
	const struct several_hooks *hooks;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	size_t connected, asked; /* pairs that are connected; that asked when to start */
	size_t ended;		 /* pairs that are over */
	bool go, cancelled;	 /* all are connected; one failed before that */
	int64_t longest_ns;	 /* that a pair needs from being told to its start */
	int64_t start_ns;	 /* agreed; 0: not yet */
};

struct member {
	struct group *g;
	size_t index;
	pthread_t thread;
};

/* ---- in a pair's thread ---- */

static int on_connected(void *arg, const json_t *flows, struct err *err)
{
	struct member *m = arg;
	struct group *g = m->g;

	pthread_mutex_lock(&g->lock);
	g->pairs[m->index].flows = json_incref((json_t *)flows);
	g->connected++;
	pthread_cond_broadcast(&g->changed);
	while (!g->go && !g->cancelled)
		pthread_cond_wait(&g->changed, &g->lock);
	bool go = !g->cancelled;
	g->pairs[m->index].ran = go;
	pthread_mutex_unlock(&g->lock);
	return go ? 0 : err_fail(err, ECANCELED, "not started, since another pair failed");
}

/* The last one that asks decides, for those that still live. */
static void agree(struct group *g)
{
	if (!g->start_ns && g->asked && g->asked + g->ended >= g->n)
		g->start_ns = clock_now_ns() + g->longest_ns + SEVERAL_LEAD_NS;
	pthread_cond_broadcast(&g->changed);
}

static int64_t on_agree(void *arg, int64_t earliest_ns)
{
	struct member *m = arg;
	struct group *g = m->g;
	int64_t needs_ns = earliest_ns - clock_now_ns(), start;

	pthread_mutex_lock(&g->lock);
	if (needs_ns > g->longest_ns)
		g->longest_ns = needs_ns;
	g->asked++;
	agree(g);
	while (!g->start_ns)
		pthread_cond_wait(&g->changed, &g->lock);
	start = g->start_ns;
	pthread_mutex_unlock(&g->lock);
	return start > earliest_ns ? start : earliest_ns;
}

static void on_interval(void *arg, const json_t *interval)
{
	struct member *m = arg;
	struct group *g = m->g;

	if (!g->hooks->on_interval)
		return;
	pthread_mutex_lock(&g->lock);
	g->hooks->on_interval(g->hooks->arg, m->index, interval);
	pthread_mutex_unlock(&g->lock);
}

static void *run_pair(void *arg)
{
	struct member *m = arg;
	struct group *g = m->g;
	struct several_pair *p = &g->pairs[m->index];
	struct engine_hooks hooks = {
	    .on_connected = on_connected,
	    .on_interval = on_interval,
	    .arg = m,
	    .stop_fd = g->hooks->stop_fd,
	    .own_clocks = p->own_clocks,
	    .start = on_agree,
	};

	int r = engine_pair(&p->spec, &p->server, &p->ends, &hooks, &p->result, &p->err);
	if (!r)
		p->err = ERR_INIT;
	pthread_mutex_lock(&g->lock);
	g->ended++;
	if (r && !p->ran)
		g->cancelled = true;
	agree(g);
	pthread_mutex_unlock(&g->lock);
	return NULL;
}

/* ---- in the caller's ---- */

/* Until all are connected, or one of them never will be. */
static bool wait_connected(struct group *g)
{
	pthread_mutex_lock(&g->lock);
	while (g->connected < g->n && !g->cancelled)
		pthread_cond_wait(&g->changed, &g->lock);
	bool all = !g->cancelled;
	pthread_mutex_unlock(&g->lock);
	return all;
}

static void release(struct group *g, bool go)
{
	pthread_mutex_lock(&g->lock);
	g->go = go;
	g->cancelled = !go;
	pthread_cond_broadcast(&g->changed);
	pthread_mutex_unlock(&g->lock);
}

static int start_threads(struct group *g, struct member *members, size_t *started, struct err *err)
{
	for (*started = 0; *started < g->n; (*started)++) {
		struct member *m = &members[*started];

		*m = (struct member){.g = g, .index = *started};
		g->pairs[*started].err = ERR_INIT;
		int code = pthread_create(&m->thread, NULL, run_pair, m);
		if (code)
			return err_sys(err, code, "cannot start a thread for pair %zu",
				       *started + 1);
	}
	return 0;
}

/* Of those that never ran, the one that failed by itself, not because another did. */
static int first_failure(const struct several_pair *pairs, size_t n, struct err *err)
{
	const struct several_pair *found = NULL;

	for (size_t i = 0; i < n; i++) {
		const struct several_pair *p = &pairs[i];

		if (p->ran || !p->err.kind)
			continue;
		if (!found || (found->err.code == ECANCELED && p->err.code != ECANCELED))
			found = p;
	}
	if (!found)
		return 0;
	*err = found->err;
	return -err->code;
}

int several_run(struct several_pair *pairs, size_t n, const struct several_hooks *hooks,
		struct err *err)
{
	struct group g = {.pairs = pairs, .n = n, .hooks = hooks};
	autofree struct member *members = mem_zalloc((n + 1) * sizeof(*members));
	size_t started;

	pthread_mutex_init(&g.lock, NULL);
	pthread_cond_init(&g.changed, NULL);
	int r = start_threads(&g, members, &started, err);
	if (r)
		release(&g, false);
	else if (wait_connected(&g)) {
		r = hooks->on_connected ? hooks->on_connected(hooks->arg, err) : 0;
		release(&g, !r);
	}
	for (size_t i = 0; i < started; i++)
		pthread_join(members[i].thread, NULL);
	pthread_cond_destroy(&g.changed);
	pthread_mutex_destroy(&g.lock);
	return r ? r : first_failure(pairs, n, err);
}

void several_done(struct several_pair *pairs, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		json_decref(pairs[i].flows);
		pairs[i].flows = NULL;
		if (!pairs[i].err.kind && pairs[i].ran)
			engine_result_done(&pairs[i].result);
		pairs[i].ran = false;
	}
}

/* ---- together ---- */

static bool has_result(const struct several_pair *p)
{
	return p->ran && !p->err.kind;
}

static double window_s(const struct several_pair *p)
{
	const struct engine_result *r = &p->result;
	int64_t ns =
	    r->server.window_ns > r->client.window_ns ? r->server.window_ns : r->client.window_ns;

	return (double)ns / (double)NSEC_PER_SEC;
}

/* The mean of `key` from the begin of the window to end_s; NAN without intervals. */
static double mean_until(const json_t *intervals, const char *key, double end_s)
{
	double from = 0, sum = 0;

	for (size_t i = 0; i < json_array_size(intervals) && from < end_s; i++) {
		const json_t *one = json_array_get(intervals, i);
		double to = json_number_value(json_object_get(one, "t_s"));

		if (to > end_s)
			to = end_s;
		if (!json_is_number(json_object_get(one, key)))
			return NAN;
		sum += json_number_value(json_object_get(one, key)) * (to - from);
		from = to;
	}
	return from > 0 ? sum / end_s : NAN;
}

static double rate_of(const struct several_pair *p, const char *key, double whole,
		      const struct several_total *t)
{
	if (!t->cut)
		return whole;
	double part = mean_until(p->result.intervals, key, t->window_s);
	return isnan(part) ? whole * fmin(1, window_s(p) / t->window_s) : part;
}

static void common_window(const struct several_pair *pairs, size_t n, struct several_total *t)
{
	double most = 0;

	t->window_s = HUGE_VAL;
	for (size_t i = 0; i < n; i++) {
		if (!has_result(&pairs[i]))
			continue;
		t->window_s = fmin(t->window_s, window_s(&pairs[i]));
		most = fmax(most, window_s(&pairs[i]));
	}
	t->cut = most > t->window_s * 1.01; /* clocks are read a little apart */
	if (!t->pairs)
		t->window_s = 0;
}

static void add_spread(struct several_total *t, const double *values)
{
	double sum = 0, squares = 0, off = 0;

	t->min = HUGE_VAL;
	for (size_t i = 0; i < t->pairs; i++) {
		sum += values[i];
		squares += values[i] * values[i];
		t->min = fmin(t->min, values[i]);
		t->max = fmax(t->max, values[i]);
	}
	t->mean = sum / (double)t->pairs;
	for (size_t i = 0; i < t->pairs; i++)
		off += (values[i] - t->mean) * (values[i] - t->mean);
	t->stddev = t->pairs > 1 ? sqrt(off / (double)(t->pairs - 1)) : NAN;
	t->fairness = squares > 0 ? sum * sum / ((double)t->pairs * squares) : NAN;
}

void several_total(const struct several_pair *pairs, size_t n, struct several_total *out)
{
	autofree double *values = mem_zalloc((n + 1) * sizeof(*values));
	size_t k = 0;

	*out = (struct several_total){0};
	for (size_t i = 0; i < n; i++)
		out->pairs += has_result(&pairs[i]);
	common_window(pairs, n, out);
	for (size_t i = 0; i < n; i++) {
		const struct engine_result *r = &pairs[i].result;
		bool transactions = engine_test_traits(pairs[i].spec.test).transactions;

		if (!has_result(&pairs[i]))
			continue;
		double pps = rate_of(&pairs[i], transactions ? "tps" : "pps", r->pps, out);
		double bps =
		    transactions ? r->goodput_bps : rate_of(&pairs[i], "bps", r->goodput_bps, out);
		out->pps += pps;
		out->goodput_bps += bps;
		out->back_goodput_bps += r->back.goodput_bps;
		out->lost += r->lost + r->back.lost;
		out->retransmits += r->retransmits + r->back.retransmits;
		values[k++] = transactions ? pps : bps;
	}
	if (k)
		add_spread(out, values);
}

static void set_number(json_t *o, const char *key, double value)
{
	json_object_set_new(o, key, isfinite(value) ? json_real(value) : json_null());
}

json_t *several_total_json(const struct several_total *t)
{
	json_t *o =
	    json_pack("{s:I,s:b,s:I,s:I}", "pairs", (json_int_t)t->pairs, "cut", t->cut, "lost",
		      (json_int_t)t->lost, "retransmits", (json_int_t)t->retransmits);

	set_number(o, "window_s", t->window_s);
	set_number(o, "goodput_bps", t->goodput_bps);
	set_number(o, "pps", t->pps);
	set_number(o, "back_goodput_bps", t->back_goodput_bps);
	set_number(o, "mean", t->mean);
	set_number(o, "min", t->min);
	set_number(o, "max", t->max);
	set_number(o, "stddev", t->stddev);
	set_number(o, "fairness", t->fairness);
	return o;
}
