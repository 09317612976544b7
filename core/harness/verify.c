/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verify: all tools on all trials. Trials that do not fill the machine run at the same time, as
 * many as asked for, each in a lab of its own; those that would run one by one afterwards, so that
 * none disturbs another. Called by `vpclab verify`.
 */
#include "core/harness/verify.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/base/mem.h"
#include "core/base/str.h"
#include "core/harness/attempt.h"
#include "core/harness/confirm.h"

struct verifying {
	const struct verify_spec *s;
	struct trial_result *results;
	struct machine machine;
	pthread_mutex_t lock;
	size_t next, done; /* of the turn: place in the list; results that are there */
	bool alone;	   /* the turn: those that run by themselves */
};

/* The next of this turn, or -1; under the lock. */
static ssize_t take(struct verifying *v)
{
	size_t n = v->s->n_tools * v->s->n_trials;

	while (v->next < n && !attempt_interrupted()) {
		size_t i = v->next++;

		if (v->s->trials[i % v->s->n_trials]->alone == v->alone)
			return (ssize_t)i;
	}
	return -1;
}

static void skip(const struct verify_tool *tool, const struct trial *trial, const char *why,
		 struct trial_result *out)
{
	*out = (struct trial_result){0};
	arena_init(&out->arena);
	arena_init(&out->judged.arena);
	out->tool = arena_strdup(&out->arena, tool->adapter->name);
	out->version = arena_strdup(&out->arena, tool->version ? tool->version : "");
	out->trial = arena_strdup(&out->arena, trial->name);
	out->skip = arena_strdup(&out->arena, why);
}

/* Names of tools and trials are people's own. */
char *verify_keep_path(const char *folder, const char *trial, const char *tool)
{
	char *path = mem_printf("%s/%s-%s", folder, trial, tool);

	for (char *c = path + strlen(folder) + 1; *c; c++)
		if (*c == '/')
			*c = '_';
	return path;
}

bool verify_has_fault(const struct trial_result *r)
{
	VEC_FOREACH (a, &r->judged.answers)
		if (judgement_is_fault(a->judgement))
			return true;
	return false;
}

/* Run number k in a lab of its own; headers of packets in a file of its own where they are kept. */
static char *capture_path(const struct verifying *v, const struct trial_run_spec *spec, int k)
{
	if (!v->s->keep)
		return NULL;
	autofree char *path = verify_keep_path(v->s->keep, spec->trial->name, spec->adapter->name);

	return k ? mem_printf("%s.%d.pcap", path, k + 1) : mem_printf("%s.pcap", path);
}

/* Headers of packets are worth keeping where there is a fault: those of the run that is told. */
static void keep_capture(const struct verifying *v, const struct trial_run_spec *spec, int n,
			 int told)
{
	autofree char *kept = capture_path(v, spec, 0);

	for (int k = 0; kept && k < n; k++) {
		autofree char *path = capture_path(v, spec, k);

		if (k != told || told < 0)
			unlink(path);
	}
	autofree char *path = told > 0 ? capture_path(v, spec, told) : NULL;
	if (path)
		rename(path, kept);
}

/* Again, as long as something is said against the tool that no two runs say alike. */
static int run_again(struct verifying *v, struct trial_run_spec *spec, struct trial_result *runs,
		     int *n, struct err *err)
{
	int r;

	do {
		autofree char *capture = capture_path(v, spec, *n);

		spec->capture = capture;
		r = trial_run(spec, &runs[*n], err);
		if (r && r != -EINTR && *n) { /* what was found before is not lost */
			runs[*n].inconclusive = arena_strdup(&runs[*n].arena, err->text);
			*err = ERR_INIT;
			r = 0;
		}
		spec->capture = NULL;
		(*n)++;
	} while (!r && confirm_wants_more(runs, *n));
	return r;
}

static int run_confirmed(struct verifying *v, struct trial_run_spec *spec, struct trial_result *out,
			 struct err *err)
{
	struct trial_result runs[CONFIRM_RUNS];
	int n = 0, told = 0, r = run_again(v, spec, runs, &n, err);
	double took_s = 0;

	if (!r)
		told = confirm_settle(runs, n);
	for (int k = 0; k < n; k++) {
		took_s += runs[k].took_s;
		if (k != told)
			trial_result_done(&runs[k]);
	}
	*out = runs[told];
	out->runs = n;
	out->took_s = took_s;
	keep_capture(v, spec, n, !r && verify_has_fault(out) ? told : -1);
	if (!r)
		trial_result_find_known(spec, out);
	return r;
}

