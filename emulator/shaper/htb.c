/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * htb: the tree of classes for caps of queues and flows. For shaper.c; shaper.h has the picture.
 *
 * A class directly below the root cannot borrow: it is assured all that it may send. A class below
 * another is assured a byte a second, which it may use once a minute, and borrows everything else:
 * so nothing but `ceil`, its own and that of the classes above, bounds it, and siblings take turns
 * of one quantum (htb_dequeue_tree() in net/sched/sch_htb.c). The root's `rate` is its parent-less
 * class's bucket: with credit it is deep, and `ceil` bounds what leaves while there is credit.
 */
#include "emulator/shaper/bucket.h"

enum {
	ROOT_MAJOR = 1,
	ASSURED_BYTES = 1, /* a second */
	ASSURED_BURST = 200,
};

struct tree {
	const struct bucket_place *p;
	struct shaper *out;
	uint32_t top;		  /* what queues hang on: the root or the last class of the whole */
	struct tc_bucket rate;	  /* what bounds all of it; 0: nothing does */
	struct tc_bucket packets; /* that of all packets; mpu 0: there is none */
	struct tc_bucket last;	  /* `ceil` of the class `top` */
};

static struct tc_step *add_step(struct tree *t, enum tc_kind kind, uint32_t parent, uint32_t handle)
{
	struct tc_step *s = VEC_ADD(&t->out->arena, &t->out->steps);

	s->kind = kind;
	s->parent = parent;
	s->handle = handle;
	return s;
}

static uint64_t no_deeper(uint64_t burst, uint64_t rate_bytes)
{
	uint64_t most = bucket_most_htb(rate_bytes);

	return burst > most ? most : burst;
}

/* A class below `parent` that passes `ceil` at most; gives its classid. */
static uint32_t add_class(struct tree *t, uint32_t parent, unsigned minor,
			  const struct tc_bucket *ceil)
{
	uint32_t id = TC_ID(ROOT_MAJOR, minor);
	struct tc_class *c = &add_step(t, TC_CLASS, parent, id)->cls;

	c->ceil = *ceil;
	c->ceil.burst_bytes = no_deeper(ceil->burst_bytes, ceil->rate_bytes);
	c->rate = c->ceil;
	if (parent != TC_ID(ROOT_MAJOR, 0)) {
		c->rate.rate_bytes = ASSURED_BYTES;
		c->rate.burst_bytes = ASSURED_BURST;
	}
	c->quantum = t->p->mtu + BUCKET_ETHERNET_HEADER;
	return id;
}

/* The rate of the whole: its bucket may be deep. */
static void add_rate(struct tree *t)
{
	const struct wire_rate *r = &t->p->shape->rate;
	bool credit = r->burst_bps > r->bps;
	struct tc_class *c;

	if (!r->bps)
		return;
	t->rate = bucket_rate(t->p, credit ? r->burst_bps : r->bps);
	if (r->police && !credit)
		t->rate = bucket_base(t->p, UINT64_MAX);
	t->last = t->rate;
	t->top = add_class(t, t->top, SHAPER_RATE_CLASS, &t->rate);
	c = &t->out->steps.v[t->out->steps.n - 1].cls;
	if (credit) {
		c->rate = bucket_base(t->p, UINT64_MAX);
		c->rate.burst_bytes = no_deeper(c->rate.burst_bytes, c->rate.rate_bytes);
	}
}

static void add_packets(struct tree *t)
{
	const struct wire_pps *pps = &t->p->shape->pps;

	if (!pps->pps || pps->police)
		return;
	t->packets = t->last = bucket_packets(t->p, pps);
	t->top = add_class(t, t->top, SHAPER_PPS_CLASS, &t->last);
}

/* `packets`: a cap of them that this leaf is below, or NULL. */
static void add_fifo(struct tree *t, uint32_t class, const struct tc_bucket *drain,
		     const struct tc_bucket *packets)
{
	uint32_t minor = class & 0xffff;
	uint32_t limit = packets ? bucket_queue_packets(t->p, drain, packets) : 0;

	if (limit)
		add_step(t, TC_PFIFO, class, TC_ID(minor, 0))->pfifo_limit_packets = limit;
	else
		add_step(t, TC_FIFO, class, TC_ID(minor, 0))->fifo_limit_bytes =
		    bucket_queue(t->p, drain);
}

/*
 * Queue q with its caps, one in the other. Without caps of flows the last of them is the leaf; one
 * without caps may send all that the whole may. Gives what flow slots hang on.
 */
static uint32_t add_queue(struct tree *t, unsigned q)
{
	const struct wire_queues *queues = &t->p->shape->queues;
	bool leaf = !t->p->shape->flow_bps;
	struct tc_bucket bytes = bucket_rate(t->p, queues->bps_each);
	const struct wire_pps each = {.pps = queues->pps_each};
	struct tc_bucket packets = bucket_packets(t->p, &each);
	unsigned slot = SHAPER_SLOT_CLASS + q;
	uint32_t id = t->top;

	if (queues->pps_each)
		id = add_class(t, id, leaf && !queues->bps_each ? slot : SHAPER_QUEUE_PPS_CLASS + q,
			       &packets);
	if (queues->bps_each)
		id = add_class(t, id, leaf ? slot : SHAPER_QUEUE_CLASS + q, &bytes);
	if (leaf && id == t->top)
		id = add_class(t, id, slot, &t->last);
	if (leaf)
		add_fifo(t, id, queues->bps_each ? &bytes : &t->rate,
			 queues->pps_each ? &packets
			 : t->packets.mpu ? &t->packets
					  : NULL);
	return id;
}

static void add_slots(struct tree *t, const uint32_t *queues, unsigned count)
{
	const struct wire_pps each = {.pps = t->p->shape->queues.pps_each};
	struct tc_bucket flow = bucket_rate(t->p, t->p->shape->flow_bps);
	struct tc_bucket packets = each.pps ? bucket_packets(t->p, &each) : t->packets;

	for (unsigned i = 0; i < WIRE_SLOTS_FLOW; i++)
		add_fifo(t, add_class(t, queues[i % count], SHAPER_SLOT_CLASS + i, &flow), &flow,
			 packets.mpu ? &packets : NULL);
}

void htb_steps(const struct bucket_place *p, struct shaper *out)
{
	struct tree t = {.p = p, .out = out, .top = TC_ID(ROOT_MAJOR, 0)};
	struct tc_step *root = add_step(&t, TC_HTB, TC_AT_ROOT, t.top);
	uint32_t queues[SHAPER_QUEUES_MAX];
	int count = p->shape->queues.count;

	root->htb.default_minor = SHAPER_SLOT_CLASS;
	root->stab_overhead = bucket_stab(p);
	add_rate(&t);
	add_packets(&t);
	count = count < 1 ? 1 : count > SHAPER_QUEUES_MAX ? SHAPER_QUEUES_MAX : count;
	for (int q = 0; q < count; q++)
		queues[q] = add_queue(&t, (unsigned)q);
	if (p->shape->flow_bps)
		add_slots(&t, queues, (unsigned)count);
}
