/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * udp_latency: how long a probe takes, with probes that leave by a schedule whatever comes back.
 *
 * A program that waits for each answer sends nothing while the path is frozen, and so sees the
 * freeze once; here every probe that was due meanwhile is late by as much as its user would be. Its
 * time counts from when it was DUE; from when it was really sent is a figure of its own, and so is
 * the difference, the sender's own fault. One that is due late is sent at once, none is left out.
 *
 * The server answers at once, with its own times. So each way has its delay, exact where both ends
 * read one clock, else as exact as the clocks' difference is known (not known: no delay), its
 * losses, duplicates and reordering. Kernel timestamps split each way into program to driver,
 * driver to driver (the path), driver to program. An answer is taken whenever it comes; one that
 * has not come in the timeout after the last probe is lost.
 *
 * While it runs an interval counts the answers that came in it; in the result, those to the probes
 * that were due in it, whenever they came: these add up to the total.
 *
 * What is found, and its names, are latency_report.c's. Gaps are equal, exponential (Poisson),
 * uniform in 0 to twice the mean, or normal with a deviation of a quarter of it.
 */
#include <endian.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/base/units.h"
#include "core/engine/latency.h"

#define LATENCY_UDP_MAX	  65507
#define LATENCY_RING_MIN  1024
#define LATENCY_RING_MAX  (UINT64_C(1) << 18)
#define LATENCY_BATCH	  64 /* datagrams between two looks at the clock */
#define LATENCY_SLICE_NS  (20 * NSEC_PER_MSEC)
#define LATENCY_LINGER_NS (LATENCY_TIMEOUT_MAX + NSEC_PER_SEC)
#define LATENCY_BURST	  1024
#define LATENCY_STAMPS	  30000 /* probes a second; above, fetching them costs more than it tells */
#define LATENCY_BYES	  3

static void latency_defaults(struct engine_spec *s)
{
	s->size = s->response_size = LATENCY_SIZE;
}

static int latency_check(const struct engine_spec *s, struct err *err)
{
	if (s->size < LATENCY_PROBE_MIN || s->size > LATENCY_UDP_MAX)
		return err_input(err, "size: a probe has %d to %d bytes", LATENCY_PROBE_MIN,
				 LATENCY_UDP_MAX);
	if (s->response_size < LATENCY_ANSWER_MIN || s->response_size > LATENCY_UDP_MAX)
		return err_input(err,
				 "response_size: an answer has %d to %d bytes: it carries the "
				 "server's times",
				 LATENCY_ANSWER_MIN, LATENCY_UDP_MAX);
	if (s->streams > LATENCY_STREAMS)
		return err_input(err, "streams: udp_latency has 1 to %d", LATENCY_STREAMS);
	if (s->burst > LATENCY_BURST)
		return err_input(err, "burst: udp_latency sends at most %d at once", LATENCY_BURST);
	if (s->timeout_ns > LATENCY_TIMEOUT_MAX)
		return err_input(err, "timeout_ns: udp_latency waits for at most %d s",
				 (int)(LATENCY_TIMEOUT_MAX / NSEC_PER_SEC));
	return 0;
}

int64_t latency_timeout(const struct engine_spec *s)
{
	return s->timeout_ns ? s->timeout_ns : LATENCY_TIMEOUT;
}

double latency_rate(const struct engine_spec *s)
{
	if (s->rate_bps)
		return (double)s->rate_bps / (8 * (double)s->size);
	return s->rate_pps ? (double)s->rate_pps : LATENCY_RATE;
}

/* Room for what is sent in the timeout and a second: an answer finds its probe for that long. */
static uint64_t latency_ring_size(const struct engine_spec *s, double rate)
{
	double wanted = rate * (double)(latency_timeout(s) + NSEC_PER_SEC) / NSEC_PER_SEC;
	uint64_t size = LATENCY_RING_MIN;
	while (size < LATENCY_RING_MAX && (double)size < wanted)
		size *= 2;
	return size;
}

