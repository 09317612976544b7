/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * udp_rr: request and response over UDP. Here is what a request is, and the loop of a thread that
 * has one connection and one request on the way; udp_rr_events.c has all others.
 *
 * A loss must neither stop the exchange nor go unseen: each request carries a number that the
 * answer repeats (as many of its 8 bytes as both have room for), and a request that is not answered
 * within a timeout is given up: spec.timeout_ns, or one made like TCP's (RFC 6298, 10 ms to 1 s)
 * for each connection. An answer that comes later still counts, with its true time, and as late;
 * only what is never answered is lost.
 */
#include "core/engine/udp_rr.h"

#include <endian.h>
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "core/base/clock.h"
#include "core/base/units.h"
#include "core/engine/packet.h"

#define UDP_RR_MAX	65507
#define UDP_RR_TIMEOUT	NSEC_PER_SEC /* the longest, and the first */
#define UDP_RR_SHORTEST (10 * NSEC_PER_MSEC)

static size_t udp_rr_id_bytes(const struct engine_spec *s)
{
	int64_t least = s->size < s->response_size ? s->size : s->response_size;
	return least < 8 ? (size_t)least : 8;
}

static unsigned udp_rr_lane_bits(const struct engine_spec *s)
{
	unsigned bits = 0;
	while (1 << bits < s->outstanding)
		bits++;
	return bits;
}

static int udp_rr_check(const struct engine_spec *s, struct err *err)
{
	int r = rr_check(s, err);
	if (r)
		return r;
	if (s->size > UDP_RR_MAX)
		return err_input(err, "size: a datagram has 1 to %d bytes", UDP_RR_MAX);
	if (s->response_size > UDP_RR_MAX)
		return err_input(err, "response_size: a datagram has 1 to %d bytes", UDP_RR_MAX);
	if ((UDP_RR_DEPTH << udp_rr_lane_bits(s)) > 1 << 8 && udp_rr_id_bytes(s) == 1)
		return err_input(err,
				 "outstanding: one byte does not tell the answers to %d requests "
				 "apart, only to 16; make size and response_size at least 2",
				 s->outstanding);
	return 0;
}

static size_t udp_rr_room(const struct engine_spec *s)
{
	int64_t most = s->size > s->response_size ? s->size : s->response_size;
	return (size_t)most + 64; /* one that is longer than expected must be seen as such */
}

static void udp_rr_init(struct udp_rr *u, struct crew *c, struct rr *rr)
{
	*u = (struct udp_rr){.c = c, .rr = rr, .fixed_ns = c->w->spec.timeout_ns};
	u->id_bytes = udp_rr_id_bytes(&c->w->spec);
	u->mask = u->id_bytes == 8 ? UINT64_MAX : (UINT64_C(1) << (8 * u->id_bytes)) - 1;
	u->lane_bits = udp_rr_lane_bits(&c->w->spec);
}

void udp_rr_conn_init(const struct udp_rr *u, struct udp_rr_conn *k, struct stream *s)
{
	k->s = s;
	k->timeout_ns = u->fixed_ns ? u->fixed_ns : UDP_RR_TIMEOUT;
}

/* RFC 6298, section 2. */
static void udp_rr_learn(const struct udp_rr *u, struct udp_rr_conn *k, int64_t round)
{
	if (u->fixed_ns)
		return;
	if (!k->mean_ns) {
		k->mean_ns = round;
		k->spread_ns = round / 2;
	} else {
		int64_t off = round > k->mean_ns ? round - k->mean_ns : k->mean_ns - round;
		k->spread_ns += (off - k->spread_ns) / 4;
		k->mean_ns += (round - k->mean_ns) / 8;
	}
	int64_t t = k->mean_ns + 4 * k->spread_ns;
	k->timeout_ns = t < UDP_RR_SHORTEST  ? UDP_RR_SHORTEST
			: t > UDP_RR_TIMEOUT ? UDP_RR_TIMEOUT
					     : t;
}

/* Would it count that a request made then is never answered? It was made inside the window. */
static bool udp_rr_counts(const struct udp_rr *u, int64_t sent_ns)
{
	const struct window *win = &u->c->w->win;
	return sent_ns >= win->begin_ns && sent_ns < win->end_ns;
}

