/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * account: where every packet of a running lab went. For each link and direction the kernel's and
 * the relay's counters must close: entered = left + lost by named causes + waiting - duplicated.
 * What does not close is a hole: an error of the lab, to the packet, once its links are idle.
 *
 * It only reads counters, all of them from the start of the lab; the difference of two readings is
 * what happened in between. Nodes are no links: what they throw away themselves (a rule, a full
 * socket, no route) stands in `elsewhere`.
 *
 * Causes: "queue" (of a shaper, or of a device without one), "pps cap", "police", "loss" (of netem
 * or relay), "black_hole", "flap", "overrun", "oversize", "send" (relay), "before the relay" (while
 * the lab was being built), "softnet" (the machine's backlog was full), "change" (by `vpclab set`,
 * with the queue that they waited in), "device" (down, or the packet larger than its MTU),
 * "connections", "rule", "socket" (the receiver's was full), and those of the IP layer ("no_route",
 * …).
 */
#ifndef VPCLAB_LAB_ACCOUNT_H
#define VPCLAB_LAB_ACCOUNT_H

#include <jansson.h>

#include "core/base/str.h"
#include "emulator/lab/lab.h"

#define ACCOUNT_CAUSES_MAX 24

struct account_loss {
	const char *cause;
	const char *where; /* "h1:nic", "r:eth2 class 1:101", "relay r-b", … */
	int node;	   /* in the wire model */
	int64_t packets;
};

struct account_direction {
	int link; /* index in the wire model */
	bool ba;
	int64_t entered, left; /* packets */
	int64_t waiting, duplicated;
	int64_t corrupted; /* by the relay, which says so: still on their way, with a flipped bit */
	struct account_loss lost[ACCOUNT_CAUSES_MAX];
	size_t n_lost;
	int64_t hole; /* entered - left - lost - waiting + duplicated; 0 when all is told */
};

struct account { /* zeroed is empty; account_done() */
	struct arena arena;
	VEC(struct account_direction) directions; /* by link, ab before ba */
	VEC(struct account_loss) elsewhere;	  /* by node */
	int64_t at_ns;				  /* CLOCK_MONOTONIC */
	int64_t softnet_dropped;		  /* of the whole machine */
};

/*
 * Reads those nodes (by index, as many as the wire model has), and the links all in them; NULL: all
 * of the lab. `w` is its wire model (lab_wire()).
 */
int account_read_nodes(const struct lab *lab, const struct wire *w, const bool *nodes,
		       struct account *out, struct err *err);
/* The same of what count_snapshot_relays() gave. */
void account_of(const struct wire *w, const json_t *snapshot, struct account *out);
void account_done(struct account *a);

/*
 * What happened between two readings of the same lab: `after` minus `before`, into `out`. Texts
 * are copied.
 */
void account_between(const struct account *before, const struct account *after,
		     struct account *out);

/*
 * Of an idle lab: one line a hole ("link r-b a→b: 3 packets unexplained") into `text`, their number
 * added to *n. A lab that is busy for longer than a second is not judged: 0 lines.
 */
int account_check(const struct lab *lab, struct strbuf *text, size_t *n, struct err *err);

int64_t account_lost(const struct account_direction *d); /* by all causes */
/* The direction of a link, or NULL where it was not read. */
const struct account_direction *account_find(const struct account *a, int link, bool ba);

/*
 * {"softnet_dropped", "at_ns", "links": [{"name", "direction": "ab", "entered_packets",
 *  "left_packets", "waiting_packets", "duplicated_packets", "lost": [{"cause", "where",
 *  "packets"}], "unexplained_packets"}], "elsewhere": [{"node", "cause", "where", "packets"}]}
 * Gives a reference.
 */
json_t *account_json(const struct account *a, const struct wire *w);

/* "12,345 at r:eth2's queue", "7 at relay r-b (loss)", into `out` after ", " where it has text. */
void account_describe(const struct account_loss *l, struct strbuf *out);
/* 12345 as "12,345". */
char *account_number(char buf[32], int64_t v);

#endif
