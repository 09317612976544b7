/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * udp_stream: one direction of UDP, client to server, on a schedule or as fast as it goes.
 *
 * Two counts are kept apart. Accounting is by packet: each carries its phase and number (packet.h),
 * so sent = received + lost holds exactly for those of the window, wherever they were at its edges;
 * the client's total comes over the control channel, and the server waits for stragglers before it
 * counts. The headline rate is by time: what arrived, once, between the edges of the window, so
 * that a queue that fills up or drains does not pass for capacity.
 *
 * Each datagram is a packet of its own: no segmentation offload, whose bursts are one packet to the
 * path and many to us.
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/base/units.h"
#include "core/engine/pace.h"
#include "core/engine/packet.h"
#include "core/engine/result.h"
#include "core/engine/seq.h"
#include "core/engine/worker.h"
#include "core/stats/hist.h"

#define UDP_BATCH      64
#define UDP_BATCH_ALL  2048	   /* packets in the batches of all streams */
#define UDP_BATCH_DATA (256 << 10) /* bytes a batch: stays in the cache */
#define UDP_MAX	       65507
#define UDP_LINGER_NS  (100 * NSEC_PER_MSEC)
#define UDP_SILENCE_NS (200 * NSEC_PER_MSEC)
#define UDP_DRAIN_NS   (5 * NSEC_PER_SEC)
#define UDP_CONTROL    64 /* room for one SO_RXQ_OVFL */

struct udp_batch { /* memory for one sendmmsg() or recvmmsg() */
	struct mmsghdr msgs[UDP_BATCH];
	struct iovec iovs[UDP_BATCH];
	char control[UDP_BATCH][UDP_CONTROL] __attribute__((aligned(8)));
	char *data;
	size_t stride;
};

struct udp_stream {
	struct udp_batch batch;
	/* client */
	struct pace pace;
	bool paced;
	int full; /* packets a batch has room for */
	int most; /* packets a batch, as the path takes them */
	enum window_phase phase[UDP_BATCH];
	uint64_t sent[PHASE_TAIL + 1];
	int64_t refused; /* the local system would not send */
	/* server */
	struct seq seq[PHASE_TAIL + 1];
	struct hist *delay;	      /* ns, of the window's packets */
	int64_t drops;		      /* of the socket, when the last datagram was queued */
	int64_t drops_from, drops_to; /* when the window's first one was, and the first after; -1 */
	_Atomic int64_t measured;     /* unique ones of the window; the watcher reads it */
	_Atomic int64_t heard_ns, longest_ns; /* last arrival; longest delay */
};

static int udp_stream_check(const struct engine_spec *s, struct err *err)
{
	if (s->size && (s->size < PACKET_MIN || s->size > UDP_MAX))
		return err_input(err, "size: a datagram of udp_stream has %d to %d bytes",
				 PACKET_MIN, UDP_MAX);
	return 0;
}

static void udp_batch_init(struct udp_batch *b, size_t size, int packets, bool control)
{
	b->stride =
	    (size + 63) / 64 * 64 + 64; /* not a power of two: spreads over the cache's sets */
	b->data = mem_zalloc(b->stride * (size_t)packets);
	for (int i = 0; i < packets; i++) {
		b->iovs[i] = (struct iovec){b->data + b->stride * (size_t)i, size};
		b->msgs[i].msg_hdr = (struct msghdr){.msg_iov = &b->iovs[i], .msg_iovlen = 1};
		if (control)
			b->msgs[i].msg_hdr.msg_control = b->control[i];
	}
}

/* Many streams take turns anyway, and would need much memory. */
static int udp_batch_most(size_t size, int streams)
{
	size_t n = UDP_BATCH_DATA / size, fair = UDP_BATCH_ALL / (size_t)streams;
	n = n < fair ? n : fair;
	return n < 1 ? 1 : n > UDP_BATCH ? UDP_BATCH : (int)n;
}

