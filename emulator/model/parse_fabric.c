/* SPDX-License-Identifier: GPL-2.0-or-later */
/* parse_fabric: the sections `fabric` and `hosts` of a topology file. Called by topology.c. */
#include <sys/socket.h>

#include "emulator/model/parse.h"

static void read_nic(struct parse *ps, const struct yaml_node *n, struct cloud_shape *out)
{
	const struct yaml_node *map = parse_value_map_of(ps, n, "nic", "rate");

	parse_keys_check(&parse_keys_nic, map, ps->p);
	parse_shape(ps, map, out);
}

static void read_cidr(struct parse *ps, const struct yaml_node *n, struct cloud_cidr *out)
{
	struct cloud_cidr cidr[CLOUD_FAMILIES] = {0};

	parse_value_cidrs(ps, n, cidr);
	if (cidr[CLOUD_V6].prefix.ip.family)
		problems_add(ps->p, cidr[CLOUD_V6].at, "the hosts' own addresses are IPv4");
	*out = cidr[CLOUD_V4];
}

void parse_fabric(struct parse *ps, const struct yaml_node *n)
{
	const struct yaml_node *map = parse_value_map(ps, n, "fabric");
	struct cloud_fabric *f = &ps->t->fabric;

	parse_keys_check(&parse_keys_fabric, map, ps->p);
	parse_shape(ps, map, &f->nic); /* what is said of the fabric is said of each card on it */
	read_nic(ps, yaml_get(map, "nic"), &f->nic);
	parse_impair(ps, map, &f->impair);
	parse_value_mtu(ps, yaml_get(map, "mtu"), &f->mtu);
	read_cidr(ps, yaml_get(map, "cidr"), &f->cidr);
	yaml_want_bool(yaml_get(map, "bridge_netfilter"), "bridge_netfilter", &f->bridge_netfilter,
		       ps->p);
}

static void read_host(struct parse *ps, const struct yaml_pair *pair)
{
	static const char *const bridges[] = {[ENGINE_LINUX] = "linux", [ENGINE_OVS] = "ovs", NULL};
	const struct yaml_node *map = parse_value_map(ps, pair->value, pair->key);
	struct cloud_host *h = VEC_ADD(&ps->t->arena, &ps->t->hosts);
	int engine = ENGINE_LINUX;

	h->name = pair->key;
	h->at = pair->key_at;
	h->nic = ps->t->fabric.nic; /* the fabric was read before */
	parse_value_name(ps, pair->key, pair->key_at, "host");
	parse_keys_check(&parse_keys_host, map, ps->p);
	parse_value_enum(ps, yaml_get(map, "bridge"), "bridge", bridges, &engine);
	h->engine = (enum bridge_engine)engine;
	read_nic(ps, yaml_get(map, "nic"), &h->nic);
}

void parse_fabric_hosts(struct parse *ps, const struct yaml_node *n)
{
	const struct yaml_node *map = parse_value_map(ps, n, "hosts");

	VEC_FOREACH (pair, &map->pairs)
		read_host(ps, pair);
}
