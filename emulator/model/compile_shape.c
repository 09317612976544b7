/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compile_shape: declared rates, caps and impairments as the wire model has them: scaled, with
 * their mode chosen, or left out of an unshaped lab. It makes no device. Called by compile.c, which
 * asks for modes, and by those who make links.
 */
#include "emulator/model/compile.h"

#define LEAST_BPS 8 /* a shaper counts bytes, and one a second is its least */

/* ---- scale ---- */

/* To the nearest; what was something stays at least `least`. */
static int64_t scaled(const struct compile *c, int64_t v, int64_t least)
{
	int64_t num = c->t->scale_num, den = c->t->scale_den, r;

	if (v <= 0 || num == den)
		return v;
	r = (int64_t)(((__int128)v * num + den / 2) / den);
	return r < least ? least : r;
}

static struct wire_rate scale_rate(const struct compile *c, const struct wire_rate *rate)
{
	struct wire_rate r = *rate;

	r.bps = scaled(c, r.bps, LEAST_BPS);
	r.burst_bps = scaled(c, r.burst_bps, LEAST_BPS);
	r.queue_bytes = scaled(c, r.queue_bytes, 1);
	r.police_bytes = scaled(c, r.police_bytes, 1);
	if (r.burst_bps <= r.bps) /* both became the least */
		r.burst_bps = r.credit_ns = 0;
	return r;
}

static struct wire_pps scale_pps(const struct compile *c, const struct wire_pps *pps)
{
	return (struct wire_pps){.pps = scaled(c, pps->pps, 1),
				 .police = pps->police,
				 .burst = scaled(c, pps->burst, 1)};
}

/* ---- shapes ---- */

/* Limits that count frames or tell flows apart can only do so where each frame is one packet. */
static bool needs_single_frames(const struct wire_shape *s)
{
	return s->pps.pps || s->queues.bps_each || s->queues.pps_each || s->flow_bps ||
	       (s->queues.count > 1 && s->rate.bps);
}

static enum shape_mode mode_of(const struct compile *c, const struct wire_shape *s)
{
	int64_t most = s->rate.burst_bps > s->rate.bps ? s->rate.burst_bps : s->rate.bps;

	if (needs_single_frames(s))
		return SHAPE_EXACT;
	if (s->rate.mode != SHAPE_AUTO)
		return s->rate.mode;
	return most <= c->o->machine.exact_max_bps ? SHAPE_EXACT : SHAPE_FAST;
}

/* What would be, were the lab not unshaped. */
static struct wire_shape declared(const struct compile *c, const struct cloud_shape *cloud)
{
	struct wire_shape s = {.rate = scale_rate(c, &cloud->rate.rate),
			       .pps = scale_pps(c, &cloud->pps)};

	s.rate.mode = mode_of(c, &s);
	return s;
}

static struct wire_shape declared_caps(const struct compile *c, const struct cloud_caps *caps)
{
	struct wire_shape s = {
	    .rate = scale_rate(c, &caps->rate.rate),
	    .pps = scale_pps(c, &caps->pps),
	    .queues = {.count = caps->queues.count,
		       .bps_each = scaled(c, caps->queues.bps_each, LEAST_BPS),
		       .pps_each = scaled(c, caps->queues.pps_each, 1)},
	    .flow_bps = scaled(c, caps->flow_bps, LEAST_BPS),
	};

	s.rate.mode = mode_of(c, &s);
	return s;
}

static struct wire_shape none(const struct compile *c, const struct wire_shape *s)
{
	return (struct wire_shape){
	    .rate = {.basis = s->rate.basis, .mode = c->exact ? SHAPE_EXACT : SHAPE_FAST},
	    .queues = {.count = s->queues.count},
	};
}

static struct wire_shape as_lab_has_it(const struct compile *c, const struct wire_shape *s)
{
	return c->o->unshaped || !wire_shape_any(s) ? none(c, s) : *s;
}

struct wire_shape compile_shape(const struct compile *c, const struct cloud_shape *cloud,
				enum impair_engine engine)
{
	struct wire_shape s = declared(c, cloud);

	/* Impairments are of frames, unless somebody asks for speed; the relay takes nothing else.
	 */
	if (engine == IMPAIR_RELAY ||
	    (engine == IMPAIR_NETEM && cloud->rate.rate.mode != SHAPE_FAST))
		s.rate.mode = SHAPE_EXACT;
	return as_lab_has_it(c, &s);
}

struct wire_shape compile_shape_caps(const struct compile *c, const struct cloud_caps *caps)
{
	struct wire_shape s = declared_caps(c, caps);

	return as_lab_has_it(c, &s);
}

/* Is opportunity `i` of `n` one of the share that is left? The last always is: it ends the period.
 */