static void udp_stream_prepare(struct stream *s)
{
	struct worker *w = s->w;
	struct udp_stream *u = mem_zalloc(sizeof(*u));
	s->own = u;
	size_t size = w->spec.size ? (size_t)w->spec.size : UDP_MAX;
	u->full = u->most = udp_batch_most(size, w->n_streams);
	udp_batch_init(&u->batch, size, u->full, w->server);
	u->drops_from = u->drops_to = -1;
	u->paced = w->spec.rate_bps || w->spec.rate_pps;
	if (u->paced) {
		pace_init(&u->pace, w->spec.rate_bps ? size * 8 : 1,
			  (uint64_t)(w->spec.rate_bps ? w->spec.rate_bps : w->spec.rate_pps));
		pace_stream(&u->pace, w->win.start_ns, w->spec.streams, s->index % w->spec.streams);
	}
	if (!w->server)
		return;
	u->delay = hist_new();
	for (int phase = PHASE_WARMUP; phase <= PHASE_TAIL; phase++)
		seq_init(&u->seq[phase]);
	int off = 0; /* wanted for hellos only, and not free */
	setsockopt(s->fd, IPPROTO_IP, IP_PKTINFO, &off, sizeof(off));
	if (w->family == AF_INET6)
		setsockopt(s->fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, &off, sizeof(off));
}

static void udp_stream_release(struct stream *s)
{
	struct udp_stream *u = s->own;
	for (int phase = 0; phase <= PHASE_TAIL; phase++)
		seq_done(&u->seq[phase]);
	if (u->delay)
		hist_free(u->delay);
	free(u->batch.data);
	free(u);
}

/* How many to send now; 0 after sleeping until one is due. */
static int udp_stream_due(struct stream *s, int64_t now)
{
	struct udp_stream *u = s->own;
	if (!u->paced)
		return u->most;
	int n = pace_ready(&u->pace, now, u->most);
	if (!n)
		run_sleep(s->w, pace_due(&u->pace, 0));
	return n;
}

/* Numbers n packets. Paced ones belong to the phase in which they were due, late or not. */
static void udp_stream_fill(struct stream *s, int n, int64_t now)
{
	struct udp_stream *u = s->own;
	uint64_t next[PHASE_TAIL + 1];
	memcpy(next, u->sent, sizeof(next));
	for (int i = 0; i < n; i++) {
		int64_t when = u->paced ? pace_due(&u->pace, (uint64_t)i) : now;
		u->phase[i] = window_phase(&s->w->win, when);
		struct packet p = {s->w->session, u->phase[i], next[u->phase[i]]++, now};
		packet_put(u->batch.iovs[i].iov_base, (size_t)s->w->spec.size, &p);
	}
}

static void udp_stream_sent(struct stream *s, int n, int64_t before, int64_t now)
{
	struct udp_stream *u = s->own;
	for (int i = 0; i < n; i++)
		u->sent[u->phase[i]]++;
	if (u->paced)
		pace_sent(&u->pace, n);
	else if (now - before > 2 * NSEC_PER_MSEC && u->most > 1)
		u->most /= 2; /* a slow path: short batches keep the edges sharp */
	else if (now - before < NSEC_PER_MSEC / 2 && u->most < u->full)
		u->most++;
	window_track_add(&s->track, now, n);
	s->packets_all += n;
}

/* True: an error of the moment, as a full queue or an unreachable hop; the packet was not sent. */
static bool udp_stream_transient(int code)
{
	return code == EINTR || code == ENOBUFS || code == EAGAIN || code == ECONNREFUSED ||
	       code == EHOSTUNREACH || code == ENETUNREACH || code == ENETDOWN || code == EPERM;
}

