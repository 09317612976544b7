/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compile_node: the wire level of a topology: `nodes` and `links` as they are written. Called by
 * compile.c.
 *
 * A machine is bare metal: its card pushes back on its senders. Shaping on its own device would let
 * super-packets into the shaper, though, so a shaped link of a machine goes through a middle, in a
 * namespace of its own, where each frame is forwarded (not cloned: the push-back stays) and queued
 * after the machine's device has cut it out:
 *
 *   a:eth1 ── middle of a  ⇉ fwd ⇉  middle of b ── b:eth1
 *
 * Routers and switches forward what others sent and shape on their own egress.
 */
#include <netinet/in.h>

#include "emulator/model/compile.h"

static void add_sysctls(struct compile *c, const struct cloud_node *node, int index)
{
	bool forwards = node->kind == NODE_ROUTER;

	if (node->kind == NODE_SWITCH) {
		compile_dev_sysctl(c, index, "net/bridge/bridge-nf-call-iptables", "0");
		compile_dev_sysctl(c, index, "net/bridge/bridge-nf-call-ip6tables", "0");
		compile_dev_sysctl(c, index, "net/bridge/bridge-nf-call-arptables", "0");
	} else {
		compile_dev_sysctl(c, index, "net/ipv4/ip_forward", forwards ? "1" : "0");
		compile_dev_rp_filter_off(c, index);
	}
	compile_dev_ipv6(c, index, cloud_node_has_ipv6(node), forwards);
	VEC_FOREACH (s, &node->sysctls)
		compile_dev_sysctl(c, index, s->key, s->value);
}

static int add_node(struct compile *c, const struct cloud_node *node, int *bridge)
{
	int index = compile_dev_node(c, node->name, node->kind, -1);

	add_sysctls(c, node, index);
	*bridge = -1;
	if (node->kind == NODE_SWITCH)
		*bridge = compile_dev_new(c, &(struct compile_dev){.node = index,
								   .want = "br0",
								   .kind = DEV_BRIDGE,
								   .role = ROLE_BRIDGE,
								   .mtu = CLOUD_MTU,
								   .master = -1});
	return index;
}

/* ---- links ---- */

struct ends { /* of one link */
	const struct cloud_link *cloud;
	const struct cloud_node *node[2];
	struct compile_dev spec[2];
	int dev[2];
};

struct pair { /* of nodes that a link joins, whichever end is which */
	int less, more;
};

static struct pair pair_of(const struct cloud_link *l)
{
	int a = l->end[0].node.index, b = l->end[1].node.index;

	return a < b ? (struct pair){a, b} : (struct pair){b, a};
}

static void note_pairs(struct compile *c)
{
	VEC_FOREACH (l, &c->t->links) {
		struct pair pair = pair_of(l);

		if (!keyset_add(&c->joined, 0, &pair, sizeof(pair), 0))
			keyset_add(&c->joined, 1, &pair, sizeof(pair), 0);
	}
}

/* "r-b", and with interfaces where that could be two links: what users type must be one. */
static const char *link_name(struct compile *c, const struct cloud_link *l)
{
	struct pair pair = pair_of(l);
	const char *name =
	    arena_printf(&c->w->arena, "%s-%s", l->end[0].node.name, l->end[1].node.name);

	/* "a-b" to "c" and "a" to "b-c" would be called alike. */
	if (keyset_find(&c->joined, 1, &pair, sizeof(pair)) < 0 &&
	    keyset_add_text(&c->joined, 2, name, 0))
		return name;
	return arena_printf(&c->w->arena, "%s:%s-%s:%s", l->end[0].node.name, l->end[0].ifname,
			    l->end[1].node.name, l->end[1].ifname);
}

static int add_middle_end(struct compile *c, struct ends *e, int i)
{
	struct compile_dev middle = {
	    .node = c->wires,
	    .want = arena_printf(&c->scratch, "%s-%s", e->node[i]->name, e->cloud->end[i].ifname),
	    .role = ROLE_MIDDLE,
	    .mtu = e->spec[i].mtu,
	    .master = -1,
	};

	e->dev[i] = compile_dev_veth(c, &e->spec[i], &middle);
	return e->dev[i] + 1;
}

static void add_fwd(struct compile *c, int from, int to)
{
	struct compile_chain table = {c->wires, "netdev", "wires"};
	const char *name = c->w->devs.v[from].name;
	int chain = compile_dev_chain(
	    c, &table, arena_printf(&c->scratch, "from-%s", name),
	    arena_printf(&c->w->arena,
			 "type filter hook ingress device \"%s\" priority 0; policy accept;",
			 name));

	compile_dev_rule(c, chain, NULL, "fwd to \"%s\"", c->w->devs.v[to].name);
}

