/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * topology_check: resolves the references of a cloud model and finds what its parts say against
 * each other: names, routers and their networks, EIPs, MTUs. Addresses are topology_check_addr.c's,
 * the wire level topology_check_link.c's, rates and impairments topology_check_shape.c's. Called by
 * topology.c.
 */
#include <netinet/in.h>

#include "core/base/keyset.h"
#include "emulator/model/parse.h"

#define IPV6_MTU_MIN 1280 /* RFC 8200 */

/* ---- references ---- */

struct name_list { /* what a reference may name */
	VEC(const char *) list;
};

struct owner { /* of a node's name */
	const char *what;
	struct mark at;
	int vm, instance; /* vm: -1 for others */
};

struct check {
	struct topology *t;
	struct problems *p;
	struct name_list hosts, networks, routers, vms;
	struct keyset nodes; /* names of namespaces, with their index among the owners */
	VEC(struct owner) owners;
};

#define ADD_NAMES(arena, names, vec)                                                               \
	do {                                                                                       \
		VEC_FOREACH (it_, (vec))                                                           \
			*VEC_ADD((arena), &(names)->list) = it_->name;                             \
	} while (0)

/* Sets ref->index; `sentence` is what stands before the name in a problem. */
static void resolve(struct cloud_ref *ref, const struct name_list *names, const char *sentence,
		    struct problems *p)
{
	const char *near;

	if (!ref->name)
		return;
	for (size_t i = 0; i < names->list.n; i++) {
		if (str_eq(names->list.v[i], ref->name)) {
			ref->index = (int)i;
			return;
		}
	}
	near = str_suggest(ref->name, names->list.v, names->list.n);
	if (near)
		problems_add(p, ref->at, "%s '%s', which does not exist; did you mean '%s'?",
			     sentence, ref->name, near);
	else
		problems_add(p, ref->at, "%s '%s', which does not exist", sentence, ref->name);
}

/* With one host there is nothing to choose. */
static void resolve_host(struct check *c, struct cloud_ref *ref, const char *what, struct mark at)
{
	if (ref->name)
		resolve(ref, &c->hosts, arena_printf(&c->t->arena, "%s is on host", what), c->p);
	else if (c->t->hosts.n == 1)
		ref->index = 0;
	else
		problems_add(c->p, at, "%s needs a host", what);
}

static void resolve_vms(struct check *c)
{
	struct topology *t = c->t;

	VEC_FOREACH (vm, &t->vms) {
		const char *what = arena_printf(&t->arena, "vm '%s'", vm->name);

		resolve_host(c, &vm->host, what, vm->at);
		for (size_t i = 0; i < vm->vnics.n; i++) {
			struct cloud_ref *ref = &vm->vnics.v[i].network;

			resolve(ref, &c->networks,
				arena_printf(&t->arena, "%s is on network", what), c->p);
			for (size_t k = 0; k < i; k++) {
				if (ref->index >= 0 && vm->vnics.v[k].network.index == ref->index)
					problems_add(c->p, ref->at, "%s is on network '%s' twice",
						     what, ref->name);
			}
		}
	}
}

/* A network and its router may name each other; once is enough. */
static void join(struct check *c, int router, int network, struct mark at)
{
	struct topology *t = c->t;
	struct cloud_network *n = &t->networks.v[network];
	struct cloud_router *r = &t->routers.v[router];

	if (n->type == NETWORK_FLAT) {
		if (r->public_net >= 0)
			problems_add(c->p, at,
				     "router '%s' is on two flat networks, '%s' and '%s'; "
				     "it has one public side",
				     r->name, t->networks.v[r->public_net].name, n->name);
		else
			r->public_net = network;
		return;
	}
	if (n->router.index >= 0 && n->router.index != router)
		problems_add(c->p, at, "network '%s' is behind router '%s' and behind '%s'",
			     n->name, t->routers.v[n->router.index].name, r->name);
	else
		n->router = (struct cloud_ref){.name = r->name, .at = at, .index = router};
}

