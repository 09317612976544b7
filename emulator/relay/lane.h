/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lane: one direction of a relay: takes packets, gives each its fate, holds it until it is due,
 * puts it out, and counts. It waits for nothing; loop.c tells it when.
 *
 * Order. Packets leave in the order in which they came: one whose delay is shorter by chance waits
 * for the one before it. Only two things change the order. Reordering: a packet that is chosen for
 * it is held back until the next that is not chosen has gone, and leaves right behind it (with no
 * next one, LANE_HOLD_NS after it was due). So each packet chosen, and no other, arrives after one
 * that was sent after it, which is "reordered" in RFC 4737: the share asked is the share that a
 * receiver counts. And a change of the impairments: what was in the lane keeps the time it has,
 * what comes later has the new delay, and where that is shorter it overtakes, as on a network when
 * a route becomes shorter.
 */
#ifndef VPCLAB_RELAY_LANE_H
#define VPCLAB_RELAY_LANE_H

#include <jansson.h>

#include "core/base/mem.h"
#include "core/stats/hist.h"
#include "emulator/relay/fate.h"
#include "emulator/relay/fatelog.h"
#include "emulator/relay/pool.h"
#include "emulator/relay/port.h"
#include "emulator/relay/queue.h"
#include "emulator/relay/relay.h"
#include "emulator/relay/trace.h"

#define LANE_HOLD_NS INT64_C(50000000)

struct lane_stats {
	int64_t in_packets, in_bytes, out_packets, out_bytes, waiting_packets, waiting_bytes;
	int64_t lost[FATE_CAUSES], overrun;
	int64_t duplicated, corrupted, reordered, late;
	struct hist asked, given, slip; /* nanoseconds */
};

struct packet;

struct lane {
	int direction;
	struct port_in in;
	struct port_out out;
	struct pool pool;
	int64_t most_bytes; /* of frames that wait */
	struct queue queue;
	struct fate fate;
	struct trace *trace;		 /* NULL: none */
	struct packet *held, **held_end; /* chosen for reordering, by arrival */
	int64_t floor_ns;		 /* nothing is due before what came before it */
	uint64_t number;		 /* packets so far */
	struct fatelog *log;		 /* borrowed */
	struct lane_stats *stats;
};

/* Borrows all of `d` and `log`. */
int lane_open(struct lane *l, int direction, const struct relay_spec *s, struct fatelog *log,
	      struct err *err);
void lane_close(struct lane *l);

/* Other impairments from now on (borrowed). The same as before change nothing. */
void lane_set(struct lane *l, const struct wire_impair *impair, int64_t now_ns);

/* Takes at most a batch of what has arrived. Gives how many packets that was. */
unsigned lane_take(struct lane *l, int64_t now_ns, int64_t wall_ns);

/* Puts out at most a batch of what is due. Gives how many packets went, were lost on the way, or
 * -EAGAIN: the device takes no more just now. */
int lane_give(struct lane *l, int64_t now_ns);

int64_t lane_next_ns(const struct lane *l); /* when there is something to give; INT64_MAX: none */

json_t *lane_stats_json(const struct lane_stats *s); /* gives a reference */

#endif