static void latency_prepare_client(struct stream *s, struct latency *l)
{
	struct worker *w = s->w;
	double rate = latency_rate(&w->spec) / w->spec.streams;
	uint64_t size = latency_ring_size(&w->spec, rate);
	l->ring = mem_zalloc(size * sizeof(*l->ring));
	l->stamped = mem_zalloc(size * sizeof(*l->stamped));
	l->mask = size - 1;
	l->gap_ns = (double)w->spec.burst * NSEC_PER_SEC / rate;
	l->due_ns = w->win.start_ns + (int64_t)(l->gap_ns * s->index / w->spec.streams);
	l->answered_in = mem_zalloc((size_t)w->win.edges * sizeof(*l->answered_in));
	for (int i = 0; i < LATENCY_KINDS; i++)
		l->hist[i] = hist_new();
}

/* One seed for all streams of this worker, so that naming it is enough to do the same again. */
static void latency_choose_seed(struct worker *w)
{
	if (!w->spec.seed)
		w->spec.seed = distribution_seed_new();
}

static void latency_prepare(struct stream *s)
{
	struct worker *w = s->w;
	struct latency *l = mem_zalloc(sizeof(*l));
	int64_t largest =
	    w->spec.size > w->spec.response_size ? w->spec.size : w->spec.response_size;
	s->own = l;
	l->room = (size_t)largest + 1;
	l->data = mem_zalloc(l->room);
	for (int phase = PHASE_WARMUP; phase < PHASE_TAIL; phase++)
		seq_init(&l->seq[phase]);
	if (!w->server) {
		latency_choose_seed(w);
		distribution_fork(&l->random, (uint64_t)w->spec.seed, (uint64_t)s->index);
		latency_prepare_client(s, l);
	}
	l->comparable = worker_comparable(w);
	int64_t drops = socket_drops(s->fd);
	l->drops = drops > 0 ? drops : 0;
	l->send_stamps = latency_rate(&w->spec) <= LATENCY_STAMPS;
	if (timestamp_enable(s->fd, l->send_stamps) && timestamp_enable(s->fd, false))
		l->send_stamps = false;
}

static void latency_release(struct stream *s)
{
	struct latency *l = s->own;
	for (int phase = PHASE_WARMUP; phase < PHASE_TAIL; phase++)
		seq_done(&l->seq[phase]);
	for (int i = 0; i < LATENCY_KINDS; i++)
		hist_free(l->hist[i]);
	free(l->answered_in);
	free(l->stamped);
	free(l->ring);
	free(l->data);
	free(l);
}

static void latency_jitter_add(struct latency_jitter *j, int64_t transit_ns)
{
	double d = (double)(transit_ns - j->transit_ns);
	if (j->any)
		j->ns += ((d < 0 ? -d : d) - j->ns) / 16;
	j->any = true;
	j->transit_ns = transit_ns;
}

/* One datagram, its kernel timestamp (0: none) and when it was here. −1: none now, or for good. */
static ssize_t latency_take(struct stream *s, int flags, int64_t *kernel_ns, int64_t *now_ns)
{
	struct latency *l = s->own;
	char control[TIMESTAMP_CONTROL] __attribute__((aligned(8)));
	struct iovec iov = {.iov_base = l->data, .iov_len = l->room};
	struct msghdr m = {.msg_iov = &iov,
			   .msg_iovlen = 1,
			   .msg_control = control,
			   .msg_controllen = sizeof(control)};
	ssize_t n = recvmsg(s->fd, &m, flags);
	if (n < 0)
		return n;
	*now_ns = clock_now_ns();
	*kernel_ns = timestamp_received(&m, &l->clock, *now_ns);
	return n;
}

/* True: an error of the moment, which the datagrams after it may be spared. */
static bool latency_transient(int code)
{
	return code == EINTR || code == ENOBUFS || code == EAGAIN || code == ECONNREFUSED ||
	       code == EHOSTUNREACH || code == ENETUNREACH || code == ENETDOWN || code == EPERM;
}

static void latency_put64(char *to, int64_t v)
{
	uint64_t wire = htobe64((uint64_t)v);
	memcpy(to, &wire, sizeof(wire));
}

static int64_t latency_get64(const char *from)
{
	uint64_t wire;
	memcpy(&wire, from, sizeof(wire));
	return (int64_t)be64toh(wire);
}

