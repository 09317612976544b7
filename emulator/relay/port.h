/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * port: the packet sockets of a relay: one takes what arrives at a device, others put out.
 *
 * In: a ring shared with the kernel (packet(7), PACKET_RX_RING), TPACKET_V2: each frame wakes the
 * reader at once. V3 fills blocks and hands them over when full or after a timeout of whole
 * milliseconds, which is cheaper a packet, but a relay that promises 1 ms cannot wait for it. What
 * the device itself sends is never seen (PACKET_IGNORE_OUTGOING).
 *
 * Out: sendmmsg() past the device's qdisc (PACKET_QDISC_BYPASS). Frames are charged to the sending
 * socket until the next hop's queue lets go of them; the queue there must fill, not the socket's
 * buffer, so there are more sockets when one is full.
 *
 * Both carry struct virtio_net_hdr with each frame: a checksum that was left to do stays so.
 */
#ifndef VPCLAB_RELAY_PORT_H
#define VPCLAB_RELAY_PORT_H

#include <linux/virtio_net.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "core/base/err.h"

#define PORT_BATCH	64
#define PORT_OUT_MAX	64
#define PORT_VNET_BYTES 10 /* sizeof(struct virtio_net_hdr), without its padding */

struct port_in {
	int fd, ifindex;
	uint8_t *ring;
	size_t ring_bytes, block_bytes, slot_bytes, slots_a_block, slots, at;
	int64_t empty_ns; /* when the ring was last seen empty, or the last arrival */
	uint64_t overrun; /* frames that the kernel could not put into the ring, so far */
};

struct port_frame { /* borrowed from the ring until port_in_done() */
	const uint8_t *data;
	size_t len, full_len; /* what there is of it; less where it was longer than the MTU */
	int64_t arrival_ns;   /* CLOCK_MONOTONIC */
	bool tagged;	      /* a VLAN tag that stands beside the frame: */
	uint16_t tpid, tci;
	struct virtio_net_hdr vnet;
};

int port_in_open(struct port_in *p, const char *dev, size_t ring_bytes, struct err *err);
void port_in_close(struct port_in *p);

/*
 * The next frame that has arrived, if there is one. `now_ns` is the time and `wall_ns` what to take
 * from the kernel's (CLOCK_REALTIME) stamps, see port_wall_ns(). Arrivals never fall, and none is
 * later than now: a step of the wall clock cannot make a packet early or very late.
 */
bool port_in_next(struct port_in *p, int64_t now_ns, int64_t wall_ns, struct port_frame *out);
void port_in_done(struct port_in *p);  /* the frame's place is the kernel's again */
void port_in_count(struct port_in *p); /* asks the kernel for overruns */
/* After POLLERR, which this clears: 1 the device is up, 0 it is down, -ENODEV it has gone: a socket
 * hears of the first and the second, but not of the third when the second came before. */
int port_in_state(struct port_in *p);
int64_t port_wall_ns(void); /* CLOCK_REALTIME less CLOCK_MONOTONIC, never too much */

struct port_out {
	int ifindex, n, at; /* sockets; the one in use */
	int fds[PORT_OUT_MAX];
};

int port_out_open(struct port_out *p, const char *dev, struct err *err);
void port_out_close(struct port_out *p);

/* Sends the first of n, at least. Gives how many were sent; -EAGAIN: all buffers are full; another
 * negative errno: the first cannot be sent. */
int port_out_send(struct port_out *p, struct mmsghdr *v, unsigned n);

#endif