static bool is_left(const struct compile *c, size_t i, size_t n)
{
	__int128 num = c->t->scale_num, den = c->t->scale_den;
	__int128 to_end = (__int128)(n - 1 - i);

	return !to_end || to_end * num / den > (to_end - 1) * num / den;
}

/* A delivery trace is a rate too: that many of its opportunities are left, evenly. */
static void scale_trace(const struct compile *c, struct wire_impair *i)
{
	int64_t *ms = arena_alloc(&c->w->arena, i->trace_n * sizeof(*ms));
	size_t n = 0;

	for (size_t k = 0; k < i->trace_n; k++) {
		if (is_left(c, k, i->trace_n))
			ms[n++] = i->trace_ms[k];
	}
	i->trace_ms = ms;
	i->trace_n = n;
}

struct wire_impair compile_shape_impair(const struct compile *c, const struct cloud_impair *impair)
{
	struct wire_impair i = impair->impair;

	if (c->o->unshaped || !i.given)
		return (struct wire_impair){0};
	if (i.trace_n)
		scale_trace(c, &i);
	i.trace_file = i.trace_file ? arena_strdup(&c->w->arena, i.trace_file) : NULL;
	return i;
}

/* ---- who impairs ---- */

/* Delay, jitter, random loss, bursts, duplication and corruption mean the same to both. */
static bool netem_can(const struct wire_impair *i)
{
	return i->loss != LOSS_EVERY && i->loss != LOSS_AFTER && !i->reordering_ppm &&
	       !i->flap_down_ns && !i->black_hole && !i->trace_n;
}

static enum impair_engine engine_by_hand(struct compile *c, const struct cloud_link *l, bool can)
{
	if (l->via == VIA_RELAY)
		return IMPAIR_RELAY;
	if (!can)
		problems_add(c->p, l->via_at,
			     "netem cannot do all that this link declares (exact loss, reordering "
			     "by ratio, flaps, black holes and traces are the relay's); leave "
			     "'via' out");
	else if (!c->o->machine.netem)
		problems_add(c->p, l->via_at,
			     "this kernel has no netem; leave 'via' out and the relay does it");
	return IMPAIR_NETEM;
}

enum impair_engine compile_shape_engine(struct compile *c, const struct cloud_link *l,
					const struct wire_impair impair[2])
{
	bool can = netem_can(&impair[0]) && netem_can(&impair[1]);

	if (!impair[0].given && !impair[1].given)
		return IMPAIR_NONE;
	if (l && l->via != VIA_AUTO)
		return engine_by_hand(c, l, can);
	if (can && !c->o->machine.netem)
		compile_dev_choice(c, "impairments", "the relay; netem not in this kernel");
	return can && c->o->machine.netem ? IMPAIR_NETEM : IMPAIR_RELAY;
}

/* ---- the whole lab ---- */

static void see(struct compile *c, const struct wire_shape *s, bool *any)
{
	if (!wire_shape_any(s))
		return;
	*any = true;
	if (s->rate.mode == SHAPE_EXACT)
		c->exact = true;
}

static void see_shape(struct compile *c, const struct cloud_shape *cloud, bool *any)
{
	struct wire_shape s = declared(c, cloud);

	see(c, &s, any);
}

/* What happens to packets happens to frames of the wire, unless somebody asks for speed. */
static void see_impair(struct compile *c, const struct cloud_impair *i,
		       const struct cloud_shape *shape, bool *any)
{
	if (!i->impair.given)
		return;
	*any = true;
	if (shape->rate.rate.mode != SHAPE_FAST)
		c->exact = true;
}

/*
 * One exact link makes the lab's frames single everywhere, since a frame does not know what links
 * it will meet. An unshaped lab has single frames where its shaped twin has them, so that the two
 * compare; it has no taps, since nothing behind them queues.
 */
void compile_shape_modes(struct compile *c)
{
	const struct topology *t = c->t;
	bool any = false;

	for (size_t i = 0; t->hosts.n > 1 && i < t->hosts.n; i++) {
		see_shape(c, &t->hosts.v[i].nic, &any);
		see_impair(c, &t->fabric.impair, &t->hosts.v[i].nic, &any);
	}
	VEC_FOREACH (vm, &t->vms) {
		VEC_FOREACH (v, &vm->vnics) {
			struct wire_shape s = declared_caps(c, &v->caps);

			see(c, &s, &any);
		}
	}
	VEC_FOREACH (l, &t->links) {
		for (int i = 0; i < 2; i++) {
			see_shape(c, &l->dir[i], &any);
			see_impair(c, &l->impair[i], &l->dir[i], &any);
		}
	}
	c->shaped = any && !c->o->unshaped;
}
