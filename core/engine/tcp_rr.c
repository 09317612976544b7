/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tcp_rr: request and response over TCP, one outstanding on each connection, blocking, no busy
 * wait. One clock reading a transaction: the end of one is the beginning of the next.
 */
#include <errno.h>
#include <sys/socket.h>

#include "core/base/clock.h"
#include "core/engine/rr.h"

static int tcp_rr_check(const struct engine_spec *s, struct err *err)
{
	return s->size ? 0 : err_input(err, "size: a request has at least 1 byte");
}

static bool tcp_rr_send(struct stream *s, const char *data, int64_t size)
{
	while (size > 0) {
		ssize_t n = send(s->fd, data, (size_t)size, MSG_NOSIGNAL);
		if (n < 0 && errno != EINTR) {
			run_fail(s, errno, "sending");
			return false;
		}
		size -= n > 0 ? n : 0;
	}
	return true;
}

static bool tcp_rr_receive(struct stream *s, char *data, int64_t size)
{
	while (size > 0) {
		ssize_t n = recv(s->fd, data, (size_t)size, 0);
		if (n == 0 || (n < 0 && errno != EINTR)) {
			run_fail(s, n ? errno : 0, "receiving");
			return false;
		}
		size -= n > 0 ? n : 0;
	}
	return true;
}

static void tcp_rr_ask(struct stream *s)
{
	struct rr *rr = s->own;
	int64_t size = s->w->spec.size, response = s->w->spec.response_size;
	int64_t end = s->w->win.end_ns, before = clock_now_ns();
	while (before < end) {
		if (!tcp_rr_send(s, rr->request, size) ||
		    !tcp_rr_receive(s, rr->response, response))
			return;
		int64_t now = clock_now_ns();
		rr_count(s, now, now - before);
		before = now;
	}
}

static void tcp_rr_answer(struct stream *s)
{
	struct rr *rr = s->own;
	int64_t size = s->w->spec.size, response = s->w->spec.response_size;
	while (!worker_over(s->w)) {
		if (!tcp_rr_receive(s, rr->request, size) ||
		    !tcp_rr_send(s, rr->response, response))
			return;
		window_track_add(&s->track, clock_now_ns(), 1);
		s->packets_all++;
	}
}

static const char *const tcp_rr_aliases[] = {"tcp_lat", "response_time", NULL};

const struct engine_def tcp_rr_engine = {
    .test = TEST_TCP_RR,
    .name = "tcp_rr",
    .aliases = tcp_rr_aliases,
    .headline_client = true,
    .unit = UNIT_TRANSACTIONS,
    .defaults = rr_defaults,
    .check = tcp_rr_check,
    .prepare = rr_prepare,
    .body = {tcp_rr_answer, tcp_rr_ask},
    .release = rr_release,
    .report = rr_report,
    .merge = rr_merge,
};
