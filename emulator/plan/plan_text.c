/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plan_text: the plan for a person to read: by phase, by namespace, one line an operation. It says
 * why where a figure was chosen (shapers), not how to type it (plan_sh.c). Called by cli/.
 */
#include <string.h>
#include <sys/socket.h>

#include "emulator/plan/plan_tc.h"

static void add_mac(struct strbuf *out, const struct mac *mac)
{
	char text[ADDR_TEXT];

	strbuf_add(out, mac_format(text, mac));
}

static void add_ip(struct strbuf *out, const char *before, const struct ip *ip)
{
	char text[ADDR_TEXT];

	if (ip->family)
		strbuf_addf(out, "%s%s", before, ip_format(text, ip));
}

static void add_prefix(struct strbuf *out, const struct prefix *p)
{
	char text[ADDR_TEXT];

	strbuf_add(out, prefix_format(text, p));
}

static void add_end(struct strbuf *out, const char *ns, const struct op_veth_end *end)
{
	if (strcmp(ns, end->ns) != 0)
		strbuf_addf(out, "%s:", end->ns);
	strbuf_addf(out, "%s (index %d, ", end->name, end->ifindex);
	add_mac(out, &end->mac);
	strbuf_addf(out, ", MTU %d", end->mtu);
	if (end->tx_queues || end->rx_queues)
		strbuf_addf(out, ", %d transmit and %d receive queues", end->tx_queues,
			    end->rx_queues);
	if (end->big_tcp)
		strbuf_addf(out, ", TCP packets of up to %d bytes before segmentation",
			    end->big_tcp);
	strbuf_addc(out, ')');
}

static void text_sysctl(const struct op *op, struct strbuf *out)
{
	strbuf_addf(out, "%s = %s%s", op->sysctl.key, op->sysctl.value,
		    op->sysctl.optional ? " (where the kernel has it)" : "");
}

static void text_veth(const struct op *op, struct strbuf *out)
{
	add_end(out, op->ns, &op->veth.a);
	strbuf_add(out, " <-> ");
	add_end(out, op->ns, &op->veth.b);
}

static void text_bridge(const struct op *op, struct strbuf *out)
{
	strbuf_addf(out, "%s (index %d, ", op->dev, op->ifindex);
	add_mac(out, &op->bridge.mac);
	strbuf_addf(out, ", MTU %d), no STP, no forward delay, no snooping", op->bridge.mtu);
}

static void text_vxlan(const struct op *op, struct strbuf *out)
{
	strbuf_addf(out, "%s (index %d, ", op->dev, op->ifindex);
	add_mac(out, &op->vxlan.mac);
	strbuf_addf(out, ", MTU %d), VNI %d, port %d", op->vxlan.mtu, op->vxlan.vni,
		    op->vxlan.port);
	add_ip(out, ", from ", &op->vxlan.local);
}

static void text_vlan(const struct op *op, struct strbuf *out)
{
	strbuf_addf(out, "%s (index %d, ", op->dev, op->ifindex);
	add_mac(out, &op->vlan.mac);
	strbuf_addf(out, ", MTU %d), tag %d on %s", op->vlan.mtu, op->vlan.vlan, op->vlan.lower);
}

static void text_offload(const struct op *op, struct strbuf *out)
{
	strbuf_addf(out, "%s: off", op->dev);
	for (unsigned bit = 1; plan_offload_name(bit); bit <<= 1) {
		if (op->offloads_off & bit)
			strbuf_addf(out, " %s", plan_offload_name(bit));
	}
}

static void text_addr(const struct op *op, struct strbuf *out)
{
	strbuf_addf(out, "%s: ", op->dev);
	add_prefix(out, &op->addr);
}

static void text_neigh(const struct op *op, struct strbuf *out)
{
	strbuf_addf(out, "%s: ", op->dev);
	add_ip(out, "", &op->neigh.ip);
	strbuf_add(out, " is always at ");
	add_mac(out, &op->neigh.mac);
}

