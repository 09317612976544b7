/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * prove: goes through the links of a running lab and has each direction probed. Called by
 * `vpclab check --prove`, `vpclab up --prove` and run.c.
 */
#include "core/harness/prove.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "core/base/clock.h"
#include "core/base/units.h"
#include "core/harness/fidelity.h"
#include "core/harness/prove_impair.h"
#include "core/harness/prove_limits.h"
#include "emulator/lab/relays.h"

/* The depth of a shaper's bucket: emulator/shaper/shaper.h. */
#define SLIPS_PER_BURST 8
#define BURST_MOST_NS	(10 * NSEC_PER_MSEC)

enum { TRIES = 3 };

/* ---- for the parts ---- */

struct proof *prove_new(struct prover *p, const struct way *way, const char *what)
{
	struct proof *proof = VEC_ADD(&p->out->arena, &p->out->list);

	proof->link = arena_strdup(&p->out->arena, way->l->name);
	proof->direction = arena_strdup(&p->out->arena, way_direction(way, &p->out->arena));
	proof->what = what;
	proof->got = NAN;
	return proof;
}

void prove_skip(struct proof *proof, struct prover *p, const char *fmt, ...)
{
	autofree char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	text = mem_vprintf(fmt, ap);
	va_end(ap);
	proof->verdict = VERDICT_SKIP;
	proof->why = arena_strdup(&p->out->arena, text);
}

struct watch { /* what the machine did during one probe */
	struct fidelity_snapshot before, after;
	json_t *relays[2]; /* NULL where the way has none */
};

static int watch(struct prover *p, const struct way *way, bool after, struct watch *w,
		 struct err *err)
{
	int r = fidelity_read(after ? &w->after : &w->before, err);

	if (!r && way->l->engine == IMPAIR_RELAY)
		r = relays_read(p->lab, p->w, &w->relays[after], err);
	return r;
}

static void watch_done(struct watch *w)
{
	json_decref(w->relays[0]);
	json_decref(w->relays[1]);
}

static void find_evidence(struct prover *p, const struct watch *w, struct judge_evidence *e)
{
	struct fidelity f;
	char why[200];

	fidelity_between(&w->before, &w->after, &f);
	*e = (struct judge_evidence){.softnet_dropped = f.softnet_dropped};
	f.softnet_dropped = 0;
	fidelity_judge(&f);
	if (f.limit != FIDELITY_ENOUGH)
		e->busy = arena_strdup(&p->out->arena, f.why);
	if (w->relays[0] && relays_limited(w->relays[0], w->relays[1], why, sizeof(why)))
		e->relay = arena_strdup(&p->out->arena, why);
}

static int try_once(struct prover *p, const struct prove_try *t, struct err *err)
{
	struct frames_log logs[FRAMES_STREAMS] = {0};
	struct judge_evidence e;
	struct watch w = {0};
	int r = t->prepare ? t->prepare(p, t->way, err) : 0;

	if (!r)
		r = watch(p, t->way, false, &w, err);
	if (!r)
		r = frames_run(p->lab, t->spec, logs, err);
	if (!r)
		r = watch(p, t->way, true, &w, err);
	if (!r) {
		find_evidence(p, &w, &e);
		t->judge(t->arg, logs, &e);
	}
	watch_done(&w);
	frames_done(logs);
	return r;
}

/* Nothing makes a link carry more than it can: no other try would show it right. */
static bool is_settled(const struct proof *p)
{
	bool rate = p->unit == PROOF_BPS || p->unit == PROOF_PPS;

	return p->verdict == VERDICT_PASS || (p->verdict == VERDICT_INCONCLUSIVE && p->hopeless) ||
	       (p->verdict == VERDICT_FAIL && rate && p->got > p->asked);
}

int prove_try(struct prover *p, const struct prove_try *t, struct err *err)
{
	bool again = clock_now_ns() < p->end_ns;

	for (size_t i = 0; i < t->n && !again; i++)
		prove_skip(&p->out->list.v[t->first + i], p, "the time for proofs was over, %lld s",
			   (long long)(p->o->limit_ns / NSEC_PER_SEC));
	for (int tries = 1; again && tries <= TRIES; tries++) {
		int r = try_once(p, t, err);

		if (r)
			return r;
		again = false;
		for (size_t i = 0; i < t->n; i++) {
			struct proof *proof = &p->out->list.v[t->first + i];

			proof->tries = tries;
			again = again || (!is_settled(proof) && !t->once);
		}
	}
	return 0;
}

/* ---- links ---- */

static bool has_anything(const struct way *way)
{
	return wire_shape_any(way->shape) || way->impair->given || (way->ba && way->l->connections);
}

/* What counts both directions comes with the second. */
static int prove_way(struct prover *p, const struct way *way, struct err *err)
{
	struct way both[2];
	int r = prove_limits(p, way, err);

	if (!r && way->impair->given)
		r = prove_impair(p, way, err);
	if (r || !way->ba)
		return r;
	if (way->l->sum) {
		way_of(p->w, way->link, false, &both[0]);
		both[1] = *way;
		r = prove_sums(p, both, err);
	}
	if (!r && way->l->connections) {
		struct proof *proof = prove_new(p, way, "connections");

		proof->unit = PROOF_COUNT;
		proof->asked = (double)way->l->connections;
		prove_skip(proof, p, "a probe of single frames opens none");
	}
	return r;
}

static size_t count_ways(const struct wire *w)
{
	size_t n = 0;

	for (size_t i = 0; i < w->links.n * 2; i++) {
		struct way way;

		way_of(w, (int)i / 2, i % 2, &way);
		n += has_anything(&way);
	}
	return n;
}

static void tell(const struct prover *p, const struct way *way, size_t index, size_t n)
{
	autofree char *text =
	    mem_printf("proving %s %s", way->l->name, way_direction(way, &p->out->arena));

	if (p->o->progress)
		p->o->progress(p->o->arg, index, n, text);
}

static int prove_all(struct prover *p, struct err *err)
{
	size_t n = count_ways(p->w), done = 0;

	for (size_t i = 0; i < p->w->links.n * 2; i++) {
		struct way way;
		int r;

		way_of(p->w, (int)i / 2, i % 2, &way);
		if (!has_anything(&way))
			continue;
		if (p->o->stop && p->o->stop())
			return err_fail(err, EINTR, "interrupted while links were proven");
		tell(p, &way, done++, n);
		r = prove_way(p, &way, err);
		if (r)
			return err_wrap(err, "proving link '%s'", way.l->name);
	}
	return 0;
}

int prove_lab(const struct lab *lab, const struct wire *w, const struct prove_options *o,
	      struct proofs *out, struct err *err)
{
	struct prover p = {.lab = lab, .w = w, .o = o, .out = out};
	struct compile_options made_with;
	int64_t start = clock_now_ns();
	int r;

	*out = (struct proofs){0};
	arena_init(&out->arena);
	r = lab_options(lab, &made_with, err);
	if (r)
		return r;
	p.bridge_ns = SLIPS_PER_BURST * made_with.machine.slip_ns;
	if (p.bridge_ns > BURST_MOST_NS)
		p.bridge_ns = BURST_MOST_NS;
	p.end_ns = o->limit_ns ? start + o->limit_ns : INT64_MAX;
	r = prove_all(&p, err);
	out->took_ns = clock_now_ns() - start;
	return r;
}
