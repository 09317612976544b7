/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tcp_crr_server: a thread that accepts connections at all of the server's ports and answers one
 * request on each; the client closes. Several such threads share the ports.
 *
 * Where there is a request, a connection is accepted with it (TCP_DEFER_ACCEPT): one wake-up of the
 * thread instead of two, and the same packets. tcp_cc: with "rst" the server closes first and the
 * client then resets, with "fin" the server closes when the client has; either way the client waits
 * for it, so that it never runs ahead of who accepts.
 *
 * A connection that has had its answer is not watched any more: it stands in a queue whose first
 * ones are looked at whenever the thread is awake anyway, since a closed connection is worth no
 * wake-up of its own. What stays for long (its end was lost on the way) is dropped. Called by
 * tcp_crr.c.
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/base/str.h"
#include "core/base/units.h"
#include "core/engine/events.h"
#include "core/engine/tcp_crr.h"

#define TCP_CRR_LOOK	(10 * NSEC_PER_MSEC) /* at all that wait for their end */
#define TCP_CRR_STALE	(5 * NSEC_PER_SEC)
#define TCP_CRR_ROOM	(256 << 10)
#define TCP_CRR_BACKLOG 512

struct tcp_crr_conn {
	struct tcp_crr_conn *next,
	    **back; /* in the list of those that live, or of those that end */
	int fd;
	bool watched;
	uint32_t events;
	int64_t get, put; /* bytes that are missing of the request, and left of the answer */
	int64_t ending_ns;
};

struct tcp_crr_list {
	struct tcp_crr_conn *first, **last;
};

struct tcp_crr_crew {
	struct crew *c;
	struct events e;
	bool bare, fin; /* tcp_cc; the client closes and does not reset */
	struct tcp_crr_list live, ending;
	int64_t look_ns;
	size_t room;
	char *data;
};

static void tcp_crr_append(struct tcp_crr_list *list, struct tcp_crr_conn *k)
{
	k->next = NULL;
	k->back = list->last;
	*list->last = k;
	list->last = &k->next;
}

static void tcp_crr_remove(struct tcp_crr_list *list, struct tcp_crr_conn *k)
{
	*k->back = k->next;
	if (k->next)
		k->next->back = k->back;
	else
		list->last = k->back;
}

static void tcp_crr_drop(struct tcp_crr_list *list, struct tcp_crr_conn *k)
{
	tcp_crr_remove(list, k);
	close(k->fd);
	free(k);
}

/* From the live ones to those that wait for the client to close. */
static void tcp_crr_served(struct tcp_crr_crew *t, struct tcp_crr_conn *k)
{
	int64_t now = clock_now_ns();
	window_track_add(&t->c->streams[0].track, now, 1);
	t->c->streams[0].packets_all++;
	if (k->watched && !t->bare)
		epoll_ctl(t->e.fd, EPOLL_CTL_DEL, k->fd, NULL);
	tcp_crr_remove(&t->live, k);
	tcp_crr_append(&t->ending, k);
	k->ending_ns = now;
	if (t->bare)
		tcp_crr_drop(&t->ending, k);
}

/* 0 or negative errno; -EPIPE: the client has gone. */
static int tcp_crr_step(struct tcp_crr_crew *t, struct tcp_crr_conn *k)
{
	int64_t left = k->get ? k->get : k->put;
	size_t more = left < (int64_t)t->room ? (size_t)left : t->room;
	ssize_t n = k->get ? recv(k->fd, t->data, more, MSG_DONTWAIT)
			   : send(k->fd, t->data, more, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (n < 0 && errno == EINTR)
		return 0;
	if (!n && k->get && t->bare)
		k->get = 0;
	else if (n <= 0)
		return n ? -errno : -EPIPE;
	*(k->get ? &k->get : &k->put) -= n;
	return 0;
}

/* As far as it goes now. */
static void tcp_crr_advance(struct tcp_crr_crew *t, struct tcp_crr_conn *k)
{
	int r = 0;
	while (!r && (k->get || k->put))
		r = tcp_crr_step(t, k);
	if (!r) {
		tcp_crr_served(t, k);
		return;
	}
	uint32_t events = k->get ? EPOLLIN : EPOLLOUT;
	if (r == -EAGAIN) {
		r = !k->watched		  ? events_add(&t->e, k->fd, events, k)
		    : k->events != events ? events_change(&t->e, k->fd, events, k)
					  : 0;
		k->watched = true;
		k->events = events;
	}
	if (r)
		tcp_crr_drop(&t->live, k);
}

/* False: this process can accept no more. */
static bool tcp_crr_refused(struct tcp_crr_crew *t, int code)
{
	struct rlimit files = {0};
	char text[160];
	if (code == EAGAIN || code == EINTR || code == ECONNABORTED || worker_over(t->c->w))
		return true;
	getrlimit(RLIMIT_NOFILE, &files);
	snprintf(text, sizeof(text), "accepting a connection (the limit is %lld descriptors)",
		 (long long)files.rlim_cur);
	run_fail(t->c->streams, code, text);
	return false;
}

/* As many as can have come at the same time. */
static bool tcp_crr_accept(struct tcp_crr_crew *t, int listener)
{
	const struct engine_spec *spec = &t->c->w->spec;
	for (int i = 0; i < spec->streams; i++) {
		int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd < 0)
			return tcp_crr_refused(t, errno);
		struct tcp_crr_conn *k = mem_zalloc(sizeof(*k));
		k->fd = fd;
		k->get = t->bare ? t->fin : spec->size;
		k->put = t->bare ? 0 : spec->response_size;
		tcp_crr_append(&t->live, k);
		tcp_crr_advance(t, k);
	}
	return true;
}

