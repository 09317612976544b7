/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * top: two readings of a lab's counters become rows of packets and bits a second, and rows become
 * text. Pure; cmd_top.c reads and repeats.
 */
#ifndef VPCLAB_CLI_TOP_H
#define VPCLAB_CLI_TOP_H

#include <jansson.h>

#include "core/base/mem.h"
#include "core/base/str.h"
#include "emulator/model/wire.h"

/* Who dropped: a queue, a rule or policer, the way to the other end (its CPU's backlog was full, or
 * it is down, or its MTU too small), a node that had no use for it, a socket that was full. */
enum top_cause { TOP_QDISC, TOP_NFT, TOP_SOFTNET, TOP_NOT_TAKEN, TOP_SOCKET, TOP_CAUSES };

struct top_row {
	const char *node, *dev;		       /* dev: NULL for the node itself: its sockets */
	double rx_pps, tx_pps, rx_Bps, tx_Bps; /* packets and bytes a second */
	double rx_mcast_pps;
	double drop_pps[TOP_CAUSES];
	int64_t dropped[TOP_CAUSES]; /* since the lab is up */
	int64_t waiting_packets, waiting_bytes;
	int64_t speed_mbps;	      /* as /sys/class/net says it */
	const json_t *before, *after; /* the device in the two readings; NULL for a node */
};

struct top { /* zeroed is empty */
	struct arena arena;
	double interval_s;
	VEC(struct top_row) rows;
};

struct top_filter {
	const char *node; /* only this one, or NULL */
	bool all;	  /* what stands still too */
};

/*
 * Rows from two readings as count_snapshot() gives them, busiest first. They borrow from `after`,
 * `before` and `w`. top_done().
 */
void top_rows(const struct wire *w, const json_t *before, const json_t *after,
	      const struct top_filter *f, struct top *out);
void top_done(struct top *t);

/* The table; `queues`: with a line for each qdisc and class. */
void top_table(const struct top *t, bool queues, struct strbuf *out);

/* {"at_ns", "interval_s", "interfaces": […]}. Gives a reference. */
json_t *top_json(const struct top *t, const json_t *after);

/*
 * What `sar -n DEV` prints for the same: header and rows, each line begun by `when` (a time of day,
 * or "Average:"), the header by `head`. `one`: device names alone, as on one machine; else
 * node:dev.
 */
void top_sar(const struct top *t, const char *head, const char *when, bool one, struct strbuf *out);

#endif
