/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * parse_value: single values of a topology file: numbers with units, addresses, words, names. Used
 * by the parsers of the sections. It judges a value by itself only; what values say of each other
 * is topology_check*.c's business.
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/units.h"
#include "emulator/model/parse.h"

#define MTU_MAX 65535
#define PPM	1000000

const struct yaml_node *parse_value_map(struct parse *ps, const struct yaml_node *n,
					const char *what)
{
	static const struct yaml_node empty = {.kind = YAML_MAP};
	const struct yaml_node *map;

	if (!n || n->kind == YAML_NULL)
		return &empty;
	map = yaml_want_map(n, what, ps->p);
	return map ? map : &empty;
}

const struct yaml_node *parse_value_map_of(struct parse *ps, const struct yaml_node *n,
					   const char *what, const char *key)
{
	if (!n || n->kind != YAML_SCALAR)
		return parse_value_map(ps, n, what);
	problems_add(ps->p, n->at, "'%s' must be a map, this is a text; write %s: {%s: %s}", what,
		     what, key, n->text);
	return parse_value_map(ps, NULL, what);
}

struct cloud_text parse_value_text(struct parse *ps, const struct yaml_node *n, const char *what)
{
	struct cloud_text text = {0};

	if (n)
		text = (struct cloud_text){.s = yaml_want_text(n, what, ps->p), .at = n->at};
	return text;
}

struct cloud_ref parse_value_ref(struct parse *ps, const struct yaml_node *n, const char *what)
{
	struct cloud_text text = parse_value_text(ps, n, what);

	return (struct cloud_ref){.name = text.s, .at = text.at, .index = -1};
}

bool parse_value_int64(struct parse *ps, const struct yaml_node *n, const char *what,
		       const int64_t range[2], int64_t *out)
{
	const char *s = yaml_want_text(n, what, ps->p);
	struct err err = ERR_INIT;

	if (!s)
		return false;
	if (units_parse_int(s, range[0], range[1], out, &err) == 0)
		return true;
	problems_add(ps->p, n->at, "%s: %s", what, err.text);
	return false;
}

bool parse_value_time(struct parse *ps, const struct yaml_node *n, const char *what, int64_t *ns)
{
	const char *s = yaml_want_text(n, what, ps->p);
	struct err err = ERR_INIT;

	if (!s)
		return false;
	if (units_parse_time(s, ns, &err) == 0)
		return true;
	problems_add(ps->p, n->at, "%s: %s", what, err.text);
	return false;
}

bool parse_value_size(struct parse *ps, const struct yaml_node *n, const char *what, int64_t *bytes)
{
	const char *s = yaml_want_text(n, what, ps->p);
	struct err err = ERR_INIT;

	if (!s)
		return false;
	if (units_parse_size(s, bytes, &err) == 0)
		return true;
	problems_add(ps->p, n->at, "%s: %s", what, err.text);
	return false;
}

bool parse_value_percent(struct parse *ps, const struct yaml_node *n, const char *what, int *ppm)
{
	const char *s = yaml_want_text(n, what, ps->p);
	struct err err = ERR_INIT;
	int64_t v;

	if (!s)
		return false;
	if (units_parse_percent(s, &v, &err) < 0) {
		problems_add(ps->p, n->at, "%s: %s", what, err.text);
		return false;
	}
	if (v > PPM) {
		problems_add(ps->p, n->at, "%s: '%s' is more than 100%%", what, s);
		return false;
	}
	*ppm = (int)v;
	return true;
}

void parse_value_int(struct parse *ps, const struct yaml_node *n, const char *what,
		     const int64_t range[2], struct cloud_num *out)
{
	int64_t v;

	if (parse_value_int64(ps, n, what, range, &v))
		*out = (struct cloud_num){.v = (int)v, .at = n->at};
}

void parse_value_mtu(struct parse *ps, const struct yaml_node *n, struct cloud_num *out)
{
	parse_value_int(ps, n, "mtu", (const int64_t[]){CLOUD_MTU_MIN, MTU_MAX}, out);
}

void parse_value_enum(struct parse *ps, const struct yaml_node *n, const char *what,
		      const char *const *names, int *out)
{
	const char *s = yaml_want_text(n, what, ps->p);
	autostr struct strbuf all = {0};
	const char *near;
	size_t count = 0;

	if (!s)
		return;
	for (; names[count]; count++) {
		if (str_eq(names[count], s)) {
			*out = (int)count;
			return;
		}
		strbuf_addf(&all, "%s%s", count ? ", " : "", names[count]);
	}
	near = str_suggest(s, names, count);
	if (near)
		problems_add(ps->p, n->at, "%s '%s' does not exist; did you mean '%s'?", what, s,
			     near);
	else
		problems_add(ps->p, n->at, "%s '%s' does not exist; there are %s", what, s,
			     strbuf_text(&all));
}

