/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * path: routes a packet from node to node, translates its addresses, and says in words what happens
 * at each hop. Layer 2 between two routed hops is path_l2.c.
 *
 * Not evaluated: ports, policy routing, what a bridge filters. Called by cli/ (`vpclab path`), by
 * core/harness for the truth of a measurement, and by tests.
 */
#include "emulator/model/path.h"

#include <string.h>
#include <sys/socket.h>

#include "core/base/str.h"
#include "emulator/model/path_walk.h"

#define FIRST_TTL 64

/* Impairments happen on the way out of a middle, see struct wire_link. */
static void find_impairment(const struct wire *w, struct path_hop *hop)
{
	hop->impair_link = -1;
	if (hop->dev_out < 0 || w->devs.v[hop->dev_out].role != ROLE_MIDDLE)
		return;
	for (size_t i = 0; i < w->links.n; i++) {
		const struct wire_link *l = &w->links.v[i];

		for (int k = 0; l->engine != IMPAIR_NONE && k < 2; k++) {
			if (l->middle[k] != hop->dev_out)
				continue;
			hop->impair_link = (int)i;
			hop->impair_ba = !k;
		}
	}
}

struct path_hop *path_add_hop(struct path_walk *walk, const struct path_packet *p, int node, int in,
			      int out)
{
	struct path_hop *hop = VEC_ADD(&walk->out->arena, &walk->out->hops);
	int card = out; /* what a VLAN device sends, its card shapes */

	if (out >= 0 && walk->w->devs.v[out].kind == DEV_VLAN)
		card = walk->w->devs.v[out].lower;

	*hop = (struct path_hop){
	    .node = node,
	    .dev_in = in,
	    .dev_out = out,
	    .encap_bytes = p->encap_bytes,
	    .shaper = card >= 0 && wire_shape_any(&walk->w->devs.v[card].egress) ? card : -1,
	};
	find_impairment(walk->w, hop);
	return hop;
}

static const char *node_name(const struct path_walk *walk, int node)
{
	return walk->w->nodes.v[node].name;
}

/* "DNAT 192.0.2.50 → 10.10.0.10", remembered for the way back, put into `text`. */
static void translate(struct path_walk *walk, struct strbuf *text, const struct path_nat *nat,
		      struct ip *address)
{
	char from[ADDR_TEXT], to[ADDR_TEXT];

	strbuf_addf(text, "%s%s %s → %s%s", text->len ? ", " : "", nat->source ? "SNAT" : "DNAT",
		    ip_format(from, &nat->from), ip_format(to, &nat->to),
		    walk->undo ? " (conntrack)" : "");
	if (!walk->undo)
		*VEC_ADD(&walk->out->arena, &walk->out->nats) = *nat;
	*address = nat->to;
}

/*
 * On the way back the connection's entry decides: a source that was translated is the destination
 * now, and the other way round.
 */
static void undo(struct path_walk *walk, struct path_packet *p, int node, bool source,
		 struct strbuf *text)
{
	struct ip *address = source ? &p->src : &p->dst;

	VEC_FOREACH (nat, &walk->undo->nats) {
		struct path_nat back = {node, source, nat->to, nat->from};

		if (nat->node != node || nat->source == source || !ip_equal(&nat->to, address))
			continue;
		translate(walk, text, &back, address);
		return;
	}
}

/* Destinations before, sources after routing; `out` is -1 before. */
static void run_nat(struct path_walk *walk, struct path_packet *p, int node, int in, int out,
		    struct strbuf *text)
{
	struct path_nft_packet packet = {.src = &p->src, .dst = &p->dst, .in = in, .out = out};
	struct path_nft_verdict v;
	struct path_nat nat;

	if (walk->undo) {
		undo(walk, p, node, out >= 0, text);
		return;
	}
	path_nft_run(walk, node, out < 0 ? "type nat hook prerouting" : "type nat hook postrouting",
		     &packet, &v);
	if (!v.nat || v.source != (out >= 0))
		return;
	nat = (struct path_nat){node, v.source, v.source ? p->src : p->dst, v.to};
	translate(walk, text, &nat, v.source ? &p->src : &p->dst);
}

/* What is routed through must pass the filter; what a node says or hears itself is left alone. */
static int run_filter(struct path_walk *walk, const struct path_packet *p, int node, int in,
		      int out)
{
	struct path_nft_packet packet = {
	    .src = &p->src, .dst = &p->dst, .in = in, .out = out, .reply = walk->undo};
	char src[ADDR_TEXT], dst[ADDR_TEXT];
	struct path_nft_verdict v;

	path_nft_run(walk, node, "type filter hook forward", &packet, &v);
	if (!v.refused)
		return 0;
	return err_input(walk->err, "%s → %s is %s at %s by rule %d of %s", ip_format(src, &p->src),
			 ip_format(dst, &p->dst), v.refused, node_name(walk, node), v.rule,
			 v.chain);
}

