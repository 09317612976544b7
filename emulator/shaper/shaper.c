/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shaper: picks the tree of traffic control steps for what a direction carries at most, and builds
 * the small ones: token buckets alone or one in the other, a policer. Trees of classes are htb.c's,
 * figures of buckets bucket.c's, netem netem.c's.
 *
 * emulator/plan calls it for each shaped device, core/cli to tell what was built.
 */
#include "emulator/shaper/shaper.h"

#include "core/base/units.h"
#include "emulator/shaper/bucket.h"

#define POLICE_MTU_BYTES 65535

static bool caps_each(const struct wire_shape *s)
{
	return s->flow_bps || s->queues.bps_each || s->queues.pps_each;
}

static bool packets_wait(const struct wire_shape *s)
{
	return s->pps.pps && !s->pps.police;
}

/* A policer drops and nothing else, and it counts what arrives: no super-packets. */
static bool is_policer(const struct bucket_place *p)
{
	const struct wire_rate *r = &p->shape->rate;

	return r->bps && r->police && r->mode != SHAPE_FAST && p->machine->police &&
	       r->burst_bps <= r->bps && !packets_wait(p->shape);
}

static struct tc_step *add_step(struct shaper *out, enum tc_kind kind, uint32_t parent,
				uint32_t handle)
{
	struct tc_step *s = VEC_ADD(&out->arena, &out->steps);

	s->kind = kind;
	s->parent = parent;
	s->handle = handle;
	return s;
}

/*
 * What arrives is counted from the network header on (__netif_receive_skb_core()), so the Ethernet
 * header is overhead here, and nothing is where the basis is l3.
 */
static void police_steps(const struct bucket_place *p, struct shaper *out)
{
	const struct wire_rate *r = &p->shape->rate;
	struct tc_policer *police;

	add_step(out, TC_CLSACT, TC_AT_CLSACT, TC_CLSACT_HANDLE);
	police = &add_step(out, TC_POLICE, TC_AT_INGRESS, 0)->police;
	police->rate = bucket_base(p, bucket_most_htb(((uint64_t)r->bps + 4) / 8));
	if (r->basis != BASIS_L3)
		police->rate.overhead += BUCKET_ETHERNET_HEADER;
	police->mtu_bytes = POLICE_MTU_BYTES;
}

/* Bytes a second; gives what empties the queue. */
static struct tc_bucket add_rate(const struct bucket_place *p, struct shaper *out)
{
	const struct wire_rate *r = &p->shape->rate;
	bool credit = r->burst_bps > r->bps;
	struct tc_step *step = add_step(out, TC_TBF, TC_AT_ROOT, TC_ID(1, 0));
	struct tc_bucket drain = bucket_rate(p, credit ? r->burst_bps : r->bps);

	step->stab_overhead = bucket_stab(p);
	step->tbf.rate = bucket_rate(p, r->bps);
	step->tbf.rate = bucket_base(p, bucket_most_tbf(step->tbf.rate.rate_bytes));
	if (credit)
		step->tbf.peak = drain;
	return drain;
}

/*
 * Packets a second, below the rate where there is one. Their queue is one of packets: as many small
 * packets as full ones take as long. Gives its limit.
 */
static uint32_t add_packets(const struct bucket_place *p, const struct tc_bucket *drain,
			    struct shaper *out)
{
	bool root = !out->steps.n;
	struct tc_step *step =
	    add_step(out, TC_TBF, root ? TC_AT_ROOT : TC_ID(1, 1), TC_ID(root ? 1 : 2, 0));
	uint32_t handle = step->handle, limit;

	step->stab_overhead = root ? bucket_stab(p) : 0;
	step->tbf.rate = bucket_packets(p, &p->shape->pps);
	limit = bucket_queue_packets(p, drain, &step->tbf.rate);
	if (!limit)
		return 0;
	step = add_step(out, TC_PFIFO, handle | 1, handle + TC_ID(1, 0));
	step->pfifo_limit_packets = limit;
	return limit;
}

static void tbf_steps(const struct bucket_place *p, struct shaper *out)
{
	struct tc_bucket drain = {0};
	uint32_t limit = 0;

	if (p->shape->rate.bps)
		drain = add_rate(p, out);
	if (packets_wait(p->shape))
		limit = add_packets(p, &drain, out);
	if (!limit)
		limit = bucket_queue(p, &drain);
	VEC_FOREACH (s, &out->steps)
		if (s->kind == TC_TBF)
			s->tbf.limit_bytes = limit;
}

void shaper_steps(const struct wire_shape *s, int mtu, const struct machine *m, struct shaper *out)
{
	const struct bucket_place p = {s, m, (unsigned)mtu};

	*out = (struct shaper){0};
	arena_init(&out->arena);
	if (!caps_each(s) && is_policer(&p))
		police_steps(&p, out);
	else if (caps_each(s) || wire_shape_slots(s))
		htb_steps(&p, out);
	else
		tbf_steps(&p, out);
}

void shaper_done(struct shaper *s)
{
	arena_done(&s->arena);
	*s = (struct shaper){0};
}

static int64_t credit_ns(const struct wire_rate *r, const struct tc_bucket *base,
			 const struct tc_bucket *burst)
{
	unsigned __int128 t = (unsigned __int128)base->burst_bytes * NSEC_PER_SEC;

	if (burst->rate_bytes <= base->rate_bytes) /* they differ by less than a byte a second */
		return r->credit_ns;
	t /= burst->rate_bytes - base->rate_bytes;
	return t > (uint64_t)r->credit_ns ? r->credit_ns : (int64_t)t;
}

/* Of one byte-counting bucket or of two, the second for bursts. */
static void set_rate(const struct wire_rate *r, const struct tc_bucket *base,
		     const struct tc_bucket *burst, struct shaper_figures *out)
{
	bool credit = r->burst_bps > r->bps;

	out->burst_bytes = credit ? burst->burst_bytes : base->burst_bytes;
	out->credit_ns = credit ? credit_ns(r, base, burst) : 0;
}

void shaper_figures(const struct wire_shape *s, int mtu, const struct machine *m,
		    struct shaper_figures *out)
{
	struct shaper sh;

	*out = (struct shaper_figures){0};
	shaper_steps(s, mtu, m, &sh);
	VEC_FOREACH (step, &sh.steps) {
		if (step->kind == TC_TBF) {
			out->queue_bytes = step->tbf.limit_bytes;
		} else if (step->kind == TC_FIFO) {
			out->queue_bytes = step->fifo_limit_bytes;
		} else if (step->kind == TC_PFIFO) {
			out->queue_packets = step->pfifo_limit_packets;
			out->queue_bytes = 0;
		}
		out->policer = out->policer || step->kind == TC_POLICE;
		if (!s->rate.bps || out->burst_bytes)
			continue;
		if (step->kind == TC_TBF)
			set_rate(&s->rate, &step->tbf.rate, &step->tbf.peak, out);
		else if (step->kind == TC_CLASS)
			set_rate(&s->rate, &step->cls.rate, &step->cls.ceil, out);
		else if (step->kind == TC_POLICE)
			out->burst_bytes = step->police.rate.burst_bytes;
	}
	if (packets_wait(s))
		out->pps_burst = shaper_pps_burst(&s->pps, m);
	shaper_done(&sh);
}
