/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fate: what happens to each packet of one direction. Pure: from configuration, seed and the
 * packet's number (from 1 when the impairment took effect; every frame counts, ARP too) follow
 * loss, corruption, duplication, delay and reordering, whatever the times of arrival are. Only a
 * flap depends on the time, and a black hole on the packet's length; they draw no random numbers,
 * so they change nothing of the other fates.
 *
 * How each is decided (shares in parts per million):
 *   black hole   the IP packet, by its own length field, is longer than `black_hole`
 *   flap         time since the impairment took effect, modulo up + down, is not below up
 *   random loss  with the share `loss_correlation` what happened to the packet before happens
 *                again, else by chance: the share lost is `loss` whatever the correlation is, and
 *                the correlation of neighbours is what was asked. (Smoothing random numbers, as
 *                netem does, loses fewer than asked.)
 *   every N      packets N, 2N, 3N …
 *   after N      all packets but the first N
 *   bursts       Gilbert-Elliott, begins good: first the state may change, then the packet is lost
 *                by the share of the state
 *   corruption   one bit, anywhere behind the IP header
 *   duplication  the copy has a delay of its own
 *   delay        normal: delay + jitter x N(0,1); uniform: delay ± jitter; pareto: delay + Lomax
 *                excess of shape 3 and scale `jitter`, whose mean is half and whose deviation
 *                0.866 of the jitter. Never below 0. Correlated jitter is a first-order
 *                autoregressive normal process, mapped to the other distributions by its
 *                distribution function, so the distribution stays what was asked.
 *                (These are the delays before order is kept, see lane.h.)
 *   reordering   the packet is held back, see lane.h
 */
#ifndef VPCLAB_RELAY_FATE_H
#define VPCLAB_RELAY_FATE_H

#include <stdbool.h>
#include <stdint.h>

#include "emulator/model/wire.h"

enum fate_cause {
	FATE_PASS,
	FATE_BLACK_HOLE,
	FATE_FLAP,
	FATE_LOSS,
	FATE_QUEUE,    /* the trace's queue, or the relay's memory, was full */
	FATE_OVERSIZE, /* larger than the device's MTU */
	FATE_SEND,     /* the device did not take it */
	FATE_CAUSES,
};

/* "pass", "black_hole", …: also the keys of "lost" in the relay's stats. */
const char *fate_cause_name(enum fate_cause cause);

struct fate_of { /* one packet */
	enum fate_cause cause;
	bool corrupted, duplicated, held;
	uint64_t bit;			 /* corrupted: which, a number to take modulo the bits */
	int64_t delay_ns, copy_delay_ns; /* before order is restored */
};

struct fate {
	const struct wire_impair *impair; /* borrowed */
	uint64_t seed;			  /* of impair and direction */
	int64_t started_ns;		  /* when it took effect */
	uint64_t number;		  /* packets so far */
	bool lost, bad;			  /* the last packet; Gilbert-Elliott's state */
	double normal;			  /* of the last packet's jitter */
};

/* `direction` makes both directions of a link differ where they have one seed. */
void fate_init(struct fate *f, const struct wire_impair *impair, int direction, int64_t now_ns);

/* Of the next packet. ip_bytes 0: it is not IP. */
void fate_next(struct fate *f, int64_t ip_bytes, int64_t arrival_ns, struct fate_of *out);

#endif