static void resolve_router(struct check *c, int i)
{
	struct topology *t = c->t;
	struct cloud_router *r = &t->routers.v[i];
	const char *what = arena_printf(&t->arena, "router '%s'", r->name);

	resolve_host(c, &r->host, what, r->at);
	for (size_t k = 0; k < r->networks.n; k++) {
		struct cloud_ref *ref = &r->networks.v[k];
		bool twice = false;

		resolve(ref, &c->networks, arena_printf(&t->arena, "%s is on network", what), c->p);
		for (size_t j = 0; j < k; j++)
			twice = twice || (ref->index >= 0 && r->networks.v[j].index == ref->index);
		if (twice)
			problems_add(c->p, ref->at, "%s is on network '%s' twice", what, ref->name);
		else if (ref->index >= 0)
			join(c, i, ref->index, ref->at);
	}
}

static void add_to_router(struct topology *t, int network)
{
	const struct cloud_ref *via = &t->networks.v[network].router;
	struct cloud_router *r = &t->routers.v[via->index];

	VEC_FOREACH (ref, &r->networks) {
		if (ref->index == network)
			return;
	}
	*VEC_ADD(&t->arena, &r->networks) = (struct cloud_ref){
	    .name = t->networks.v[network].name, .at = via->at, .index = network};
}

static void resolve_networks(struct check *c)
{
	struct topology *t = c->t;

	VEC_FOREACH (n, &t->networks) {
		if (n->type == NETWORK_VPC)
			resolve(&n->router, &c->routers,
				arena_printf(&t->arena, "network '%s' is behind router", n->name),
				c->p);
	}
	for (size_t i = 0; i < t->routers.n; i++)
		resolve_router(c, (int)i);
	for (size_t i = 0; i < t->networks.n; i++) {
		struct cloud_network *n = &t->networks.v[i];

		if (n->type == NETWORK_VPC && n->router.index >= 0)
			add_to_router(t, (int)i);
		else if (n->type == NETWORK_VPC && !n->router.name)
			problems_add(c->p, n->at, "network '%s' is a vpc and has no router",
				     n->name);
	}
}

/* ---- names of namespaces ---- */

static void claim(struct check *c, const char *name, const struct owner *who)
{
	const struct owner *first;
	int i = keyset_find_text(&c->nodes, 0, name);

	if (i < 0) {
		*VEC_ADD(&c->t->arena, &c->owners) = *who;
		keyset_add_text(&c->nodes, 0, name, (int)c->owners.n - 1);
		return;
	}
	first = &c->owners.v[i];
	problems_add(c->p, who->at, "%s '%s': a %s has that name already (%d:%d)", who->what, name,
		     first->what, first->at.line, first->at.column);
}

static void claim_vms(struct check *c)
{
	struct topology *t = c->t;

	for (size_t i = 0; i < t->vms.n; i++) {
		struct cloud_vm *vm = &t->vms.v[i];
		struct owner who = {.what = "vm", .at = vm->at, .vm = (int)i};

		vm->first = t->n_vms;
		if (cloud_vm_count(vm) > CLOUD_COUNT_MAX - t->n_vms) {
			problems_add(c->p, vm->at, "more than %d VMs", CLOUD_COUNT_MAX);
			return;
		}
		t->n_vms += cloud_vm_count(vm);
		for (; who.instance < cloud_vm_count(vm); who.instance++)
			claim(c, cloud_vm_name(&t->arena, vm, who.instance), &who);
	}
}

static void claim_names(struct check *c)
{
	VEC_FOREACH (h, &c->t->hosts)
		claim(c, h->name, &(struct owner){"host", h->at, -1, 0});
	VEC_FOREACH (r, &c->t->routers)
		claim(c, r->name, &(struct owner){"router", r->at, -1, 0});
	claim_vms(c);
	VEC_FOREACH (node, &c->t->nodes)
		claim(c, node->name, &(struct owner){"node", node->at, -1, 0});
}

/* ---- EIPs ---- */

static void resolve_eip_vm(struct check *c, struct cloud_eip *e)
{
	int i = keyset_find_text(&c->nodes, 0, e->vm.name);
	char text[ADDR_TEXT];

	if (i >= 0 && c->owners.v[i].vm >= 0) {
		e->vm.index = c->owners.v[i].vm;
		e->instance = c->owners.v[i].instance;
		return;
	}
	resolve(&e->vm, &c->vms,
		arena_printf(&c->t->arena, "EIP %s is of vm", ip_format(text, &e->address.ip)),
		c->p);
	if (e->vm.index >= 0)
		problems_add(c->p, e->vm.at, "vm '%s' has a count; say which one, like '%s-1'",
			     e->vm.name, e->vm.name);
	e->vm.index = -1;
}

