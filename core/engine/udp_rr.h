/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * udp_rr: requests by UDP and what became of them. Private to this folder.
 *
 * A connection has `outstanding` lanes; a lane has one request on the way. Each request carries a
 * number, of which its answer repeats the first 8 bytes or as many as both have room for:
 * generation << lane_bits | lane, little endian.
 */
#ifndef VPCLAB_ENGINE_UDP_RR_H
#define VPCLAB_ENGINE_UDP_RR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/engine/rr.h"

#define UDP_RR_DEPTH 16 /* requests of a lane that are remembered, the last ones */

struct udp_rr_lane {
	uint64_t generation; /* of the latest request */
	bool out;	     /* that is on the way, neither answered nor given up */
	int64_t due_ns;	     /* when it is given up, or, not on the way, when to try again */
	struct {
		uint64_t id;
		int64_t sent_ns; /* 0: answered, or never used */
	} past[UDP_RR_DEPTH];
};

struct udp_rr_conn {
	struct stream *s;
	int64_t mean_ns, spread_ns; /* smoothed round trip and its variation */
	int64_t timeout_ns;
	struct udp_rr_lane *lanes; /* [outstanding] */
};

struct udp_rr { /* what the connections of a crew have in common */
	struct crew *c;
	struct rr *rr;
	unsigned lane_bits;
	uint64_t mask; /* bits of a number that travel */
	size_t id_bytes;
	int64_t fixed_ns; /* spec.timeout_ns; 0: learnt from round trips */
};

void udp_rr_conn_init(const struct udp_rr *u, struct udp_rr_conn *k, struct stream *s);

/* A new request of this lane leaves; 0, or the negative errno that send() gave: none has left. */
int udp_rr_ask(struct udp_rr *u, struct udp_rr_conn *k, int lane, int64_t now, int flags);

/* A datagram of `n` bytes that came into rr->data: the lane whose latest request it answers, or -1:
 * it is an older one's answer, or none. */
int udp_rr_take(struct udp_rr *u, struct udp_rr_conn *k, ssize_t n, int64_t now);

void udp_rr_give_up(struct udp_rr *u, struct udp_rr_conn *k, int lane);
bool udp_rr_waiting(const struct udp_rr *u, const struct udp_rr_conn *k);

/* Whatever was asked in the window and has no answer yet is lost. */
void udp_rr_finish(struct udp_rr *u, const struct udp_rr_conn *k);

/* Server: answers a datagram of n bytes that is in rr->data. */
void udp_rr_reply(struct udp_rr *u, struct stream *s, ssize_t n);

#define UDP_RR_LINGER INT64_C(200000000) /* ns after the end in which an answer may still come */
#define UDP_RR_TRY    INT64_C(1000000)	 /* ns until a send that had no room is tried again */

/* udp_rr_events.c: serves all connections of a crew. */
void udp_rr_events(struct udp_rr *u);

#endif
