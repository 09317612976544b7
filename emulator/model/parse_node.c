/* SPDX-License-Identifier: GPL-2.0-or-later */
/* parse_node: the wire level of a topology file: `nodes` and `links`. Called by topology.c. */
#include <netinet/in.h>
#include <string.h>

#include "emulator/model/ifname.h"
#include "emulator/model/parse.h"

static bool is_ifname(const char *s)
{
	/* dev_valid_name() of the kernel, less what would need quoting in nft and OVS. */
	return *s && strlen(s) <= IFNAME_LEN && !str_eq(s, ".") && !str_eq(s, "..") &&
	       !s[strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.")];
}

static void check_ifname(struct parse *ps, const char *s, struct mark at)
{
	if (strlen(s) > IFNAME_LEN)
		problems_add(ps->p, at, "interface name '%s' has %zu bytes; the kernel takes %d", s,
			     strlen(s), IFNAME_LEN);
	else if (!is_ifname(s))
		problems_add(ps->p, at,
			     "'%s' is not an interface name: letters, digits, '-', '_' "
			     "and '.'",
			     s);
	else if (str_eq(s, "lo") || str_eq(s, "all") || str_eq(s, "default"))
		problems_add(ps->p, at, "the interface name '%s' is the kernel's own", s);
}

/* ---- nodes ---- */

static void add_address(struct parse *ps, struct cloud_node *node, const char *ifname,
			const struct yaml_node *n)
{
	const char *s = yaml_want_text(n, "address", ps->p);
	struct err err = ERR_INIT;
	struct prefix prefix;

	if (!s)
		return;
	if (prefix_parse(s, &prefix, &err) < 0) {
		problems_add(ps->p, n->at, "address: %s", err.text);
		return;
	}
	if (prefix.len < 1) {
		problems_add(ps->p, n->at, "address '%s': the prefix length is at least 1", s);
		return;
	}
	*VEC_ADD(&ps->t->arena, &node->addresses) =
	    (struct cloud_ifaddr){.ifname = ifname, .prefix = prefix, .at = n->at};
}

static void add_addresses(struct parse *ps, struct cloud_node *node, const char *ifname,
			  const struct yaml_node *n)
{
	if (n->kind != YAML_SEQ) {
		add_address(ps, node, ifname, n);
		return;
	}
	VEC_FOREACH (item, &n->items)
		add_address(ps, node, ifname, *item);
}

static void read_addresses(struct parse *ps, struct cloud_node *node, const struct yaml_node *n)
{
	if (!n)
		return;
	if (node->kind == NODE_SWITCH) {
		problems_add(ps->p, n->at, "node '%s' is a switch: it has no addresses",
			     node->name);
		return;
	}
	if (n->kind != YAML_MAP) {
		add_addresses(ps, node, NULL, n);
		return;
	}
	VEC_FOREACH (pair, &n->pairs)
		add_addresses(ps, node, pair->key, pair->value);
}

/* "default via 10.0.1.254", "10.0.2.0/24 via 10.0.1.254", "10.0.3.0/24 dev eth1" */
static bool parse_route(struct parse *ps, const struct yaml_node *n, char *text,
			struct cloud_route *r)
{
	struct err err = ERR_INIT;
	char *save = NULL, *word = strtok_r(text, " \t", &save);
	bool by_default = str_eq(word, "default");

	if (!word || (!by_default && prefix_parse(word, &r->dst, &err) < 0))
		goto bad;
	while ((word = strtok_r(NULL, " \t", &save))) {
		char *value = strtok_r(NULL, " \t", &save);

		if (value && str_eq(word, "via") && ip_parse(value, &r->via, &err) == 0)
			continue;
		if (!value || !str_eq(word, "dev") || !is_ifname(value))
			goto bad;
		r->dev = arena_strdup(&ps->t->arena, value);
	}
	if (!r->via.family && !r->dev)
		goto bad;
	if (by_default)
		r->dst.ip.family = r->via.family == AF_INET6 ? AF_INET6 : AF_INET;
	r->dst = prefix_network(&r->dst);
	if (!r->via.family || r->via.family == r->dst.ip.family)
		return true;
bad:
	problems_add(ps->p, n->at,
		     "'%s' is not a route; write it like 'default via 10.0.1.254' or "
		     "'10.0.2.0/24 dev eth1'",
		     n->text);
	return false;
}

static void read_routes(struct parse *ps, struct cloud_node *node, const struct yaml_node *list)
{
	list = yaml_want_seq(list, "routes", ps->p);
	if (list && node->kind == NODE_SWITCH)
		problems_add(ps->p, list->at, "node '%s' is a switch: it has no routes",
			     node->name);
	for (size_t i = 0; list && i < list->items.n; i++) {
		const struct yaml_node *n = list->items.v[i];
		struct cloud_route route = {.at = n->at};
		const char *s = yaml_want_text(n, "route", ps->p);
		autofree char *text = NULL;

		if (!s)
			continue;
		text = mem_strdup(s);
		if (parse_route(ps, n, text, &route))
			*VEC_ADD(&ps->t->arena, &node->routes) = route;
	}
}

static void read_sysctl(struct parse *ps, struct cloud_node *node, const struct yaml_pair *pair)
{
	const char *value = yaml_want_text(pair->value, pair->key, ps->p);
	char *key = arena_strdup(&ps->t->arena, pair->key);

	if (!value)
		return;
	/* Dots separate unless there are slashes, as sysctl(8) has it. */
	if (!strchr(key, '/')) {
		for (char *c = key; *c; c++)
			*c = *c == '.' ? '/' : *c;
	}
	if (!str_starts(key, "net/") || strstr(key, "..") || strstr(key, "//") ||
	    key[strspn(key, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./")])
		problems_add(ps->p, pair->key_at,
			     "sysctl '%s': only those below net belong to a "
			     "node",
			     pair->key);
	else if (strchr(value, '\n'))
		problems_add(ps->p, pair->value->at, "a sysctl's value is one line");
	else
		*VEC_ADD(&ps->t->arena, &node->sysctls) =
		    (struct cloud_sysctl){.key = key, .value = value};
}

static void read_node(struct parse *ps, const struct yaml_pair *pair)
{
	static const char *const kinds[] = {"machine", "router", "switch", NULL};
	static const enum node_kind values[] = {NODE_MACHINE, NODE_ROUTER, NODE_SWITCH};
	const struct yaml_node *map = parse_value_map(ps, pair->value, pair->key);
	struct cloud_node *node = VEC_ADD(&ps->t->arena, &ps->t->nodes);
	const struct yaml_node *sysctls;
	int kind = 0;

	node->name = pair->key;
	node->at = pair->key_at;
	parse_value_name(ps, pair->key, pair->key_at, "node");
	parse_keys_check(&parse_keys_node, map, ps->p);
	parse_value_enum(ps, yaml_get(map, "kind"), "kind", kinds, &kind);
	node->kind = values[kind];
	read_addresses(ps, node, yaml_get(map, "addresses"));
	read_routes(ps, node, yaml_get(map, "routes"));
	sysctls = parse_value_map(ps, yaml_get(map, "sysctls"), "sysctls");
	VEC_FOREACH (s, &sysctls->pairs)
		read_sysctl(ps, node, s);
}

void parse_node(struct parse *ps, const struct yaml_node *n)
{
	const struct yaml_node *map = parse_value_map(ps, n, "nodes");

	VEC_FOREACH (pair, &map->pairs)
		read_node(ps, pair);
}

/* ---- links ---- */

static bool read_end(struct parse *ps, const struct yaml_node *n, struct cloud_end *end)
{
	const char *s = yaml_want_text(n, "endpoint", ps->p);
	const char *colon = s ? strrchr(s, ':') : NULL;

	end->node = (struct cloud_ref){.index = -1, .at = n->at};
	if (!s)
		return false;
	if (!colon || colon == s || !colon[1]) {
		problems_add(ps->p, n->at, "'%s' is not an endpoint; write it like \"a:eth1\"", s);
		return false;
	}
	end->node.name = arena_strndup(&ps->t->arena, s, (size_t)(colon - s));
	end->ifname = colon + 1;
	check_ifname(ps, end->ifname, n->at);
	return true;
}

static bool read_ends(struct parse *ps, const struct yaml_node *map, struct cloud_link *link)
{
	const struct yaml_node *list = yaml_get(map, "endpoints");
	bool good = true;

	if (!list)
		problems_add(ps->p, link->at,
			     "a link needs 'endpoints', like [\"a:eth1\", "
			     "\"b:eth1\"]");
	list = yaml_want_seq(list, "endpoints", ps->p);
	if (!list)
		return false;
	if (list->items.n != 2) {
		problems_add(ps->p, list->at, "a link has two endpoints, this has %zu",
			     list->items.n);
		return false;
	}
	for (int i = 0; i < 2; i++)
		good = read_end(ps, list->items.v[i], &link->end[i]) && good;
	return good;
}

static void read_direction(struct parse *ps, const struct yaml_node *n, struct cloud_link *link,
			   int dir)
{
	static const char *const names[] = {"ab", "ba"};
	const struct yaml_node *map = parse_value_map(ps, n, names[dir]);
	struct wire_impair *impair = &link->impair[dir].impair;
	uint64_t common = impair->seed;

	impair->seed = 0;
	parse_keys_check(&parse_keys_direction, map, ps->p);
	parse_shape(ps, map, &link->dir[dir]);
	parse_impair(ps, map, &link->impair[dir]);
	if (!impair->seed && common && !dir)
		impair->seed = common; /* as it was asked for */
	else if (!impair->seed && link->end[dir].node.name)
		impair->seed = cloud_seed(common, arena_printf(&ps->t->arena, "%s:%s",
							       link->end[dir].node.name,
							       link->end[dir].ifname));
}

#define BIG_TCP_ABOVE (64 << 10)
#define BIG_TCP_MAX   (8 * 65535) /* GSO_MAX_SIZE in Linux's netdevice.h */

/* Above what IPv4 and plain IPv6 can say in 16 bits, up to what veth carries. */
static void read_big_tcp(struct parse *ps, const struct yaml_node *n, struct cloud_num *out)
{
	int64_t bytes;

	if (!n || !parse_value_size(ps, n, "big_tcp", &bytes))
		return;
	if (bytes <= BIG_TCP_ABOVE || bytes > BIG_TCP_MAX)
		problems_add(ps->p, n->at,
			     "big_tcp: %lld bytes are not above 64KiB and at most 524280; 256KiB "
			     "is usual",
			     (long long)bytes);
	else
		*out = (struct cloud_num){.v = (int)bytes, .at = n->at};
}

static void read_link(struct parse *ps, const struct yaml_node *n)
{
	static const char *const vias[] = {
	    [VIA_AUTO] = "auto", [VIA_NETEM] = "netem", [VIA_RELAY] = "relay", NULL};
	const struct yaml_node *map = parse_value_map(ps, n, "link"), *via = yaml_get(map, "via");
	struct cloud_link link = {.at = n->at};
	int which = VIA_AUTO;
	bool good;

	parse_keys_check(&parse_keys_link, map, ps->p);
	good = read_ends(ps, map, &link);
	parse_shape(ps, map, &link.dir[0]);
	parse_impair(ps, map, &link.impair[0]);
	link.dir[1] = link.dir[0];
	link.impair[1] = link.impair[0];
	read_direction(ps, yaml_get(map, "ab"), &link, 0);
	read_direction(ps, yaml_get(map, "ba"), &link, 1);
	parse_value_mtu(ps, yaml_get(map, "mtu"), &link.mtu);
	read_big_tcp(ps, yaml_get(map, "big_tcp"), &link.big_tcp);
	parse_value_enum(ps, via, "via", vias, &which);
	link.via = (enum cloud_via)which;
	if (via)
		link.via_at = via->at;
	if (good)
		*VEC_ADD(&ps->t->arena, &ps->t->links) = link;
}

void parse_link(struct parse *ps, const struct yaml_node *n)
{
	const struct yaml_node *list = yaml_want_seq(n, "links", ps->p);

	for (size_t i = 0; list && i < list->items.n; i++)
		read_link(ps, list->items.v[i]);
}
