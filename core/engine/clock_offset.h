/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * clock_offset: how far another machine's monotonic clock is ahead of ours, and how sure that is.
 *
 * A message goes there and comes back with the other's time. Whatever the path and the two programs
 * did, the other clock was read between sending and receiving: the truth lies within half a round
 * trip of the middle. Of many round trips the shortest therefore says most (as in NTP, RFC 5905).
 * Pure arithmetic: pair.c exchanges the messages.
 */
#ifndef VPCLAB_ENGINE_CLOCK_OFFSET_H
#define VPCLAB_ENGINE_CLOCK_OFFSET_H

#include <stdbool.h>
#include <stdint.h>

struct clock_offset {
	int64_t ahead_ns; /* the other clock minus ours */
	int64_t bound_ns; /* the truth is within this of ahead_ns; INT64_MAX: nothing is known */
	int64_t at_ns;	  /* by our clock, when that was found */
	int rounds;
};

#define CLOCK_OFFSET_UNKNOWN ((struct clock_offset){.bound_ns = INT64_MAX})

/* One round trip: sent and received by our clock, `theirs` by the other one. Those that are no
 * better than what is known change nothing but the count. */
void clock_offset_add(struct clock_offset *o, int64_t sent_ns, int64_t theirs_ns,
		      int64_t received_ns);

/* The offset was `before` and became `after`: how far it may have been from `before` at any time
 * between, if the clocks' rates did not change. INT64_MAX where either is not known. */
int64_t clock_offset_error_ns(const struct clock_offset *before, const struct clock_offset *after);

#endif
