/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * prove_limits: which limits a direction has, and with what traffic each of them, and no other, is
 * what holds. Called by prove.c.
 */
#include "core/harness/prove_limits.h"

#include <math.h>

#include "core/base/units.h"
#include "core/harness/prove_rate.h"
#include "core/harness/truth.h"

#define QUICK_SHARE	0.005
#define FULL_SHARE	0.003
#define PACKETS_SHARE	0.005
#define SUM_SHARE	0.01
#define QUEUES_SHARE	0.05 /* what all queues together carry: hashes are uneven */
#define BURST_MARGIN	1.2
#define SUPER_PACKET	70000		       /* bytes: the least bucket in fast mode */
#define PACKET_BURST	64		       /* packets: the least bucket of a cap of packets */
#define POLICE_NS	(50.0 * NSEC_PER_MSEC) /* depth of a policer's bucket: emulator/shaper */
#define POLICE_FRAMES	10
#define POLICE_LEAST_NS 5e6 /* a policer's bucket, in time, that the prober's own bursts fit in */
#define OVER		1.5 /* a limit must be so far from another one to be what holds */
#define BURST_SHARE	0.3 /* of the credit is used to see the burst rate, at most … */
#define BURST_MOST_NS	(300 * NSEC_PER_MSEC)
#define CREDIT_MOST_NS	(3 * NSEC_PER_SEC)

enum { MANY_FLOWS = 4096 };

static double frame_bytes(const struct way *way)
{
	return (double)truth_charged(BASIS_L1, way->mtu, 0);
}

/* What the bucket of a rate may hold at the start. */
static double bucket_bytes(const struct prover *p, const struct way *way, double per_s)
{
	const struct wire_rate *rate = &way->shape->rate;
	double bytes = fmax(per_s * (double)p->bridge_ns / 1e9, 2 * frame_bytes(way));

	if (rate->police && rate->police_bytes)
		bytes = fmax(bytes, (double)rate->police_bytes);
	else if (rate->police)
		bytes =
		    fmax(bytes, fmax(per_s * POLICE_NS / 1e9, POLICE_FRAMES * frame_bytes(way)));
	if (rate->mode == SHAPE_FAST && bytes < SUPER_PACKET)
		bytes = SUPER_PACKET;
	return bytes * BURST_MARGIN;
}

static double bucket_packets(const struct prover *p, const struct wire_pps *pps, double per_s)
{
	double burst = fmax((double)pps->burst, PACKET_BURST);

	if (pps->police)
		burst = fmax(burst, (double)wire_police_burst(pps));
	return fmax(burst, per_s * (double)p->bridge_ns / 1e9) * BURST_MARGIN;
}

static double least_of(double a, double b)
{
	return a <= 0 ? b : b <= 0 ? a : fmin(a, b);
}

/* ---- bytes ---- */

static bool told_apart(const struct wire_shape *s)
{
	return wire_shape_slots(s) > 0;
}

/* What many flows, or one, get: bits a second; 0: not limited. */
static double asked_of_many(const struct wire_shape *s)
{
	return least_of((double)s->rate.bps, (double)s->queues.bps_each * s->queues.count);
}

/* With `bps` for all. */
static double asked_of_one(const struct wire_shape *s, int64_t bps)
{
	return least_of(least_of((double)s->queues.bps_each, (double)s->flow_bps), (double)bps);
}

static void init_rate(const struct prover *p, const struct way *way, double bps,
		      struct limit *limit)
{
	const struct wire_rate *rate = &way->shape->rate;

	*limit = (struct limit){.basis = rate->basis, .per_s = bps / 8, .at_once = true};
	limit->saved = bucket_bytes(p, way, limit->per_s);
	limit_sizes(way, !way->shape->pps.pps && !way->shape->queues.pps_each, limit);
}

static struct proof *new_rate(struct prover *p, const struct way *way, const char *what,
			      double asked)
{
	struct proof *proof = prove_new(p, way, what);

	proof->unit = PROOF_BPS;
	proof->has_basis = true;
	proof->basis = way->shape->rate.basis;
	proof->asked = asked;
	proof->tolerance = way->l->sum ? SUM_SHARE : p->o->quick ? QUICK_SHARE : FULL_SHARE;
	return proof;
}

/* Full frames must be few enough to come to the rate at all. */
static bool packets_come_first(const struct way *way, const struct limit *limit, bool one_flow)
{
	const struct wire_shape *s = way->shape;
	double each = (double)s->queues.pps_each * (one_flow ? 1 : s->queues.count);
	double pps = least_of((double)s->pps.pps, each);

	return pps > 0 && pps * limit_mean(limit) < limit->per_s * OVER;
}

