/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * frames_inside: the probe itself, standing in the lab's own namespaces: sends on a schedule and
 * takes what arrives out of a ring that it shares with the kernel. Called through lab_call() by
 * frames.c.
 *
 * A ring (packet(7), PACKET_RX_RING) because its room does not count against the socket's buffer,
 * which an ordinary user cannot enlarge, and because reading it costs no system call.
 */
#include "emulator/lab/frames_inside.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/mem.h"
#include "core/base/units.h"
#include "emulator/lab/frames_packet.h"
#include "emulator/lab/handle.h"

#define BATCH	       32
#define FRAME_MOST     (FRAMES_ETHERNET + 65535)
#define RING_BYTES     (8 << 20)
#define RING_BLOCK     (1 << 17) /* a power of two, more than the largest frame with its header */
#define RING_HEADER    80 /* before the packet: struct tpacket2_hdr, sockaddr_ll, rounded up */
#define FIRST_PORT     20000
#define NICE	       (-15)
#define START_NS       (2 * NSEC_PER_MSEC)
#define SPIN_NS	       (80 * NSEC_PER_USEC) /* shorter waits are not worth a sleep */
#define LEAST_ARRIVALS 1024

struct lane { /* a stream, at work */
	const struct frames_stream *s;
	struct frames_id id;
	struct frames_log *log;
	int tx, rx;
	unsigned char *ring;
	unsigned frame_bytes, frames_per_block, n_frames, next;
	size_t capacity; /* of log->arrivals */
	int64_t given;	 /* frames handed over, or refused */
};

struct work {
	const struct frames_spec *spec;
	struct lane lane[FRAMES_STREAMS];
	unsigned char *buffer;	   /* BATCH frames */
	int64_t start_ns, last_ns; /* CLOCK_MONOTONIC: of the schedule; when something last came */
};

static int64_t real_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return t.tv_sec * NSEC_PER_SEC + t.tv_nsec;
}

/* ---- sockets ---- */

static int open_socket(const char *node, const char *dev, unsigned *ifindex, struct err *err)
{
	int fd, rc = enter_node(node, err);

	if (rc)
		return rc;
	*ifindex = if_nametoindex(dev);
	if (!*ifindex)
		return err_sys(err, errno, "no device '%s' in node '%s'", dev, node);
	fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (fd < 0 && (errno == EPERM || errno == EAFNOSUPPORT))
		return err_unsupported(err, "no packet sockets here, so links cannot be probed");
	return fd < 0 ? err_sys(err, errno, "cannot make a packet socket") : fd;
}

static int bind_to(int fd, unsigned ifindex, int protocol, struct err *err)
{
	struct sockaddr_ll at = {.sll_family = AF_PACKET,
				 .sll_protocol = htons((uint16_t)protocol),
				 .sll_ifindex = (int)ifindex};

	if (bind(fd, (struct sockaddr *)&at, sizeof(at)) < 0)
		return err_sys(err, errno, "cannot bind a packet socket");
	return 0;
}

/* Room for a frame of the ring: its beginning, or all of it. */
static unsigned ring_frame(const struct frames_spec *spec, const struct frames_stream *s)
{
	unsigned bytes = FRAMES_HEADERS, room = 128;

	for (size_t i = 0; spec->whole && i < s->n_sizes; i++) {
		if ((unsigned)s->sizes[i] + FRAMES_ETHERNET > bytes)
			bytes = (unsigned)s->sizes[i] + FRAMES_ETHERNET;
	}
	while (room < RING_HEADER + bytes)
		room *= 2;
	return room;
}