static void text_up(const struct op *op, struct strbuf *out)
{
	strbuf_add(out, op->dev);
	if (op->up.altname)
		strbuf_addf(out, ", in full %s", op->up.altname);
	if (op->up.alias)
		strbuf_addf(out, ", alias \"%s\"", op->up.alias);
}

static void text_route(const struct op *op, struct strbuf *out)
{
	if (op->route.dst.len)
		add_prefix(out, &op->route.dst);
	else
		strbuf_add(out, op->route.dst.ip.family == AF_INET6 ? "default (IPv6)" : "default");
	add_ip(out, " via ", &op->route.via);
	strbuf_addf(out, " dev %s", op->dev);
	add_ip(out, ", source ", &op->route.src);
	if (op->route.congctl)
		strbuf_addf(out, ", TCP %s", op->route.congctl);
}

static void text_nft_table(const struct op *op, struct strbuf *out)
{
	strbuf_addf(out, "table %s %s", op->nft.family, op->nft.table);
}

static void text_nft_chain(const struct op *op, struct strbuf *out)
{
	strbuf_addf(out, "chain %s %s %s", op->nft.family, op->nft.table, op->nft.chain);
	if (op->nft.hook)
		strbuf_addf(out, " { %s }", op->nft.hook);
}

static void text_nft_rule(const struct op *op, struct strbuf *out)
{
	strbuf_addf(out, "rule %s %s %s: %s", op->nft.family, op->nft.table, op->nft.chain,
		    op->nft.text);
	if (op->nft.comment)
		strbuf_addf(out, "  # %s", op->nft.comment);
}

static void text_arpreply(const struct op *op, struct strbuf *out)
{
	strbuf_addf(out, "%s: who asks for ", op->dev);
	add_ip(out, "", &op->arpreply.ip);
	strbuf_add(out, " is told ");
	add_mac(out, &op->arpreply.mac);
}

static void text_ovs(const struct op *op, struct strbuf *out)
{
	strbuf_addf(out, "own ovsdb-server and ovs-vswitchd, datapath %s", op->ovs.datapath);
}

static void text_ovs_bridge(const struct op *op, struct strbuf *out)
{
	strbuf_addf(out, "bridge %s (", op->dev);
	add_mac(out, &op->ovs.mac);
	strbuf_add(out, ")");
}

static void text_ovs_port(const struct op *op, struct strbuf *out)
{
	strbuf_addf(out, "%s into %s", op->dev, op->ovs.bridge);
	if (op->ovs.vlan)
		strbuf_addf(out, ", tag %d", op->ovs.vlan);
	if (op->ovs.shaped)
		strbuf_add(out, ", which leaves its shaper alone");
}

static void text_ovs_flow(const struct op *op, struct strbuf *out)
{
	strbuf_addf(out, "%s: %s", op->ovs.bridge, op->ovs.text);
}

static void text_master(const struct op *op, struct strbuf *out)
{
	strbuf_addf(out, "%s into %s", op->dev, op->master.master);
}

static void text_fdb(const struct op *op, struct strbuf *out)
{
	strbuf_addf(out, "%s: flood to ", op->dev);
	add_ip(out, "", &op->fdb);
}

static void text_relay(const struct op *op, struct strbuf *out)
{
	strbuf_addf(out, "%s: from %s to %s, from %s to %s", op->relay.link, op->relay.in[0],
		    op->relay.out[0], op->relay.in[1], op->relay.out[1]);
}

static void text_name(const struct op *op, struct strbuf *out)
{
	strbuf_add(out, op->dev ? op->dev : op->ns);
}

