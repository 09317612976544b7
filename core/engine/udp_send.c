/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * udp_send: the end of a UDP stream that sends, on a schedule (pace.h) or as fast as it goes. It
 * does not know what arrived. Called by udp_stream.c and udp_multicast.c.
 *
 * A paced sender sleeps until shortly before a packet is due and looks at the clock for the rest,
 * where a CPU of its own allows that: a sleeping thread wakes tens of microseconds late, on virtual
 * machines more. How much before follows from how late it woke. What gaps came of it is in the
 * result.
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/base/units.h"
#include "core/engine/cpu.h"
#include "core/engine/packet.h"
#include "core/engine/udp.h"

#define UDP_BATCH_ALL	2048		      /* messages in the batches of all streams */
#define UDP_BATCH_DATA	(256 << 10)	      /* bytes a batch: stays in the cache */
#define UDP_SPIN_NS	(100 * NSEC_PER_USEC) /* at least */
#define UDP_SPIN_MOST	(500 * NSEC_PER_USEC)
#define UDP_GAP_STREAMS 64 /* with more, histograms of gaps would take too much memory */

/* Many streams take turns anyway, and would need much memory. */
static int udp_send_most(size_t size, int streams)
{
	size_t n = UDP_BATCH_DATA / size, fair = UDP_BATCH_ALL / (size_t)streams;
	n = n < fair ? n : fair;
	return n < 1 ? 1 : n > UDP_BATCH ? UDP_BATCH : (int)n;
}

/* Looking at the clock takes a CPU, that of the sender alone. */
static int64_t udp_send_spin(const struct worker *w)
{
	const struct engine_spec *s = &w->spec;
	bool alone = s->client_cpu >= 0 ? s->client_cpu != s->server_cpu : cpu_allowed(1) >= 0;
	return s->spin || (alone && udp_senders(w) == 1) ? UDP_SPIN_NS : 0;
}

static void udp_send_prepare_pace(struct stream *s)
{
	struct udp_sender *t = &((struct udp_stream *)s->own)->tx;
	const struct engine_spec *spec = &s->w->spec;
	int senders = udp_senders(s->w);
	uint64_t rate = (uint64_t)(spec->rate_bps ? spec->rate_bps : spec->rate_pps);
	pace_init(&t->pace, spec->rate_bps ? (uint64_t)spec->size * 8 : 1, rate);
	pace_stream(&t->pace, s->w->win.start_ns, senders, s->index % senders);
	pace_burst(&t->pace, spec->burst);
	pace_schedule(&t->pace, spec->schedule, spec->seed + (s->back ? 1 : 0));
	t->spin_ns = udp_send_spin(s->w);
	if (spec->streams <= UDP_GAP_STREAMS) {
		t->gap = hist_new();
		t->gap_error = hist_new();
	}
}

void udp_send_prepare(struct stream *s)
{
	struct udp_stream *u = s->own;
	struct udp_sender *t = &u->tx;
	size_t size = (size_t)s->w->spec.size;
	t->segments = 1;
	if (u->gso) {
		size_t fit = UDP_MAX / size;
		t->segments = fit > UDP_SEGMENTS ? UDP_SEGMENTS : fit < 1 ? 1 : (int)fit;
	}
	size *= (size_t)t->segments;
	t->full = udp_send_most(size, s->w->n_streams);
	if (t->full > UDP_DATAGRAMS / t->segments)
		t->full = UDP_DATAGRAMS / t->segments;
	t->most = t->full;
	udp_batch_init(&u->batch, size, t->full, false);
	t->paced = s->w->spec.rate_bps || s->w->spec.rate_pps;
	if (t->paced)
		udp_send_prepare_pace(s);
}

void udp_send_release(struct stream *s)
{
	struct udp_sender *t = &((struct udp_stream *)s->own)->tx;
	if (t->gap)
		hist_free(t->gap);
	if (t->gap_error)
		hist_free(t->gap_error);
}

/* Twice as early as it woke late of late: at once for more, in some hundred packets for less. */
static void udp_send_adapt(struct udp_sender *t, int64_t late)
{
	int64_t wanted = 2 * late < UDP_SPIN_MOST ? 2 * late : UDP_SPIN_MOST;
	if (wanted > t->spin_ns)
		t->spin_ns = wanted;
	else if (t->spin_ns > UDP_SPIN_NS)
		t->spin_ns -= (t->spin_ns - UDP_SPIN_NS) / 512 + 1;
}

static void udp_send_wait(const struct worker *w, struct udp_sender *t, int64_t due)
{
	int64_t until = due - t->spin_ns, now = clock_now_ns();
	bool sleeps = now < until;
	if (!run_sleep(w, until))
		return;
	if (!t->spin_ns)
		return;
	if (sleeps)
		udp_send_adapt(t, clock_now_ns() - until);
	while (clock_now_ns() < due && !worker_over(w))
		;
}

/* How many to send now; 0 after waiting until one is due. */
static int udp_send_due(struct stream *s, int64_t now)
{
	struct udp_sender *t = &((struct udp_stream *)s->own)->tx;
	int most = t->most * t->segments;
	if (!t->paced)
		return most;
	int n = pace_ready(&t->pace, now, most);
	if (!n)
		udp_send_wait(s->w, t, pace_due(&t->pace, 0));
	return n;
}