static void latency_put(char *to, const struct latency_answer *a)
{
	uint32_t code = htobe32(a->before_code), order = htobe32(a->order);
	latency_put64(to, a->kernel_received_ns);
	latency_put64(to + 8, a->received_ns);
	latency_put64(to + 16, a->sent_ns);
	latency_put64(to + 24, a->before_sent_ns);
	memcpy(to + 32, &code, sizeof(code));
	memcpy(to + 36, &order, sizeof(order));
}

static void latency_get(const char *from, struct latency_answer *a)
{
	uint32_t code, order;
	memcpy(&code, from + 32, sizeof(code));
	memcpy(&order, from + 36, sizeof(order));
	*a = (struct latency_answer){
	    .kernel_received_ns = latency_get64(from),
	    .received_ns = latency_get64(from + 8),
	    .sent_ns = latency_get64(from + 16),
	    .before_sent_ns = latency_get64(from + 24),
	    .before_code = be32toh(code),
	    .order = be32toh(order),
	};
}

/*
 * When the driver had the answers sent so far; told to the client with the next one. Inside one
 * machine a packet goes through several drivers (a veth pair, then another), and each tells: the
 * first one is ours.
 */
static void latency_server_stamps(struct stream *s)
{
	struct latency *l = s->own;
	struct timestamp_sent t;
	while (l->send_stamps && timestamp_fetch(s->fd, &l->clock, clock_now_ns(), &t) > 0) {
		if ((int32_t)(t.number - l->stamp_seen) < 0)
			continue;
		l->stamp_seen = t.number + 1;
		l->before_code = l->codes[t.number % LATENCY_CODES];
		l->before_ns = t.when_ns;
	}
}

static void latency_answer(struct stream *s, const struct packet *p, int64_t kernel_ns, int64_t now)
{
	struct latency *l = s->own;
	struct latency_answer a = {.kernel_received_ns = kernel_ns,
				   .received_ns = now,
				   .before_sent_ns = l->before_ns,
				   .before_code = l->before_code,
				   .order = l->order[p->phase]++};
	a.sent_ns = clock_now_ns();
	latency_put(l->data + PACKET_TIMED, &a);
	if (send(s->fd, l->data, (size_t)s->w->spec.response_size, MSG_NOSIGNAL) >= 0)
		l->codes[l->stamp_next++ % LATENCY_CODES] = latency_code(p->phase, p->number);
	else if (!latency_transient(errno))
		run_fail(s, errno, "answering");
	latency_server_stamps(s);
}

/* The server's body. A probe that comes twice is counted and answered once. */
static void latency_serve(struct stream *s)
{
	struct latency *l = s->own;
	int flags = s->w->spec.spin ? MSG_DONTWAIT : 0;
	while (!worker_over(s->w) && !s->err.kind) {
		struct packet p;
		int64_t kernel_ns, now;
		ssize_t n = latency_take(s, flags, &kernel_ns, &now);
		if (n < 0 && !latency_transient(errno))
			return run_fail(s, errno, "receiving");
		if (n < LATENCY_PROBE_MIN || !packet_get(l->data, (size_t)n, &p) ||
		    p.session != s->w->session || p.phase == PHASE_HELLO)
			continue;
		if (p.phase == PHASE_TAIL)
			return;
		s->packets_all++;
		if (!seq_add(&l->seq[p.phase], p.number))
			continue;
		if (p.phase == PHASE_MEASURE)
			latency_jitter_add(&l->jitter, now - p.sent_ns);
		latency_answer(s, &p, kernel_ns, now);
		window_track_add(&s->track, now, 1);
	}
}

