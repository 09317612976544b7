/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pair_server: E2 of all pairs, in one thread: takes connections, does the other half of their
 * scripts, and counts datagrams. Called as the crew of the engine `pairs`.
 *
 * A connection's greeting says all that there is to know of it, so memory is that of the
 * connections that are open, and of pairs that send datagrams. UDP comes to the same port number,
 * on one socket for all pairs. When the client's first connection ends, the run is over, but for
 * datagrams that are still on the way.
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/base/units.h"
#include "core/engine/packet.h"
#include "core/engine/pairs.h"

#define SERVER_BACKLOG 4096
#define SERVER_BATCH   64
#define SERVER_QUIET   (300 * NSEC_PER_MSEC) /* or three times the longest delay */
#define SERVER_DRAIN   (3 * NSEC_PER_SEC)
#define SERVER_IDLE    (3600 * NSEC_PER_SEC)

struct connection {
	struct pair_end end;
	struct connection **link, *after; /* all that are open */
};

struct server { /* beside struct pairs */
	struct pairs *p;
	struct pair_source listening, datagrams;
	struct connection *open;
	struct mmsghdr messages[SERVER_BATCH];
	struct iovec parts[SERVER_BATCH];
	struct sockaddr_storage from[SERVER_BATCH];
	char control[SERVER_BATCH][128];
	char data[SERVER_BATCH][2048];
	int64_t heard_ns;
	bool closed; /* the client's first connection has ended */
	int broken;  /* errno: no connections can be taken any more */
};

static enum pair_step connection_end(struct pair_loop *l, struct pair_end *e)
{
	struct connection *c = (struct connection *)e;
	struct server *v = l->own;
	if (e->pair == PAIR_KEEPER)
		v->closed = true;
	pair_loop_forget(l, e);
	close(e->fd);
	*c->link = c->after;
	if (c->after)
		c->after->link = c->link;
	free(c);
	return PAIR_OVER;
}

/* A client that is gone has ended its run, or its pair: it says so, not this end. */
static enum pair_step server_failed(struct pair_loop *l, struct pair_end *e, int code,
				    const char *what)
{
	struct server *v = l->own;
	(void)what;
	v->p->invalid += code == EBADMSG;
	if (code == EBADMSG)
		socket_abort_on_close(e->fd);
	return connection_end(l, e);
}

static bool greeting_read(struct pair_loop *l, struct pair_end *e, const struct pair_greeting *g)
{
	if (be32toh(g->session) != l->w->session)
		return false;
	e->pair = be32toh(g->pair);
	e->pc = (int)be32toh(g->pc);
	e->draws = be64toh(g->draws);
	l->seed = (int64_t)be64toh(g->seed);
	for (int i = 0; i < SCRIPT_DEPTH; i++)
		e->turns_left[i] = (int64_t)be64toh(g->turns_left[i]);
	if (e->pair == PAIR_KEEPER)
		return true;
	const struct script_group *group = script_group_of(l->script, e->pair);
	if (!group || group->protocol != SCRIPT_TCP || e->pc < 0 || (size_t)e->pc >= group->ops.n ||
	    group->ops.v[e->pc].command != SCRIPT_CONNECT)
		return false;
	e->group = group;
	e->pc++;
	return true;
}

/* Before a pair is known: its greeting; of the client's first connection: its end. */
static enum pair_step server_greeted(struct pair_loop *l, struct pair_end *e)
{
	struct pair_greeting g;
	bool keeper = e->pair == PAIR_KEEPER;
	ssize_t n = recv(e->fd, &g, sizeof(g), MSG_DONTWAIT | (keeper ? 0 : MSG_PEEK));
	if (n < 0 && errno == EAGAIN)
		return PAIR_WAIT;
	if (n <= 0 || keeper)
		return connection_end(l, e);
	if (n < (ssize_t)sizeof(g))
		return PAIR_WAIT;
	recv(e->fd, &g, sizeof(g), MSG_DONTWAIT);
	return greeting_read(l, e, &g) ? PAIR_ON : connection_end(l, e);
}

