/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * prove_impair: one probe of evenly spaced frames tells all of a direction's impairments; jitter
 * has one of its own, with frames so far apart that none waits for the one before it, and so has a
 * black hole. Called by prove.c.
 */
#include "core/harness/prove_impair.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "core/base/units.h"
#include "core/harness/prove_figures.h"
#include "core/harness/truth.h"
#include "emulator/lab/relays.h"

#define FRAME_BYTES    100 /* IP */
#define GAP_NS	       (250.0 * NSEC_PER_USEC)
#define QUICK_NS       (500.0 * NSEC_PER_MSEC)
#define FULL_NS	       (1.0 * NSEC_PER_SEC)
#define MOST_NS	       (4.0 * NSEC_PER_SEC)
#define QUEUE_SHARE    0.3 /* of a limit is used, so that nothing queues */
#define DELAY_NS       (100.0 * NSEC_PER_USEC)
#define DELAY_NETEM_NS (300.0 * NSEC_PER_USEC)
#define DELAY_99_NS    (500.0 * NSEC_PER_USEC)
#define JITTER_SHARE   0.10
#define EARLY_NS       1000.0 /* two clocks are read, one for each end */
#define SIGMAS	       4.0    /* a relay with a seed gives the same answer to each try */
#define JITTERS_APART  6      /* frames of the probe of jitter */
#define UNDER_WAY_NS   (100 * NSEC_PER_MSEC) /* more than a relay holds the last one back */
#define LIMIT_NS       NSEC_PER_SEC
#define PPM	       1e-6

enum { LEAST_FRAMES = 50, FRAMES_99 = 1000, BEYOND = 50, HOLE_FRAMES = 40, PERIODS = 4 };

/* ---- for the parts ---- */

struct restart {
	const struct wire_link *l;
};

/* Other impairments in between: a relay that is told what it does already goes on counting. */
static int restart_inside(void *arg, int out_fd, struct err *err)
{
	const struct wire_link *l = ((struct restart *)arg)->l;
	struct wire_impair ab = l->impair_ab, ba = l->impair_ba;
	int r;

	(void)out_fd;
	ab.seed ^= 1;
	ba.seed ^= 1;
	r = relays_set(l->name, &ab, &ba, err);
	return r ? r : relays_set(l->name, &l->impair_ab, &l->impair_ba, err);
}

int impair_restart(struct prover *p, const struct way *way, struct err *err)
{
	struct restart restart = {way->l};
	autofree char *out = NULL;
	size_t len;

	if (way->l->engine != IMPAIR_RELAY)
		return 0;
	return lab_call(p->lab, NULL, restart_inside, &restart, &out, &len, err);
}

double impair_gap(const struct way *way, int ip_bytes, double least_ns)
{
	const struct wire_shape *s = way->shape;
	double bits = 8.0 * (double)truth_charged(BASIS_L1, ip_bytes, 0);
	double gap = least_ns;

	if (s->rate.bps)
		gap = fmax(gap, bits / (double)s->rate.bps / QUEUE_SHARE * 1e9);
	if (s->pps.pps)
		gap = fmax(gap, 1e9 / (double)s->pps.pps / QUEUE_SHARE);
	return gap;
}

int64_t impair_quiet(const struct wire_impair *i)
{
	return UNDER_WAY_NS + i->delay_ns + JITTERS_APART * i->jitter_ns;
}

struct proof *impair_proof(struct prover *p, const struct way *way, const char *what,
			   enum proof_unit unit)
{
	struct proof *proof = prove_new(p, way, what);

	proof->unit = unit;
	proof->absolute = true;
	proof->engine = way->l->engine == IMPAIR_RELAY ? "relay" : "netem";
	return proof;
}

/* ---- probes ---- */

enum figure {
	FIGURE_DELAY,
	FIGURE_DELAY_99,
	FIGURE_JITTER,
	FIGURE_LOSS,
	FIGURE_EVERY,
	FIGURE_AFTER,
	FIGURE_DUPLICATION,
	FIGURE_REORDERING,
	FIGURE_CORRUPTION,
	FIGURES,
};

struct probe {
	struct prover *p;
	const struct way *way;
	struct frames_spec spec;
	struct prove_try try;
	enum figure figure[FIGURES]; /* of each proof */
	struct figures f;	     /* of the present try */
};

static void judge_frames(void *arg, struct frames_log logs[static FRAMES_STREAMS],
			 struct judge_evidence *e);

