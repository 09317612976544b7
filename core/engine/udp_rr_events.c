/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * udp_rr_events: many connections, or several requests on the way on each, in one thread. A clock
 * that ticks looks for requests that are to be given up, so a loss costs its timeout and up to one
 * tick more. Called by udp_rr.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/base/units.h"
#include "core/engine/events.h"
#include "core/engine/udp_rr.h"

#define UDP_RR_TICK	 (5 * NSEC_PER_MSEC)
#define UDP_RR_TICK_LANE 50 /* ns more for each lane: looking costs a fixed share of the time */

struct udp_rr_crew {
	struct udp_rr *u;
	struct events e;
	struct udp_rr_conn *conns;
	struct udp_rr_lane *lanes; /* of all */
	int64_t tick_ns;
	bool asking; /* until the window's end */
};

/* The next request of a lane; false: the stream is over. */
static bool udp_rr_next(struct udp_rr_crew *t, struct udp_rr_conn *k, int lane, int64_t now)
{
	int r = udp_rr_ask(t->u, k, lane, now, MSG_DONTWAIT);
	if (r == -EAGAIN) {
		k->lanes[lane].due_ns = now + UDP_RR_TRY;
		return true;
	}
	if (r)
		run_fail(k->s, -r, "sending");
	return !r;
}

static bool udp_rr_overdue(struct udp_rr_crew *t, struct udp_rr_conn *k, int64_t now)
{
	for (int lane = 0; lane < t->u->c->w->spec.outstanding; lane++) {
		if (now < k->lanes[lane].due_ns)
			continue;
		if (k->lanes[lane].out)
			udp_rr_give_up(t->u, k, lane);
		if (!udp_rr_next(t, k, lane, now))
			return false;
	}
	return true;
}

/* False: nothing more is to be done. */
static bool udp_rr_tick(struct udp_rr_crew *t, int64_t now)
{
	const struct crew *c = t->u->c;
	bool waiting = false;
	for (int i = 0; i < c->n; i++) {
		if (t->asking && !udp_rr_overdue(t, &t->conns[i], now))
			return false;
		waiting = waiting || (!t->asking && udp_rr_waiting(t->u, &t->conns[i]));
	}
	return t->asking || waiting;
}

static bool udp_rr_answered(struct udp_rr_crew *t, struct udp_rr_conn *k, int64_t *now)
{
	struct udp_rr *u = t->u;
	for (int i = 0; i < u->c->w->spec.outstanding; i++) {
		ssize_t n = recv(k->s->fd, u->rr->data, u->rr->room, MSG_DONTWAIT);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return true;
		if (n < 0) {
			run_fail(k->s, errno, "receiving");
			return false;
		}
		*now = clock_now_ns();
		int lane = udp_rr_take(u, k, n, *now);
		t->asking = t->asking && *now < u->c->w->win.end_ns;
		if (lane >= 0 && t->asking && !udp_rr_next(t, k, lane, *now))
			return false;
	}
	return true;
}

static void udp_rr_client(struct udp_rr_crew *t)
{
	const struct worker *w = t->u->c->w;
	int64_t now = clock_now_ns(), tick = now, over = w->win.end_ns + UDP_RR_LINGER;
	t->asking = true;
	while (now < over && !worker_over(w)) {
		t->asking = t->asking && now < w->win.end_ns;
		if (now >= tick) {
			if (!udp_rr_tick(t, now))
				break;
			tick = now + t->tick_ns;
		}
		int64_t end = t->asking && w->win.end_ns < tick ? w->win.end_ns : tick;
		int n = events_wait(&t->e, now, end);
		if (!n || n == EVENTS_MAX)
			now = clock_now_ns();
		for (int i = 0; i < n; i++)
			if (!t->e.got[i].data.ptr ||
			    !udp_rr_answered(t, t->e.got[i].data.ptr, &now))
				return;
	}
	for (int i = 0; i < t->u->c->n; i++)
		udp_rr_finish(t->u, &t->conns[i]);
}

/* False: the stream is over. */
static bool udp_rr_asked(struct udp_rr_crew *t, struct udp_rr_conn *k)
{
	struct udp_rr *u = t->u;
	for (int i = 0; i < u->c->w->spec.outstanding; i++) {
		ssize_t n = recv(k->s->fd, u->rr->data, u->rr->room, MSG_DONTWAIT);
		if (n > 0)
			udp_rr_reply(u, k->s, n);
		else if (n < 0 && (errno == EAGAIN || errno == EINTR || errno == ECONNREFUSED))
			return true;
		else if (n < 0) {
			run_fail(k->s, errno, "receiving");
			return false;
		} else if (worker_over(u->c->w))
			return false;
	}
	return true;
}

static void udp_rr_server(struct udp_rr_crew *t)
{
	while (!worker_over(t->u->c->w)) {
		int n = events_wait(&t->e, 0, INT64_MAX);
		for (int i = 0; i < n; i++)
			if (!t->e.got[i].data.ptr || !udp_rr_asked(t, t->e.got[i].data.ptr))
				return;
	}
}

static bool udp_rr_prepare(struct udp_rr_crew *t)
{
	struct crew *c = t->u->c;
	int outstanding = c->w->spec.outstanding;
	int r = events_open(&t->e, c->w);
	for (int i = 0; i < c->n && !r; i++) {
		struct udp_rr_conn *k = &t->conns[i];
		udp_rr_conn_init(t->u, k, &c->streams[i]);
		k->lanes = t->lanes ? &t->lanes[i * outstanding] : NULL;
		r = events_add(&t->e, k->s->fd, EPOLLIN, k);
	}
	if (r)
		run_fail(c->streams, -r, "preparing to wait for events");
	return !r;
}

void udp_rr_events(struct udp_rr *u)
{
	struct crew *c = u->c;
	size_t lanes = (size_t)c->n * (size_t)c->w->spec.outstanding;
	struct udp_rr_crew *t = mem_zalloc(sizeof(*t));
	t->u = u;
	t->tick_ns = UDP_RR_TICK + (int64_t)lanes * UDP_RR_TICK_LANE;
	t->conns = mem_zalloc((size_t)c->n * sizeof(*t->conns));
	if (!c->w->server)
		t->lanes = mem_zalloc(lanes * sizeof(*t->lanes));
	if (udp_rr_prepare(t)) {
		if (c->w->server)
			udp_rr_server(t);
		else
			udp_rr_client(t);
	}
	events_close(&t->e);
	free(t->lanes);
	free(t->conns);
	free(t);
}