static int64_t latency_gap(struct latency *l, enum engine_schedule schedule)
{
	static const enum distribution_kind kinds[] = {[SCHEDULE_PERIODIC] = DISTRIBUTION_CONSTANT,
						       [SCHEDULE_POISSON] =
							   DISTRIBUTION_EXPONENTIAL,
						       [SCHEDULE_UNIFORM] = DISTRIBUTION_UNIFORM,
						       [SCHEDULE_NORMAL] = DISTRIBUTION_NORMAL};
	struct distribution d = {kinds[schedule], l->gap_ns, 0};
	if (schedule == SCHEDULE_UNIFORM)
		d = (struct distribution){d.kind, 0, 2 * l->gap_ns};
	if (schedule == SCHEDULE_NORMAL)
		d.b = l->gap_ns / 4;
	double gap = distribution_draw(&d, &l->random) + l->carry;
	int64_t whole = gap > 0 ? (int64_t)gap : 0;
	l->carry = gap > 0 ? gap - (double)whole : 0;
	return whole;
}

static void latency_hist(struct latency *l, enum latency_kind kind, int64_t from, int64_t to)
{
	if (from && to)
		hist_add(l->hist[kind], to - from);
}

/* The difference of the delays of this probe and of the one sent before it. */
static void latency_ipdv(struct latency *l, const struct latency_probe *p)
{
	const struct latency_probe *q = &l->previous;
	if (!q->answered)
		return;
	int64_t there = (p->answer.received_ns - p->sent_ns) - (q->answer.received_ns - q->sent_ns);
	int64_t back = (p->received_ns - p->answer.sent_ns) - (q->received_ns - q->answer.sent_ns);
	hist_add(l->hist[LATENCY_IPDV_FORWARD], there < 0 ? -there : there);
	hist_add(l->hist[LATENCY_IPDV_BACK], back < 0 ? -back : back);
}

static void latency_answered(struct latency *l, const struct latency_probe *p)
{
	const struct latency_answer *a = &p->answer;
	latency_hist(l, LATENCY_ROUND_TRIP, p->due_ns, p->received_ns);
	latency_hist(l, LATENCY_FROM_SENT, p->sent_ns, p->received_ns);
	latency_hist(l, LATENCY_TURNAROUND, a->received_ns, a->sent_ns);
	latency_hist(l, LATENCY_CLIENT_RECEIVE, p->kernel_received_ns, p->received_ns);
	latency_hist(l, LATENCY_SERVER_SEND, a->sent_ns, p->server_driver_ns);
	latency_hist(l, LATENCY_SERVER_RECEIVE, a->kernel_received_ns, a->received_ns);
	if (p->driver_ns && p->kernel_received_ns && p->server_driver_ns && a->kernel_received_ns)
		hist_add(l->hist[LATENCY_PATH_ROUND],
			 (p->kernel_received_ns - p->driver_ns) -
			     (p->server_driver_ns - a->kernel_received_ns));
	latency_ipdv(l, p);
	if (!l->comparable)
		return;
	latency_hist(l, LATENCY_FORWARD, p->sent_ns, a->received_ns);
	latency_hist(l, LATENCY_BACK, a->sent_ns, p->received_ns);
	latency_hist(l, LATENCY_PATH_FORWARD, p->driver_ns, a->kernel_received_ns);
	latency_hist(l, LATENCY_PATH_BACK, p->server_driver_ns, p->kernel_received_ns);
}

/* The oldest probe leaves the ring, in the order of sending, and is judged. */
static void latency_retire(struct stream *s)
{
	struct latency *l = s->own;
	struct latency_probe *p = &l->ring[l->done++ & l->mask];
	int64_t limit = p->due_ns + latency_timeout(&s->w->spec);
	if (p->phase == PHASE_MEASURE &&
	    (p->answered || !s->w->partial || clock_now_ns() >= limit)) {
		l->measured++;
		l->answered += p->answered;
		l->answered_in[(p->due_ns - s->w->win.begin_ns) / s->w->win.interval_ns] +=
		    p->answered;
		l->lost += !p->answered;
		l->late += p->answered && p->received_ns > limit;
		latency_hist(l, LATENCY_TIMER_ERROR, p->due_ns, p->sent_ns);
		latency_hist(l, LATENCY_CLIENT_SEND, p->sent_ns, p->driver_ns);
		if (p->answered)
			latency_answered(l, p);
		l->previous = *p;
	}
}

