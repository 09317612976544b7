/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compile_dev: adds nodes, devices, addresses, routes, rules and links to the wire model, and fills
 * in what follows from the rest: names of 15 bytes, indices, MACs. It knows no cloud word. Called
 * by the other compile_*.c.
 */
#include <stdarg.h>
#include <stdio.h>
#include <sys/socket.h>

#include "emulator/model/compile.h"
#include "emulator/model/ifname.h"

#define FIRST_IFINDEX 100 /* above what a fresh namespace has (lo, fallback tunnels) */

int compile_dev_node(struct compile *c, const char *name, enum node_kind kind, int host)
{
	const char *unique = name;
	struct wire_node *n;

	/* Only names that we make can meet one that the user chose: EIP namespaces. */
	for (int i = 2; !keyset_add_text(&c->nodes, 0, unique, 0); i++)
		unique = arena_printf(&c->w->arena, "%s-%d", name, i);
	n = VEC_ADD(&c->w->arena, &c->w->nodes);
	n->name = arena_strdup(&c->w->arena, unique);
	n->kind = kind;
	n->host = host;
	*VEC_ADD(&c->scratch, &c->next_ifindex) = FIRST_IFINDEX;
	return (int)c->w->nodes.n - 1;
}

int compile_dev_new(struct compile *c, const struct compile_dev *spec)
{
	struct ifname_want want = {.node = spec->node, .head = spec->want, .tail = spec->tail};
	struct wire_dev *d = VEC_ADD(&c->w->arena, &c->w->devs);
	autofree char *text = NULL;

	d->node = spec->node;
	ifname_pick(&c->ifnames, &c->w->arena, &want, &d->name, &d->altname);
	if (spec->altname && keyset_add_text(&c->ifnames, spec->node, spec->altname, 0))
		d->altname = arena_strdup(&c->w->arena, spec->altname);
	d->kind = spec->kind;
	d->role = spec->role;
	d->ifindex = c->next_ifindex.v[spec->node]++;
	text = mem_printf("%s/%s", c->w->nodes.v[spec->node].name, d->name);
	d->mac = mac_from_text(text);
	d->mtu = spec->mtu;
	d->big_tcp = spec->big_tcp;
	d->peer = -1;
	d->master = spec->master;
	d->egress_link = d->netem_link = d->lower = -1;
	return (int)c->w->devs.n - 1;
}

int compile_dev_veth(struct compile *c, const struct compile_dev *a, const struct compile_dev *b)
{
	int i = compile_dev_new(c, a), k = compile_dev_new(c, b);

	c->w->devs.v[i].peer = k;
	c->w->devs.v[k].peer = i;
	return i;
}

/* ---- addresses and routes ---- */

/* Those who send traffic of their own pin what congestion control they do it with. */
static const char *congctl_of(const struct compile *c, int node)
{
	enum node_kind kind = c->w->nodes.v[node].kind;

	return kind == NODE_VM || kind == NODE_MACHINE ? "cubic" : NULL;
}

static struct wire_route *add_route(struct compile *c, int dev)
{
	struct wire_route *r = VEC_ADD(&c->w->arena, &c->w->routes);

	r->dev = dev;
	r->node = c->w->devs.v[dev].node;
	r->congctl = congctl_of(c, r->node);
	return r;
}

static bool has_network(const struct compile *c, int dev, const struct prefix *p)
{
	VEC_FOREACH (a, &c->w->devs.v[dev].addrs) {
		if (prefix_same_network(&a->prefix, p))
			return true;
	}
	return false;
}

void compile_dev_addr(struct compile *c, int dev, const struct ip *ip, int len)
{
	struct prefix prefix = {.ip = *ip, .len = len};
	bool second = has_network(c, dev, &prefix);
	struct wire_route *r;

	*VEC_ADD(&c->w->arena, &c->w->devs.v[dev].addrs) = (struct wire_addr){prefix};
	if (second)
		return;
	r = add_route(c, dev);
	r->dst = prefix_network(&prefix);
	r->src = *ip;
}

void compile_dev_route(struct compile *c, int dev, const struct prefix *dst, const struct ip *via)
{
	struct wire_route *r = add_route(c, dev);

	r->dst = *dst;
	r->via = *via;
}

void compile_dev_default(struct compile *c, int dev, const struct ip *via)
{
	struct prefix all = {.ip = {.family = via->family}};

	compile_dev_route(c, dev, &all, via);
}

/* ---- sysctls ---- */

void compile_dev_sysctl(struct compile *c, int node, const char *key, const char *value)
{
	struct wire_node *n = &c->w->nodes.v[node];
	struct wire_sysctl *s;

	VEC_FOREACH (earlier, &n->sysctls) {
		if (!str_eq(earlier->key, key))
			continue;
		earlier->value = arena_strdup(&c->w->arena, value);
		return;
	}
	s = VEC_ADD(&c->w->arena, &n->sysctls);
	s->key = arena_strdup(&c->w->arena, key);
	s->value = arena_strdup(&c->w->arena, value);
	/* A kernel without IPv6 or br_netfilter has nothing to switch off. */
	s->optional =
	    str_starts(key, "net/bridge/") || str_eq(key, "net/ipv6/conf/all/disable_ipv6");
}

