/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * prove_rate: what is sent is over the limit but bounded, so that what waits in the queue
 * afterwards is soon gone. Called by prove_limits.c.
 */
#include "core/harness/prove_rate.h"

#include <math.h>

#include "core/base/units.h"
#include "core/harness/truth.h"

#define OFFERED	     1.5 /* of the limit */
#define OFFERED_FAST 1.3 /* … where that is many frames a second for a machine */
#define FAST_PPS     60000.0
#define SMALL_PPS    40000.0		    /* of the limit: below it, short frames are sent too */
#define FRAME_NS     (10.0 * NSEC_PER_MSEC) /* slow links get shorter frames: one in so long */
#define LEAST_BYTES  200
#define QUICK_NS     (250 * NSEC_PER_MSEC)
#define FULL_NS	     (600 * NSEC_PER_MSEC)
#define QUIET_NS     (30 * NSEC_PER_MSEC)
#define SEND_MOST    1.5 /* of the time that sending should take: a slow machine gives up then */
#define AFTER_NS     NSEC_PER_SEC
#define LEAST_FRAMES 64 /* in the window, for shares of a percent */
#define SEEN_FRAMES  10 /* in the window: with less there is no rate */
#define DRAIN_MOST_S 8.0

enum { ETHERNET_HEADER = 14 };

/* ---- what is sent ---- */

/* Bytes by the basis, or 1. */
static double limit_charge(const struct limit *limit, int64_t ip_bytes)
{
	return limit->packets ? 1 : (double)truth_charged(limit->basis, ip_bytes, 0);
}

double limit_mean(const struct limit *limit)
{
	double sum = 0;

	for (size_t i = 0; i < limit->n_sizes; i++)
		sum += limit_charge(limit, limit->sizes[i]);
	return sum / (double)limit->n_sizes;
}

void limit_sizes(const struct way *way, bool mixed, struct limit *limit)
{
	double fits = limit->per_s * FRAME_NS / 1e9;
	int full = way->mtu;

	if (fits < full && way->shape->rate.mode == SHAPE_EXACT)
		full = fits < LEAST_BYTES ? LEAST_BYTES : (int)fits;
	if (full > way->mtu)
		full = way->mtu;
	limit->sizes[0] = full;
	limit->n_sizes = 1;
	if (!mixed || way->shape->rate.mode != SHAPE_EXACT)
		return;
	limit->sizes[1] = FRAMES_IP_LEAST;
	limit->n_sizes = 2;
	if (limit->per_s / limit_mean(limit) > SMALL_PPS)
		limit->n_sizes = 1;
}

static int64_t frames_for(const struct limit *limit, double charge)
{
	double n = ceil(charge / limit_mean(limit));

	return n > FRAMES_MOST ? FRAMES_MOST : (int64_t)n;
}

static double pace_of(const struct limit *limit)
{
	double pace = fmax(limit->per_s, limit->pace_per_s);

	return pace * (pace / limit_mean(limit) > FAST_PPS ? OFFERED_FAST : OFFERED);
}

static int64_t window_ns(const struct prover *p, const struct limit *limit)
{
	int64_t ns = limit->window_ns ? limit->window_ns : p->o->quick ? QUICK_NS : FULL_NS;
	int64_t least = (int64_t)(LEAST_FRAMES * limit_mean(limit) / limit->per_s * 1e9);

	return limit->window_ns || ns > least ? ns
	       : least < 2 * NSEC_PER_SEC     ? least
					      : 2 * NSEC_PER_SEC;
}

/* `share`: of the limit, where another stream sends the rest. */
static void plan_stream(const struct prover *p, const struct limit *limit, double share,
			struct frames_stream *s)
{
	double offered = pace_of(limit) * share;
	double window_s = (double)window_ns(p, limit) / 1e9;

	for (size_t i = 0; i < limit->n_sizes; i++)
		s->sizes[i] = limit->sizes[i];
	s->n_sizes = limit->n_sizes;
	s->flows = limit->flows > 1 ? limit->flows : 1;
	s->at_once = limit->at_once ? frames_for(limit, limit->saved * share) + 2 : 1;
	s->gap_ns = limit_mean(limit) / offered * 1e9;
	s->count = s->at_once + frames_for(limit, offered * window_s);
	if (!limit->at_once)
		s->count += frames_for(limit, limit->saved * offered / limit->per_s * share);
	if (s->count > FRAMES_MOST)
		s->count = FRAMES_MOST;
}

/* What waits behind a cap of packets, whose bucket may be less deep than `saved`, for how long. */
static double drain_s(const struct limit *limit)
{
	return limit->packets && limit->at_once ? limit->saved / limit->per_s : 0;
}

/* Says so, where there are too few, or where it would take too many or too long. */
static bool can_be_seen(struct prover *p, const struct limit *limit, struct proof *proof)
{
	double window_s = (double)window_ns(p, limit) / 1e9;
	double frames = limit->per_s * window_s / limit_mean(limit);

	if (frames < SEEN_FRAMES)
		prove_skip(proof, p, "it lets %.1f frames pass in %.1f s, too few to tell", frames,
			   window_s);
	else if (drain_s(limit) > DRAIN_MOST_S)
		prove_skip(proof, p, "it would take %.0f s", drain_s(limit) + window_s);
	else if (frames_for(limit, limit->saved) == FRAMES_MOST)
		prove_skip(proof, p, "what it saves is more than a probe sends");
	else
		return true;
	return false;
}

