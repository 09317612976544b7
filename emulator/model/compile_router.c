/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compile_router: vRouters, as the router image of ZStack's 2018 generation configures them: VIPs
 * as secondary addresses, EIP rules before network SNAT, a filter chain per interface and
 * direction that ends in REJECT. Called by compile.c before the VMs, since a router's addresses are
 * the lower ones; its rules about EIPs come after the VMs have theirs.
 *
 * The management interface (eth0 in ZStack) is left out: no controller talks to a router here.
 */
#include "emulator/model/compile.h"

#define FIRST_NUMBER 2 /* of a router's public address */

struct nic {
	const char *name; /* "pub", "pri", "pri2" */
	int network, dev;
	struct ip ip[CLOUD_FAMILIES];
	const struct cloud_cidr *cidr;
	bool is_public;
};

struct compile_router {
	const struct cloud_router *cloud;
	int index, node;
	VEC(struct nic) nics; /* the public one first, where there is one */
	bool has_ipv6;
};

/* ---- devices and addresses ---- */

static void add_nic(struct compile *c, struct compile_router *r, int network)
{
	const struct cloud_network *net = &c->t->networks.v[network];
	int host = r->cloud->host.index, mtu = c->nets[network].mtu;
	struct nic *nic = VEC_ADD(&c->scratch, &r->nics);
	int pri = (int)r->nics.n - (r->cloud->public_net >= 0);
	struct compile_dev ends[2];

	*nic = (struct nic){
	    .network = network, .cidr = net->cidr, .is_public = net->type == NETWORK_FLAT};
	nic->name = nic->is_public ? "pub"
		    : pri < 2	   ? "pri"
				   : arena_printf(&c->w->arena, "pri%d", pri);
	ends[0] = (struct compile_dev){
	    .node = r->node, .want = nic->name, .role = ROLE_OTHER, .mtu = mtu, .master = -1};
	ends[1] = (struct compile_dev){
	    .node = c->hosts[host].node,
	    .want = r->cloud->name,
	    .tail = arena_printf(&c->scratch, "-%s", nic->name),
	    .role = ROLE_PORT,
	    .mtu = mtu,
	    .master = compile_bridge(c, host, network),
	};
	nic->dev = compile_dev_veth(c, &ends[0], &ends[1]);
	for (int f = 0; !nic->is_public && f < CLOUD_FAMILIES; f++)
		cloud_gateway(net, f, &nic->ip[f]); /* in a VPC the gateway is the router */
	if (nic->is_public)
		compile_addr_choose(c, network, FIRST_NUMBER, r->cloud->at, nic->ip);
	for (int f = 0; f < CLOUD_FAMILIES; f++) {
		if (!nic->ip[f].family)
			continue;
		compile_dev_addr(c, nic->dev, &nic->ip[f], nic->cidr[f].prefix.len);
		if (nic->is_public && net->gateway[f].ip.family)
			compile_dev_default(c, nic->dev, &net->gateway[f].ip);
		r->has_ipv6 = r->has_ipv6 || f == CLOUD_V6;
	}
}

static void add_sysctls(struct compile *c, const struct compile_router *r)
{
	compile_dev_sysctl(c, r->node, "net/ipv4/ip_forward", "1");
	compile_dev_rp_filter_off(c, r->node);
	compile_dev_sysctl(c, r->node, "net/ipv4/conf/all/send_redirects", "0");
	compile_dev_sysctl(c, r->node, "net/ipv4/conf/default/send_redirects", "0");
	compile_dev_sysctl(c, r->node, "net/ipv4/conf/all/arp_ignore", "1");
	compile_dev_sysctl(c, r->node, "net/ipv4/conf/all/arp_filter", "1");
	compile_dev_sysctl(c, r->node, "net/ipv4/ip_nonlocal_bind", "1");
	compile_dev_sysctl(c, r->node, "net/ipv4/conf/all/promote_secondaries", "1");
	compile_dev_ipv6(c, r->node, r->has_ipv6, true);
}

/* ---- EIPs of a router ---- */

struct router_eip {
	const struct cloud_eip *cloud;
	char vip[ADDR_TEXT], guest[ADDR_TEXT];
	struct ip guest_ip;
	int network; /* the guest's */
};

