/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bucket: the figures of one token bucket, and of the queue before it.
 *
 * Only arithmetic, for shaper.c and htb.c. What it must get right is what one packet costs at the
 * qdisc:
 *
 *   exact  the sender's device has segmented, so one packet is one frame. skb->len counts the
 *          Ethernet header but not preamble, FCS and gap: l1 adds them by the bucket's `overhead`,
 *          and `mpu` is the 64-byte minimum frame with them. l3 must take the header off; an
 *          overhead below zero exists only in a size table (`stab`), whose kernel side is right
 *          only because there are no super-packets here (net/sched/sch_api.c).
 *   fast   super-packets pass. Overhead would be charged once per super-packet, so the rate is
 *          scaled by the share that a full frame has instead.
 */
#include "emulator/shaper/bucket.h"

#include "core/base/units.h"

enum {
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
	POLICE_FRAMES = 10,
	POLICE_SHARE = 20, /* of a second: 50 ms */
	PPS_BURST_LEAST = 32,
	PPS_BURST_MOST = 64,
	MPU_MOST = UINT16_MAX,
};

#define BURST_MOST_NS (10 * NSEC_PER_MSEC)
/* tbf_change() cuts a bucket given as time to 32 bits of nanoseconds. */
#define TBF_MOST_NS INT64_C(4294967295)
/* A bucket of HTB is 32 bits of ticks of 64 ns; tc, and we, give whole microseconds. */
#define HTB_MOST_NS (INT64_C(274877906) * NSEC_PER_USEC)

uint64_t bucket_bytes_in(uint64_t rate_bytes, int64_t ns)
{
	unsigned __int128 product = (unsigned __int128)rate_bytes * (uint64_t)ns;

	product = (product + NSEC_PER_SEC - 1) / NSEC_PER_SEC;
	return product > UINT64_MAX ? UINT64_MAX : (uint64_t)product;
}

static uint64_t bucket_scaled(uint64_t value, unsigned numerator, unsigned denominator)
{
	return (uint64_t)((unsigned __int128)value * numerator / denominator);
}

static uint64_t at_least(uint64_t v, uint64_t least)
{
	return v < least ? least : v;
}

static uint64_t at_most(uint64_t v, uint64_t most)
{
	return v > most ? most : v;
}

uint64_t bucket_most_tbf(uint64_t rate_bytes)
{
	return at_least(bucket_bytes_in(rate_bytes, TBF_MOST_NS), TC_TBF_BYTES_MOST);
}

uint64_t bucket_most_htb(uint64_t rate_bytes)
{
	return bucket_bytes_in(rate_bytes, HTB_MOST_NS);
}

/* A full super-packet as the qdisc counts it: with the headers that each segment will get. */
static uint64_t super_packet_bytes(unsigned mtu)
{
	unsigned headers = mtu < IPV6_LEAST_MTU ? SEGMENT_HEADERS_V4 : SEGMENT_HEADERS_V6;
	unsigned payload = mtu + BUCKET_ETHERNET_HEADER - headers; /* an MTU is at least 68 */

	return SUPER_PACKET + (uint64_t)((SUPER_PACKET + payload - 1) / payload * headers);
}

static unsigned overhead(const struct bucket_place *p)
{
	const struct wire_rate *r = &p->shape->rate;

	return r->mode != SHAPE_FAST && r->basis == BASIS_L1 ? BUCKET_L1_OVERHEAD : 0;
}

int bucket_stab(const struct bucket_place *p)
{
	const struct wire_rate *r = &p->shape->rate;

	return r->mode != SHAPE_FAST && r->basis == BASIS_L3 ? -BUCKET_ETHERNET_HEADER : 0;
}

/* Two frames or one super-packet: the least that a burst and a queue may hold. */
static uint64_t bucket_least(const struct bucket_place *p)
{
	if (p->shape->rate.mode == SHAPE_FAST)
		return super_packet_bytes(p->mtu);
	return 2 * ((uint64_t)p->mtu + BUCKET_ETHERNET_HEADER + overhead(p));
}

static uint64_t fast_rate(const struct bucket_place *p, uint64_t rate_bytes)
{
	unsigned frame = p->mtu + BUCKET_ETHERNET_HEADER;

	if (p->shape->rate.basis == BASIS_L1)
		return bucket_scaled(rate_bytes, frame, frame + BUCKET_L1_OVERHEAD);
	if (p->shape->rate.basis == BASIS_L3)
		return bucket_scaled(rate_bytes, frame, p->mtu);
	return rate_bytes;
}

struct tc_bucket bucket_rate(const struct bucket_place *p, int64_t bps)
{
	struct tc_bucket b = {.rate_bytes = ((uint64_t)bps + 4) / 8};
	uint64_t most;

