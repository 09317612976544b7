/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plan: puts the wire model into the order in which a kernel can take it.
 *
 * It decides order and the few things that follow from the machine (OVS datapath and what its ports
 * need, burst of a shaper); everything else was decided in emulator/model. Printers are in
 * plan_text.c, plan_sh.c and plan_json.c. Called by cli/, emulator/lab and core/harness.
 *
 * What the order is for: devices are born in their namespaces before anything names them; an
 * address may be added while its device is down, a route may not; a shaper and its rules are there
 * before the first frame; bridges go up last, so that nothing is flooded while ports are still
 * joining.
 */
#include "emulator/plan/plan.h"

#include <string.h>

/* Items of the wire model by node: those of n from item[start[n]] to before item[start[n + 1]]. */
struct group {
	size_t *start;
	size_t *item;
};

struct build {
	const struct wire *w;
	const struct machine *m;
	struct plan *plan;
	const char *datapath; /* of OVS instances */
	struct group devs, routes, neighs, chains, arpreplies, flows;
};

#define GROUP_FOREACH(i, group, node)                                                              \
	for (const size_t *i = &(group)->item[(group)->start[node]];                               \
	     i < &(group)->item[(group)->start[(node) + 1]]; i++)

static struct group group_by_node(struct build *b, size_t n,
				  int (*node_of)(const struct wire *w, size_t i))
{
	size_t nodes = b->w->nodes.n;
	struct group g = {
	    .start = arena_alloc(&b->plan->arena, (nodes + 2) * sizeof(*g.start)),
	    .item = arena_alloc(&b->plan->arena, (n + 1) * sizeof(*g.item)),
	};

	/* Counting sort; start[] is shifted by one while it fills. */
	for (size_t i = 0; i < n; i++)
		g.start[node_of(b->w, i) + 2]++;
	for (size_t k = 2; k < nodes + 2; k++)
		g.start[k] += g.start[k - 1];
	for (size_t i = 0; i < n; i++)
		g.item[g.start[node_of(b->w, i) + 1]++] = i;
	return g;
}

static int dev_node(const struct wire *w, size_t i)
{
	return w->devs.v[i].node;
}

static int route_node(const struct wire *w, size_t i)
{
	return w->routes.v[i].node;
}

static int neigh_node(const struct wire *w, size_t i)
{
	return w->neighs.v[i].node;
}

static int chain_node(const struct wire *w, size_t i)
{
	return w->nft.v[i].node;
}

static int arpreply_node(const struct wire *w, size_t i)
{
	return w->arpreplies.v[i].node;
}

static int flow_node(const struct wire *w, size_t i)
{
	return w->devs.v[w->flows.v[i].bridge].node;
}

static bool is_ovs_bridge(const struct wire *w, int dev)
{
	return dev >= 0 && w->devs.v[dev].kind == DEV_BRIDGE &&
	       w->nodes.v[w->devs.v[dev].node].engine == ENGINE_OVS;
}

/* Where the addresses and routes of a device belong: a bridge is up, or even there, only late. */
static enum plan_phase phase_of(const struct wire *w, size_t dev)
{
	if (is_ovs_bridge(w, (int)dev))
		return PHASE_OVS;
	return w->devs.v[dev].kind == DEV_BRIDGE ? PHASE_BRIDGE : PHASE_CONFIG;
}

static struct op *add(struct build *b, enum op_kind kind, enum plan_phase phase, int node)
{
	struct op *op = VEC_ADD(&b->plan->arena, &b->plan->ops);

	op->kind = kind;
	op->phase = phase;
	op->ns = b->w->nodes.v[node].name;
	return op;
}

static struct op *add_dev(struct build *b, enum op_kind kind, enum plan_phase phase, size_t dev)
{
	const struct wire_dev *d = &b->w->devs.v[dev];
	struct op *op = add(b, kind, phase, d->node);

