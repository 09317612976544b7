/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compile_host: hosts and the fabric between them: bridges, uplinks, the hosts' own addresses, and
 * the VXLANs of VPC networks. Whoever sits on the bridges comes later. Called by compile.c.
 *
 * The default layer 2 is ZStack's without VLANs: several flat networks share one bridge and one
 * wire. A network with a VLAN has a bridge of its own on each host, joined to that wire by a tag:
 * a Linux bridge by a VLAN device on the card, an OVS bridge by a veth pair whose far end is a port
 * with that tag on the shared bridge, whose card is the trunk. Another `l2`, and a VLAN where a
 * host's kernel lacks 802.1Q, has its own uplink and its own bridge on the switch.
 */
#include <netinet/in.h>

#include "emulator/model/compile.h"

/* ---- fabric ---- */

static void switch_sysctls(struct compile *c, int node)
{
	compile_dev_sysctl(c, node, "net/bridge/bridge-nf-call-iptables", "0");
	compile_dev_sysctl(c, node, "net/bridge/bridge-nf-call-ip6tables", "0");
	compile_dev_sysctl(c, node, "net/bridge/bridge-nf-call-arptables", "0");
	compile_dev_ipv6(c, node, false, false);
}

/* Is there an uplink for this layer 2 on any host? */
static bool has_uplinks(const struct compile *c, size_t l2)
{
	for (size_t h = 0; h < c->t->hosts.n; h++) {
		if (c->hosts[h].need_l2[l2])
			return true;
	}
	return false;
}

/* A Linux host tags by a VLAN device, Open vSwitch itself. */
static bool needs_8021q(const struct compile *c, size_t l2)
{
	for (size_t h = 0; h < c->t->hosts.n; h++) {
		if (c->hosts[h].need_l2[l2] && c->t->hosts.v[h].engine == ENGINE_LINUX)
			return true;
	}
	return false;
}

static void choose_vlans(struct compile *c)
{
	for (size_t i = 0; i < c->l2s.n; i++) {
		struct compile_l2 *l2 = &c->l2s.v[i];

		if (!l2->vlan || c->o->machine.vlan || !needs_8021q(c, i))
			continue;
		*VEC_ADD(&c->w->arena, &c->w->choices) = (struct wire_choice){
		    .what = arena_printf(&c->w->arena, "vlan %d", l2->vlan),
		    .how = "own wire; 802.1Q not in this kernel",
		};
		l2->vlan = 0;
	}
}

static void add_fabric(struct compile *c, int *bridges)
{
	c->fabric = compile_dev_node(c, "fabric", NODE_SWITCH, -1);
	switch_sysctls(c, c->fabric);
	for (size_t i = 0; i < c->l2s.n; i++) {
		struct compile_dev bridge = {
		    .node = c->fabric,
		    .want = arena_printf(&c->scratch, "br%zu", i),
		    .kind = DEV_BRIDGE,
		    .role = ROLE_BRIDGE,
		    .mtu = cloud_fabric_mtu(c->t),
		    .master = -1,
		};

		/* What is tagged goes by the shared one. */
		bridges[i] =
		    has_uplinks(c, i) && !c->l2s.v[i].vlan ? compile_dev_new(c, &bridge) : -1;
	}
}

/* ---- bridges and uplinks of a host ---- */

static int add_bridge(struct compile *c, int host, const char *want, int mtu)
{
	return compile_dev_new(c, &(struct compile_dev){.node = c->hosts[host].node,
							.want = want,
							.kind = DEV_BRIDGE,
							.role = ROLE_BRIDGE,
							.mtu = mtu,
							.master = -1});
}

