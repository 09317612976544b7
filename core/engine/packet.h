/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * packet: what is written into each datagram of udp_stream.
 *
 *   0  session   32 bits  the measurement; anything else is not ours
 *   4  phase      2 bits  enum window_phase
 *      number    62 bits  0, 1, 2, … in each phase
 *  12  sent      64 bits  CLOCK_MONOTONIC ns, where the payload has room for it
 *
 * All in network order. The first 12 bytes fit into the 18 of a minimum-size Ethernet frame.
 */
#ifndef VPCLAB_ENGINE_PACKET_H
#define VPCLAB_ENGINE_PACKET_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "core/engine/window.h"

#define PACKET_MIN   12
#define PACKET_TIMED 20

struct packet {
	uint32_t session;
	enum window_phase phase;
	uint64_t number;
	int64_t sent_ns; /* 0: not in it */
};

static inline void packet_put(void *to, size_t size, const struct packet *p)
{
	uint32_t session = htobe32(p->session);
	uint64_t word = htobe64((uint64_t)p->phase << 62 | p->number);
	memcpy(to, &session, 4);
	memcpy((char *)to + 4, &word, 8);
	if (size >= PACKET_TIMED) {
		uint64_t sent = htobe64((uint64_t)p->sent_ns);
		memcpy((char *)to + 12, &sent, 8);
	}
}

/* False: too short to be one of ours. */
static inline bool packet_get(const void *from, size_t size, struct packet *p)
{
	if (size < PACKET_MIN)
		return false;
	uint32_t session;
	uint64_t word, sent = 0;
	memcpy(&session, from, 4);
	memcpy(&word, (const char *)from + 4, 8);
	if (size >= PACKET_TIMED)
		memcpy(&sent, (const char *)from + 12, 8);
	p->session = be32toh(session);
	p->phase = (enum window_phase)(be64toh(word) >> 62);
	p->number = be64toh(word) & (UINT64_MAX >> 2);
	p->sent_ns = (int64_t)be64toh(sent);
	return true;
}

#endif