	op->dev = d->name;
	/* An OVS bridge gets its index from the kernel. */
	op->ifindex = is_ovs_bridge(b->w, (int)dev) ? 0 : d->ifindex;
	return op;
}

static bool has_sysctl(const struct wire_node *n, const char *key, const char *value)
{
	VEC_FOREACH (s, &n->sysctls) {
		if (!strcmp(s->key, key) && (!value || !strcmp(s->value, value)))
			return true;
	}
	return false;
}

static void add_sysctls(struct build *b, int node)
{
	static const char no_link_local[] = "net/ipv6/conf/default/addr_gen_mode";
	const struct wire_node *n = &b->w->nodes.v[node];

	VEC_FOREACH (s, &n->sysctls)
		add(b, OP_SYSCTL, PHASE_SYSCTL, node)->sysctl = *s;
	/*
	 * Before any device is born: each then comes without a link-local address (none = 1). Where
	 * IPv6 is off there is none anyway, and a write less.
	 */
	if (!has_sysctl(n, no_link_local, NULL) &&
	    !has_sysctl(n, "net/ipv6/conf/all/disable_ipv6", "1"))
		add(b, OP_SYSCTL, PHASE_SYSCTL, node)->sysctl =
		    (struct wire_sysctl){no_link_local, "1", true};
	add(b, OP_LO_UP, PHASE_SYSCTL, node)->dev = "lo";
}

static struct op_veth_end veth_end(const struct wire *w, const struct wire_dev *d)
{
	return (struct op_veth_end){.ns = w->nodes.v[d->node].name,
				    .name = d->name,
				    .ifindex = d->ifindex,
				    .mtu = d->mtu,
				    .mac = d->mac,
				    .tx_queues = d->tx_queues,
				    .rx_queues = d->rx_queues,
				    .big_tcp = d->big_tcp};
}

static void add_link(struct build *b, size_t dev)
{
	const struct wire_dev *d = &b->w->devs.v[dev];
	struct op *op;

	switch (d->kind) {
	case DEV_VETH:
		if (d->peer < (int)dev)
			return; /* born with its peer */
		op = add_dev(b, OP_VETH, PHASE_LINK, dev);
		op->veth.a = veth_end(b->w, d);
		op->veth.b = veth_end(b->w, &b->w->devs.v[d->peer]);
		return;
	case DEV_BRIDGE:
		if (is_ovs_bridge(b->w, (int)dev))
			return;
		op = add_dev(b, OP_BRIDGE, PHASE_LINK, dev);
		op->bridge.mac = d->mac;
		op->bridge.mtu = d->mtu;
		return;
	case DEV_VXLAN:
		op = add_dev(b, OP_VXLAN, PHASE_LINK, dev);
		op->vxlan.mac = d->mac;
		op->vxlan.mtu = d->mtu;
		op->vxlan.vni = d->vni;
		op->vxlan.port = d->vxlan_port;
		op->vxlan.local = d->vxlan_local;
		return;
	case DEV_VLAN:
		op = add_dev(b, OP_VLAN, PHASE_LINK, dev);
		op->vlan.mac = d->mac;
		op->vlan.mtu = d->mtu;
		op->vlan.vlan = d->vlan;
		op->vlan.lower = b->w->devs.v[d->lower].name;
		op->vlan.lower_ifindex = b->w->devs.v[d->lower].ifindex;
		return;
	}
}

/*
 * A userspace datapath reads frames off a packet socket: one that the kernel hands on with its
 * checksum or its segmentation still to do is lost (ARP and ping pass, TCP never connects). What a
 * port receives was sent by the other end of its veth pair or by the VXLAN device of another host,
 * whatever socket, bridge or rule it came from before; finishing it there covers every sender.
 */