static bool udp_stream_batch(struct stream *s, int n, int64_t now)
{
	struct udp_stream *u = s->own;
	udp_stream_fill(s, n, now);
	int done = sendmmsg(s->fd, u->batch.msgs, (unsigned)n, MSG_NOSIGNAL);
	if (done > 0) {
		udp_stream_sent(s, done, now, clock_now_ns());
		return true;
	}
	if (!udp_stream_transient(errno)) {
		run_fail(s, errno, "sending");
		return false;
	}
	if (errno != EINTR) {
		u->refused++;
		run_sleep(s->w, now + NSEC_PER_MSEC);
	}
	return true;
}

/* After the end a few more, so that the receiver's last edge has packets on both sides too. */
static void udp_stream_send(struct stream *s)
{
	struct udp_stream *u = s->own;
	int64_t gap = u->paced ? pace_due(&u->pace, 1) - pace_due(&u->pace, 0) : 0;
	int64_t tail = gap > ENGINE_UDP_TAIL_NS ? gap : ENGINE_UDP_TAIL_NS;
	int64_t end = s->w->win.end_ns + (tail < UDP_LINGER_NS ? tail : UDP_LINGER_NS);
	for (int64_t now = clock_now_ns(); now < end && !worker_over(s->w); now = clock_now_ns()) {
		int n = udp_stream_due(s, now);
		if (n && !udp_stream_batch(s, n, now))
			return;
	}
}

/* The socket's drop count when this datagram was queued; the kernel leaves it out while it is 0. */
static int64_t udp_stream_drops(const struct udp_stream *u, struct msghdr *m)
{
	uint32_t count;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c))
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SO_RXQ_OVFL) {
			memcpy(&count, CMSG_DATA(c), sizeof(count));
			return count;
		}
	return u->drops;
}

/* At the first packet of a phase: the drops up to the phase's number 0. Of those since the packet
 * before, as many belong to this phase as numbers are missing from it. */
static int64_t udp_stream_drops_before(const struct udp_stream *u, int64_t drops, uint64_t number)
{
	int64_t since = drops - u->drops;
	return drops - (since < (int64_t)number ? since : (int64_t)number);
}

static void udp_stream_measured(struct udp_stream *u, const struct packet *p, int64_t now)
{
	atomic_store_explicit(&u->measured, u->seq[PHASE_MEASURE].unique, memory_order_relaxed);
	if (!p->sent_ns)
		return;
	int64_t delay = now > p->sent_ns ? now - p->sent_ns : 0;
	hist_add(u->delay, delay);
	if (delay > atomic_load_explicit(&u->longest_ns, memory_order_relaxed))
		atomic_store_explicit(&u->longest_ns, delay, memory_order_relaxed);
}

/* One datagram; 1 when it is ours and new. */
static int udp_stream_take(struct stream *s, struct mmsghdr *m, int64_t now)
{
	struct udp_stream *u = s->own;
	struct packet p;
	if (!packet_get(m->msg_hdr.msg_iov->iov_base, m->msg_len, &p) ||
	    p.session != s->w->session || p.phase == PHASE_HELLO)
		return 0;
	int64_t drops = m->msg_hdr.msg_controllen ? udp_stream_drops(u, &m->msg_hdr) : u->drops;
	if (p.phase == PHASE_MEASURE && u->drops_from < 0)
		u->drops_from = udp_stream_drops_before(u, drops, p.number);
	if (p.phase == PHASE_TAIL && u->drops_to < 0)
		u->drops_to = udp_stream_drops_before(u, drops, p.number);
	u->drops = drops;
	if (!seq_add(&u->seq[p.phase], p.number))
		return 0;
	if (p.phase == PHASE_MEASURE)
		udp_stream_measured(u, &p, now);
	return 1;
}

