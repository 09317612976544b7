/* SPDX-License-Identifier: GPL-2.0-or-later */
/* clock_offset: the shortest round trip, and what drift adds. Used by pair.c. */
#include "core/engine/clock_offset.h"

void clock_offset_add(struct clock_offset *o, int64_t sent_ns, int64_t theirs_ns,
		      int64_t received_ns)
{
	int64_t half = (received_ns - sent_ns + 1) / 2;
	o->rounds++;
	if (received_ns < sent_ns || half >= o->bound_ns)
		return;
	o->bound_ns = half;
	o->ahead_ns = theirs_ns - (sent_ns + half);
	o->at_ns = received_ns;
}

int64_t clock_offset_error_ns(const struct clock_offset *before, const struct clock_offset *after)
{
	if (before->bound_ns == INT64_MAX || after->bound_ns == INT64_MAX)
		return INT64_MAX;
	int64_t drift = after->ahead_ns - before->ahead_ns;
	drift = drift < 0 ? -drift : drift;
	/* Either end of the time between is within its own bound; the later one is also seen from
	 * the earlier one's offset. */
	int64_t late = drift + after->bound_ns;
	return late > before->bound_ns ? late : before->bound_ns;
}
