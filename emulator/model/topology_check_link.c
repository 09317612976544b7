/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * topology_check_link: the wire level of a topology: which interfaces its nodes have by its links,
 * and whether addresses and routes fit them. Called by topology_check.c.
 */
#include <netinet/in.h>
#include <stdio.h>

#include "core/base/keyset.h"
#include "emulator/model/parse.h"

struct check {
	struct topology *t;
	struct problems *p;
	struct keyset ends; /* scope: node; key: interface */
};

static int find_node(const struct topology *t, const char *name)
{
	for (size_t i = 0; i < t->nodes.n; i++) {
		if (str_eq(t->nodes.v[i].name, name))
			return (int)i;
	}
	return -1;
}

static const char *cloud_kind(const struct topology *t, const char *name)
{
	VEC_FOREACH (h, &t->hosts) {
		if (str_eq(h->name, name))
			return "host";
	}
	VEC_FOREACH (vm, &t->vms) {
		if (str_eq(vm->name, name))
			return "vm";
	}
	VEC_FOREACH (r, &t->routers) {
		if (str_eq(r->name, name))
			return "router";
	}
	return NULL;
}

static void unknown_node(struct check *c, const struct cloud_end *end)
{
	const char *kind = cloud_kind(c->t, end->node.name);
	VEC(const char *) names = {0};
	const char *near;

	if (kind) {
		problems_add(c->p, end->node.at,
			     "endpoint '%s:%s': '%s' is a %s; links connect "
			     "'nodes'",
			     end->node.name, end->ifname, end->node.name, kind);
		return;
	}
	VEC_FOREACH (n, &c->t->nodes)
		*VEC_ADD(&c->t->arena, &names) = n->name;
	near = str_suggest(end->node.name, names.v, names.n);
	problems_add(c->p, end->node.at, "endpoint '%s:%s': node '%s' does not exist%s%s%s",
		     end->node.name, end->ifname, end->node.name, near ? "; did you mean '" : "",
		     near ? near : "", near ? "'?" : "");
}

static void check_end(struct check *c, struct cloud_end *end)
{
	struct cloud_node *node;

	end->node.index = find_node(c->t, end->node.name);
	if (end->node.index < 0) {
		unknown_node(c, end);
		return;
	}
	node = &c->t->nodes.v[end->node.index];
	if (node->kind == NODE_SWITCH && str_eq(end->ifname, "br0"))
		problems_add(c->p, end->node.at, "'br0' is the bridge of switch '%s' itself",
			     node->name);
	if (!keyset_add_text(&c->ends, end->node.index, end->ifname, 0)) {
		problems_add(c->p, end->node.at, "endpoint '%s:%s' is in a link already",
			     end->node.name, end->ifname);
		return;
	}
	*VEC_ADD(&c->t->arena, &node->ifnames) = end->ifname;
	if (node->kind == NODE_SWITCH && node->ifnames.n == CLOUD_BRIDGE_MAX + 1)
		problems_add(c->p, end->node.at,
			     "switch '%s' has more than %d ports, which is what "
			     "a Linux bridge takes",
			     node->name, CLOUD_BRIDGE_MAX);
}

/* ---- addresses ---- */