void compile_dev_ipv6(struct compile *c, int node, bool has_ipv6, bool forward)
{
	/* Off: no duplicate address detection and no multicast reports where nobody asked. */
	compile_dev_sysctl(c, node, "net/ipv6/conf/all/disable_ipv6", has_ipv6 ? "0" : "1");
	if (!has_ipv6)
		return;
	/* "all" does not cover devices to come, "default" does: they are born afterwards. */
	compile_dev_sysctl(c, node, "net/ipv6/conf/all/accept_dad", "0");
	compile_dev_sysctl(c, node, "net/ipv6/conf/default/accept_dad", "0");
	compile_dev_sysctl(c, node, "net/ipv6/conf/all/accept_ra", "0");
	compile_dev_sysctl(c, node, "net/ipv6/conf/default/accept_ra", "0");
	compile_dev_sysctl(c, node, "net/ipv6/conf/all/forwarding", forward ? "1" : "0");
	compile_dev_sysctl(c, node, "net/ipv6/conf/default/forwarding", forward ? "1" : "0");
	/* Who forwards asks for neighbours from its link-local address and asks nobody without one
	 * (ndisc_send_ns() in net/ipv6/ndisc.c). Nobody else needs one: see emulator/plan. */
	if (forward)
		compile_dev_sysctl(c, node, "net/ipv6/conf/default/addr_gen_mode", "0");
}

/* A new namespace takes over the machine's own setting, and distributions differ. */
void compile_dev_rp_filter_off(struct compile *c, int node)
{
	compile_dev_sysctl(c, node, "net/ipv4/conf/all/rp_filter", "0");
	compile_dev_sysctl(c, node, "net/ipv4/conf/default/rp_filter", "0");
}

/* ---- links ---- */

int compile_dev_link(struct compile *c, const char *name, int a, int b)
{
	struct wire_link *l = VEC_ADD(&c->w->arena, &c->w->links);

	l->name = name;
	l->dev_a = a;
	l->dev_b = b;
	l->shaper_ab = l->shaper_ba = -1;
	l->middle[0] = l->middle[1] = l->span[0] = l->span[1] = -1;
	return (int)c->w->links.n - 1;
}

void compile_dev_shape(struct compile *c, int dev, int link, bool ba)
{
	struct wire_link *l = &c->w->links.v[link];
	struct wire_dev *d = &c->w->devs.v[dev];
	const struct wire_shape *shape = ba ? &l->ba : &l->ab;

	if (!wire_shape_any(shape))
		return;
	d->egress = *shape;
	d->egress_link = link;
	d->egress_ba = ba;
	*(ba ? &l->shaper_ba : &l->shaper_ab) = dev;
	if (shape->rate.police && !c->o->machine.police)
		compile_dev_choice(c, "police",
				   "a queue of two frames; act_police not in this kernel");
}

int compile_dev_endpoint(struct compile *c, const char *name, int node)
{
	struct wire_endpoint *e = VEC_ADD(&c->w->arena, &c->w->endpoints);

	e->name = name;
	e->node = node;
	return (int)c->w->endpoints.n - 1;
}

void compile_dev_choice(struct compile *c, const char *what, const char *how)
{
	VEC_FOREACH (choice, &c->w->choices) {
		if (str_eq(choice->what, what))
			return;
	}
	*VEC_ADD(&c->w->arena, &c->w->choices) = (struct wire_choice){what, how};
}

/* ---- rules ---- */

int compile_dev_chain(struct compile *c, const struct compile_chain *in, const char *name,
		      const char *hook)
{
	struct wire_nft_chain *chain = VEC_ADD(&c->w->arena, &c->w->nft);

	chain->node = in->node;
	chain->family = in->family;
	chain->table = in->table;
	chain->chain = arena_strdup(&c->w->arena, name);
	chain->hook = hook;
	return (int)c->w->nft.n - 1;
}

int compile_dev_ingress(struct compile *c, int dev, const char *table)
{
	const struct wire_dev *d = &c->w->devs.v[dev];
	struct compile_chain in = {d->node, "netdev", table};

	return compile_dev_chain(
	    c, &in, arena_printf(&c->scratch, "from-%s", d->name),
	    arena_printf(&c->w->arena,
			 "type filter hook ingress device \"%s\" priority 0; policy accept;",
			 d->name));
}

void compile_dev_rule(struct compile *c, int chain, const char *comment, const char *fmt, ...)
{
	struct wire_nft_rule *r = VEC_ADD(&c->w->arena, &c->w->nft.v[chain].rules);
	autofree char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		abort();
	va_end(ap);
	r->text = arena_strdup(&c->w->arena, text);
	r->comment = comment;
}

void compile_dev_police(struct compile *c, int chain, const struct wire_pps *pps)
{
	if (pps->pps && pps->police)
		compile_dev_rule(c, chain, NULL,
				 "limit rate over %lld/second burst %lld packets counter drop",
				 (long long)pps->pps, (long long)wire_police_burst(pps));
}
