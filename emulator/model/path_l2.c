/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * path_l2: how a frame gets from one device to another without being routed: over veth pairs,
 * redirecting ingress (taps, caps, middles and spans of links), relays, bridges, VLANs and
 * VXLAN.
 *
 * It searches the layer 2 for the device that answers instead of simulating how bridges learn; in a
 * lab without loops, and ours have none, that is the way the frame takes. Rules of bridges are not
 * evaluated, with one exception that flat EIPs cannot do without: the ARP fence, which is
 * wire_arpreply (known_mac()) and who is hidden by it (may_answer()).
 * Called by path.c.
 */
#include <string.h>

#include "core/base/str.h"
#include "emulator/model/path_walk.h"

enum {
	VXLAN_BYTES_V4 = 14 + 20 + 8 + 8, /* inner Ethernet, outer IPv4, UDP, VXLAN */
	VXLAN_BYTES_V6 = 14 + 40 + 8 + 8,
	DEEPEST_TUNNEL = 3,
};

struct search {
	struct path_walk *walk;
	const struct path_packet *p;
	int asker;	       /* node that sends the frame */
	const struct ip *ip;   /* who has it … */
	const struct mac *mac; /* … or, when known, which device has this */
	bool *left;	       /* by device: a frame has left here already */
	int tag;	       /* its VLAN where it is now; 0: untagged */
	uint32_t mark;	       /* of the frame, for whoever handed it on last */
	int end;
};

static bool frame_in(struct search *s, int dev);

bool path_dev_has(const struct wire *w, int dev, const struct ip *ip)
{
	VEC_FOREACH (a, &w->devs.v[dev].addrs) {
		if (ip_equal(&a->prefix.ip, ip))
			return true;
	}
	return false;
}

bool path_node_has(const struct wire *w, int node, const struct ip *ip)
{
	for (size_t i = 0; i < w->devs.n; i++) {
		if (w->devs.v[i].node == node && path_dev_has(w, (int)i, ip))
			return true;
	}
	return false;
}

/*
 * The namespace of a flat EIP has the gateway address of its VM's network, as has each other one:
 * the fence keeps everybody but its own VM from asking it.
 */
static bool may_answer(const struct search *s, int node)
{
	const struct wire *w = s->walk->w;

	if (w->nodes.v[node].kind != NODE_EIP)
		return true;
	VEC_FOREACH (nat, &w->nats) {
		if (nat->node != node || nat->outside.family != s->ip->family)
			continue;
		if (ip_equal(&nat->outside, s->ip) || path_node_has(w, s->asker, &nat->inside))
			return true;
	}
	return false;
}

static bool is_wanted(struct search *s, int dev)
{
	const struct wire_dev *d = &s->walk->w->devs.v[dev];
	bool wanted;

	if (s->tag) /* who has no device for that VLAN does not take the frame */
		return false;
	if (s->mac)
		wanted = mac_equal(&d->mac, s->mac);
	else
		wanted = path_dev_has(s->walk->w, dev, s->ip) && may_answer(s, d->node);
	if (wanted)
		s->end = dev;
	return wanted;
}

/* The VXLAN device at which what was sent to `remote` comes out of the tunnel. */
static int tunnel_end(const struct wire *w, int node, int vni, const struct ip *remote)
{
	for (size_t i = 0; i < w->devs.n; i++) {
		const struct wire_dev *d = &w->devs.v[i];

		if (d->node == node && d->kind == DEV_VXLAN && d->vni == vni &&
		    ip_equal(&d->vxlan_local, remote))
			return (int)i;
	}
	return -1;
}

static bool tunnel_to(struct search *s, int dev, const struct ip *remote)
{
	const struct wire_dev *d = &s->walk->w->devs.v[dev];
	struct path_packet outer = {
	    .src = d->vxlan_local,
	    .dst = *remote,
	    .encap_bytes =
		s->p->encap_bytes + (ip_size(remote) == 16 ? VXLAN_BYTES_V6 : VXLAN_BYTES_V4),
	    .ttl = 64,
	    .outer = true,
	};
	struct err in_vain = ERR_INIT, *err = s->walk->err;
	int in, far, rc;

	s->walk->err = &in_vain; /* another remote may do */
	rc = path_route(s->walk, &outer, d->node, dev, &in);
	s->walk->err = err;
	if (rc || in < 0)
		return false;
	far = tunnel_end(s->walk->w, s->walk->w->devs.v[in].node, d->vni, remote);
	if (far < 0 || s->left[far])
		return false;
	s->left[far] = true; /* what came out does not go in again */
	path_add_hop(s->walk, s->p, s->walk->w->devs.v[in].node, in, far);
	return frame_in(s, far);
}

static bool tunnel_out(struct search *s, int dev)
{
	size_t mark = s->walk->out->hops.n;

	if (s->p->encap_bytes > DEEPEST_TUNNEL * VXLAN_BYTES_V6)
		return false; /* a tunnel that leads into itself */
	VEC_FOREACH (remote, &s->walk->w->devs.v[dev].vxlan_remotes) {
		if (tunnel_to(s, dev, remote))
			return true;
		s->walk->out->hops.n = mark;
	}
	return false;
}

