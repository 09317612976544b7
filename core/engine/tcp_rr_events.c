/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tcp_rr_events: many connections, or several requests on the way on each, in one thread. Both ends
 * are the same machine: messages come in, and each that is complete makes one go out. The client
 * begins with `outstanding` of them.
 *
 * Each request and each answer is a write of its own, as an application's would be; TCP may put
 * several into one segment where the connection has more than one on the way. What is sent and
 * received is the thread's one buffer, so a connection costs some 100 bytes whatever the sizes.
 * Called by tcp_rr.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/base/units.h"
#include "core/engine/events.h"
#include "core/engine/tcp_rr.h"

#define TCP_RR_IDLE_NS (100 * NSEC_PER_MSEC) /* a server looks at least so often */

struct tcp_rr_conn { /* all that a transaction touches, in 64 bytes */
	struct stream *s;
	int64_t get;	/* bytes that are missing of the message that comes in */
	int64_t put;	/* bytes that are left of the message that goes out */
	int64_t one;	/* where `asked` points when one request at a time is on the way */
	int64_t *asked; /* client: [outstanding], when the requests on the way were made, a ring */
	int fd;
	int owed;	   /* messages that are to go out after the one that does */
	uint16_t first, n; /* of asked */
	bool blocked;	   /* told when there is room to send */
};

struct tcp_rr_crew {
	struct crew *c;
	struct rr *rr;
	struct events e;
	bool client;
	int64_t in, out; /* bytes of a message */
	int64_t late_ns;
	int outstanding;
	struct tcp_rr_conn *conns;
	int64_t *asked; /* of all */
};

/* A whole message has come. */
static void tcp_rr_got(struct tcp_rr_crew *t, struct tcp_rr_conn *k, int64_t now)
{
	k->owed++;
	if (!t->client)
		return;
	int64_t asked = k->asked[k->first];
	k->first = k->first + 1 == t->outstanding ? 0 : (uint16_t)(k->first + 1);
	k->n--;
	rr_count(t->c, now, now - asked);
	t->rr->late += now - asked > t->late_ns && asked >= t->c->w->win.begin_ns;
}

/* The next message begins to go out. */
static void tcp_rr_begin(struct tcp_rr_crew *t, struct tcp_rr_conn *k, int64_t now)
{
	k->owed--;
	k->put = t->out;
	if (!t->client)
		return;
	int at = k->first + k->n++;
	k->asked[at < t->outstanding ? at : at - t->outstanding] = now;
}

/* Is told, or no longer, when there is room. */
static bool tcp_rr_block(struct tcp_rr_crew *t, struct tcp_rr_conn *k, bool blocked)
{
	int r = 0;
	if (k->blocked != blocked)
		r = events_change(&t->e, k->fd, blocked ? EPOLLIN | EPOLLOUT : EPOLLIN, k);
	k->blocked = blocked;
	if (r)
		run_fail(k->s, -r, "waiting for room to send");
	return !r;
}

/* Sends what is to go out; false: the connection is at its end. */
static bool tcp_rr_push(struct tcp_rr_crew *t, struct tcp_rr_conn *k, int64_t now)
{
	while (k->put || k->owed) {
		if (!k->put)
			tcp_rr_begin(t, k, now);
		size_t more = k->put < (int64_t)t->rr->room ? (size_t)k->put : t->rr->room;
		ssize_t n = send(k->fd, t->rr->data, more, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0 && errno == EAGAIN)
			return tcp_rr_block(t, k, true);
		if (n < 0 && errno != EINTR) {
			run_fail(k->s, errno, "sending");
			return false;
		}
		k->put -= n > 0 ? n : 0;
		if (!k->put && !t->client)
			rr_add(t->c, now);
	}
	return tcp_rr_block(t, k, false);
}

static bool tcp_rr_pull(struct tcp_rr_crew *t, struct tcp_rr_conn *k, int64_t *now)
{
	ssize_t n = recv(k->fd, t->rr->data, t->rr->room, MSG_DONTWAIT);
	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
		run_fail(k->s, n ? errno : 0, "receiving");
		return false;
	}
	*now = clock_now_ns();
	while (n > 0) {
		int64_t take = n < k->get ? n : k->get;
		n -= take;
		k->get -= take;
		if (k->get)
			continue;
		k->get = t->in;
		tcp_rr_got(t, k, *now);
	}
	return true;
}

static bool tcp_rr_event(struct tcp_rr_crew *t, const struct epoll_event *event, int64_t *now)
{
	struct tcp_rr_conn *k = event->data.ptr;
	if (!k) /* the run is over */
		return false;
	if (event->events & ~(uint32_t)EPOLLOUT && !tcp_rr_pull(t, k, now))
		return false;
	return tcp_rr_push(t, k, *now);
}

static void tcp_rr_serve(struct tcp_rr_crew *t)
{
	int64_t end = t->client ? t->c->w->win.end_ns : INT64_MAX, now = clock_now_ns();
	while (now < end && !worker_over(t->c->w)) {
		int64_t until = end - now < TCP_RR_IDLE_NS ? end : now + TCP_RR_IDLE_NS;
		int n = events_wait(&t->e, now, until);
		if (!n)
			now = clock_now_ns();
		for (int i = 0; i < n; i++)
			if (!tcp_rr_event(t, &t->e.got[i], &now))
				return;
	}
}

static bool tcp_rr_prepare(struct tcp_rr_crew *t)
{
	int r = events_open(&t->e, t->c->w);
	for (int i = 0; i < t->c->n && !r; i++) {
		struct tcp_rr_conn *k = &t->conns[i];
		*k = (struct tcp_rr_conn){.s = &t->c->streams[i], .get = t->in};
		k->fd = k->s->fd;
		k->asked = t->asked ? &t->asked[i * t->outstanding] : &k->one;
		k->owed = t->client ? t->outstanding : 0;
		r = events_add(&t->e, k->fd, EPOLLIN, k);
	}
	if (r)
		run_fail(t->c->streams, -r, "preparing to wait for events");
	return !r;
}

void tcp_rr_events(struct crew *c, struct rr *rr)
{
	const struct engine_spec *s = &c->w->spec;
	struct tcp_rr_crew *t = mem_zalloc(sizeof(*t));
	*t = (struct tcp_rr_crew){.c = c, .rr = rr, .client = !c->w->server};
	t->in = t->client ? s->response_size : s->size;
	t->out = t->client ? s->size : s->response_size;
	t->late_ns = s->timeout_ns ? s->timeout_ns : INT64_MAX;
	t->outstanding = s->outstanding;
	t->conns = mem_zalloc((size_t)c->n * sizeof(*t->conns));
	if (t->client && t->outstanding > 1)
		t->asked = mem_zalloc((size_t)c->n * (size_t)t->outstanding * sizeof(*t->asked));
	bool fine = tcp_rr_prepare(t);
	for (int i = 0; i < c->n && fine; i++)
		fine = tcp_rr_push(t, &t->conns[i], clock_now_ns());
	if (fine)
		tcp_rr_serve(t);
	events_close(&t->e);
	free(t->asked);
	free(t->conns);
	free(t);
}