static bool feeds_userspace_port(const struct build *b, const struct wire_dev *d)
{
	const struct wire *w = b->w;

	if (!strcmp(b->datapath, "system"))
		return false;
	if (d->kind == DEV_VETH)
		return is_ovs_bridge(w, w->devs.v[d->peer].master);
	if (d->kind != DEV_VXLAN)
		return false;
	VEC_FOREACH (other, &w->devs) {
		if (other != d && other->kind == DEV_VXLAN && other->vni == d->vni &&
		    is_ovs_bridge(w, other->master))
			return true;
	}
	return false;
}

static void add_offload(struct build *b, size_t dev)
{
	const struct wire_dev *d = &b->w->devs.v[dev];
	unsigned off = d->offloads_off;

	if (is_ovs_bridge(b->w, (int)dev))
		return;
	if (feeds_userspace_port(b, d))
		off |= OFFLOAD_TX | OFFLOAD_TSO | OFFLOAD_GSO | OFFLOAD_UDP_SEG;
	if (off)
		add_dev(b, OP_OFFLOAD, PHASE_CONFIG, dev)->offloads_off = off;
}

static void add_addrs(struct build *b, size_t dev, enum plan_phase phase)
{
	VEC_FOREACH (a, &b->w->devs.v[dev].addrs)
		add_dev(b, OP_ADDR, phase, dev)->addr = a->prefix;
}

static void add_up(struct build *b, size_t dev, enum plan_phase phase)
{
	struct op *op = add_dev(b, OP_UP, phase, dev);

	op->up.altname = b->w->devs.v[dev].altname;
	op->up.alias = b->w->devs.v[dev].alias;
}

static void add_neighs(struct build *b, int node, enum plan_phase phase)
{
	GROUP_FOREACH (i, &b->neighs, node) {
		const struct wire_neigh *n = &b->w->neighs.v[*i];

		if (phase_of(b->w, (size_t)n->dev) == phase)
			add_dev(b, OP_NEIGH, phase, (size_t)n->dev)->neigh = *n;
	}
}

static void add_routes(struct build *b, int node, enum plan_phase phase)
{
	GROUP_FOREACH (i, &b->routes, node) {
		const struct wire_route *r = &b->w->routes.v[*i];
		struct op *op;

		if (phase_of(b->w, (size_t)r->dev) != phase)
			continue;
		op = add_dev(b, OP_ROUTE, phase, (size_t)r->dev);
		op->route.dst = r->dst;
		op->route.via = r->via;
		op->route.src = r->src;
		op->route.congctl = r->congctl;
	}
}

static bool for_peer(const struct tc_step *s)
{
	return s->kind == TC_CLSACT || s->kind == TC_POLICE;
}

/* The steps for `dev` of those that the shape of `shaped`, itself or its peer, comes to. */
static void add_steps(struct build *b, size_t dev, size_t shaped)
{
	const struct wire_dev *d = &b->w->devs.v[shaped];
	struct machine m = *b->m;
	struct shaper shaper;

	/* Open vSwitch takes away what it finds at the ingress of its ports. */
	if (d->kind == DEV_VETH && is_ovs_bridge(b->w, b->w->devs.v[d->peer].master))
		m.police = false;
	shaper_steps(&d->egress, d->mtu, &m, &shaper);
	VEC_FOREACH (s, &shaper.steps) {
		struct op *op;

		if (for_peer(s) != (dev != shaped))
			continue;
		op = add_dev(b, OP_TC, PHASE_CONFIG, dev);
		op->tc = *s;
		op->shape = &d->egress;
		op->mtu = d->mtu;
	}
	shaper_done(&shaper);
}

/* What feeds netem: the rate of the direction that it impairs. */
static void add_netem(struct build *b, size_t dev)
{
	const struct wire_dev *d = &b->w->devs.v[dev];
	const struct wire_link *l = &b->w->links.v[d->netem_link];
	struct op *op = add_dev(b, OP_TC, PHASE_CONFIG, dev);

	shaper_netem(d->netem_ba ? &l->impair_ba : &l->impair_ab,
		     d->netem_ba ? &l->ba.rate : &l->ab.rate, d->mtu, &op->tc);
	op->mtu = d->mtu;
}