int udp_rr_ask(struct udp_rr *u, struct udp_rr_conn *k, int lane, int64_t now, int flags)
{
	struct udp_rr_lane *l = &k->lanes[lane];
	uint64_t id = (l->generation + 1) << u->lane_bits | (uint64_t)lane, wire = htole64(id);
	memcpy(u->rr->data, &wire, u->id_bytes);
	while (send(k->s->fd, u->rr->data, (size_t)u->c->w->spec.size, MSG_NOSIGNAL | flags) < 0)
		if (errno != EINTR)
			return -errno;
	size_t slot = ++l->generation % UDP_RR_DEPTH;
	u->rr->lost += udp_rr_counts(u, l->past[slot].sent_ns);
	l->past[slot].id = id & u->mask;
	l->past[slot].sent_ns = now;
	l->out = true;
	l->due_ns = now + k->timeout_ns;
	return 0;
}

static bool udp_rr_is_hello(const struct stream *s, const char *data, ssize_t n)
{
	struct packet p;
	return n == PACKET_MIN && packet_get(data, (size_t)n, &p) && p.session == s->w->session &&
	       p.phase == PHASE_HELLO;
}

int udp_rr_take(struct udp_rr *u, struct udp_rr_conn *k, ssize_t n, int64_t now)
{
	const struct engine_spec *s = &u->c->w->spec;
	if (n != s->response_size || udp_rr_is_hello(k->s, u->rr->data, n))
		return -1;
	uint64_t wire = 0;
	memcpy(&wire, u->rr->data, u->id_bytes);
	uint64_t id = le64toh(wire), lane = id & ((UINT64_C(1) << u->lane_bits) - 1);
	if (lane >= (uint64_t)s->outstanding)
		return -1;
	struct udp_rr_lane *l = &k->lanes[lane];
	size_t slot = (id >> u->lane_bits) % UDP_RR_DEPTH;
	int64_t sent = l->past[slot].sent_ns;
	if (!sent || l->past[slot].id != id)
		return -1; /* a duplicate, or given up long ago */
	bool latest = l->out && slot == l->generation % UDP_RR_DEPTH;
	l->past[slot].sent_ns = 0;
	u->rr->late += !latest && sent >= u->c->w->win.begin_ns;
	l->out &= !latest;
	rr_count(u->c, now, now - sent);
	udp_rr_learn(u, k, now - sent);
	return latest ? (int)lane : -1;
}

void udp_rr_give_up(struct udp_rr *u, struct udp_rr_conn *k, int lane)
{
	k->lanes[lane].out = false;
	if (!u->fixed_ns)
		k->timeout_ns =
		    k->timeout_ns * 2 < UDP_RR_TIMEOUT ? k->timeout_ns * 2 : UDP_RR_TIMEOUT;
}

bool udp_rr_waiting(const struct udp_rr *u, const struct udp_rr_conn *k)
{
	for (int lane = 0; lane < u->c->w->spec.outstanding; lane++)
		for (size_t slot = 0; slot < UDP_RR_DEPTH; slot++)
			if (udp_rr_counts(u, k->lanes[lane].past[slot].sent_ns))
				return true;
	return false;
}

void udp_rr_finish(struct udp_rr *u, const struct udp_rr_conn *k)
{
	for (int lane = 0; lane < u->c->w->spec.outstanding; lane++)
		for (size_t slot = 0; slot < UDP_RR_DEPTH; slot++)
			u->rr->lost += udp_rr_counts(u, k->lanes[lane].past[slot].sent_ns);
}

void udp_rr_reply(struct udp_rr *u, struct stream *s, ssize_t n)
{
	const struct engine_spec *spec = &s->w->spec;
	if (udp_rr_is_hello(s, u->rr->data, n)) { /* the answer to the first one was lost */
		send(s->fd, u->rr->data, (size_t)n, MSG_NOSIGNAL | MSG_DONTWAIT);
		return;
	}
	if (n != spec->size)
		return;
	/* The number is where it was. */
	if (send(s->fd, u->rr->data, (size_t)spec->response_size, MSG_NOSIGNAL) < 0)
		return; /* lost like any other datagram: the client notices */
	rr_add(u->c, clock_now_ns());
}

