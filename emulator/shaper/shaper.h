/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shaper: how what a direction is declared to carry at most (struct wire_shape), and what happens
 * to packets on the way (struct wire_impair), become traffic control steps, each one `tc` command.
 * Pure arithmetic.
 *
 * What a packet costs.
 * exact: each frame is one packet at the shaper, so overhead is charged per frame:
 *        l1 = +24 bytes and at least 84, l2 = frame as is, l3 = -14 by size table.
 * fast:  super-packets pass, the rate is scaled by the share of a full frame instead.
 *
 * Packets a second. A bucket whose least charge (mpu) M is no less than the largest frame charges
 * every packet the same M bytes; filled with pps x M bytes a second it passes exactly pps packets.
 * Why so, and not by nft's `limit` or by BPF: it is exact (10,000 of 10,000 measured), it works for
 * ordinary users (BPF does not), and it lets packets wait, so that TCP reaches the cap. nft's
 * `limit` drops at once; it is what `police` of packets compiles to (emulator/model).
 *
 * The trees, handle 1: at the root of a device's egress:
 *
 *   rate                  TBF 1:
 *   packets               TBF 1: (mpu M), below it a queue of packets
 *   rate and packets      TBF 1: (rate), its child TBF 2: (mpu M), below that the queue,
 *                         of packets
 *   base, burst, credit   TBF 1: rate = base, bucket = credit, peakrate = burst rate
 *   queues, or caps of them or of flows
 *                         HTB 1:
 *                           1:1 the rate (rate = ceil; with credit: rate = base, deep bucket,
 *                               ceil = burst rate)
 *                           1:2 packets
 *                           SHAPER_QUEUE_CLASS + q        bytes of queue q       ┐ those there are,
 *                           SHAPER_QUEUE_PPS_CLASS + q    packets of queue q     ┘ one in the other
 *                           SHAPER_SLOT_CLASS + s         leaves, each with a queue of its own:
 *                               flow slots where flows have a cap, else the queues themselves
 *   police                a policer where the peer of the device receives (matchall, act_police);
 *                         without act_police, or with caps of other kinds: the above with queues
 *                         of two frames
 *
 * Classes below another are assured next to nothing and borrow, so that siblings share by turns of
 * one frame; what bounds them is `ceil`. Packets choose their leaf by skb->priority, which rules of
 * the model set (wire_shape_slots(), WIRE_SLOT_FIRST). Slot s belongs to queue s modulo their
 * count. What nobody classified goes to the first slot.
 */
#ifndef VPCLAB_SHAPER_SHAPER_H
#define VPCLAB_SHAPER_SHAPER_H

#include "core/base/tc.h"
#include "emulator/model/topology.h"

enum {
	SHAPER_QUEUES_MAX = 256,
	/* minor numbers of classes; the major number is 1 */
	SHAPER_RATE_CLASS = 1,
	SHAPER_PPS_CLASS = 2,
	SHAPER_SLOT_CLASS = WIRE_SLOT_FIRST & 0xffff,
	SHAPER_QUEUE_CLASS = 0x1000,
	SHAPER_QUEUE_PPS_CLASS = 0x2000,
};

/*
 * Bursts. Packets of a cap that lets them wait: as declared, else eight slips' worth, at least 32,
 * at most 10 ms' worth or 64 (those of a cap that drops are wire_police_burst()'s). Bytes of a
 * policed rate: as declared, else 50 ms' worth, at least 10 frames of `mtu` (IP).
 */
int64_t shaper_pps_burst(const struct wire_pps *p, const struct machine *m);
int64_t shaper_police_bytes(const struct wire_rate *r, int mtu);

struct shaper { /* zeroed is empty; shaper_done() */
	struct arena arena;
	VEC(struct tc_step) steps; /* in the order in which a kernel takes them */
};

/*
 * Steps for the egress of a device with IP MTU `mtu`. Burst of a rate: eight times the machine's
 * timer slip at this rate, at most 10 ms of the rate, at least two frames (exact) or one
 * super-packet (fast). Queue: as declared, but never less than those two frames or that
 * super-packet; else 1000 full frames, as a NIC's transmit queue has, or one burst where that is
 * more; two frames where a rate is policed. Before a cap of packets the queue counts packets,
 * unless it was declared in bytes: 1000, or what is through in the time declared. No steps where
 * the shape has no limit.
 *
 * Steps of kind TC_CLSACT and TC_POLICE are for the peer of the device: it receives what the device
 * sends.
 */
void shaper_steps(const struct wire_shape *s, int mtu, const struct machine *m, struct shaper *out);
void shaper_done(struct shaper *s);

/*
 * What was built, in words of the declaration. Credit is how long it lasts at the burst rate when
 * full; it is less than declared where the kernel's bucket is too small: TBF's holds 4 GiB or
 * 4.29 s at the base rate, whichever is more; HTB's 274 s at the base rate, of which a pause
 * refills at most 60 s.
 */
struct shaper_figures {
	uint64_t burst_bytes; /* at once, at the highest rate; 0: no rate */
	uint32_t queue_bytes; /* that may wait, of each queue; 0: policed, or: */
	uint32_t queue_packets;
	int64_t credit_ns; /* 0: no credit */
	int64_t pps_burst; /* packets at once; 0: no cap, or not here */
	bool policer;	   /* the kernel's drops what is over the rate: nothing waits */
};
void shaper_figures(const struct wire_shape *s, int mtu, const struct machine *m,
		    struct shaper_figures *out);

/*
 * The step for netem at a device with IP MTU `mtu`: what of `i` netem knows (the model gives it no
 * other). `rate` is what feeds it, zero where unknown. Limit: twice what is under way at that rate
 * for delay and jitter, and the queue; at least 1000 packets, at most 64 MiB of full frames.
 */
void shaper_netem(const struct wire_impair *i, const struct wire_rate *rate, int mtu,
		  struct tc_step *out);

#endif
