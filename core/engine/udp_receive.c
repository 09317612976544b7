/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * udp_receive: the end of a UDP stream that receives: which numbers came, when, and what this host
 * dropped at the socket. What is lost is for who knows how many were sent (udp_counts.c). Called by
 * udp_stream.c and udp_multicast.c.
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/base/units.h"
#include "core/engine/packet.h"
#include "core/engine/steer.h"
#include "core/engine/udp.h"

#define UDP_BATCH_ALL  2048	   /* messages in the batches of all streams */
#define UDP_BATCH_DATA (256 << 10) /* bytes a batch: stays in the cache */
#define UDP_GRO_BATCH  16
#define UDP_SILENCE_NS (200 * NSEC_PER_MSEC)
#define UDP_DRAIN_NS   (3 * NSEC_PER_SEC)

static int udp_receive_most(size_t size, int streams)
{
	size_t n = UDP_BATCH_DATA / size, fair = UDP_BATCH_ALL / (size_t)streams;
	n = n < fair ? n : fair;
	return n < 1 ? 1 : n > UDP_BATCH ? UDP_BATCH : (int)n;
}

void udp_receive_prepare(struct stream *s)
{
	struct worker *w = s->w;
	struct udp_stream *u = s->own;
	size_t size = u->gso || !w->spec.size ? UDP_MAX : (size_t)w->spec.size;
	int fair = UDP_BATCH_ALL / 8 / w->n_streams;
	u->rx.full = !u->gso		     ? udp_receive_most(size, w->n_streams)
		     : fair >= UDP_GRO_BATCH ? UDP_GRO_BATCH
					     : fair + 1;
	udp_batch_init(&u->batch, size, u->rx.full, true);
	u->rx.drops_from = u->rx.drops_to = -1;
	u->rx.delay = hist_new();
	for (int phase = PHASE_WARMUP; phase <= PHASE_TAIL; phase++)
		seq_init(&u->rx.seq[phase]);
	/* Destinations are wanted for hellos only, and to find the device; they are not free. */
	steer_ask(s->fd, w->family, u->steer || u->xdp);
	if (u->gso)
		setsockopt(s->fd, IPPROTO_UDP, UDP_GRO, &(int){1}, sizeof(int));
}

void udp_receive_release(struct stream *s)
{
	struct udp_stream *u = s->own;
	for (int phase = 0; phase <= PHASE_TAIL; phase++)
		seq_done(&u->rx.seq[phase]);
	if (u->rx.delay)
		hist_free(u->rx.delay);
	if (u->rx.steered)
		steer_end();
}

struct udp_notes {     /* what the kernel says beside a message */
	int64_t drops; /* the socket's, when it was queued; the kernel leaves 0 out */
	int segment;   /* bytes of each datagram in it; 0: it is one */
};

static struct udp_notes udp_receive_notes(const struct udp_receiver *r, struct msghdr *m)
{
	struct udp_notes notes = {r->drops, 0};
	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		uint32_t value;
		memcpy(&value, CMSG_DATA(c), sizeof(value));
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SO_RXQ_OVFL)
			notes.drops = value;
		else if (c->cmsg_level == IPPROTO_UDP && c->cmsg_type == UDP_GRO)
			notes.segment = (int)value;
	}
	return notes;
}

/* At the first packet of a phase: the drops up to the phase's number 0. Of those since the packet
 * before, as many belong to this phase as messages are missing from it. */
static int64_t udp_receive_drops_before(const struct udp_receiver *r, int64_t drops,
					uint64_t missing)
{
	int64_t since = drops - r->drops;
	return drops - (since < (int64_t)missing ? since : (int64_t)missing);
}

static void udp_receive_measured(const struct worker *w, struct udp_receiver *r,
				 const struct packet *p, int64_t now)
{
	atomic_store_explicit(&r->measured, r->seq[PHASE_MEASURE].unique, memory_order_relaxed);
	if (!p->sent_ns || !worker_comparable(w))
		return;
	int64_t sent = p->sent_ns - w->peer_ahead_ns, delay = now > sent ? now - sent : 0;
	hist_add(r->delay, delay);
	if (delay > atomic_load_explicit(&r->longest_ns, memory_order_relaxed))
		atomic_store_explicit(&r->longest_ns, delay, memory_order_relaxed);
}

int64_t udp_receive_drop(const struct stream *s)
{
	return ((const struct udp_stream *)s->own)->gso ? UDP_SEGMENTS : 1;
}

/* One datagram; 1 when it is ours and new. */
static int udp_receive_datagram(struct stream *s, const struct packet *p, int64_t drops,
				int64_t now)
{
	struct udp_receiver *r = &((struct udp_stream *)s->own)->rx;
	uint64_t each = (uint64_t)udp_receive_drop(s);
	if (p->phase == PHASE_MEASURE && r->drops_from < 0)
		r->drops_from = udp_receive_drops_before(r, drops, (p->number + each - 1) / each);
	if (p->phase == PHASE_TAIL && r->drops_to < 0)
		r->drops_to = udp_receive_drops_before(r, drops, p->number / each);
	r->drops = drops;
	if (!seq_add(&r->seq[p->phase], p->number))
		return 0;
	if (p->phase == PHASE_MEASURE)
		udp_receive_measured(s->w, r, p, now);
	return 1;
}