static void check_ifname(struct check *c, struct cloud_node *node, struct cloud_ifaddr *a)
{
	const char *near;

	if (!a->ifname) {
		if (node->ifnames.n == 1)
			a->ifname = node->ifnames.v[0];
		else
			problems_add(c->p, a->at,
				     "node '%s' has %zu interfaces; say which one has "
				     "the address, like {eth1: 10.0.1.1/24}",
				     node->name, node->ifnames.n);
		return;
	}
	for (size_t i = 0; i < node->ifnames.n; i++) {
		if (str_eq(node->ifnames.v[i], a->ifname))
			return;
	}
	near = str_suggest(a->ifname, node->ifnames.v, node->ifnames.n);
	problems_add(c->p, a->at, "no link gives node '%s' an interface '%s'%s%s%s", node->name,
		     a->ifname, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
	a->ifname = NULL;
}

static void check_addresses(struct check *c, struct cloud_node *node)
{
	for (size_t i = 0; i < node->addresses.n; i++) {
		struct cloud_ifaddr *a = &node->addresses.v[i];
		char text[ADDR_TEXT];

		check_ifname(c, node, a);
		for (size_t k = 0; k < i; k++) {
			const struct cloud_ifaddr *b = &node->addresses.v[k];

			/* Each device has a network of link-local addresses of its own. */
			if (ip_is_link_local(&a->prefix.ip) && a->ifname && b->ifname &&
			    !str_eq(a->ifname, b->ifname))
				continue;
			if (ip_equal(&a->prefix.ip, &b->prefix.ip))
				problems_add(c->p, a->at, "node '%s' has the address %s twice",
					     node->name, ip_format(text, &a->prefix.ip));
			else if (prefix_overlaps(&a->prefix, &b->prefix) && a->ifname &&
				 !(str_eq(a->ifname, b->ifname) && a->prefix.len == b->prefix.len))
				problems_add(c->p, a->at,
					     "node '%s': %s overlaps with another of "
					     "its networks",
					     node->name, prefix_format(text, &a->prefix));
		}
	}
}

/* ---- routes ---- */

static bool has_ifname(const struct cloud_node *node, const char *ifname)
{
	for (size_t i = 0; i < node->ifnames.n; i++) {
		if (str_eq(node->ifnames.v[i], ifname))
			return true;
	}
	return false;
}

/*
 * The interface (`r->dev`, where that is given) on whose network the gateway of route `i` is: by an
 * address or by an earlier route without a gateway, as the kernel wants it; or NULL.
 */
static const char *ifname_towards(const struct cloud_node *node, size_t i)
{
	const struct cloud_route *r = &node->routes.v[i];

	VEC_FOREACH (a, &node->addresses) {
		if (a->ifname && (!r->dev || str_eq(a->ifname, r->dev)) &&
		    prefix_contains(&a->prefix, &r->via))
			return a->ifname;
	}
	for (size_t k = 0; k < i; k++) {
		const struct cloud_route *on_link = &node->routes.v[k];

		if (!on_link->via.family && (!r->dev || str_eq(on_link->dev, r->dev)) &&
		    prefix_contains(&on_link->dst, &r->via))
			return on_link->dev;
	}
	return NULL;
}

static void check_gateway(struct check *c, struct cloud_node *node, size_t i)
{
	struct cloud_route *r = &node->routes.v[i];
	const char *ifname = ifname_towards(node, i);
	char text[ADDR_TEXT];

	ip_format(text, &r->via);
	if (ifname)
		r->dev = ifname;
	else if (r->dev)
		problems_add(c->p, r->at,
			     "node '%s' does not reach %s by '%s': that has no address in its "
			     "network",
			     node->name, text, r->dev);
	else
		problems_add(c->p, r->at, "node '%s' has no interface that reaches %s", node->name,
			     text);
}

static void check_route(struct check *c, struct cloud_node *node, size_t i)
{
	struct cloud_route *r = &node->routes.v[i];

	/* Such a node has IPv6 switched off (compile_dev_ipv6()). */
	if (r->dst.ip.family == AF_INET6 && !cloud_node_has_ipv6(node)) {
		problems_add(c->p, r->at, "node '%s' has no IPv6 address, so no IPv6 routes",
			     node->name);
		return;
	}
	for (size_t k = 0; k < i; k++) {
		if (prefix_same_network(&node->routes.v[k].dst, &r->dst))
			problems_add(c->p, r->at, "node '%s' has two routes to the same network",
				     node->name);
	}
	if (r->dev && !has_ifname(node, r->dev))
		problems_add(c->p, r->at, "no link gives node '%s' an interface '%s'", node->name,
			     r->dev);
	VEC_FOREACH (a, &node->addresses) {
		if (prefix_same_network(&a->prefix, &r->dst))
			problems_add(c->p, r->at, "node '%s' is on that network itself",
				     node->name);
	}
	if (r->via.family && (!r->dev || has_ifname(node, r->dev)))
		check_gateway(c, node, i);
}

/* ---- links ---- */

static void check_mtu(struct check *c, const struct cloud_link *l, const struct cloud_end *end)
{
	VEC_FOREACH (a, &c->t->nodes.v[end->node.index].addresses) {
		if (a->prefix.ip.family == AF_INET6 && a->ifname &&
		    str_eq(a->ifname, end->ifname) && l->mtu.v && l->mtu.v < 1280)
			problems_add(c->p, l->mtu.at,
				     "IPv6 needs an MTU of at least 1280, this is %d", l->mtu.v);
	}
}

static void check_both_ends(struct check *c, const struct cloud_link *l)
{
	const struct cloud_node *a = &c->t->nodes.v[l->end[0].node.index];
	const struct cloud_node *b = &c->t->nodes.v[l->end[1].node.index];

	VEC_FOREACH (x, &a->addresses) {
		char text[ADDR_TEXT];

		if (!x->ifname || !str_eq(x->ifname, l->end[0].ifname))
			continue;
		VEC_FOREACH (y, &b->addresses) {
			if (a != b && y->ifname && str_eq(y->ifname, l->end[1].ifname) &&
			    ip_equal(&x->prefix.ip, &y->prefix.ip))
				problems_add(c->p, y->at, "both ends of a link have the address %s",
					     ip_format(text, &y->prefix.ip));
		}
	}
}

void topology_check_links(struct topology *t, struct problems *p)
{
	struct check c = {.t = t, .p = p};

	keyset_init(&c.ends);
	VEC_FOREACH (l, &t->links) {
		check_end(&c, &l->end[0]);
		check_end(&c, &l->end[1]);
	}
	VEC_FOREACH (node, &t->nodes) {
		check_addresses(&c, node);
		for (size_t i = 0; i < node->routes.n; i++)
			check_route(&c, node, i);
	}
	VEC_FOREACH (l, &t->links) {
		if (l->end[0].node.index >= 0 && l->end[1].node.index >= 0)
			check_both_ends(&c, l);
		for (int i = 0; i < 2; i++) {
			if (l->end[i].node.index >= 0)
				check_mtu(&c, l, &l->end[i]);
		}
	}
	keyset_done(&c.ends);
}
