/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * topology_check_addr: the addresses that a topology file gives: inside their network, not taken
 * twice, networks that overlap. It chooses none (compile_addr.c does). Called by topology_check.c.
 */
#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include "core/base/keyset.h"
#include "emulator/model/parse.h"

struct check {
	const struct topology *t;
	struct problems *p;
	struct keyset taken; /* scope: network; key: struct ip */
};

static const struct prefix *cidr_of(const struct topology *t, int network, int family)
{
	return &t->networks.v[network].cidr[family].prefix;
}

/* Problem and false when `ip` cannot be of `who` in that network. */
static bool check_inside(struct check *c, int network, const struct cloud_ip *ip, const char *who)
{
	const struct prefix *cidr = cidr_of(c->t, network, cloud_family(&ip->ip));
	const char *name = c->t->networks.v[network].name;
	char text[ADDR_TEXT], net[ADDR_TEXT];

	ip_format(text, &ip->ip);
	if (!cidr->ip.family) {
		problems_add(c->p, ip->at, "%s: %s, but network '%s' has no %s", who, text, name,
			     cloud_family(&ip->ip) == CLOUD_V6 ? "IPv6" : "IPv4");
		return false;
	}
	if (!prefix_contains(cidr, &ip->ip)) {
		problems_add(c->p, ip->at, "%s: %s is outside network '%s' (%s)", who, text, name,
			     prefix_format(net, cidr));
		return false;
	}
	if (!cloud_is_host_address(cidr, &ip->ip)) {
		problems_add(c->p, ip->at, "%s: %s is not an address of a single host in %s", who,
			     text, prefix_format(net, cidr));
		return false;
	}
	return true;
}

static void take(struct check *c, int network, const struct cloud_ip *ip, const char *who)
{
	char text[ADDR_TEXT];

	if (check_inside(c, network, ip, who) &&
	    !keyset_add(&c->taken, network, &ip->ip, sizeof(ip->ip), 0))
		problems_add(c->p, ip->at, "%s: %s is taken already in network '%s'", who,
			     ip_format(text, &ip->ip), c->t->networks.v[network].name);
}

static void check_gateways(struct check *c)
{
	for (size_t i = 0; i < c->t->networks.n; i++) {
		const struct cloud_network *n = &c->t->networks.v[i];

		for (int f = 0; f < CLOUD_FAMILIES; f++) {
			struct cloud_ip gw = n->gateway[f];

			if (gw.ip.family)
				check_inside(c, (int)i, &gw, "gateway");
			/* In a flat network a VM may play the gateway. */
			if (n->type == NETWORK_VPC && cloud_gateway(n, f, &gw.ip) == 0)
				keyset_add(&c->taken, (int)i, &gw.ip, sizeof(gw.ip), 0);
		}
	}
}

static void check_vms(struct check *c)
{
	VEC_FOREACH (vm, &c->t->vms) {
		autofree char *who = mem_printf("vm '%s'", vm->name);

		VEC_FOREACH (v, &vm->vnics) {
			for (int f = 0; f < CLOUD_FAMILIES; f++) {
				if (v->address[f].ip.family && v->network.index >= 0)
					take(c, v->network.index, &v->address[f], who);
			}
		}
	}
}

static void check_eips(struct check *c)
{
	VEC_FOREACH (e, &c->t->eips) {
		const struct cloud_network *n;
		struct ip gw;

		if (e->network < 0)
			continue;
		n = &c->t->networks.v[e->network];
		if (cloud_gateway(n, CLOUD_V4, &gw) == 0 && ip_equal(&gw, &e->address.ip))
			problems_add(c->p, e->address.at,
				     "EIP: that is the gateway of network '%s'", n->name);
		else
			take(c, e->network, &e->address, "EIP");
	}
}

/* ---- overlaps ---- */

static bool overlap(const struct cloud_network *a, const struct cloud_network *b)
{
	for (int f = 0; f < CLOUD_FAMILIES; f++) {
		if (a->cidr[f].prefix.ip.family && b->cidr[f].prefix.ip.family &&
		    prefix_overlaps(&a->cidr[f].prefix, &b->cidr[f].prefix))
			return true;
	}
	return false;
}

