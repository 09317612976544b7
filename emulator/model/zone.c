/* SPDX-License-Identifier: GPL-2.0-or-later */
/* zone: finds who has a link-local address on a wire. Called by cli/where.c. */
#include "emulator/model/zone.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "core/base/str.h"
#include "emulator/model/path_walk.h"

/* Does the kernel make addresses from MACs there? See emulator/plan/plan.c. */
static bool makes_addresses(const struct wire_node *n)
{
	VEC_FOREACH (s, &n->sysctls) {
		if (str_eq(s->key, "net/ipv6/conf/default/addr_gen_mode"))
			return str_eq(s->value, "0");
	}
	return false;
}

static const struct ip *link_local_of(const struct wire_dev *d)
{
	VEC_FOREACH (a, &d->addrs) {
		if (ip_is_link_local(&a->prefix.ip))
			return &a->prefix.ip;
	}
	return NULL;
}

/* fe80::/64 with the MAC as a modified EUI-64 (RFC 4291, appendix A). */
static void add_made(struct wire *w)
{
	VEC_FOREACH (d, &w->devs) {
		const uint8_t *m = d->mac.bytes;
		const uint8_t tail[] = {m[0] ^ 2, m[1], m[2], 0xff, 0xfe, m[3], m[4], m[5]};
		struct ip made = {.family = AF_INET6, .bytes = {0xfe, 0x80}};

		memcpy(made.bytes + 8, tail, sizeof(tail));
		if (d->master < 0 && makes_addresses(&w->nodes.v[d->node]) &&
		    !path_dev_has(w, (int)(d - w->devs.v), &made))
			*VEC_ADD(&w->arena, &d->addrs) =
			    (struct wire_addr){{.ip = made, .len = 64}};
	}
}

static int find_dev(const struct wire *w, int node, const char *zone, struct err *err)
{
	autofree const char **names = mem_zalloc((w->devs.n + 1) * sizeof(*names));
	int dev = wire_find_dev(w, node, zone);
	size_t n = 0;

	if (dev >= 0)
		return dev;
	VEC_FOREACH (d, &w->devs) {
		if (d->node == node)
			names[n++] = d->name;
	}
	const char *near = str_suggest(zone, names, n);
	return err_input(err, "%s has no device '%s'%s%s%s", w->nodes.v[node].name, zone,
			 near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

/* The device behind `dev` that has the address; -1: none. */
static int find_owner(const struct wire *w, int dev, const struct ip *own, const struct ip *ip)
{
	struct path found = {0};
	struct err ignored = ERR_INIT;
	struct path_walk walk = {.w = w, .out = &found, .err = &ignored};
	const struct path_packet p = {.src = *own, .dst = *ip, .ttl = 1};

	if (path_dev_has(w, dev, ip))
		return dev;
	arena_init(&found.arena);
	walk.redirect = redirect_find(w);
	int owner = path_l2_carry(&walk, &p, dev, ip);
	redirect_free(walk.redirect);
	path_done(&found);
	return owner;
}

/* A route of one address: it wins over the network of all link-local ones on another device. */
static void add_route(struct wire *w, int dev, const struct ip *dst, const struct ip *src)
{
	*VEC_ADD(&w->arena, &w->routes) = (struct wire_route){
	    .node = w->devs.v[dev].node, .dst = {.ip = *dst, .len = 128}, .dev = dev, .src = *src};
}

static int add_endpoint(struct wire *w, const char *text, int node, const struct ip *ip,
			struct err *err)
{
	const struct wire_endpoint *same = wire_find_endpoint(w, text);

	if (same)
		return same->node == node
			   ? 0
			   : err_input(err, "%s is %s for one source and %s for another", text,
				       w->nodes.v[same->node].name, w->nodes.v[node].name);
	*VEC_ADD(&w->arena, &w->endpoints) =
	    (struct wire_endpoint){.name = arena_strdup(&w->arena, text), .node = node, .ip6 = *ip};
	return 0;
}

int zone_add(struct wire *w, const char *from, const char *text, struct err *err)
{
	const struct wire_endpoint *source = wire_find_endpoint(w, from);
	struct ip_zone z;
	int r = ip_zone_parse(text, &z, err);

	if (r)
		return r;
	if (!source)
		return err_input(err, "'%s' is no endpoint of this lab", from);
	int dev = find_dev(w, source->node, z.zone, err);
	if (dev < 0)
		return dev;
	add_made(w);
	const struct ip *own = link_local_of(&w->devs.v[dev]);
	if (!own)
		return err_input(err,
				 "%s has no link-local address on %s: the topology gives it "
				 "none",
				 from, z.zone);
	int owner = find_owner(w, dev, own, &z.ip);
	if (owner < 0)
		return err_input(err, "nobody has %s behind %s:%s", text, from, z.zone);
	add_route(w, dev, &z.ip, own);
	add_route(w, owner, own, &z.ip);
	return add_endpoint(w, text, w->devs.v[owner].node, &z.ip, err);
}