/* What the socket waits at most; a spinning end does not wait. */
static void udp_rr_wait_at_most(const struct udp_rr_conn *k, int64_t wait_ns, int64_t *set_ns)
{
	if (wait_ns <= *set_ns * 5 / 4 && wait_ns >= *set_ns * 3 / 4)
		return;
	struct timeval tv = {wait_ns / NSEC_PER_SEC, wait_ns % NSEC_PER_SEC / 1000};
	setsockopt(k->s->fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	*set_ns = wait_ns;
}

/* recv() until the deadline; -1 and EAGAIN: nothing has come. */
static ssize_t udp_rr_receive(struct udp_rr *u, struct udp_rr_conn *k, int64_t *now)
{
	if (!u->c->w->spec.spin) {
		ssize_t n = recv(k->s->fd, u->rr->data, u->rr->room, 0);
		int code = errno;
		*now = clock_now_ns();
		errno = code;
		return n;
	}
	for (int spins = 1;; spins++) {
		ssize_t n = recv(k->s->fd, u->rr->data, u->rr->room, MSG_DONTWAIT);
		int code = errno;
		*now = clock_now_ns();
		errno = code;
		if (n >= 0 || code != EAGAIN || *now >= k->lanes[0].due_ns || worker_over(u->c->w))
			return n;
		if (spins % RR_SPINS == 0)
			sched_yield();
	}
}

/* Until the request is answered or given up; false: the stream is over. */
static bool udp_rr_await(struct udp_rr *u, struct udp_rr_conn *k, int64_t *set_ns, int64_t *now)
{
	if (!u->c->w->spec.spin)
		udp_rr_wait_at_most(k, k->timeout_ns, set_ns);
	for (;;) {
		ssize_t n = udp_rr_receive(u, k, now);
		int code = n < 0 ? errno : 0;
		if (worker_over(u->c->w))
			return false;
		if (n >= 0 && udp_rr_take(u, k, n, *now) == 0)
			return true;
		if (n < 0 && code != EAGAIN && code != EINTR) {
			run_fail(k->s, code, "receiving");
			return false;
		}
		/* The socket's own wait may be a little shorter than the timeout. */
		if (*now >= k->lanes[0].due_ns - k->timeout_ns / 4) {
			udp_rr_give_up(u, k, 0);
			return true;
		}
	}
}

/* After the end: what is still on its way may come; the rest is lost. */
static void udp_rr_linger(struct udp_rr *u, struct udp_rr_conn *k, int64_t *set_ns)
{
	int64_t until = u->c->w->win.end_ns + UDP_RR_LINGER, now = clock_now_ns();
	udp_rr_wait_at_most(k, UDP_RR_SHORTEST, set_ns);
	while (now < until && udp_rr_waiting(u, k) && !worker_over(u->c->w)) {
		ssize_t n = recv(k->s->fd, u->rr->data, u->rr->room, 0);
		now = clock_now_ns();
		if (n >= 0)
			udp_rr_take(u, k, n, now);
	}
	udp_rr_finish(u, k);
}

static void udp_rr_single(struct udp_rr *u)
{
	struct udp_rr_lane lane = {0};
	struct udp_rr_conn k = {.lanes = &lane};
	int64_t now = clock_now_ns(), set_ns = 0;
	udp_rr_conn_init(u, &k, u->c->streams);
	while (now < u->c->w->win.end_ns) {
		int r = udp_rr_ask(u, &k, 0, now, 0);
		if (r)
			run_fail(k.s, -r, "sending");
		if (r || !udp_rr_await(u, &k, &set_ns, &now))
			break;
	}
	udp_rr_linger(u, &k, &set_ns);
}

static void udp_rr_answer(struct udp_rr *u)
{
	struct stream *s = u->c->streams;
	while (!worker_over(s->w)) {
		ssize_t n = rr_receive(s, u->rr->data, u->rr->room);
		if (n > 0)
			udp_rr_reply(u, s, n);
		else if (n < 0 && errno != EINTR && errno != ECONNREFUSED) {
			run_fail(s, errno, "receiving");
			return;
		}
	}
}

static void udp_rr_crew(struct crew *c)
{
	struct udp_rr u;
	udp_rr_init(&u, c, rr_open(c, udp_rr_room(&c->w->spec)));
	if (!rr_is_single(c))
		udp_rr_events(&u);
	else if (c->w->server)
		udp_rr_answer(&u);
	else
		udp_rr_single(&u);
	rr_close(u.rr);
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
    .crew = {udp_rr_crew, udp_rr_crew},
    .report = rr_report,
    .merge = rr_merge,
};
