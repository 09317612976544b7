/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compile_vm: VMs, their addresses and routes. Called by compile.c after hosts and routers; vNICs
 * are compile_card.c's.
 */
#include <netinet/in.h>

#include "emulator/model/compile.h"

#define FIRST_NUMBER 10 /* of the VMs' addresses */

struct vnic { /* what is at hand while one vNIC is made */
	const struct cloud_vm *vm;
	const struct cloud_vnic *cloud;
	struct compile_vm *self;
	int index;	  /* which vNIC */
	const char *name; /* of the VM */
};

/* ---- addresses and routes ---- */

static bool has_flat_eip(const struct compile *c, const struct vnic *v)
{
	if (v->index)
		return false; /* an EIP belongs to the first vNIC */
	VEC_FOREACH (e, &c->t->eips) {
		if (&c->t->vms.v[e->vm.index] == v->vm &&
		    &c->vms[v->vm->first + e->instance] == v->self)
			return true;
	}
	return false;
}

/* A gateway that somebody answers for: the vRouter, the EIP's namespace, or as declared. */
static bool find_gateway(const struct compile *c, const struct vnic *v, int family, struct ip *gw)
{
	const struct cloud_network *net = &c->t->networks.v[v->cloud->network.index];
	const struct ip *own = &v->self->vnics[v->index].ip[family];

	if (!own->family || cloud_gateway(net, family, gw) < 0 || ip_equal(gw, own))
		return false;
	return net->type == NETWORK_VPC || net->gateway[family].ip.family ||
	       (family == CLOUD_V4 && has_flat_eip(c, v));
}

static void add_vnic_addresses(struct compile *c, const struct vnic *v,
			       bool has_default[CLOUD_FAMILIES])
{
	const struct cloud_network *net = &c->t->networks.v[v->cloud->network.index];
	struct compile_vnic *mine = &v->self->vnics[v->index];

	for (int f = 0; f < CLOUD_FAMILIES; f++)
		mine->ip[f] = v->cloud->address[f].ip;
	compile_addr_choose(c, mine->network, FIRST_NUMBER, v->vm->at, mine->ip);
	for (int f = 0; f < CLOUD_FAMILIES; f++) {
		struct ip gw;

		if (mine->ip[f].family)
			compile_dev_addr(c, mine->dev, &mine->ip[f], net->cidr[f].prefix.len);
		if (!has_default[f] && find_gateway(c, v, f, &gw)) {
			compile_dev_default(c, mine->dev, &gw);
			has_default[f] = true;
		}
	}
}

/* ---- VMs ---- */

/* Of the map that has the vNIC's caps: one for all of a VM's, unless each is written down. */
static const char *path_of(struct compile *c, const struct vnic *v)
{
	const struct yaml_node *vms = yaml_get(c->t->yaml.root, "vms");
	const struct yaml_node *vm = vms ? yaml_get(vms, v->vm->name) : NULL;

	if (vm && yaml_get(vm, "vnics"))
		return arena_printf(&c->w->arena, "vms.%s.vnics.%d", v->vm->name, v->index);
	return arena_printf(&c->w->arena, "vms.%s.vnic", v->vm->name);
}

static void add_vnic(struct compile *c, struct vnic *v, bool has_default[CLOUD_FAMILIES])
{
	struct compile_vnic *mine = &v->self->vnics[v->index];
	int network = v->cloud->network.index, mtu = c->nets[network].mtu;
	struct compile_card card = {
	    .cloud = v->cloud,
	    .vm = v->self->node,
	    .host = c->hosts[v->self->host].node,
	    .index = v->index,
	    .bridge = compile_bridge(c, v->self->host, network),
	    .mtu_inside = v->cloud->caps.mtu.v ? v->cloud->caps.mtu.v : mtu,
	    .mtu = mtu,
	    .name = v->name,
	    .path = path_of(c, v),
	};

	mine->network = network;
	compile_card(c, &card, &mine->dev, &mine->port);
	if (v->cloud->mac.given)
		c->w->devs.v[mine->dev].mac = v->cloud->mac.mac;
	add_vnic_addresses(c, v, has_default);
}

/* As few as possible: each costs about 50 µs, and a lab may have a thousand VMs. */
static void add_vm_sysctls(struct compile *c, const struct cloud_vm *vm, int node)
{
	bool has_ipv6 = false;

	VEC_FOREACH (v, &vm->vnics)
		has_ipv6 =
		    has_ipv6 || c->t->networks.v[v->network.index].cidr[CLOUD_V6].prefix.ip.family;
	compile_dev_ipv6(c, node, has_ipv6, false);
	if (vm->vnics.n < 2)
		return;
	compile_dev_sysctl(c, node, "net/ipv4/ip_forward", "0");
	compile_dev_rp_filter_off(c, node);
}

static void add_vm(struct compile *c, const struct cloud_vm *vm, int instance)
{
	struct compile_vm *self = &c->vms[vm->first + instance];
	const char *name = cloud_vm_name(&c->w->arena, vm, instance);
	bool has_default[CLOUD_FAMILIES] = {false, false};
	int endpoint;

	self->host = vm->host.index;
	self->node = compile_dev_node(c, name, NODE_VM, c->hosts[self->host].node);
	self->vnics = arena_alloc(&c->scratch, vm->vnics.n * sizeof(*self->vnics));
	name = c->w->nodes.v[self->node].name;
	add_vm_sysctls(c, vm, self->node);
	for (size_t i = 0; i < vm->vnics.n; i++) {
		struct vnic v = {.vm = vm,
				 .cloud = &vm->vnics.v[i],
				 .self = self,
				 .index = (int)i,
				 .name = name};

		add_vnic(c, &v, has_default);
	}
	endpoint = compile_dev_endpoint(c, name, self->node);
	c->w->endpoints.v[endpoint].ip4 = self->vnics[0].ip[CLOUD_V4];
	c->w->endpoints.v[endpoint].ip6 = self->vnics[0].ip[CLOUD_V6];
}

void compile_vm_all(struct compile *c)
{
	VEC_FOREACH (vm, &c->t->vms) {
		for (int i = 0; i < cloud_vm_count(vm); i++)
			add_vm(c, vm, i);
	}
}
