/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * latency: what udp_latency's bodies (udp_latency.c) find and its report (latency_report.c) writes;
 * and the datagrams between them. Private to this folder. All times are CLOCK_MONOTONIC ns.
 */
#ifndef VPCLAB_ENGINE_LATENCY_H
#define VPCLAB_ENGINE_LATENCY_H

#include <stdbool.h>
#include <stdint.h>

#include "core/engine/packet.h"
#include "core/engine/seq.h"
#include "core/engine/timestamp.h"
#include "core/engine/worker.h"
#include "core/stats/distribution.h"
#include "core/stats/hist.h"

/*
 * A probe is a packet.h packet with its time, and padding. The answer has the same first 20 bytes,
 * then, in network order, the server's times and places. A packet of PHASE_TAIL says that the
 * client needs no more answers.
 */
struct latency_answer {
	int64_t kernel_received_ns;   /* 0: not known */
	int64_t received_ns, sent_ns; /* by the program */
	int64_t before_sent_ns; /* when the driver had an answer before this one; 0: unknown */
	uint32_t before_code;	/* which probe that one was to: latency_code() */
	uint32_t order;		/* of this answer in its phase, 0, 1, 2, … */
};

#define LATENCY_PROBE_MIN   PACKET_TIMED
#define LATENCY_ANSWER_MIN  (PACKET_TIMED + 40)
#define LATENCY_SIZE	    64
#define LATENCY_CODES	    1024
#define LATENCY_CODE_MASK   0x3fffffffu
#define LATENCY_STREAMS	    64
#define LATENCY_RATE	    1000 /* probes a second where none is asked for */
#define LATENCY_TIMEOUT	    NSEC_PER_SEC
#define LATENCY_TIMEOUT_MAX (4 * NSEC_PER_SEC)

/* What is known of each answered probe of the window, by the client: one histogram each. */
enum latency_kind {
	LATENCY_ROUND_TRIP,	/* answer received by the program, from when the probe was due */
	LATENCY_FROM_SENT,	/* likewise, from when it was really sent */
	LATENCY_TIMER_ERROR,	/* from due to sent: the sender's own fault */
	LATENCY_FORWARD,	/* sent by the client's program, received by the server's */
	LATENCY_BACK,		/* sent by the server's program, received by the client's */
	LATENCY_TURNAROUND,	/* received and sent by the server's program */
	LATENCY_PATH_FORWARD,	/* from driver to driver, */
	LATENCY_PATH_BACK,	/* each way */
	LATENCY_PATH_ROUND,	/* both, without comparing clocks */
	LATENCY_CLIENT_SEND,	/* from program to driver, */
	LATENCY_CLIENT_RECEIVE, /* from driver to program, */
	LATENCY_SERVER_SEND,	/* at each end */
	LATENCY_SERVER_RECEIVE,
	LATENCY_IPDV_FORWARD, /* how far apart the delays of two probes in a row are, RFC 3393 */
	LATENCY_IPDV_BACK,
	LATENCY_KINDS
};
extern const char *const latency_names[LATENCY_KINDS];

struct latency_probe { /* times 0: not known (yet) */
	int64_t due_ns, sent_ns, driver_ns, received_ns, kernel_received_ns;
	struct latency_answer answer;
	int64_t server_driver_ns; /* when the server's driver had the answer */
	enum window_phase phase;
	bool answered;
};

/* RFC 3550, 6.4.1 and A.8: smoothed difference of the transit times of two packets in a row. */
struct latency_jitter {
	double ns;
	int64_t transit_ns;
	bool any;
};

struct latency {
	char *data; /* a datagram of either kind */
	size_t room;
	struct timestamp_clock clock;
	bool comparable;	    /* the server's times can be compared with ours */
	bool send_stamps;	    /* asked for */
	uint32_t stamp_next;	    /* number that the kernel gives to the next one sent */
	uint32_t stamp_seen;	    /* server: the kernel's number of the next one to hear of */
	int64_t stamp_strange;	    /* those that fit to no probe */
	struct seq seq[PHASE_TAIL]; /* client: answers by their order; server: probes */
	struct latency_jitter jitter;
	/* client */
	struct distribution_source random;
	int64_t due_ns;	      /* of the next probe */
	double gap_ns, carry; /* mean; what rounding has left */
	uint64_t places;      /* of the periodic schedule */
	struct latency_probe *ring;
	uint64_t mask;	     /* size of the ring − 1 */
	uint64_t sent, done; /* probes sent, and those that have left the ring */
	uint64_t warm;	     /* how many were of the warm-up */
	uint32_t *stamped;   /* [mask + 1] by the kernel's number: which probe, last 32 bits */
	struct hist *hist[LATENCY_KINDS];
	struct latency_probe previous; /* of the last one that left the ring */
	int64_t measured, answered, lost, late, refused, duplicated, strays;
	int64_t *answered_in; /* of it, those due in each interval of the window */
	/* server */
	int64_t drops; /* of the socket, before the start */
	uint32_t order[PHASE_TAIL];
	uint32_t codes[LATENCY_CODES]; /* by the kernel's number: what was answered */
	uint32_t before_code;
	int64_t before_ns;
};

/* A probe's phase and number in 32 bits. */
static inline uint32_t latency_code(enum window_phase phase, uint64_t number)
{
	return (uint32_t)phase << 30 | (uint32_t)(number & LATENCY_CODE_MASK);
}

int64_t latency_timeout(const struct engine_spec *s);
double latency_rate(const struct engine_spec *s); /* probes a second of all streams */

void latency_report(struct worker *w, json_t *result);
void latency_merge(const struct engine_spec *s, const json_t *client, const json_t *server,
		   struct engine_result *out);

#endif