static void add_shaper(struct build *b, size_t dev)
{
	const struct wire_dev *d = &b->w->devs.v[dev];

	if (wire_shape_any(&d->egress))
		add_steps(b, dev, dev);
	if (d->netem_link >= 0)
		add_netem(b, dev);
	if (d->kind == DEV_VETH && wire_shape_any(&b->w->devs.v[d->peer].egress))
		add_steps(b, dev, (size_t)d->peer);
}

static struct op *add_nft(struct build *b, enum op_kind kind, const struct wire_nft_chain *c)
{
	struct op *op = add(b, kind, PHASE_CONFIG, c->node);

	op->nft.family = c->family;
	op->nft.table = c->table;
	if (kind != OP_NFT_TABLE)
		op->nft.chain = c->chain;
	if (kind == OP_NFT_CHAIN)
		op->nft.hook = c->hook;
	return op;
}

static bool same_table(const struct wire_nft_chain *a, const struct wire_nft_chain *b)
{
	return !strcmp(a->family, b->family) && !strcmp(a->table, b->table);
}

static bool table_seen(const struct build *b, int node, const struct wire_nft_chain *c)
{
	GROUP_FOREACH (i, &b->chains, node) {
		const struct wire_nft_chain *earlier = &b->w->nft.v[*i];

		if (earlier == c)
			return false;
		if (same_table(earlier, c))
			return true;
	}
	return false;
}

/* Tables, then all chains, since a rule may jump to any of them, then rules. */
static void add_nft_all(struct build *b, int node)
{
	GROUP_FOREACH (i, &b->chains, node) {
		if (!table_seen(b, node, &b->w->nft.v[*i]))
			add_nft(b, OP_NFT_TABLE, &b->w->nft.v[*i]);
	}
	GROUP_FOREACH (i, &b->chains, node)
		add_nft(b, OP_NFT_CHAIN, &b->w->nft.v[*i]);
	GROUP_FOREACH (i, &b->chains, node) {
		VEC_FOREACH (rule, &b->w->nft.v[*i].rules) {
			struct op *op = add_nft(b, OP_NFT_RULE, &b->w->nft.v[*i]);

			op->nft.text = rule->text;
			op->nft.comment = rule->comment;
		}
	}
}

/*
 * Turns a question that enters `port` into its answer and sends it back. The model asks for IPv4
 * alone: IPv6 has no ARP.
 */
static const char *arp_flow(struct build *b, const struct wire_arpreply *r)
{
	const uint8_t *m = r->mac.bytes, *a = r->ip.bytes;
	char ip[ADDR_TEXT], mac[ADDR_TEXT];

	return arena_printf(&b->plan->arena,
			    "priority=120,arp,in_port=\"%s\",arp_op=1,arp_tpa=%s "
			    "actions=move:NXM_OF_ETH_SRC[]->NXM_OF_ETH_DST[],mod_dl_src:%s,"
			    "load:0x2->NXM_OF_ARP_OP[],move:NXM_NX_ARP_SHA[]->NXM_NX_ARP_THA[],"
			    "move:NXM_OF_ARP_SPA[]->NXM_OF_ARP_TPA[],"
			    "load:0x%02x%02x%02x%02x%02x%02x->NXM_NX_ARP_SHA[],"
			    "load:0x%02x%02x%02x%02x->NXM_OF_ARP_SPA[],IN_PORT",
			    b->w->devs.v[r->dev].name, ip_format(ip, &r->ip),
			    mac_format(mac, &r->mac), m[0], m[1], m[2], m[3], m[4], m[5], a[0],
			    a[1], a[2], a[3]);
}

static struct op *add_ovs_dev(struct build *b, enum op_kind kind, size_t dev, size_t bridge)
{
	struct op *op = add_dev(b, kind, PHASE_OVS, dev);

