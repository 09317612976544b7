/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plan_json: the plan for programs, schema "vpclab-plan/1": {"schema", "lab", "operations": […]},
 * each operation with "op", "phase", "namespace" and what it needs, units in the names. Keys keep
 * the order in which they are written here. Called by cli/.
 */
#include "emulator/plan/plan_relay.h"
#include "emulator/plan/plan_tc.h"

static void set_text(json_t *o, const char *key, const char *text)
{
	if (text)
		json_object_set_new(o, key, json_string(text));
}

static void set_int(json_t *o, const char *key, uint64_t v)
{
	json_object_set_new(o, key, json_integer((json_int_t)v));
}

static void set_mac(json_t *o, const char *key, const struct mac *mac)
{
	char text[ADDR_TEXT];

	set_text(o, key, mac_format(text, mac));
}

static void set_ip(json_t *o, const char *key, const struct ip *ip)
{
	char text[ADDR_TEXT];

	if (ip->family)
		set_text(o, key, ip_format(text, ip));
}

static void set_prefix(json_t *o, const char *key, const struct prefix *p)
{
	char text[ADDR_TEXT];

	set_text(o, key, prefix_format(text, p));
}

static json_t *offload_names(unsigned bits)
{
	json_t *list = json_array();

	for (unsigned bit = 1; plan_offload_name(bit); bit <<= 1) {
		if (bits & bit)
			json_array_append_new(list, json_string(plan_offload_name(bit)));
	}
	return list;
}

static json_t *veth_end(const struct op_veth_end *end)
{
	json_t *o = json_object();

	set_text(o, "namespace", end->ns);
	set_text(o, "device", end->name);
	set_int(o, "ifindex", (uint64_t)end->ifindex);
	set_mac(o, "mac", &end->mac);
	set_int(o, "mtu_bytes", (uint64_t)end->mtu);
	if (end->tx_queues || end->rx_queues) {
		set_int(o, "tx_queues", (uint64_t)end->tx_queues);
		set_int(o, "rx_queues", (uint64_t)end->rx_queues);
	}
	if (end->big_tcp)
		set_int(o, "big_tcp_bytes", (uint64_t)end->big_tcp);
	return o;
}

static void set_vxlan(json_t *o, const struct op *op)
{
	set_mac(o, "mac", &op->vxlan.mac);
	set_int(o, "mtu_bytes", (uint64_t)op->vxlan.mtu);
	set_int(o, "vni", (uint64_t)op->vxlan.vni);
	set_int(o, "udp_port", (uint64_t)op->vxlan.port);
	set_ip(o, "local", &op->vxlan.local);
}

static void set_vlan(json_t *o, const struct op *op)
{
	set_mac(o, "mac", &op->vlan.mac);
	set_int(o, "mtu_bytes", (uint64_t)op->vlan.mtu);
	set_int(o, "vlan", (uint64_t)op->vlan.vlan);
	set_text(o, "lower", op->vlan.lower);
}

static void set_route(json_t *o, const struct op *op)
{
	set_prefix(o, "destination", &op->route.dst);
	set_ip(o, "via", &op->route.via);
	set_ip(o, "source", &op->route.src);
	set_text(o, "congestion_control", op->route.congctl);
}

static void set_nft(json_t *o, const struct op *op)
{
	set_text(o, "family", op->nft.family);
	set_text(o, "table", op->nft.table);
	set_text(o, "chain", op->nft.chain);
	set_text(o, "hook", op->nft.hook);
	set_text(o, "rule", op->nft.text);
	set_text(o, "comment", op->nft.comment);
}