/* The two devices of the middle: the one towards end 0, the one towards end 1. */
static void add_middle(struct compile *c, struct ends *e, int middle[2])
{
	if (c->wires < 0) {
		c->wires = compile_dev_node(c, "wires", NODE_WIRES, -1);
		compile_dev_ipv6(c, c->wires, false, false);
	}
	for (int i = 0; i < 2; i++)
		middle[i] = add_middle_end(c, e, i);
	add_fwd(c, middle[0], middle[1]);
	add_fwd(c, middle[1], middle[0]);
}

static bool needs_middle(const struct ends *e, const struct wire_rate rate[2])
{
	for (int i = 0; i < 2; i++) {
		if (rate[i].bps && e->node[i]->kind == NODE_MACHINE)
			return true;
	}
	return false;
}

static void add_link(struct compile *c, const struct cloud_link *l, const int *nodes,
		     const int *bridges)
{
	struct ends e = {.cloud = l};
	struct wire_rate rate[2];
	int middle[2] = {-1, -1}, link;

	for (int i = 0; i < 2; i++) {
		int n = l->end[i].node.index;

		e.node[i] = &c->t->nodes.v[n];
		e.spec[i] = (struct compile_dev){
		    .node = nodes[n],
		    .want = l->end[i].ifname,
		    .role = bridges[n] >= 0 ? ROLE_PORT : ROLE_OTHER,
		    .mtu = l->mtu.v ? l->mtu.v : CLOUD_MTU,
		    .master = bridges[n],
		};
		rate[i] = compile_dev_rate(c, &l->dir[i].rate);
	}
	if (needs_middle(&e, rate)) {
		add_middle(c, &e, middle);
	} else {
		e.dev[0] = compile_dev_veth(c, &e.spec[0], &e.spec[1]);
		e.dev[1] = e.dev[0] + 1;
	}
	link = compile_dev_link(c, link_name(c, l), e.dev[0], e.dev[1]);
	c->w->links.v[link].ab.rate = rate[0];
	c->w->links.v[link].ba.rate = rate[1];
	for (int i = 0; i < 2; i++) {
		/* What end i sends leaves the middle by the device towards the other end. */
		bool own = e.node[i]->kind != NODE_MACHINE;

		compile_dev_shape(c, own ? e.dev[i] : middle[!i], link, i);
	}
}

/* ---- addresses, routes, endpoints ---- */

/* The least MTU of its ports is what a switch can carry; its bridge says so. */
static void set_bridge_mtu(struct compile *c, int bridge)
{
	int least = 0;

	VEC_FOREACH (d, &c->w->devs) {
		if (d->master == bridge && (!least || d->mtu < least))
			least = d->mtu;
	}
	if (least)
		c->w->devs.v[bridge].mtu = least;
}

static void add_config(struct compile *c, const struct cloud_node *node, int index)
{
	VEC_FOREACH (a, &node->addresses) {
		int dev = wire_find_dev(c->w, index, a->ifname);

		compile_dev_addr(c, dev, &a->prefix.ip, a->prefix.len);
	}
	VEC_FOREACH (r, &node->routes) {
		int dev = wire_find_dev(c->w, index, r->dev);

		compile_dev_route(c, dev, &r->dst, &r->via);
	}
}

static void add_endpoint(struct compile *c, const struct cloud_node *node, int index)
{
	int i = compile_dev_endpoint(c, c->w->nodes.v[index].name, index);
	struct wire_endpoint *e = &c->w->endpoints.v[i];

	VEC_FOREACH (a, &node->addresses) {
		struct ip *ip = cloud_family(&a->prefix.ip) == CLOUD_V6 ? &e->ip6 : &e->ip4;

		if (!ip->family)
			*ip = a->prefix.ip;
	}
}

void compile_node_all(struct compile *c)
{
	size_t n = c->t->nodes.n;
	int *nodes = arena_alloc(&c->scratch, (n + 1) * sizeof(*nodes));
	int *bridges = arena_alloc(&c->scratch, (n + 1) * sizeof(*bridges));

	for (size_t i = 0; i < n; i++)
		nodes[i] = add_node(c, &c->t->nodes.v[i], &bridges[i]);
	note_pairs(c);
	VEC_FOREACH (l, &c->t->links)
		add_link(c, l, nodes, bridges);
	for (size_t i = 0; i < n; i++) {
		const struct cloud_node *node = &c->t->nodes.v[i];

		if (bridges[i] >= 0)
			set_bridge_mtu(c, bridges[i]);
		add_config(c, node, nodes[i]);
		if (node->kind == NODE_MACHINE)
			add_endpoint(c, node, nodes[i]);
	}
}
