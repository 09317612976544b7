/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * parse_caps: what a vNIC carries at most, in place or in a profile: rate, packets a second,
 * direction, queues, caps of a flow and of connections. Called by parse_vm.c and parse_profile.c.
 */
#include "emulator/model/parse.h"

#define QUEUES_MAX	256
#define CONNECTIONS_MAX UINT32_MAX /* nft's ct count is a u32 */

/* 8, or {count: 8, pps_each: 400kpps, rate_each: 1gbit} */
static void read_queues(struct parse *ps, const struct yaml_node *n, struct cloud_caps *out)
{
	static const int64_t range[] = {1, QUEUES_MAX};
	struct wire_queues q = {0};
	int64_t count = 0;
	bool good;

	if (!n)
		return;
	if (n->kind == YAML_MAP) {
		parse_keys_check(&parse_keys_queues, n, ps->p);
		if (!yaml_get(n, "count"))
			problems_add(ps->p, n->at, "queues need 'count', like {count: 8}");
		good = parse_value_int64(ps, yaml_get(n, "count"), "queues", range, &count);
		parse_value_pps(ps, yaml_get(n, "pps_each"), "pps_each", &q.pps_each);
		parse_value_bps(ps, yaml_get(n, "rate_each"), "rate_each", &q.bps_each);
	} else {
		good = parse_value_int64(ps, n, "queues", range, &count);
	}
	if (!good)
		return;
	q.count = (int)count;
	out->queues = q;
	out->queues_at = n->at;
}

static void read_direction(struct parse *ps, const struct yaml_node *n, struct cloud_caps *out)
{
	static const char *const names[] = {[DIRECTION_EACH] = "each",
					    [DIRECTION_SUM] = "sum",
					    [DIRECTION_EGRESS] = "egress",
					    NULL};
	int direction = (int)out->direction;

	if (!n)
		return;
	parse_value_enum(ps, n, "direction", names, &direction);
	out->direction = (enum cloud_direction)direction;
	out->direction_at = n->at;
}

void parse_caps(struct parse *ps, const struct yaml_node *map, struct cloud_caps *out)
{
	const struct yaml_node *flow = yaml_get(map, "per_flow");
	const struct yaml_node *connections = yaml_get(map, "connections");

	parse_value_rate(ps, map, &out->rate);
	parse_value_pps_cap(ps, yaml_get(map, "pps"), &out->pps, &out->pps_at);
	read_direction(ps, yaml_get(map, "direction"), out);
	read_queues(ps, yaml_get(map, "queues"), out);
	if (parse_value_bps(ps, flow, "per_flow", &out->flow_bps))
		out->flow_at = flow->at;
	if (parse_value_int64(ps, connections, "connections", (const int64_t[]){1, CONNECTIONS_MAX},
			      &out->connections))
		out->connections_at = connections->at;
	parse_value_mtu(ps, yaml_get(map, "mtu"), &out->mtu);
}
