/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * path_probe: one question to the server of path_check and all that comes back: its answer, or what
 * a hop on the way says by ICMP. path_check.c decides what to ask. Private to this folder.
 *
 * Every datagram may not be fragmented (IP_PMTUDISC_PROBE: DF, and what the kernel thinks of the
 * path's MTU is not asked), has the hop limit and the class that the question names, and so has the
 * answer. Sizes are of the IP packet, with its headers.
 */
#ifndef VPCLAB_ENGINE_PATH_PROBE_H
#define VPCLAB_ENGINE_PATH_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/addr.h"
#include "core/engine/worker.h"

#define PATH_HOPS 64 /* hop limit of all that is not meant to end on the way */

enum path_kind {
	PATH_ECHO, /* answer at once */
	PATH_WAIT, /* answer after wait_ms of silence */
	PATH_BYE   /* the last one: the server answers and ends */
};

struct path_question {
	enum path_kind kind;
	int size, answer_size; /* bytes of IP packet; 0: the smallest */
	int hops;	       /* 0: PATH_HOPS */
	int dscp;
	int64_t wait_ms;
	int tries; /* 0: 3, or more on a path that has lost some */
};

/* What came by ICMP for the last try. */
struct path_icmp {
	bool any, local;     /* local: this host itself says so */
	int type, code, mtu; /* mtu: of "too big", 0 where it names none */
	struct ip from;
};

struct path_answer {
	bool answered;
	bool refused; /* the local system would not send it (too big for the device, …) */
	int64_t round_trip_ns;
	int tries;
	/* As the server saw the question, and as we see its answer. */
	int size, dscp, hops_left, answer_size, answer_dscp, answer_hops_left;
	struct ip source, destination;
	int source_port, destination_port;
	/* What the server was told about too large an answer: since the last question; 0: nothing
	 */
	int server_mtu;
	bool server_local; /* by its own device */
	struct path_icmp icmp;
};

struct path_probe {
	struct stream *s;
	uint64_t number;
	int64_t smoothed_ns; /* round trip; 0: none yet */
	bool lossy;	     /* an answer came at a second try only */
	char *data;	     /* a datagram */
	int64_t bytes;	     /* payload sent (client) or received (server) */
	/* server */
	int told_mtu;
	bool told_local;
};

void path_probe_init(struct path_probe *p, struct stream *s);
void path_probe_done(struct path_probe *p);

/* The smallest size of a packet that can carry a question or an answer. */
int path_probe_smallest(const struct path_probe *p);

/* The MTU of the device that the question leaves by, as the kernel says; 0: not known. */
int path_probe_device_mtu(struct path_probe *p);

/* Asks, again after a silence that is too long for the path, and fills *a. False: the worker is
 * over. The client's. */
bool path_probe_ask(struct path_probe *p, const struct path_question *q, struct path_answer *a);

/* The server's body: answers until PATH_BYE, or a silence longer than any that was announced. */
void path_probe_serve(struct path_probe *p);

#endif
