/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compile_link: a link between two devices: a plain veth pair, or a way through the namespace
 * `wires` where something is done to its packets. Called by compile_node.c and compile_host.c.
 *
 * A machine is bare metal: its card pushes back on its senders. Shaping on its own device would let
 * super-packets into the shaper, though, so a shaped link of a machine goes through a middle, where
 * each frame is forwarded (not cloned: the push-back stays) and queued after the machine's device
 * has cut it out:
 *
 *   a:eth1 ── middle of a  ⇉ fwd ⇉  middle of b ── b:eth1
 *
 * Routers, switches and hosts forward what others sent and shape on their own egress. A link with
 * an impairment has two spans between its middles, as drawn in wire.h: the rate on the way into
 * the spans, the impairment on the way out. What polices packets is a rule where they come in.
 */
#include "emulator/model/compile.h"

#define TABLE "wires"

struct ends { /* of one link while it is made */
	const struct compile_link *l;
	bool impaired;
	int dev[2], middle[2], span[2];
};

static bool needs_middle(const struct ends *e)
{
	for (int i = 0; i < 2; i++) {
		if (e->l->shape[i].pps.pps && e->l->shape[i].pps.police)
			return true;
		if (wire_shape_any(&e->l->shape[i]) && !e->l->forwards[i])
			return true;
	}
	return e->impaired;
}

static void need_wires(struct compile *c)
{
	if (c->wires >= 0)
		return;
	c->wires = compile_dev_node(c, "wires", NODE_WIRES, -1);
	compile_dev_ipv6(c, c->wires, false, false);
}

static struct compile_dev in_wires(const struct compile *c, const struct ends *e, int i)
{
	return (struct compile_dev){
	    .node = c->wires,
	    .want = e->l->label[i],
	    .role = ROLE_MIDDLE,
	    .mtu = e->l->end[i].mtu,
	    .master = -1,
	};
}

static void add_middle(struct compile *c, struct ends *e, int i)
{
	struct compile_dev middle = in_wires(c, e, i);

	e->dev[i] = compile_dev_veth(c, &e->l->end[i], &middle);
	e->middle[i] = e->dev[i] + 1;
}

static void add_spans(struct compile *c, struct ends *e)
{
	struct compile_dev span[2];

	for (int i = 0; i < 2; i++) {
		span[i] = in_wires(c, e, i);
		span[i].role = ROLE_SPAN;
		span[i].tail = "-span";
	}
	e->span[0] = compile_dev_veth(c, &span[0], &span[1]);
	e->span[1] = e->span[0] + 1;
}

static void add_fwd(struct compile *c, int chain, int to)
{
	compile_dev_rule(c, chain, NULL, "fwd to \"%s\"", c->w->devs.v[to].name);
}

/* What end i sends, from its middle on. */
static void add_rules(struct compile *c, const struct ends *e, int i)
{
	int chain = compile_dev_ingress(c, e->middle[i], TABLE);

	compile_dev_police(c, chain, &e->l->shape[i].pps);
	add_fwd(c, chain, e->impaired ? e->span[i] : e->middle[!i]);
	if (!e->impaired)
		return;
	chain = compile_dev_ingress(c, e->span[!i], TABLE);
	/* The relay's socket has a packet before rules do: nobody else is to see it. */
	if (e->l->engine == IMPAIR_RELAY)
		compile_dev_rule(c, chain, NULL, "drop");
	else
		add_fwd(c, chain, e->middle[!i]);
}

static void add_devs(struct compile *c, struct ends *e)
{
	if (!needs_middle(e)) {
		e->dev[0] = compile_dev_veth(c, &e->l->end[0], &e->l->end[1]);
		e->dev[1] = e->dev[0] + 1;
		return;
	}
	need_wires(c);
	add_middle(c, e, 0);
	add_middle(c, e, 1);
	if (e->impaired)
		add_spans(c, e);
	add_rules(c, e, 0);
	add_rules(c, e, 1);
}

static void add_shapers(struct compile *c, const struct ends *e, int link)
{
	for (int i = 0; i < 2; i++) {
		int dev = e->l->forwards[i] ? e->dev[i] : e->middle[!i];

		compile_dev_shape(c, e->impaired ? e->span[i] : dev, link, i);
	}
}

static void add_netem(struct compile *c, const struct ends *e, int link)
{
	for (int i = 0; i < 2; i++) {
		struct wire_dev *d = &c->w->devs.v[e->middle[!i]];

		d->netem_link = link;
		d->netem_ba = i;
	}
}

int compile_link(struct compile *c, const struct compile_link *l)
{
	struct ends e = {
	    .l = l, .impaired = l->engine != IMPAIR_NONE, .middle = {-1, -1}, .span = {-1, -1}};
	struct wire_link *w;
	int link;

	add_devs(c, &e);
	link = compile_dev_link(c, l->name, e.dev[0], e.dev[1]);
	w = &c->w->links.v[link];
	w->path = l->path;
	w->ab = l->shape[0];
	w->ba = l->shape[1];
	w->impair_ab = l->impair[0];
	w->impair_ba = l->impair[1];
	w->engine = l->engine;
	for (int i = 0; i < 2; i++) {
		w->middle[i] = e.middle[i];
		w->span[i] = e.span[i];
	}
	add_shapers(c, &e, link);
	if (l->engine == IMPAIR_NETEM)
		add_netem(c, &e, link);
	return link;
}

/*
 * Whoever sends into the relay cuts its packets and finishes their checksums, whatever the rest of
 * the lab does; netem takes super-packets too, where all is fast.
 */
void compile_link_offloads(struct compile *c)
{
	static const unsigned cut = OFFLOAD_TSO | OFFLOAD_GSO | OFFLOAD_GRO | OFFLOAD_UDP_SEG;

	VEC_FOREACH (l, &c->w->links) {
		unsigned off = l->engine == IMPAIR_RELAY ? cut | OFFLOAD_TX : cut;

		if (l->engine == IMPAIR_NONE || (l->engine == IMPAIR_NETEM && !c->exact))
			continue;
		c->w->devs.v[l->dev_a].offloads_off |= off;
		c->w->devs.v[l->dev_b].offloads_off |= off;
		for (int i = 0; i < 2; i++) {
			c->w->devs.v[l->span[i]].offloads_off |= off;
			c->w->devs.v[l->middle[i]].offloads_off |= OFFLOAD_GRO;
		}
	}
}
