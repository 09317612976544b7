/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * window: arithmetic of the measuring window. Pure but for one allocation; reads no clock.
 * Used by every engine, and by run.c for the intervals.
 */
#include "core/engine/window.h"

#include <stdlib.h>

#include "core/base/mem.h"

void window_init(struct window *w, const struct window_times *t, bool open, int tracks)
{
	*w = (struct window){
	    .start_ns = t->start,
	    .begin_ns = t->start + t->warmup,
	    .end_ns = t->start + t->warmup + t->duration,
	    .interval_ns = t->interval,
	    .open = open,
	};
	int64_t intervals = (t->duration + t->interval - 1) / t->interval;
	int64_t most = WINDOW_OPEN_COUNTS / (tracks > 0 ? tracks : 1);
	most = most < WINDOW_OPEN_EDGES ? most : WINDOW_OPEN_EDGES;
	if (open && intervals < most)
		intervals = most;
	w->edges = (int)intervals + 1;
}

int64_t window_edge(const struct window *w, int k)
{
	int64_t at = w->begin_ns + k * w->interval_ns;
	return !w->open && at > w->end_ns ? w->end_ns : at;
}

enum window_phase window_phase(const struct window *w, int64_t when_ns)
{
	if (when_ns < w->begin_ns)
		return PHASE_WARMUP;
	return w->open || when_ns < w->end_ns ? PHASE_MEASURE : PHASE_TAIL;
}

void window_track_init(struct window_track *t, const struct window *w, int64_t max_gap_ns)
{
	*t = (struct window_track){
	    .win = w,
	    .max_gap_ns = max_gap_ns,
	    .next_ns = window_edge(w, 0),
	    .last_ns = w->start_ns,
	    .at = mem_zalloc((size_t)w->edges * sizeof(*t->at)),
	};
}

void window_track_done(struct window_track *t)
{
	free(t->at);
	t->at = NULL;
}

void window_track_pass(struct window_track *t, int64_t now_ns, int64_t more)
{
	int k = atomic_load_explicit(&t->passed, memory_order_relaxed);
	double units = (double)atomic_load_explicit(&t->units, memory_order_relaxed);
	int64_t gap = now_ns - t->last_ns;
	bool spread = gap > 0 && gap <= t->max_gap_ns;
	for (; k < t->win->edges && window_edge(t->win, k) <= now_ns; k++) {
		double share = (double)(window_edge(t->win, k) - t->last_ns) / (double)gap;
		t->at[k] = spread && share > 0 ? units + (double)more * share : units;
	}
	t->next_ns = k < t->win->edges ? window_edge(t->win, k) : INT64_MAX;
	atomic_store_explicit(&t->passed, k, memory_order_release);
}

double window_track_at(const struct window_track *t, int k)
{
	if (k < atomic_load_explicit(&t->passed, memory_order_acquire))
		return t->at[k];
	return (double)atomic_load_explicit(&t->units, memory_order_relaxed);
}