/* Takes what one call gives; new datagrams of ours, or -1 when the stream has failed. */
static int udp_stream_read(struct stream *s)
{
	struct udp_stream *u = s->own;
	for (int i = 0; i < u->full; i++)
		u->batch.msgs[i].msg_hdr.msg_controllen = UDP_CONTROL;
	int n = recvmmsg(s->fd, u->batch.msgs, (unsigned)u->full, MSG_WAITFORONE, NULL);
	if (n < 0 && errno != EINTR && errno != ECONNREFUSED) {
		run_fail(s, errno, "receiving");
		return -1;
	}
	int64_t now = clock_now_ns();
	int fresh = 0;
	for (int i = 0; i < n; i++)
		fresh += udp_stream_take(s, &u->batch.msgs[i], now);
	if (fresh) {
		window_track_add(&s->track, now, fresh);
		s->packets_all += fresh;
		atomic_store_explicit(&u->heard_ns, now, memory_order_relaxed);
	}
	return fresh;
}

/* Once it is over, the socket is shut down: that does not block, and gives what is still queued. */
static void udp_stream_receive(struct stream *s)
{
	for (;;) {
		bool over = worker_over(s->w);
		int fresh = udp_stream_read(s);
		if (fresh < 0 || (over && !fresh))
			return;
	}
}

static int64_t udp_stream_told(const struct worker *w, int i)
{
	return json_integer_value(json_array_get(json_object_get(w->totals, "packets"), (size_t)i));
}

/* All that the client sent is here, or nothing has come for longer than anything can be under way.
 */
static bool udp_stream_settled(struct worker *w, int64_t now)
{
	if (!w->totals)
		return false;
	bool all = true;
	int64_t heard = w->totals_ns, longest = 0;
	for (int i = 0; i < w->n_streams; i++) {
		struct udp_stream *u = w->streams[i].own;
		int64_t last = atomic_load(&u->heard_ns), delay = atomic_load(&u->longest_ns);
		all &= atomic_load(&u->measured) >= udp_stream_told(w, i);
		heard = last > heard ? last : heard;
		longest = delay > longest ? delay : longest;
	}
	return all || now - heard >= UDP_SILENCE_NS + 2 * longest ||
	       now - w->totals_ns >= UDP_DRAIN_NS;
}

static void udp_stream_report_client(struct worker *w, json_t *result)
{
	json_t *sent = json_array();
	int64_t total = 0, missed = 0, refused = 0;
	for (int i = 0; i < w->n_streams; i++) {
		const struct udp_stream *u = w->streams[i].own;
		json_array_append_new(sent, json_integer((int64_t)u->sent[PHASE_MEASURE]));
		total += (int64_t)u->sent[PHASE_MEASURE];
		missed += u->pace.missed;
		refused += u->refused;
	}
	json_object_set_new(result, "sent", sent);
	json_object_set_new(result, "packets", json_integer(total));
	json_object_set_new(result, "bytes", json_integer(total * w->spec.size));
	json_object_set_new(result, "size", json_integer(w->spec.size));
	json_object_set_new(result, "missed", json_integer(missed));
	json_object_set_new(result, "refused", json_integer(refused));
}

/* Datagrams of the window that this host dropped at the socket. */
static int64_t udp_stream_lost_here(const struct stream *s)
{
	const struct udp_stream *u = s->own;
	int64_t to = u->drops_to >= 0 ? u->drops_to : socket_drops(s->fd);
	int64_t from = u->drops_from >= 0 ? u->drops_from : 0;
	return to > from ? to - from : 0;
}