/* The next EIP of this router from *i on; false when there is none. */
static bool next_eip(const struct compile *c, const struct compile_router *r, size_t *i,
		     struct router_eip *out)
{
	for (; *i < c->t->eips.n; (*i)++) {
		const struct cloud_eip *e = &c->t->eips.v[*i];
		const struct cloud_vm *vm = &c->t->vms.v[e->vm.index];
		const struct compile_vnic *v = &c->vms[vm->first + e->instance].vnics[0];
		const struct cloud_network *net = &c->t->networks.v[v->network];

		if (net->type != NETWORK_VPC || net->router.index != r->index)
			continue;
		*out = (struct router_eip){
		    .cloud = e, .guest_ip = v->ip[CLOUD_V4], .network = v->network};
		ip_format(out->vip, &e->address.ip);
		ip_format(out->guest, &out->guest_ip);
		(*i)++;
		return true;
	}
	return false;
}

static const struct nic *nic_of(const struct compile_router *r, int network)
{
	VEC_FOREACH (nic, &r->nics) {
		if (nic->network == network)
			return nic;
	}
	return NULL;
}

/* VIPs are announced by unsolicited ARP in ZStack; in a fresh lab nobody knows them yet. */
static void add_vips(struct compile *c, const struct compile_router *r)
{
	struct router_eip e;

	for (size_t i = 0; next_eip(c, r, &i, &e);) {
		const struct nic *pub = &r->nics.v[0];

		compile_dev_addr(c, pub->dev, &e.cloud->address.ip, pub->cidr[CLOUD_V4].prefix.len);
		*VEC_ADD(&c->w->arena, &c->w->nats) = (struct wire_nat){
		    .node = r->node, .outside = e.cloud->address.ip, .inside = e.guest_ip};
	}
}

/* ---- NAT ---- */

static void add_snat(struct compile *c, const struct compile_router *r, int chain)
{
	const struct nic *pub = &r->nics.v[0];
	char cidr[ADDR_TEXT], own[ADDR_TEXT];

	ip_format(own, &pub->ip[CLOUD_V4]);
	VEC_FOREACH (nic, &r->nics) {
		const struct nic *ways[2] = {pub, nic}; /* out, and back in: hairpin */

		if (nic->is_public || !nic->ip[CLOUD_V4].family || !pub->ip[CLOUD_V4].family)
			continue;
		prefix_format(cidr, &nic->cidr[CLOUD_V4].prefix);
		for (int i = 0; i < 2; i++)
			compile_dev_rule(c, chain, i ? "network SNAT, hairpin" : "network SNAT",
					 "oifname \"%s\" ip saddr %s ip daddr != 224.0.0.0/8 "
					 "counter snat to %s",
					 ways[i]->name, cidr, own);
	}
}

static void add_nat(struct compile *c, const struct compile_router *r)
{
	struct compile_chain nat = {r->node, "ip", "nat"};
	struct router_eip e;
	int chain;

	chain = compile_dev_chain(c, &nat, "PREROUTING",
				  "type nat hook prerouting priority -100; policy accept;");
	for (size_t i = 0; next_eip(c, r, &i, &e);)
		compile_dev_rule(c, chain, "EIP", "ip daddr %s counter dnat to %s", e.vip, e.guest);
	chain = compile_dev_chain(c, &nat, "POSTROUTING",
				  "type nat hook postrouting priority 100; policy accept;");
	/* Before network SNAT, or the VM would leave with the router's own address. */
	for (size_t i = 0; next_eip(c, r, &i, &e);)
		compile_dev_rule(c, chain, "EIP", "oifname \"%s\" ip saddr %s counter snat to %s",
				 r->nics.v[0].name, e.guest, e.vip);
	if (r->cloud->snat)
		add_snat(c, r, chain);
}

/* ---- filter ---- */

static const char *chain_name(struct compile *c, const struct nic *nic, const char *suffix)
{
	return arena_printf(&c->scratch, "%s.%s", nic->name, suffix);
}

static const char *reject_of(const struct compile_chain *table)
{
	return str_eq(table->family, "ip") ? "counter reject with icmp port-unreachable"
					   : "counter reject with icmpv6 port-unreachable";
}

/* What comes in by this interface and goes on. */
static void add_in(struct compile *c, const struct compile_router *r,
		   const struct compile_chain *table, const struct nic *nic)
{
	int chain = compile_dev_chain(c, table, chain_name(c, nic, "in"), NULL);
	struct router_eip e;

	compile_dev_rule(c, chain, "4000", "ct state established,related counter return");
	for (size_t i = 0; str_eq(table->family, "ip") && next_eip(c, r, &i, &e);) {
		/* Where the packet is already translated: the guest, not the VIP. */
		if (nic->is_public)
			compile_dev_rule(c, chain, "EIP",
					 "ip daddr %s ct state new,established,related counter "
					 "accept",
					 e.guest);
		else if (nic_of(r, e.network) == nic)
			compile_dev_rule(c, chain, "EIP",
					 "ip saddr %s ct state new,established,related counter "
					 "accept",
					 e.guest);
	}
	if (!nic->is_public)
		compile_dev_rule(c, chain, "9999", "ct state new counter accept");
	compile_dev_rule(c, chain, "10000", "%s", reject_of(table));
}

