/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tcp_crr_client: a thread that keeps its share of spec.streams connections going, each from
 * connect() to close(). Sockets do not block; each step is tried at once and waited for only when
 * that was too early: on the loopback device, connect() has often succeeded when it says that it is
 * in progress.
 *
 * Errors of a connection are counted; those of this process (no descriptor left, no socket of that
 * family) end the test. Called by tcp_crr.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
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

#define TCP_CRR_TIMEOUT (5 * NSEC_PER_SEC) /* without spec.timeout_ns */
#define TCP_CRR_TICK	(10 * NSEC_PER_MSEC)
#define TCP_CRR_PAUSE	NSEC_PER_MSEC /* after a failure, before the next try */
#define TCP_CRR_ROOM	(256 << 10)
#define TCP_CRR_SPINS	64
#define TCP_CRR_ONE	500 /* bytes that are one segment on any path */
#define TCP_CRR_TURN	16  /* connections of a slot before others have their turn */

enum tcp_crr_state {
	TCP_CRR_IDLE,	/* the next connection begins at once */
	TCP_CRR_PAUSED, /* or at due_ns */
	TCP_CRR_CONNECTING,
	TCP_CRR_SENDING,
	TCP_CRR_RECEIVING
};

struct tcp_crr_slot { /* a connection after the other */
	enum tcp_crr_state state;
	int fd;
	bool watched;	 /* it is in the epoll set, */
	uint32_t events; /* for these */
	int64_t began_ns, connected_ns;
	int64_t due_ns;	  /* paused: the next try; else it has failed then */
	int64_t put, get; /* bytes that are left of the request, of the answer */
};

struct tcp_crr_crew {
	struct crew *c;
	struct tcp_crr *found;
	struct engine_spec spec; /* what sockets are made by */
	struct events e;
	struct tcp_crr_slot *slots;
	struct sockaddr_storage peer, own;
	int port;	  /* index of the server's port that is next */
	bool fin;	  /* the client closes, and does not reset */
	bool bound;	  /* spec.client_address is in `own` */
	bool fatal;	  /* the test is over */
	int idle, paused; /* slots that are */
	int64_t timeout_ns;
	size_t room;
	char *data;
};

static void tcp_crr_next_port(struct tcp_crr_crew *t)
{
	struct worker *w = t->c->w;
	socket_set_port(&t->peer, w->listen_ports[t->port]);
	t->port = t->port + 1 == w->spec.ports ? 0 : t->port + 1;
}

static void tcp_crr_drop(struct tcp_crr_slot *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}

static enum tcp_crr_failure tcp_crr_kind(int code)
{
	switch (code) {
	case ECONNREFUSED:
		return TCP_CRR_REFUSED;
	case ECONNRESET:
	case EPIPE:
		return TCP_CRR_RESET;
	case ETIMEDOUT:
		return TCP_CRR_TIMED_OUT;
	case EADDRNOTAVAIL:
		return TCP_CRR_NO_ADDRESS;
	default:
		return TCP_CRR_OTHER;
	}
}

static void tcp_crr_failed(struct tcp_crr_crew *t, struct tcp_crr_slot *s, int code, int64_t now)
{
	const struct window *win = &t->c->w->win;
	if (s->fd >= 0)
		socket_abort_on_close(s->fd);
	tcp_crr_drop(s);
	if (now >= win->begin_ns && now < win->end_ns)
		t->found->failed[tcp_crr_kind(code)]++;
	t->found->failed_all++;
	t->found->last_code = code;
	s->state = TCP_CRR_PAUSED;
	s->due_ns = now + TCP_CRR_PAUSE;
	t->paused++;
}

static void tcp_crr_fatal(struct tcp_crr_crew *t, int code, const char *what)
{
	char text[200];
	struct rlimit files = {0};
	getrlimit(RLIMIT_NOFILE, &files);
	snprintf(text, sizeof(text), "%s", what);
	if (code == EMFILE)
		snprintf(text, sizeof(text),
			 "%s: %d connections at the same time need more descriptors than the "
			 "limit of %lld allows (ulimit -n)",
			 what, t->c->w->spec.streams, (long long)files.rlim_cur);
	run_fail(t->c->streams, code, text);
	t->fatal = true;
}

/* What the kernel has chosen, once for each connection: how many ports are in use is what decides
 * how long "fin" can go on. */
static void tcp_crr_note(struct tcp_crr_crew *t, int fd)
{
	struct sockaddr_storage a = {0};
	if (getsockname(fd, (struct sockaddr *)&a, &(socklen_t){sizeof(a)}))
		return;
	in_port_t raw = a.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&a)->sin6_port
						: ((struct sockaddr_in *)&a)->sin_port;
	unsigned port = ntohs(raw);
	t->found->ports[port / 64] |= UINT64_C(1) << port % 64;
	if (!*t->found->congestion)
		socket_congestion(fd, t->found->congestion);
}

