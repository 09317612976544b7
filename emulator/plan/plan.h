/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plan: the wire model as operations in the order in which they must happen. Pure and
 * deterministic. One operation is one thing that a person could type with ip, tc, nft, ebtables,
 * ethtool, sysctl or ovs-vsctl; plan_print_sh() prints just that.
 *
 * Phases, in this order; inside one phase the operations of different namespaces are independent,
 * so emulator/lab may run them in parallel:
 *   PHASE_NETNS   namespaces            PHASE_SYSCTL  sysctls, lo up
 *   PHASE_LINK    devices, each born in its namespace
 *   PHASE_CONFIG  offloads, addresses, neighbours, up, routes, shapers, rules
 *   PHASE_OVS     OVS instances, bridges, ports, flows (one transaction per instance)
 *   PHASE_BRIDGE  ports into Linux bridges, VXLAN forwarding entries, bridges up, relays: last
 */
#ifndef VPCLAB_PLAN_PLAN_H
#define VPCLAB_PLAN_PLAN_H

#include <jansson.h>

#include "core/base/str.h"
#include "emulator/model/wire.h"
#include "emulator/shaper/shaper.h"

enum plan_phase {
	PHASE_NETNS,
	PHASE_SYSCTL,
	PHASE_LINK,
	PHASE_CONFIG,
	PHASE_OVS,
	PHASE_BRIDGE,
	PHASE_COUNT
};

enum op_kind {
	OP_NETNS,
	OP_LO_UP,
	OP_SYSCTL,
	OP_VETH,
	OP_BRIDGE,
	OP_VXLAN,
	OP_VLAN,
	OP_OFFLOAD, /* switch features off */
	OP_ADDR,
	OP_NEIGH,
	OP_UP,
	OP_ROUTE,
	OP_TC, /* one step of traffic control */
	OP_NFT_TABLE,
	OP_NFT_CHAIN,
	OP_NFT_RULE,
	OP_ARPREPLY,
	OP_OVS, /* an instance (daemons) in this namespace */
	OP_OVS_BRIDGE,
	OP_OVS_PORT,
	OP_OVS_FLOW,
	OP_MASTER,
	OP_FDB,
	OP_RELAY, /* a process that impairs one link */
};

struct op_veth_end {
	const char *ns, *name;
	int ifindex, mtu;
	struct mac mac;
	int tx_queues, rx_queues; /* 0: the kernel's default */
	int big_tcp;		  /* bytes, likewise */
};

struct op {
	enum op_kind kind;
	enum plan_phase phase;
	const char *ns;	 /* where */
	const char *dev; /* device it concerns, or NULL */
	int ifindex;	 /* of that device */
	union {
		struct wire_sysctl sysctl;
		struct {
			struct op_veth_end a, b;
		} veth;
		struct {
			struct mac mac;
			int mtu;
		} bridge;
		struct {
			struct mac mac;
			int mtu, vni, port;
			struct ip local;
		} vxlan;
		struct {
			struct mac mac;
			int mtu, vlan, lower_ifindex;
			const char *lower;
		} vlan;
		unsigned offloads_off;
		struct prefix addr;
		struct wire_neigh neigh; /* only ip and mac count */
		struct {
			const char *altname, *alias; /* NULL or to set, before up */
		} up;
		struct {
			struct prefix dst;
			struct ip via, src;
			const char *congctl;
		} route;
		struct tc_step tc;
		struct {
			const char *family, *table, *chain, *hook; /* as in wire_nft_chain */
			const char *text, *comment;
		} nft;
		struct {
			struct ip ip;
			struct mac mac;
		} arpreply;
		struct {
			const char *datapath; /* "system", "netdev", "dummy" */
			const char *bridge;   /* OVS_PORT, OVS_FLOW */
			const char *text;     /* OVS_FLOW */
			int vlan;	      /* OVS_PORT: its access tag; 0: it carries all */
			struct mac mac;	      /* OVS_BRIDGE */
			bool shaped; /* OVS_PORT: has a shaper, which OVS must leave alone */
		} ovs;
		struct {
			const char *master;
			int master_ifindex;
		} master;
		struct ip fdb; /* remote VTEP */
		struct {       /* struct relay_spec of emulator/relay; a to b, then b to a */
			const char *link;
			const char *in[2], *out[2]; /* devices */
			const struct wire_impair *impair[2];
		} relay;
	};
	const struct wire_shape
	    *shape; /* OP_TC: as declared, borrowed from the wire model; NULL: netem */
	int mtu;    /* OP_TC: of the device that is shaped */
};

struct plan {
	struct arena arena;
	const char *name;
	const struct wire *wire; /* borrowed */
	VEC(struct op) ops;	 /* sorted by phase */
};

/* `w` must outlive the plan (strings are borrowed). Never fails: the wire model is valid. */
void plan_build(const struct wire *w, const struct machine *m, struct plan *plan);
void plan_done(struct plan *plan);

void plan_print_text(const struct plan *plan, struct strbuf *out);
/*
 * A POSIX shell script that builds the same lab by iproute2, nft, ebtables, ethtool and ovs-vsctl.
 * `sh FILE [COMMAND…]` goes into namespaces of its own (as root or as anybody), builds, and runs
 * the command, or a shell, there; the lab ends with it.
 */
void plan_print_sh(const struct plan *plan, struct strbuf *out);
json_t *plan_json(const struct plan *plan); /* gives a reference */

const char *plan_op_name(enum op_kind kind); /* "netns", "veth", … */
const char *plan_phase_name(enum plan_phase phase);
const char *plan_offload_name(unsigned bit); /* as `ethtool -K` says it; NULL beyond the last bit */

#endif
