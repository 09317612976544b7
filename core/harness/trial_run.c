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
#include "core/harness/trial_evidence.h"
#include "emulator/lab/relays.h"

#define PROVE_NS (15 * NSEC_PER_SEC)
#define STEP_NS	 (10 * NSEC_PER_SEC)
#define READ_NS	 (50 * NSEC_PER_MSEC) /* between two readings of the counters */

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

struct course { /* what happens while the tool runs */
	const struct trial_run_spec *s;
	const struct rig *rig;
	struct trial_evidence *evidence;
	int64_t began_ns, read_ns; /* the flow; the last reading */
	size_t next;		   /* event */
	int64_t thaw_ns, mend_ns;  /* 0: nothing to undo */
	struct err err;
};

/* ---- events ---- */

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

/* Everything through the router is lost, without a word to anybody (ip-route(8), blackhole). */
static int cut(const struct course *c, bool mend, struct err *err)
{
	static const char *const to[] = {"10.8.0.1/32", "10.9.0.1/32", "fd08::1/128",
					 "fd09::1/128"};
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(to) && !r; i++) {
		const char *argv[] = {"ip",	   strchr(to[i], ':') ? "-6" : "-4",
				      "route",	   mend ? "del" : "add",
				      "blackhole", to[i],
				      NULL};

		r = run_in(c->rig, "n", argv, err);
	}
	return r;
}

static int set_link(const struct course *c, const struct trial_event *e, struct err *err)
{
	autofree char *change =
	    mem_printf("links.%d.%s", str_eq(c->s->trial->link, "n-server"), e->what);
	const char *sets[] = {change};
	autostr struct strbuf what = {0};

	return lab_change(c->rig->lab, sets, 1, &what, err);
}

/* True: the server is to be killed. */
static bool happen(struct course *c, const struct trial_event *e, int64_t now)
{
	int r = 0;

	if (e->kind == EVENT_CUT) {
		r = cut(c, false, &c->err);
		c->mend_ns = e->for_ns ? now + e->for_ns : 0;
	} else if (e->kind == EVENT_FREEZE) {
		r = relays_freeze(c->rig->lab, c->s->trial->link, true, &c->err);
		c->thaw_ns = now + e->for_ns;
		trial_evidence_froze(c->evidence, (double)e->for_ns / 1e9);
	} else if (e->kind == EVENT_SET) {
		r = set_link(c, e, &c->err);
	}
	if (r)
		c->next = c->s->trial->events.n; /* no more of them: the trial is spoilt */
	return e->kind == EVENT_KILL_SERVER;
}

static void undo(struct course *c, int64_t now, bool all)
{
	if (c->thaw_ns && (all || now >= c->thaw_ns)) {
		relays_freeze(c->rig->lab, c->s->trial->link, false, &c->err);
		c->thaw_ns = 0;
	}
	if (c->mend_ns && now >= c->mend_ns) {
		cut(c, true, &c->err);
		c->mend_ns = 0;
	}
}

/* Events are by the flow's own time: a tool may take seconds before it begins. */
static bool tick(void *arg, int64_t now)
{
	struct course *c = arg;
	struct err ignored = ERR_INIT;
	const struct trial_event *e;
	bool kill = false;

	if (now - c->read_ns >= READ_NS || !c->began_ns) {
		trial_evidence_read(c->evidence, &c->began_ns, &ignored);
		c->read_ns = now;
	}
	undo(c, now, false);
	while (c->began_ns && c->next < c->s->trial->events.n &&
	       (e = &c->s->trial->events.v[c->next], now >= c->began_ns + e->at_ns)) {
		c->next++;
		kill = happen(c, e, now) || kill;
	}
	return kill;
}

/* ---- one run ---- */

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
	struct course c = {.s = s, .rig = rig};
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
	    .tick = tick,
	    .arg = &c,
	    .stop = s->stop,
	    .more = out->more,
	    .n_more = s->trial->clients - 1,
	};
	int r = trial_evidence_open(&at, &c.evidence, err);

	if (r)
		return r;
	struct trial_capture *capture =
	    s->capture ? trial_capture_open(rig, s->trial->to, s->capture) : NULL;
	r = tool_run(&run, &out->output, err);
	trial_capture_close(capture);
	undo(&c, INT64_MAX, true);
	if (!r && c.err.kind)
		out->inconclusive =
		    arena_printf(&out->arena, "an event did not happen: %s", c.err.text);
	if (!r && out->output.still_s > 0 && !out->inconclusive)
		out->inconclusive =
		    arena_printf(&out->arena, "vpclab itself did not run for %.1f s meanwhile",
				 out->output.still_s);
	if (!r)
		r = trial_evidence_close(c.evidence, &out->output, &out->evidence, err);
	else
		trial_evidence_drop(c.evidence);
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

/* Can it be told how fast to send? */
static bool takes_rate(const struct tool_test *test)
{
	VEC_FOREACH (word, &test->client.argv) {
		if (word->text && strstr(word->text, "{rate."))
			return true;
		VEC_FOREACH (inner, &word->words)
			if (strstr(*inner, "{rate."))
				return true;
	}
	return false;
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
		if (out->test && (!needs_rate(s->trial, ask) || takes_rate(out->test)))
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

static int run_all(const struct trial_run_spec *s, const struct trial_ask *ask, struct rig *rig,
		   struct trial_result *out, struct err *err)
{
	int r = prove(s, rig, out, err);
	bool stop = false; /* of runs in a row the first that fails is the one to be judged */

	if (!r)
		r = prepare(s, rig, err);
	for (int i = 0; i < s->trial->repeat && !r && !stop; i++) {
		forget(s, out);
		r = ask_tool(s, rig, ask, out, err);
		if (!r && s->stop && s->stop())
			return err_fail(err, EINTR, "interrupted");
		stop = out->output.timed_out || out->output.status[0];
	}
	if (!r)
		conclude(s, out);
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