static void begin_probe(struct probe *b, struct prover *p, const struct way *way)
{
	*b = (struct probe){.p = p, .way = way};
	b->spec = (struct frames_spec){.n = 1,
				       .whole = way->impair->corruption_ppm > 0,
				       .quiet_ns = impair_quiet(way->impair),
				       .limit_ns = impair_quiet(way->impair) + LIMIT_NS};
	way_stream(way, &b->spec.stream[0]);
	b->spec.stream[0].n_sizes = 1;
	b->spec.stream[0].at_once = 1;
	b->spec.stream[0].sizes[0] = way_fits(way, FRAME_BYTES);
	b->try = (struct prove_try){.way = way,
				    .first = p->out->list.n,
				    .prepare = impair_restart,
				    .judge = judge_frames,
				    .arg = b};
}

static struct proof *add_figure(struct probe *b, enum figure figure, const char *what,
				enum proof_unit unit)
{
	b->figure[b->try.n++] = figure;
	return impair_proof(b->p, b->way, what, unit);
}

static int run_probe(struct probe *b, struct err *err)
{
	b->try.spec = &b->spec;
	return b->try.n ? prove_try(b->p, &b->try, err) : 0;
}

/* ---- figures ---- */

static void fill_delay(const struct probe *b, struct proof *proof)
{
	const struct wire_impair *i = b->way->impair;
	double base = b->way->l->engine == IMPAIR_RELAY ? DELAY_NS : DELAY_NETEM_NS;

	proof->got = b->f.median_ns - figures_median_shift(i);
	proof->tolerance = base;
	if (i->jitter_ns && b->f.n_delays)
		proof->tolerance += SIGMAS * figures_median_deviation(i, (double)b->f.n_delays);
}

static void fill_jitter(const struct probe *b, struct proof *proof)
{
	const struct wire_impair *i = b->way->impair;
	double n = (double)b->f.n_delays;

	proof->absolute = false;
	proof->got = figures_jitter(i, b->way->l->engine, &b->f);
	proof->tolerance = JITTER_SHARE;
	if (n > 0)
		proof->tolerance = fmax(JITTER_SHARE, SIGMAS * figures_jitter_deviation(i, n));
}

static void fill_share(const struct probe *b, struct proof *proof, int64_t part, int64_t of)
{
	double deviation = figures_share_deviation(proof->asked, (double)of);

	(void)b;
	proof->got = of ? (double)part / (double)of : NAN;
	proof->tolerance = proof->asked > 0 && of ? SIGMAS * deviation + 1 / (double)of : 0;
}

static void fill_loss(const struct probe *b, struct proof *proof)
{
	fill_share(b, proof, b->f.lost, b->f.sent);
	if (proof->asked > 0 && b->f.sent)
		proof->tolerance =
		    SIGMAS * figures_loss_deviation(b->way->impair, (double)b->f.sent) +
		    1 / (double)b->f.sent;
}

/* What is exact is exact: one frame of somebody else moves all numbers. */
static void fill_exact(const struct probe *b, struct proof *proof, enum figure figure)
{
	proof->tolerance = 0;
	if (figure == FIGURE_EVERY)
		proof->got = b->f.distance;
	else
		proof->got = (double)(b->f.first_missing < 0 ? b->f.sent : b->f.first_missing);
}

static void fill(const struct probe *b, enum figure figure, struct proof *proof)
{
	switch (figure) {
	case FIGURE_DELAY:
		fill_delay(b, proof);
		break;
	case FIGURE_DELAY_99:
		proof->got = b->f.p99_ns;
		proof->tolerance = DELAY_99_NS;
		break;
	case FIGURE_JITTER:
		fill_jitter(b, proof);
		break;
	case FIGURE_LOSS:
		fill_loss(b, proof);
		break;
	case FIGURE_EVERY:
	case FIGURE_AFTER:
		fill_exact(b, proof, figure);
		break;
	case FIGURE_DUPLICATION:
		fill_share(b, proof, b->f.duplicates, b->f.arrived);
		break;
	case FIGURE_REORDERING:
		fill_share(b, proof, b->f.reordered, b->f.arrived);
		break;
	case FIGURE_CORRUPTION:
		fill_share(b, proof, b->f.damaged, b->f.arrived);
		break;
	case FIGURES:
		break;
	}
}

static bool is_time(enum figure figure)
{
	return figure == FIGURE_DELAY || figure == FIGURE_DELAY_99 || figure == FIGURE_JITTER;
}

/* What no single figure shows. */
static const char *flaw_of(const struct probe *b, enum figure figure)
{
	const struct wire_impair *i = b->way->impair;

	double early = (double)i->delay_ns - b->f.least_ns;

	if (figure == FIGURE_DELAY && !i->jitter_ns && early > EARLY_NS)
		return arena_printf(&b->p->out->arena, "a frame came %.1f µs early", early / 1e3);
	if (figure == FIGURE_EVERY && !b->f.regular)
		return "the lost ones are not evenly apart";
	if (figure == FIGURE_AFTER && !b->f.all_after_missing)
		return "frames came after the first lost one";
	return NULL;
}