static void add_uplink(struct compile *c, int host, size_t l2, int fabric_bridge)
{
	const struct cloud_host *h = &c->t->hosts.v[host];
	int bridge = c->hosts[host].l2_bridge[l2], mtu = cloud_fabric_mtu(c->t), i, nic;
	const char *n = l2 ? arena_printf(&c->w->arena, "%zu", l2 + 1) : "";
	const char *tail = l2 ? arena_printf(&c->scratch, "-%s", n) : NULL;
	struct compile_link link = {
	    .name = arena_printf(&c->w->arena, "%s uplink%s%s", h->name, *n ? " " : "", n),
	    .path = arena_printf(&c->w->arena, "hosts.%s.nic", h->name),
	    .end = {{.node = c->hosts[host].node,
		     .want = arena_printf(&c->scratch, "nic%s", n),
		     .role = ROLE_UPLINK,
		     .mtu = mtu,
		     .master = bridge},
		    {.node = c->fabric,
		     .want = h->name,
		     .tail = tail,
		     .role = ROLE_PORT,
		     .mtu = mtu,
		     .master = fabric_bridge}},
	    .label = {arena_printf(&c->scratch, "%s-nic%s", h->name, n),
		      arena_printf(&c->scratch, "fabric-%s%s", h->name, tail ? tail : "")},
	    /* Both ends forward what others sent, so each shapes its own egress, as a card's queue.
	     */
	    .forwards = {true, true},
	    .impair = {compile_shape_impair(c, &c->t->fabric.impair)},
	};

	if (link.impair[0].given) /* no two hosts fare alike */
		link.impair[0].seed = cloud_seed(link.impair[0].seed, link.name);
	link.engine = compile_shape_engine(c, NULL, link.impair);
	link.shape[0] = link.shape[1] = compile_shape(c, &h->nic, link.engine);
	i = compile_link(c, &link);
	nic = c->w->links.v[i].dev_a;
	if (l2 == 0)
		c->hosts[host].nic = nic;
	/* As on a real host, where the bridge takes over the card's place in the network. */
	c->w->devs.v[bridge].mac = c->w->devs.v[nic].mac;
}

static void add_vlan_device(struct compile *c, int host, size_t l2)
{
	int nic = c->hosts[host].nic, vlan = c->l2s.v[l2].vlan, i;
	struct compile_dev spec = {
	    .node = c->hosts[host].node,
	    .want = c->w->devs.v[nic].name,
	    .tail = arena_printf(&c->scratch, ".%d", vlan),
	    .kind = DEV_VLAN,
	    .role = ROLE_PORT,
	    .mtu = cloud_fabric_mtu(c->t),
	    .master = c->hosts[host].l2_bridge[l2],
	};

	i = compile_dev_new(c, &spec);
	c->w->devs.v[i].vlan = vlan;
	c->w->devs.v[i].lower = nic;
}

static void add_vlan_port(struct compile *c, int host, size_t l2)
{
	int vlan = c->l2s.v[l2].vlan, i;
	struct compile_dev ends[2] = {
	    {.node = c->hosts[host].node,
	     .want = arena_printf(&c->scratch, "vlan%d", vlan),
	     .role = ROLE_PORT,
	     .mtu = cloud_fabric_mtu(c->t),
	     .master = c->hosts[host].l2_bridge[l2]},
	    {.node = c->hosts[host].node,
	     .want = arena_printf(&c->scratch, "vlan%d-tag", vlan),
	     .role = ROLE_PORT,
	     .mtu = cloud_fabric_mtu(c->t),
	     .master = c->hosts[host].l2_bridge[0]},
	};

	i = compile_dev_veth(c, &ends[0], &ends[1]);
	c->w->devs.v[i + 1].vlan = vlan;
}

static void join_l2(struct compile *c, int host, size_t l2, int fabric_bridge)
{
	if (!c->l2s.v[l2].vlan)
		add_uplink(c, host, l2, fabric_bridge);
	else if (c->t->hosts.v[host].engine == ENGINE_OVS)
		add_vlan_port(c, host, l2);
	else
		add_vlan_device(c, host, l2);
}

/*
 * The host's own address: on a Linux bridge it moves from the card to the bridge, as ZStack does.
 * An OVS bridge's local port works differently on every datapath, a veth into it does not.
 */
static void add_underlay(struct compile *c, int host)
{
	struct compile_host *h = &c->hosts[host];
	int bridge = h->l2_bridge[0], dev = bridge;

	prefix_nth(&c->underlay, (uint64_t)host + 1, &h->underlay);
	if (c->t->hosts.v[host].engine == ENGINE_OVS) {
		struct compile_dev ends[2] = {
		    {.node = h->node, .want = "mgmt0", .mtu = cloud_fabric_mtu(c->t), .master = -1},
		    {.node = h->node,
		     .want = "mgmt0-port",
		     .role = ROLE_PORT,
		     .mtu = cloud_fabric_mtu(c->t),
		     .master = bridge},
		};

		dev = compile_dev_veth(c, &ends[0], &ends[1]);
	}
	compile_dev_addr(c, dev, &h->underlay, c->underlay.len);
}