	op->ovs.datapath = b->datapath;
	op->ovs.bridge = b->w->devs.v[bridge].name;
	return op;
}

static void add_flow(struct build *b, int bridge, const char *text)
{
	add_ovs_dev(b, OP_OVS_FLOW, (size_t)bridge, (size_t)bridge)->ovs.text = text;
}

/* ARP answers of the ports that come with `phase`: ebtables' on Linux bridges, flows on OVS. */
static void add_arpreplies(struct build *b, int node, enum plan_phase phase)
{
	GROUP_FOREACH (i, &b->arpreplies, node) {
		const struct wire_arpreply *r = &b->w->arpreplies.v[*i];
		int bridge = b->w->devs.v[r->dev].master;
		struct op *op;

		if (is_ovs_bridge(b->w, bridge) != (phase == PHASE_OVS))
			continue;
		if (phase == PHASE_OVS) {
			add_flow(b, bridge, arp_flow(b, r));
			continue;
		}
		op = add_dev(b, OP_ARPREPLY, phase, (size_t)r->dev);
		op->arpreply.ip = r->ip;
		op->arpreply.mac = r->mac;
	}
}

static void add_config(struct build *b, int node)
{
	GROUP_FOREACH (i, &b->devs, node)
		add_offload(b, *i);
	GROUP_FOREACH (i, &b->devs, node) {
		if (!is_ovs_bridge(b->w, (int)*i))
			add_addrs(b, *i, PHASE_CONFIG);
	}
	add_neighs(b, node, PHASE_CONFIG);
	GROUP_FOREACH (i, &b->devs, node) {
		if (b->w->devs.v[*i].kind != DEV_BRIDGE)
			add_up(b, *i, PHASE_CONFIG);
	}
	add_routes(b, node, PHASE_CONFIG);
	GROUP_FOREACH (i, &b->devs, node)
		add_shaper(b, *i);
	add_nft_all(b, node);
	add_arpreplies(b, node, PHASE_CONFIG);
}

static struct op *add_ovs_port(struct build *b, size_t dev)
{
	const struct wire_dev *d = &b->w->devs.v[dev];
	struct op *op = add_ovs_dev(b, OP_OVS_PORT, dev, (size_t)d->master);

	op->ovs.vlan = d->kind == DEV_VETH ? d->vlan : 0;
	return op;
}

static void add_ovs(struct build *b, int node)
{
	bool any = false;

	GROUP_FOREACH (i, &b->devs, node) {
		if (!is_ovs_bridge(b->w, (int)*i))
			continue;
		if (!any)
			add(b, OP_OVS, PHASE_OVS, node)->ovs.datapath = b->datapath;
		any = true;
		add_ovs_dev(b, OP_OVS_BRIDGE, *i, *i)->ovs.mac = b->w->devs.v[*i].mac;
	}
	if (!any)
		return;
	GROUP_FOREACH (i, &b->devs, node) {
		const struct wire_dev *d = &b->w->devs.v[*i];

		if (is_ovs_bridge(b->w, d->master))
			add_ovs_port(b, *i)->ovs.shaped =
			    wire_shape_any(&d->egress) || d->netem_link >= 0;
	}
	add_arpreplies(b, node, PHASE_OVS);
	GROUP_FOREACH (i, &b->flows, node)
		add_flow(b, b->w->flows.v[*i].bridge, b->w->flows.v[*i].text);
	GROUP_FOREACH (i, &b->devs, node) {
		/* Without an address nobody needs a bridge's own port. */
		if (!is_ovs_bridge(b->w, (int)*i) || !b->w->devs.v[*i].addrs.n)
			continue;
		add_addrs(b, *i, PHASE_OVS);
		add_up(b, *i, PHASE_OVS);
	}
	add_neighs(b, node, PHASE_OVS);
	add_routes(b, node, PHASE_OVS);
}