/* A socket for the next connection; -1: the test is over. */
static int tcp_crr_open(struct tcp_crr_crew *t)
{
	const struct worker *w = t->c->w;
	struct err err = ERR_INIT;
	int fd = socket_open(&t->spec, false, w->family, &err);
	if (fd < 0) {
		tcp_crr_fatal(t, -fd, "opening a socket");
		return -1;
	}
	int flags = t->bound ? bind(fd, (struct sockaddr *)&t->own, w->peer_len) : 0;
	if (flags || fcntl(fd, F_SETFL, O_NONBLOCK)) {
		tcp_crr_fatal(t, errno,
			      flags ? "client_address: binding to it" : "preparing a socket");
		close(fd);
		return -1;
	}
	if (!t->fin)
		socket_abort_on_close(fd);
	return fd;
}

/* Wants to hear of these events; false: it cannot. */
static bool tcp_crr_watch(struct tcp_crr_crew *t, struct tcp_crr_slot *s, uint32_t events)
{
	int r = 0;
	if (t->c->n == 1) /* tcp_crr_wait_single() looks at `events` */
		r = 0;
	else if (!s->watched)
		r = events_add(&t->e, s->fd, events, s);
	else if (s->events != events)
		r = events_change(&t->e, s->fd, events, s);
	s->watched = true;
	s->events = events;
	if (r)
		tcp_crr_fatal(t, -r, "waiting for a connection");
	return !r;
}

static void tcp_crr_ended(struct tcp_crr_crew *t, struct tcp_crr_slot *s)
{
	const struct window *win = &t->c->w->win;
	tcp_crr_drop(s);
	int64_t now = clock_now_ns();
	if (now >= s->due_ns) { /* sooner than the tick that would have told */
		tcp_crr_failed(t, s, ETIMEDOUT, now);
		return;
	}
	if (now >= win->begin_ns && now < win->end_ns) {
		hist_add(&t->found->whole, now - s->began_ns);
		hist_add(&t->found->connect, s->connected_ns - s->began_ns);
	}
	window_track_add(&t->c->streams[0].track, now, 1);
	t->c->streams[0].packets_all++;
	s->state = TCP_CRR_IDLE;
	s->began_ns = now; /* of the next one */
}

static void tcp_crr_connected(struct tcp_crr_slot *s)
{
	if (!s->connected_ns)
		s->connected_ns = clock_now_ns();
}

/* 0: go on; negative errno: -EAGAIN where this step has to be waited for. */
static int tcp_crr_try_connected(struct tcp_crr_crew *t, struct tcp_crr_slot *s)
{
	/* Asked again, connect() says how far it is; a request that can be sent says it too. */
	if (tcp_crr_is_bare(t->c->w) &&
	    connect(s->fd, (struct sockaddr *)&t->peer, t->c->w->peer_len) && errno != EISCONN)
		return errno == EALREADY || errno == EINPROGRESS ? -EAGAIN : -errno;
	s->state = TCP_CRR_SENDING;
	if (!tcp_crr_is_bare(t->c->w))
		return 0;
	tcp_crr_connected(s);
	return t->fin && shutdown(s->fd, SHUT_WR) ? -errno : 0;
}

