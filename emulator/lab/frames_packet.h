/* SPDX-License-Identifier: GPL-2.0-or-later */
/* frames_packet: the bytes of the probe's frames, written and recognised. Pure. */
#ifndef VPCLAB_LAB_FRAMES_PACKET_H
#define VPCLAB_LAB_FRAMES_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FRAMES_ETHERNET 14
#define FRAMES_HEADERS                                                                             \
	46 /* Ethernet, IPv4, UDP and the frame's number: enough to recognise one                  \
	    */

struct frames_id {
	uint16_t run;	 /* tells one probe from another */
	uint8_t stream;	 /* the last byte of both addresses */
	uint32_t seq;	 /* number of the frame */
	uint16_t source; /* UDP port */
};

/* Writes a frame whose IP packet is ip_bytes long (at least FRAMES_IP_LEAST); not `whole`: all but
 * what is behind the frame's number. */
void frames_packet_write(unsigned char *frame, int ip_bytes, const struct frames_id *id,
			 bool whole);
/* Is it a frame of that run and stream? The first FRAMES_HEADERS bytes are looked at. */
bool frames_packet_read(const unsigned char *frame, size_t len, struct frames_id *id);
/* Has it, whole, just the bytes that were written? `id` is what was read from it. */
bool frames_packet_intact(const unsigned char *frame, size_t len, const struct frames_id *id);

#endif
