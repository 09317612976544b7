/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * timestamp: when the kernel, not the program, received a datagram and handed one to the device.
 * Software timestamps, by SO_TIMESTAMPING (Documentation/networking/timestamping.rst); what the
 * kernel gives in CLOCK_REALTIME is turned into CLOCK_MONOTONIC. Private to this folder.
 *
 * Received: taken when the device's driver hands the packet to the stack. Sent: taken when the
 * driver takes it for transmission, after every queue of the sender; a driver that does not call
 * skb_tx_timestamp() gives none, which the caller sees by none coming. Between the two lie the
 * wire, or the veth pair, and all that is between.
 */
#ifndef VPCLAB_ENGINE_TIMESTAMP_H
#define VPCLAB_ENGINE_TIMESTAMP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <time.h>

/* Bytes of msg_control that take the timestamp of one datagram, beside a small one or two. */
#define TIMESTAMP_CONTROL 256

struct timestamp_clock {  /* of one thread; zeroed is new */
	int64_t ahead_ns; /* of CLOCK_REALTIME before CLOCK_MONOTONIC */
	int64_t checked_ns;
};

/* Asks for them; `sends`: those of sent datagrams too, which are then to be fetched, and numbered
 * 0, 1, 2, … from here on. 0 or a negative errno. */
int timestamp_enable(int fd, bool sends);

/* Of the datagram that recvmsg(2) gave with these control messages; 0: it has none. */
int64_t timestamp_received(struct msghdr *m, struct timestamp_clock *c, int64_t now_ns);

struct timestamp_sent {
	uint32_t number; /* of the datagram, as counted since timestamp_enable() */
	int64_t when_ns;
};

/* The next one of the socket's error queue. 1: *out is set; 0: there is none now; negative errno.
 * Errors that are no timestamps (ICMP) are taken from the queue and dropped. */
int timestamp_fetch(int fd, struct timestamp_clock *c, int64_t now_ns, struct timestamp_sent *out);

#endif
