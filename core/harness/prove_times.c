/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * prove_times: impairments that follow the clock: a flap, which is up and down by turns, and a
 * delivery trace. Called by prove_impair.c.
 */
#include <math.h>

#include "core/base/units.h"
#include "core/harness/prove_impair.h"

#define GAP_NS	      (250.0 * NSEC_PER_USEC)
#define FRAMES_A_TURN 200.0
#define QUICK_MOST_NS (2 * NSEC_PER_SEC)
#define FULL_MOST_NS  (6 * NSEC_PER_SEC)
#define SLACK_NS      (0.5 * NSEC_PER_MSEC)
#define TURNS	      2.2  /* of up and down that are looked at */
#define TRACE_BYTES   1504 /* of an opportunity; a packet needs its IP length and 4 bytes */
#define TRACE_FRAME   1500
#define TRACE_OFFERED 1.3
#define TRACE_SEEN    100 /* packets at least, by more than one period of a short trace */
#define TRACE_SHARE   0.01
#define AT_ONCE	      20

struct timed {
	struct prover *p;
	const struct way *way;
	struct frames_spec spec;
	struct prove_try try;
	double window_ns; /* whole periods of a trace */
};

static int64_t most_ns(const struct prover *p)
{
	return p->o->quick ? QUICK_MOST_NS : FULL_MOST_NS;
}

static void begin(struct timed *t, struct prover *p, const struct way *way)
{
	*t = (struct timed){.p = p, .way = way};
	t->spec = (struct frames_spec){.n = 1,
				       .quiet_ns = impair_quiet(way->impair),
				       .limit_ns = impair_quiet(way->impair) + 2 * NSEC_PER_SEC};
	way_stream(way, &t->spec.stream[0]);
	t->spec.stream[0].n_sizes = 1;
	t->try = (struct prove_try){.way = way,
				    .spec = &t->spec,
				    .first = p->out->list.n,
				    .prepare = impair_restart,
				    .arg = t};
}

/* ---- flaps ---- */

static void mark_arrived(const struct frames_log *log, bool *arrived)
{
	for (size_t i = 0; i < log->n_arrivals; i++) {
		const struct frames_arrival *a = &log->arrivals[i];

		if (a->kind == FRAMES_OURS && a->seq < log->n_sent)
			arrived[a->seq] = true;
	}
}

/* The first frame from `from` on that arrived, or not, and, so that a loss by chance does not
 * count, the one behind it too; n_sent: none. */
static size_t find_turn(const struct frames_log *log, const bool *arrived, size_t from, bool wanted)
{
	for (size_t i = from; i + 1 < log->n_sent; i++) {
		if (arrived[i] == wanted && arrived[i + 1] == wanted)
			return i;
	}
	return log->n_sent;
}

/* From going down to coming up, and from there to going down again. */
static void judge_flap(void *arg, struct frames_log logs[static FRAMES_STREAMS],
		       struct judge_evidence *e)
{
	struct timed *t = arg;
	const struct frames_log *log = &logs[0];
	struct proof *v = &t->p->out->list.v[t->try.first];
	bool *arrived = mem_zalloc(log->n_sent + 1);
	size_t down, up, again;

	mark_arrived(log, arrived);
	down = find_turn(log, arrived, find_turn(log, arrived, 0, true), false);
	up = find_turn(log, arrived, down, true);
	again = find_turn(log, arrived, up, false);
	v[0].got = up < log->n_sent ? (double)(log->sent_ns[up] - log->sent_ns[down]) : NAN;
	v[1].got = again < log->n_sent ? (double)(log->sent_ns[again] - log->sent_ns[up]) : NAN;
	free(arrived);
	e->sent = (int64_t)log->n_sent;
	e->arrived = (int64_t)log->n_arrivals;
	e->overrun = log->overrun;
	for (size_t i = 0; i < t->try.n; i++)
		judge_proof(&v[i], e, &t->p->out->arena);
}

int prove_flap(struct prover *p, const struct way *way, struct err *err)
{
	const struct wire_impair *i = way->impair;
	double turn = (double)(i->flap_up_ns + i->flap_down_ns), least;
	struct frames_stream *s;
	struct proof *proof;
	struct timed t;

	begin(&t, p, way);
	least = fmin((double)i->flap_up_ns, (double)i->flap_down_ns) / FRAMES_A_TURN;
	s = &t.spec.stream[0];
	s->sizes[0] = way_fits(way, 100);
	s->at_once = 1;
	s->gap_ns = impair_gap(way, s->sizes[0], fmax(GAP_NS, least));
	s->count = (int64_t)(turn * TURNS / s->gap_ns);
	t.try.judge = judge_flap;
	t.try.n = 2;
	for (int k = 0; k < 2; k++) {
		proof = impair_proof(p, way, k ? "flap, up" : "flap, down", PROOF_NS);
		proof->asked = (double)(k ? i->flap_up_ns : i->flap_down_ns);
		proof->tolerance = 3 * s->gap_ns + SLACK_NS;
		if (i->loss == LOSS_AFTER)
			prove_skip(proof, p, "the loss behind some packets comes first");
		else if (turn * TURNS > (double)most_ns(p) || s->count > FRAMES_MOST)
			prove_skip(proof, p, "it would take %.0f s", turn * TURNS / 1e9);
	}
	return p->out->list.v[t.try.first].verdict == VERDICT_SKIP ? 0 : prove_try(p, &t.try, err);
}

