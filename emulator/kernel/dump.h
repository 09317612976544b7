/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dump: what a namespace has, read back by rtnetlink: devices, addresses, routes, neighbours,
 * qdiscs, with their counters.
 */
#ifndef VPCLAB_KERNEL_DUMP_H
#define VPCLAB_KERNEL_DUMP_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/addr.h"
#include "core/base/mem.h"
#include "emulator/kernel/qdisc.h"

struct dump_stats { /* struct rtnl_link_stats64 */
	uint64_t rx_packets, rx_bytes, rx_dropped, rx_errors, rx_multicast;
	uint64_t tx_packets, tx_bytes, tx_dropped, tx_errors;
};

struct dump_link {
	int ifindex, mtu;
	int master; /* ifindex, 0: none */
	int peer;   /* ifindex of a veth's other end, in its namespace; vlan: of its lower device */
	const char *name, *alias, *altname; /* NULL: none; altname is the first one */
	const char *kind;		    /* "veth", "bridge", "vxlan", …; "" for lo */
	struct mac mac;
	bool up;
	bool stp, snooping;	/* bridge */
	uint32_t forward_delay; /* bridge, 1/100 s */
	int vni, port;		/* vxlan */
	int vlan;		/* vlan: its tag */
	struct ip local;	/* vxlan */
	int tx_queues, rx_queues;
	int gso_max_size, gro_max_size; /* bytes */
	struct dump_stats stats;
};

struct dump_addr {
	int ifindex;
	struct prefix prefix;
	uint32_t flags; /* IFA_F_… */
};

struct dump_route { /* unicast, main table */
	struct prefix dst;
	struct ip via, src;
	int ifindex;
	int protocol;	     /* RTPROT_… */
	const char *congctl; /* or NULL */
};

struct dump_neigh {
	int ifindex;
	bool fdb;     /* forwarding entry (AF_BRIDGE) */
	struct ip ip; /* of a VXLAN's entry: the remote VTEP; family 0: none */
	struct mac mac;
	uint16_t state; /* NUD_… */
	uint8_t flags;	/* NTF_… */
};

/* A qdisc, a class or a policer: what it was told, and what it counted. */
struct dump_qdisc {
	int ifindex;
	uint32_t handle, parent; /* as in struct tc_step */
	const char *kind;	 /* "tbf", "htb", …; of a policer "matchall" */
	struct tc_step step;	 /* kind TC_UNKNOWN: not one of ours. Bursts are 0: see below */
	int64_t burst_ns; /* how long the bucket of the rate lasts, modulo DUMP_BURST_WRAP_NS */
	int64_t peak_ns;  /* that of peak rate or ceil */
	uint64_t bytes, packets; /* sent */
	uint32_t dropped, overlimits, backlog_bytes, backlog_packets, requeues;
};
#define DUMP_BURST_WRAP_NS ((int64_t)64 << 32)

struct dump { /* zeroed is empty */
	struct arena arena;
	VEC(struct dump_link) links;
	VEC(struct dump_addr) addrs;
	VEC(struct dump_route) routes;
	VEC(struct dump_neigh) neighs;
	VEC(struct dump_qdisc) qdiscs, classes, policers;
};

void dump_done(struct dump *d);

/* Each reads one kind by `rt`, a NETLINK_ROUTE socket, into its array, which it empties first. */
int dump_links(int rt, struct dump *d, struct err *err);
int dump_addrs(int rt, struct dump *d, struct err *err);
int dump_routes(int rt, struct dump *d, struct err *err);
int dump_neighs(int rt, struct dump *d, struct err *err); /* permanent ones, and all of bridges */
int dump_qdiscs(int rt, struct dump *d, struct err *err);
/* Of the qdiscs in `d`. */
int dump_classes(int rt, struct dump *d, struct err *err);
int dump_policers(int rt, struct dump *d, struct err *err);

const struct dump_link *dump_find_link(const struct dump *d, int ifindex);	/* or NULL */
const struct dump_link *dump_find_name(const struct dump *d, const char *name); /* or NULL */

#endif
