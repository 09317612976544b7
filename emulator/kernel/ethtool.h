/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ethtool: features of devices. By ioctl on the namespace's rtnetlink socket, which belongs to that
 * namespace: no second socket and no family to look up per namespace, unlike ETHTOOL netlink.
 */
#ifndef VPCLAB_KERNEL_ETHTOOL_H
#define VPCLAB_KERNEL_ETHTOOL_H

#include <stdint.h>

#include "core/base/err.h"

/* Groups of features; the short names are those of `ethtool -K`. Same bits as wire.h's OFFLOAD_….
 */
enum {
	ETHTOOL_TSO = 1 << 0, /* tso: tx-tcp-…segmentation */
	ETHTOOL_GSO = 1 << 1, /* gso: tx-generic-segmentation */
	ETHTOOL_GRO = 1 << 2, /* gro: rx-gro */
	ETHTOOL_TX = 1 << 3,  /* tx: tx-checksum-… (the kernel switches off what depends on it) */
	ETHTOOL_UDP_SEG = 1 << 4, /* tx-udp-segmentation */
	ETHTOOL_ALL = (1 << 5) - 1,
};

/*
 * Switches groups off by `fd`, a socket of the device's namespace. -ENOTSUP when the device has a
 * feature of a group fixed on.
 */
int ethtool_off(int fd, const char *dev, unsigned groups, struct err *err);

/* Switches on what of these groups the device can. */
int ethtool_on(int fd, const char *dev, unsigned groups, struct err *err);

/* Groups of which any feature is active. */
int ethtool_get(int fd, const char *dev, unsigned *groups, struct err *err);

#endif