static const struct wire_route *best_route(const struct wire *w, int node, const struct ip *dst)
{
	const struct wire_route *best = NULL;

	VEC_FOREACH (r, &w->routes) {
		if (r->node == node && r->dst.ip.family == dst->family &&
		    prefix_contains(&r->dst, dst) && (!best || r->dst.len > best->dst.len))
			best = r;
	}
	return best;
}

/* As the kernel chooses: the route's source, else the first address of the device. */
static struct ip source_of(const struct wire *w, const struct wire_route *r)
{
	if (r->src.family)
		return r->src;
	VEC_FOREACH (a, &w->devs.v[r->dev].addrs) {
		if (a->prefix.ip.family == r->dst.ip.family)
			return a->prefix.ip;
	}
	return (struct ip){0};
}

static int no_route(struct path_walk *walk, const struct path_packet *p, int node)
{
	char src[ADDR_TEXT], dst[ADDR_TEXT];

	if (!p->src.family)
		return err_input(walk->err, "no route to %s at %s", ip_format(dst, &p->dst),
				 node_name(walk, node));
	return err_input(walk->err, "no route from %s to %s at %s", ip_format(src, &p->src),
			 ip_format(dst, &p->dst), node_name(walk, node));
}

static void add_from_to(struct strbuf *text, const struct path_packet *p)
{
	char src[ADDR_TEXT], dst[ADDR_TEXT];

	strbuf_addf(text, "%s%s → %s", text->len ? ", " : "", ip_format(src, &p->src),
		    ip_format(dst, &p->dst));
}

static void deliver(struct path_walk *walk, const struct path_packet *p, int node, int in,
		    struct strbuf *text)
{
	if (p->outer)
		return; /* the tunnel makes a hop of it */
	add_from_to(text, p);
	path_add_hop(walk, p, node, in, -1)->text =
	    arena_strdup(&walk->out->arena, strbuf_text(text));
	walk->out->dst_node = node;
	walk->out->src_seen = p->src;
	walk->out->dst_final = p->dst;
}

/* Leaves `node` by the best route, given in *route. */
static int leave(struct path_walk *walk, struct path_packet *p, int node, int in,
		 struct strbuf *text, const struct wire_route **route)
{
	const struct wire_route *r = best_route(walk->w, node, &p->dst);
	struct path_hop *hop;
	int err;

	if (!r)
		return no_route(walk, p, node);
	if (!p->src.family)
		p->src = source_of(walk->w, r);
	if (in >= 0 && --p->ttl <= 0)
		return err_input(walk->err, "the packet goes in circles at %s",
				 node_name(walk, node));
	if (in >= 0 && !p->outer) {
		err = run_filter(walk, p, node, in, r->dev);
		if (err)
			return err;
		strbuf_addf(text, "%sforward, ttl %d", text->len ? ", " : "", p->ttl);
	}
	if (!p->outer)
		run_nat(walk, p, node, in, r->dev, text);
	if (in < 0)
		add_from_to(text, p);
	hop = path_add_hop(walk, p, node, in, r->dev);
	if (text->len)
		hop->text = arena_strdup(&walk->out->arena, strbuf_text(text));
	*route = r;
	return 0;
}

int path_route(struct path_walk *walk, struct path_packet *p, int node, int in, int *end)
{
	for (;;) {
		autostr struct strbuf text = {0};
		const struct wire_route *r = NULL;
		const struct ip *next;
		char buf[ADDR_TEXT];
		int err;

		if (in >= 0 && !p->outer)
			run_nat(walk, p, node, in, -1, &text);
		if (path_node_has(walk->w, node, &p->dst)) {
			if (!p->src.family) /* to itself */
				p->src = p->dst;
			deliver(walk, p, node, in, &text);
			*end = in;
			return 0;
		}
		err = leave(walk, p, node, in, &text, &r);
		if (err)
			return err;
		next = r->via.family ? &r->via : &p->dst;
		in = path_l2_carry(walk, p, r->dev, next);
		if (in < 0)
			return err_input(walk->err, "nobody answers for %s behind %s:%s",
					 ip_format(buf, next), node_name(walk, node),
					 walk->w->devs.v[r->dev].name);
		node = walk->w->devs.v[in].node;
	}
}

/* Whom a frame that leaves by `dev` gets to next, in a word. */
static const char *towards(const struct path_walk *walk, int dev)
{
	const struct wire *w = walk->w;
	const struct wire_dev *d = &w->devs.v[dev];
	int far;

	if (d->kind != DEV_VETH || d->role == ROLE_UPLINK)
		return d->name;
	far = w->devs.v[redirect_far_end(w, walk->redirect, dev)].node;
	return far == d->node ? d->name : node_name(walk, far);
}

static const char *tunnel_text(const struct path_walk *walk, size_t i)
{
	const struct path_hop *hop = &walk->out->hops.v[i];
	const struct wire_dev *d = &walk->w->devs.v[hop->dev_out];

	for (size_t k = i + 1; k < walk->out->hops.n; k++) {
		const struct path_hop *far = &walk->out->hops.v[k];

		if (far->dev_out >= 0 && walk->w->devs.v[far->dev_out].kind == DEV_VXLAN)
			return arena_printf(
			    &walk->out->arena, "encapsulate VNI %d, %s → %s, MTU %d inside", d->vni,
			    node_name(walk, hop->node), node_name(walk, far->node), d->mtu);
	}
	return "";
}