static bool bridge_out(struct search *s, int bridge, int in);

/* Like frame_in(), with another tag; the old one is back when it was in vain. */
static bool frame_in_as(struct search *s, int dev, int tag)
{
	int old = s->tag;

	s->tag = tag;
	if (frame_in(s, dev))
		return true;
	s->tag = old;
	return false;
}

/* By a VLAN device its lower one sends; a tagged port lets out what has its tag, and takes it off.
 */
static bool tagged_out(struct search *s, int dev)
{
	const struct wire *w = s->walk->w;
	const struct wire_dev *d = &w->devs.v[dev];

	if (d->kind == DEV_VLAN)
		return !s->tag && frame_in_as(s, w->devs.v[d->lower].peer, d->vlan);
	return s->tag == d->vlan && frame_in_as(s, d->peer, 0);
}

/* The VLAN device that takes what comes in at `dev` with this tag, or -1. */
static int vlan_on(const struct wire *w, int dev, int tag)
{
	for (size_t i = 0; tag && i < w->devs.n; i++) {
		const struct wire_dev *d = &w->devs.v[i];

		if (d->kind == DEV_VLAN && d->lower == dev && d->vlan == tag)
			return (int)i;
	}
	return -1;
}

static bool frame_out(struct search *s, int dev)
{
	const struct wire_dev *d = &s->walk->w->devs.v[dev];

	if (s->left[dev])
		return false;
	s->left[dev] = true;
	switch (d->kind) {
	case DEV_VETH:
		return d->vlan ? tagged_out(s, dev) : frame_in(s, d->peer);
	case DEV_VXLAN:
		return tunnel_out(s, dev);
	case DEV_BRIDGE:
		return bridge_out(s, dev, -1);
	case DEV_VLAN:
		return tagged_out(s, dev);
	}
	return false;
}

/*
 * To every port but the one it came from (-1: the bridge itself), until one leads to the device
 * that is wanted.
 */
static bool bridge_out(struct search *s, int bridge, int in)
{
	const struct wire *w = s->walk->w;
	size_t mark = s->walk->out->hops.n;

	for (size_t i = 0; i < w->devs.n; i++) {
		if (w->devs.v[i].master != bridge || (int)i == in)
			continue;
		path_add_hop(s->walk, s->p, w->devs.v[i].node, in < 0 ? bridge : in, (int)i);
		if (frame_out(s, (int)i))
			return true;
		s->walk->out->hops.n = mark;
	}
	return false;
}

static bool frame_in(struct search *s, int dev)
{
	const struct wire_dev *d = &s->walk->w->devs.v[dev];
	int on = redirect_next(s->walk->redirect, dev, &s->mark);
	int above = vlan_on(s->walk->w, dev, s->tag);

	if (on >= 0) {
		path_add_hop(s->walk, s->p, d->node, dev, on);
		return frame_out(s, on);
	}
	if (above >= 0)
		return frame_in_as(s, above, 0);
	if (d->kind == DEV_VETH && d->vlan && !s->tag) {
		s->tag = d->vlan;
		if (bridge_out(s, d->master, dev))
			return true;
		s->tag = 0;
		return false;
	}
	if (d->master < 0)
		return is_wanted(s, dev);
	return is_wanted(s, d->master) || bridge_out(s, d->master, dev);
}

/* The bridge port at which a frame that leaves by `dev` enters its first bridge, or -1. */
static int first_port(const struct path_walk *walk, int dev)
{
	const struct wire *w = walk->w;
	uint32_t mark = 0;

	for (int steps = 0; steps < 8 && w->devs.v[dev].kind == DEV_VETH; steps++) {
		dev = w->devs.v[dev].peer;
		if (w->devs.v[dev].master >= 0)
			return dev;
		dev = redirect_next(walk->redirect, dev, &mark);
		if (dev < 0)
			return -1;
	}
	return -1;
}

static const struct mac *known_mac(const struct path_walk *walk, int out, const struct ip *next)
{
	const struct wire *w = walk->w;
	int port = first_port(walk, out);

	VEC_FOREACH (n, &w->neighs) {
		if (n->dev == out && ip_equal(&n->ip, next))
			return &n->mac;
	}
	VEC_FOREACH (r, &w->arpreplies) {
		if (r->dev == port && ip_equal(&r->ip, next))
			return &r->mac;
	}
	return NULL;
}

int path_l2_carry(struct path_walk *walk, const struct path_packet *p, int out,
		  const struct ip *next)
{
	size_t mark = walk->out->hops.n;
	struct search s = {
	    .walk = walk,
	    .p = p,
	    .asker = walk->w->devs.v[out].node,
	    .ip = next,
	    .mac = known_mac(walk, out, next),
	    .left = mem_zalloc(walk->w->devs.n * sizeof(*s.left)),
	    .end = -1,
	};

	if (!frame_out(&s, out)) {
		s.end = -1;
		walk->out->hops.n = mark;
	}
	free(s.left);
	return s.end;
}
