/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rr: what tcp_rr and udp_rr share: memory, histogram, findings. Private to this folder. */
#ifndef VPCLAB_ENGINE_RR_H
#define VPCLAB_ENGINE_RR_H

#include "core/engine/worker.h"
#include "core/stats/hist.h"

struct rr {
	struct hist *hist; /* client: round trips that ended in the window, ns */
	char *request, *response;
	int64_t lost; /* UDP client: asked in the window and never answered */
	int64_t late; /* UDP client: answered after the timeout; counted as answered */
};

void rr_defaults(struct engine_spec *s);
void rr_prepare(struct stream *s);
void rr_release(struct stream *s);
void rr_report(struct worker *w, json_t *result);
void rr_merge(const struct engine_spec *s, const json_t *client, const json_t *server,
	      struct engine_result *out);

/* A transaction ended at `now` after `round` ns. */
static inline void rr_count(struct stream *s, int64_t now, int64_t round)
{
	const struct window *win = &s->w->win;
	if (now >= win->begin_ns && now < win->end_ns)
		hist_add(((struct rr *)s->own)->hist, round);
	window_track_add(&s->track, now, 1);
	s->packets_all++;
}

#endif
