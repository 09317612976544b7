/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rr: what tcp_rr and udp_rr share: findings of a crew, defaults, the report. Private to this
 * folder. Times are nanoseconds of the monotonic clock, sizes bytes.
 */
#ifndef VPCLAB_ENGINE_RR_H
#define VPCLAB_ENGINE_RR_H

#include "core/engine/worker.h"
#include "core/stats/hist.h"

/* On the way at the same time, of all connections: each costs memory (udp_rr: about 300 bytes). */
#define RR_OUTSTANDING_MAX 100000

/* Empty looks of a spinning end between two offers of its CPU to others. Where both ends share a
 * CPU it offers it after each, and they take turns. */
#define RR_SPINS 64

struct rr {		  /* crew.own */
	struct hist hist; /* client: round trips that ended in the window, ns */
	int64_t lost;	  /* UDP client: asked in the window and never answered */
	int64_t late;	  /* client: answered after the timeout; counted as answered */
	size_t room;	  /* of data */
	char *data;	  /* sent from and received into; what is in it does not matter */
};

void rr_defaults(struct engine_spec *s);
int rr_check(const struct engine_spec *s, struct err *err);

/* Makes crew.own with `room` bytes of data; the crew's thread calls it, and rr_close() at its end,
 * which keeps the findings. */
struct rr *rr_open(struct crew *c, size_t room);
void rr_close(struct rr *rr);

/* May this crew's thread just wait for the answer to its one request? */
bool rr_is_single(const struct crew *c);

/* recv() that sleeps or, with spec.spin, looks again and again; 0 bytes and errno 0: over. */
ssize_t rr_receive(struct stream *s, void *data, size_t size);

void rr_report(struct worker *w, json_t *result);
void rr_merge(const struct engine_spec *s, const json_t *client, const json_t *server,
	      struct engine_result *out);

/* The crew's transactions are counted in one place, its first stream: one writer, and no more
 * memory for more connections. */
static inline void rr_add(struct crew *c, int64_t now)
{
	window_track_add(&c->streams[0].track, now, 1);
	c->streams[0].packets_all++;
}

/* Client: a transaction ended at `now` after `round` ns. */
static inline void rr_count(struct crew *c, int64_t now, int64_t round)
{
	const struct window *win = &c->w->win;
	struct rr *rr = c->own;
	if (now >= win->begin_ns && now < win->end_ns)
		hist_add(&rr->hist, round);
	rr_add(c, now);
}

#endif