static int set_ring(struct lane *l, const struct frames_spec *spec, struct err *err)
{
	int version = TPACKET_V2, ignore = !l->s->leaving;
	struct tpacket_req req = {.tp_block_size = RING_BLOCK,
				  .tp_block_nr = RING_BYTES / RING_BLOCK,
				  .tp_frame_size = ring_frame(spec, l->s)};
	struct sock_filter all = BPF_STMT(BPF_RET | BPF_K, req.tp_frame_size - RING_HEADER);
	struct sock_fprog filter = {.len = 1, .filter = &all};

	l->frame_bytes = req.tp_frame_size;
	l->frames_per_block = RING_BLOCK / req.tp_frame_size;
	l->n_frames = req.tp_frame_nr = l->frames_per_block * req.tp_block_nr;
	if (setsockopt(l->rx, SOL_PACKET, PACKET_VERSION, &version, sizeof(version)) < 0 ||
	    setsockopt(l->rx, SOL_PACKET, PACKET_IGNORE_OUTGOING, &ignore, sizeof(ignore)) < 0 ||
	    setsockopt(l->rx, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof(filter)) < 0 ||
	    setsockopt(l->rx, SOL_PACKET, PACKET_RX_RING, &req, sizeof(req)) < 0)
		return err_sys(err, errno, "cannot set up a packet socket");
	l->ring = mmap(NULL, RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, l->rx, 0);
	if (l->ring == MAP_FAILED)
		return err_sys(err, errno, "cannot map a packet socket's ring");
	return 0;
}

static int open_lane(struct lane *l, const struct frames_spec *spec, struct err *err)
{
	unsigned from, to;
	int rc;

	l->rx = open_socket(l->s->to_node, l->s->to_dev, &to, err);
	if (l->rx < 0)
		return l->rx;
	rc = set_ring(l, spec, err);
	if (!rc)
		rc = bind_to(l->rx, to, ETH_P_ALL, err);
	if (rc)
		return rc;
	l->tx = open_socket(l->s->from_node, l->s->from_dev, &from, err);
	if (l->tx < 0)
		return l->tx;
	return bind_to(l->tx, from, 0, err); /* receives nothing */
}

/* ---- arrivals ---- */

static struct frames_arrival *new_arrival(struct lane *l)
{
	struct frames_log *log = l->log;

	if (log->n_arrivals == l->capacity) {
		l->capacity = l->capacity ? l->capacity * 2 : LEAST_ARRIVALS;
		log->arrivals = mem_realloc(log->arrivals, l->capacity * sizeof(*log->arrivals));
	}
	return &log->arrivals[log->n_arrivals++];
}

static bool has_our_length(const struct frames_stream *s, uint32_t bytes)
{
	for (size_t i = 0; i < s->n_sizes; i++) {
		if (bytes == (uint32_t)s->sizes[i] + FRAMES_ETHERNET)
			return true;
	}
	return false;
}

static void take_one(struct lane *l, const struct frames_spec *spec, const struct tpacket2_hdr *h)
{
	const unsigned char *frame = (const unsigned char *)h + h->tp_mac;
	struct frames_arrival *a = new_arrival(l);
	struct frames_id id = l->id;

	*a = (struct frames_arrival){.at_ns = h->tp_sec * NSEC_PER_SEC + h->tp_nsec,
				     .bytes = h->tp_len,
				     .kind = FRAMES_OURS};
	if (!frames_packet_read(frame, h->tp_snaplen, &id))
		a->kind = spec->whole && has_our_length(l->s, h->tp_len) ? FRAMES_DAMAGED
									 : FRAMES_FOREIGN;
	else if (spec->whole && !frames_packet_intact(frame, h->tp_snaplen, &id))
		a->kind = FRAMES_DAMAGED;
	a->seq = a->kind == FRAMES_OURS ? id.seq : 0;
	l->log->foreign += a->kind == FRAMES_FOREIGN;
}

static bool is_wanted(const struct lane *l, const struct tpacket2_hdr *h)
{
	const struct sockaddr_ll *from =
	    (const void *)((const unsigned char *)h + TPACKET_ALIGN(sizeof(*h)));

	return l->s->leaving == (from->sll_pkttype == PACKET_OUTGOING);
}

