/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * udp_rr: request and response over UDP, one outstanding on each socket, blocking, no busy wait.
 *
 * A loss must neither stop the exchange nor go unseen: each request carries a number that the
 * answer repeats (as many of its 8 bytes as both have room for), and a request that is not answered
 * within a timeout made like TCP's (RFC 6298, 10 ms to 1 s) is given up. An answer that comes later
 * still counts, with its true time, and as late; only what is never answered is lost.
 */
#include <endian.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "core/base/clock.h"
#include "core/base/units.h"
#include "core/engine/packet.h"
#include "core/engine/rr.h"

#define UDP_RR_MAX	65507
#define UDP_RR_TIMEOUT	NSEC_PER_SEC /* the longest, and the first */
#define UDP_RR_SHORTEST (10 * NSEC_PER_MSEC)
#define UDP_RR_OPEN	256 /* requests that are remembered; one byte tells them apart */
#define UDP_RR_LINGER	(200 * NSEC_PER_MSEC)

struct udp_rr {
	struct stream *s;
	uint64_t id, mask; /* of the request that is out; bits that travel */
	size_t id_bytes;
	struct {
		uint64_t id;
		int64_t sent_ns; /* 0: answered, or never used */
	} open[UDP_RR_OPEN];
	int64_t mean_ns, spread_ns; /* smoothed round trip and its variation */
	int64_t timeout_ns, set_ns; /* wanted, and what the socket has */
};

static int udp_rr_check(const struct engine_spec *s, struct err *err)
{
	if (!s->size || s->size > UDP_RR_MAX)
		return err_input(err, "size: a datagram has 1 to %d bytes", UDP_RR_MAX);
	if (s->response_size > UDP_RR_MAX)
		return err_input(err, "response_size: a datagram has 1 to %d bytes", UDP_RR_MAX);
	return 0;
}

static size_t udp_rr_id_bytes(const struct engine_spec *s)
{
	int64_t least = s->size < s->response_size ? s->size : s->response_size;
	return least < 8 ? (size_t)least : 8;
}

