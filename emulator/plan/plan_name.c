/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plan_name: the words of operations, phases and offloads. Called by printers, checks and tests. */
#include "emulator/plan/plan.h"

const char *plan_op_name(enum op_kind kind)
{
	static const char *const names[] = {
	    [OP_NETNS] = "netns",
	    [OP_LO_UP] = "lo_up",
	    [OP_SYSCTL] = "sysctl",
	    [OP_VETH] = "veth",
	    [OP_BRIDGE] = "bridge",
	    [OP_VXLAN] = "vxlan",
	    [OP_VLAN] = "vlan",
	    [OP_OFFLOAD] = "offload",
	    [OP_ADDR] = "addr",
	    [OP_NEIGH] = "neigh",
	    [OP_UP] = "up",
	    [OP_ROUTE] = "route",
	    [OP_TC] = "tc",
	    [OP_NFT_TABLE] = "nft_table",
	    [OP_NFT_CHAIN] = "nft_chain",
	    [OP_NFT_RULE] = "nft_rule",
	    [OP_ARPREPLY] = "arpreply",
	    [OP_OVS] = "ovs",
	    [OP_OVS_BRIDGE] = "ovs_bridge",
	    [OP_OVS_PORT] = "ovs_port",
	    [OP_OVS_FLOW] = "ovs_flow",
	    [OP_MASTER] = "master",
	    [OP_FDB] = "fdb",
	    [OP_RELAY] = "relay",
	};

	return names[kind];
}

const char *plan_phase_name(enum plan_phase phase)
{
	static const char *const names[] = {
	    [PHASE_NETNS] = "netns",   [PHASE_SYSCTL] = "sysctl", [PHASE_LINK] = "link",
	    [PHASE_CONFIG] = "config", [PHASE_OVS] = "ovs",	  [PHASE_BRIDGE] = "bridge",
	};

	return names[phase];
}

const char *plan_offload_name(unsigned bit)
{
	switch (bit) {
	case OFFLOAD_TSO:
		return "tso";
	case OFFLOAD_GSO:
		return "gso";
	case OFFLOAD_GRO:
		return "gro";
	case OFFLOAD_TX:
		return "tx";
	case OFFLOAD_UDP_SEG:
		return "tx-udp-segmentation";
	default:
		return NULL;
	}
}