static void drain(struct work *w, struct lane *l)
{
	for (;;) {
		unsigned block = l->next / l->frames_per_block;
		struct tpacket2_hdr *h =
		    (void *)(l->ring + (size_t)block * RING_BLOCK +
			     (size_t)(l->next % l->frames_per_block) * l->frame_bytes);

		if (!(__atomic_load_n(&h->tp_status, __ATOMIC_ACQUIRE) & TP_STATUS_USER))
			return;
		if (is_wanted(l, h))
			take_one(l, w->spec, h);
		__atomic_store_n(&h->tp_status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
		l->next = (l->next + 1) % l->n_frames;
	}
}

static void drain_all(struct work *w)
{
	for (size_t i = 0; i < w->spec->n; i++) {
		size_t before = w->lane[i].log->n_arrivals;

		drain(w, &w->lane[i]);
		if (w->lane[i].log->n_arrivals != before)
			w->last_ns = clock_now_ns();
	}
}

/* ---- sending ---- */

static int64_t due_ns(const struct lane *l, const struct work *w, int64_t frame)
{
	int64_t later = frame - l->s->at_once;

	return w->start_ns + (later < 0 ? 0 : (int64_t)((double)later * l->s->gap_ns));
}

/* How many frames may go now, at most a batch. */
static int ready(const struct lane *l, const struct work *w, int64_t now)
{
	int n = 0;

	while (n < BATCH && l->given + n < l->s->count && due_ns(l, w, l->given + n) <= now)
		n++;
	return n;
}

static size_t write_frame(struct lane *l, const struct work *w, int64_t frame, unsigned char *to)
{
	int bytes = l->s->sizes[(size_t)frame % l->s->n_sizes];

	l->id.seq = (uint32_t)frame;
	l->id.source = (uint16_t)(FIRST_PORT + frame % l->s->flows);
	frames_packet_write(to, bytes, &l->id, w->spec->whole);
	return (size_t)bytes + FRAMES_ETHERNET;
}

/* ENOBUFS: the queue of the sending device itself dropped it; so it was offered. */
static bool was_pushed_back(int code)
{
	return code == EAGAIN || code == EINTR;
}

static int send_ready(struct lane *l, struct work *w, int n, struct err *err)
{
	struct mmsghdr batch[BATCH];
	struct iovec iov[BATCH];
	int64_t now;

	for (int i = 0; i < n; i++) {
		unsigned char *at = w->buffer + (size_t)i * FRAME_MOST;

		iov[i] = (struct iovec){at, write_frame(l, w, l->given + i, at)};
		batch[i] = (struct mmsghdr){.msg_hdr = {.msg_iov = &iov[i], .msg_iovlen = 1}};
	}
	now = real_ns();
	for (int i = 0; i < n;) {
		int sent = sendmmsg(l->tx, batch + i, (unsigned)(n - i), MSG_DONTWAIT);

		for (int k = i; k < i + sent; k++)
			l->log->sent_ns[l->given + k] = now;
		i += sent > 0 ? sent : 0;
		if (sent >= 0)
			continue;
		if (!was_pushed_back(errno) && errno != ENOBUFS)
			return err_sys(err, errno, "cannot send a frame");
		l->log->refused += was_pushed_back(errno);
		l->log->sent_ns[l->given + i++] = was_pushed_back(errno) ? 0 : now;
	}
	l->given += n;
	return 0;
}

static int64_t next_due(const struct work *w)
{
	int64_t next = INT64_MAX;

	for (size_t i = 0; i < w->spec->n; i++) {
		const struct lane *l = &w->lane[i];

		if (l->given < l->s->count && due_ns(l, w, l->given) < next)
			next = due_ns(l, w, l->given);
	}
	return next;
}

static int send_all(struct work *w, struct err *err)
{
	int64_t next, end = w->spec->send_ns ? w->start_ns + w->spec->send_ns : INT64_MAX;

	while ((next = next_due(w)) != INT64_MAX && clock_now_ns() < end) {
		for (size_t i = 0; i < w->spec->n; i++) {
			int n = ready(&w->lane[i], w, clock_now_ns());
			int rc = n ? send_ready(&w->lane[i], w, n, err) : 0;

			if (rc)
				return rc;
		}
		drain_all(w);
		next = next_due(w);
		if (next != INT64_MAX && next - clock_now_ns() > SPIN_NS)
			clock_sleep_until_ns(next);
	}
	return 0;
}

static void await_rest(struct work *w)
{
	int64_t sent = clock_now_ns();

	w->last_ns = sent;
	for (;;) {
		struct pollfd p[FRAMES_STREAMS];
		int64_t now, end = w->last_ns + w->spec->quiet_ns;

		for (size_t i = 0; i < w->spec->n; i++)
			p[i] = (struct pollfd){.fd = w->lane[i].rx, .events = POLLIN};
		if (end > sent + w->spec->limit_ns)
			end = sent + w->spec->limit_ns;
		now = clock_now_ns();
		if (now >= end)
			return;
		poll(p, w->spec->n, (int)((end - now) / NSEC_PER_MSEC) + 1);
		drain_all(w);
	}
}

/* ---- all of it ---- */

static void count_overrun(struct lane *l)
{
	struct tpacket_stats stats = {0};
	socklen_t len = sizeof(stats);

	if (getsockopt(l->rx, SOL_PACKET, PACKET_STATISTICS, &stats, &len) == 0)
		l->log->overrun = stats.tp_drops;
}

static int answer(const struct work *w, int out_fd, struct err *err)
{
	for (size_t i = 0; i < w->spec->n; i++) {
		const struct frames_log *log = w->lane[i].log;
		struct frames_head head = {.n_sent = log->n_sent,
					   .n_arrivals = log->n_arrivals,
					   .foreign = log->foreign,
					   .refused = log->refused,
					   .overrun = log->overrun};
		int rc = file_write_fd(out_fd, &head, sizeof(head));

		if (!rc)
			rc = file_write_fd(out_fd, log->sent_ns,
					   log->n_sent * sizeof(*log->sent_ns));
		if (!rc)
			rc = file_write_fd(out_fd, log->arrivals,
					   log->n_arrivals * sizeof(*log->arrivals));
		if (rc)
			return err_sys(err, -rc, "cannot answer");
	}
	return 0;
}

/* The process ends after this: sockets, ring and memory go with it. */
int frames_inside(void *arg, int out_fd, struct err *err)
{
	const struct frames_spec *spec = arg;
	struct work w = {.spec = spec, .buffer = mem_zalloc((size_t)BATCH * FRAME_MOST)};
	struct frames_log logs[FRAMES_STREAMS] = {0};
	int rc = 0;

	prctl(PR_SET_TIMERSLACK, 1);
	setpriority(PRIO_PROCESS, 0, NICE); /* where root allows it: programs beside it wait */
	for (size_t i = 0; i < spec->n && !rc; i++) {
		struct lane *l = &w.lane[i];

		l->s = &spec->stream[i];
		l->log = &logs[i];
		l->id = (struct frames_id){.run = (uint16_t)(clock_now_ns() / NSEC_PER_MSEC),
					   .stream = (uint8_t)i};
		l->log->n_sent = (size_t)l->s->count;
		l->log->sent_ns = mem_zalloc((size_t)l->s->count * sizeof(int64_t) + 1);
		rc = open_lane(l, spec, err);
	}
	w.start_ns = clock_now_ns() + START_NS;
	if (!rc)
		rc = send_all(&w, err);
	if (rc)
		return rc;
	await_rest(&w);
	for (size_t i = 0; i < spec->n; i++) {
		logs[i].n_sent = (size_t)w.lane[i].given;
		count_overrun(&w.lane[i]);
	}
	return answer(&w, out_fd, err);
}
