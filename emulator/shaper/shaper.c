/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shaper: turns a declared rate into the figures of a token bucket (TBF).
 *
 * Only arithmetic; emulator/plan calls it for each shaped device, emulator/lab hands the result to
 * the kernel. What it must get right is what one packet costs at the qdisc:
 *
 *   exact  the sender's device has segmented, so one packet is one frame. skb->len counts the
 *          Ethernet header but not preamble, FCS and gap: l1 adds them by the qdisc's `overhead`,
 *          and `mpu` is the 64-byte minimum frame with them. l3 must take the header off; an
 *          overhead below zero exists only in a size table (`stab`), whose kernel side is right
 *          only because there are no super-packets here (net/sched/sch_api.c).
 *   fast   super-packets pass. Overhead would be charged once per super-packet, so the rate is
 *          scaled by the share that a full frame has instead.
 */
#include "emulator/shaper/shaper.h"

#include "core/base/units.h"

enum {
	ETHERNET_HEADER = 14,
	L1_OVERHEAD = 24, /* FCS 4, preamble and delimiter 8, gap 12 */
	L1_LEAST = 84,	  /* the 64-byte minimum frame with preamble and gap */
	QUEUE_FRAMES = 1000,
	SUPER_PACKET = 65536,
	IPV6_LEAST_MTU = 1280, /* RFC 8200 */
	/* Ethernet, IP and TCP with timestamps: what each segment of a super-packet gets */
	SEGMENT_HEADERS_V4 = 66,
	SEGMENT_HEADERS_V6 = 86,
	/*
	 * A stream keeps the processor busy and itself makes the dequeue later than the slip of an
	 * idle machine. At 1 Gbit/s (l1, exact, a slip of 1 ms, little idle time) a bucket of 1
	 * slip carried 88 to 95 % of the rate, 2 slips 95 %, 4 slips 95 to 98 %, 10 slips 99 %.
	 */
	SLIPS_PER_BURST = 8,
};

#define BURST_MOST_NS (10 * NSEC_PER_MSEC)

/* What a rate carries in a time, rounded up; rates up to Tbit/s times seconds overflow 64 bits. */
static uint64_t bytes_in(uint64_t rate_bytes, int64_t ns)
{
	unsigned __int128 product = (unsigned __int128)rate_bytes * (uint64_t)ns;

	return (uint64_t)((product + NSEC_PER_SEC - 1) / NSEC_PER_SEC);
}

static uint64_t scaled(uint64_t value, unsigned numerator, unsigned denominator)
{
	return (uint64_t)((unsigned __int128)value * numerator / denominator);
}

static uint32_t clamp32(uint64_t v)
{
	return v > UINT32_MAX ? UINT32_MAX : (uint32_t)v;
}

static uint64_t at_least(uint64_t v, uint64_t least)
{
	return v < least ? least : v;
}

/* A full super-packet as the qdisc counts it: with the headers that each segment will get. */
static uint64_t super_packet_bytes(int mtu)
{
	int headers = mtu < IPV6_LEAST_MTU ? SEGMENT_HEADERS_V4 : SEGMENT_HEADERS_V6;
	int payload = mtu + ETHERNET_HEADER - headers; /* at least 16: an MTU is at least 68 */

	return SUPER_PACKET + (uint64_t)((SUPER_PACKET + payload - 1) / payload * headers);
}

static void set_exact_cost(const struct wire_rate *rate, struct tbf *out)
{
	if (rate->basis == BASIS_L1) {
		out->overhead = L1_OVERHEAD;
		out->mpu = L1_LEAST;
	} else if (rate->basis == BASIS_L3) {
		out->stab_overhead = -ETHERNET_HEADER;
	}
}

static uint64_t fast_rate(const struct wire_rate *rate, uint64_t rate_bytes, unsigned mtu)
{
	unsigned frame = mtu + ETHERNET_HEADER;

	if (rate->basis == BASIS_L1)
		return scaled(rate_bytes, frame, frame + L1_OVERHEAD);
	if (rate->basis == BASIS_L3)
		return scaled(rate_bytes, frame, mtu);
	return rate_bytes;
}

/*
 * The limit of a TBF is what may wait, in bytes as its queue counts them: with a size table but
 * without `overhead`. A queue given as time therefore is cut by the share of the overhead. One that
 * was not declared holds a burst at least: so much piles up while a dequeue is late.
 */
static uint64_t queue_bytes(const struct wire_rate *rate, unsigned mtu, const struct tbf *tbf)
{
	unsigned frame = mtu + ETHERNET_HEADER;

	if (rate->queue_bytes > 0)
		return (uint64_t)rate->queue_bytes;
	if (rate->queue_ns > 0)
		return scaled(bytes_in(tbf->rate_bytes, rate->queue_ns), frame,
			      frame + tbf->overhead);
	return at_least((uint64_t)((int)frame + tbf->stab_overhead) * QUEUE_FRAMES,
			tbf->burst_bytes);
}

void shaper_tbf(const struct wire_rate *rate, int mtu, const struct machine *m, struct tbf *out)
{
	struct tbf tbf = {.rate_bytes = ((uint64_t)rate->bps + 4) / 8};
	uint64_t least, most, burst;

	if (rate->mode == SHAPE_FAST) {
		tbf.rate_bytes = fast_rate(rate, tbf.rate_bytes, (unsigned)mtu);
		least = super_packet_bytes(mtu);
	} else {
		set_exact_cost(rate, &tbf);
		least = 2 * ((uint64_t)mtu + ETHERNET_HEADER + tbf.overhead);
	}
	most = bytes_in(tbf.rate_bytes, BURST_MOST_NS);
	burst = bytes_in(tbf.rate_bytes, SLIPS_PER_BURST * m->slip_ns);
	if (burst > most)
		burst = most;
	tbf.burst_bytes = clamp32(at_least(burst, least));
	tbf.limit_bytes = clamp32(at_least(queue_bytes(rate, (unsigned)mtu, &tbf), least));
	*out = tbf;
}