void parse_value_mac(struct parse *ps, const struct yaml_node *n, struct cloud_mac *out)
{
	const char *s = yaml_want_text(n, "mac", ps->p);
	struct err err = ERR_INIT;
	struct mac mac;

	if (!s)
		return;
	if (mac_parse(s, &mac, &err) < 0)
		problems_add(ps->p, n->at, "%s", err.text);
	else if (mac.bytes[0] & 1)
		problems_add(ps->p, n->at, "'%s' is a group address, a card needs one of its own",
			     s);
	else
		*out = (struct cloud_mac){.mac = mac, .at = n->at, .given = true};
}

void parse_value_ip(struct parse *ps, const struct yaml_node *n, const char *what,
		    struct cloud_ip *out)
{
	const char *s = yaml_want_text(n, what, ps->p);
	struct err err = ERR_INIT;
	struct ip ip;

	if (!s)
		return;
	if (ip_parse(s, &ip, &err) < 0)
		problems_add(ps->p, n->at, "%s: %s", what, err.text);
	else
		*out = (struct cloud_ip){.ip = ip, .at = n->at};
}

/* Calls `fn` for the node, or for each of a list. */
static void for_each(const struct yaml_node *n,
		     void (*fn)(struct parse *, const struct yaml_node *, const char *, void *),
		     struct parse *ps, const char *what, void *arg)
{
	if (!n)
		return;
	if (n->kind != YAML_SEQ) {
		fn(ps, n, what, arg);
		return;
	}
	if (!n->items.n)
		problems_add(ps->p, n->at, "'%s' is an empty list", what);
	VEC_FOREACH (item, &n->items)
		fn(ps, *item, what, arg);
}

static const char *family_name(int family)
{
	return family == CLOUD_V6 ? "IPv6" : "IPv4";
}

static void add_ip(struct parse *ps, const struct yaml_node *n, const char *what, void *arg)
{
	struct cloud_ip *out = arg, ip = {0};

	parse_value_ip(ps, n, what, &ip);
	if (!ip.ip.family)
		return;
	out += cloud_family(&ip.ip);
	if (out->ip.family)
		problems_add(ps->p, n->at, "%s: a second %s address", what,
			     family_name(cloud_family(&ip.ip)));
	else
		*out = ip;
}

void parse_value_ips(struct parse *ps, const struct yaml_node *n, const char *what,
		     struct cloud_ip out[CLOUD_FAMILIES])
{
	for_each(n, add_ip, ps, what, out);
}

static void add_cidr(struct parse *ps, const struct yaml_node *n, const char *what, void *arg)
{
	const char *s = yaml_want_text(n, what, ps->p);
	struct cloud_cidr *out = arg;
	struct err err = ERR_INIT;
	struct prefix p, net;
	char text[ADDR_TEXT];

	if (!s)
		return;
	if (prefix_parse(s, &p, &err) < 0) {
		problems_add(ps->p, n->at, "%s: %s", what, err.text);
		return;
	}
	net = prefix_network(&p);
	if (!ip_equal(&net.ip, &p.ip)) {
		problems_add(ps->p, n->at, "%s '%s' has host bits set; the network is %s", what, s,
			     prefix_format(text, &net));
		return;
	}
	if (p.len < 1 || p.len > (int)ip_size(&p.ip) * 8 - 2) {
		problems_add(ps->p, n->at, "%s '%s': a network's prefix length is 1 to %zu", what,
			     s, ip_size(&p.ip) * 8 - 2);
		return;
	}
	out += cloud_family(&p.ip);
	if (out->prefix.ip.family)
		problems_add(ps->p, n->at, "%s: a second %s network", what,
			     family_name(cloud_family(&p.ip)));
	else
		*out = (struct cloud_cidr){.prefix = p, .at = n->at};
}

void parse_value_cidrs(struct parse *ps, const struct yaml_node *n,
		       struct cloud_cidr out[CLOUD_FAMILIES])
{
	for_each(n, add_cidr, ps, "cidr", out);
}

static const char *const reserved[] = {
    "fabric", /* the switch between the hosts */
    "wires",  /* holds the middles of shaped links */
};

bool parse_value_name(struct parse *ps, const char *name, struct mark at, const char *what)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	static const char more[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				   "0123456789-_.";
	size_t len = strlen(name);

	if (!len) {
		problems_add(ps->p, at, "a %s needs a name", what);
		return false;
	}
	if (len > CLOUD_NAME_MAX) {
		problems_add(ps->p, at, "%s name of %zu bytes; at most %d work", what, len,
			     CLOUD_NAME_MAX);
		return false;
	}
	if (!strchr(letters, name[0]) && !(name[0] >= '0' && name[0] <= '9')) {
		problems_add(ps->p, at, "%s name '%s' must begin with a letter or a digit", what,
			     name);
		return false;
	}
	if (name[strspn(name, more)]) {
		problems_add(ps->p, at, "%s name '%s': only letters, digits, '-', '_' and '.' work",
			     what, name);
		return false;
	}
	for (size_t i = 0; i < ARRAY_SIZE(reserved); i++) {
		if (str_eq(name, reserved[i])) {
			problems_add(ps->p, at, "the name '%s' is taken by the lab itself", name);
			return false;
		}
	}
	return true;
}
