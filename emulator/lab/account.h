/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * account: where every packet of a running lab went. For each link and direction the kernel's and
 * the relay's counters must close: entered = left + lost by named causes + waiting - duplicated.
 * What does not close is a hole: an error of the lab, to the packet, once its links are idle.
 *
 * It only reads counters, all of them from the start of the lab; the difference of two readings is
 * what happened in between.
 */
#ifndef VPCLAB_LAB_ACCOUNT_H
#define VPCLAB_LAB_ACCOUNT_H

#include <jansson.h>

#include "emulator/lab/lab.h"

#define ACCOUNT_CAUSES_MAX 24

struct account_loss {
	const char
	    *cause; /* "queue", "pps cap", "police", "connections", "black_hole", "loss", … */
	const char *where; /* "h1/eth0 tbf 1:", "wires/relay r-b", … */
	int64_t packets;
};

struct account_direction {
	int link; /* index in the wire model */
	bool ba;
	int64_t entered, left; /* packets */
	int64_t waiting, duplicated;
	struct account_loss lost[ACCOUNT_CAUSES_MAX];
	size_t n_lost;
	int64_t hole; /* entered - left - lost - waiting + duplicated; 0 when all is told */
};

struct account { /* zeroed is empty; account_done() */
	struct arena arena;
	VEC(struct account_direction) directions; /* by link, ab before ba */
	int64_t at_ns;				  /* CLOCK_MONOTONIC */
	int64_t softnet_dropped;		  /* of the whole machine */
};

/* Reads all links of the lab. `w` is its wire model (lab_wire()). */
int account_read(const struct lab *lab, const struct wire *w, struct account *out, struct err *err);
void account_done(struct account *a);

/* What happened between two readings of the same lab: `after` minus `before`, into `out`. */
void account_between(const struct account *before, const struct account *after,
		     struct account *out);

/* Reads until nothing waits and no counter moves (at most `limit_ns`). -ETIMEDOUT: still busy. */
int account_read_idle(const struct lab *lab, const struct wire *w, int64_t limit_ns,
		      struct account *out, struct err *err);

json_t *account_json(const struct account *a, const struct wire *w); /* gives a reference */

#endif
