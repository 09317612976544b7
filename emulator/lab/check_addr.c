/* SPDX-License-Identifier: GPL-2.0-or-later */
/* check_addr: addresses, routes, neighbours, forwarding entries against the plan. Called by
 * check.c. */
#include "emulator/lab/check_node.h"

#include <string.h>
#include <sys/socket.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>

static bool check_prefix_equal(const struct prefix *a, const struct prefix *b)
{
	return a->len == b->len && ip_equal(&a->ip, &b->ip);
}

/* Does the plan have the kernel give devices link-local addresses by their MAC here? */
static bool check_link_local(const struct check_node *c)
{
	CHECK_FOREACH (op, c, OP_SYSCTL)
		if (str_eq(op->sysctl.key, "net/ipv6/conf/default/addr_gen_mode"))
			return str_eq(op->sysctl.value, "0");
	return false;
}

/* fe80::/64 with the device's MAC as a modified EUI-64 (RFC 4291, appendix A). */
static bool check_addr_by_mac(const struct check_node *c, const struct dump_addr *a)
{
	struct ip want = {.family = AF_INET6, .bytes = {0xfe, 0x80}};

	VEC_FOREACH (l, &c->dump.links) {
		const uint8_t *m = l->mac.bytes;
		const uint8_t tail[] = {m[0] ^ 2, m[1], m[2], 0xff, 0xfe, m[3], m[4], m[5]};

		memcpy(want.bytes + 8, tail, sizeof(tail));
		if (l->ifindex == a->ifindex)
			return a->prefix.len == 64 && ip_equal(&want, &a->prefix.ip);
	}
	return false;
}

static bool check_route_by_mac(const struct dump_route *r)
{
	static const uint8_t link_local[16] = {0xfe, 0x80};

	return r->dst.ip.family == AF_INET6 && r->dst.len == 64 && !r->via.family &&
	       !memcmp(r->dst.ip.bytes, link_local, sizeof(link_local));
}

static bool check_addr_planned(const struct check_node *c, const struct dump_addr *a)
{
	CHECK_FOREACH (op, c, OP_ADDR)
		if (check_ifindex(c, op) == a->ifindex && check_prefix_equal(&op->addr, &a->prefix))
			return true;
	return !strcmp(check_name(c, a->ifindex), "lo") ||
	       (check_link_local(c) && check_addr_by_mac(c, a));
}

void check_addrs(struct check_node *c)
{
	char text[ADDR_TEXT];

	CHECK_FOREACH (op, c, OP_ADDR) {
		bool found = false;
		VEC_FOREACH (a, &c->dump.addrs)
			found = found || (a->ifindex == check_ifindex(c, op) &&
					  check_prefix_equal(&op->addr, &a->prefix));
		if (!found)
			check_say(c, "%s: address %s missing", op->dev,
				  prefix_format(text, &op->addr));
	}
	VEC_FOREACH (a, &c->dump.addrs)
		if (!check_addr_planned(c, a))
			check_say(c, "%s: address %s not planned", check_name(c, a->ifindex),
				  prefix_format(text, &a->prefix));
}

static bool check_route_same(const struct check_node *c, const struct op *op,
			     const struct dump_route *r)
{
	/* A default route has no address: only its family counts. */
	bool dst = op->route.dst.len
		       ? check_prefix_equal(&op->route.dst, &r->dst)
		       : r->dst.len == 0 && op->route.dst.ip.family == r->dst.ip.family;

	return dst && r->ifindex == check_ifindex(c, op) && ip_equal(&op->route.via, &r->via);
}

static const char *check_route_text(char text[static ADDR_TEXT], const struct prefix *dst)
{
	return dst->len ? prefix_format(text, dst) : "default";
}

