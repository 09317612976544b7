/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * watch_flow: what a flow of somebody else's program was, by the kernel's counters on its way:
 * those of one protocol at the first device after the client's card (sent) and at the server's card
 * (arrived), read again and again, so that it is known when the flow began and ended.
 */
#ifndef VPCLAB_HARNESS_WATCH_FLOW_H
#define VPCLAB_HARNESS_WATCH_FLOW_H

#include "emulator/lab/count.h"
#include "emulator/model/path.h"

struct watch_flow;

struct watch_flow_at {
	const struct lab *lab;
	const struct wire *wire;
	const struct path *path; /* of the data */
	int protocol;		 /* IPPROTO_UDP or IPPROTO_TCP: all of that on this way */
	int family, dscp;	 /* so marked packets are counted by themselves; 0: none are */
};

struct watch_flow_part {
	int64_t ns, packets, bytes; /* ns 0: none */
};

struct watch_flow_end {		/* at one of the two devices */
	int64_t packets, bytes; /* from the IP header on, all of the flow */
	int64_t marked;		/* packets with the DSCP */
	/* The span in which it surely ran, without its ends, and what came in it: for a rate. 0: it
	 * was too short to tell. */
	int64_t active_ns, active_packets, active_bytes;
	/* Of all parts without up to a second (and a third) at either end, the slowest and the
	 * fastest: what somebody else's time may have seen. */
	struct watch_flow_part least, most;
};

int watch_flow_open(const struct watch_flow_at *at, struct watch_flow **out, struct err *err);
/* A reading; *began_ns: when the first one was that had packets; 0: not yet. */
int watch_flow_read(struct watch_flow *w, int64_t *began_ns, struct err *err);
/* Reads until the two stand still (at most 2 s). */
int watch_flow_settle(struct watch_flow *w, struct err *err);
void watch_flow_found(const struct watch_flow *w, struct watch_flow_end *sent,
		      struct watch_flow_end *arrived);
void watch_flow_close(struct watch_flow *w); /* NULL is fine */

#endif
