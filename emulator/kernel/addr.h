/* SPDX-License-Identifier: GPL-2.0-or-later */
/* addr: addresses of devices, one message each. (Plain addresses are core/base/addr.h.) */
#ifndef VPCLAB_KERNEL_ADDR_H
#define VPCLAB_KERNEL_ADDR_H

#include "core/base/addr.h"
#include "emulator/kernel/nl.h"

/*
 * Adds an address: usable at once (nodad), and without the connected route that the kernel would
 * add by itself (noprefixroute), since routes are planned, with their congestion control.
 */
void addr_add(struct nl_batch *batch, const char *dev, int ifindex, const struct prefix *p);

#endif
