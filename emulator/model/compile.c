/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compile: a checked topology as the wire model. Here: what concerns the whole lab, and the order
 * of the parts (compile.h tells who does what). Called by cli, lab and harness as
 * topology_compile().
 *
 * Checksum offload towards userspace OVS datapaths is not decided here: emulator/plan knows the
 * datapath and switches it off.
 */
#include <netinet/in.h>

#include "emulator/model/compile.h"

#define FIRST_VNI 100 /* of overlays that say none */

/* ---- offloads ---- */

static unsigned offloads_off(const struct compile *c, const struct wire_dev *d)
{
	switch (c->w->nodes.v[d->node].kind) {
	case NODE_MACHINE:
	case NODE_VM:
	case NODE_ROUTER:
	case NODE_EIP:
		return OFFLOAD_TSO | OFFLOAD_GSO | OFFLOAD_GRO | OFFLOAD_UDP_SEG;
	case NODE_HOST:
	case NODE_SWITCH:
	case NODE_WIRES:
		break;
	}
	/* A VXLAN device would join what it has unpacked. */
	return OFFLOAD_GRO;
}

static void set_offloads(struct compile *c)
{
	VEC_FOREACH (d, &c->w->devs) {
		if (c->exact && d->kind != DEV_BRIDGE)
			d->offloads_off = offloads_off(c, d);
	}
	compile_link_offloads(c);
}

/* ---- layer 2s ---- */

static int find_l2(struct compile *c, const char *name)
{
	for (size_t i = 0; i < c->l2s.n; i++) {
		if (str_eq(c->l2s.v[i].name, name))
			return (int)i;
	}
	*VEC_ADD(&c->scratch, &c->l2s) = (struct compile_l2){.name = name};
	return (int)c->l2s.n - 1;
}

static void find_l2s(struct compile *c)
{
	const struct topology *t = c->t;

	find_l2(c, ""); /* the shared one is the first, even when only the hosts are on it */
	for (size_t i = 0; i < t->networks.n; i++) {
		const char *name = cloud_network_l2(&t->networks.v[i]);
		struct compile_l2 *l2;

		c->nets[i].l2 = name ? find_l2(c, name) : -1;
		if (!name)
			continue;
		l2 = &c->l2s.v[c->nets[i].l2];
		if (!l2->bridge)
			l2->bridge = arena_printf(&c->scratch, "br-%s", t->networks.v[i].name);
		l2->vlan = t->networks.v[i].vlan.v;
	}
	if (!c->l2s.v[0].bridge)
		c->l2s.v[0].bridge = "br-fabric";
}

static bool is_free_vni(const struct topology *t, const struct compile *c, int vni)
{
	for (size_t i = 0; i < t->networks.n; i++) {
		if (t->networks.v[i].vni.v == vni || c->nets[i].vni == vni)
			return false;
	}
	return true;
}

static void init_networks(struct compile *c)
{
	const struct topology *t = c->t;
	int next = FIRST_VNI;

	c->nets = arena_alloc(&c->scratch, (t->networks.n + 1) * sizeof(*c->nets));
	for (size_t i = 0; i < t->networks.n; i++) {
		const struct cloud_network *n = &t->networks.v[i];

		c->nets[i].mtu = cloud_network_mtu(t, n);
		if (n->type != NETWORK_VPC)
			continue;
		while (!n->vni.v && !is_free_vni(t, c, next))
			next++;
		c->nets[i].vni = n->vni.v ? n->vni.v : next;
	}
	find_l2s(c);
}

/* ---- who needs which bridge ---- */

static void need(struct compile *c, int host, int network)
{
	int l2 = c->nets[network].l2;

	if (l2 >= 0)
		c->hosts[host].need_l2[l2] = true;
	else
		c->hosts[host].need_net[network] = true;
}

static void init_hosts(struct compile *c)
{
	size_t n_nets = c->t->networks.n;

	c->hosts = arena_alloc(&c->scratch, (c->t->hosts.n + 1) * sizeof(*c->hosts));
	for (size_t h = 0; h < c->t->hosts.n; h++) {
		struct compile_host *host = &c->hosts[h];

		host->need_l2 = arena_alloc(&c->scratch, c->l2s.n * sizeof(bool));
		host->l2_bridge = arena_alloc(&c->scratch, c->l2s.n * sizeof(int));
		host->need_net = arena_alloc(&c->scratch, (n_nets + 1) * sizeof(bool));
		host->net_bridge = arena_alloc(&c->scratch, (n_nets + 1) * sizeof(int));
		for (size_t i = 0; i < c->l2s.n; i++)
			host->l2_bridge[i] = -1;
		for (size_t i = 0; i < n_nets; i++)
			host->net_bridge[i] = -1;
		/* The fabric is the shared layer 2, and every host is on it. */
		host->need_l2[0] = c->t->hosts.n > 1;
	}
	VEC_FOREACH (r, &c->t->routers) {
		VEC_FOREACH (ref, &r->networks)
			need(c, r->host.index, ref->index);
	}
	VEC_FOREACH (vm, &c->t->vms) {
		VEC_FOREACH (v, &vm->vnics)
			need(c, vm->host.index, v->network.index);
	}
	VEC_FOREACH (e, &c->t->eips) {
		const struct cloud_vm *vm = &c->t->vms.v[e->vm.index];

		if (c->nets[vm->vnics.v[0].network.index].l2 >= 0)
			need(c, vm->host.index, e->network);
	}
}