static void (*const texts[])(const struct op *op, struct strbuf *out) = {
    [OP_NETNS] = text_name,
    [OP_LO_UP] = text_name,
    [OP_SYSCTL] = text_sysctl,
    [OP_VETH] = text_veth,
    [OP_BRIDGE] = text_bridge,
    [OP_VXLAN] = text_vxlan,
    [OP_VLAN] = text_vlan,
    [OP_OFFLOAD] = text_offload,
    [OP_ADDR] = text_addr,
    [OP_NEIGH] = text_neigh,
    [OP_UP] = text_up,
    [OP_ROUTE] = text_route,
    [OP_TC] = plan_tc_text,
    [OP_NFT_TABLE] = text_nft_table,
    [OP_NFT_CHAIN] = text_nft_chain,
    [OP_NFT_RULE] = text_nft_rule,
    [OP_ARPREPLY] = text_arpreply,
    [OP_OVS] = text_ovs,
    [OP_OVS_BRIDGE] = text_ovs_bridge,
    [OP_OVS_PORT] = text_ovs_port,
    [OP_OVS_FLOW] = text_ovs_flow,
    [OP_MASTER] = text_master,
    [OP_FDB] = text_fdb,
    [OP_RELAY] = text_relay,
};

/* The first word of a line: the tool or object that it is about. */
static const char *word(const struct op *op)
{
	switch (op->kind) {
	case OP_NFT_TABLE:
	case OP_NFT_CHAIN:
	case OP_NFT_RULE:
		return "nft";
	case OP_LO_UP:
		return "up";
	case OP_OVS:
	case OP_OVS_BRIDGE:
		return "ovs";
	case OP_OVS_PORT:
		return "port";
	case OP_OVS_FLOW:
		return "flow";
	case OP_MASTER:
		return "port";
	case OP_TC:
		return plan_tc_word(op->tc.kind);
	default:
		return plan_op_name(op->kind);
	}
}

static const char *phase_says(enum plan_phase phase)
{
	static const char *const says[] = {
	    [PHASE_NETNS] = "namespaces",
	    [PHASE_SYSCTL] = "what the kernel does in each",
	    [PHASE_LINK] = "devices, each born in its namespace",
	    [PHASE_CONFIG] = "offloads, addresses, routes, shapers, rules",
	    [PHASE_OVS] = "Open vSwitch, one transaction an instance",
	    [PHASE_BRIDGE] = "ports into bridges, bridges up: last",
	};

	return says[phase];
}

/* One a direction: what is at the root of a device, or polices what arrives. */
static bool shapes(const struct tc_step *s)
{
	return s->kind == TC_POLICE ||
	       (s->parent == TC_AT_ROOT && (s->kind == TC_TBF || s->kind == TC_HTB));
}

static void add_summary(const struct plan *plan, struct strbuf *out)
{
	size_t n[OP_RELAY + 1] = {0}, shapers = 0;

	VEC_FOREACH (op, &plan->ops) {
		n[op->kind]++;
		if (op->kind == OP_TC && shapes(&op->tc))
			shapers++;
	}
	strbuf_addf(
	    out, "%s: %zu namespaces, %zu veth pairs, %zu bridges, %zu shapers, %zu operations\n",
	    plan->name, n[OP_NETNS], n[OP_VETH], n[OP_BRIDGE] + n[OP_OVS_BRIDGE], shapers,
	    plan->ops.n);
}

void plan_print_text(const struct plan *plan, struct strbuf *out)
{
	const struct op *last = NULL;

	add_summary(plan, out);
	VEC_FOREACH (op, &plan->ops) {
		bool new_phase = !last || last->phase != op->phase;

		if (plan_tc_repeats(op))
			continue;
		if (new_phase)
			strbuf_addf(out, "\n%s: %s\n", plan_phase_name(op->phase),
				    phase_says(op->phase));
		if (op->phase != PHASE_NETNS && (new_phase || strcmp(last->ns, op->ns) != 0))
			strbuf_addf(out, "  %s\n", op->ns);
		strbuf_addf(out, op->phase == PHASE_NETNS ? "  %s " : "    %-8s ", word(op));
		texts[op->kind](op, out);
		strbuf_addc(out, '\n');
		last = op;
	}
}
