/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rr: the common part of the closed-loop request/response tests. A transaction belongs to the
 * window when its answer comes inside it, so with one connection count · mean is the duration. Both
 * ends run on one CPU unless told otherwise: across CPUs the figure is the scheduler's wake-up
 * time, several times that of the path, and not repeatable. Ends that spin are on two.
 *
 * A thread with one connection and one request on the way just waits for the answer, which is the
 * fastest way on one CPU; any other serves its connections by events (tcp_rr_events.c,
 * udp_rr_events.c). It opens no connection. Used by the tcp_rr and udp_rr engines.
 */
#include "core/engine/rr.h"

#include <errno.h>
#include <sched.h>
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

int rr_check(const struct engine_spec *s, struct err *err)
{
	if (!s->size)
		return err_input(err, "size: a request has at least 1 byte");
	if ((int64_t)s->streams * s->outstanding > RR_OUTSTANDING_MAX)
		return err_input(err,
				 "outstanding: %d requests on each of %d connections are more than "
				 "%d at the same time; at most %d are possible with so many "
				 "connections",
				 s->outstanding, s->streams, RR_OUTSTANDING_MAX,
				 RR_OUTSTANDING_MAX / s->streams);
	return 0;
}

struct rr *rr_open(struct crew *c, size_t room)
{
	struct rr *rr = mem_zalloc(sizeof(*rr));
	rr->room = room;
	rr->data = mem_zalloc(room);
	c->own = rr;
	return rr;
}

void rr_close(struct rr *rr)
{
	free(rr->data);
	rr->data = NULL;
}

bool rr_is_single(const struct crew *c)
{
	return c->n == 1 && c->w->spec.outstanding == 1;
}

static ssize_t rr_spin(struct stream *s, void *data, size_t size)
{
	const struct engine_spec *spec = &s->w->spec;
	bool shared =
	    spec->spread || (spec->client_cpu >= 0 && spec->client_cpu == spec->server_cpu);
	int turn = shared ? 1 : RR_SPINS;
	for (int spins = 1;; spins++) {
		ssize_t n = recv(s->fd, data, size, MSG_DONTWAIT);
		if (n >= 0 || (errno != EAGAIN && errno != EINTR))
			return n;
		if (spins % turn)
			continue;
		if (worker_over(s->w)) {
			errno = 0;
			return 0;
		}
		sched_yield();
	}
}

ssize_t rr_receive(struct stream *s, void *data, size_t size)
{
	errno = 0;
	return s->w->spec.spin ? rr_spin(s, data, size) : recv(s->fd, data, size, 0);
}

void rr_report(struct worker *w, json_t *result)
{
	struct hist *all = hist_new();
	int64_t lost = 0, late = 0;
	for (int i = 0; i < w->n_crews; i++) {
		const struct rr *rr = w->crews[i].own;
		if (!rr) /* told to stop before it began */
			continue;
		hist_merge(all, &rr->hist);
		lost += rr->lost;
		late += rr->late;
	}
	json_object_set_new(result, "n_threads", json_integer(w->n_crews));
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
	double seconds = (double)out->client.window_ns / 1e9;
	result_dist_get(json_object_get(client, "latency"), &out->latency);
	out->pps = seconds > 0 ? (double)out->client.packets / seconds : 0;
	out->lost = result_integer(client, "lost");
	out->late = result_integer(client, "late");
	double asked = (double)(out->client.packets + out->lost);
	out->loss = asked > 0 ? (double)out->lost / asked : 0;
	out->sent_pps = seconds > 0 ? asked / seconds : 0;
	out->detail = json_pack("{s:i,s:I,s:I,s:i,s:b}", "connections", s->streams, "threads",
				(json_int_t)result_integer(client, "n_threads"), "server_threads",
				(json_int_t)result_integer(server, "n_threads"), "outstanding",
				s->outstanding, "spin", s->spin);
}