/* Which flat networks there are, for whoever has to choose an address in one. */
static void no_eip_network(const struct topology *t, const struct cloud_eip *e, struct problems *p)
{
	char text[ADDR_TEXT], cidr[ADDR_TEXT];

	ip_format(text, &e->address.ip);
	VEC_FOREACH (n, &t->networks) {
		if (n->type != NETWORK_FLAT || !n->cidr[CLOUD_V4].prefix.ip.family)
			continue;
		problems_add(p, e->address.at,
			     "EIP %s is in no flat network; take an address in the cidr of one, "
			     "such as '%s' (%s)",
			     text, n->name, prefix_format(cidr, &n->cidr[CLOUD_V4].prefix));
		return;
	}
	problems_add(p, e->address.at,
		     "EIP %s is in no flat network; add one whose cidr it is in, like "
		     "public: {type: flat, cidr: %s/24}",
		     text, text);
}

static void find_eip_network(struct topology *t, struct cloud_eip *e, struct problems *p)
{

	for (size_t i = 0; i < t->networks.n; i++) {
		const struct cloud_network *n = &t->networks.v[i];
		const struct prefix *cidr = &n->cidr[CLOUD_V4].prefix;

		if (n->type == NETWORK_FLAT && cidr->ip.family &&
		    prefix_contains(cidr, &e->address.ip)) {
			e->network = (int)i;
			return;
		}
	}
	no_eip_network(t, e, p);
}

/* Who translates: a namespace on the VM's host, or the router of its VPC. */
static void check_eip_way(struct topology *t, const struct cloud_eip *e,
			  const struct cloud_network *inside, struct problems *p)
{
	const struct cloud_router *r;
	char text[ADDR_TEXT];

	ip_format(text, &e->address.ip);
	if (!inside->cidr[CLOUD_V4].prefix.ip.family)
		problems_add(p, e->address.at, "EIP %s: network '%s' of its vm has no IPv4", text,
			     inside->name);
	if (inside->type == NETWORK_FLAT) {
		if (inside == &t->networks.v[e->network])
			problems_add(p, e->address.at,
				     "EIP %s is in network '%s', where its vm is "
				     "already",
				     text, inside->name);
		return;
	}
	if (e->form)
		problems_add(p, e->form_at,
			     "EIP %s is translated by a router; only EIPs of flat "
			     "networks have a form",
			     text);
	if (inside->router.index < 0)
		return;
	r = &t->routers.v[inside->router.index];
	if (r->public_net < 0)
		problems_add(p, e->address.at, "EIP %s: router '%s' has no public (flat) network",
			     text, r->name);
	else if (r->public_net != e->network)
		problems_add(p, e->address.at,
			     "EIP %s is in network '%s', but router '%s' is on "
			     "'%s'",
			     text, t->networks.v[e->network].name, r->name,
			     t->networks.v[r->public_net].name);
}

static void check_eips(struct check *c)
{
	struct topology *t = c->t;
	struct keyset seen;

	keyset_init(&seen);
	VEC_FOREACH (e, &t->eips) {
		const struct cloud_vm *vm;
		int first;

		resolve_eip_vm(c, e);
		find_eip_network(t, e, c->p);
		if (e->vm.index < 0)
			continue;
		vm = &t->vms.v[e->vm.index];
		first = vm->vnics.n ? vm->vnics.v[0].network.index : -1;
		if (first >= 0 && e->network >= 0)
			check_eip_way(t, e, &t->networks.v[first], c->p);
		if (!keyset_add(&seen, e->vm.index, &e->instance, sizeof(e->instance), 0))
			problems_add(c->p, e->at, "vm '%s' has an EIP already",
				     cloud_vm_name(&t->arena, vm, e->instance));
	}
	keyset_done(&seen);
}

/* ---- MTUs ---- */

static void check_network_mtu(const struct topology *t, const struct cloud_network *n,
			      struct problems *p)
{
	int room = cloud_fabric_mtu(t) - (n->type == NETWORK_VPC ? CLOUD_VXLAN_BYTES : 0);
	int mtu = cloud_network_mtu(t, n);

