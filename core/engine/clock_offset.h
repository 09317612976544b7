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

#include <stddef.h>
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

/*
 * No clock is trusted to run evenly between two looks at it. CLOCK_MONOTONIC is never set, but it
 * is slewed: by at most 500 ppm (MAXFREQ of the kernel's include/linux/timex.h, adjtimex(2)), and a
 * crystal is off by 100 more. Two of them drift apart by no more than this.
 */
#define CLOCK_SKEW_PPM 1200

/* Offsets found one after the other, from before the run to after it. Zeroed is empty. */
struct clock_track {
	struct clock_offset *v; /* heap, by time */
	size_t n, room;
};

void clock_track_add(struct clock_track *t, const struct clock_offset *o); /* unknown: nothing */
void clock_track_done(struct clock_track *t);

/*
 * How far the offset may have been from the first one found, at any time between the first and the
 * last, whatever the clocks did within CLOCK_SKEW_PPM. At each time it lies where all looks allow
 * it to be. Where they contradict each other a clock was set or slewed faster: then as far as the
 * looks before and after say. INT64_MAX with fewer than two.
 */
int64_t clock_track_error_ns(const struct clock_track *t);

#endif