/* Devices and their links. */
static void set_device(json_t *o, const struct op *op)
{
	switch (op->kind) {
	case OP_VETH:
		json_object_set_new(o, "a", veth_end(&op->veth.a));
		json_object_set_new(o, "b", veth_end(&op->veth.b));
		break;
	case OP_BRIDGE:
		set_mac(o, "mac", &op->bridge.mac);
		set_int(o, "mtu_bytes", (uint64_t)op->bridge.mtu);
		break;
	case OP_VXLAN:
		set_vxlan(o, op);
		break;
	case OP_VLAN:
		set_vlan(o, op);
		break;
	case OP_OFFLOAD:
		json_object_set_new(o, "off", offload_names(op->offloads_off));
		break;
	case OP_UP:
		set_text(o, "altname", op->up.altname);
		set_text(o, "alias", op->up.alias);
		break;
	case OP_MASTER:
		set_text(o, "bridge", op->master.master);
		set_int(o, "bridge_ifindex", (uint64_t)op->master.master_ifindex);
		break;
	case OP_FDB:
		set_ip(o, "remote", &op->fdb);
		break;
	case OP_TC:
		plan_tc_json(op, o);
		break;
	default:
		break;
	}
}

static void set_relay(json_t *o, const struct op *op)
{
	struct relay_spec spec = plan_relay_spec(op);

	json_object_set_new(o, "relay", relay_spec_json(&spec));
}

/* Addresses, routes, rules. */
static void set_network(json_t *o, const struct op *op)
{
	switch (op->kind) {
	case OP_SYSCTL:
		set_text(o, "key", op->sysctl.key);
		set_text(o, "value", op->sysctl.value);
		json_object_set_new(o, "optional", json_boolean(op->sysctl.optional));
		break;
	case OP_ADDR:
		set_prefix(o, "address", &op->addr);
		break;
	case OP_NEIGH:
		set_ip(o, "ip", &op->neigh.ip);
		set_mac(o, "mac", &op->neigh.mac);
		break;
	case OP_ROUTE:
		set_route(o, op);
		break;
	case OP_NFT_TABLE:
	case OP_NFT_CHAIN:
	case OP_NFT_RULE:
		set_nft(o, op);
		break;
	case OP_ARPREPLY:
		set_ip(o, "ip", &op->arpreply.ip);
		set_mac(o, "mac", &op->arpreply.mac);
		break;
	case OP_RELAY:
		set_relay(o, op);
		break;
	default:
		break;
	}
}

static void set_ovs(json_t *o, const struct op *op)
{
	switch (op->kind) {
	case OP_OVS:
		set_text(o, "datapath", op->ovs.datapath);
		break;
	case OP_OVS_BRIDGE:
		set_text(o, "datapath", op->ovs.datapath);
		set_mac(o, "mac", &op->ovs.mac);
		break;
	case OP_OVS_PORT:
		set_text(o, "bridge", op->ovs.bridge);
		json_object_set_new(o, "shaped", json_boolean(op->ovs.shaped));
		if (op->ovs.vlan)
			set_int(o, "vlan", (uint64_t)op->ovs.vlan);
		break;
	case OP_OVS_FLOW:
		set_text(o, "bridge", op->ovs.bridge);
		set_text(o, "flow", op->ovs.text);
		break;
	default:
		break;
	}
}

json_t *plan_json(const struct plan *plan)
{
	json_t *root = json_object(), *list = json_array();

	set_text(root, "schema", "vpclab-plan/1");
	set_text(root, "lab", plan->name);
	VEC_FOREACH (op, &plan->ops) {
		json_t *o = json_object();

		set_text(o, "op",
			 op->kind == OP_TC ? plan_tc_word(op->tc.kind) : plan_op_name(op->kind));
		set_text(o, "phase", plan_phase_name(op->phase));
		set_text(o, "namespace", op->ns);
		set_text(o, "device", op->dev);
		if (op->ifindex)
			set_int(o, "ifindex", (uint64_t)op->ifindex);
		set_device(o, op);
		set_network(o, op);
		set_ovs(o, op);
		json_array_append_new(list, o);
	}
	json_object_set_new(root, "operations", list);
	return root;
}
