/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pair_client: E1 of all pairs, in one thread: connections, timing records, datagrams, and when the
 * run is over. Called as the crew of the engine `pairs`.
 *
 * At most PAIR_CONNECTING connections are under way at a time, so that 10,000 pairs that begin
 * together do not overflow the server's queue. Before all, one connection is made that lasts as
 * long as the run: its end tells the server that all is over.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "core/base/clock.h"
#include "core/base/str.h"
#include "core/base/units.h"
#include "core/engine/packet.h"
#include "core/engine/pairs.h"

#define PAIR_CONNECTING 256
#define PAIR_KEEPER_NS	(5 * NSEC_PER_SEC)
#define PAIR_ASK_NS	(200 * NSEC_PER_MSEC)
#define PAIR_ASKS	25
#define PAIR_CONNECT_NS (10 * NSEC_PER_SEC)

static struct pair *pair_of(struct pair_end *e)
{
	return (struct pair *)e;
}

static int open_socket(struct pair_loop *l, bool datagram)
{
	struct err ignored = ERR_INIT;
	int fd = socket_open(&l->w->spec, datagram, l->w->family, &ignored);
	if (fd < 0)
		return -ignored.code;
	if (socket_bind_client(fd, &l->w->spec, l->w->family, &ignored)) {
		close(fd);
		return -ignored.code;
	}
	if (fcntl(fd, F_SETFL, O_NONBLOCK) ||
	    (connect(fd, (struct sockaddr *)&l->w->peer, l->w->peer_len) && errno != EINPROGRESS)) {
		int code = errno;
		close(fd);
		return -code;
	}
	return fd;
}

static void shut(struct pair_loop *l, struct pair_end *e, bool reset)
{
	if (e->fd < 0)
		return;
	if (reset && e->group->protocol == SCRIPT_TCP)
		socket_abort_on_close(e->fd);
	close(e->fd);
	e->fd = -1;
	pair_loop_forget(l, e);
}

/* One place among those that connect is free. */
static void next_connects(struct pair_loop *l)
{
	struct pairs *p = l->own;
	struct pair_end *e = p->waiting;
	if (!e)
		return;
	p->waiting = e->next;
	if (!p->waiting)
		p->waiting_last = NULL;
	pair_loop_queue(l, e);
}

static void connected(struct pair_loop *l, struct pair *pair)
{
	struct pairs *p = l->own;
	if (!pair->connecting)
		return;
	pair->connecting = false;
	p->connecting--;
	next_connects(l);
}

static enum pair_step client_failed(struct pair_loop *l, struct pair_end *e, int code,
				    const char *what)
{
	struct pairs *p = l->own;
	struct pair *pair = pair_of(e);
	(void)what;
	pair->state = PAIR_FAILED;
	pair->code = code;
	p->failed++;
	e->over = true;
	shut(l, e, true);
	pair_loop_forget(l, e);
	if (pair->connecting)
		connected(l, pair);
	else
		next_connects(l);
	return PAIR_OVER;
}

/* Waits in line, as a list through `next`, which the queue does not use meanwhile. */
static enum pair_step wait_in_line(struct pairs *p, struct pair_end *e)
{
	e->next = NULL;
	if (p->waiting_last)
		p->waiting_last->next = e;
	else
		p->waiting = e;
	p->waiting_last = e;
	return PAIR_WAIT;
}

static enum pair_step connect_begin(struct pair_loop *l, struct pair_end *e)
{
	struct pairs *p = l->own;
	if (p->connecting >= PAIR_CONNECTING)
		return wait_in_line(p, e);
	bool tcp = e->group->protocol == SCRIPT_TCP;
	e->fd = open_socket(l, !tcp);
	if (e->fd < 0)
		return client_failed(l, e, -e->fd, "connecting");
	pair_of(e)->connecting = true;
	pair_of(e)->asked = 0;
	p->connecting++;
	int r = pair_loop_watch(l, e->fd, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, &e->source);
	if (r)
		return client_failed(l, e, -r, "connecting");
	if (tcp) {
		pair_loop_at(l, e, clock_now_ns() + PAIR_CONNECT_NS);
		e->alert = true;
		return PAIR_WAIT;
	}
	return PAIR_ON;
}

