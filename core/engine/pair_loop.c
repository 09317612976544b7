/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pair_loop: the event loop and the commands that are alike at both ends. Called by pair_client.c
 * and pair_server.c in their threads; it makes no connection and keeps no results.
 */
#include "core/engine/pair_loop.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/base/units.h"

#define PAIR_EVENTS 256
#define PAIR_TURN   16		/* commands or writes, then another pair */
#define PAIR_CHUNK  (256 << 10) /* one read or write at most */
#define PAIR_SLICE  (20 * NSEC_PER_MSEC)
#define PAIR_LATE   NSEC_PER_MSEC /* what a paced sender that is late makes up for */

/* The heap of those that wait for a time. */
static void heap_put(struct pair_loop *l, int at, struct pair_end *e)
{
	l->heap[at] = e;
	e->heap_at = at;
}

static void heap_up(struct pair_loop *l, int at, struct pair_end *e)
{
	for (; at && l->heap[(at - 1) / 2]->due_ns > e->due_ns; at = (at - 1) / 2)
		heap_put(l, at, l->heap[(at - 1) / 2]);
	heap_put(l, at, e);
}

static void heap_down(struct pair_loop *l, int at, struct pair_end *e)
{
	for (;;) {
		int child = 2 * at + 1;
		if (child + 1 < l->heap_n && l->heap[child + 1]->due_ns < l->heap[child]->due_ns)
			child++;
		if (child >= l->heap_n || l->heap[child]->due_ns >= e->due_ns)
			break;
		heap_put(l, at, l->heap[child]);
		at = child;
	}
	heap_put(l, at, e);
}

void pair_loop_forget(struct pair_loop *l, struct pair_end *e)
{
	int at = e->heap_at;
	e->heap_at = -1;
	e->alert = false;
	if (at < 0 || at == --l->heap_n)
		return;
	struct pair_end *moved = l->heap[l->heap_n];
	if (at && l->heap[(at - 1) / 2]->due_ns > moved->due_ns)
		heap_up(l, at, moved);
	else
		heap_down(l, at, moved);
}

void pair_loop_at(struct pair_loop *l, struct pair_end *e, int64_t due_ns)
{
	pair_loop_forget(l, e);
	if (l->heap_n == l->heap_cap) {
		l->heap_cap = l->heap_cap * 2 + 64;
		l->heap = mem_realloc(l->heap, (size_t)l->heap_cap * sizeof(*l->heap));
	}
	e->due_ns = due_ns;
	heap_up(l, l->heap_n++, e);
}

void pair_loop_queue(struct pair_loop *l, struct pair_end *e)
{
	if (e->queued)
		return;
	e->queued = true;
	e->next = NULL;
	if (l->last)
		l->last->next = e;
	else
		l->first = e;
	l->last = e;
}

int pair_loop_watch(struct pair_loop *l, int fd, uint32_t events, struct pair_source *s)
{
	struct epoll_event e = {.events = events, .data.ptr = s};
	return epoll_ctl(l->epoll_fd, EPOLL_CTL_ADD, fd, &e) ? -errno : 0;
}

static void over_ready(struct pair_loop *l, struct pair_source *s, uint32_t events)
{
	(void)l;
	(void)s;
	(void)events;
}

static struct pair_source over_source = {over_ready};

int pair_loop_init(struct pair_loop *l, struct crew *c, const struct script *script,
		   const struct pair_role *role)
{
	int64_t most = PAIR_CHUNK;
	*l = (struct pair_loop){
	    .w = c->w, .s = c->streams, .script = script, .role = role, .seed = c->w->spec.seed};
	l->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (l->epoll_fd < 0)
		return -errno;
	l->in_size = (size_t)most;
	l->in = mem_zalloc(l->in_size);
	l->pattern = mem_zalloc(l->in_size + PAIR_PATTERN);
	for (size_t i = 0; i < l->in_size + PAIR_PATTERN; i++)
		l->pattern[i] = (char)(i % PAIR_PATTERN);
	return pair_loop_watch(l, c->w->over_fd, EPOLLIN, &over_source);
}

void pair_loop_done(struct pair_loop *l)
{
	if (l->epoll_fd >= 0)
		close(l->epoll_fd);
	free(l->heap);
	free(l->in);
	free(l->pattern);
}