static int prove_many(struct prover *p, const struct way *way, struct err *err)
{
	const struct wire_shape *s = way->shape;
	double asked = asked_of_many(s);
	struct proof *proof = new_rate(p, way, s->rate.police ? "rate, policed" : "rate", asked);
	struct limit limit;

	init_rate(p, way, asked, &limit);
	if (told_apart(s))
		limit.flows = MANY_FLOWS;
	if (asked > 0.9 * (double)s->queues.bps_each * s->queues.count && s->queues.bps_each)
		proof->tolerance = QUEUES_SHARE;
	if (packets_come_first(way, &limit, false)) {
		prove_skip(proof, p, "the cap of packets is reached before it");
		return 0;
	}
	return prove_limit(p, way, 1, &limit, proof, err);
}

/* ---- credit ---- */

/* What lasts for longer is not used up, and so there is some for the probes after it. */
static bool credit_stays(const struct prover *p, const struct wire_rate *rate)
{
	return p->o->quick || rate->credit_ns > CREDIT_MOST_NS;
}

/* A part of the credit, once: there is less of it then. */
static void use_credit(const struct wire_rate *rate, struct limit *limit)
{
	limit->window_ns = (int64_t)((double)rate->credit_ns * BURST_SHARE);
	if (limit->window_ns > BURST_MOST_NS)
		limit->window_ns = BURST_MOST_NS;
	limit->once = true;
}

static int prove_burst(struct prover *p, const struct way *way, struct err *err)
{
	const struct wire_rate *rate = &way->shape->rate;
	struct proof *proof = new_rate(p, way, "burst rate", (double)rate->burst_bps);
	struct limit limit;

	init_rate(p, way, proof->asked, &limit);
	limit.flows = told_apart(way->shape) ? MANY_FLOWS : 1;
	use_credit(rate, &limit);
	return prove_limit(p, way, 1, &limit, proof, err);
}

/* Behind a full credit, which passes at the burst rate. */
static int prove_base(struct prover *p, const struct way *way, struct err *err)
{
	const struct wire_rate *rate = &way->shape->rate;
	struct proof *proof = new_rate(p, way, "base rate", (double)rate->bps);
	struct limit limit;

	init_rate(p, way, proof->asked, &limit);
	limit.flows = told_apart(way->shape) ? MANY_FLOWS : 1;
	limit.at_once = false;
	limit.pace_per_s = (double)rate->burst_bps / 8;
	limit.saved = limit.pace_per_s * (double)rate->credit_ns / 1e9 * BURST_MARGIN +
		      bucket_bytes(p, way, limit.pace_per_s);
	return prove_limit(p, way, 1, &limit, proof, err);
}

/* Of a long credit the probe of the burst rate uses little, and that of the base rate would use up
 * all. */
static int prove_credit(struct prover *p, const struct way *way, struct err *err)
{
	const struct wire_rate *rate = &way->shape->rate;
	double refill_s = (double)(rate->burst_bps - rate->bps) * (double)rate->credit_ns / 1e9 /
			  (double)rate->bps;
	struct proof *proof;
	int r = p->o->quick ? 0 : prove_burst(p, way, err);

	if (r)
		return r;
	if (credit_stays(p, rate)) {
		proof = new_rate(p, way, "base rate", (double)rate->bps);
		prove_skip(proof, p, "it would use up a credit that takes %.0f s to come back",
			   refill_s);
		return 0;
	}
	r = prove_base(p, way, err);
	proof = &p->out->list.v[p->out->list.n - 1];
	if (!r && !proof->why)
		proof->why = arena_printf(&p->out->arena,
					  "its credit is used up now, and full again after %.0f s",
					  refill_s);
	return r;
}

/* ---- packets ---- */

/* The prober is woken every millisecond or so and then sends what is due at once. A policer drops
 * what of that its bucket has no room for, and what passed would be the prober's evenness. */
static bool too_short(const struct wire_pps *pps)
{
	return pps->police &&
	       (double)wire_police_burst(pps) / (double)pps->pps * 1e9 < POLICE_LEAST_NS;
}

static void skip_short(struct prover *p, struct proof *proof, const struct wire_pps *pps)
{
	prove_skip(proof, p,
		   "its burst, %lld packets, is over in %.3g ms: only an even flow could tell",
		   (long long)wire_police_burst(pps),
		   (double)wire_police_burst(pps) / (double)pps->pps * 1e3);
}

