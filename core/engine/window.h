/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * window: the measuring window and how much lay on each side of its edges.
 *
 * The window is [begin, end) in CLOCK_MONOTONIC and the same on both workers. It is cut into
 * intervals; an edge is where one begins or ends. A track follows a count that grows (bytes,
 * datagrams, transactions) and remembers what it was at each edge.
 */
#ifndef VPCLAB_ENGINE_WINDOW_H
#define VPCLAB_ENGINE_WINDOW_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct window {
	int64_t start_ns; /* traffic begins */
	int64_t begin_ns; /* warm-up is over */
	int64_t end_ns;	  /* nominal where the window is open */
	int64_t interval_ns;
	bool open; /* it ends when the work is done, not at end_ns */
	int edges; /* edge 0 is begin, the last one is end */
};

struct window_times { /* what a window is made from; all ns */
	int64_t start, warmup, duration, interval;
};

#define WINDOW_EDGES_MAX 100002

/* An open window gets edges for as long as `duration`, or WINDOW_OPEN_EDGES where that is more;
 * fewer where so many tracks would keep more than WINDOW_OPEN_COUNTS counts (32 MiB). */
#define WINDOW_OPEN_EDGES  20000
#define WINDOW_OPEN_COUNTS (1 << 22)
void window_init(struct window *w, const struct window_times *t, bool open, int tracks);

/* The time of edge k, 0 ≤ k < edges. */
int64_t window_edge(const struct window *w, int k);

enum window_phase { PHASE_HELLO, PHASE_WARMUP, PHASE_MEASURE, PHASE_TAIL };
enum window_phase window_phase(const struct window *w, int64_t when_ns);

/* One writer (a stream's thread); any thread may read window_track_at() and units. */
struct window_track {
	const struct window *win;
	int64_t max_gap_ns; /* no interpolation over a longer pause */
	int64_t next_ns;    /* the edge that comes next */
	int64_t last_ns;    /* time of the last addition */
	_Atomic int passed; /* edges */
	_Atomic int64_t units;
	double *at; /* heap */
};

/*
 * max_gap_ns: what came in one read after a pause shorter than this is spread evenly over it when
 * an edge lies inside, as the wire did; after a longer one it belongs to the moment of the read. 0
 * never spreads.
 */
void window_track_init(struct window_track *t, const struct window *w, int64_t max_gap_ns);
void window_track_done(struct window_track *t);
void window_track_pass(struct window_track *t, int64_t now_ns, int64_t more);

static inline void window_track_add(struct window_track *t, int64_t now_ns, int64_t more)
{
	if (__builtin_expect(now_ns >= t->next_ns, 0))
		window_track_pass(t, now_ns, more);
	int64_t units = atomic_load_explicit(&t->units, memory_order_relaxed);
	atomic_store_explicit(&t->units, units + more, memory_order_relaxed);
	t->last_ns = now_ns;
}

/* The count at edge k; where the edge has not been passed, the count now. */
double window_track_at(const struct window_track *t, int k);

#endif
