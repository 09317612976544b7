/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pace: the arithmetic of an absolute schedule. It neither sleeps nor sends, and no error adds up:
 * each due time is computed from the start. Used by udp_stream.c.
 */
#include "core/engine/pace.h"

#include "core/base/units.h"

void pace_init(struct pace *p, uint64_t work, uint64_t rate)
{
	*p = (struct pace){.work = work, .rate = rate, .streams = 1};
}

void pace_stream(struct pace *p, int64_t start_ns, int streams, int index)
{
	p->start_ns = start_ns;
	p->streams = (uint64_t)streams;
	p->index = (uint64_t)index;
}

/* Time that `packets` of the whole worker take. */
static int64_t pace_span(const struct pace *p, uint64_t packets)
{
	unsigned __int128 ns = (unsigned __int128)packets * p->work * (uint64_t)NSEC_PER_SEC;
	return (int64_t)(ns / p->rate);
}

int64_t pace_due(const struct pace *p, uint64_t ahead)
{
	return p->start_ns + pace_span(p, (p->next + ahead) * p->streams + p->index);
}

/* Packets of this stream whose time fits into ns. */
static uint64_t pace_fit(const struct pace *p, int64_t ns)
{
	unsigned __int128 work = (unsigned __int128)p->work * (uint64_t)NSEC_PER_SEC * p->streams;
	return (uint64_t)((unsigned __int128)(uint64_t)ns * p->rate / work);
}

int pace_ready(struct pace *p, int64_t now_ns, int max)
{
	int64_t behind = now_ns - pace_due(p, 0);
	if (behind < 0)
		return 0;
	int64_t gap = pace_span(p, p->streams);
	int64_t allowed = gap > PACE_CATCH_UP_NS ? gap : PACE_CATCH_UP_NS;
	if (behind > allowed) {
		uint64_t skip = pace_fit(p, behind - allowed);
		p->next += skip;
		p->missed += (int64_t)skip;
		behind = now_ns - pace_due(p, 0);
	}
	uint64_t due = 1 + pace_fit(p, behind < 0 ? 0 : behind);
	return due < (uint64_t)max ? (int)due : max;
}

void pace_sent(struct pace *p, int packets)
{
	p->next += (uint64_t)packets;
}
