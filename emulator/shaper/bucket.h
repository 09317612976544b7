/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bucket: what the files of the shaper share: the figures of one bucket, and of the queue before
 * it. For the shaper alone.
 */
#ifndef VPCLAB_SHAPER_BUCKET_H
#define VPCLAB_SHAPER_BUCKET_H

#include "emulator/shaper/shaper.h"

enum {
	BUCKET_ETHERNET_HEADER = 14,
	BUCKET_L1_OVERHEAD = 24, /* FCS 4, preamble and delimiter 8, gap 12 */
	BUCKET_L1_LEAST = 84,	 /* the 64-byte minimum frame with preamble and gap */
};

struct bucket_place { /* where a shape is built */
	const struct wire_shape *shape;
	const struct machine *machine;
	unsigned mtu; /* IP */
};

/* What a rate carries in a time, rounded up; rates up to Tbit/s times seconds overflow 64 bits. */
uint64_t bucket_bytes_in(uint64_t rate_bytes, int64_t ns);
/* Bytes a second of `bps` in the shape's basis and mode, with the burst of a rate. */
struct tc_bucket bucket_rate(const struct bucket_place *p, int64_t bps);
/* Packets a second. */
struct tc_bucket bucket_packets(const struct bucket_place *p, const struct wire_pps *pps);
/* The bucket of the shape's own rate: deep where it has credit or is policed, at most `most`. */
struct tc_bucket bucket_base(const struct bucket_place *p, uint64_t most);
/* Size table of the root qdisc. */
int bucket_stab(const struct bucket_place *p);
/* The queue of whatever leaves by `drain`; 0 as its rate: unknown. */
uint32_t bucket_queue(const struct bucket_place *p, const struct tc_bucket *drain);

/*
 * The queue before a cap of packets, in packets: never longer than declared, whatever their size.
 * 0: it was declared in bytes. `drain` as above, `packets`: what else empties it.
 */
uint32_t bucket_queue_packets(const struct bucket_place *p, const struct tc_bucket *drain,
			      const struct tc_bucket *packets);

/* Deepest buckets that the kernel takes, in bytes. */
uint64_t bucket_most_tbf(uint64_t rate_bytes);
uint64_t bucket_most_htb(uint64_t rate_bytes);

/* The steps with classes (htb.c). */
void htb_steps(const struct bucket_place *p, struct shaper *out);

#endif