static enum pair_step connect_greet(struct pair_loop *l, struct pair_end *e,
				    const struct script_op *op)
{
	struct pair_greeting g = {htobe32(l->w->session),    htobe32(e->pair),
				  htobe32((uint32_t)e->pc),  0,
				  htobe64(e->draws),	     {0},
				  htobe64((uint64_t)l->seed)};
	for (int i = 0; i < SCRIPT_DEPTH; i++)
		g.turns_left[i] = htobe64((uint64_t)e->turns_left[i]);
	ssize_t n = send(e->fd, &g, sizeof(g), MSG_NOSIGNAL | (op->soon ? MSG_MORE : 0));
	if (n != sizeof(g))
		return client_failed(l, e, n < 0 ? errno : EAGAIN, "greeting");
	pair_of(e)->connections++;
	connected(l, pair_of(e));
	e->unheard = false;
	e->left = -1;
	e->pc++;
	return PAIR_ON;
}

static enum pair_step connect_tcp(struct pair_loop *l, struct pair_end *e,
				  const struct script_op *op)
{
	struct pollfd fd = {.fd = e->fd, .events = POLLOUT};
	if (poll(&fd, 1, 0) <= 0) {
		if (clock_now_ns() >= e->due_ns)
			return client_failed(l, e, ETIMEDOUT, "connecting");
		pair_loop_at(l, e, e->due_ns);
		e->alert = true;
		return PAIR_WAIT;
	}
	pair_loop_forget(l, e);
	int code = 0;
	getsockopt(e->fd, SOL_SOCKET, SO_ERROR, &code, &(socklen_t){sizeof(code)});
	return code ? client_failed(l, e, code, "connecting") : connect_greet(l, e, op);
}

static void say(struct pair_loop *l, struct pair_end *e, enum pair_question kind)
{
	char data[SCRIPT_DATAGRAM];
	struct packet p = {.session = l->w->session,
			   .phase = PHASE_HELLO,
			   .number = (uint64_t)kind << 32 | (uint32_t)pair_of(e)->asked++};
	pairs_put(data, l->w->session, e->pair, &p);
	send(e->fd, data, sizeof(data), MSG_NOSIGNAL | MSG_DONTWAIT);
	pair_of(e)->asked_ns = clock_now_ns();
}

static bool answered(struct pair_loop *l, struct pair_end *e, enum pair_question kind)
{
	char data[2048];
	ssize_t n;
	while ((n = recv(e->fd, data, sizeof(data), MSG_DONTWAIT)) >= 0 || errno == ECONNREFUSED) {
		struct packet p;
		if (n == SCRIPT_DATAGRAM && packet_get(data + 12, PACKET_TIMED, &p) &&
		    p.session == l->w->session && p.phase == PHASE_HELLO &&
		    p.number >> 32 == (uint64_t)kind)
			return true;
	}
	return false;
}

/* Asks until there is an answer: a datagram may be lost. */
static enum pair_step ask(struct pair_loop *l, struct pair_end *e, enum pair_question kind)
{
	struct pair *pair = pair_of(e);
	if (answered(l, e, kind)) {
		pair->asked = 0;
		pair->connections += kind == PAIR_HELLO;
		connected(l, pair);
		e->left = -1;
		e->pc++;
		return PAIR_ON;
	}
	if (pair->asked && clock_now_ns() - pair->asked_ns >= PAIR_ASK_NS &&
	    pair->asked >= PAIR_ASKS)
		return client_failed(l, e, ETIMEDOUT, "asking");
	if (!pair->asked || clock_now_ns() - pair->asked_ns >= PAIR_ASK_NS)
		say(l, e, kind);
	pair_loop_at(l, e, pair->asked_ns + PAIR_ASK_NS);
	e->alert = true;
	return PAIR_WAIT;
}

static enum pair_step client_connect(struct pair_loop *l, struct pair_end *e,
				     const struct script_op *op)
{
	if (e->fd < 0)
		return connect_begin(l, e);
	return e->group->protocol == SCRIPT_TCP ? connect_tcp(l, e, op) : ask(l, e, PAIR_HELLO);
}

/* A reset leaves no TIME_WAIT, so that ports do not run out; but it would throw away what the other
 * end has not yet read. */
static enum pair_step client_disconnect(struct pair_loop *l, struct pair_end *e)
{
	shut(l, e, str_eq(l->w->spec.close, "rst") && !e->unheard);
	e->next_ns = 0;
	e->pc++;
	return PAIR_ON;
}