/* What is for the router itself. */
static void add_local(struct compile *c, const struct compile_chain *table, const struct nic *nic)
{
	int chain = compile_dev_chain(c, table, chain_name(c, nic, "local"), NULL);
	bool v6 = str_eq(table->family, "ip6");
	const struct ip *own = &nic->ip[v6 ? CLOUD_V6 : CLOUD_V4];
	char text[ADDR_TEXT];

	if (own->family)
		compile_dev_rule(c, chain, NULL,
				 "%s daddr %s ct state established,related counter return",
				 table->family, ip_format(text, own));
	compile_dev_rule(c, chain, NULL, "meta l4proto %s counter return",
			 v6 ? "ipv6-icmp" : "icmp");
	/* ssh is for the management interface. */
	compile_dev_rule(c, chain, NULL, "tcp dport 22 %s", reject_of(table));
	compile_dev_rule(c, chain, NULL, "%s", reject_of(table));
}

/* A hook's chain that sends each interface's packets into "<nic>.<suffix>". */
static int add_switchboard(struct compile *c, const struct compile_router *r,
			   const struct compile_chain *table, const char *name,
			   const char *const by[2])
{
	int chain = compile_dev_chain(c, table, name, NULL);

	VEC_FOREACH (nic, &r->nics)
		compile_dev_rule(c, chain, NULL, "%s \"%s\" counter jump %s", by[0], nic->name,
				 chain_name(c, nic, by[1]));
	return chain;
}

static void add_filter(struct compile *c, const struct compile_router *r, const char *family)
{
	struct compile_chain table = {r->node, family, "filter"};
	int chain;

	VEC_FOREACH (nic, &r->nics) {
		add_in(c, r, &table, nic);
		compile_dev_chain(c, &table, chain_name(c, nic, "out"), NULL);
		add_local(c, &table, nic);
	}
	add_switchboard(c, r, &table, "IN", (const char *const[]){"iifname", "in"});
	add_switchboard(c, r, &table, "OUT", (const char *const[]){"oifname", "out"});
	add_switchboard(c, r, &table, "LOCAL", (const char *const[]){"iifname", "local"});
	chain = compile_dev_chain(c, &table, "INPUT",
				  "type filter hook input priority 0; policy accept;");
	compile_dev_rule(c, chain, NULL, "counter jump LOCAL");
	chain = compile_dev_chain(c, &table, "FORWARD",
				  "type filter hook forward priority 0; policy accept;");
	compile_dev_rule(c, chain, NULL, "counter jump IN");
	compile_dev_rule(c, chain, NULL, "counter jump OUT");
}

/* ---- routers ---- */

static void add_router(struct compile *c, struct compile_router *r)
{
	int host = c->hosts[r->cloud->host.index].node;

	r->node = compile_dev_node(c, r->cloud->name, NODE_ROUTER, host);
	if (r->cloud->public_net >= 0)
		add_nic(c, r, r->cloud->public_net);
	VEC_FOREACH (ref, &r->cloud->networks) {
		if (ref->index != r->cloud->public_net)
			add_nic(c, r, ref->index);
	}
	add_sysctls(c, r);
}

/* Devices and addresses now; what concerns EIPs when the VMs have their addresses. */
void compile_router_all(struct compile *c)
{
	c->routers = arena_alloc(&c->scratch, (c->t->routers.n + 1) * sizeof(*c->routers));
	for (size_t i = 0; i < c->t->routers.n; i++) {
		c->routers[i].cloud = &c->t->routers.v[i];
		c->routers[i].index = (int)i;
		add_router(c, &c->routers[i]);
	}
}

void compile_router_rules(struct compile *c)
{
	for (size_t i = 0; i < c->t->routers.n; i++) {
		const struct compile_router *r = &c->routers[i];

		add_vips(c, r);
		add_nat(c, r);
		add_filter(c, r, "ip");
		if (r->has_ipv6)
			add_filter(c, r, "ip6");
	}
}
