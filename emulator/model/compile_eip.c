/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compile_eip: EIPs. One of a flat network gets a namespace of its own on its VM's host, built as
 * ZStack's agent builds it: it carries the VIP outside and, as if it were the gateway, the
 * gateway's address inside. Many namespaces then own one address on one wire; compile_fence.c keeps
 * them apart. One of a VPC lives in the router (compile_router.c); here it only becomes an
 * endpoint.
 *
 * ZStack then announces the VIP by gratuitous ARP, for neighbours that knew it elsewhere. Nobody in
 * a fresh lab knows anything, so there is nothing to announce.
 */
#include <string.h>

#include "emulator/model/compile.h"

#define MTU_2018 1500
#define MTU_2019 65500 /* the VMs' own MTU decides what passes */

struct eip {
	const struct cloud_eip *cloud;
	const struct compile_vm *vm;
	const struct compile_vnic *vnic;
	const struct cloud_network *in, *out; /* the VM's network, the public one */
	const char *name;		      /* of the VM */
	char vip[ADDR_TEXT], nic[ADDR_TEXT];  /* the two addresses, as text */
	int node;
	int outer_port, outer; /* U_eo on the public bridge, U_ei inside */
	int inner_port, inner; /* U_o on the VM's bridge, U_i inside */
};

/* ---- namespace and devices ---- */

/* "br-public_192_0_2_50", after the bridge that the VIP is on. */
static void add_node(struct compile *c, struct eip *e, int public_bridge)
{
	char *name = arena_printf(&c->scratch, "%s_%s", c->w->devs.v[public_bridge].name, e->vip);

	for (char *s = strrchr(name, '_'); *s; s++)
		*s = *s == '.' ? '_' : *s;
	e->node = compile_dev_node(c, name, NODE_EIP, c->hosts[e->vm->host].node);
	compile_dev_sysctl(c, e->node, "net/ipv4/ip_forward", "1");
	compile_dev_rp_filter_off(c, e->node);
	/*
	 * ZStack's agent leaves this as the kernel has it, which is on; a new namespace takes over
	 * the machine's own setting. (Its vRouter switches it off: compile_router.c.)
	 */
	compile_dev_sysctl(c, e->node, "net/ipv4/conf/all/send_redirects", "1");
	compile_dev_sysctl(c, e->node, "net/ipv4/conf/default/send_redirects", "1");
	/*
	 * Both sides may be on one wire here. An address is answered for only where it is, else the
	 * VIP would have two MACs and the way to it would be chance.
	 */
	compile_dev_sysctl(c, e->node, "net/ipv4/conf/all/arp_ignore", "1");
	compile_dev_ipv6(c, e->node, false, false);
}

/* A pair: "<VM>_<port>" on a bridge, "<VM>_<inside>" in the namespace. Returns the port. */
static int add_pair(struct compile *c, const struct eip *e, int bridge, const char *port,
		    const char *inside)
{
	int mtu = e->cloud->form == 2018 ? MTU_2018 : MTU_2019;
	const char *alias = arena_printf(
	    &c->w->arena, "eip:%.60s,eip_addr:%s,vnic:%s,vnic_ip:%s,vm:%.60s,vip:%s", e->name,
	    e->vip, c->w->devs.v[e->vnic->port].name, e->nic, e->name, e->vip);
	struct compile_dev ends[2] = {
	    {.node = c->hosts[e->vm->host].node, .role = ROLE_PORT, .master = bridge},
	    {.node = e->node, .role = ROLE_OTHER, .master = -1},
	};
	int dev;

	for (int i = 0; i < 2; i++) {
		const char *end = i ? inside : port;

		ends[i].want = e->name;
		ends[i].tail = arena_printf(&c->scratch, "_%s", end);
		ends[i].altname = arena_printf(&c->scratch, "eip-%s-%s", e->vip, end);
		ends[i].mtu = mtu;
	}
	dev = compile_dev_veth(c, &ends[0], &ends[1]);
	c->w->devs.v[dev].alias = c->w->devs.v[dev + 1].alias = alias;
	return dev;
}

static void add_addresses(struct compile *c, const struct eip *e)
{
	struct ip gw;

	compile_dev_addr(c, e->outer, &e->cloud->address.ip, e->out->cidr[CLOUD_V4].prefix.len);
	cloud_gateway(e->in, CLOUD_V4, &gw);
	compile_dev_addr(c, e->inner, &gw, e->in->cidr[CLOUD_V4].prefix.len);
	/* Only a declared gateway is there; else whoever is on the public network is reached. */
	if (e->out->gateway[CLOUD_V4].ip.family)
		compile_dev_default(c, e->outer, &e->out->gateway[CLOUD_V4].ip);
	if (e->cloud->form == 2018)
		return;
	*VEC_ADD(&c->w->arena, &c->w->neighs) = (struct wire_neigh){
	    .node = e->node,
	    .dev = e->inner,
	    .ip = e->vnic->ip[CLOUD_V4],
	    .mac = c->w->devs.v[e->vnic->dev].mac,
	};
}

/* ---- rules ---- */