static enum pair_step client_timer(struct pair_loop *l, struct pair_end *e)
{
	struct pair *pair = pair_of(e);
	struct pairs *p = l->own;
	int64_t now = clock_now_ns();
	struct pair_record r = {pair->begun_ns, now, pair->bytes, e->turns ? e->turns : 1};
	e->pc++;
	l->s->packets_all += r.transactions;
	if (r.begin_ns < l->w->win.begin_ns)
		return PAIR_ON;
	pair_stats_add(&pair->stats, &r);
	size_t g = (size_t)(e->group - l->script->groups.v);
	if (!p->times[g])
		p->times[g] = hist_new();
	hist_add(p->times[g], (r.end_ns - r.begin_ns) / r.transactions);
	return PAIR_ON;
}

static void client_complete(struct pair_loop *l, struct pair_end *e)
{
	struct pairs *p = l->own;
	pair_of(e)->state = PAIR_COMPLETE;
	p->complete++;
	e->over = true;
	shut(l, e, !e->unheard);
}

/* A paced datagram's place: those that were missed by more than a gap are given up. */
static bool datagram_due(struct pair_loop *l, struct pair_end *e, const struct script_op *op)
{
	int64_t now = clock_now_ns();
	if (!e->next_ns)
		e->next_ns = now;
	if (now < e->next_ns) {
		pair_loop_at(l, e, e->next_ns);
		return false;
	}
	int64_t late = (now - e->next_ns) / op->gap_ns;
	pair_of(e)->missed += late;
	e->next_ns += (late + 1) * op->gap_ns;
	return true;
}