/* ---- traces ---- */

/* Packets in whole periods that begin when frames wait already. */
static void judge_trace(void *arg, struct frames_log logs[static FRAMES_STREAMS],
			struct judge_evidence *e)
{
	struct timed *t = arg;
	const struct frames_log *log = &logs[0];
	struct proof *proof = &t->p->out->list.v[t->try.first];
	int64_t begin = 0, n = 0, last = 0;

	for (size_t i = 0; i < log->n_arrivals; i++) {
		last = log->arrivals[i].at_ns;
		if (i < AT_ONCE)
			begin = last;
		else
			n += (double)(last - begin) <= t->window_ns;
	}
	proof->got = (double)(last - begin) >= t->window_ns ? (double)n * 1e9 / t->window_ns : NAN;
	e->foreign = log->foreign;
	e->sent = (int64_t)log->n_sent;
	e->arrived = (int64_t)log->n_arrivals;
	e->overrun = log->overrun;
	judge_proof(proof, e, &t->p->out->arena);
}

/* How long nothing passes, at most. */
static double longest_gap_ns(const struct wire_impair *i)
{
	int64_t period_ms = i->trace_ms[i->trace_n - 1], longest = i->trace_ms[0];

	for (size_t k = 1; k < i->trace_n; k++)
		if (i->trace_ms[k] - i->trace_ms[k - 1] > longest)
			longest = i->trace_ms[k] - i->trace_ms[k - 1];
	return (double)(longest < period_ms ? longest : period_ms) * NSEC_PER_MSEC;
}

/* What is sent, and how long it takes until all of it has passed. */
static double plan_trace(struct timed *t, const struct wire_impair *i, double asked)
{
	struct frames_stream *s = &t->spec.stream[0];
	double period_ns = (double)i->trace_ms[i->trace_n - 1] * NSEC_PER_MSEC, took_ns;

	t->window_ns = ceil(TRACE_SEEN / (double)i->trace_n) * period_ns;
	took_ns = t->window_ns * TRACE_OFFERED + AT_ONCE * 1e9 / asked;
	s->sizes[0] = TRACE_FRAME;
	s->at_once = AT_ONCE;
	s->gap_ns = 1e9 / asked / TRACE_OFFERED;
	s->count = AT_ONCE + (int64_t)(t->window_ns * TRACE_OFFERED / s->gap_ns);
	t->spec.quiet_ns += (int64_t)longest_gap_ns(i);
	t->spec.limit_ns += (int64_t)took_ns;
	return took_ns;
}

int prove_trace(struct prover *p, const struct way *way, struct err *err)
{
	const struct wire_impair *i = way->impair;
	struct proof *proof;
	struct timed t;
	double limited, took_ns;

	begin(&t, p, way);
	t.try.judge = judge_trace;
	t.try.n = 1;
	proof = impair_proof(p, way, "trace, packets", PROOF_PPS);
	proof->absolute = false;
	proof->asked = (double)i->trace_n * 1e3 / (double)i->trace_ms[i->trace_n - 1];
	proof->tolerance = TRACE_SHARE + 1.0 / TRACE_SEEN;
	took_ns = plan_trace(&t, i, proof->asked);
	limited = impair_gap(way, TRACE_FRAME, 0) * 0.3; /* between frames, at the limit */
	if (way->mtu < TRACE_FRAME)
		prove_skip(proof, p, "an opportunity of %d bytes is more than the MTU",
			   TRACE_BYTES);
	else if (i->loss != LOSS_NONE)
		prove_skip(proof, p, "packets are also lost otherwise");
	else if (limited > t.spec.stream[0].gap_ns)
		prove_skip(proof, p, "the rate is reached before it");
	else if (took_ns > (double)most_ns(p) || t.spec.stream[0].count > FRAMES_MOST)
		prove_skip(proof, p, "it would take %.0f s", took_ns / 1e9);
	else
		return prove_try(p, &t.try, err);
	return 0;
}
