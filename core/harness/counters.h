/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * counters: the kernel's two counters of one measurement, at the device where its data arrives.
 */
#ifndef VPCLAB_HARNESS_COUNTERS_H
#define VPCLAB_HARNESS_COUNTERS_H

#include <jansson.h>

#include "core/harness/truth.h"
#include "emulator/lab/lab.h"

struct counters;

struct counters_at {
	const struct lab *lab;
	const struct wire *wire;
	const struct path *path; /* of the data */
	int protocol;		 /* IPPROTO_TCP or IPPROTO_UDP, of flows that name none */
	bool from_server;	 /* the data of these flows goes from server to client */
	size_t first, n;	 /* which of the flows */
	/* Of several measurements at the same time; NULL: alone. Where their data arrives at one
	 * device, each counts its own, and the others' packets are no foreign ones. All are opened
	 * before any sends, and closed before counters_shared_free(). */
	struct counters_shared *shared;
};

struct counters_shared *counters_shared_new(void);
void counters_shared_free(struct counters_shared *s); /* NULL is fine */

/*
 * Starts counting. `flows` are those of engine_pair(): as the client sees them, before translation.
 * The caller closes what it got.
 * A few flows are counted by a rule each. Each rule costs every packet some time, so many are
 * counted together, by the addresses and the ports of the server; as are flows whose client takes
 * new ports all the time (local_port 0).
 */
int counters_open(const struct counters_at *at, const json_t *flows, struct counters **out,
		  struct err *err);
/* What came since counters_open(); elapsed_ns is the time since then. */
int counters_read(struct counters *c, struct truth_counts *out, struct err *err);
void counters_close(struct counters *c); /* NULL is fine */

#endif