static void add_l2s(struct compile *c, int host, const int *fabric_bridges)
{
	struct compile_host *h = &c->hosts[host];

	for (size_t i = 0; i < c->l2s.n; i++) {
		if (!h->need_l2[i])
			continue;
		h->l2_bridge[i] = add_bridge(c, host, c->l2s.v[i].bridge, cloud_fabric_mtu(c->t));
		if (c->fabric >= 0)
			join_l2(c, host, i, fabric_bridges[i]);
	}
	if (c->fabric >= 0)
		add_underlay(c, host);
}

/* ---- VPC networks ---- */

static void add_vxlan(struct compile *c, int host, int network)
{
	const struct compile_net *net = &c->nets[network];
	struct compile_dev spec = {
	    .node = c->hosts[host].node,
	    .want = arena_printf(&c->scratch, "vxlan%d", net->vni),
	    .kind = DEV_VXLAN,
	    .role = ROLE_PORT,
	    .mtu = net->mtu,
	    .master = c->hosts[host].net_bridge[network],
	};
	int i = compile_dev_new(c, &spec);
	struct wire_dev *d = &c->w->devs.v[i];

	d->vni = net->vni;
	d->vxlan_port = CLOUD_VXLAN_PORT;
	d->vxlan_local = c->hosts[host].underlay;
	/* Head-end replication: this host sends a copy of each flooded frame to every other one. */
	for (size_t k = 0; k < c->t->hosts.n; k++) {
		if ((int)k != host && c->hosts[k].need_net[network])
			*VEC_ADD(&c->w->arena, &d->vxlan_remotes) = c->hosts[k].underlay;
	}
}

static void add_vpc(struct compile *c, int network)
{
	const char *name = c->t->networks.v[network].name;
	int members = 0;

	for (size_t h = 0; h < c->t->hosts.n; h++) {
		if (!c->hosts[h].need_net[network])
			continue;
		c->hosts[h].net_bridge[network] = add_bridge(
		    c, (int)h, arena_printf(&c->scratch, "br-%s", name), c->nets[network].mtu);
		members++;
	}
	for (size_t h = 0; members > 1 && h < c->t->hosts.n; h++) {
		if (c->hosts[h].need_net[network])
			add_vxlan(c, (int)h, network);
	}
}

/* ---- hosts ---- */

static void add_host_node(struct compile *c, int host)
{
	const struct cloud_host *h = &c->t->hosts.v[host];
	const char *through = c->t->fabric.bridge_netfilter ? "1" : "0";
	int node = compile_dev_node(c, h->name, NODE_HOST, -1);

	c->hosts[host].node = node;
	c->w->nodes.v[node].engine = h->engine;
	/*
	 * ZStack has bridged packets cross iptables, which costs each of them something; here they
	 * do so on demand, since no rule of a lab needs it.
	 */
	compile_dev_sysctl(c, node, "net/bridge/bridge-nf-call-iptables", through);
	compile_dev_sysctl(c, node, "net/bridge/bridge-nf-call-ip6tables", through);
	compile_dev_sysctl(c, node, "net/bridge/bridge-nf-call-arptables", "0");
	/* A hypervisor bridges; routing between its networks would join what must be apart. */
	compile_dev_sysctl(c, node, "net/ipv4/ip_forward", "0");
	compile_dev_rp_filter_off(c, node);
	compile_dev_ipv6(c, node, false, false);
}

void compile_host_all(struct compile *c)
{
	int *fabric_bridges = arena_alloc(&c->scratch, (c->l2s.n + 1) * sizeof(int));

	if (c->t->hosts.n > 1) {
		choose_vlans(c);
		add_fabric(c, fabric_bridges);
	}
	for (size_t h = 0; h < c->t->hosts.n; h++) {
		add_host_node(c, (int)h);
		add_l2s(c, (int)h, fabric_bridges);
	}
	for (size_t i = 0; i < c->t->networks.n; i++) {
		if (c->t->networks.v[i].type == NETWORK_VPC)
			add_vpc(c, (int)i);
	}
}