	if (p->shape->rate.mode == SHAPE_FAST)
		b.rate_bytes = fast_rate(p, b.rate_bytes);
	b.overhead = (uint16_t)overhead(p);
	b.mpu = b.overhead ? BUCKET_L1_LEAST : 0;
	most = bucket_bytes_in(b.rate_bytes, BURST_MOST_NS);
	b.burst_bytes = bucket_bytes_in(b.rate_bytes, SLIPS_PER_BURST * p->machine->slip_ns);
	b.burst_bytes = at_least(at_most(b.burst_bytes, most), bucket_least(p));
	return b;
}

/* Credit is what base and burst rate differ by, for its time. */
static uint64_t credit_bytes(const struct bucket_place *p, uint64_t base_bytes)
{
	const struct wire_rate *r = &p->shape->rate;

	if (r->burst_bps <= r->bps)
		return 0;
	return bucket_bytes_in(bucket_rate(p, r->burst_bps).rate_bytes - base_bytes, r->credit_ns);
}

struct tc_bucket bucket_base(const struct bucket_place *p, uint64_t most)
{
	const struct wire_rate *r = &p->shape->rate;
	struct tc_bucket b = bucket_rate(p, r->bps);

	if (r->police)
		b.burst_bytes =
		    at_least((uint64_t)shaper_police_bytes(r, (int)p->mtu), bucket_least(p));
	b.burst_bytes = at_least(b.burst_bytes, credit_bytes(p, b.rate_bytes));
	b.burst_bytes = at_most(b.burst_bytes, most);
	return b;
}

/* What every packet costs: a power of two that no frame, with a VLAN tag or two, is longer than. */
static uint16_t packet_cost(unsigned mtu)
{
	unsigned m = 128;

	while (m < mtu + BUCKET_ETHERNET_HEADER + 8)
		m *= 2;
	return (uint16_t)at_most(m, MPU_MOST);
}

struct tc_bucket bucket_packets(const struct bucket_place *p, const struct wire_pps *pps)
{
	struct tc_bucket b = {.mpu = packet_cost(p->mtu)};

	b.rate_bytes = (uint64_t)pps->pps * b.mpu;
	b.burst_bytes = (uint64_t)shaper_pps_burst(pps, p->machine) * b.mpu;
	return b;
}

/*
 * The limit of a queue is what may wait, in bytes as qdiscs count them: with a size table but
 * without `overhead`. One given as time therefore is cut by the share of the overhead. One that was
 * not declared holds a burst at least: so much piles up while a dequeue is late.
 */
static uint64_t queue_bytes(const struct bucket_place *p, const struct tc_bucket *drain)
{
	const struct wire_rate *r = &p->shape->rate;
	unsigned frame = p->mtu + BUCKET_ETHERNET_HEADER;

	if (r->police)
		return 0;
	if (r->queue_bytes > 0)
		return (uint64_t)r->queue_bytes;
	if (r->queue_ns > 0 && drain->rate_bytes)
		return bucket_scaled(bucket_bytes_in(drain->rate_bytes, r->queue_ns), frame,
				     frame + drain->overhead);
	return at_least((uint64_t)((int)frame + bucket_stab(p)) * QUEUE_FRAMES, drain->burst_bytes);
}

uint32_t bucket_queue(const struct bucket_place *p, const struct tc_bucket *drain)
{
	return (uint32_t)at_most(at_least(queue_bytes(p, drain), bucket_least(p)), UINT32_MAX);
}

uint32_t bucket_queue_packets(const struct bucket_place *p, const struct tc_bucket *drain,
			      const struct tc_bucket *packets)
{
	const struct wire_rate *r = &p->shape->rate;
	uint64_t frame = p->mtu + BUCKET_ETHERNET_HEADER + drain->overhead;
	uint64_t each_s = packets->rate_bytes / packets->mpu;

	if (r->police)
		return 2;
	if (r->queue_bytes > 0)
		return 0;
	if (r->queue_ns <= 0)
		return (uint32_t)at_most(
		    at_least(packets->burst_bytes / packets->mpu, QUEUE_FRAMES), UINT32_MAX);
	if (drain->rate_bytes && drain->rate_bytes / frame < each_s)
		each_s = drain->rate_bytes / frame;
	return (uint32_t)at_most(at_least(bucket_bytes_in(each_s, r->queue_ns), 2), UINT32_MAX);
}

int64_t shaper_pps_burst(const struct wire_pps *p, const struct machine *m)
{
	uint64_t packets = (uint64_t)p->pps, most, burst;

	if (p->burst > 0)
		return p->burst;
	most = at_least(bucket_bytes_in(packets, BURST_MOST_NS), PPS_BURST_MOST);
	burst = bucket_bytes_in(packets, SLIPS_PER_BURST * m->slip_ns);
	return (int64_t)at_most(at_least(burst, PPS_BURST_LEAST), most);
}

int64_t shaper_police_bytes(const struct wire_rate *r, int mtu)
{
	if (r->police_bytes > 0)
		return r->police_bytes;
	return (int64_t)at_least((uint64_t)r->bps / 8 / POLICE_SHARE,
				 (uint64_t)(mtu + BUCKET_ETHERNET_HEADER) * POLICE_FRAMES);
}
