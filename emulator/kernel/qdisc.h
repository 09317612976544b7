/* SPDX-License-Identifier: GPL-2.0-or-later */
/* qdisc: token bucket filters as root qdiscs, one message each. */
#ifndef VPCLAB_KERNEL_QDISC_H
#define VPCLAB_KERNEL_QDISC_H

#include "emulator/kernel/nl.h"

struct qdisc_tbf {	      /* as the kernel takes it */
	uint64_t rate_bytes;  /* bytes per second */
	uint32_t burst_bytes; /* bucket */
	uint32_t limit_bytes; /* queue */
	uint16_t overhead;    /* bytes added to each frame */
	uint16_t mpu;	      /* least charged bytes of a frame */
	int stab_overhead;    /* 0, or bytes (also negative) added through a size table */
};

/* Handle of our root qdiscs: 1:0. */
#define QDISC_HANDLE 0x00010000u

/* Adds TBF as root, where none is yet. */
void qdisc_tbf(struct nl_batch *batch, const char *dev, int ifindex, const struct qdisc_tbf *t);

#endif
