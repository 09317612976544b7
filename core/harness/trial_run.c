/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trial_run: the order of things in one trial. What counts as evidence is gathered in
 * trial_evidence.c, what it means is judge.c's. Called by verify.c.
 */
#include "core/harness/trial_run.h"

#include <errno.h>
#include <math.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/str.h"
#include "core/base/units.h"
#include "core/harness/prove.h"
#include "core/harness/rig.h"
#include "core/harness/trial_capture.h"
#include "core/harness/trial_course.h"
#include "core/harness/trial_evidence.h"

#define PROVE_NS (15 * NSEC_PER_SEC)
#define STEP_NS	 (10 * NSEC_PER_SEC)

/* From what says most against the tool to what says least. */
static const enum judgement order[] = {JUDGED_CRASH,	  JUDGED_HANG,	JUDGED_LIE,
				       JUDGED_WRONG_EXIT, JUDGED_OFF,	JUDGED_INCONCLUSIVE,
				       JUDGED_TRUE,	  JUDGED_SILENT};

static int rank(enum judgement j)
{
	int i = 0;

	while (i < (int)ARRAY_SIZE(order) && order[i] != j)
		i++;
	return i;
}

/* ---- one run ---- */

static int run_in(const struct rig *rig, const char *node, const char *const *argv, struct err *err)
{
	struct proc_spec spec = PROC_SPEC(argv);
	struct proc p;
	int status;

	spec.in = PROC_NULL;
	spec.out = PROC_NULL;
	int r = lab_spawn(rig->lab, node, &spec, &p, err);
	if (r)
		return r;
	r = proc_wait(&p, clock_now_ns() + STEP_NS, &status, err);
	if (r)
		proc_kill(&p, 0);
	else if (proc_shell_status(status))
		r = err_fail(err, EPROTO, "%s in %s ended with status %d", argv[0], node,
			     proc_shell_status(status));
	return r;
}

static int prepare(const struct trial_run_spec *s, const struct rig *rig, struct err *err)
{
	VEC_FOREACH (step, &s->trial->before) {
		autofree const char **argv = mem_zalloc((step->argv.n + 1) * sizeof(*argv));

		for (size_t i = 0; i < step->argv.n; i++)
			argv[i] = step->argv.v[i];
		int r = run_in(rig, step->node, argv, err);
		if (r)
			return err_wrap(err, "before the tool");
	}
	return 0;
}

/* A link that is not what it says proves nothing against a tool. */
static int prove(const struct trial_run_spec *s, const struct rig *rig, struct trial_result *out,
		 struct err *err)
{
	struct prove_options o = {.quick = true, .limit_ns = PROVE_NS, .stop = s->stop};
	struct proofs proofs = {0};
	int r = prove_lab(rig->lab, &rig->wire, &o, &proofs, err);

	VEC_FOREACH (p, &proofs.list)
		if (p->verdict == VERDICT_FAIL && !out->inconclusive)
			out->inconclusive =
			    arena_printf(&out->arena, "the link is not what it says: %s of %s, %s",
					 p->what, p->link, p->direction);
	proofs_done(&proofs);
	return r;
}

