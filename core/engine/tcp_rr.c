/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tcp_rr: request and response over TCP. Here is the loop of a thread that has one connection and
 * one request on the way: one clock reading a transaction, as the end of one is the beginning of
 * the next. tcp_rr_events.c has all others.
 */
#include "core/engine/tcp_rr.h"

#include <errno.h>
#include <sys/socket.h>

#include "core/base/clock.h"
#include "core/engine/rr.h"

/* A large request leaves in one call where it is not larger than this. */
#define TCP_RR_ROOM_MIN (64 << 10)
#define TCP_RR_ROOM_MAX (4 << 20)

/* Bytes that a thread's buffer has. */
static size_t tcp_rr_room(const struct engine_spec *s)
{
	int64_t most = s->size > s->response_size ? s->size : s->response_size;
	return most < TCP_RR_ROOM_MIN	? TCP_RR_ROOM_MIN
	       : most > TCP_RR_ROOM_MAX ? TCP_RR_ROOM_MAX
					: (size_t)most;
}

static bool tcp_rr_send(struct stream *s, const struct rr *rr, int64_t size)
{
	while (size > 0) {
		size_t more = size < (int64_t)rr->room ? (size_t)size : rr->room;
		ssize_t n = send(s->fd, rr->data, more, MSG_NOSIGNAL);
		if (n < 0 && errno != EINTR) {
			run_fail(s, errno, "sending");
			return false;
		}
		size -= n > 0 ? n : 0;
	}
	return true;
}

static bool tcp_rr_receive(struct stream *s, const struct rr *rr, int64_t size)
{
	while (size > 0) {
		size_t more = size < (int64_t)rr->room ? (size_t)size : rr->room;
		ssize_t n = rr_receive(s, rr->data, more);
		if (n == 0 || (n < 0 && errno != EINTR)) {
			run_fail(s, n ? errno : 0, "receiving");
			return false;
		}
		size -= n > 0 ? n : 0;
	}
	return true;
}

static void tcp_rr_ask(struct crew *c, struct rr *rr)
{
	struct stream *s = c->streams;
	int64_t size = c->w->spec.size, response = c->w->spec.response_size;
	int64_t timeout = c->w->spec.timeout_ns ? c->w->spec.timeout_ns : INT64_MAX;
	int64_t end = c->w->win.end_ns, before = clock_now_ns();
	while (before < end) {
		if (!tcp_rr_send(s, rr, size) || !tcp_rr_receive(s, rr, response))
			return;
		int64_t now = clock_now_ns();
		rr_count(c, now, now - before);
		rr->late += now - before > timeout && before >= c->w->win.begin_ns;
		before = now;
	}
}

static void tcp_rr_answer(struct crew *c, struct rr *rr)
{
	struct stream *s = c->streams;
	int64_t size = c->w->spec.size, response = c->w->spec.response_size;
	while (!worker_over(c->w)) {
		if (!tcp_rr_receive(s, rr, size) || !tcp_rr_send(s, rr, response))
			return;
		rr_add(c, clock_now_ns());
	}
}

static void tcp_rr_client(struct crew *c)
{
	struct rr *rr = rr_open(c, tcp_rr_room(&c->w->spec));
	if (rr_is_single(c))
		tcp_rr_ask(c, rr);
	else
		tcp_rr_events(c, rr);
	rr_close(rr);
}

static void tcp_rr_server(struct crew *c)
{
	struct rr *rr = rr_open(c, tcp_rr_room(&c->w->spec));
	if (rr_is_single(c))
		tcp_rr_answer(c, rr);
	else
		tcp_rr_events(c, rr);
	rr_close(rr);
}

static const char *const tcp_rr_aliases[] = {"tcp_lat", "response_time", NULL};

const struct engine_def tcp_rr_engine = {
    .test = TEST_TCP_RR,
    .name = "tcp_rr",
    .aliases = tcp_rr_aliases,
    .headline_client = true,
    .unit = UNIT_TRANSACTIONS,
    .defaults = rr_defaults,
    .check = rr_check,
    .crew = {tcp_rr_server, tcp_rr_client},
    .report = rr_report,
    .merge = rr_merge,
};