static int prove_packets(struct prover *p, const struct way *way, bool one_flow, struct err *err)
{
	const struct wire_shape *s = way->shape;
	double each = (double)s->queues.pps_each;
	double asked = least_of((double)s->pps.pps, one_flow ? each : each * s->queues.count);
	double bps = one_flow ? asked_of_one(s, s->rate.bps) : asked_of_many(s);
	struct limit limit = {.packets = true,
			      .per_s = asked,
			      .saved = bucket_packets(p, &s->pps, asked),
			      .at_once = true,
			      .sizes = {FRAMES_IP_LEAST},
			      .n_sizes = 1,
			      .flows = told_apart(s) && !one_flow ? MANY_FLOWS : 1};
	struct proof *proof = prove_new(p, way,
					one_flow	? "packets of one flow"
					: s->pps.police ? "packets, policed"
							: "packets");

	proof->unit = PROOF_PPS;
	proof->asked = asked;
	proof->tolerance = way->l->sum ? SUM_SHARE : PACKETS_SHARE;
	if (!one_flow && each > 0 && asked > 0.9 * each * s->queues.count)
		proof->tolerance = QUEUES_SHARE;
	if (bps > 0 &&
	    asked * (double)truth_charged(s->rate.basis, FRAMES_IP_LEAST, 0) * 8 * OVER > bps) {
		prove_skip(proof, p, "the rate is reached before it");
		return 0;
	}
	if (too_short(&s->pps)) {
		skip_short(p, proof, &s->pps);
		return 0;
	}
	return prove_limit(p, way, 1, &limit, proof, err);
}

/* ---- one flow ---- */

static int prove_one(struct prover *p, const struct way *way, struct err *err)
{
	const struct wire_rate *rate = &way->shape->rate;
	bool credit = rate->burst_bps > rate->bps && credit_stays(p, rate);
	struct proof *proof =
	    new_rate(p, way, "rate of one flow",
		     asked_of_one(way->shape, credit ? rate->burst_bps : rate->bps));
	struct limit limit;

	init_rate(p, way, proof->asked, &limit);
	if (credit)
		use_credit(rate, &limit);
	if (packets_come_first(way, &limit, true)) {
		prove_skip(proof, p, "the cap of packets is reached before it");
		return 0;
	}
	return prove_limit(p, way, 1, &limit, proof, err);
}

/* ---- a direction ---- */

int prove_limits(struct prover *p, const struct way *way, struct err *err)
{
	const struct wire_shape *s = way->shape;
	bool credit = s->rate.burst_bps > s->rate.bps;
	int r = 0;

	if (credit)
		r = prove_credit(p, way, err);
	else if (asked_of_many(s) > 0)
		r = prove_many(p, way, err);
	if (!r && (s->queues.bps_each || s->flow_bps))
		r = prove_one(p, way, err);
	if (!r && (s->pps.pps || s->queues.pps_each))
		r = prove_packets(p, way, false, err);
	if (!r && s->queues.pps_each)
		r = prove_packets(p, way, true, err);
	return r;
}

/* ---- both directions ---- */

static void begin_sum(struct proof *proof)
{
	proof->direction = "sum";
	proof->tolerance = SUM_SHARE;
}

static int prove_rate_sum(struct prover *p, const struct way ways[static 2], struct err *err)
{
	struct proof *proof = new_rate(p, &ways[0], "rate", asked_of_many(ways[0].shape));
	struct limit limit;

	begin_sum(proof);
	init_rate(p, &ways[0], proof->asked, &limit);
	limit.flows = told_apart(ways[0].shape) ? MANY_FLOWS : 1;
	if (packets_come_first(&ways[0], &limit, false)) {
		prove_skip(proof, p, "the cap of packets is reached before it");
		return 0;
	}
	return prove_limit(p, ways, 2, &limit, proof, err);
}

static int prove_packets_sum(struct prover *p, const struct way ways[static 2], struct err *err)
{
	const struct wire_shape *s = ways[0].shape;
	struct proof *proof = prove_new(p, &ways[0], "packets");
	struct limit limit = {.packets = true,
			      .per_s = (double)s->pps.pps,
			      .saved = bucket_packets(p, &s->pps, (double)s->pps.pps),
			      .at_once = true,
			      .sizes = {FRAMES_IP_LEAST},
			      .n_sizes = 1,
			      .flows = told_apart(s) ? MANY_FLOWS : 1};

	begin_sum(proof);
	proof->unit = PROOF_PPS;
	proof->asked = limit.per_s;
	if (asked_of_many(s) > 0 &&
	    limit.per_s * (double)truth_charged(s->rate.basis, FRAMES_IP_LEAST, 0) * 8 * OVER >
		asked_of_many(s)) {
		prove_skip(proof, p, "the rate is reached before it");
		return 0;
	}
	if (too_short(&s->pps)) {
		skip_short(p, proof, &s->pps);
		return 0;
	}
	return prove_limit(p, ways, 2, &limit, proof, err);
}

int prove_sums(struct prover *p, const struct way ways[static 2], struct err *err)
{
	const struct wire_shape *s = ways[0].shape;
	int r = 0;

	if (asked_of_many(s) > 0 && s->rate.burst_bps <= s->rate.bps)
		r = prove_rate_sum(p, ways, err);
	if (!r && s->pps.pps)
		r = prove_packets_sum(p, ways, err);
	return r;
}
