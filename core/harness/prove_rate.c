/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * prove_rate: fills a direction beyond its limit and sees what comes through. What is sent is over
 * the limit but bounded, so that what waits in the queue afterwards is soon gone. Called by
 * prove.c.
 */
#include "core/harness/prove_rate.h"

#include <math.h>

#include "core/base/units.h"
#include "core/harness/truth.h"

#define OFFERED	      1.5 /* of the limit */
#define OFFERED_FAST  1.3 /* … where that is many frames a second for a machine */
#define FAST_PPS      60000.0
#define SMALL_PPS     40000.0		     /* of the limit: below it, short frames are sent too */
#define FRAME_NS      (10.0 * NSEC_PER_MSEC) /* slow links get shorter frames: one in so long */
#define LEAST_BYTES   200
#define QUICK_NS      (250 * NSEC_PER_MSEC)
#define FULL_NS	      (600 * NSEC_PER_MSEC)
#define QUIET_NS      (30 * NSEC_PER_MSEC)
#define AFTER_NS      NSEC_PER_SEC
#define QUICK_SHARE   0.005
#define FULL_SHARE    0.003
#define PACKETS_SHARE 0.005
#define BURST_MARGIN  1.2
#define SUPER_PACKET  70000 /* bytes: the least bucket in fast mode */

struct limit {	      /* one thing to prove */
	bool packets; /* it counts packets, else bytes by `basis` */
	enum rate_basis basis;
	double per_s; /* packets or bytes a second */
	double saved; /* what its bucket may hold at the start */
	int sizes[FRAMES_SIZES];
	size_t n_sizes;
	int flows;
};

/* ---- what is sent ---- */

static double charge_of(const struct limit *limit, int64_t ip_bytes)
{
	return limit->packets ? 1 : (double)truth_charged(limit->basis, ip_bytes, 0);
}

static double mean_charge(const struct limit *limit)
{
	double sum = 0;

	for (size_t i = 0; i < limit->n_sizes; i++)
		sum += charge_of(limit, limit->sizes[i]);
	return sum / (double)limit->n_sizes;
}

/* Full frames, shorter ones on slow links; and where the machine can send as many, the shortest in
 * between, which tell bases and least frames apart. */
static void choose_sizes(const struct way *way, bool mixed, struct limit *limit)
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
	if (limit->per_s / mean_charge(limit) > SMALL_PPS)
		limit->n_sizes = 1;
}

static int64_t frames_for(const struct limit *limit, double charge)
{
	double n = ceil(charge / mean_charge(limit));

	return n > FRAMES_MOST ? FRAMES_MOST : (int64_t)n;
}

static void plan_stream(const struct prover *p, const struct limit *limit, struct frames_stream *s)
{
	double frames_per_s = limit->per_s / mean_charge(limit);
	double offered = frames_per_s > FAST_PPS ? OFFERED_FAST : OFFERED;
	double window_s = (double)(p->o->quick ? QUICK_NS : FULL_NS) / 1e9;

	for (size_t i = 0; i < limit->n_sizes; i++)
		s->sizes[i] = limit->sizes[i];
	s->n_sizes = limit->n_sizes;
	s->flows = limit->flows > 1 ? limit->flows : 1;
	s->at_once = frames_for(limit, limit->saved) + 2;
	s->gap_ns = 1e9 / (frames_per_s * offered);
	s->count = s->at_once + frames_for(limit, limit->per_s * offered * window_s);
	if (s->count > FRAMES_MOST)
		s->count = FRAMES_MOST;
}

static int64_t quiet_ns(const struct limit *limit)
{
	double frame_ns = mean_charge(limit) / limit->per_s * 1e9;

	return QUIET_NS + (int64_t)(6 * frame_ns);
}

/* ---- what came of it ---- */

/* Frames of others are counted like ours, since the shaper did; only what was several at once
 * cannot be. */
static size_t points_of(const struct limit *limit, const struct frames_log *log, int mtu,
			struct judge_point *out, struct judge_evidence *e)
{
	for (size_t i = 0; i < log->n_arrivals; i++) {
		int64_t ip_bytes = (int64_t)log->arrivals[i].bytes - 14;

		e->foreign += ip_bytes > mtu;
		e->arrived += log->arrivals[i].kind == FRAMES_OURS;
		out[i] = (struct judge_point){log->arrivals[i].at_ns,
					      (int64_t)charge_of(limit, ip_bytes)};
	}
	e->overrun += log->overrun;
	return log->n_arrivals;
}

/* What the sender got rid of a second, from the end of what it sent at once. */
static double offered_of(const struct limit *limit, const struct frames_stream *s,
			 const struct frames_log *log)
{
	double charge = 0;
	int64_t first = 0, last = 0;

	for (size_t i = (size_t)s->at_once; i < log->n_sent; i++) {
		if (!log->sent_ns[i])
			continue;
		if (!first)
			first = log->sent_ns[i];
		last = log->sent_ns[i];
		charge += charge_of(limit, s->sizes[i % s->n_sizes]);
	}
	return last > first ? charge * 1e9 / (double)(last - first) : 0;
}

