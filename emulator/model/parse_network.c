/* SPDX-License-Identifier: GPL-2.0-or-later */
/* parse_network: the sections `networks` and `routers` of a topology file. Called by topology.c. */
#include "emulator/model/parse.h"

#define VNI_MAX	 16777215 /* 24 bits, RFC 7348 */
#define VLAN_MAX 4094	  /* 0 and 4095 are reserved, IEEE 802.1Q */

static void read_overlay(struct parse *ps, const struct yaml_node *n, struct cloud_network *net)
{
	static const char *const types[] = {"vxlan", NULL};
	const struct yaml_node *map = parse_value_map_of(ps, n, "overlay", "type");
	int type = 0;

	if (!n)
		return;
	net->has_overlay = true;
	net->overlay_at = n->at;
	parse_keys_check(&parse_keys_overlay, map, ps->p);
	parse_value_enum(ps, yaml_get(map, "type"), "overlay type", types, &type);
	parse_value_int(ps, yaml_get(map, "vni"), "vni", (const int64_t[]){1, VNI_MAX}, &net->vni);
}

/* Its VLAN is a layer 2 of its own, with a name that no author can write. */
static void read_vlan(struct parse *ps, const struct yaml_node *n, struct cloud_network *net)
{
	if (!n)
		return;
	parse_value_int(ps, n, "vlan", (const int64_t[]){1, VLAN_MAX}, &net->vlan);
	if (net->type != NETWORK_FLAT) {
		problems_add(ps->p, n->at,
			     "network '%s' is a vpc: its layer 2 is its overlay, not 'vlan'",
			     net->name);
	} else if (net->l2.s) {
		problems_add(ps->p, n->at,
			     "network '%s': a VLAN is on the wire that all hosts share, 'l2' on a "
			     "wire of its own; write one of them",
			     net->name);
	} else if (net->vlan.v) {
		net->l2 = (struct cloud_text){
		    .s = arena_printf(&ps->t->arena, "vlan %d", net->vlan.v), .at = n->at};
	}
}

/* What only one kind of network has. */
static void check_kind(struct parse *ps, const struct cloud_network *net)
{
	if (net->type == NETWORK_FLAT) {
		if (net->router.name)
			problems_add(
			    ps->p, net->router.at,
			    "network '%s' is flat: a router stands behind it, so it is the "
			    "router that names it in its 'networks'",
			    net->name);
		if (net->has_overlay)
			problems_add(ps->p, net->overlay_at,
				     "network '%s' is flat: it has no overlay", net->name);
	} else if (net->l2.s) {
		problems_add(ps->p, net->l2.at,
			     "network '%s' is a vpc: its layer 2 is its overlay, not 'l2'",
			     net->name);
	}
}

static void read_network(struct parse *ps, const struct yaml_pair *pair)
{
	static const char *const types[] = {[NETWORK_FLAT] = "flat", [NETWORK_VPC] = "vpc", NULL};
	const struct yaml_node *map = parse_value_map(ps, pair->value, pair->key);
	struct cloud_network *net = VEC_ADD(&ps->t->arena, &ps->t->networks);
	int type = NETWORK_FLAT;

	net->name = pair->key;
	net->at = pair->key_at;
	parse_value_name(ps, pair->key, pair->key_at, "network");
	parse_keys_check(&parse_keys_network, map, ps->p);
	parse_value_enum(ps, yaml_get(map, "type"), "network type", types, &type);
	net->type = (enum network_type)type;
	if (!yaml_get(map, "cidr"))
		problems_add(ps->p, net->at, "network '%s' needs a cidr", net->name);
	parse_value_cidrs(ps, yaml_get(map, "cidr"), net->cidr);
	parse_value_ips(ps, yaml_get(map, "gateway"), "gateway", net->gateway);
	parse_value_mtu(ps, yaml_get(map, "mtu"), &net->mtu);
	net->l2 = parse_value_text(ps, yaml_get(map, "l2"), "l2");
	if (net->l2.s && !parse_value_name(ps, net->l2.s, net->l2.at, "l2"))
		net->l2.s = NULL;
	net->router = parse_value_ref(ps, yaml_get(map, "router"), "router");
	read_overlay(ps, yaml_get(map, "overlay"), net);
	check_kind(ps, net);
	read_vlan(ps, yaml_get(map, "vlan"), net);
}

void parse_network(struct parse *ps, const struct yaml_node *n)
{
	const struct yaml_node *map = parse_value_map(ps, n, "networks");

	VEC_FOREACH (pair, &map->pairs)
		read_network(ps, pair);
}

static void read_router(struct parse *ps, const struct yaml_pair *pair)
{
	const struct yaml_node *map = parse_value_map(ps, pair->value, pair->key);
	struct cloud_router *r = VEC_ADD(&ps->t->arena, &ps->t->routers);
	const struct yaml_node *list;

	r->name = pair->key;
	r->at = pair->key_at;
	r->public_net = -1;
	parse_value_name(ps, pair->key, pair->key_at, "router");
	parse_keys_check(&parse_keys_router, map, ps->p);
	r->host = parse_value_ref(ps, yaml_get(map, "host"), "host");
	list = yaml_want_seq(yaml_get(map, "networks"), "networks", ps->p);
	for (size_t i = 0; list && i < list->items.n; i++) {
		struct cloud_ref ref = parse_value_ref(ps, list->items.v[i], "network");

		if (ref.name)
			*VEC_ADD(&ps->t->arena, &r->networks) = ref;
	}
	yaml_want_bool(yaml_get(map, "snat"), "snat", &r->snat, ps->p);
	if (yaml_get(map, "snat"))
		r->snat_at = yaml_get(map, "snat")->at;
}

void parse_router(struct parse *ps, const struct yaml_node *n)
{
	const struct yaml_node *map = parse_value_map(ps, n, "routers");

	VEC_FOREACH (pair, &map->pairs)
		read_router(ps, pair);
}
