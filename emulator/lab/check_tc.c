/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * check_tc: qdiscs, classes and policers against the plan's steps. Called by check.c.
 *
 * A bucket is compared as the time that it lasts, since that is how the kernel keeps and tells it,
 * in 32 bits of ticks: a deeper bucket is there in full, but told without the bits above.
 */
#include <stdlib.h>
#include <string.h>

#include "emulator/lab/check_node.h"

#define CHECK_TICK_NS 64

struct check_step { /* one step under comparison */
	struct check_node *c;
	const struct op *op;
	const struct dump_qdisc *is;
	char name[32]; /* "tbf 1:", "class 1:100" */
};

static const char *check_kind_name(enum tc_kind kind)
{
	static const char *const names[] = {
	    [TC_TBF] = "tbf",	    [TC_HTB] = "htb",	    [TC_CLASS] = "class",
	    [TC_FIFO] = "bfifo",    [TC_PFIFO] = "pfifo",   [TC_NETEM] = "netem",
	    [TC_CLSACT] = "clsact", [TC_POLICE] = "police", [TC_UNKNOWN] = "another",
	};

	return names[kind];
}

static void check_u64(const struct check_step *s, const char *what, uint64_t planned, uint64_t is)
{
	if (planned != is)
		check_say(s->c, "%s: %s: %s planned %llu, is %llu", s->op->dev, s->name, what,
			  (unsigned long long)planned, (unsigned long long)is);
}

/*
 * A TBF told its bucket in bytes charges the overhead once in it and no less than the mpu; classes
 * and policers are told whole microseconds.
 */
static void check_burst(const struct check_step *s, const struct tc_bucket *b, uint64_t charged,
			int64_t is_ns)
{
	double ns = (double)charged * 1e9 / (double)b->rate_bytes;
	double allowed = 2 * CHECK_TICK_NS + 1000 + 1e-4 * ns;
	double wraps = (double)((int64_t)(ns / (double)DUMP_BURST_WRAP_NS));
	double error = (double)is_ns - (ns - wraps * (double)DUMP_BURST_WRAP_NS);

	if (error > (double)DUMP_BURST_WRAP_NS / 2)
		error -= (double)DUMP_BURST_WRAP_NS;
	if (error > allowed || error < -allowed)
		check_say(s->c, "%s: %s: burst planned %llu bytes (%.6f s), is %.6f s", s->op->dev,
			  s->name, (unsigned long long)b->burst_bytes, ns / 1e9,
			  (double)is_ns / 1e9);
}

static void check_bucket(const struct check_step *s, const char *what, const struct tc_bucket *p,
			 const struct tc_bucket *is)
{
	check_u64(s, what, p->rate_bytes, is->rate_bytes);
	if (!p->rate_bytes)
		return;
	check_u64(s, "overhead", p->overhead, is->overhead);
	check_u64(s, "mpu", p->mpu, is->mpu);
}

static uint64_t check_charged(const struct tc_bucket *b, const struct tc_bucket *cost)
{
	uint64_t bytes = b->burst_bytes + (b->burst_bytes > TC_TBF_BYTES_MOST ? 0 : cost->overhead);

	return bytes < cost->mpu ? cost->mpu : bytes;
}

static void check_tbf(const struct check_step *s)
{
	const struct tc_tbf *p = &s->op->tc.tbf, *is = &s->is->step.tbf;
	struct tc_bucket peak = p->peak;

	check_bucket(s, "rate in bytes/s", &p->rate, &is->rate);
	check_u64(s, "queue in bytes", p->limit_bytes, is->limit_bytes);
	check_burst(s, &p->rate, check_charged(&p->rate, &p->rate), s->is->burst_ns);
	check_u64(s, "peak rate in bytes/s", p->peak.rate_bytes, is->peak.rate_bytes);
	if (peak.rate_bytes && is->peak.rate_bytes)
		check_burst(s, &peak, check_charged(&peak, &p->rate), s->is->peak_ns);
}

static void check_class(const struct check_step *s)
{
	const struct tc_class *p = &s->op->tc.cls, *is = &s->is->step.cls;

	check_bucket(s, "rate in bytes/s", &p->rate, &is->rate);
	check_bucket(s, "ceil in bytes/s", &p->ceil, &is->ceil);
	check_burst(s, &p->rate, p->rate.burst_bytes, s->is->burst_ns);
	check_burst(s, &p->ceil, p->ceil.burst_bytes, s->is->peak_ns);
	/* Only a leaf has turns. */
	if (is->quantum)
		check_u64(s, "quantum in bytes", p->quantum, is->quantum);
}

