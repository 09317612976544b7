/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * count: the kernel's counters of a running lab: of single flows (nft rules at the ingress of a
 * device), of devices and their qdiscs, of sockets.
 *
 * Each call enters the lab once (a few milliseconds, and not on the measured path). Flow counters
 * are rules of a table of our own in the node, `netdev vpclab_count`, one chain a device: the rules
 * of the lab are left alone, and lab_check() knows this table.
 *
 * What counts what: a flow counter sees each packet from its IP header on (no Ethernet header,
 * since ingress comes after eth_type_trans()); the counters of a veth device include the 14 bytes;
 * a TBF counts what it sends with the Ethernet header, or by its size table where it has one. A
 * packet is what crosses the device at once: with GRO or GSO that is several frames.
 */
#ifndef VPCLAB_LAB_COUNT_H
#define VPCLAB_LAB_COUNT_H

#include <jansson.h>

#include "core/base/addr.h"
#include "emulator/lab/lab.h"

struct count_at {
	const struct lab *lab;
	const char *node, *dev; /* where the packets arrive */
	bool behind;		/* only what a cut (cut.h) has let pass, instead of all */
};

struct count_flow {		     /* as the packets are when they arrive at the device */
	int protocol;		     /* IPPROTO_TCP or IPPROTO_UDP */
	struct ip src, dst;	     /* family 0: any (both the same family otherwise) */
	uint16_t src_port, dst_port; /* 0: any */
	int dscp;		     /* 0: any */
	int family;		     /* of `dscp`: AF_INET or AF_INET6 */
};

struct count_value {
	int64_t packets, bytes;
};

struct count_dev { /* the device's own counters (struct rtnl_link_stats64) */
	struct count_value rx, tx;
	int64_t rx_dropped, tx_dropped;
};

/* Starts counting n flows at the device; replaces what count_install() made there before. */
int count_install(const struct count_at *at, const struct count_flow *flows, size_t n,
		  struct err *err);

/*
 * Reads the n counters in the order of count_install(), and the device's right after them; *at_ns
 * is when the former were so, by CLOCK_MONOTONIC, within a millisecond where the CPU was ours.
 */
int count_read(const struct count_at *at, struct count_value *flows, size_t n,
	       struct count_dev *dev, int64_t *at_ns, struct err *err);

/* Stops counting at this device. */
int count_remove(const struct count_at *at, struct err *err);

/*
 * All counters of the named nodes (n 0: of all nodes), read one right after the other:
 *   {"at_ns": …, "softnet": {"dropped", "squeezed"},          softnet: of the whole machine
 *    "relays": {LINK: what relay_ask() gives for "stats", or null when it does not answer},
 *    "replaced": what replaced_read() gives,
 *    "nodes": {NODE: {"at_ns": …,
 *      "devices": {DEV: {"rx_packets", "rx_bytes", "rx_dropped", "rx_multicast", "tx_packets",
 *                        "tx_bytes", "tx_dropped", "speed_mbps",
 *                        "qdiscs": [{"kind", "handle", "parent", "sent_packets", "sent_bytes",
 *                                    "dropped", "overlimits", "backlog_packets",
 *                                    "backlog_bytes"}],   parent: "root", "ingress" or "1:10"
 *                        "classes": the same with "id" and "leaf" for "handle"}},
 *      "rules": [{"family", "table", "chain", "number", "drops", "comment", "packets",
 *                 "bytes"}],             those that count; number: which of them in its chain
 *      "udp": {"in_errors", "rcvbuf_errors", "no_ports"},     IPv4 and IPv6 together
 *      "tcp": {"retrans_segs"},
 *      "ip": {"no_route", "in_no_route", "in_header_errors", "in_address_errors", "in_discards",
 *             "out_discards", "fragments_failed", "reassembly_failed"}}}}
 * Gives a reference.
 */
int count_snapshot(const struct lab *lab, const char *const *nodes, size_t n, json_t **out,
		   struct err *err);
/* With "relays": those of the links of `w`. */
int count_snapshot_relays(const struct lab *lab, const struct wire *w, const char *const *nodes,
			  size_t n, json_t **out, struct err *err);

#endif
