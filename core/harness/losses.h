/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * losses: where the packets of one measurement went that did not arrive. The ledgers of the links
 * on both ways (emulator/lab/account.h), before and after, give the losses by cause and place; what
 * the two ends and the counter at the receiving device say must agree with them, to the packet.
 */
#ifndef VPCLAB_HARNESS_LOSSES_H
#define VPCLAB_HARNESS_LOSSES_H

#include "core/base/mem.h"
#include "core/base/str.h"
#include "emulator/lab/account.h"
#include "emulator/model/path.h"

struct losses_at {
	const struct lab *lab;
	const struct wire *wire;
	const struct path *there, *back; /* of the data, and of the answers (NULL: not asked) */
};

struct loss {
	const char *cause, *where;
	const char *link; /* on which link, or NULL: in a node */
	bool answers;	  /* lost on the way of the answers */
	int64_t packets;
};

struct losses {
	bool known; /* the counters of both ways could be read */
	VEC(struct loss) list;
	/* Of the data, where its packets can be followed from end to end (datagrams in one piece):
	 * sent = delivered + lost. Else followed is false. */
	bool followed;
	int64_t sent, delivered;
	int64_t others;	     /* of those in the list: not the measurement's packets */
	int64_t behind;	     /* arrived, and dropped by the receiving node before its socket */
	int64_t duplicated;  /* on the way, by the lab */
	int64_t waiting;     /* still, when it was read: then nothing is followed or unexplained */
	int64_t unexplained; /* packets of which nobody says what became of them; 0: all is told */
	const char *why;     /* in words when it is not 0 */
};

/* The ledger of all links on both ways. account_done(). */
int losses_read(const struct losses_at *at, struct account *out, struct err *err);

/* Of the relays on both ways what relays_read() says; empty where there is none. Gives a reference.
 */
int losses_relays(const struct losses_at *at, json_t **out, struct err *err);

/* How many packets still wait on both ways, and how many are between two counters. */
void losses_moving(const struct losses_at *at, const struct account *a, int64_t *waiting,
		   int64_t *open);

/* What was lost, from the difference of two readings. Texts live in `arena`. */
void losses_of(const struct losses_at *at, const struct account *between, struct arena *arena,
	       struct losses *out);

/* What is known of the flow, in packets. */
struct losses_flow {
	const char *from, *to; /* endpoints, for words */
	int64_t sent;	       /* handed over by the client */
	int64_t arrived;       /* counted at the receiving device */
	int64_t delivered;     /* read by the server, each once */
	int64_t socket;	       /* dropped by its socket */
	int64_t unread_most;   /* may be there and not read: sent when the server had ended */
};

/*
 * Follows the flow: adds to the list what sockets and nodes on the way dropped, and says what is
 * unexplained. `out` is what losses_of() made of `between`.
 */
void losses_follow(const struct losses_at *at, const struct account *between,
		   const struct losses_flow *f, struct arena *arena, struct losses *out);

/* "12,345 of 50,000: 12,345 at r:eth2's queue; nothing unexplained"; "" where nothing was. */
void losses_describe(const struct losses *l, struct strbuf *out);

#endif