static void check_same_l2(struct check *c)
{
	const struct topology *t = c->t;

	for (size_t i = 0; i < t->networks.n; i++) {
		const struct cloud_network *n = &t->networks.v[i];

		for (size_t k = 0; k < i; k++) {
			const struct cloud_network *m = &t->networks.v[k];

			if (cloud_network_l2(n) && cloud_network_l2(m) &&
			    str_eq(cloud_network_l2(n), cloud_network_l2(m)) && overlap(n, m))
				problems_add(c->p, n->at,
					     "networks '%s' and '%s' overlap and share "
					     "one layer 2",
					     m->name, n->name);
		}
	}
}

/* `who` stands on all these networks, so its routes cannot tell overlapping ones apart. */
static void check_joined(struct check *c, const struct cloud_ref *const *refs, size_t n,
			 const char *who)
{
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < i; k++) {
			const struct cloud_network *a, *b;

			if (refs[i]->index < 0 || refs[k]->index < 0 ||
			    refs[i]->index == refs[k]->index)
				continue;
			a = &c->t->networks.v[refs[k]->index];
			b = &c->t->networks.v[refs[i]->index];
			if (overlap(a, b))
				problems_add(c->p, refs[i]->at,
					     "%s is on networks '%s' and '%s', "
					     "which overlap",
					     who, a->name, b->name);
		}
	}
}

/* The namespace of a flat EIP stands on both networks, a router is checked with its networks. */
static void check_eip_sides(struct check *c, const struct cloud_eip *e)
{
	const struct cloud_vm *vm = e->vm.index < 0 ? NULL : &c->t->vms.v[e->vm.index];
	const struct cloud_network *in, *out;

	if (!vm || e->network < 0 || !vm->vnics.n || vm->vnics.v[0].network.index < 0)
		return;
	in = &c->t->networks.v[vm->vnics.v[0].network.index];
	out = &c->t->networks.v[e->network];
	if (in->type == NETWORK_FLAT && in != out && overlap(in, out))
		problems_add(c->p, e->address.at, "EIP: networks '%s' and '%s' overlap", out->name,
			     in->name);
}

static void check_overlaps(struct check *c)
{
	check_same_l2(c);
	VEC_FOREACH (r, &c->t->routers) {
		autofree char *who = mem_printf("router '%s'", r->name);
		autofree const struct cloud_ref **refs =
		    mem_zalloc((r->networks.n + 1) * sizeof(*refs));

		for (size_t i = 0; i < r->networks.n; i++)
			refs[i] = &r->networks.v[i];
		check_joined(c, refs, r->networks.n, who);
	}
	VEC_FOREACH (e, &c->t->eips)
		check_eip_sides(c, e);
	VEC_FOREACH (vm, &c->t->vms) {
		autofree char *who = mem_printf("vm '%s'", vm->name);
		autofree const struct cloud_ref **refs =
		    mem_zalloc((vm->vnics.n + 1) * sizeof(*refs));

		for (size_t i = 0; i < vm->vnics.n; i++)
			refs[i] = &vm->vnics.v[i].network;
		check_joined(c, refs, vm->vnics.n, who);
	}
}

/* The hosts' own addresses are on the first layer 2, beside the flat networks. */
static void check_fabric(struct check *c)
{
	const struct cloud_cidr *cidr = &c->t->fabric.cidr;
	struct ip last;

	if (!cidr->prefix.ip.family)
		return;
	if (prefix_nth(&cidr->prefix, c->t->hosts.n + 1, &last) == -ERANGE)
		problems_add(c->p, cidr->at, "cidr: too small for %zu hosts", c->t->hosts.n);
	VEC_FOREACH (n, &c->t->networks) {
		const struct prefix *net = &n->cidr[CLOUD_V4].prefix;

		if (n->type == NETWORK_FLAT && net->ip.family &&
		    prefix_overlaps(net, &cidr->prefix))
			problems_add(c->p, cidr->at, "cidr: overlaps with network '%s'", n->name);
	}
}

void topology_check_addresses(struct topology *t, struct problems *p)
{
	struct check c = {.t = t, .p = p};

	keyset_init(&c.taken);
	check_gateways(&c);
	check_vms(&c);
	check_eips(&c);
	check_overlaps(&c);
	check_fabric(&c);
	keyset_done(&c.taken);
}
