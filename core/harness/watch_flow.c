/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * watch_flow: two counters, read as a series. Called by trial_evidence.c; judges nothing.
 *
 * A rate is taken of the span in which the flow surely ran: the readings at both ends are left out,
 * since between two of them the flow began or ended, and so is what tools exchange before and after
 * the data, which is little.
 */
#include "core/harness/watch_flow.h"

#include <errno.h>
#include <stdlib.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/base/units.h"

#define SETTLE_NS (2 * NSEC_PER_SEC)
#define STEP_NS	  (50 * NSEC_PER_MSEC)
#define IDLE	  0.25 /* of the mean rate: what is slower at an end is not the flow */

struct sample {
	int64_t at_ns;
	struct count_value value;
};

struct point {
	struct count_at at;
	bool installed;
	VEC(struct sample) samples; /* from the last without packets on */
	struct count_value now;
	int64_t marked;
};

struct watch_flow {
	struct arena arena;
	struct point point[2]; /* sent, arrived */
	size_t n_flows;	       /* all, and those with the DSCP */
};

static void place(const struct wire *w, int dev, struct count_at *at)
{
	at->node = w->nodes.v[w->devs.v[dev].node].name;
	at->dev = w->devs.v[dev].name;
}

/* Where what the sender's card puts out arrives first, and the receiver's card. */
static int find_places(const struct watch_flow_at *at, struct watch_flow *w, struct err *err)
{
	const struct path *p = at->path;
	int out = p->hops.n ? p->hops.v[0].dev_out : -1;
	int in = p->hops.n ? p->hops.v[p->hops.n - 1].dev_in : -1;

	if (out < 0 || in < 0 || at->wire->devs.v[out].peer < 0)
		return err_fail(err, ENOTSUP, "the way has no two ends where it can be counted");
	place(at->wire, at->wire->devs.v[out].peer, &w->point[0].at);
	place(at->wire, in, &w->point[1].at);
	w->point[0].at.lab = w->point[1].at.lab = at->lab;
	w->point[1].at.behind = true;
	return 0;
}

int watch_flow_open(const struct watch_flow_at *at, struct watch_flow **out, struct err *err)
{
	const struct count_flow flows[] = {
	    {.protocol = at->protocol},
	    {.protocol = at->protocol, .dscp = at->dscp, .family = at->family},
	};
	struct watch_flow *w = mem_zalloc(sizeof(*w));
	int r;

	arena_init(&w->arena);
	w->n_flows = at->dscp ? 2 : 1;
	r = find_places(at, w, err);
	for (int i = 0; i < 2 && !r; i++) {
		r = count_install(&w->point[i].at, flows, w->n_flows, err);
		w->point[i].installed = !r;
	}
	if (r)
		watch_flow_close(w);
	else
		*out = w;
	return r;
}

static int read_point(struct watch_flow *w, struct point *p, struct err *err)
{
	struct count_value now[2] = {0};
	struct count_dev dev;
	int64_t at_ns;
	int r = count_read(&p->at, now, w->n_flows, &dev, &at_ns, err);

	if (r)
		return r;
	if (!now[0].packets)
		p->samples.n = 0;
	*VEC_ADD(&w->arena, &p->samples) = (struct sample){at_ns, now[0]};
	p->now = now[0];
	p->marked = now[1].packets;
	return 0;
}

int watch_flow_read(struct watch_flow *w, int64_t *began_ns, struct err *err)
{
	int r = 0;

	for (int i = 0; i < 2 && !r; i++)
		r = read_point(w, &w->point[i], err);
	*began_ns = w->point[0].now.packets ? w->point[0].samples.v[0].at_ns : 0;
	return r;
}

int watch_flow_settle(struct watch_flow *w, struct err *err)
{
	int64_t deadline = clock_now_ns() + SETTLE_NS, began, before;
	int r;

	do {
		before = w->point[1].now.packets;
		clock_sleep_until_ns(clock_now_ns() + STEP_NS);
		r = watch_flow_read(w, &began, err);
	} while (!r && w->point[1].now.packets != before && clock_now_ns() < deadline);
	return r;
}