struct probe { /* of one limit, one way */
	struct prover *p;
	const struct way *way;
	const struct limit *limit;
	struct proof *proof;
	struct frames_spec spec;
};

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
	e->busy = NULL; /* pauses tell what it did */
	judge_proof(b->proof, e, &b->p->out->arena);
}

static void judge(void *arg, struct frames_log logs[static FRAMES_STREAMS],
		  struct judge_evidence *e)
{
	struct probe *b = arg;
	const struct limit *limit = b->limit;
	struct judge_point *v = mem_zalloc((logs[0].n_arrivals + 1) * sizeof(*v));
	size_t n = points_of(limit, &logs[0], b->way->mtu, v, e);
	double frame_ns = mean_charge(limit) / limit->per_s * 1e9;
	struct judge_rate rate;

	judge_rate(v, n, (int64_t)limit->saved, b->p->bridge_ns + (int64_t)(2 * frame_ns), &rate);
	e->sent = b->spec.stream[0].count - logs[0].refused;
	e->offered = offered_of(limit, &b->spec.stream[0], &logs[0]);
	e->pushed_back = logs[0].refused > 0;
	finish(b, &rate, e);
	free(v);
}

static int probe(struct prover *p, const struct way *way, const struct limit *limit,
		 struct proof *proof, struct err *err)
{
	struct probe b = {
	    .p = p,
	    .way = way,
	    .limit = limit,
	    .proof = proof,
	    .spec = {.n = 1, .quiet_ns = quiet_ns(limit), .limit_ns = FULL_NS + AFTER_NS}};
	struct prove_try try = {.spec = &b.spec, .proof = proof, .judge = judge, .arg = &b};

	way_shaper_stream(way, &b.spec.stream[0]);
	plan_stream(p, limit, &b.spec.stream[0]);
	return prove_try(p, &try, err);
}

/* ---- which limits there are ---- */

static double bucket_bytes(const struct prover *p, const struct way *way)
{
	const struct wire_rate *rate = &way->shape->rate;
	double per_s = (double)rate->bps / 8, frame = (double)truth_charged(BASIS_L1, way->mtu, 0);
	double bytes = per_s * (double)p->bridge_ns / 1e9;

	if (rate->police && rate->police_bytes > bytes)
		bytes = (double)rate->police_bytes;
	if (bytes < 2 * frame)
		bytes = 2 * frame;
	if (rate->mode == SHAPE_FAST && bytes < SUPER_PACKET)
		bytes = SUPER_PACKET;
	return bytes * BURST_MARGIN;
}

/* With a cap of packets, full frames must be few enough to come to the rate at all. */
static bool packets_come_first(const struct way *way, const struct limit *limit)
{
	const struct wire_pps *pps = &way->shape->pps;

	return pps->pps && (double)pps->pps * mean_charge(limit) < limit->per_s * OFFERED;
}

static int prove_rate(struct prover *p, const struct way *way, struct err *err)
{
	const struct wire_rate *rate = &way->shape->rate;
	struct limit limit = {
	    .basis = rate->basis, .per_s = (double)rate->bps / 8, .saved = bucket_bytes(p, way)};
	struct proof *proof = prove_new(p, way, "rate");

	proof->unit = PROOF_BPS;
	proof->has_basis = true;
	proof->basis = rate->basis;
	proof->asked = (double)rate->bps;
	proof->tolerance = p->o->quick ? QUICK_SHARE : FULL_SHARE;
	choose_sizes(way, !way->shape->pps.pps, &limit);
	if (packets_come_first(way, &limit)) {
		prove_skip(proof, p, "the cap of packets is reached before it");
		return 0;
	}
	return probe(p, way, &limit, proof, err);
}

static int prove_packets(struct prover *p, const struct way *way, struct err *err)
{
	const struct wire_pps *pps = &way->shape->pps;
	const struct wire_rate *rate = &way->shape->rate;
	double burst = (double)(pps->police ? wire_police_burst(pps) : pps->burst);
	struct limit limit = {
	    .packets = true, .per_s = (double)pps->pps, .sizes = {FRAMES_IP_LEAST}, .n_sizes = 1};
	struct proof *proof = prove_new(p, way, pps->police ? "packets, policed" : "packets");

	limit.saved =
	    fmax(burst, fmax(20, limit.per_s * (double)p->bridge_ns / 1e9)) * BURST_MARGIN;
	proof->unit = PROOF_PPS;
	proof->asked = (double)pps->pps;
	proof->tolerance = PACKETS_SHARE;
	if (rate->bps &&
	    limit.per_s * (double)truth_charged(rate->basis, FRAMES_IP_LEAST, 0) * 8 * OFFERED >
		(double)rate->bps) {
		prove_skip(proof, p, "the rate is reached before it");
		return 0;
	}
	return probe(p, way, &limit, proof, err);
}

int prove_rates(struct prover *p, const struct way *way, struct err *err)
{
	int r = 0;

	if (way->shape->rate.bps)
		r = prove_rate(p, way, err);
	if (!r && way->shape->pps.pps)
		r = prove_packets(p, way, err);
	return r;
}