int64_t pair_draw(struct pair_loop *l, struct pair_end *e, const struct script_amount *a)
{
	return script_draw(a, l->seed, e->pair, script_random(a) ? e->draws++ : 0);
}

/* What a transfer, a sleep or a confirmation needs when it is done. */
static enum pair_step end_next(struct pair_end *e)
{
	e->left = -1;
	e->pc++;
	return PAIR_ON;
}

static void end_begin(struct pair_loop *l, struct pair_end *e, const struct script_op *op)
{
	if (e->left >= 0)
		return;
	e->left = e->size = pair_draw(l, e, &op->amount);
	if (op->gap_ns && e->next_ns < clock_now_ns() - PAIR_LATE)
		e->next_ns = 0;
}

/* A paced write is due, or waited for. */
static bool end_due(struct pair_loop *l, struct pair_end *e)
{
	int64_t now = clock_now_ns();
	if (now < e->next_ns) {
		pair_loop_at(l, e, e->next_ns);
		return false;
	}
	if (e->next_ns < now - PAIR_LATE)
		e->next_ns = e->next_ns ? now - PAIR_LATE : now;
	return true;
}

static size_t end_part(const struct pair_loop *l, const struct pair_end *e,
		       const struct script_op *op)
{
	int64_t part = e->left < op->buffer ? e->left : op->buffer;
	return part < (int64_t)l->in_size ? (size_t)part : l->in_size;
}

static enum pair_step end_send(struct pair_loop *l, struct pair_end *e, const struct script_op *op)
{
	end_begin(l, e, op);
	e->unheard = true;
	for (int i = 0; e->left > 0 && i < PAIR_TURN; i++) {
		if (op->gap_ns && !end_due(l, e))
			return PAIR_WAIT;
		ssize_t n = send(e->fd, l->pattern + (e->size - e->left) % PAIR_PATTERN,
				 end_part(l, e, op), MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0 && errno == EAGAIN)
			return PAIR_WAIT;
		if (n < 0 && errno != EINTR)
			return l->role->failed(l, e, errno, "sending");
		if (n <= 0)
			continue;
		e->left -= n;
		if (op->gap_ns)
			e->next_ns += op->gap_ns * n / op->buffer;
		l->role->moved(l, e, n);
	}
	return e->left > 0 ? PAIR_YIELD : end_next(e);
}

static bool end_valid(const struct pair_loop *l, const struct pair_end *e, ssize_t n)
{
	int64_t at = (e->size - e->left) % PAIR_PATTERN;
	return !e->group->validate || !memcmp(l->in, l->pattern + at, (size_t)n);
}

static enum pair_step end_receive(struct pair_loop *l, struct pair_end *e,
				  const struct script_op *op)
{
	end_begin(l, e, op);
	for (int i = 0; e->left > 0 && i < PAIR_TURN; i++) {
		ssize_t n = recv(e->fd, l->in, end_part(l, e, op), MSG_DONTWAIT);
		if (n < 0 && errno == EAGAIN)
			return PAIR_WAIT;
		if (n == 0 || (n < 0 && errno != EINTR))
			return l->role->failed(l, e, n ? errno : 0, "receiving");
		if (n < 0)
			continue;
		if (!end_valid(l, e, n))
			return l->role->failed(l, e, EBADMSG, "what came is not what was sent");
		window_track_add(&l->s->track, clock_now_ns(), n);
		e->left -= n;
		l->role->moved(l, e, n);
	}
	if (e->left > 0)
		return PAIR_YIELD;
	e->unheard = false;
	return end_next(e);
}

