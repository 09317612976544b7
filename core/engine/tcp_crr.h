/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tcp_crr: what the files of tcp_crr and tcp_cc know of each other. Private to this folder. */
#ifndef VPCLAB_ENGINE_TCP_CRR_H
#define VPCLAB_ENGINE_TCP_CRR_H

#include <stdbool.h>
#include <stdint.h>

#include "core/engine/worker.h"
#include "core/stats/hist.h"

/* How a connection can fail; in the window. */
enum tcp_crr_failure {
	TCP_CRR_REFUSED,
	TCP_CRR_RESET,
	TCP_CRR_TIMED_OUT,
	TCP_CRR_NO_ADDRESS, /* EADDRNOTAVAIL: every local port is in use towards that port */
	TCP_CRR_OTHER,
	TCP_CRR_FAILURES
};

struct tcp_crr {	     /* crew.own */
	struct hist whole;   /* client, ns: from connect() to after close(), ended in the window */
	struct hist connect; /* client, ns: of the same connections, until they were established */
	int64_t failed[TCP_CRR_FAILURES]; /* client, in the window */
	int64_t failed_all;		  /* of all phases */
	int last_code;			  /* errno of the last failure */
	int64_t time_wait; /* client: sockets in that state at the end; -1 not known */
	char congestion[16];
	uint64_t ports[65536 / 64]; /* client: local ports used, a bit each */
};

/* connect, close: without request and response. */
static inline bool tcp_crr_is_bare(const struct worker *w)
{
	return w->spec.test == TEST_TCP_CC;
}

void tcp_crr_client(struct crew *c); /* tcp_crr_client.c */
void tcp_crr_server(struct crew *c); /* tcp_crr_server.c */

#endif
