/* SPDX-License-Identifier: GPL-2.0-or-later */
/* route: unicast routes of the main table, one message each. */
#ifndef VPCLAB_KERNEL_ROUTE_H
#define VPCLAB_KERNEL_ROUTE_H

#include "core/base/addr.h"
#include "emulator/kernel/nl.h"

struct route_spec {
	struct prefix dst; /* family set; length 0: default */
	struct ip via;	   /* family 0: on link */
	struct ip src;	   /* preferred source; family 0: none */
	const char *dev;   /* for errors */
	int ifindex;
	const char *congctl; /* congestion control of connections that take it, or NULL */
};

/*
 * A congestion control pinned on a route (RTAX_CC_ALGO) works in every namespace and without
 * privilege, where the sysctl of a namespace other than the first takes only what
 * tcp_allowed_congestion_control lists.
 */
void route_add(struct nl_batch *batch, const struct route_spec *r);

#endif