static void check_netem(const struct check_step *s)
{
	const struct tc_netem *p = &s->op->tc.netem, *is = &s->is->step.netem;

	check_u64(s, "limit in packets", p->limit_packets, is->limit_packets);
	check_u64(s, "delay in ns", (uint64_t)p->delay_ns, (uint64_t)is->delay_ns);
	check_u64(s, "jitter in ns", (uint64_t)p->jitter_ns, (uint64_t)is->jitter_ns);
	check_u64(s, "correlation of delay", p->delay_correlation, is->delay_correlation);
	check_u64(s, "loss", p->loss, is->loss);
	check_u64(s, "correlation of loss", p->loss_correlation, is->loss_correlation);
	check_u64(s, "loss in bursts", p->bursts, is->bursts);
	check_u64(s, "from good to bad", p->to_bad, is->to_bad);
	check_u64(s, "from bad to good", p->to_good, is->to_good);
	check_u64(s, "loss when bad", p->bad_loss, is->bad_loss);
	check_u64(s, "loss when good", p->good_loss, is->good_loss);
	check_u64(s, "duplication", p->duplicate, is->duplicate);
	check_u64(s, "corruption", p->corrupt, is->corrupt);
	if (is->seed) /* older kernels have none */
		check_u64(s, "seed", p->seed, is->seed);
}

static void check_police(const struct check_step *s)
{
	const struct tc_policer *p = &s->op->tc.police, *is = &s->is->step.police;

	check_bucket(s, "rate in bytes/s", &p->rate, &is->rate);
	check_burst(s, &p->rate, p->rate.burst_bytes, s->is->burst_ns);
	check_u64(s, "largest packet in bytes", p->mtu_bytes, is->mtu_bytes);
}

static void check_figures(const struct check_step *s)
{
	const struct tc_step *p = &s->op->tc, *is = &s->is->step;

	check_u64(s, "parent", p->parent, is->parent);
	if (p->stab_overhead != is->stab_overhead)
		check_say(s->c, "%s: %s: overhead of the size table planned %d, is %d", s->op->dev,
			  s->name, p->stab_overhead, is->stab_overhead);
	switch (p->kind) {
	case TC_TBF:
		check_tbf(s);
		break;
	case TC_HTB:
		check_u64(s, "default class", p->htb.default_minor, is->htb.default_minor);
		break;
	case TC_CLASS:
		check_class(s);
		break;
	case TC_FIFO:
		check_u64(s, "queue in bytes", p->fifo_limit_bytes, is->fifo_limit_bytes);
		break;
	case TC_PFIFO:
		check_u64(s, "queue in packets", p->pfifo_limit_packets, is->pfifo_limit_packets);
		break;
	case TC_NETEM:
		check_netem(s);
		break;
	case TC_POLICE:
		check_police(s);
		break;
	default:
		break;
	}
}

static bool check_is_at(const struct dump_qdisc *q, int ifindex, const struct tc_step *s)
{
	return q->ifindex == ifindex && q->step.handle == s->handle;
}

static const struct dump_qdisc *check_find(const struct check_node *c, int ifindex,
					   const struct tc_step *s)
{
	const struct dump *d = &c->dump;

	if (s->kind == TC_CLASS) {
		VEC_FOREACH (q, &d->classes)
			if (check_is_at(q, ifindex, s))
				return q;
	} else if (s->kind == TC_POLICE) {
		VEC_FOREACH (q, &d->policers)
			if (q->ifindex == ifindex)
				return q;
	} else {
		VEC_FOREACH (q, &d->qdiscs)
			if (check_is_at(q, ifindex, s))
				return q;
	}
	return NULL;
}

static void check_step_one(struct check_node *c, const struct op *op)
{
	struct check_step s = {.c = c, .op = op};
	const char *kind = check_kind_name(op->tc.kind);

	s.is = check_find(c, check_ifindex(c, op), &op->tc);
	snprintf(s.name, sizeof(s.name), "%s %x:%x", kind, op->tc.handle >> 16,
		 op->tc.handle & 0xffff);
	if (!s.is)
		check_say(c, "%s: shaper planned %s, is none", op->dev, s.name);
	else if (s.is->step.kind != op->tc.kind)
		check_say(c, "%s: shaper planned %s, is %s", op->dev, s.name, s.is->kind);
	else
		check_figures(&s);
}

static bool check_planned(const struct check_node *c, const struct dump_qdisc *q)
{
	CHECK_FOREACH (op, c, OP_TC)
		if (check_ifindex(c, op) == q->ifindex && op->tc.handle == q->step.handle &&
		    (op->tc.kind == TC_CLASS) == (q->step.kind == TC_CLASS))
			return true;
	return false;
}

void check_qdiscs(struct check_node *c)
{
	CHECK_FOREACH (op, c, OP_TC)
		check_step_one(c, op);
	/* Default qdiscs have no handle. */
	VEC_FOREACH (q, &c->dump.qdiscs)
		if (q->handle && !check_planned(c, q))
			check_say(c, "%s: qdisc %s not planned", check_name(c, q->ifindex),
				  q->kind);
	VEC_FOREACH (q, &c->dump.classes)
		if (!check_planned(c, q))
			check_say(c, "%s: class %x:%x not planned", check_name(c, q->ifindex),
				  q->handle >> 16, q->handle & 0xffff);
}
