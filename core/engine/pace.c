/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pace: the arithmetic of a schedule. It neither sleeps nor sends, and no error adds up: each due
 * time of a periodic one is computed from the start. Used by udp_send.c.
 */
#include "core/engine/pace.h"

#include <math.h>

#include "core/base/units.h"

void pace_init(struct pace *p, uint64_t work, uint64_t rate)
{
	*p = (struct pace){.work = work, .rate = rate, .streams = 1, .burst = 1};
}

void pace_stream(struct pace *p, int64_t start_ns, int streams, int index)
{
	p->start_ns = start_ns;
	p->streams = (uint64_t)streams;
	p->index = (uint64_t)index;
}

void pace_burst(struct pace *p, int64_t burst)
{
	p->burst = (uint64_t)burst;
}

/* Time that `packets` of the whole worker take. */
static int64_t pace_span(const struct pace *p, uint64_t packets)
{
	unsigned __int128 ns = (unsigned __int128)packets * p->work * (uint64_t)NSEC_PER_SEC;
	return (int64_t)(ns / p->rate);
}

int64_t pace_gap_ns(const struct pace *p)
{
	return pace_span(p, p->streams * p->burst);
}

void pace_schedule(struct pace *p, enum engine_schedule schedule, int64_t seed)
{
	double mean =
	    (double)(p->streams * p->burst) * (double)p->work * NSEC_PER_SEC / (double)p->rate;
	p->random = schedule != SCHEDULE_PERIODIC;
	if (schedule == SCHEDULE_POISSON)
		p->gap = (struct distribution){DISTRIBUTION_EXPONENTIAL, mean, 0};
	else if (schedule == SCHEDULE_UNIFORM)
		p->gap = (struct distribution){DISTRIBUTION_UNIFORM, 0, 2 * mean};
	else
		p->gap = (struct distribution){DISTRIBUTION_NORMAL, mean, mean / 4};
	distribution_fork(&p->source, (uint64_t)seed, p->index);
}

static void pace_draw(struct pace *p)
{
	double gap = distribution_draw(&p->gap, &p->source);
	p->last += gap > 0 ? gap : 0;
	p->due[p->made++ % PACE_AHEAD] = p->start_ns + llround(p->last);
}

/* When a place is due. */
static int64_t pace_at(struct pace *p, uint64_t place)
{
	if (!p->random)
		return p->start_ns + pace_span(p, (place * p->streams + p->index) * p->burst);
	while (p->made <= place)
		pace_draw(p);
	return p->due[place % PACE_AHEAD];
}

int64_t pace_due(struct pace *p, uint64_t ahead)
{
	return pace_at(p, (p->next + ahead) / p->burst);
}

/* Places of a periodic schedule whose time fits into ns. */
static uint64_t pace_fit(const struct pace *p, int64_t ns)
{
	unsigned __int128 place =
	    (unsigned __int128)p->work * (uint64_t)NSEC_PER_SEC * p->streams * p->burst;
	return ns > 0 ? (uint64_t)((unsigned __int128)(uint64_t)ns * p->rate / place) : 0;
}

/* The first place that is not too late, from `place` on. */
static uint64_t pace_first(struct pace *p, uint64_t place, int64_t now_ns)
{
	int64_t gap = pace_gap_ns(p), allowed = gap > PACE_CATCH_UP_NS ? gap : PACE_CATCH_UP_NS;
	if (!p->random)
		return place + pace_fit(p, now_ns - allowed - pace_at(p, place));
	while (pace_at(p, place) < now_ns - allowed)
		place++;
	return place;
}

/* How many places are due, the first one being so. */
static uint64_t pace_places(struct pace *p, uint64_t place, int64_t now_ns)
{
	if (!p->random)
		return 1 + pace_fit(p, now_ns - pace_at(p, place));
	uint64_t n = 1;
	while (n < PACE_AHEAD - 1 && pace_at(p, place + n) <= now_ns)
		n++;
	return n;
}

int pace_ready(struct pace *p, int64_t now_ns, int max)
{
	uint64_t place = p->next / p->burst;
	if (now_ns < pace_at(p, place))
		return 0;
	uint64_t first = pace_first(p, place, now_ns);
	if (first > place) {
		p->missed += (int64_t)(first * p->burst - p->next);
		p->next = first * p->burst;
	}
	if (now_ns < pace_at(p, first))
		return 0;
	uint64_t due = (first + pace_places(p, first, now_ns)) * p->burst - p->next;
	return due < (uint64_t)max ? (int)due : max;
}

void pace_sent(struct pace *p, int packets)
{
	p->next += (uint64_t)packets;
}