/* Has the client closed? */
static bool tcp_crr_is_closed(struct tcp_crr_crew *t, const struct tcp_crr_conn *k)
{
	return recv(k->fd, t->data, 1, MSG_DONTWAIT) >= 0 || errno != EAGAIN;
}

static void tcp_crr_look(struct tcp_crr_crew *t)
{
	while (t->ending.first && tcp_crr_is_closed(t, t->ending.first))
		tcp_crr_drop(&t->ending, t->ending.first);
}

/* At all of them, now and then: one whose end was lost must not hold up the others. */
static void tcp_crr_look_at_all(struct tcp_crr_crew *t, int64_t now)
{
	struct tcp_crr_conn *next;
	for (struct tcp_crr_conn *k = t->ending.first; k; k = next) {
		next = k->next;
		bool stale = now - k->ending_ns >= TCP_CRR_STALE;
		if (stale)
			socket_abort_on_close(k->fd);
		if (stale || tcp_crr_is_closed(t, k))
			tcp_crr_drop(&t->ending, k);
	}
	t->look_ns = now + TCP_CRR_LOOK;
}

static bool tcp_crr_event(struct tcp_crr_crew *t, const struct epoll_event *event)
{
	const struct worker *w = t->c->w;
	int *listener = event->data.ptr;
	if (!listener)
		return false; /* the run is over */
	if (listener >= w->listen_fds && listener < w->listen_fds + w->n_listen)
		return tcp_crr_accept(t, *listener);
	tcp_crr_advance(t, event->data.ptr);
	return true;
}

static void tcp_crr_serve(struct tcp_crr_crew *t)
{
	int64_t now = clock_now_ns();
	while (!worker_over(t->c->w)) {
		int n = events_wait(&t->e, now, t->ending.first ? t->look_ns : INT64_MAX);
		now = clock_now_ns();
		tcp_crr_look(t);
		for (int i = 0; i < n; i++)
			if (!tcp_crr_event(t, &t->e.got[i]))
				return;
		if (now >= t->look_ns)
			tcp_crr_look_at_all(t, now);
	}
}

static bool tcp_crr_prepare(struct tcp_crr_crew *t)
{
	struct worker *w = t->c->w;
	int r = events_open(&t->e, w);
	uint32_t events = w->n_crews > 1 ? EPOLLIN | EPOLLEXCLUSIVE : EPOLLIN;
	for (int i = 0; i < w->n_listen && !r; i++) {
		int fd = w->listen_fds[i];
		if (!t->bare)
			setsockopt(fd, IPPROTO_TCP, TCP_DEFER_ACCEPT, &(int){10}, sizeof(int));
		listen(fd, w->spec.streams + TCP_CRR_BACKLOG); /* more room than it has */
		r = events_add(&t->e, w->listen_fds[i], events, &w->listen_fds[i]);
	}
	if (r)
		run_fail(t->c->streams, -r, "preparing to wait for connections");
	return !r;
}

static void tcp_crr_drop_all(struct tcp_crr_list *list)
{
	while (list->first) {
		socket_abort_on_close(list->first->fd);
		tcp_crr_drop(list, list->first);
	}
}

void tcp_crr_server(struct crew *c)
{
	const struct engine_spec *spec = &c->w->spec;
	struct tcp_crr_crew *t = mem_zalloc(sizeof(*t));
	int64_t most = spec->size > spec->response_size ? spec->size : spec->response_size;
	*t = (struct tcp_crr_crew){.c = c, .bare = tcp_crr_is_bare(c->w)};
	t->fin = str_eq(spec->close, "fin");
	t->live.last = &t->live.first;
	t->ending.last = &t->ending.first;
	t->room = most < TCP_CRR_ROOM ? (size_t)most : TCP_CRR_ROOM;
	t->data = mem_zalloc(t->room);
	if (tcp_crr_prepare(t))
		tcp_crr_serve(t);
	tcp_crr_drop_all(&t->live);
	tcp_crr_drop_all(&t->ending);
	events_close(&t->e);
	free(t->data);
	free(t);
}
