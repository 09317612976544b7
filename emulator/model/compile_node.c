/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compile_node: the wire level of a topology: `nodes` and `links` as they are written. Called by
 * compile.c; what is between the ends of a link is compile_link.c's.
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

static void add_link(struct compile *c, size_t index, const int *nodes, const int *bridges)
{
	const struct cloud_link *l = &c->t->links.v[index];
	struct compile_link link = {
	    .name = link_name(c, l),
	    .path = arena_printf(&c->w->arena, "links.%zu", index),
	};

	for (int i = 0; i < 2; i++) {
		int n = l->end[i].node.index;
		const struct cloud_node *node = &c->t->nodes.v[n];

		link.end[i] = (struct compile_dev){
		    .node = nodes[n],
		    .want = l->end[i].ifname,
		    .role = bridges[n] >= 0 ? ROLE_PORT : ROLE_OTHER,
		    .mtu = l->mtu.v ? l->mtu.v : CLOUD_MTU,
		    .big_tcp = l->big_tcp.v,
		    .master = bridges[n],
		};
		link.label[i] = arena_printf(&c->scratch, "%s-%s", node->name, l->end[i].ifname);
		link.forwards[i] = node->kind != NODE_MACHINE;
		link.impair[i] = compile_shape_impair(c, &l->impair[i]);
	}
	link.engine = compile_shape_engine(c, l, link.impair);
	for (int i = 0; i < 2; i++)
		link.shape[i] = compile_shape(c, &l->dir[i], link.engine);
	compile_link(c, &link);
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
	for (size_t i = 0; i < c->t->links.n; i++)
		add_link(c, i, nodes, bridges);
	for (size_t i = 0; i < n; i++) {
		const struct cloud_node *node = &c->t->nodes.v[i];

		if (bridges[i] >= 0)
			set_bridge_mtu(c, bridges[i]);
		add_config(c, node, nodes[i]);
		if (node->kind == NODE_MACHINE)
			add_endpoint(c, node, nodes[i]);
	}
}