	if (n->mtu.v > room)
		problems_add(p, n->mtu.at,
			     "network '%s': an MTU of %d does not fit, the fabric "
			     "leaves %d",
			     n->name, n->mtu.v, room);
	else if (mtu < CLOUD_MTU_MIN)
		problems_add(p, n->at,
			     "network '%s': the fabric's MTU leaves %d, IPv4 needs at least %d",
			     n->name, mtu, CLOUD_MTU_MIN);
	if (n->cidr[CLOUD_V6].prefix.ip.family && mtu < IPV6_MTU_MIN)
		problems_add(p, n->mtu.v ? n->mtu.at : n->at,
			     "network '%s': IPv6 needs an MTU of at least %d, this is %d", n->name,
			     IPV6_MTU_MIN, mtu);
}

static void check_vnic(const struct topology *t, const struct cloud_vm *vm,
		       const struct cloud_vnic *v, struct problems *p)
{
	const struct cloud_network *n =
	    v->network.index >= 0 ? &t->networks.v[v->network.index] : NULL;
	int mtu = n ? cloud_network_mtu(t, n) : CLOUD_MTU;

	if (v->caps.mtu.v > mtu)
		problems_add(p, v->caps.mtu.at,
			     "vm '%s': an MTU of %d is more than its network's %d", vm->name,
			     v->caps.mtu.v, mtu);
	if (v->caps.mtu.v && v->caps.mtu.v < IPV6_MTU_MIN && n &&
	    n->cidr[CLOUD_V6].prefix.ip.family)
		problems_add(p, v->caps.mtu.at,
			     "vm '%s': IPv6 needs an MTU of at least %d, this is %d", vm->name,
			     IPV6_MTU_MIN, v->caps.mtu.v);
}

static void check_mtus(const struct topology *t, struct problems *p)
{
	VEC_FOREACH (n, &t->networks)
		check_network_mtu(t, n, p);
	VEC_FOREACH (vm, &t->vms) {
		VEC_FOREACH (v, &vm->vnics)
			check_vnic(t, vm, v, p);
	}
}

static void check_vnis(const struct topology *t, struct problems *p)
{
	for (size_t i = 0; i < t->networks.n; i++) {
		const struct cloud_network *n = &t->networks.v[i];

		for (size_t k = 0; n->vni.v && k < i; k++) {
			if (t->networks.v[k].vni.v == n->vni.v)
				problems_add(p, n->vni.at,
					     "networks '%s' and '%s' have the same "
					     "VNI %d",
					     t->networks.v[k].name, n->name, n->vni.v);
		}
	}
}

static void check_vlans(const struct topology *t, struct problems *p)
{
	for (size_t i = 0; i < t->networks.n; i++) {
		const struct cloud_network *n = &t->networks.v[i];

		for (size_t k = 0; n->vlan.v && k < i; k++) {
			if (t->networks.v[k].vlan.v == n->vlan.v)
				problems_add(p, n->vlan.at,
					     "networks '%s' and '%s' have the same VLAN %d",
					     t->networks.v[k].name, n->name, n->vlan.v);
		}
	}
}

static void check_snat(const struct topology *t, struct problems *p)
{
	VEC_FOREACH (r, &t->routers) {
		if (r->snat && r->public_net < 0)
			problems_add(p, r->snat_at,
				     "router '%s' has snat, but no public (flat) "
				     "network",
				     r->name);
	}
}

void topology_check(struct topology *t, struct problems *p)
{
	struct check c = {.t = t, .p = p};

	ADD_NAMES(&t->arena, &c.hosts, &t->hosts);
	ADD_NAMES(&t->arena, &c.networks, &t->networks);
	ADD_NAMES(&t->arena, &c.routers, &t->routers);
	ADD_NAMES(&t->arena, &c.vms, &t->vms);
	keyset_init(&c.nodes);
	claim_names(&c);
	resolve_vms(&c);
	resolve_networks(&c);
	check_eips(&c);
	check_mtus(t, p);
	check_vnis(t, p);
	check_vlans(t, p);
	check_snat(t, p);
	topology_check_addresses(t, p);
	topology_check_links(t, p);
	topology_check_shapes(t, p);
	keyset_done(&c.nodes);
}
