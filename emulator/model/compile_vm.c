/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compile_vm: VMs and their vNICs. Called by compile.c after hosts and routers.
 *
 * Without any shaped link a vNIC is one veth pair into the bridge. With one it is a tap: the VM's
 * packets keep their sending socket across veth pairs and bridges, and a shaper behind them would
 * push back on the application (no UDP datagram is ever lost). nftables' dup hands on a clone,
 * which has no socket; so what a VM sends is taken off its hands, then queued or dropped:
 *
 *   VM:eth0 ── TAP  ⇉ dup, drop ⇉  TAPOUT ── PORT (bridge)
 *                   ⇇ fwd       ⇇
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
	const char *nth;  /* "", "-2", …: what its devices' names on the host have more */
	int bridge, mtu;
};

/* ---- devices ---- */

static void add_tap_rules(struct compile *c, int tap, int out)
{
	const char *tap_name = c->w->devs.v[tap].name, *out_name = c->w->devs.v[out].name;
	struct compile_chain table = {c->w->devs.v[tap].node, "netdev", "tap"};
	static const char hook[] = "type filter hook ingress device \"%s\" priority 0; "
				   "policy accept;";
	int chain;

	chain = compile_dev_chain(c, &table, arena_printf(&c->scratch, "from-%s", tap_name),
				  arena_printf(&c->w->arena, hook, tap_name));
	compile_dev_rule(c, chain, NULL, "dup to \"%s\"", out_name);
	compile_dev_rule(c, chain, NULL, "drop");
	chain = compile_dev_chain(c, &table, arena_printf(&c->scratch, "from-%s", out_name),
				  arena_printf(&c->w->arena, hook, out_name));
	compile_dev_rule(c, chain, NULL, "fwd to \"%s\"", tap_name);
}

/* The VM's device is made; its other end, and the way from there to the bridge. */
static void add_vnic_devs(struct compile *c, const struct vnic *v, int devs[static 4])
{
	int host = c->hosts[v->self->host].node;
	int mtu = c->nets[v->cloud->network.index].mtu;
	struct compile_dev eth = {
	    .node = v->self->node,
	    .want = arena_printf(&c->scratch, "eth%d", v->index),
	    .role = ROLE_VNIC,
	    .mtu = v->mtu,
	    .master = -1,
	};
	struct compile_dev port = {
	    .node = host,
	    .want = v->name,
	    .tail = v->nth,
	    .role = ROLE_PORT,
	    .mtu = mtu,
	    .master = v->bridge,
	};
	struct compile_dev tap = {
	    .node = host,
	    .want = v->name,
	    .tail = arena_printf(&c->scratch, "%s-tap", v->nth),
	    .role = ROLE_TAP,
	    .mtu = mtu,
	    .master = -1,
	};
	struct compile_dev out = tap;

	out.tail = arena_printf(&c->scratch, "%s-out", v->nth);
	out.role = ROLE_TAPOUT;
	if (!c->shaped) {
		devs[0] = compile_dev_veth(c, &eth, &port);
		devs[1] = devs[2] = -1;
		devs[3] = devs[0] + 1;
		return;
	}
	devs[0] = compile_dev_veth(c, &eth, &tap);
	devs[1] = devs[0] + 1;
	devs[2] = compile_dev_veth(c, &out, &port);
	devs[3] = devs[2] + 1;
	add_tap_rules(c, devs[1], devs[2]);
}

static void add_vnic_link(struct compile *c, const struct vnic *v, const int devs[static 4])
{
	const char *name = v->index
			       ? arena_printf(&c->w->arena, "%s vNIC %d", v->name, v->index + 1)
			       : arena_printf(&c->w->arena, "%s vNIC", v->name);
	int link = compile_dev_link(c, name, devs[0], c->shaped ? devs[1] : devs[3]);

	c->w->links.v[link].ab.rate = c->w->links.v[link].ba.rate =
	    compile_dev_rate(c, &v->cloud->caps.rate);
	if (!c->shaped)
		return;
	compile_dev_shape(c, devs[2], link, false); /* what the VM sends leaves by TAPOUT */
	compile_dev_shape(c, devs[1], link, true);
}

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

static void add_vnic(struct compile *c, struct vnic *v, bool has_default[CLOUD_FAMILIES])
{
	struct compile_vnic *mine = &v->self->vnics[v->index];
	int devs[4]; /* inside, tap, tap towards the bridge, port */

	mine->network = v->cloud->network.index;
	v->nth = v->index ? arena_printf(&c->scratch, "-%d", v->index + 1) : "";
	v->bridge = compile_bridge(c, v->self->host, mine->network);
	v->mtu = v->cloud->caps.mtu.v ? v->cloud->caps.mtu.v : c->nets[mine->network].mtu;
	add_vnic_devs(c, v, devs);
	mine->dev = devs[0];
	mine->port = devs[3];
	if (v->cloud->mac.given)
		c->w->devs.v[mine->dev].mac = v->cloud->mac.mac;
	add_vnic_link(c, v, devs);
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