static int run_one(struct verifying *v, size_t i, struct err *err)
{
	const struct verify_tool *tool = &v->s->tools[i / v->s->n_trials];
	struct trial_run_spec spec = {.trial = v->s->trials[i % v->s->n_trials],
				      .adapter = tool->adapter,
				      .version = tool->version,
				      .machine = &v->machine,
				      .stop = attempt_interrupted};

	if (!tool->version) {
		skip(tool, spec.trial, tool->missing, &v->results[i]);
		return 0;
	}
	return run_confirmed(v, &spec, &v->results[i], err);
}

static void *work(void *arg)
{
	struct verifying *v = arg;
	ssize_t i;

	pthread_mutex_lock(&v->lock);
	while ((i = take(v)) >= 0) {
		struct err err = ERR_INIT;

		pthread_mutex_unlock(&v->lock);
		int r = run_one(v, (size_t)i, &err);
		pthread_mutex_lock(&v->lock);
		v->done++;
		if (r == -EINTR)
			trial_result_done(&v->results[i]);
		else if (r) /* of this lab, not of the others: nothing that was found is lost */
			v->results[i].inconclusive = arena_strdup(&v->results[i].arena, err.text);
		if (v->s->progress && r != -EINTR)
			v->s->progress(v->s->arg, &v->results[i], v->done,
				       v->s->n_tools * v->s->n_trials);
	}
	pthread_mutex_unlock(&v->lock);
	return NULL;
}

static void turn(struct verifying *v, bool alone)
{
	int jobs = alone || v->s->jobs < 1 ? 1 : v->s->jobs, made = 0;
	autofree pthread_t *threads = mem_zalloc((size_t)jobs * sizeof(*threads));

	v->alone = alone;
	v->next = 0;
	for (int i = 1; i < jobs; i++)
		made += !pthread_create(&threads[made], NULL, work, v);
	work(v);
	for (int i = 0; i < made; i++)
		pthread_join(threads[i], NULL);
}

int verify_run(const struct verify_spec *s, struct trial_result *results, struct err *err)
{
	struct verifying v = {.s = s, .results = results, .lock = PTHREAD_MUTEX_INITIALIZER};
	size_t n = s->n_tools * s->n_trials;
	int r = lab_measure_machine(&v.machine, err);

	for (size_t i = 0; i < n; i++)
		results[i] = (struct trial_result){0};
	if (r)
		return r;
	turn(&v, false);
	turn(&v, true);
	for (size_t i = 0; i < n; i++)
		if (!results[i].tool)
			skip(&s->tools[i / s->n_trials], s->trials[i % s->n_trials], "interrupted",
			     &results[i]);
	return attempt_interrupted() ? err_fail(err, EINTR, "interrupted") : 0;
}

static void count_one(const struct trial_result *r, struct verify_counts *c)
{
	const struct answer *worst;

	switch (trial_result_judgement(r, &worst)) {
	case JUDGED_TRUE:
		c->true_++;
		break;
	case JUDGED_OFF:
		c->off++;
		break;
	case JUDGED_LIE:
		c->lies++;
		break;
	case JUDGED_SILENT:
		c->silent++;
		break;
	case JUDGED_HANG:
		c->hangs++;
		break;
	case JUDGED_CRASH:
		c->crashes++;
		break;
	case JUDGED_WRONG_EXIT:
		c->wrong_exits++;
		break;
	case JUDGED_INCONCLUSIVE:
		c->inconclusive++;
		break;
	case JUDGED_SKIP:
		c->skipped++;
		break;
	}
}

void verify_count(const struct trial_result *results, size_t n, const struct baseline *b,
		  struct verify_counts *out)
{
	*out = (struct verify_counts){0};
	for (size_t i = 0; i < n; i++) {
		count_one(&results[i], out);
		VEC_FOREACH (a, &results[i].judged.answers)
			out->fresh += !baseline_has(b, &results[i], a);
	}
}

int verify_exit_status(const struct verify_counts *c)
{
	int told = c->true_ + c->off + c->lies + c->silent + c->hangs + c->crashes + c->wrong_exits;

	return c->fresh ? 1 : !told && c->inconclusive ? 3 : 0;
}