static double rate(const struct sample *a, const struct sample *b)
{
	return b->at_ns > a->at_ns
		   ? (double)(b->value.bytes - a->value.bytes) / (double)(b->at_ns - a->at_ns)
		   : 0;
}

/* Places of the first and the last sample between which the flow surely ran; the same: nowhere. */
static void busy(const struct point *p, size_t *first, size_t *last)
{
	size_t a = 0, b = p->samples.n ? p->samples.n - 1 : 0;

	while (b > a && p->samples.v[b - 1].value.packets == p->samples.v[b].value.packets)
		b--;
	double enough = IDLE * rate(&p->samples.v[a], &p->samples.v[b]);

	while (a < b && rate(&p->samples.v[a], &p->samples.v[a + 1]) < enough)
		a++;
	while (b > a && rate(&p->samples.v[b - 1], &p->samples.v[b]) < enough)
		b--;
	/* It began after a, and ended before b: where that made these two slower. One that carried
	 * more than the others in spite of it is a burst, without which the rate is not the flow's.
	 */
	double mean = rate(&p->samples.v[a], &p->samples.v[b]);
	bool whole = b > a + 2;

	if (whole && rate(&p->samples.v[a], &p->samples.v[a + 1]) <= mean)
		a++;
	if (whole && rate(&p->samples.v[b - 1], &p->samples.v[b]) <= mean)
		b--;
	*first = a;
	*last = b;
}

static struct watch_flow_part between(const struct sample *a, const struct sample *b)
{
	return (struct watch_flow_part){b->at_ns - a->at_ns, b->value.packets - a->value.packets,
					b->value.bytes - a->value.bytes};
}

static double speed(const struct watch_flow_part *p)
{
	return p->ns > 0 ? (double)p->bytes / (double)p->ns : 0;
}

/* From the last reading without packets, or the first, to the first with all of them. */
static void extremes(const struct point *p, struct watch_flow_end *out)
{
	size_t last = p->samples.n - 1;

	while (last > 0 && p->samples.v[last - 1].value.packets == p->samples.v[last].value.packets)
		last--;
	int64_t begin = p->samples.v[0].at_ns, end = p->samples.v[last].at_ns;
	int64_t edge = (end - begin) / 3 < NSEC_PER_SEC ? (end - begin) / 3 : NSEC_PER_SEC;
	for (size_t a = 0; a < last && p->samples.v[a].at_ns <= begin + edge; a++)
		for (size_t b = last; b > a && p->samples.v[b].at_ns >= end - edge; b--) {
			struct watch_flow_part part = between(&p->samples.v[a], &p->samples.v[b]);

			if (!out->least.ns || speed(&part) < speed(&out->least))
				out->least = part;
			if (speed(&part) > speed(&out->most))
				out->most = part;
		}
}

static void found(const struct point *p, struct watch_flow_end *out)
{
	const struct sample *a, *b;
	size_t first, last;

	*out = (struct watch_flow_end){
	    .packets = p->now.packets, .bytes = p->now.bytes, .marked = p->marked};
	if (!p->samples.n)
		return;
	busy(p, &first, &last);
	a = &p->samples.v[first];
	b = &p->samples.v[last];
	out->active_ns = b->at_ns - a->at_ns;
	out->active_packets = b->value.packets - a->value.packets;
	out->active_bytes = b->value.bytes - a->value.bytes;
	extremes(p, out);
}

void watch_flow_found(const struct watch_flow *w, struct watch_flow_end *sent,
		      struct watch_flow_end *arrived)
{
	found(&w->point[0], sent);
	found(&w->point[1], arrived);
}

void watch_flow_close(struct watch_flow *w)
{
	struct err ignored = ERR_INIT;

	if (!w)
		return;
	for (int i = 0; i < 2; i++)
		if (w->point[i].installed)
			count_remove(&w->point[i].at, &ignored);
	arena_done(&w->arena);
	free(w);
}