/* Words for the hops that the search of layer 2 left without: it adds many that it drops again. */
static void describe(struct path_walk *walk)
{
	bool inside = false; /* a tunnel */

	for (size_t i = 0; i < walk->out->hops.n; i++) {
		struct path_hop *hop = &walk->out->hops.v[i];
		const struct wire_dev *out =
		    hop->dev_out < 0 ? NULL : &walk->w->devs.v[hop->dev_out];

		if (out && out->kind == DEV_VXLAN) {
			hop->text =
			    inside ? arena_printf(&walk->out->arena, "decapsulate VNI %d", out->vni)
				   : tunnel_text(walk, i);
			inside = !inside;
		} else if (!hop->text && out && out->vlan) {
			hop->text = arena_printf(&walk->out->arena, "%stag VLAN %d",
						 out->kind == DEV_VLAN ? "" : "un", out->vlan);
		} else if (!hop->text) {
			hop->text = arena_printf(&walk->out->arena, "forward to %s",
						 towards(walk, hop->dev_out));
		}
	}
}

static int least_mtu(const struct wire *w, const struct path *p)
{
	int mtu = INT32_MAX, encap = 0;

	VEC_FOREACH (hop, &p->hops) {
		if (hop->dev_in >= 0 && w->devs.v[hop->dev_in].mtu - encap < mtu)
			mtu = w->devs.v[hop->dev_in].mtu - encap;
		encap = hop->encap_bytes;
		if (hop->dev_out >= 0 && w->devs.v[hop->dev_out].mtu - encap < mtu)
			mtu = w->devs.v[hop->dev_out].mtu - encap;
	}
	return mtu == INT32_MAX ? 65536 : mtu; /* never left its node: loopback's */
}

static int walk_from(struct path_walk *walk, struct path_packet *p, int node)
{
	int end, err;

	memset(walk->out, 0, sizeof(*walk->out));
	arena_init(&walk->out->arena);
	walk->redirect = redirect_find(walk->w);
	err = path_route(walk, p, node, -1, &end);
	if (!err) {
		describe(walk);
		walk->out->mtu = least_mtu(walk->w, walk->out);
	}
	redirect_free(walk->redirect);
	return err;
}

static int find_endpoint(const struct wire *w, const char *name, const struct wire_endpoint **out,
			 struct err *err)
{
	autofree const char **names = NULL;
	const char *near;

	*out = wire_find_endpoint(w, name);
	if (*out)
		return 0;
	names = mem_zalloc((w->endpoints.n + 1) * sizeof(*names));
	for (size_t i = 0; i < w->endpoints.n; i++)
		names[i] = w->endpoints.v[i].name;
	near = str_suggest(name, names, w->endpoints.n);
	return err_input(err, "'%s' is no endpoint of this lab%s%s%s", name,
			 near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

int path_find(const struct wire *w, const char *src, const char *dst, int family, struct path *out,
	      struct err *err)
{
	struct path_walk walk = {.w = w, .out = out, .err = err};
	struct path_packet p = {.ttl = FIRST_TTL};
	const struct wire_endpoint *from, *to;
	int rc;

	memset(out, 0, sizeof(*out));
	rc = find_endpoint(w, src, &from, err);
	if (!rc)
		rc = find_endpoint(w, dst, &to, err);
	if (rc)
		return rc;
	p.dst = family == AF_INET6 ? to->ip6 : to->ip4;
	if (!p.dst.family)
		return err_input(err, "%s has no %s address", dst,
				 family == AF_INET6 ? "IPv6" : "IPv4");
	rc = walk_from(&walk, &p, from->node);
	if (!rc && out->dst_node != to->node) /* another network has the same address */
		rc = err_input(err, "it ends at %s, who has that address where %s is",
			       w->nodes.v[out->dst_node].name, src);
	return rc ? err_wrap(err, "path from %s to %s", src, dst) : 0;
}

int path_reverse(const struct wire *w, const struct path *p, struct path *out, struct err *err)
{
	struct path_walk walk = {.w = w, .out = out, .undo = p, .err = err};
	struct path_packet back = {.src = p->dst_final, .dst = p->src_seen, .ttl = FIRST_TTL};
	int node = p->hops.v[0].node;
	const char *from = w->nodes.v[p->dst_node].name, *to = w->nodes.v[node].name;

	if (walk_from(&walk, &back, p->dst_node))
		return err_wrap(err, "way back from %s to %s", from, to);
	if (out->dst_node != node)
		return err_input(err, "way back from %s to %s: it ends at %s", from, to,
				 w->nodes.v[out->dst_node].name);
	return 0;
}

void path_done(struct path *p)
{
	arena_done(&p->arena);
	memset(p, 0, sizeof(*p));
}
