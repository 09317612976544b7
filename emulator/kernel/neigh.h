/* SPDX-License-Identifier: GPL-2.0-or-later */
/* neigh: permanent neighbours, and forwarding entries of VXLAN devices. One message each. */
#ifndef VPCLAB_KERNEL_NEIGH_H
#define VPCLAB_KERNEL_NEIGH_H

#include "core/base/addr.h"
#include "emulator/kernel/nl.h"

void neigh_add(struct nl_batch *batch, const char *dev, int ifindex, const struct ip *ip,
	       const struct mac *mac);

/* One more remote VTEP that gets what must be flooded (all-zero MAC: head-end replication). */
void neigh_fdb_add(struct nl_batch *batch, const char *dev, int ifindex, const struct ip *remote);

#endif