/* The client closes first, so that its side decides how. */
static enum pair_step server_closing(struct pair_loop *l, struct pair_end *e)
{
	ssize_t n = recv(e->fd, l->in, 1, MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return PAIR_WAIT;
	return connection_end(l, e);
}

static enum pair_step server_command(struct pair_loop *l, struct pair_end *e,
				     const struct script_op *op)
{
	switch (op->command) {
	case SCRIPT_CONNECT:
		return e->group ? connection_end(l, e) : server_greeted(l, e);
	case SCRIPT_DISCONNECT:
	case SCRIPT_DONE:
		return server_closing(l, e);
	default: /* timers */
		e->pc++;
		return PAIR_ON;
	}
}

static void server_moved(struct pair_loop *l, struct pair_end *e, int64_t bytes)
{
	(void)l;
	(void)e;
	(void)bytes;
}

static const struct pair_role server_role = {true, server_command, server_moved, server_failed};

static void listening_ready(struct pair_loop *l, struct pair_source *s, uint32_t events)
{
	struct server *v = l->own;
	int fd;
	(void)s;
	(void)events;
	while ((fd = accept4(l->w->listen_fds[0], NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
		struct connection *c = mem_zalloc(sizeof(*c));
		c->end = (struct pair_end){
		    .source = {pair_end_ready}, .fd = fd, .heap_at = -1, .left = -1};
		c->link = &v->open;
		c->after = v->open;
		if (c->after)
			c->after->link = &c->after;
		v->open = c;
		uint32_t wanted = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
		if (pair_loop_watch(l, fd, wanted, &c->end.source))
			connection_end(l, &c->end);
	}
	if (errno != EAGAIN && errno != ECONNABORTED && errno != EINTR && errno != EPROTO)
		v->broken = errno;
}

/* The answer leaves from the address that was asked: its source comes with the question. */
static void answer(struct server *v, struct mmsghdr *m)
{
	m->msg_hdr.msg_iov->iov_len = SCRIPT_DATAGRAM;
	sendmsg(v->p->udp_fd, &m->msg_hdr, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void count_datagram(struct pair_loop *l, uint32_t pair, const struct packet *p, size_t size)
{
	struct server *v = l->own;
	const struct script_group *g = script_group_of(l->script, pair);
	struct pair_arrival a = {.number = p->number,
				 .delay_ns = v->heard_ns - p->sent_ns + l->w->peer_ahead_ns,
				 .bytes = (int64_t)size,
				 .jitter_buffer_ns = g->voip.codec ? g->voip.jitter_buffer_ns : 0};
	window_track_add(&l->s->track, v->heard_ns, (int64_t)size);
	l->s->packets_all++;
	if (p->phase != PHASE_MEASURE)
		return;
	if (!v->p->flows[pair])
		v->p->flows[pair] = mem_zalloc(sizeof(struct pair_flow));
	pair_flow_add(v->p->flows[pair], &a);
	if (!worker_comparable(l->w))
		return;
	size_t i = (size_t)(g - l->script->groups.v);
	if (!v->p->times[i])
		v->p->times[i] = hist_new();
	hist_add(v->p->times[i], a.delay_ns);
	if (a.delay_ns > v->p->delay_max)
		v->p->delay_max = a.delay_ns;
}

static void take_datagram(struct pair_loop *l, struct mmsghdr *m)
{
	const char *data = m->msg_hdr.msg_iov->iov_base;
	struct packet p;
	uint32_t pair;
	if (m->msg_len < SCRIPT_DATAGRAM || !packet_get(data + 12, PACKET_TIMED, &p) ||
	    p.session != l->w->session)
		return;
	memcpy(&pair, data + 8, 4);
	pair = be32toh(pair);
	if (pair >= (uint32_t)l->script->pairs)
		return;
	if (p.phase == PHASE_HELLO)
		answer(l->own, m);
	else
		count_datagram(l, pair, &p, m->msg_len);
}

static void datagrams_ready(struct pair_loop *l, struct pair_source *s, uint32_t events)
{
	struct server *v = l->own;
	int n;
	(void)s;
	(void)events;
	do {
		for (int i = 0; i < SERVER_BATCH; i++) {
			struct msghdr *h = &v->messages[i].msg_hdr;
			v->parts[i] = (struct iovec){v->data[i], sizeof(v->data[i])};
			*h = (struct msghdr){&v->from[i],
					     sizeof(v->from[i]),
					     &v->parts[i],
					     1,
					     v->control[i],
					     sizeof(v->control[i]),
					     0};
		}
		n = recvmmsg(v->p->udp_fd, v->messages, SERVER_BATCH, MSG_DONTWAIT | MSG_TRUNC,
			     NULL);
		v->heard_ns = clock_now_ns();
		for (int i = 0; i < n; i++)
			take_datagram(l, &v->messages[i]);
	} while (n == SERVER_BATCH);
}

static int open_datagrams(struct pair_loop *l)
{
	struct server *v = l->own;
	struct err err = ERR_INIT;
	struct sockaddr_storage a;
	int on = 1;
	bool six = l->w->family == AF_INET6;
	v->p->udp_fd = socket_open(&l->w->spec, true, l->w->family, &err);
	if (v->p->udp_fd < 0)
		return -err.code;
	setsockopt(v->p->udp_fd, six ? IPPROTO_IPV6 : IPPROTO_IP,
		   six ? IPV6_RECVPKTINFO : IP_PKTINFO, &on, sizeof(on));
	socklen_t len = socket_address(&a, l->w->family, NULL, l->w->listen_ports[0]);
	if (bind(v->p->udp_fd, (struct sockaddr *)&a, len))
		return -errno;
	return pair_loop_watch(l, v->p->udp_fd, EPOLLIN, &v->datagrams);
}

static int server_open(struct pair_loop *l)
{
	struct server *v = l->own;
	int r = pair_loop_watch(l, l->w->listen_fds[0], EPOLLIN, &v->listening);
	if (!r && listen(l->w->listen_fds[0], SERVER_BACKLOG))
		r = -errno;
	return !r && l->script->udp ? open_datagrams(l) : r;
}

/* Datagrams may still be on the way when the client has ended. */
static bool server_over(const struct pair_loop *l, int64_t closed_ns)
{
	const struct server *v = l->own;
	int64_t now = clock_now_ns(), quiet = SERVER_QUIET;
	if (3 * v->p->delay_max > quiet)
		quiet = 3 * v->p->delay_max;
	if (worker_over(l->w))
		return true;
	if (!v->closed || v->open)
		return v->closed && now - closed_ns > SERVER_DRAIN;
	if (!l->script->udp || now - closed_ns > SERVER_DRAIN)
		return true;
	int64_t last = v->heard_ns > closed_ns ? v->heard_ns : closed_ns;
	return now - last > quiet;
}

void pairs_server(struct crew *c)
{
	struct pairs *p = c->streams->own;
	struct pair_loop l;
	int64_t closed_ns = 0;
	if (!pairs_descriptors(c->streams, p->script.pairs))
		return;
	struct server *v = mem_zalloc(sizeof(*v));
	int r = pair_loop_init(&l, c, &p->script, &server_role);
	*v =
	    (struct server){.p = p, .listening = {listening_ready}, .datagrams = {datagrams_ready}};
	l.own = v;
	if (!r)
		r = server_open(&l);
	if (r)
		run_fail(c->streams, -r, "opening the server's sockets");
	while (!r && !v->broken && !server_over(&l, closed_ns)) {
		pair_loop_turn(&l, clock_now_ns() + SERVER_IDLE);
		if (v->closed && !closed_ns)
			closed_ns = clock_now_ns();
	}
	if (v->broken)
		run_fail(c->streams, v->broken, "accepting a connection");
	while (v->open)
		connection_end(&l, &v->open->end);
	for (int i = 0; i < p->script.pairs; i++)
		if (p->flows[i])
			pair_flow_settle(p->flows[i]);
	pair_loop_done(&l);
	free(v);
}