static void udp_stream_report_server(struct worker *w, json_t *result)
{
	struct hist *delay = hist_new();
	json_t *received = json_array(), *seen = json_array();
	int64_t unique = 0, duplicated = 0, reordered = 0, late = 0, here = 0, drops = 0;
	for (int i = 0; i < w->n_streams; i++) {
		const struct udp_stream *u = w->streams[i].own;
		const struct seq *q = &u->seq[PHASE_MEASURE];
		json_array_append_new(received, json_integer(q->unique));
		json_array_append_new(seen, json_integer((int64_t)q->next));
		hist_merge(delay, u->delay);
		unique += q->unique;
		duplicated += q->duplicated;
		reordered += q->reordered;
		late += q->late;
		here += udp_stream_lost_here(&w->streams[i]);
		int64_t count = socket_drops(w->streams[i].fd);
		drops += count > 0 ? count : 0;
	}
	json_object_set_new(result, "received", received);
	json_object_set_new(result, "seen", seen);
	json_object_set_new(result, "packets", json_integer(unique));
	json_object_set_new(result, "bytes", json_integer(unique * w->spec.size));
	json_object_set_new(result, "duplicated", json_integer(duplicated));
	json_object_set_new(result, "reordered", json_integer(reordered));
	json_object_set_new(result, "late", json_integer(late));
	json_object_set_new(result, "lost_host", json_integer(here));
	json_object_set_new(result, "drops_all", json_integer(drops));
	json_object_set_new(result, "delay", hist_json(delay));
	hist_free(delay);
}

static void udp_stream_report(struct worker *w, json_t *result)
{
	if (w->server)
		udp_stream_report_server(w, result);
	else
		udp_stream_report_client(w, result);
}

/* Sent and never seen. Of a run that was cut short, packets may be under way: then only what is
 * missing below the highest number seen. */
static int64_t udp_stream_lost(const json_t *client, const json_t *server, bool partial)
{
	const json_t *sent = json_object_get(partial ? server : client, partial ? "seen" : "sent");
	const json_t *received = json_object_get(server, "received");
	int64_t lost = 0;
	for (size_t i = 0; i < json_array_size(sent); i++) {
		int64_t missing = json_integer_value(json_array_get(sent, i)) -
				  json_integer_value(json_array_get(received, i));
		lost += missing > 0 ? missing : 0;
	}
	return lost;
}

static void udp_stream_merge(const struct engine_spec *s, const json_t *client,
			     const json_t *server, struct engine_result *out)
{
	double size = result_number(client, "size"), units = result_number(server, "units");
	double seconds = (double)out->server.window_ns / 1e9;
	int64_t here = result_integer(server, "lost_host");
	out->size = (int64_t)size;
	out->pps = seconds > 0 ? units / seconds : 0;
	out->goodput_bps = out->pps * size * 8;
	out->sent_pps = seconds > 0 ? (double)out->client.packets / seconds : 0;
	out->offered_pps = s->rate_pps ? (double)s->rate_pps : (double)s->rate_bps / (8 * size);
	out->offered_bps = out->offered_pps * 8 * size;
	out->missed = result_integer(client, "missed");
	out->refused = result_integer(client, "refused");
	out->lost = udp_stream_lost(client, server, out->partial);
	out->lost_host = here < out->lost ? here : out->lost;
	out->drops_all = result_integer(server, "drops_all");
	out->duplicated = result_integer(server, "duplicated");
	out->reordered = result_integer(server, "reordered");
	out->late = result_integer(server, "late");
	double all = (double)(out->lost + out->server.packets);
	out->loss = all > 0 ? (double)out->lost / all : 0;
	result_dist_get(json_object_get(server, "delay"), &out->delay);
}

static const char *const udp_stream_aliases[] = {"udp_bw", NULL};

const struct engine_def udp_stream_engine = {
    .test = TEST_UDP_STREAM,
    .name = "udp_stream",
    .aliases = udp_stream_aliases,
    .datagram = true,
    .unit = UNIT_PACKETS,
    .stream = true,
    .paced = true,
    .linger_ns = UDP_LINGER_NS,
    .max_gap_ns = {100 * NSEC_PER_MSEC, INT64_MAX},
    .check = udp_stream_check,
    .prepare = udp_stream_prepare,
    .body = {udp_stream_receive, udp_stream_send},
    .release = udp_stream_release,
    .report = udp_stream_report,
    .merge = udp_stream_merge,
    .settled = udp_stream_settled,
};