static void udp_rr_set_timeout(struct udp_rr *u)
{
	if (u->timeout_ns <= u->set_ns * 5 / 4 && u->timeout_ns >= u->set_ns * 3 / 4)
		return;
	struct timeval tv = {u->timeout_ns / NSEC_PER_SEC, u->timeout_ns % NSEC_PER_SEC / 1000};
	setsockopt(u->s->fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	u->set_ns = u->timeout_ns;
}

/* RFC 6298, section 2. */
static void udp_rr_learn(struct udp_rr *u, int64_t round)
{
	if (!u->mean_ns) {
		u->mean_ns = round;
		u->spread_ns = round / 2;
	} else {
		int64_t off = round > u->mean_ns ? round - u->mean_ns : u->mean_ns - round;
		u->spread_ns += (off - u->spread_ns) / 4;
		u->mean_ns += (round - u->mean_ns) / 8;
	}
	int64_t t = u->mean_ns + 4 * u->spread_ns;
	u->timeout_ns = t < UDP_RR_SHORTEST  ? UDP_RR_SHORTEST
			: t > UDP_RR_TIMEOUT ? UDP_RR_TIMEOUT
					     : t;
	udp_rr_set_timeout(u);
}

/* Whether a request given up counts: it was made inside the window. */
static bool udp_rr_lost(const struct udp_rr *u, size_t slot)
{
	const struct window *win = &u->s->w->win;
	int64_t sent = u->open[slot].sent_ns;
	return sent >= win->begin_ns && sent < win->end_ns;
}

static bool udp_rr_send(struct udp_rr *u, int64_t now)
{
	struct rr *rr = u->s->own;
	size_t slot = ++u->id % UDP_RR_OPEN;
	rr->lost += udp_rr_lost(u, slot);
	u->open[slot].id = u->id & u->mask;
	u->open[slot].sent_ns = now;
	uint64_t wire = htole64(u->id);
	memcpy(rr->request, &wire, u->id_bytes);
	while (send(u->s->fd, rr->request, (size_t)u->s->w->spec.size, MSG_NOSIGNAL) < 0)
		if (errno != EINTR) {
			run_fail(u->s, errno, "sending");
			return false;
		}
	return true;
}

static bool udp_rr_is_hello(const struct stream *s, const char *data, ssize_t n)
{
	struct packet p;
	return n == PACKET_MIN && packet_get(data, (size_t)n, &p) && p.session == s->w->session &&
	       p.phase == PHASE_HELLO;
}

/* An answer: true when it is to the request that is out. */
static bool udp_rr_take(struct udp_rr *u, ssize_t n, int64_t now)
{
	struct rr *rr = u->s->own;
	if (n != u->s->w->spec.response_size || udp_rr_is_hello(u->s, rr->response, n))
		return false;
	uint64_t wire = 0;
	memcpy(&wire, rr->response, u->id_bytes);
	uint64_t id = le64toh(wire);
	size_t slot = id % UDP_RR_OPEN;
	int64_t sent = u->open[slot].sent_ns;
	if (!sent || u->open[slot].id != id)
		return false; /* a duplicate, or given up long ago */
	bool current = id == (u->id & u->mask);
	u->open[slot].sent_ns = 0;
	rr->late += !current && sent >= u->s->w->win.begin_ns;
	rr_count(u->s, now, now - sent);
	udp_rr_learn(u, now - sent);
	return current;
}

/* Receives until the current request is answered (the time of that), or given up; 0: the stream is
 * over. */
static int64_t udp_rr_receive(struct udp_rr *u, int64_t sent)
{
	struct rr *rr = u->s->own;
	size_t room = (size_t)u->s->w->spec.response_size + 1;
	for (;;) {
		ssize_t n = recv(u->s->fd, rr->response, room, 0);
		int code = n < 0 ? errno : 0;
		int64_t now = clock_now_ns();
		if (worker_over(u->s->w))
			return 0;
		if (n >= 0 && udp_rr_take(u, n, now))
			return now;
		if (n < 0 && code != EAGAIN && code != EINTR) {
			run_fail(u->s, code, "receiving");
			return 0;
		}
		if (now - sent >= u->set_ns) {
			u->timeout_ns =
			    u->timeout_ns * 2 < UDP_RR_TIMEOUT ? u->timeout_ns * 2 : UDP_RR_TIMEOUT;
			udp_rr_set_timeout(u);
			return now;
		}
	}
}

static bool udp_rr_waiting(const struct udp_rr *u)
{
	for (size_t slot = 0; slot < UDP_RR_OPEN; slot++)
		if (udp_rr_lost(u, slot))
			return true;
	return false;
}

/* After the end: what is still on its way may come; the rest is lost. */
static void udp_rr_finish(struct udp_rr *u)
{
	struct rr *rr = u->s->own;
	u->timeout_ns = UDP_RR_SHORTEST;
	udp_rr_set_timeout(u);
	int64_t until = u->s->w->win.end_ns + UDP_RR_LINGER, now = clock_now_ns();
	while (now < until && udp_rr_waiting(u) && !worker_over(u->s->w)) {
		ssize_t n =
		    recv(u->s->fd, rr->response, (size_t)u->s->w->spec.response_size + 1, 0);
		now = clock_now_ns();
		if (n >= 0)
			udp_rr_take(u, n, now);
	}
	for (size_t slot = 0; slot < UDP_RR_OPEN; slot++)
		rr->lost += udp_rr_lost(u, slot);
}

static void udp_rr_ask(struct stream *s)
{
	struct udp_rr u = {.s = s, .timeout_ns = UDP_RR_TIMEOUT};
	u.id_bytes = udp_rr_id_bytes(&s->w->spec);
	u.mask = u.id_bytes == 8 ? UINT64_MAX : (UINT64_C(1) << (8 * u.id_bytes)) - 1;
	udp_rr_set_timeout(&u);
	int64_t now = clock_now_ns();
	while (now && now < s->w->win.end_ns)
		now = udp_rr_send(&u, now) ? udp_rr_receive(&u, now) : 0;
	udp_rr_finish(&u);
}

static void udp_rr_reply(struct stream *s, ssize_t n)
{
	struct rr *rr = s->own;
	if (udp_rr_is_hello(s, rr->request, n)) { /* the answer to the first one was lost */
		send(s->fd, rr->request, (size_t)n, MSG_NOSIGNAL);
		return;
	}
	if (n != s->w->spec.size)
		return;
	memcpy(rr->response, rr->request, udp_rr_id_bytes(&s->w->spec));
	if (send(s->fd, rr->response, (size_t)s->w->spec.response_size, MSG_NOSIGNAL) < 0)
		return; /* lost like any other datagram: the client notices */
	window_track_add(&s->track, clock_now_ns(), 1);
	s->packets_all++;
}

static void udp_rr_answer(struct stream *s)
{
	struct rr *rr = s->own;
	while (!worker_over(s->w)) {
		ssize_t n = recv(s->fd, rr->request, (size_t)s->w->spec.size + 32, 0);
		if (n > 0)
			udp_rr_reply(s, n);
		else if (n < 0 && errno != EINTR && errno != ECONNREFUSED) {
			run_fail(s, errno, "receiving");
			return;
		}
	}
}

static const char *const udp_rr_aliases[] = {"udp_lat", NULL};

const struct engine_def udp_rr_engine = {
    .test = TEST_UDP_RR,
    .name = "udp_rr",
    .aliases = udp_rr_aliases,
    .datagram = true,
    .headline_client = true,
    .unit = UNIT_TRANSACTIONS,
    .linger_ns = UDP_RR_LINGER + 50 * NSEC_PER_MSEC,
    .defaults = rr_defaults,
    .check = udp_rr_check,
    .prepare = rr_prepare,
    .body = {udp_rr_answer, udp_rr_ask},
    .release = rr_release,
    .report = rr_report,
    .merge = rr_merge,
};