int compile_bridge(const struct compile *c, int host, int network)
{
	int l2 = c->nets[network].l2;

	return l2 >= 0 ? c->hosts[host].l2_bridge[l2] : c->hosts[host].net_bridge[network];
}

/* ---- the hosts' own addresses ---- */

static bool meets_flat_network(const struct topology *t, const struct prefix *p)
{
	VEC_FOREACH (n, &t->networks) {
		const struct prefix *cidr = &n->cidr[CLOUD_V4].prefix;

		if (n->type == NETWORK_FLAT && cidr->ip.family && prefix_overlaps(cidr, p))
			return true;
	}
	return false;
}

/* The first that is large enough and apart from the flat networks, which share its wire. */
static void choose_underlay(struct compile *c)
{
	static const struct {
		uint8_t a, b, c, len;
	} choices[] = {
	    {172, 31, 255, 24}, {192, 168, 255, 24}, {198, 18, 255, 24},
	    {172, 31, 240, 20}, {192, 168, 240, 20}, {198, 18, 240, 20},
	};
	size_t i = c->t->hosts.n <= 254 ? 0 : 3;

	c->underlay = c->t->fabric.cidr.prefix;
	if (c->underlay.ip.family)
		return;
	for (; i < ARRAY_SIZE(choices); i++) {
		c->underlay = (struct prefix){
		    .ip = {.family = AF_INET, .bytes = {choices[i].a, choices[i].b, choices[i].c}},
		    .len = choices[i].len,
		};
		if (!meets_flat_network(c->t, &c->underlay))
			return;
	}
	if (c->t->hosts.n > 1)
		problems_add(c->p, c->t->hosts.v[0].at,
			     "the flat networks leave no addresses for the hosts' own; give them "
			     "some with 'cidr' of 'fabric'");
}

/* ---- limits ---- */

/* The hosts' bridges and the fabric's; those of `kind: switch` were checked with their links. */
static void check_ports(struct compile *c)
{
	int *ports = arena_alloc(&c->scratch, (c->w->devs.n + 1) * sizeof(*ports));

	VEC_FOREACH (d, &c->w->devs) {
		if (d->master < 0 || ++ports[d->master] != CLOUD_BRIDGE_MAX + 1 ||
		    c->w->nodes.v[d->node].engine != ENGINE_LINUX)
			continue;
		VEC_FOREACH (h, &c->t->hosts) {
			if (d->node == c->fabric || str_eq(h->name, c->w->nodes.v[d->node].name)) {
				problems_add(c->p, h->at,
					     "bridge '%s' of '%s' would have more than "
					     "%d ports, which is what Linux takes",
					     c->w->devs.v[d->master].name,
					     c->w->nodes.v[d->node].name, CLOUD_BRIDGE_MAX);
				break;
			}
		}
	}
}

/* ---- all of it ---- */

static void compile_init(struct compile *c)
{
	c->fabric = c->wires = -1;
	arena_init(&c->scratch);
	keyset_init(&c->ifnames);
	keyset_init(&c->taken);
	keyset_init(&c->nodes);
	keyset_init(&c->joined);
	compile_shape_modes(c);
	init_networks(c);
	init_hosts(c);
	choose_underlay(c);
	c->vms = arena_alloc(&c->scratch, ((size_t)c->t->n_vms + 1) * sizeof(*c->vms));
}

static void compile_done(struct compile *c)
{
	keyset_done(&c->ifnames);
	keyset_done(&c->taken);
	keyset_done(&c->nodes);
	keyset_done(&c->joined);
	arena_done(&c->scratch);
}

void topology_compile(const struct topology *t, const struct compile_options *o, struct wire *w,
		      struct problems *p)
{
	struct compile c = {.t = t, .o = o, .w = w, .p = p};

	wire_init(w);
	if (!t->sound)
		return;
	w->name = arena_strdup(&w->arena, t->name.s);
	w->description = arena_strdup(&w->arena, t->description);
	w->scale_num = t->scale_num;
	w->scale_den = t->scale_den;
	compile_init(&c);
	compile_addr_reserve(&c);
	compile_host_all(&c);
	compile_router_all(&c);
	compile_vm_all(&c);
	compile_router_rules(&c);
	compile_node_all(&c);
	compile_eip_all(&c);
	compile_fence_all(&c);
	set_offloads(&c);
	check_ports(&c);
	compile_done(&c);
}