static int ask_tool(const struct trial_run_spec *s, const struct rig *rig,
		    const struct trial_ask *ask, struct trial_result *out, struct err *err)
{
	struct trial_evidence_at at = {.rig = rig, .trial = s->trial, .ask = ask};
	struct trial_evidence *evidence;
	struct trial_course *course = NULL;
	struct err event = ERR_INIT;
	struct tool_run_spec run = {
	    .lab = rig->lab,
	    .wire = &rig->wire,
	    .adapter = s->adapter,
	    .test = out->test,
	    .from = s->trial->from,
	    .to = s->trial->to,
	    .family = s->trial->family,
	    .spec = ask->spec,
	    .warmup = ask->warmup,
	    .no_server = s->trial->no_server,
	    .client_cpu = -1,
	    .server_cpu = -1,
	    .tick = trial_course_tick,
	    .stop = s->stop,
	    .more = out->more,
	    .n_more = s->trial->clients - 1,
	};
	int r = trial_evidence_open(&at, &evidence, err);

	if (r)
		return r;
	const struct trial_course_at course_at = {s->trial, rig, s->machine, evidence};
	r = trial_course_open(&course_at, &course, err);
	run.arg = course;
	struct trial_capture *capture =
	    !r && s->capture ? trial_capture_open(rig, s->trial->to, s->capture) : NULL;
	if (!r)
		r = tool_run(&run, &out->output, err);
	trial_capture_close(capture);
	if (trial_course_close(course, &event))
		out->inconclusive =
		    arena_printf(&out->arena, "an event did not happen: %s", event.text);
	if (!r && out->output.still_s > 0 && !out->inconclusive)
		out->inconclusive =
		    arena_printf(&out->arena, "vpclab itself did not run for %.1f s meanwhile",
				 out->output.still_s);
	if (!r)
		r = trial_evidence_close(evidence, &out->output, &out->evidence, err);
	else
		trial_evidence_drop(evidence);
	if (!out->inconclusive && out->evidence.machine)
		out->evidence.machine = arena_strdup(&out->arena, out->evidence.machine);
	return r;
}

static void judge_one(const struct trial_run_spec *s, const struct trial_result *out,
		      const struct tool_output *o, struct judged *judged)
{
	struct readings readings;

	readings_of(out->test, o, &readings);
	judge(s->trial, out->test, o, &readings, &out->evidence, judged);
	readings_done(&readings);
}

/* Of several clients the one of whom the worst is to be said stands for all. */
static void judge_more(const struct trial_run_spec *s, struct trial_result *out)
{
	const struct answer *worst;

	for (int i = 0; i + 1 < s->trial->clients; i++) {
		struct judged first = out->judged, other;
		int before = rank(trial_result_judgement(out, &worst));

		judge_one(s, out, &out->more[i], &other);
		out->judged = other;
		if (rank(trial_result_judgement(out, &worst)) < before) {
			struct tool_output o = out->output;

			judged_done(&first);
			out->output = out->more[i];
			out->more[i] = o;
		} else {
			judged_done(&other);
			out->judged = first;
		}
	}
}

void trial_result_find_known(const struct trial_run_spec *s, struct trial_result *out)
{
	const struct answer *worst;

	out->known = NULL;
	trial_result_judgement(out, &worst);
	if (worst && worst->kind != FAULT_NONE)
		out->known =
		    adapter_known(s->adapter, s->version, fault_name(worst->kind), s->trial->name);
}

static void conclude(const struct trial_run_spec *s, struct trial_result *out)
{
	out->evidence.spoilt = out->inconclusive;
	judge_one(s, out, &out->output, &out->judged);
	judge_more(s, out);
	trial_result_find_known(s, out);
}

/* Where the rate that was asked for is the truth. */
static bool needs_rate(const struct trial *t, const struct trial_ask *ask)
{
	VEC_FOREACH (q, &t->questions)
		if (q->figure == FIGURE_GOODPUT && q->source == TRUTH_FIXED && ask->spec.rate_bps)
			return true;
	return false;
}

/* The first of what the trial may ask that the tool has. */
static const struct trial_ask *choose(const struct trial_run_spec *s, struct trial_result *out)
{
	VEC_FOREACH (ask, &s->trial->asks) {
		out->test = adapter_test(s->adapter, ask->test);
		if (out->test &&
		    (!needs_rate(s->trial, ask) || tool_test_takes(out->test, "{rate.")))
			return ask;
	}
	if (out->test) {
		out->skip =
		    arena_printf(&out->arena, "%s cannot be asked for a rate", s->adapter->name);
		return NULL;
	}
	out->skip = arena_printf(&out->arena, "%s has no test %s", s->adapter->name,
				 s->trial->asks.n ? s->trial->asks.v[0].test : "");
	return NULL;
}

static void forget(const struct trial_run_spec *s, struct trial_result *out)
{
	tool_run_done(&out->output);
	for (int i = 0; i + 1 < s->trial->clients; i++)
		tool_run_done(&out->more[i]);
}

