/* SPDX-License-Identifier: GPL-2.0-or-later */
/* clock_offset: the shortest round trip, and what drift adds. Used by pair.c and pair_hear.c. */
#include "core/engine/clock_offset.h"

#include <stdbool.h>
#include <stdlib.h>

#include "core/base/mem.h"

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

void clock_track_add(struct clock_track *t, const struct clock_offset *o)
{
	if (o->bound_ns == INT64_MAX)
		return;
	if (t->n == t->room) {
		t->room = t->room ? 2 * t->room : 64;
		t->v = mem_realloc(t->v, t->room * sizeof(*t->v));
	}
	t->v[t->n++] = *o;
}

void clock_track_done(struct clock_track *t)
{
	free(t->v);
	*t = (struct clock_track){0};
}

/* What two clocks drift apart in that time at most. */
static int64_t clock_drift_ns(const struct clock_offset *a, const struct clock_offset *b)
{
	int64_t apart = b->at_ns > a->at_ns ? b->at_ns - a->at_ns : 0;
	return apart / 1000000 * CLOCK_SKEW_PPM + apart % 1000000 * CLOCK_SKEW_PPM / 1000000 + 1;
}

/* The farthest that each look allows on one side (sign 1: ahead, −1: behind), from the first. */
static int64_t clock_edge_ns(const struct clock_track *t, size_t i, int sign)
{
	return sign * (t->v[i].ahead_ns - t->v[0].ahead_ns) + t->v[i].bound_ns;
}

/* A look narrows what those before and after it allow. */
static void clock_narrow(const struct clock_track *t, int64_t *edge)
{
	for (size_t i = 1; i < t->n; i++) {
		int64_t most = edge[i - 1] + clock_drift_ns(&t->v[i - 1], &t->v[i]);
		edge[i] = edge[i] < most ? edge[i] : most;
	}
	for (size_t i = t->n; i-- > 1;) {
		int64_t most = edge[i] + clock_drift_ns(&t->v[i - 1], &t->v[i]);
		edge[i - 1] = edge[i - 1] < most ? edge[i - 1] : most;
	}
}

/* The farthest at any time: at a look, or where the cones of two meet; after a jump anywhere
 * between them. */
static int64_t clock_farthest_ns(const struct clock_track *t, const int64_t *edge, bool jumped)
{
	int64_t most = edge[0];
	for (size_t i = 1; i < t->n; i++) {
		int64_t drift = clock_drift_ns(&t->v[i - 1], &t->v[i]);
		int64_t more = edge[i - 1] > edge[i] ? edge[i - 1] : edge[i];
		int64_t between = jumped ? more + drift : (edge[i - 1] + edge[i] + drift) / 2;
		between = between > more ? between : more;
		most = between > most ? between : most;
	}
	return most;
}

static void clock_edges(const struct clock_track *t, int64_t *ahead, int64_t *behind)
{
	for (size_t i = 0; i < t->n; i++) {
		ahead[i] = clock_edge_ns(t, i, 1);
		behind[i] = clock_edge_ns(t, i, -1);
	}
}

int64_t clock_track_error_ns(const struct clock_track *t)
{
	if (t->n < 2)
		return INT64_MAX;
	autofree int64_t *ahead = mem_zalloc(t->n * sizeof(*ahead));
	autofree int64_t *behind = mem_zalloc(t->n * sizeof(*behind));
	bool jumped = false;
	clock_edges(t, ahead, behind);
	clock_narrow(t, ahead);
	clock_narrow(t, behind);
	for (size_t i = 0; i < t->n; i++)
		jumped |= ahead[i] + behind[i] < 0; /* nowhere is where all allow it to be */
	if (jumped)
		clock_edges(t, ahead, behind);
	int64_t a = clock_farthest_ns(t, ahead, jumped), b = clock_farthest_ns(t, behind, jumped);
	return a > b ? a : b;
}
