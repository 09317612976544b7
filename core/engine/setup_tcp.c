/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * setup_tcp: TCP streams, each with a hello of 8 bytes (session, stream) that the server answers
 * with one byte, so that a stranger's connection is never measured. Called by setup.c.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/base/units.h"
#include "core/engine/setup.h"

#define SETUP_CONNECT_NS (5 * NSEC_PER_SEC)

struct setup_hello {
	uint32_t session, stream;
};

int setup_listen(struct worker *w, bool defer, struct err *err)
{
	autofd int fd = socket_open(&w->spec, false, w->family, err);
	if (fd < 0)
		return fd;
	int r = setup_bind_any(fd, w->family, err);
	if (r)
		return r;
	if (defer)
		setsockopt(fd, IPPROTO_TCP, TCP_DEFER_ACCEPT, &(int){10}, sizeof(int));
	if (fcntl(fd, F_SETFL, O_NONBLOCK) || listen(fd, w->n_streams + 16))
		return err_sys(err, errno, "listening");
	int out = fd;
	fd = -1;
	return out;
}

/* A fresh connection with its hello: is it ours, and which stream? */
static struct stream *setup_greet(struct worker *w, int fd)
{
	struct setup_hello hello;
	if (recv(fd, &hello, sizeof(hello), MSG_DONTWAIT) != sizeof(hello) ||
	    ntohl(hello.session) != w->session || ntohl(hello.stream) >= (uint32_t)w->n_streams)
		return NULL;
	struct stream *s = &w->streams[ntohl(hello.stream)];
	if (s->attached || send(fd, "", 1, MSG_NOSIGNAL) != 1)
		return NULL;
	return s;
}

int setup_accept(struct worker *w, struct err *err)
{
	for (;;) {
		autofd int fd = accept4(w->listen_fd, NULL, NULL, SOCK_CLOEXEC);
		if (fd < 0 && (errno == EINTR || errno == ECONNABORTED))
			continue;
		if (fd < 0)
			return errno == EAGAIN ? 0 : err_sys(err, errno, "accepting a connection");
		struct stream *s = setup_greet(w, fd);
		if (!s)
			continue;
		int r = socket_congestion_set(fd, &w->spec, err);
		if (r)
			return r;
		socket_abort_on_close(fd);
		s->fd = fd;
		s->attached = true;
		w->missing--;
		fd = -1;
	}
}

/* A client's streams on their way: those before `next` were begun, and `done` of them are there. */
struct setup_way {
	struct worker *w;
	const struct setup_target *t;
	int epoll_fd, next, done;
	bool *greeting; /* a stream: connected, its hello is out; heap */
};

static int setup_more(struct setup_way *way, struct err *err)
{
	int r = 0;
	while (!r && way->next < way->w->n_streams && way->next - way->done < SETUP_BATCH) {
		struct stream *s = &way->w->streams[way->next];
		r = setup_begin(s, way->t, err);
		if (!r)
			r = setup_add(way->epoll_fd, s->fd, EPOLLOUT, way->next, err);
		way->next++;
	}
	return r;
}

static int setup_say_hello(struct setup_way *way, struct stream *s, struct err *err)
{
	int code = 0;
	getsockopt(s->fd, SOL_SOCKET, SO_ERROR, &code, &(socklen_t){sizeof(code)});
	if (code)
		return err_sys(err, code, "connecting to %s port %d", way->t->text, s->port);
	struct setup_hello hello = {htonl(s->w->session), htonl((uint32_t)s->index)};
	if (send(s->fd, &hello, sizeof(hello), MSG_NOSIGNAL) != sizeof(hello))
		return err_sys(err, errno, "greeting %s port %d", way->t->text, s->port);
	way->greeting[s->index] = true;
	struct epoll_event e = {.events = EPOLLIN, .data.u32 = (uint32_t)s->index};
	if (epoll_ctl(way->epoll_fd, EPOLL_CTL_MOD, s->fd, &e))
		return err_sys(err, errno, "epoll_ctl");
	return 0;
}

static int setup_greeted(struct setup_way *way, struct stream *s, struct err *err)
{
	char byte;
	ssize_t n = recv(s->fd, &byte, 1, 0);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n != 1)
		return err_fail(err, n ? errno : ECONNREFUSED,
				"%s port %d is not our server: it closed the connection",
				way->t->text, s->port);
	if (epoll_ctl(way->epoll_fd, EPOLL_CTL_DEL, s->fd, NULL) || fcntl(s->fd, F_SETFL, 0))
		return err_sys(err, errno, "preparing a socket");
	socket_abort_on_close(s->fd);
	s->attached = true;
	way->done++;
	return socket_congestion_set(s->fd, &s->w->spec, err);
}

/* One wait, and what it gave. */
static int setup_step(struct setup_way *way, int64_t deadline_ns, struct err *err)
{
	struct epoll_event e[SETUP_EVENTS];
	int r = worker_wait(way->w, way->epoll_fd, POLLIN, deadline_ns, err);
	if (r == -ETIMEDOUT)
		return err_fail(err, ETIMEDOUT, "no answer from %s port %d within %lld s",
				way->t->text, way->t->port,
				(long long)(SETUP_CONNECT_NS / NSEC_PER_SEC));
	int n = r ? 0 : epoll_wait(way->epoll_fd, e, SETUP_EVENTS, 0);
	for (int i = 0; i < n && !r; i++) {
		struct stream *s = &way->w->streams[e[i].data.u32];
		r = way->greeting[s->index] ? setup_greeted(way, s, err)
					    : setup_say_hello(way, s, err);
	}
	return r;
}

int setup_connect_tcp(struct worker *w, const struct setup_target *t, struct err *err)
{
	struct setup_way way = {.w = w, .t = t, .epoll_fd = epoll_create1(EPOLL_CLOEXEC)};
	if (way.epoll_fd < 0)
		return err_sys(err, errno, "epoll_create1");
	way.greeting = mem_zalloc((size_t)w->n_streams * sizeof(*way.greeting));
	int64_t deadline = clock_now_ns() + SETUP_CONNECT_NS;
	int r = 0;
	while (!r && way.done < w->n_streams) {
		int before = way.done;
		r = setup_more(&way, err);
		if (!r)
			r = setup_step(&way, deadline, err);
		if (way.done > before)
			deadline = clock_now_ns() + SETUP_CONNECT_NS;
	}
	free(way.greeting);
	close(way.epoll_fd);
	return r;
}