/* By its status, or without a figure that its adapter has and the trial asks for. */
static bool failed(const struct trial *t, const struct trial_result *r)
{
	struct readings readings;
	bool missing = false;

	if (r->output.timed_out || r->output.status[0])
		return true;
	readings_of(r->test, &r->output, &readings);
	VEC_FOREACH (q, &t->questions) {
		const struct reading *reading = readings_headline(&readings, q->figure);

		missing = missing || (q->source != TRUTH_NONE && reading && !reading->found);
	}
	readings_done(&readings);
	return missing;
}

static void name_run(const struct trial_run_spec *s, int run, struct trial_result *out)
{
	VEC_FOREACH (a, &out->judged.answers)
		a->text = arena_printf(&out->judged.arena, "run %d of %d: %s", run,
				       s->trial->repeat, a->text);
}

static int run_all(const struct trial_run_spec *s, const struct trial_ask *ask, struct rig *rig,
		   struct trial_result *out, struct err *err)
{
	int r = prove(s, rig, out, err);
	bool stop = false; /* of runs in a row the first that fails is the one to be judged */
	int run = 0;

	if (!r)
		r = prepare(s, rig, err);
	for (; run < s->trial->repeat && !r && !stop; run++) {
		forget(s, out);
		r = ask_tool(s, rig, ask, out, err);
		if (!r && s->stop && s->stop())
			return err_fail(err, EINTR, "interrupted");
		stop = failed(s->trial, out);
	}
	if (!r)
		conclude(s, out);
	if (!r && s->trial->repeat > 1)
		name_run(s, run, out);
	return r;
}

/* Names of labs that may be there at the same time must differ. */
static char *new_lab_name(void)
{
	static _Atomic int number;

	return mem_printf("trial-%d-%d", (int)getpid(), (int)++number);
}

int trial_run(const struct trial_run_spec *s, struct trial_result *out, struct err *err)
{
	int64_t begin = clock_now_ns();
	autofree char *name = new_lab_name();
	struct rig_spec spec = {
	    .name = name,
	    .topology = {s->trial->topology_name, s->trial->topology, strlen(s->trial->topology)},
	    .machine = s->machine};
	const struct trial_ask *ask;
	struct problems p;
	struct rig rig = {0};
	struct err down = ERR_INIT;

	*out = (struct trial_result){.runs = 1};
	arena_init(&out->arena);
	arena_init(&out->judged.arena);
	out->tool = arena_strdup(&out->arena, s->adapter->name);
	out->version = arena_strdup(&out->arena, s->version ? s->version : "");
	out->trial = arena_strdup(&out->arena, s->trial->name);
	out->n_more = s->trial->clients - 1;
	out->more = mem_zalloc((size_t)s->trial->clients * sizeof(*out->more));
	ask = choose(s, out);
	if (!ask)
		return 0;
	problems_init(&p);
	int r = rig_open(&spec, &rig, &p, err);
	if (problems_count(&p)) {
		autostr struct strbuf all = {0};

		problems_print(&p, &all);
		err_input(err, "%s", strbuf_text(&all));
	}
	problems_done(&p);
	if (!r)
		r = run_all(s, ask, &rig, out, err);
	if (rig_close(&rig, &down) && !r) {
		*err = down;
		r = -down.code;
	}
	out->took_s = (double)(clock_now_ns() - begin) / 1e9;
	return r ? err_wrap(err, "%s on %s", s->trial->name, s->adapter->name) : 0;
}

void trial_result_done(struct trial_result *r)
{
	tool_run_done(&r->output);
	for (int i = 0; i < r->n_more; i++)
		tool_run_done(&r->more[i]);
	free(r->more);
	judged_done(&r->judged);
	arena_done(&r->arena);
	*r = (struct trial_result){0};
}

enum judgement trial_result_judgement(const struct trial_result *r, const struct answer **worst)
{
	*worst = NULL;
	if (r->skip)
		return JUDGED_SKIP;
	if (r->inconclusive && !r->judged.answers.n)
		return JUDGED_INCONCLUSIVE;
	for (size_t i = 0; i < ARRAY_SIZE(order); i++)
		VEC_FOREACH (a, &r->judged.answers)
			if (a->judgement == order[i]) {
				*worst = a;
				return order[i];
			}
	return JUDGED_SILENT;
}
