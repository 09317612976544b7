/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rr: the common part of the closed-loop request/response tests. A transaction belongs to the
 * window when its answer comes inside it, so count · mean is the duration. Both ends run on one CPU
 * unless told otherwise: across CPUs the figure is the scheduler's wake-up time, several times that
 * of the path, and not repeatable.
 */
#include "core/engine/rr.h"

#include <stdlib.h>

#include "core/base/mem.h"
#include "core/engine/result.h"

void rr_defaults(struct engine_spec *s)
{
	s->size = 1;
	s->response_size = 1;
	s->no_delay = true;
	s->server_cpu = s->client_cpu;
}

void rr_prepare(struct stream *s)
{
	struct rr *rr = mem_zalloc(sizeof(*rr));
	size_t request = (size_t)s->w->spec.size, response = (size_t)s->w->spec.response_size;
	rr->hist = hist_new();
	/* A datagram that is longer than expected must be seen as such. */
	rr->request = mem_zalloc(request + 64);
	rr->response = mem_zalloc(response + 64);
	s->own = rr;
}

void rr_release(struct stream *s)
{
	struct rr *rr = s->own;
	hist_free(rr->hist);
	free(rr->request);
	free(rr->response);
	free(rr);
}

void rr_report(struct worker *w, json_t *result)
{
	struct hist *all = hist_new();
	int64_t lost = 0, late = 0;
	for (int i = 0; i < w->n_streams; i++) {
		const struct rr *rr = w->streams[i].own;
		hist_merge(all, rr->hist);
		lost += rr->lost;
		late += rr->late;
	}
	if (!w->server) {
		json_object_set_new(result, "latency", hist_json(all));
		json_object_set_new(result, "lost", json_integer(lost));
		json_object_set_new(result, "late", json_integer(late));
	}
	hist_free(all);
}

void rr_merge(const struct engine_spec *s, const json_t *client, const json_t *server,
	      struct engine_result *out)
{
	(void)s;
	(void)server;
	double seconds = (double)out->client.window_ns / 1e9;
	result_dist_get(json_object_get(client, "latency"), &out->latency);
	out->pps = seconds > 0 ? (double)out->client.packets / seconds : 0;
	out->lost = result_integer(client, "lost");
	out->late = result_integer(client, "late");
	double asked = (double)(out->client.packets + out->lost);
	out->loss = asked > 0 ? (double)out->lost / asked : 0;
	out->sent_pps = seconds > 0 ? asked / seconds : 0;
}