static void judge_one(const struct probe *b, size_t index, struct judge_evidence e)
{
	struct proof *proof = &b->p->out->list.v[b->try.first + index];
	enum figure figure = b->figure[index];
	const char *flaw;

	fill(b, figure, proof);
	if (!is_time(figure))
		e.busy = NULL;
	if (figure == FIGURE_EVERY || figure == FIGURE_AFTER)
		e.foreign *= e.arrived + 1;
	judge_proof(proof, &e, &b->p->out->arena);
	flaw = flaw_of(b, figure);
	if (proof->verdict == VERDICT_PASS && flaw && !e.foreign) {
		proof->verdict = VERDICT_FAIL;
		proof->why = flaw;
	}
}

static void judge_frames(void *arg, struct frames_log logs[static FRAMES_STREAMS],
			 struct judge_evidence *e)
{
	struct probe *b = arg;

	figures_count(&logs[0], &b->f);
	e->sent = b->f.sent;
	e->arrived = b->f.arrived;
	e->foreign = logs[0].foreign;
	e->overrun = logs[0].overrun;
	for (size_t i = 0; i < b->try.n; i++)
		judge_one(b, i, *e);
}

/* ---- the probe of most impairments ---- */

static bool takes_too_long(struct probe *b, double frames)
{
	return frames * b->spec.stream[0].gap_ns > MOST_NS || frames > FRAMES_MOST;
}

/* How many frames must be sent to see a loss that is not by chance; 0: as usual. */
static double frames_for_loss(const struct wire_impair *i)
{
	if (i->loss == LOSS_EVERY)
		return (double)i->loss_every * PERIODS;
	return i->loss == LOSS_AFTER ? (double)i->loss_after + BEYOND : 0;
}

static void add_exact_loss(struct probe *b)
{
	const struct wire_impair *i = b->way->impair;
	bool every = i->loss == LOSS_EVERY;
	double frames = frames_for_loss(i);
	struct proof *proof;

	proof = every ? add_figure(b, FIGURE_EVERY, "loss, every", PROOF_COUNT)
		      : add_figure(b, FIGURE_AFTER, "loss, after", PROOF_COUNT);
	proof->asked = (double)(every ? i->loss_every : i->loss_after);
	if (i->corruption_ppm || takes_too_long(b, frames)) {
		prove_skip(proof, b->p,
			   i->corruption_ppm ? "corruption hides which ones were lost"
					     : "it would take too many frames");
		b->try.n--;
		b->try.first = b->p->out->list.n;
		return;
	}
	if (frames > (double)b->spec.stream[0].count)
		b->spec.stream[0].count = (int64_t)frames;
}

static void add_loss(struct probe *b)
{
	const struct wire_impair *i = b->way->impair;

	if (i->loss == LOSS_EVERY || i->loss == LOSS_AFTER)
		add_exact_loss(b);
	else
		add_figure(b, FIGURE_LOSS, "loss", PROOF_SHARE)->asked = figures_loss(i);
}

static void add_shares(struct probe *b)
{
	const struct wire_impair *i = b->way->impair;

	if (i->duplication_ppm)
		add_figure(b, FIGURE_DUPLICATION, "duplication", PROOF_SHARE)->asked =
		    i->duplication_ppm * PPM;
	if (i->reordering_ppm)
		add_figure(b, FIGURE_REORDERING, "reordering", PROOF_SHARE)->asked =
		    i->reordering_ppm * PPM;
	if (i->corruption_ppm)
		add_figure(b, FIGURE_CORRUPTION, "corruption", PROOF_SHARE)->asked =
		    i->corruption_ppm * PPM;
}

/* Do enough frames arrive at all? */
static bool some_arrive(const struct wire_impair *i)
{
	if (i->loss == LOSS_EVERY)
		return i->loss_every > 1;
	return i->loss == LOSS_AFTER ? i->loss_after > FIGURES_LEAST : figures_loss(i) < 0.8;
}

static void add_delay(struct probe *b)
{
	const struct wire_impair *i = b->way->impair;

	if (!some_arrive(i))
		return;

	add_figure(b, FIGURE_DELAY, "delay", PROOF_NS)->asked = (double)i->delay_ns;
	if (b->spec.stream[0].count >= FRAMES_99 && !i->reordering_ppm && !i->jitter_ns)
		add_figure(b, FIGURE_DELAY_99, "delay, 99 %", PROOF_NS)->asked =
		    (double)i->delay_ns;
}

static int probe_most(struct prover *p, const struct way *way, struct err *err)
{
	double span = p->o->quick ? QUICK_NS : FULL_NS;
	struct frames_stream *s;
	struct probe b;

	begin_probe(&b, p, way);
	s = &b.spec.stream[0];
	s->gap_ns = impair_gap(way, s->sizes[0], GAP_NS);
	s->count = (int64_t)(span / s->gap_ns);
	if (s->count < LEAST_FRAMES)
		s->count = LEAST_FRAMES;
	add_loss(&b); /* may be all that is left out: so it is the first */
	if (!way->impair->jitter_ns)
		add_delay(&b);
	add_shares(&b);
	return run_probe(&b, err);
}