static bool latency_send(struct stream *s)
{
	struct latency *l = s->own;
	enum window_phase phase = window_phase(&s->w->win, l->due_ns);
	if (l->sent - l->done > l->mask)
		latency_retire(s);
	uint64_t number = l->sent - l->warm;
	if (phase == PHASE_WARMUP)
		number = l->warm++;
	struct latency_probe *probe = &l->ring[l->sent & l->mask];
	*probe = (struct latency_probe){.due_ns = l->due_ns, .phase = phase};
	probe->sent_ns = clock_now_ns();
	struct packet p = {s->w->session, phase, number, probe->sent_ns};
	packet_put(l->data, (size_t)s->w->spec.size, &p);
	uint64_t place = l->sent++;
	if (send(s->fd, l->data, (size_t)s->w->spec.size, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
		if (!latency_transient(errno)) {
			run_fail(s, errno, "sending");
			return false;
		}
		l->refused += phase == PHASE_MEASURE;
		return true;
	}
	l->stamped[l->stamp_next++ & l->mask] = (uint32_t)place;
	s->packets_all++;
	return true;
}

/* Sends what is due by now, so much that receiving does not starve. */
static bool latency_send_due(struct stream *s, int64_t now)
{
	struct latency *l = s->own;
	const struct worker *w = s->w;
	for (int n = 0; n < LATENCY_BATCH && l->due_ns <= now && l->due_ns < w->win.end_ns;) {
		for (int64_t i = 0; i < w->spec.burst; i++, n++)
			if (!latency_send(s))
				return false;
		l->due_ns += latency_gap(l, w->spec.schedule);
	}
	return true;
}

/* The probe with that phase and number; NULL: it is no longer, or never was, in the ring. */
static struct latency_probe *latency_find(struct latency *l, enum window_phase phase,
					  uint64_t number)
{
	uint64_t place = phase == PHASE_MEASURE ? l->warm + number : number;
	if (place < l->done || place >= l->sent)
		return NULL;
	struct latency_probe *p = &l->ring[place & l->mask];
	return p->phase == phase ? p : NULL;
}

/* When the server's driver had an earlier answer. */
static void latency_learn_before(struct latency *l, const struct latency_answer *a)
{
	struct latency_probe *p = a->before_sent_ns
				      ? latency_find(l, (enum window_phase)(a->before_code >> 30),
						     a->before_code & LATENCY_CODE_MASK)
				      : NULL;
	if (p && p->answered && a->before_sent_ns >= p->answer.sent_ns)
		p->server_driver_ns = a->before_sent_ns;
}

/* The server's times, as our clock would have shown them. */
static void latency_convert(const struct worker *w, struct latency_answer *a)
{
	a->received_ns -= w->peer_ahead_ns;
	a->sent_ns -= w->peer_ahead_ns;
	a->kernel_received_ns -= a->kernel_received_ns ? w->peer_ahead_ns : 0;
	a->before_sent_ns -= a->before_sent_ns ? w->peer_ahead_ns : 0;
}

static void latency_heard(struct stream *s, ssize_t n, int64_t kernel_ns, int64_t now)
{
	struct latency *l = s->own;
	struct packet p;
	struct latency_answer a;
	if (n != s->w->spec.response_size || !packet_get(l->data, (size_t)n, &p) ||
	    p.session != s->w->session || p.phase == PHASE_HELLO || p.phase == PHASE_TAIL) {
		l->strays++;
		return;
	}
	latency_get(l->data + PACKET_TIMED, &a);
	latency_convert(s->w, &a);
	if (!seq_add(&l->seq[p.phase], a.order))
		return;
	struct latency_probe *probe = latency_find(l, p.phase, p.number);
	latency_learn_before(l, &a);
	if (!probe || probe->answered)
		return;
	probe->answer = a;
	probe->answered = true;
	probe->received_ns = now;
	probe->kernel_received_ns = kernel_ns;
	if (p.phase == PHASE_MEASURE)
		latency_jitter_add(&l->jitter, now - a.sent_ns);
	window_track_add(&s->track, now, 1);
}

/* When the driver had our probes. */
static void latency_client_stamps(struct stream *s)
{
	struct latency *l = s->own;
	struct timestamp_sent t;
	for (int i = 0; l->send_stamps && i < LATENCY_BATCH; i++) {
		if (timestamp_fetch(s->fd, &l->clock, clock_now_ns(), &t) <= 0)
			return;
		uint32_t behind = (uint32_t)l->sent - l->stamped[t.number & l->mask];
		struct latency_probe *p = behind && behind <= l->sent - l->done
					      ? &l->ring[(l->sent - behind) & l->mask]
					      : NULL;
		if (!p || t.when_ns < p->sent_ns)
			l->stamp_strange++;
		else if (!p->driver_ns) /* the first driver: ours */
			p->driver_ns = t.when_ns;
	}
}

static bool latency_receive(struct stream *s)
{
	for (int i = 0; i < LATENCY_BATCH; i++) {
		int64_t kernel_ns, now;
		ssize_t n = latency_take(s, MSG_DONTWAIT, &kernel_ns, &now);
		if (n < 0 && errno == EAGAIN)
			return true;
		if (n < 0 && !latency_transient(errno)) {
			run_fail(s, errno, "receiving");
			return false;
		}
		if (n >= 0 && !worker_over(s->w))
			latency_heard(s, n, kernel_ns, now);
		else if (worker_over(s->w))
			return true;
	}
	return true;
}

/* Nothing is left to wait for. Leaves the ring's beginning where the oldest open probe is. */
static bool latency_complete(struct stream *s, int64_t now)
{
	struct latency *l = s->own;
	if (l->due_ns < s->w->win.end_ns)
		return false;
	while (l->done < l->sent) {
		const struct latency_probe *p = &l->ring[l->done & l->mask];
		if (!p->answered && now < p->due_ns + latency_timeout(&s->w->spec))
			return false;
		if (l->done + 1 == l->sent)
			return true; /* its driver's time may be a moment behind */
		latency_retire(s);
	}
	return true;
}

static void latency_wait(struct stream *s, int64_t now)
{
	struct latency *l = s->own;
	int64_t until = now + LATENCY_SLICE_NS;
	if (l->due_ns < s->w->win.end_ns && l->due_ns < until)
		until = l->due_ns;
	if (s->w->spec.spin || until <= now)
		return;
	struct timespec ts = {0, until - now};
	struct pollfd fd = {.fd = s->fd, .events = POLLIN};
	ppoll(&fd, 1, &ts, NULL);
}

/* The server need not wait longer. Where this is lost, it goes by the clock. As short as can be, so
 * that a capture tells it from a probe. */
static void latency_say_bye(struct stream *s)
{
	struct latency *l = s->own;
	struct packet p = {s->w->session, PHASE_TAIL, 0, clock_now_ns()};
	packet_put(l->data, LATENCY_PROBE_MIN, &p);
	for (int i = 0; i < LATENCY_BYES; i++)
		if (send(s->fd, l->data, LATENCY_PROBE_MIN, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0)
			s->hello_bytes += LATENCY_PROBE_MIN;
}

static void latency_probe(struct stream *s)
{
	struct latency *l = s->own;
	int64_t now = clock_now_ns();
	while (!worker_over(s->w) && !latency_complete(s, now)) {
		if (!latency_send_due(s, now) || !latency_receive(s))
			break;
		latency_client_stamps(s);
		now = clock_now_ns();
		latency_wait(s, now);
		now = clock_now_ns();
	}
	latency_client_stamps(s);
	while (l->done < l->sent)
		latency_retire(s);
	if (!worker_over(s->w))
		latency_say_bye(s);
}

static const char *const latency_aliases[] = {"under_load", "under-load", "irtt",
					      "owd",	    "udp_ping",	  NULL};

const struct engine_def udp_latency_engine = {
    .test = TEST_UDP_LATENCY,
    .name = "udp_latency",
    .aliases = latency_aliases,
    .datagram = true,
    .headline_client = true,
    .paced = true,
    .unit = UNIT_TRANSACTIONS,
    .linger_ns = LATENCY_LINGER_NS,
    .defaults = latency_defaults,
    .check = latency_check,
    .prepare = latency_prepare,
    .body = {latency_serve, latency_probe},
    .release = latency_release,
    .report = latency_report,
    .merge = latency_merge,
};