/* Numbers n packets. Paced ones belong to the phase in which they were due, late or not. Gives the
 * number of messages. */
static int udp_send_fill(struct stream *s, int n, int64_t now)
{
	struct udp_stream *u = s->own;
	struct udp_sender *t = &u->tx;
	size_t size = (size_t)s->w->spec.size;
	uint64_t next[PHASE_TAIL + 1];
	memcpy(next, t->sent, sizeof(next));
	for (int i = 0; i < n; i++) {
		int64_t when = t->paced ? pace_due(&t->pace, (uint64_t)i) : now;
		enum window_phase phase = window_phase(&s->w->win, when);
		struct iovec *iov = &u->batch.iovs[i / t->segments];
		size_t place = (size_t)(i % t->segments) * size;
		struct packet p = {s->w->session, phase, next[phase]++, now};
		t->phase[i] = (uint8_t)phase;
		packet_put((char *)iov->iov_base + place, size, &p);
		iov->iov_len = place + size;
	}
	return (n + t->segments - 1) / t->segments;
}

/* Gaps between packets as they were handed over. All of one call have one time. */
static void udp_send_gaps(struct udp_sender *t, int n, int64_t now)
{
	for (int i = 0; i < n; i++) {
		int64_t due = pace_due(&t->pace, (uint64_t)i);
		if (t->last_ns && t->phase[i] == PHASE_MEASURE) {
			int64_t gap = now - t->last_ns;
			int64_t error = llabs(gap - (due - t->last_due_ns));
			hist_add(t->gap, gap);
			hist_add(t->gap_error, error);
			t->near += error <= UDP_NEAR_NS;
		}
		t->last_ns = now;
		t->last_due_ns = due;
	}
}

/* n packets in `messages` went out, in a call from `before` to `now`. */
static void udp_send_done(struct stream *s, int n, int64_t before, int64_t now)
{
	struct udp_sender *t = &((struct udp_stream *)s->own)->tx;
	for (int i = 0; i < n; i++)
		t->sent[t->phase[i]]++;
	if (t->paced) {
		if (t->gap)
			udp_send_gaps(t, n, before);
		if (t->phase[0] == PHASE_MEASURE)
			t->sending_ns += now - before;
		pace_sent(&t->pace, n);
	} else if (now - before > 2 * NSEC_PER_MSEC && t->most > 1)
		t->most /= 2; /* a slow path: short batches keep the edges sharp */
	else if (now - before < NSEC_PER_MSEC / 2 && t->most < t->full)
		t->most++;
	window_track_add(&s->track, now, n);
	s->packets_all += n;
	s->messages += n;
}

/* True: an error of the moment, as a full queue or an unreachable hop; the packet was not sent. */
static bool udp_send_transient(int code)
{
	return code == EINTR || code == ENOBUFS || code == EAGAIN || code == ECONNREFUSED ||
	       code == EHOSTUNREACH || code == ENETUNREACH || code == ENETDOWN || code == EPERM;
}

static bool udp_send_failed(struct stream *s, int code, int64_t now)
{
	struct udp_stream *u = s->own;
	if (u->gso && (code == EINVAL || code == EMSGSIZE)) {
		run_fail(s, code, "sending (io gso: a datagram must fit into the path's MTU)");
		return true;
	}
	if (!udp_send_transient(code)) {
		run_fail(s, code, "sending");
		return true;
	}
	if (code != EINTR) {
		u->tx.refused++;
		run_sleep(s->w, now + NSEC_PER_MSEC);
	}
	return false;
}

static bool udp_send_batch(struct stream *s, int n, int64_t now)
{
	struct udp_stream *u = s->own;
	int messages = udp_send_fill(s, n, now);
	int done = sendmmsg(s->fd, u->batch.msgs, (unsigned)messages, MSG_NOSIGNAL);
	if (done <= 0)
		return !udp_send_failed(s, errno, now);
	udp_send_done(s, done < messages ? done * u->tx.segments : n, now, clock_now_ns());
	return true;
}

/* Whatever is sent from here on is cut into datagrams of spec.size by the kernel or the device. */
static bool udp_send_segmented(struct stream *s)
{
	int size = (int)s->w->spec.size;
	if (!setsockopt(s->fd, IPPROTO_UDP, UDP_SEGMENT, &size, sizeof(size)))
		return true;
	run_fail(s, errno, "io gso: asking for UDP_SEGMENT");
	return false;
}

/* After the end a few more, so that the receiver's last edge has packets on both sides too. */
void udp_send(struct stream *s)
{
	struct udp_stream *u = s->own;
	int64_t gap = u->tx.paced ? pace_gap_ns(&u->tx.pace) : 0;
	int64_t tail = gap > ENGINE_UDP_TAIL_NS ? gap : ENGINE_UDP_TAIL_NS;
	int64_t end = s->w->win.end_ns + (tail < UDP_LINGER_NS ? tail : UDP_LINGER_NS);
	if (u->gso && !udp_send_segmented(s))
		return;
	for (int64_t now = clock_now_ns(); now < end && !worker_over(s->w); now = clock_now_ns()) {
		int n = udp_send_due(s, now);
		if (n && !udp_send_batch(s, n, now))
			return;
	}
	if (u->tx.paced)
		pace_ready(&u->tx.pace, end, 0); /* what was due by then and not sent */
}
