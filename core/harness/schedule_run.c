// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * schedule_run: the thread of a schedule. It decides nothing: what changes when is the scenario's,
 * how is lab_change()'s. It has a handle on the lab of its own, since the measurement uses its
 * handle at the same time. Called by attempt.c.
 */
#include "core/harness/schedule_run.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "core/base/clock.h"
#include "core/base/units.h"
#include "core/harness/schedule.h"

struct done { /* one change that was tried */
	int64_t done_ns;
	char *what; /* heap */
};

struct schedule_run {
	const struct scenario_schedule *s;
	struct lab *lab;
	struct wire wire;
	const char **sets; /* that the lab had before; texts are of `state_sets` */
	json_t *state_sets;
	pthread_t thread;
	bool started;
	int64_t window_ns;
	pthread_mutex_t lock; /* of `stop` */
	pthread_cond_t wake;
	bool stop;
	struct done *done; /* as many as n */
	size_t n;
	struct err err; /* of the first that failed */
};

static void free_run(struct schedule_run *r)
{
	for (size_t i = 0; i < r->n; i++)
		free(r->done[i].what);
	free(r->done);
	free(r->sets);
	json_decref(r->state_sets);
	wire_done(&r->wire);
	lab_close(r->lab);
	pthread_cond_destroy(&r->wake);
	pthread_mutex_destroy(&r->lock);
	free(r);
}

static void init_wake(struct schedule_run *r)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&r->wake, &attr);
	pthread_condattr_destroy(&attr);
	pthread_mutex_init(&r->lock, NULL);
}

static void keep_sets(struct schedule_run *r)
{
	size_t n;

	r->state_sets = json_deep_copy(json_object_get(lab_state(r->lab), "sets"));
	n = json_array_size(r->state_sets);
	r->sets = mem_zalloc((n + 1) * sizeof(*r->sets));
	for (size_t i = 0; i < n; i++)
		r->sets[i] = json_string_value(json_array_get(r->state_sets, i));
}

int schedule_run_open(const struct lab *lab, const struct scenario_schedule *s,
		      struct schedule_run **out, struct err *err)
{
	struct schedule_run *r;
	int rc;

	*out = NULL;
	if (!s || !s->changes.n)
		return 0;
	r = mem_zalloc(sizeof(*r));
	r->s = s;
	r->done = mem_zalloc(s->changes.n * sizeof(*r->done));
	init_wake(r);
	wire_init(&r->wire);
	rc = lab_open(lab_name(lab), &r->lab, err);
	if (!rc) {
		wire_done(&r->wire);
		rc = lab_wire(r->lab, &r->wire, err);
		keep_sets(r);
	}
	if (rc) {
		free_run(r);
		return err_wrap(err, "making ready for the schedule");
	}
	*out = r;
	return 0;
}

/* True at that time, false when there is to be no change any more. */
static bool wait_until(struct schedule_run *r, int64_t ns)
{
	struct timespec ts = {ns / NSEC_PER_SEC, ns % NSEC_PER_SEC};
	int rc = 0;
	bool go;

	pthread_mutex_lock(&r->lock);
	while (!r->stop && rc != ETIMEDOUT)
		rc = pthread_cond_timedwait(&r->wake, &r->lock, &ts);
	go = !r->stop;
	pthread_mutex_unlock(&r->lock);
	return go;
}

/* What is to be set is worked out before the time comes. */
static int change_at(struct schedule_run *r, const struct scenario_change *c, bool *again,
		     struct err *err)
{
	struct link_sets sets = {0};
	struct topology_source src;
	struct strbuf what = {0};
	int rc = lab_source(r->lab, &src, err);

	if (!rc)
		rc = schedule_sets(c, &src, &r->wire, &sets, err);
	lab_source_done(&src);
	if (!rc)
		*again = wait_until(r, r->window_ns + c->at_ns);
	if (!rc && *again) {
		rc = lab_change(r->lab, sets.v.v, sets.v.n, &what, err);
		if (!rc)
			r->done[r->n++] = (struct done){clock_now_ns() - r->window_ns,
							mem_strdup(strbuf_text(&what))};
	}
	link_sets_done(&sets);
	strbuf_done(&what);
	return rc;
}

static void *run(void *arg)
{
	struct schedule_run *r = arg;
	bool again = true;

	for (size_t i = 0; again && i < r->s->changes.n; i++) {
		const struct scenario_change *c = &r->s->changes.v[i];
		char at[64];

		if (!change_at(r, c, &again, &r->err))
			continue;
		units_format_time(at, sizeof(at), c->at_ns);
		err_wrap(&r->err, "the change of '%s' at %s", c->link, at);
		again = false;
	}
	return NULL;
}

void schedule_run_start(struct schedule_run *r, int64_t window_ns)
{
	sigset_t all, old;
	int rc;

	r->window_ns = window_ns;
	sigfillset(&all); /* signals are the measurement's */
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(&r->thread, NULL, run, r);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	r->started = rc == 0;
	if (rc)
		err_sys(&r->err, rc, "cannot start the schedule");
}

static void stop(struct schedule_run *r)
{
	if (!r->started)
		return;
	pthread_mutex_lock(&r->lock);
	r->stop = true;
	pthread_cond_signal(&r->wake);
	pthread_mutex_unlock(&r->lock);
	pthread_join(r->thread, NULL);
}

static void report(const struct schedule_run *r, struct arena *arena, struct run_sample *out)
{
	for (size_t i = 0; i < r->s->changes.n; i++) {
		const struct scenario_change *c = &r->s->changes.v[i];
		struct run_change *change = VEC_ADD(arena, &out->changes);
		autostr struct strbuf text = {0};

		schedule_text(c, &text);
		change->asked_ns = c->at_ns;
		change->done_ns = i < r->n ? r->done[i].done_ns : -1;
		change->link = arena_strdup(arena, c->link);
		change->text = arena_strdup(arena, strbuf_text(&text));
		change->what = arena_strdup(arena, i < r->n ? r->done[i].what : "");
	}
}

int schedule_run_close(struct schedule_run *r, struct arena *arena, struct run_sample *out,
		       struct err *err)
{
	struct strbuf ignored = {0};
	struct err back = ERR_INIT;
	int rc = 0;

	if (!r)
		return 0;
	stop(r);
	report(r, arena, out);
	/* Also after a change that failed: it may have been broken off half-way. */
	if ((r->n || r->err.code) &&
	    lab_reset(r->lab, r->sets, json_array_size(r->state_sets), &ignored, &back))
		rc = err_wrap(&back, "putting the lab back after the schedule");
	if (r->err.code)
		*err = r->err;
	else if (rc)
		*err = back;
	rc = r->err.code ? -r->err.code : rc;
	strbuf_done(&ignored);
	free_run(r);
	return rc;
}
