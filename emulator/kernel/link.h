/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * link: network devices. Each function adds one message to a batch; nl_send() runs it.
 *
 * Devices are created in the namespace of the socket that the batch is sent to, with their final
 * name, index, MAC and MTU, so nothing is ever renamed or moved. Whether IPv6 gives them a
 * link-local address follows from the sysctl net/ipv6/conf/default/addr_gen_mode of that namespace:
 * the creating message cannot say it (EAFNOSUPPORT: a device has no IPv6 side before it is
 * registered).
 */
#ifndef VPCLAB_KERNEL_LINK_H
#define VPCLAB_KERNEL_LINK_H

#include "core/base/addr.h"
#include "emulator/kernel/nl.h"

struct link_spec {
	const char *name;
	int ifindex; /* 0: the kernel chooses (then also of a veth's other end) */
	int mtu;     /* 0: the kind's default */
	struct mac mac;
	int tx_queues, rx_queues; /* veth; 0: the kernel's default */
	int big_tcp; /* bytes, IFLA_GSO_MAX_SIZE and IFLA_GRO_MAX_SIZE (Linux 5.19); 0: default */
};

/* Both ends at once: `a` here, `b` born in the namespace `b_ns_fd`. */
void link_veth(struct nl_batch *batch, const struct link_spec *a, const struct link_spec *b,
	       int b_ns_fd);

/* STP off, forward delay 0, multicast snooping off. */
void link_bridge(struct nl_batch *batch, const struct link_spec *spec);

struct link_vxlan {
	int vni, port;
	struct ip local;
};
/* Learning on, no group: flooding is by forwarding entries (neigh_fdb_add()). */
void link_vxlan(struct nl_batch *batch, const struct link_spec *spec, const struct link_vxlan *v);

/* 802.1Q: what leaves gets the tag `vlan` and goes out by the device with index `lower`. */
void link_vlan(struct nl_batch *batch, const struct link_spec *spec, int lower, int vlan);

/* The rest concern a device that is there; `name` is for errors only. */
void link_up(struct nl_batch *batch, const char *name, int ifindex);
void link_alias(struct nl_batch *batch, const char *name, int ifindex, const char *alias);
void link_altname(struct nl_batch *batch, const char *name, int ifindex, const char *altname);
void link_master(struct nl_batch *batch, const char *name, int ifindex, int master_ifindex);

#endif