static ssize_t datagram_send(struct pair_loop *l, struct pair_end *e, const struct script_op *op)
{
	struct pair *pair = pair_of(e);
	int64_t now = clock_now_ns();
	bool measured = now >= l->w->win.begin_ns;
	struct packet p = {.session = l->w->session,
			   .phase = measured ? PHASE_MEASURE : PHASE_WARMUP,
			   .number = (uint64_t)pair->sent,
			   .sent_ns = now};
	size_t size = e->left < op->buffer ? (size_t)e->left : (size_t)op->buffer;
	if (size < SCRIPT_DATAGRAM)
		size = SCRIPT_DATAGRAM;
	pairs_put(l->in, l->w->session, e->pair, &p);
	if (e->group->protocol == SCRIPT_RTP) {
		const struct voip_codec *codec = e->group->voip.codec;
		uint16_t sequence = htobe16((uint16_t)pair->sent);
		uint32_t stamp = htobe32((uint32_t)(now / 125000)); /* 8 kHz */
		l->in[0] = (char)0x80;
		l->in[1] = (char)(codec ? codec->payload_type : 96);
		memcpy(l->in + 2, &sequence, 2);
		memcpy(l->in + 4, &stamp, 4);
	}
	ssize_t n = send(e->fd, l->in, size, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (n >= 0)
		pair->sent += measured;
	return n;
}

static enum pair_step client_datagrams(struct pair_loop *l, struct pair_end *e,
				       const struct script_op *op)
{
	if (e->left < 0) {
		e->left = e->size = pair_draw(l, e, &op->amount);
		if (op->gap_ns && e->next_ns + op->gap_ns < clock_now_ns())
			e->next_ns = 0; /* there was a pause: a new stream */
	}
	for (int i = 0; e->left > 0 && i < 16; i++) {
		if (op->gap_ns && !datagram_due(l, e, op))
			return PAIR_WAIT;
		ssize_t n = datagram_send(l, e, op);
		if (n < 0 && errno == EAGAIN && !op->gap_ns)
			return PAIR_WAIT;
		if (n < 0 && errno != EAGAIN && errno != ECONNREFUSED && errno != EINTR)
			return client_failed(l, e, errno, "sending");
		if (n < 0)
			continue; /* what ICMP said of an earlier one; or no room for a paced one */
		e->left -= n;
		pair_of(e)->bytes += n;
	}
	if (e->left > 0)
		return PAIR_YIELD;
	e->left = -1;
	e->pc++;
	return PAIR_ON;
}

static enum pair_step client_command(struct pair_loop *l, struct pair_end *e,
				     const struct script_op *op)
{
	switch (op->command) {
	case SCRIPT_CONNECT:
		return client_connect(l, e, op);
	case SCRIPT_DISCONNECT:
		return client_disconnect(l, e);
	case SCRIPT_SEND:
		return client_datagrams(l, e, op);
	case SCRIPT_CONFIRM:
		return ask(l, e, PAIR_HEARD);
	case SCRIPT_START:
		pair_of(e)->begun_ns = clock_now_ns();
		pair_of(e)->bytes = e->turns = 0;
		e->pc++;
		return PAIR_ON;
	case SCRIPT_END:
		return client_timer(l, e);
	default:
		client_complete(l, e);
		return PAIR_OVER;
	}
}

static void client_moved(struct pair_loop *l, struct pair_end *e, int64_t bytes)
{
	(void)l;
	pair_of(e)->bytes += bytes;
}

static const struct pair_role client_role = {false, client_command, client_moved, client_failed};

/* The connection that lasts as long as the run. */
static int keep(struct pair_loop *l)
{
	struct pairs *p = l->own;
	struct pair_greeting g = {.session = htobe32(l->w->session),
				  .pair = htobe32(PAIR_KEEPER),
				  .seed = htobe64((uint64_t)l->seed)};
	int64_t deadline = clock_now_ns() + PAIR_KEEPER_NS;
	p->keeper_fd = open_socket(l, false);
	if (p->keeper_fd < 0)
		return -p->keeper_fd;
	struct pollfd fd = {.fd = p->keeper_fd, .events = POLLOUT};
	while (poll(&fd, 1, 50) <= 0)
		if (worker_over(l->w) || clock_now_ns() > deadline)
			return ETIMEDOUT;
	int code = 0;
	getsockopt(p->keeper_fd, SOL_SOCKET, SO_ERROR, &code, &(socklen_t){sizeof(code)});
	if (!code && send(p->keeper_fd, &g, sizeof(g), MSG_NOSIGNAL) != sizeof(g))
		code = errno;
	return code;
}

static void begin_pairs(struct pair_loop *l)
{
	struct pairs *p = l->own;
	int64_t now = clock_now_ns();
	for (int i = 0; i < p->script.pairs; i++) {
		struct pair_end *e = &p->pairs[i].end;
		*e = (struct pair_end){.source = {pair_end_ready},
				       .pair = (uint32_t)i,
				       .fd = -1,
				       .heap_at = -1,
				       .left = -1,
				       .group = script_group_of(&p->script, (uint32_t)i)};
		int64_t delay = pair_draw(l, e, &e->group->initial_delay);
		if (delay > 0)
			pair_loop_at(l, e, now + delay);
		else
			pair_loop_queue(l, e);
	}
}

/* Why the run is over, or NULL. */
static const char *ended(const struct pair_loop *l)
{
	const struct pairs *p = l->own;
	if (worker_over(l->w))
		return "stopped";
	if (p->script.end == SCRIPT_FIRST && p->complete)
		return "first";
	if (p->complete + p->failed == p->script.pairs)
		return "all";
	return clock_now_ns() >= l->w->win.end_ns ? "time" : NULL;
}

static void all_failed(struct pair_loop *l)
{
	const struct pairs *p = l->own;
	const struct pair *first = p->pairs;
	if (p->failed < p->script.pairs || worker_over(l->w))
		return;
	atomic_store(&l->w->failed, true);
	if (!first->code)
		err_fail(&l->s->err, ECONNRESET,
			 "all %d pairs failed; the first: the server "
			 "closed the connection",
			 p->failed);
	else
		err_sys(&l->s->err, first->code, "all %d pairs failed; the first", p->failed);
}

void pairs_client(struct crew *c)
{
	struct pairs *p = c->streams->own;
	struct pair_loop l;
	if (!pairs_descriptors(c->streams, p->script.pairs))
		return;
	int code = -pair_loop_init(&l, c, &p->script, &client_role);
	l.own = p;
	if (!code)
		code = keep(&l);
	p->begun_ns = p->ended_ns = clock_now_ns();
	if (code) {
		run_fail(c->streams, code, "connecting to the server");
	} else {
		begin_pairs(&l);
		while (!(p->ended_by = ended(&l)))
			pair_loop_turn(&l, l.w->win.end_ns);
		p->ended_ns = clock_now_ns();
		window_track_add(&l.s->track, p->ended_ns, 0);
		all_failed(&l);
		for (int i = 0; i < p->script.pairs; i++)
			shut(&l, &p->pairs[i].end, true);
	}
	if (p->keeper_fd >= 0)
		close(p->keeper_fd);
	p->keeper_fd = -1;
	pair_loop_done(&l);
}