int udp_receive_payload(struct stream *s, const char *data, size_t len, int64_t drops, int64_t now)
{
	struct packet p;
	if (!packet_get(data, len, &p) || p.session != s->w->session || p.phase == PHASE_HELLO)
		return 0;
	return udp_receive_datagram(s, &p, drops, now);
}

/* One message: a datagram, or several that travelled as one. */
static int udp_receive_message(struct stream *s, struct mmsghdr *m, int64_t now)
{
	struct udp_stream *u = s->own;
	struct udp_notes notes = {u->rx.drops, 0};
	if (m->msg_hdr.msg_controllen)
		notes = udp_receive_notes(&u->rx, &m->msg_hdr);
	const char *data = m->msg_hdr.msg_iov->iov_base;
	size_t step = notes.segment > 0 ? (size_t)notes.segment : m->msg_len;
	int64_t drops = u->xdp ? udp_receive_drops(s) : notes.drops;
	int fresh = 0;
	for (size_t at = 0; at < m->msg_len; at += step) {
		size_t len = m->msg_len - at < step ? m->msg_len - at : step;
		fresh += udp_receive_payload(s, data + at, len, drops, now);
	}
	return fresh;
}

void udp_receive_count(struct stream *s, int messages, int fresh, int64_t now)
{
	struct udp_receiver *r = &((struct udp_stream *)s->own)->rx;
	r->messages += messages;
	window_track_add(&s->track, now, fresh);
	s->packets_all += fresh;
	atomic_store_explicit(&r->heard_ns, now, memory_order_relaxed);
}

int udp_receive_read(struct stream *s, bool wait)
{
	struct udp_stream *u = s->own;
	for (int i = 0; i < u->rx.full; i++)
		u->batch.msgs[i].msg_hdr.msg_controllen = UDP_CONTROL;
	int n = recvmmsg(s->fd, u->batch.msgs, (unsigned)u->rx.full,
			 wait ? MSG_WAITFORONE : MSG_DONTWAIT, NULL);
	if (n < 0 && errno != EINTR && errno != ECONNREFUSED && errno != EAGAIN) {
		run_fail(s, errno, "receiving");
		return -1;
	}
	int64_t now = clock_now_ns();
	int fresh = 0;
	for (int i = 0; i < n; i++)
		fresh += udp_receive_message(s, &u->batch.msgs[i], now);
	if (fresh)
		udp_receive_count(s, n, fresh, now);
	return fresh;
}

static bool udp_receive_steer(struct stream *s, int device)
{
	struct udp_receiver *r = &((struct udp_stream *)s->own)->rx;
	int cpu = s->w->server ? s->w->spec.server_cpu : s->w->spec.client_cpu;
	if (steer_begin(device, cpu, &s->err)) {
		atomic_store(&s->w->failed, true);
		return false;
	}
	r->steered = true;
	r->backlog = steer_backlog_drops();
	return true;
}

/* Once it is over, the socket is shut down: that does not block, and gives what is still queued. */
void udp_receive(struct stream *s)
{
	struct udp_stream *u = s->own;
	if (u->steer || u->xdp) {
		int device = steer_arrival(s->fd, s->w->family);
		if (!device || !udp_receive_steer(s, device))
			return;
		if (u->xdp) {
			udp_xdp(s, device);
			return;
		}
	}
	for (;;) {
		bool over = worker_over(s->w);
		int fresh = udp_receive_read(s, true);
		if (fresh < 0 || (over && !fresh))
			return;
	}
}

static int64_t udp_receive_told(const struct worker *w, int i)
{
	return json_integer_value(json_array_get(json_object_get(w->totals, "packets"), (size_t)i));
}

/* All that was sent is here, or nothing has come for longer than anything can be under way. */
bool udp_receive_settled(struct worker *w, int64_t now)
{
	if (!w->totals)
		return false;
	bool all = true;
	int64_t heard = w->totals_ns, longest = 0;
	for (int i = 0; i < w->n_streams; i++) {
		if (stream_sends(&w->streams[i]))
			continue;
		struct udp_receiver *r = &((struct udp_stream *)w->streams[i].own)->rx;
		int64_t last = atomic_load(&r->heard_ns), delay = atomic_load(&r->longest_ns);
		all &= atomic_load(&r->measured) >= udp_receive_told(w, i);
		heard = last > heard ? last : heard;
		longest = delay > longest ? delay : longest;
	}
	return all || now - heard >= UDP_SILENCE_NS + 2 * longest ||
	       now - w->totals_ns >= UDP_DRAIN_NS;
}

int64_t udp_receive_drops(const struct stream *s)
{
	int64_t drops = socket_drops(s->fd);
	return (drops > 0 ? drops : 0) + ((const struct udp_stream *)s->own)->rx.xdp_drops;
}

int64_t udp_receive_lost_here(const struct stream *s)
{
	const struct udp_receiver *r = &((struct udp_stream *)s->own)->rx;
	int64_t to = r->drops_to >= 0 ? r->drops_to : udp_receive_drops(s);
	int64_t from = r->drops_from >= 0 ? r->drops_from : 0;
	return to > from ? (to - from) * udp_receive_drop(s) : 0;
}
