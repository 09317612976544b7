/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sample: a small lab written down as wire model, for unit tests that must not depend on the
 * compiler of topologies.
 *
 *   vm1 ─ tap ─ h1 (Linux bridge, VXLAN) ─ fabric ─ h2 (bridge of the caller's choice, VXLAN) ─ vm2
 *
 * Both hosts have a 100 Mbit/s uplink; vm1 and vm2 share 10.0.0.0/24 and, by a second vNIC each,
 * the overlay 10.9.0.0/24. The name of vm2 and of its port need quoting in a shell.
 */
#ifndef VPCLAB_TESTS_SAMPLE_H
#define VPCLAB_TESTS_SAMPLE_H

#include "core/base/str.h"
#include "emulator/model/wire.h"

struct sample {
	struct wire w;
	int h1, h2, fabric, vm1, vm2;
};

static inline int sample_node(struct wire *w, const char *name, enum node_kind kind, int host)
{
	struct wire_node *n = VEC_ADD(&w->arena, &w->nodes);

	n->name = name;
	n->kind = kind;
	n->host = host;
	return (int)w->nodes.n - 1;
}

static inline int sample_dev(struct wire *w, int node, const char *name, enum dev_kind kind,
			     enum dev_role role)
{
	struct wire_dev *d = VEC_ADD(&w->arena, &w->devs);
	int in_ns = 0;

	VEC_FOREACH (other, &w->devs)
		in_ns += other != d && other->node == node;
	*d = (struct wire_dev){
	    .node = node,
	    .name = name,
	    .kind = kind,
	    .role = role,
	    .ifindex = 100 + in_ns,
	    .mac = mac_from_text(arena_printf(&w->arena, "%d %s", node, name)),
	    .mtu = 1500,
	    .peer = -1,
	    .master = -1,
	    .egress_link = -1,
	    .netem_link = -1,
	};
	return (int)w->devs.n - 1;
}

/* A veth pair; gives the index of the first end, the second follows it. */
static inline int sample_veth(struct wire *w, int node_a, const char *a, enum dev_role role_a,
			      int node_b, const char *b, enum dev_role role_b)
{
	int dev = sample_dev(w, node_a, a, DEV_VETH, role_a);

	sample_dev(w, node_b, b, DEV_VETH, role_b);
	w->devs.v[dev].peer = dev + 1;
	w->devs.v[dev + 1].peer = dev;
	return dev;
}

static inline struct ip sample_ip(const char *text)
{
	struct ip ip;
	struct err err = ERR_INIT;

	if (ip_parse(text, &ip, &err))
		abort();
	return ip;
}

static inline struct prefix sample_prefix(const char *text)
{
	struct prefix p;
	struct err err = ERR_INIT;

	if (prefix_parse(text, &p, &err))
		abort();
	return p;
}

/* An address and its connected route. */
static inline void sample_addr(struct wire *w, int dev, const char *text)
{
	struct wire_addr *a = VEC_ADD(&w->arena, &w->devs.v[dev].addrs);
	struct wire_route *r = VEC_ADD(&w->arena, &w->routes);

	a->prefix = sample_prefix(text);
	r->node = w->devs.v[dev].node;
	r->dst = prefix_network(&a->prefix);
	r->dev = dev;
	r->src = a->prefix.ip;
	r->congctl = "cubic";
}

static inline void sample_route(struct wire *w, int dev, const char *dst, const char *via)
{
	struct wire_route *r = VEC_ADD(&w->arena, &w->routes);

	r->node = w->devs.v[dev].node;
	r->dst = sample_prefix(dst);
	r->via = sample_ip(via);
	r->dev = dev;
	r->congctl = "cubic";
}

static inline void sample_chain(struct wire *w, int node, const char *family, const char *table,
				const char *chain, const char *hook, const char *const *rules)
{
	struct wire_nft_chain *c = VEC_ADD(&w->arena, &w->nft);

	c->node = node;
	c->family = family;
	c->table = table;
	c->chain = chain;
	c->hook = hook;
	for (; *rules; rules++)
		VEC_ADD(&w->arena, &c->rules)->text = *rules;
}

static inline int sample_link(struct wire *w, const char *name, int a, int b, int64_t bps)
{
	struct wire_link *l = VEC_ADD(&w->arena, &w->links);
	int index = (int)w->links.n - 1;

	l->name = name;
	l->dev_a = a;
	l->dev_b = b;
	l->ab.rate = l->ba.rate =
	    (struct wire_rate){.bps = bps, .basis = BASIS_L1, .mode = SHAPE_EXACT};
	l->shaper_ab = bps ? a : -1;
	l->shaper_ba = bps ? b : -1;
	if (bps) {
		w->devs.v[a].egress = w->devs.v[b].egress = l->ab;
		w->devs.v[a].egress_link = w->devs.v[b].egress_link = index;
		w->devs.v[b].egress_ba = true;
	}
	return index;
}

static inline void sample_vxlan(struct wire *w, int host, int master, const char *local,
				const char *remote)
{
	int dev = sample_dev(w, host, "vxlan9", DEV_VXLAN, ROLE_PORT);
	struct wire_dev *d = &w->devs.v[dev];

	d->master = master;
	d->mtu = w->devs.v[master].mtu = 1450;
	d->vni = 9;
	d->vxlan_port = 4789;
	d->vxlan_local = sample_ip(local);
	*VEC_ADD(&w->arena, &d->vxlan_remotes) = sample_ip(remote);
}

/* A vNIC without tap: its host's end is the bridge port. */
static inline int sample_vnic(struct wire *w, int vm, const char *ifname, int host,
			      const char *port, int bridge, const char *addr)
{
	int dev = sample_veth(w, vm, ifname, ROLE_VNIC, host, port, ROLE_PORT);

	w->devs.v[dev + 1].master = bridge;
	sample_addr(w, dev, addr);
	return dev;
}

static inline void sample_mtu(struct wire *w, int veth, int mtu)
{
	w->devs.v[veth].mtu = w->devs.v[w->devs.v[veth].peer].mtu = mtu;
}

/* vm1's vNIC behind a tap: what passes there is a clone, free of the sender's socket. */
static inline void sample_tap(struct sample *s, int bridge)
{
	static const char *const in[] = {"dup to \"vnic1out\"", "drop", NULL};
	static const char *const out[] = {"fwd to \"vnic1\"", NULL};
	struct wire *w = &s->w;
	int vnic = sample_veth(w, s->vm1, "eth0", ROLE_VNIC, s->h1, "vnic1", ROLE_TAP);
	int out_dev = sample_veth(w, s->h1, "vnic1out", ROLE_TAPOUT, s->h1, "vnic1port", ROLE_PORT);

	w->devs.v[out_dev + 1].master = bridge;
	w->devs.v[vnic].offloads_off = OFFLOAD_TSO | OFFLOAD_GSO | OFFLOAD_GRO | OFFLOAD_UDP_SEG;
	sample_addr(w, vnic, "10.0.0.1/24");
	sample_addr(w, vnic, "fd00::1/64");
	sample_chain(w, s->h1, "netdev", "tap", "vnic1",
		     "type filter hook ingress device \"vnic1\" priority 0; policy accept;", in);
	sample_chain(w, s->h1, "netdev", "tap", "vnic1out",
		     "type filter hook ingress device \"vnic1out\" priority 0; policy accept;",
		     out);
}

static inline void sample_init(struct sample *s, enum bridge_engine h2_engine)
{
	static const char *const filter[] = {"counter accept", NULL};
	struct wire *w = &s->w;
	int br1, br2, brf, ov1, ov2, up1, up2;

	wire_init(w);
	w->name = "sample";
	w->description = "";
	s->fabric = sample_node(w, "fabric", NODE_SWITCH, -1);
	s->h1 = sample_node(w, "h1", NODE_HOST, -1);
	s->h2 = sample_node(w, "h2", NODE_HOST, -1);
	s->vm1 = sample_node(w, "vm1", NODE_VM, s->h1);
	s->vm2 = sample_node(w, "vm 2's", NODE_VM, s->h2);
	w->nodes.v[s->h2].engine = h2_engine;
	*VEC_ADD(&w->arena, &w->nodes.v[s->h1].sysctls) =
	    (struct wire_sysctl){"net/ipv4/ip_forward", "0", false};
	*VEC_ADD(&w->arena, &w->nodes.v[s->h1].sysctls) =
	    (struct wire_sysctl){"net/bridge/bridge-nf-call-iptables", "0", true};
	brf = sample_dev(w, s->fabric, "br0", DEV_BRIDGE, ROLE_BRIDGE);
	br1 = sample_dev(w, s->h1, "br0", DEV_BRIDGE, ROLE_BRIDGE);
	ov1 = sample_dev(w, s->h1, "br9", DEV_BRIDGE, ROLE_BRIDGE);
	br2 = sample_dev(w, s->h2, "br0", DEV_BRIDGE, ROLE_BRIDGE);
	ov2 = sample_dev(w, s->h2, "br9", DEV_BRIDGE, ROLE_BRIDGE);
	up1 = sample_veth(w, s->h1, "uplink", ROLE_UPLINK, s->fabric, "h1", ROLE_PORT);
	up2 = sample_veth(w, s->h2, "uplink", ROLE_UPLINK, s->fabric, "h2", ROLE_PORT);
	w->devs.v[up1].master = br1;
	w->devs.v[up2].master = br2;
	w->devs.v[up1 + 1].master = w->devs.v[up2 + 1].master = brf;
	w->devs.v[up1].alias = "uplink of h1";
	w->devs.v[up1].altname = "uplink-of-host-h1";
	sample_link(w, "h1 uplink", up1, up1 + 1, 100000000);
	sample_link(w, "h2 uplink", up2, up2 + 1, 100000000);
	/* The underlay address sits on a leg of its own into the bridge, as with both kinds of
	 * bridge. */
	w->devs.v[sample_vnic(w, s->h1, "vtep", s->h1, "vtep-port", br1, "172.16.0.1/24")].role =
	    ROLE_OTHER;
	w->devs.v[sample_vnic(w, s->h2, "vtep", s->h2, "vtep-port", br2, "172.16.0.2/24")].role =
	    ROLE_OTHER;
	sample_vxlan(w, s->h1, ov1, "172.16.0.1", "172.16.0.2");
	sample_vxlan(w, s->h2, ov2, "172.16.0.2", "172.16.0.1");
	sample_tap(s, br1);
	sample_addr(w, sample_vnic(w, s->vm2, "eth0", s->h2, "port$2", br2, "10.0.0.2/24"),
		    "fd00::2/64");
	sample_mtu(w, sample_vnic(w, s->vm1, "eth1", s->h1, "vnic1.1", ov1, "10.9.0.1/24"), 1450);
	sample_mtu(w, sample_vnic(w, s->vm2, "eth1", s->h2, "vnic2.1", ov2, "10.9.0.2/24"), 1450);
	sample_chain(w, s->vm2, "inet", "filter", "input",
		     "type filter hook input priority 0; policy accept;", filter);
	*VEC_ADD(&w->arena, &w->endpoints) =
	    (struct wire_endpoint){"vm1", s->vm1, sample_ip("10.0.0.1"), sample_ip("fd00::1")};
	*VEC_ADD(&w->arena, &w->endpoints) =
	    (struct wire_endpoint){"vm2", s->vm2, sample_ip("10.0.0.2"), sample_ip("fd00::2")};
	*VEC_ADD(&w->arena, &w->endpoints) = (struct wire_endpoint){
	    .name = "vm2-overlay", .node = s->vm2, .ip4 = sample_ip("10.9.0.2")};
	*VEC_ADD(&w->arena, &w->endpoints) =
	    (struct wire_endpoint){.name = "lost", .node = s->vm2, .ip4 = sample_ip("192.0.2.1")};
}

#endif