static int64_t frame_ns(const struct limit *limit)
{
	return (int64_t)(limit_mean(limit) / limit->per_s * 1e9);
}

/* ---- what came of it ---- */

struct probe {
	struct prover *p;
	const struct way *ways;
	size_t n;
	const struct limit *limit;
	struct proof *proof;
	struct frames_spec spec;
};

/* Frames of others are counted like ours, since the shaper did; only what was several at once
 * cannot be. */
static void add_points(const struct probe *b, const struct frames_log *log, struct judge_point *v,
		       struct judge_evidence *e)
{
	for (size_t i = 0; i < log->n_arrivals; i++) {
		int64_t ip_bytes = (int64_t)log->arrivals[i].bytes - ETHERNET_HEADER;

		e->foreign += ip_bytes > b->ways[0].mtu;
		e->arrived += log->arrivals[i].kind == FRAMES_OURS;
		v[i] = (struct judge_point){log->arrivals[i].at_ns,
					    (int64_t)limit_charge(b->limit, ip_bytes)};
	}
	e->overrun += log->overrun;
}

static int by_time(const void *a, const void *b)
{
	const struct judge_point *x = a, *y = b;

	return (x->at_ns > y->at_ns) - (x->at_ns < y->at_ns);
}

/* What the sender got rid of a second, from the end of what it sent at once. */
static double offered_by(const struct limit *limit, const struct frames_stream *s,
			 const struct frames_log *log)
{
	int64_t first = 0, last = 0;
	double charge = 0;

	for (size_t i = (size_t)s->at_once; i < log->n_sent; i++) {
		if (!log->sent_ns[i])
			continue;
		if (!first)
			first = log->sent_ns[i];
		last = log->sent_ns[i];
		charge += limit_charge(limit, s->sizes[i % s->n_sizes]);
	}
	return last > first ? charge * 1e9 / (double)(last - first) : 0;
}

static void finish(const struct probe *b, const struct judge_rate *rate, struct judge_evidence *e)
{
	double unit = b->limit->packets ? 1 : 8;

	b->proof->got = rate->rate > 0 ? rate->rate * unit : NAN;
	e->offered *= unit;
	e->longest_ns = rate->longest_ns;
	if (rate->window_ns > 0) {
		double window_s = (double)rate->window_ns / 1e9;

		e->paused_share = (double)rate->paused_ns / (double)rate->window_ns;
		e->saved_share = b->limit->saved / b->limit->per_s / window_s;
	}
	e->busy = e->relay = NULL; /* pauses tell what they did; no relay comes before */
	judge_proof(b->proof, e, &b->p->out->arena);
}

static void judge(void *arg, struct frames_log logs[static FRAMES_STREAMS],
		  struct judge_evidence *e)
{
	struct probe *b = arg;
	size_t all = logs[0].n_arrivals + logs[1].n_arrivals, n = 0;
	struct judge_point *v = mem_zalloc((all + 1) * sizeof(*v));
	struct judge_rate rate;

	for (size_t i = 0; i < b->n; i++) {
		add_points(b, &logs[i], v + n, e);
		n += logs[i].n_arrivals;
		e->sent += (int64_t)logs[i].n_sent - logs[i].refused;
		e->offered += offered_by(b->limit, &b->spec.stream[i], &logs[i]);
		e->pushed_back = e->pushed_back || logs[i].refused > 0;
	}
	if (b->n > 1)
		qsort(v, n, sizeof(*v), by_time);
	judge_rate(v, n, (int64_t)b->limit->saved, b->p->bridge_ns + 2 * frame_ns(b->limit), &rate);
	finish(b, &rate, e);
	free(v);
}

int prove_limit(struct prover *p, const struct way *ways, size_t n, const struct limit *limit,
		struct proof *proof, struct err *err)
{
	struct probe b = {
	    .p = p,
	    .ways = ways,
	    .n = n,
	    .limit = limit,
	    .proof = proof,
	    .spec = {.n = n,
		     .quiet_ns = QUIET_NS + 6 * frame_ns(limit),
		     .limit_ns = window_ns(p, limit) + AFTER_NS + (int64_t)(drain_s(limit) * 1e9)}};
	struct prove_try try = {.way = ways,
				.spec = &b.spec,
				.first = (size_t)(proof - p->out->list.v),
				.n = 1,
				.judge = judge,
				.arg = &b,
				.once = limit->once};

	double send_ns = 0;

	if (!can_be_seen(p, limit, proof))
		return 0;
	for (size_t i = 0; i < n; i++) {
		way_shaper_stream(&ways[i], &b.spec.stream[i]);
		plan_stream(p, limit, 1.0 / (double)n, &b.spec.stream[i]);
		send_ns = fmax(send_ns, (double)b.spec.stream[i].count * b.spec.stream[i].gap_ns);
	}
	b.spec.send_ns = (int64_t)(send_ns * SEND_MOST);
	return prove_try(p, &try, err);
}
