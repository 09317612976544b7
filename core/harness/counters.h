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
	int protocol;		 /* IPPROTO_TCP or IPPROTO_UDP */
};

/*
 * Starts counting. `flows` are those of engine_pair(): as the client sees them, before translation.
 * The caller closes what it got.
 */
int counters_open(const struct counters_at *at, const json_t *flows, struct counters **out,
		  struct err *err);
/* What came since counters_open(); elapsed_ns is the time since then. */
int counters_read(struct counters *c, struct truth_counts *out, struct err *err);
void counters_close(struct counters *c); /* NULL is fine */

#endif
