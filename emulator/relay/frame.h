/* SPDX-License-Identifier: GPL-2.0-or-later */
/* frame: what the relay must know of an Ethernet frame, and the two things that it does to one. */
#ifndef VPCLAB_RELAY_FRAME_H
#define VPCLAB_RELAY_FRAME_H

#include <stddef.h>
#include <stdint.h>

struct frame {
	size_t l3;	/* offset behind Ethernet and VLAN tags */
	size_t payload; /* offset behind the IP header too; where there is none, l3 */
	size_t l3_bytes;
	size_t ip_bytes; /* the IP packet's own length; 0: not IP */
};

/* Never reads beyond len; what is cut off or broken is "not IP". */
void frame_read(const uint8_t *data, size_t len, struct frame *out);

/*
 * Fills in a checksum that was left for the device to do: the Internet checksum (RFC 1071) from
 * byte `start` to the end, stored `offset` bytes behind `start`, as virtio's NEEDS_CSUM says it.
 */
void frame_finish_checksum(uint8_t *data, size_t len, size_t start, size_t offset);

/* Flips one bit behind the IP header (behind Ethernet where there is nothing else). */
void frame_flip(uint8_t *data, size_t len, uint64_t bit);

#endif