static int tcp_crr_try_send(struct tcp_crr_crew *t, struct tcp_crr_slot *s)
{
	size_t more = s->put < (int64_t)t->room ? (size_t)s->put : t->room;
	ssize_t n = send(s->fd, t->data, more, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (n < 0)
		return -errno;
	s->put -= n;
	return 0;
}

static int tcp_crr_try_receive(struct tcp_crr_crew *t, struct tcp_crr_slot *s)
{
	ssize_t n = recv(s->fd, t->data, t->room, MSG_DONTWAIT);
	if (n < 0)
		return -errno;
	if (!n && !tcp_crr_is_bare(t->c->w))
		return -ECONNRESET;
	s->get -= n ? n : 1; /* tcp_cc waits for the end of the connection, as if it were a byte */
	return 0;
}

/* As far as it goes now; false: the test is over. */
static bool tcp_crr_advance(struct tcp_crr_crew *t, struct tcp_crr_slot *s)
{
	int r = 0;
	while (!r && s->state > TCP_CRR_PAUSED) {
		if (s->state == TCP_CRR_CONNECTING) {
			r = tcp_crr_try_connected(t, s);
		} else if (s->put) {
			r = tcp_crr_try_send(t, s);
			if (!r)
				tcp_crr_connected(s);
		} else if (s->get && s->state == TCP_CRR_SENDING) {
			s->state = TCP_CRR_RECEIVING;
			r = -EAGAIN; /* it is hardly there yet */
		} else if (s->get) {
			r = tcp_crr_try_receive(t, s);
		} else {
			tcp_crr_connected(s);
			tcp_crr_ended(t, s);
		}
		r = r == -EINTR ? 0 : r;
	}
	if (r == -EAGAIN)
		return tcp_crr_watch(t, s, s->state == TCP_CRR_RECEIVING ? EPOLLIN : EPOLLOUT);
	if (r)
		tcp_crr_failed(t, s, -r, clock_now_ns());
	return true;
}

/* Begins a connection at `now`; false: the test is over. */
static bool tcp_crr_begin(struct tcp_crr_crew *t, struct tcp_crr_slot *s, int64_t now)
{
	const struct engine_spec *spec = &t->c->w->spec;
	bool bare = tcp_crr_is_bare(t->c->w);
	*s = (struct tcp_crr_slot){.state = TCP_CRR_CONNECTING,
				   .began_ns = now,
				   .due_ns = now + t->timeout_ns,
				   .put = bare ? 0 : spec->size,
				   .get = bare ? 1 : spec->response_size};
	s->fd = tcp_crr_open(t);
	if (s->fd < 0)
		return false;
	tcp_crr_next_port(t);
	int r = connect(s->fd, (struct sockaddr *)&t->peer, t->c->w->peer_len) ? errno : 0;
	if (r && r != EINPROGRESS) {
		tcp_crr_failed(t, s, r, clock_now_ns());
		return true;
	}
	tcp_crr_note(t, s->fd);
	return tcp_crr_advance(t, s);
}

/* Goes on with a slot, and with its next connections; false: the test is over. */
static bool tcp_crr_go(struct tcp_crr_crew *t, struct tcp_crr_slot *s)
{
	int64_t end = t->c->w->win.end_ns;
	bool was_idle = s->state == TCP_CRR_IDLE, fine = tcp_crr_advance(t, s);
	for (int i = 0; fine && i < TCP_CRR_TURN && s->state == TCP_CRR_IDLE; i++)
		fine = s->began_ns < end && tcp_crr_begin(t, s, s->began_ns);
	t->idle += (s->state == TCP_CRR_IDLE) - was_idle;
	return fine;
}

/* What no event will bring on; false: the test is over. */
static bool tcp_crr_tick(struct tcp_crr_crew *t, int64_t now)
{
	for (int i = 0; i < t->c->n; i++) {
		struct tcp_crr_slot *s = &t->slots[i];
		bool due = now >= s->due_ns;
		if (s->state == TCP_CRR_PAUSED && due) {
			t->paused--;
			s->state = TCP_CRR_IDLE;
			s->began_ns = now;
			t->idle++;
		} else if (s->state > TCP_CRR_PAUSED && due) {
			tcp_crr_failed(t, s, ETIMEDOUT, now);
		}
		if (s->state == TCP_CRR_IDLE && !tcp_crr_go(t, s))
			return false;
	}
	return true;
}

/* For a thread with one connection at a time poll() is cheaper than telling epoll of each. True: go
 * on with it. */
static bool tcp_crr_wait_single(struct tcp_crr_crew *t, int64_t now, int64_t until)
{
	struct pollfd fds[2] = {{.fd = t->slots->fd, .events = (short)t->slots->events},
				{.fd = t->c->w->over_fd, .events = POLLIN}};
	int64_t left = until > now ? until - now : 0;
	struct timespec ts = {left / NSEC_PER_SEC, left % NSEC_PER_SEC};
	if (t->c->w->spec.spin)
		return t->slots->state > TCP_CRR_PAUSED;
	return ppoll(fds, 2, &ts, NULL) > 0 && fds[0].revents;
}

static void tcp_crr_serve_single(struct tcp_crr_crew *t)
{
	int64_t end = t->c->w->win.end_ns, now = clock_now_ns(), tick = now;
	for (int turn = 1; now < end && !worker_over(t->c->w); turn++) {
		if (t->idle || now >= tick) {
			if (!tcp_crr_tick(t, now))
				return;
			tick = now + (t->paused ? TCP_CRR_PAUSE : TCP_CRR_TICK);
		}
		if (!t->idle && tcp_crr_wait_single(t, now, tick < end ? tick : end) &&
		    !tcp_crr_go(t, t->slots))
			return;
		if (t->c->w->spec.spin && turn % TCP_CRR_SPINS == 0)
			sched_yield();
		now = clock_now_ns();
	}
}

static void tcp_crr_serve(struct tcp_crr_crew *t)
{
	int64_t end = t->c->w->win.end_ns, now = clock_now_ns(), tick = now;
	while (now < end && !worker_over(t->c->w)) {
		if (t->idle || now >= tick) {
			if (!tcp_crr_tick(t, now))
				return;
			tick = now + (t->paused ? TCP_CRR_PAUSE : TCP_CRR_TICK);
		}
		int64_t until = t->idle ? now : tick < end ? tick : end;
		int n = events_wait(&t->e, now, until);
		for (int i = 0; i < n; i++)
			if (!t->e.got[i].data.ptr || !tcp_crr_go(t, t->e.got[i].data.ptr))
				return;
		now = clock_now_ns();
	}
}

/* TIME_WAIT sockets of this network namespace; -1: not known. Fact: proc(5), sockstat. */
static int64_t tcp_crr_time_wait(void)
{
	char line[256];
	long long waiting = -1;
	FILE *f = fopen("/proc/thread-self/net/sockstat", "re");
	while (f && fgets(line, sizeof(line), f)) {
		const char *at = strncmp(line, "TCP:", 4) ? NULL : strstr(line, " tw ");
		if (at)
			sscanf(at, " tw %lld", &waiting);
	}
	if (f)
		fclose(f);
	return waiting;
}

/* Each connection saves a call where a socket is as it is wanted to be without being asked: its
 * congestion control is the kernel's choice then. */
static void tcp_crr_spare(struct tcp_crr_crew *t)
{
	char there[16] = "";
	autofd int fd = socket(t->c->w->family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd >= 0)
		socket_congestion(fd, there);
	if (str_eq(there, t->spec.congestion))
		t->spec.congestion[0] = '\0';
	/* Nagle's algorithm holds back nothing where nothing was sent before. */
	if (t->spec.size <= TCP_CRR_ONE)
		t->spec.no_delay = false;
}

static bool tcp_crr_prepare(struct tcp_crr_crew *t)
{
	struct worker *w = t->c->w;
	struct err err = ERR_INIT;
	for (int i = 0; i < t->c->n; i++)
		t->slots[i] = (struct tcp_crr_slot){.fd = -1, .began_ns = clock_now_ns()};
	t->idle = t->c->n;
	t->port = t->c->index % w->spec.ports;
	t->fin = str_eq(w->spec.close, "fin");
	t->spec = w->spec;
	tcp_crr_spare(t);
	t->bound = *w->spec.client_address;
	if (t->bound && socket_client(&w->spec, w->family, &t->own, &err)) {
		tcp_crr_fatal(t, EINVAL, "client_address");
		return false;
	}
	int r = events_open(&t->e, w);
	if (r)
		tcp_crr_fatal(t, -r, "preparing to wait for events");
	return !r;
}

/* None has succeeded, of this crew nor of another: that is no measurement. */
static void tcp_crr_judge(struct tcp_crr_crew *t)
{
	struct worker *w = t->c->w;
	struct stream *first = t->c->streams;
	bool stopped = clock_now_ns() < w->win.end_ns;
	if (t->fatal || stopped || !t->found->failed_all)
		return;
	for (int i = 0; i < w->n_crews; i++)
		if (atomic_load(&w->crews[i].streams[0].track.units))
			return;
	err_sys(&first->err, t->found->last_code,
		"not one of %lld connections has succeeded; the last one",
		(long long)t->found->failed_all);
	atomic_store(&w->failed, true);
}

void tcp_crr_client(struct crew *c)
{
	const struct engine_spec *spec = &c->w->spec;
	struct tcp_crr_crew *t = mem_zalloc(sizeof(*t));
	struct tcp_crr *found = mem_zalloc(sizeof(*found));
	int64_t most = spec->size > spec->response_size ? spec->size : spec->response_size;
	c->own = found;
	*t = (struct tcp_crr_crew){.c = c, .found = found, .peer = c->w->peer};
	t->timeout_ns = spec->timeout_ns ? spec->timeout_ns : TCP_CRR_TIMEOUT;
	t->room = most < TCP_CRR_ROOM ? (size_t)most : TCP_CRR_ROOM;
	t->data = mem_zalloc(t->room);
	t->slots = mem_zalloc((size_t)c->n * sizeof(*t->slots));
	bool fine = tcp_crr_prepare(t);
	if (fine && c->n == 1)
		tcp_crr_serve_single(t);
	else if (fine)
		tcp_crr_serve(t);
	for (int i = 0; i < c->n; i++) {
		if (t->slots[i].fd >= 0)
			socket_abort_on_close(t->slots[i].fd);
		tcp_crr_drop(&t->slots[i]);
	}
	found->time_wait = tcp_crr_time_wait();
	tcp_crr_judge(t);
	events_close(&t->e);
	free(t->slots);
	free(t->data);
	free(t);
}
