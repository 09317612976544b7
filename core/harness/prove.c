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
#include "core/harness/prove_limits.h"

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

static int send_once(struct prover *p, const struct frames_spec *spec,
		     struct frames_log logs[static FRAMES_STREAMS], struct judge_evidence *e,
		     struct err *err)
{
	struct fidelity_snapshot before, after;
	struct fidelity f;
	int r = fidelity_read(&before, err);

	if (!r)
		r = frames_run(p->lab, spec, logs, err);
	if (r)
		return r;
	r = fidelity_read(&after, err);
	if (r) {
		frames_done(logs);
		return r;
	}
	fidelity_between(&before, &after, &f);
	*e = (struct judge_evidence){.softnet_dropped = f.softnet_dropped};
	f.softnet_dropped = 0;
	fidelity_judge(&f);
	e->busy = f.limit == FIDELITY_ENOUGH ? NULL : arena_strdup(&p->out->arena, f.why);
	return 0;
}

int prove_try(struct prover *p, const struct prove_try *t, struct err *err)
{
	if (clock_now_ns() >= p->end_ns) {
		prove_skip(t->proof, p, "the time for proofs was over, %lld s",
			   (long long)(p->o->limit_ns / NSEC_PER_SEC));
		return 0;
	}
	do {
		struct frames_log logs[FRAMES_STREAMS] = {0};
		struct judge_evidence e;
		int r = send_once(p, t->spec, logs, &e, err);

		if (r)
			return r;
		t->judge(t->arg, logs, &e);
		frames_done(logs);
	} while (++t->proof->tries < TRIES && !t->once && t->proof->verdict != VERDICT_PASS);
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