static void check_route_rest(struct check_node *c, const struct op *op, const struct dump_route *r)
{
	char dst[ADDR_TEXT], a[ADDR_TEXT], b[ADDR_TEXT];
	const char *text = check_route_text(dst, &op->route.dst);

	if (!ip_equal(&op->route.src, &r->src))
		check_say(c, "%s: route %s: source planned %s, is %s", op->dev, text,
			  op->route.src.family ? ip_format(a, &op->route.src) : "none",
			  r->src.family ? ip_format(b, &r->src) : "none");
	if (!str_eq(op->route.congctl, r->congctl))
		check_say(c, "%s: route %s: congestion control planned %s, is %s", op->dev, text,
			  op->route.congctl ? op->route.congctl : "none",
			  r->congctl ? r->congctl : "none");
}

void check_routes(struct check_node *c)
{
	char text[ADDR_TEXT];

	CHECK_FOREACH (op, c, OP_ROUTE) {
		const struct dump_route *found = NULL;
		VEC_FOREACH (r, &c->dump.routes)
			if (check_route_same(c, op, r))
				found = r;
		if (found)
			check_route_rest(c, op, found);
		else
			check_say(c, "%s: route %s missing", op->dev,
				  check_route_text(text, &op->route.dst));
	}
	VEC_FOREACH (r, &c->dump.routes) {
		bool planned = check_link_local(c) && check_route_by_mac(r);
		CHECK_FOREACH (op, c, OP_ROUTE)
			planned = planned || check_route_same(c, op, r);
		if (!planned)
			check_say(c, "%s: route %s not planned", check_name(c, r->ifindex),
				  check_route_text(text, &r->dst));
	}
}

static void check_neigh(struct check_node *c, const struct op *op)
{
	char ip[ADDR_TEXT], a[ADDR_TEXT], b[ADDR_TEXT];

	ip_format(ip, &op->neigh.ip);
	VEC_FOREACH (n, &c->dump.neighs) {
		if (n->fdb || n->ifindex != check_ifindex(c, op) ||
		    !ip_equal(&n->ip, &op->neigh.ip))
			continue;
		if (!mac_equal(&n->mac, &op->neigh.mac))
			check_say(c, "%s: neighbour %s planned %s, is %s", op->dev, ip,
				  mac_format(a, &op->neigh.mac), mac_format(b, &n->mac));
		return;
	}
	check_say(c, "%s: neighbour %s missing", op->dev, ip);
}

/* A flooding entry of a VXLAN device: all-zero MAC. */
static bool check_is_flood(const struct dump_neigh *n)
{
	static const struct mac zero;

	return n->fdb && n->ip.family && mac_equal(&n->mac, &zero);
}

static void check_fdb(struct check_node *c, const struct op *op)
{
	char ip[ADDR_TEXT];

	VEC_FOREACH (n, &c->dump.neighs) {
		if (check_is_flood(n) && n->ifindex == check_ifindex(c, op) &&
		    ip_equal(&n->ip, &op->fdb))
			return;
	}
	check_say(c, "%s: forwarding entry to %s missing", op->dev, ip_format(ip, &op->fdb));
}

static bool check_neigh_planned(const struct check_node *c, const struct dump_neigh *n)
{
	CHECK_FOREACH (op, c, OP_NEIGH)
		if (!n->fdb && check_ifindex(c, op) == n->ifindex &&
		    ip_equal(&op->neigh.ip, &n->ip))
			return true;
	CHECK_FOREACH (op, c, OP_FDB)
		if (n->fdb && check_ifindex(c, op) == n->ifindex && ip_equal(&op->fdb, &n->ip))
			return true;
	return false;
}

void check_neighs(struct check_node *c)
{
	char ip[ADDR_TEXT];

	CHECK_FOREACH (op, c, OP_NEIGH)
		check_neigh(c, op);
	CHECK_FOREACH (op, c, OP_FDB)
		check_fdb(c, op);
	VEC_FOREACH (n, &c->dump.neighs) {
		if ((n->fdb && !check_is_flood(n)) || check_neigh_planned(c, n))
			continue;
		check_say(c, "%s: %s %s not planned", check_name(c, n->ifindex),
			  n->fdb ? "forwarding entry to" : "neighbour", ip_format(ip, &n->ip));
	}
}
