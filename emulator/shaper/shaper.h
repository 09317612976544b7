/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shaper: how a declared rate becomes a qdisc. Pure arithmetic.
 *
 * exact: each frame is one packet at the shaper, so overhead is charged per frame:
 *        l1 = +24 bytes and at least 84, l2 = frame as is, l3 = −14 by size table.
 * fast:  super-packets pass, the rate is scaled by the share of a full frame instead.
 */
#ifndef VPCLAB_SHAPER_SHAPER_H
#define VPCLAB_SHAPER_SHAPER_H

#include "emulator/model/topology.h"

struct tbf {		     /* a token bucket filter as the kernel takes it */
	uint64_t rate_bytes; /* bytes per second */
	uint32_t burst_bytes;
	uint32_t limit_bytes; /* what may wait */
	uint16_t overhead;    /* bytes added to each frame */
	uint16_t mpu;	      /* least charged bytes */
	int stab_overhead;    /* 0, or negative (basis l3): through a size table */
};

/*
 * Burst: eight times the machine's timer slip at this rate, at most 10 ms of the rate, at least two
 * frames (exact) or one super-packet (fast). Queue: as declared, but never less than those two
 * frames or that super-packet; else 1000 full frames, as a NIC's transmit queue has, or one burst
 * where that is more. `mtu` is the device's IP MTU in bytes.
 */
void shaper_tbf(const struct wire_rate *rate, int mtu, const struct machine *m, struct tbf *out);

#endif
