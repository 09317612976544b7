/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * frames: sends frames out of a device of a running lab and tells when each one came where. What
 * `check --prove` measures with.
 *
 * The frames are IPv4/UDP between two documentation addresses (203.0.113.0/24, RFC 5737), port 9,
 * to the group address 01:80:c2:00:00:0e: no bridge forwards it (IEEE 802.1Q, 8.6.3; Open vSwitch
 * keeps to it too), so they end where they are looked at and disturb nobody behind. One process
 * does both ends with packet sockets that were opened in the namespaces of both; both times are of
 * the kernel's one real-time clock: sent is read just before the frames are handed over, arrived is
 * the kernel's own time stamp. Nothing blocks: what the link pushes back is given up and counted.
 *
 * Where the two ends of the last veth pair are in one namespace, look at what leaves: a packet
 * keeps the time stamp that it got at an earlier device until it crosses namespaces
 * (skb_scrub_packet() in net/core/skbuff.c), while what leaves gets a new one (dev_queue_xmit_nit()
 * in net/core/dev.c).
 */
#ifndef VPCLAB_LAB_FRAMES_H
#define VPCLAB_LAB_FRAMES_H

#include "emulator/lab/lab.h"

#define FRAMES_STREAMS	2
#define FRAMES_SIZES	4
#define FRAMES_IP_LEAST 32	/* bytes of the shortest IP packet: headers and a number */
#define FRAMES_MOST	1000000 /* of one stream */

struct frames_stream {
	const char *from_node, *from_dev; /* they leave by it, through its own queue */
	const char *to_node, *to_dev;	  /* they are looked at when they arrive at it … */
	bool leaving;		 /* … or, instead, when they leave by it, past its queue */
	int sizes[FRAMES_SIZES]; /* bytes of IP packets, in turn */
	size_t n_sizes;
	int flows;	 /* so many UDP source ports, in turn; at least 1 */
	int64_t count;	 /* frames, at most FRAMES_MOST */
	int64_t at_once; /* of those, at the very start */
	double gap_ns;	 /* then one in so many */
};

struct frames_spec {
	struct frames_stream stream[FRAMES_STREAMS]; /* all at the same time */
	size_t n;
	int64_t send_ns; /* frames that are not sent by then are not sent at all; 0: no limit */
	bool whole;	 /* compare each byte of what arrives */
	int64_t
	    quiet_ns; /* it is over when nothing more came for so long after the last was sent … */
	int64_t limit_ns; /* … or at the latest so long after it */
};

enum frames_kind {
	FRAMES_OURS,
	FRAMES_DAMAGED, /* `whole`: of our length, but not our bytes; seq counts for nothing */
	FRAMES_FOREIGN, /* not of this probe */
};

struct frames_arrival { /* in the order of arrival */
	int64_t at_ns;	/* CLOCK_REALTIME */
	uint32_t seq;	/* the number of the frame in its stream, from 0 */
	uint32_t bytes; /* with its Ethernet header */
	enum frames_kind kind;
};

struct frames_log {	  /* of one stream */
	int64_t *sent_ns; /* of each frame; 0: the sender was pushed back, so it was never sent */
	size_t n_sent;	  /* length of sent_ns */
	struct frames_arrival *arrivals;
	size_t n_arrivals;
	int64_t foreign; /* arrivals of that kind */
	int64_t refused; /* frames that were pushed back */
	int64_t overrun; /* arrivals that were not seen, since the machine was too slow */
};

/*
 * Sends and looks. Logs are by stream and must be zeroed; frames_done() is needed after success.
 * Errors: a node or device that is not there; no packet sockets (ERR_UNSUPPORTED).
 */
int frames_run(const struct lab *lab, const struct frames_spec *spec,
	       struct frames_log logs[static FRAMES_STREAMS], struct err *err);
void frames_done(struct frames_log logs[static FRAMES_STREAMS]);

#endif