/* ---- jitter ---- */

static int probe_jitter(struct prover *p, const struct way *way, struct err *err)
{
	static const char *const names[] = {[JITTER_NORMAL] = "jitter, normal",
					    [JITTER_UNIFORM] = "jitter, uniform",
					    [JITTER_PARETO] = "jitter, pareto"};
	const struct wire_impair *i = way->impair;
	double span = 2 * (p->o->quick ? QUICK_NS : FULL_NS);
	struct proof *proof;
	struct probe b;

	begin_probe(&b, p, way);
	b.spec.stream[0].gap_ns = impair_gap(way, b.spec.stream[0].sizes[0],
					     fmax(GAP_NS, JITTERS_APART * (double)i->jitter_ns));
	b.spec.stream[0].count = (int64_t)(span / b.spec.stream[0].gap_ns);
	if (b.spec.stream[0].count < LEAST_FRAMES)
		b.spec.stream[0].count = LEAST_FRAMES;
	if (i->jitter != JITTER_PARETO || way->l->engine == IMPAIR_RELAY)
		add_delay(&b);
	proof = add_figure(&b, FIGURE_JITTER, names[i->jitter], PROOF_NS);
	proof->asked = (double)i->jitter_ns;
	if (i->jitter == JITTER_PARETO && way->l->engine != IMPAIR_RELAY) {
		prove_skip(proof, p, "netem's table of it is its own");
		return 0;
	}
	if (!takes_too_long(&b, (double)b.spec.stream[0].count))
		return run_probe(&b, err);
	for (size_t k = b.try.first; k < p->out->list.n; k++)
		prove_skip(&p->out->list.v[k], p, "frames far enough apart would take %.0f s",
			   (double)b.spec.stream[0].count * b.spec.stream[0].gap_ns / 1e9);
	return 0;
}

/* ---- black holes ---- */

struct hole {
	struct probe b;
	int64_t longest; /* IP bytes that arrived */
};

static void judge_hole(void *arg, struct frames_log logs[static FRAMES_STREAMS],
		       struct judge_evidence *e)
{
	struct hole *h = arg;
	struct proof *proof = &h->b.p->out->list.v[h->b.try.first];

	h->longest = 0;
	for (size_t i = 0; i < logs[0].n_arrivals; i++) {
		const struct frames_arrival *a = &logs[0].arrivals[i];

		e->arrived += a->kind == FRAMES_OURS;
		if (a->kind == FRAMES_OURS && (int64_t)a->bytes - 14 > h->longest)
			h->longest = (int64_t)a->bytes - 14;
	}
	e->busy = NULL;
	e->sent = (int64_t)logs[0].n_sent - logs[0].refused;
	e->overrun = logs[0].overrun;
	proof->got = h->longest ? (double)h->longest : NAN;
	judge_proof(proof, e, &h->b.p->out->arena);
}

/* As long as may pass, and a byte longer, by turns: the longest that comes out is what it asks. */
static int probe_hole(struct prover *p, const struct way *way, struct err *err)
{
	int longest = (int)way->impair->black_hole;
	struct frames_stream *s;
	struct proof *proof;
	struct hole h = {0};

	begin_probe(&h.b, p, way);
	h.b.try.judge = judge_hole;
	h.b.try.arg = &h;
	s = &h.b.spec.stream[0];
	s->sizes[0] = longest;
	s->sizes[1] = longest + 1;
	s->n_sizes = 2;
	s->gap_ns = impair_gap(way, longest, GAP_NS);
	s->count = HOLE_FRAMES;
	proof = add_figure(&h.b, FIGURES, "black hole above", PROOF_BYTES);
	proof->asked = longest;
	if (longest >= way->mtu) {
		prove_skip(proof, p, "no longer packet fits the MTU");
		return 0;
	}
	return run_probe(&h.b, err);
}

/* ---- a direction ---- */

int prove_impair(struct prover *p, const struct way *way, struct err *err)
{
	const struct wire_impair *i = way->impair;
	int r;

	if (way->l->engine == IMPAIR_NONE)
		return 0;
	if (i->trace_n)
		r = prove_trace(p, way, err);
	else if (i->flap_down_ns)
		r = prove_flap(p, way, err);
	else
		r = probe_most(p, way, err);
	if (!r && i->jitter_ns && some_arrive(i) && !i->trace_n && !i->flap_down_ns)
		r = probe_jitter(p, way, err);
	if (!r && i->black_hole)
		r = probe_hole(p, way, err);
	return r ? r : impair_restart(p, way, err);
}