static void add_nat(struct compile *c, const struct eip *e)
{
	struct compile_chain nat = {e->node, "ip", "nat"};
	const char *dnat = arena_printf(&c->scratch, "DNAT-%s", e->vip);
	const char *snat = arena_printf(&c->scratch, "SNAT-%s", e->vip);
	int chain;

	chain = compile_dev_chain(c, &nat, dnat, NULL);
	compile_dev_rule(c, chain, NULL, "counter dnat to %s", e->nic);
	chain = compile_dev_chain(c, &nat, snat, NULL);
	compile_dev_rule(c, chain, NULL, "counter snat to %s", e->vip);
	chain = compile_dev_chain(c, &nat, "PREROUTING",
				  "type nat hook prerouting priority -100; policy accept;");
	compile_dev_rule(c, chain, NULL, "ip daddr %s counter jump %s", e->vip, dnat);
	chain = compile_dev_chain(c, &nat, "POSTROUTING",
				  "type nat hook postrouting priority 100; policy accept;");
	/* No output interface: the VM reaches its own EIP too (hairpin). */
	compile_dev_rule(c, chain, NULL, "ip saddr %s counter jump %s", e->nic, snat);
}

static void add_filter(struct compile *c, const struct eip *e)
{
	struct compile_chain filter = {e->node, "ip", "filter"};
	const char *fwd = arena_printf(&c->scratch, "FWD-%s", e->vip);
	const char *out = c->w->devs.v[e->outer].name, *in = c->w->devs.v[e->inner].name;
	char cidr[ADDR_TEXT];
	int chain;

	prefix_format(cidr, &e->in->cidr[CLOUD_V4].prefix);
	chain = compile_dev_chain(c, &filter, "vip-perf", NULL);
	compile_dev_rule(c, chain, NULL, "ip saddr %s counter return", e->nic);
	compile_dev_rule(c, chain, NULL, "ip daddr %s counter return", e->nic);
	chain = compile_dev_chain(c, &filter, fwd, NULL);
	compile_dev_rule(c, chain, NULL, "counter accept");
	chain = compile_dev_chain(c, &filter, "FORWARD",
				  "type filter hook forward priority 0; policy accept;");
	compile_dev_rule(c, chain, NULL, "ip saddr %s ip daddr != %s counter jump vip-perf", e->nic,
			 cidr);
	compile_dev_rule(c, chain, NULL, "ip saddr != %s ip daddr %s counter jump vip-perf", cidr,
			 e->nic);
	/* Before the two that accept: they look at interfaces only. */
	compile_dev_rule(c, chain, NULL,
			 "iifname \"%s\" ip daddr != %s counter reject with icmp port-unreachable",
			 out, e->nic);
	compile_dev_rule(c, chain, NULL, "iifname \"%s\" oifname \"%s\" counter jump %s", in, out,
			 fwd);
	compile_dev_rule(c, chain, NULL, "iifname \"%s\" oifname \"%s\" counter jump %s", out, in,
			 fwd);
}

/* ---- EIPs ---- */

static void add_fence(struct compile *c, const struct eip *e)
{
	struct compile_fence *f = VEC_ADD(&c->scratch, &c->fences);

	*f = (struct compile_fence){
	    .eip = e->cloud,
	    .host = e->vm->host,
	    .vm_port = e->vnic->port,
	    .outer_port = e->outer_port,
	    .inner_port = e->inner_port,
	    .vm_ip = e->vnic->ip[CLOUD_V4],
	    .vm_mac = c->w->devs.v[e->vnic->dev].mac,
	    .inner_mac = c->w->devs.v[e->inner].mac,
	};
	cloud_gateway(e->in, CLOUD_V4, &f->gateway);
}

static void add_flat(struct compile *c, struct eip *e)
{
	int public_bridge = compile_bridge(c, e->vm->host, e->cloud->network);
	int vm_bridge = compile_bridge(c, e->vm->host, e->vnic->network);

	add_node(c, e, public_bridge);
	e->outer_port = add_pair(c, e, public_bridge, "eo", "ei");
	e->outer = e->outer_port + 1;
	e->inner_port = add_pair(c, e, vm_bridge, "o", "i");
	e->inner = e->inner_port + 1;
	add_addresses(c, e);
	add_fence(c, e);
	add_nat(c, e);
	add_filter(c, e);
	*VEC_ADD(&c->w->arena, &c->w->nats) = (struct wire_nat){
	    .node = e->node, .outside = e->cloud->address.ip, .inside = e->vnic->ip[CLOUD_V4]};
}

void compile_eip_all(struct compile *c)
{
	VEC_FOREACH (cloud, &c->t->eips) {
		const struct cloud_vm *vm = &c->t->vms.v[cloud->vm.index];
		struct eip e = {.cloud = cloud, .vm = &c->vms[vm->first + cloud->instance]};
		int endpoint;

		e.vnic = &e.vm->vnics[0];
		e.in = &c->t->networks.v[e.vnic->network];
		e.out = &c->t->networks.v[cloud->network];
		e.name = c->w->nodes.v[e.vm->node].name;
		ip_format(e.vip, &cloud->address.ip);
		ip_format(e.nic, &e.vnic->ip[CLOUD_V4]);
		if (e.in->type == NETWORK_FLAT)
			add_flat(c, &e);
		endpoint = compile_dev_endpoint(c, arena_printf(&c->w->arena, "eip(%s)", e.name),
						e.vm->node);
		c->w->endpoints.v[endpoint].ip4 = cloud->address.ip;
	}
}