static const char *name_of(const struct wire *w, int dev)
{
	return w->devs.v[dev].name;
}

/* Between two middles, once both ends of each pair are up. */
static void add_relays(struct build *b, int node)
{
	const struct wire *w = b->w;

	VEC_FOREACH (l, &w->links) {
		struct op *op;

		if (l->engine != IMPAIR_RELAY || l->span[1] < 0 ||
		    w->devs.v[l->span[1]].node != node)
			continue;
		op = add(b, OP_RELAY, PHASE_BRIDGE, node);
		op->relay.link = l->name;
		op->relay.in[0] = name_of(w, l->span[1]);
		op->relay.out[0] = name_of(w, l->middle[1]);
		op->relay.impair[0] = &l->impair_ab;
		op->relay.in[1] = name_of(w, l->span[0]);
		op->relay.out[1] = name_of(w, l->middle[0]);
		op->relay.impair[1] = &l->impair_ba;
	}
}

static void add_bridges(struct build *b, int node)
{
	const struct wire *w = b->w;

	GROUP_FOREACH (i, &b->devs, node) {
		int master = w->devs.v[*i].master;
		struct op *op;

		if (master < 0 || is_ovs_bridge(w, master))
			continue;
		op = add_dev(b, OP_MASTER, PHASE_BRIDGE, *i);
		op->master.master = w->devs.v[master].name;
		op->master.master_ifindex = w->devs.v[master].ifindex;
	}
	GROUP_FOREACH (i, &b->devs, node) {
		VEC_FOREACH (remote, &w->devs.v[*i].vxlan_remotes)
			add_dev(b, OP_FDB, PHASE_BRIDGE, *i)->fdb = *remote;
	}
	add_neighs(b, node, PHASE_BRIDGE);
	GROUP_FOREACH (i, &b->devs, node) {
		if (phase_of(w, *i) == PHASE_BRIDGE)
			add_up(b, *i, PHASE_BRIDGE);
	}
	add_routes(b, node, PHASE_BRIDGE);
	if (w->nodes.v[node].kind == NODE_WIRES)
		add_relays(b, node);
}

static void add_netns(struct build *b, int node)
{
	add(b, OP_NETNS, PHASE_NETNS, node);
}

static void add_links(struct build *b, int node)
{
	GROUP_FOREACH (i, &b->devs, node)
		add_link(b, *i);
}

void plan_build(const struct wire *w, const struct machine *m, struct plan *plan)
{
	static void (*const phases[PHASE_COUNT])(struct build * b, int node) = {
	    [PHASE_NETNS] = add_netns,	 [PHASE_SYSCTL] = add_sysctls, [PHASE_LINK] = add_links,
	    [PHASE_CONFIG] = add_config, [PHASE_OVS] = add_ovs,	       [PHASE_BRIDGE] = add_bridges,
	};
	struct build b = {.w = w, .m = m, .plan = plan};

	memset(plan, 0, sizeof(*plan));
	arena_init(&plan->arena);
	plan->name = arena_strdup(&plan->arena, w->name);
	plan->wire = w;
	b.datapath = m->ovs_kernel ? "system" : m->ovs_tun ? "netdev" : "dummy";
	b.devs = group_by_node(&b, w->devs.n, dev_node);
	b.routes = group_by_node(&b, w->routes.n, route_node);
	b.neighs = group_by_node(&b, w->neighs.n, neigh_node);
	b.chains = group_by_node(&b, w->nft.n, chain_node);
	b.arpreplies = group_by_node(&b, w->arpreplies.n, arpreply_node);
	b.flows = group_by_node(&b, w->flows.n, flow_node);
	for (int phase = 0; phase < PHASE_COUNT; phase++) {
		for (size_t node = 0; node < w->nodes.n; node++)
			phases[phase](&b, (int)node);
	}
}

void plan_done(struct plan *plan)
{
	arena_done(&plan->arena);
	memset(plan, 0, sizeof(*plan));
}