/* By TCP: one byte from E2 to E1. */
static enum pair_step end_confirm(struct pair_loop *l, struct pair_end *e)
{
	char byte = 1;
	ssize_t n;
	do
		n = l->role->server ? send(e->fd, &byte, 1, MSG_NOSIGNAL | MSG_DONTWAIT)
				    : recv(e->fd, &byte, 1, MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	if (n < 0 && errno == EAGAIN)
		return PAIR_WAIT;
	if (n != 1)
		return l->role->failed(l, e, n ? errno : 0, "waiting for the confirmation");
	e->unheard = false;
	return end_next(e);
}

static enum pair_step end_sleep(struct pair_loop *l, struct pair_end *e, const struct script_op *op)
{
	if (e->left >= 0)
		return end_next(e);
	int64_t time = pair_draw(l, e, &op->amount);
	if (op->at_e2 != l->role->server || time <= 0)
		return end_next(e);
	e->left = 0;
	pair_loop_at(l, e, clock_now_ns() + time);
	return PAIR_WAIT;
}

static enum pair_step end_loop(struct pair_loop *l, struct pair_end *e, const struct script_op *op)
{
	e->turns_left[op->depth] = op->amount.max ? pair_draw(l, e, &op->amount) : INT64_MAX;
	e->pc++;
	return PAIR_ON;
}

static enum pair_step end_turn(struct pair_end *e, const struct script_op *op)
{
	const struct script_op *loop = &e->group->ops.v[op->other];
	e->turns += loop->turns;
	e->pc = --e->turns_left[loop->depth] > 0 ? op->other + 1 : e->pc + 1;
	return PAIR_ON;
}

static enum pair_step end_step(struct pair_loop *l, struct pair_end *e, const struct script_op *op)
{
	bool tcp = e->group->protocol == SCRIPT_TCP;
	switch (op->command) {
	case SCRIPT_SEND:
		if (tcp)
			return l->role->server ? end_receive(l, e, op) : end_send(l, e, op);
		break;
	case SCRIPT_RECEIVE:
		return l->role->server ? end_send(l, e, op) : end_receive(l, e, op);
	case SCRIPT_CONFIRM:
		if (tcp)
			return end_confirm(l, e);
		break;
	case SCRIPT_SLEEP:
		return end_sleep(l, e, op);
	case SCRIPT_LOOP:
		return end_loop(l, e, op);
	case SCRIPT_NEXT:
		return end_turn(e, op);
	default:
		break;
	}
	return l->role->command(l, e, op);
}

static void end_run(struct pair_loop *l, struct pair_end *e)
{
	static const struct script_op greeting = {.command = SCRIPT_CONNECT};
	enum pair_step step = PAIR_ON;
	for (int i = 0; i < 4 * PAIR_TURN && step == PAIR_ON; i++)
		step = e->group ? end_step(l, e, &e->group->ops.v[e->pc])
				: l->role->command(l, e, &greeting);
	if (step == PAIR_ON || step == PAIR_YIELD)
		pair_loop_queue(l, e);
}

void pair_end_ready(struct pair_loop *l, struct pair_source *s, uint32_t events)
{
	struct pair_end *e = (struct pair_end *)s;
	(void)events;
	if (e->heap_at >= 0 && !e->alert)
		return; /* it looks at its socket when its time has come */
	pair_loop_forget(l, e);
	pair_loop_queue(l, e);
}

static int loop_wait(struct pair_loop *l, struct epoll_event *events, int64_t until_ns)
{
	int64_t now = clock_now_ns(), next = now + PAIR_SLICE;
	if (l->first)
		next = now;
	if (l->heap_n && l->heap[0]->due_ns < next)
		next = l->heap[0]->due_ns;
	if (until_ns < next)
		next = until_ns;
	int64_t left = next > now ? next - now : 0;
	struct timespec ts = {left / NSEC_PER_SEC, left % NSEC_PER_SEC};
	int n = epoll_pwait2(l->epoll_fd, events, PAIR_EVENTS, &ts, NULL);
	if (n < 0 && errno == ENOSYS) /* before Linux 5.11 */
		n = epoll_wait(l->epoll_fd, events, PAIR_EVENTS,
			       (int)((left + NSEC_PER_MSEC - 1) / NSEC_PER_MSEC));
	return n;
}

void pair_loop_turn(struct pair_loop *l, int64_t until_ns)
{
	struct epoll_event events[PAIR_EVENTS];
	int n = loop_wait(l, events, until_ns);
	for (int i = 0; i < n; i++) {
		struct pair_source *s = events[i].data.ptr;
		s->ready(l, s, events[i].events);
	}
	int64_t now = clock_now_ns();
	while (l->heap_n && l->heap[0]->due_ns <= now) {
		struct pair_end *e = l->heap[0];
		pair_loop_forget(l, e);
		pair_loop_queue(l, e);
	}
	/* Those that queue up again meanwhile have their turn next time. */
	struct pair_end *e = l->first;
	l->first = l->last = NULL;
	while (e) {
		struct pair_end *next = e->next;
		e->queued = false;
		end_run(l, e);
		e = next;
	}
}
