/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lane: one direction of a relay, from arrival to departure. Called by loop.c and relay.c. */
#include "emulator/relay/lane.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "core/base/clock.h"
#include "emulator/relay/frame.h"

#define RING_SHARE    16 /* of the memory for packets: what the ring in front of it has */
#define RING_LEAST    ((size_t)256 << 10)
#define POOL_QUARTERS 9 /* blocks are powers of two: so much for what is promised to packets */
#define MAC_BYTES     12
#define TAG_BYTES     4

struct packet {
	struct packet *next; /* in the list of those held */
	int64_t arrival_ns, due_ns;
	struct fatelog_record *record; /* or NULL */
	uint32_t len;
	bool copy, reordered;
	/* What is sent, in one piece. */
	uint8_t vnet[PORT_VNET_BYTES];
	uint8_t data[];
};

int lane_open(struct lane *l, int direction, const struct relay_spec *s, struct fatelog *log,
	      struct err *err)
{
	const struct relay_direction *d = &s->dir[direction];
	size_t bytes = (size_t)(s->memory_bytes ? s->memory_bytes : RELAY_MEMORY_BYTES);
	size_t ring = bytes / RING_SHARE > RING_LEAST ? bytes / RING_SHARE : RING_LEAST;
	int rc;

	*l = (struct lane){.direction = direction, .in.fd = -1, .log = log};
	l->held_end = &l->held;
	l->stats = mem_zalloc(sizeof(*l->stats));
	l->most_bytes = (int64_t)bytes;
	rc = pool_init(&l->pool, bytes / 4 * POOL_QUARTERS, err);
	if (!rc)
		rc = queue_init(&l->queue, pool_blocks(&l->pool), err);
	if (!rc)
		rc = port_out_open(&l->out, d->out, err);
	lane_set(l, &d->impair, clock_now_ns());
	if (!rc) /* last: from here on packets count */
		rc = port_in_open(&l->in, d->in, ring, err);
	if (rc)
		lane_close(l);
	return rc;
}

void lane_close(struct lane *l)
{
	port_in_close(&l->in);
	port_out_close(&l->out);
	queue_done(&l->queue);
	pool_done(&l->pool);
	trace_free(l->trace);
	free(l->stats);
	*l = (struct lane){.in.fd = -1};
}

static bool same_trace(const struct wire_impair *a, const struct wire_impair *b)
{
	return a->trace_n == b->trace_n &&
	       (!a->trace_n ||
		memcmp(a->trace_ms, b->trace_ms, a->trace_n * sizeof(*a->trace_ms)) == 0);
}

static bool same(const struct wire_impair *a, const struct wire_impair *b)
{
	return same_trace(a, b) && relay_impair_equal(a, b);
}

void lane_set(struct lane *l, const struct wire_impair *impair, int64_t now_ns)
{
	bool traced = l->fate.impair && same_trace(l->fate.impair, impair);

	if (l->fate.impair && same(l->fate.impair, impair)) {
		l->fate.impair = impair; /* the old one may go */
		trace_borrow(l->trace, impair->trace_ms);
		return;
	}
	fate_init(&l->fate, impair, l->direction, now_ns);
	l->floor_ns = 0;
	if (traced) {
		trace_borrow(l->trace, impair->trace_ms);
		return;
	}
	trace_free(l->trace);
	l->trace = impair->trace_n ? trace_new(impair->trace_ms, impair->trace_n, now_ns) : NULL;
}

/* A record for a packet that has just come; the copy of one is told by its own. */
static struct fatelog_record *note(struct lane *l, const struct port_frame *f, enum fate_cause why)
{
	struct fatelog_record *r = fatelog_add(l->log, l->direction);

	if (!r)
		return NULL;
	r->number = l->number;
	r->arrival_ns = f->arrival_ns;
	r->len = (uint32_t)f->full_len;
	r->cause = (uint8_t)why;
	r->kept = (uint16_t)(f->len < FATELOG_BYTES ? f->len : FATELOG_BYTES);
	memcpy(r->data, f->data, r->kept);
	return r;
}

static void mark(struct fatelog_record *r, enum fatelog_flag flag, bool set)
{
	if (r && set)
		r->flags |= (uint8_t)flag;
}

static void lose(struct lane *l, struct fatelog_record *r, enum fate_cause why)
{
	l->stats->lost[why]++;
	if (r)
		r->cause = (uint8_t)why;
}

static uint32_t copy_frame(const struct port_frame *f, struct packet *p)
{
	struct virtio_net_hdr vnet = f->vnet;
	uint16_t tag[2] = {htons(f->tpid), htons(f->tci)};

	vnet.flags &= VIRTIO_NET_HDR_F_NEEDS_CSUM;
	if (!f->tagged || f->len < MAC_BYTES) {
		memcpy(p->vnet, &vnet, sizeof(vnet));
		memcpy(p->data, f->data, f->len);
		return (uint32_t)f->len;
	}
	vnet.csum_start += TAG_BYTES;
	memcpy(p->vnet, &vnet, sizeof(vnet));
	memcpy(p->data, f->data, MAC_BYTES);
	memcpy(p->data + MAC_BYTES, tag, TAG_BYTES);
	memcpy(p->data + MAC_BYTES + TAG_BYTES, f->data + MAC_BYTES, f->len - MAC_BYTES);
	return (uint32_t)f->len + TAG_BYTES;
}

/* A checksum that is still to be done would make good what is broken here: so it is done first. */
static void corrupt(struct packet *p, uint64_t bit)
{
	struct virtio_net_hdr vnet;

	memcpy(&vnet, p->vnet, sizeof(vnet));
	if (vnet.flags & VIRTIO_NET_HDR_F_NEEDS_CSUM) {
		frame_finish_checksum(p->data, p->len, vnet.csum_start, vnet.csum_offset);
		memset(p->vnet, 0, sizeof(p->vnet));
	}
	frame_flip(p->data, p->len, bit);
}

/* NULL: no memory. */
static struct packet *hold(struct lane *l, const struct port_frame *f)
{
	size_t bytes = sizeof(struct packet) + f->len + TAG_BYTES;
	struct packet *p;

	if (l->stats->waiting_packets == (int64_t)l->queue.max ||
	    l->stats->waiting_bytes + (int64_t)f->len > l->most_bytes)
		return NULL;
	p = pool_get(&l->pool, bytes);
	if (!p)
		return NULL;
	*p = (struct packet){.arrival_ns = f->arrival_ns};
	p->len = copy_frame(f, p);
	l->stats->waiting_packets++;
	l->stats->waiting_bytes += p->len;
	return p;
}

static void let_go(struct lane *l, struct packet *p)
{
	l->stats->waiting_packets--;
	l->stats->waiting_bytes -= p->len;
	pool_put(&l->pool, p);
}

static void queue_packet(struct lane *l, struct packet *p, int64_t due_ns)
{
	p->due_ns = due_ns;
	if (p->record)
		p->record->due_ns = due_ns;
	queue_push(&l->queue, due_ns, p);
}

/* Those that were held back leave at `due_ns`, behind what is queued for that time. */
static void queue_held(struct lane *l, int64_t due_ns, bool overtaken)
{
	while (l->held) {
		struct packet *p = l->held;

		l->held = p->next;
		p->reordered = overtaken && !p->copy; /* a copy is a duplicate, RFC 5560 */
		mark(p->record, FATELOG_REORDERED, p->reordered);
		queue_packet(l, p, due_ns);
	}
	l->held_end = &l->held;
}

static void schedule(struct lane *l, struct packet *p, int64_t due_ns, bool held)
{
	if (due_ns < l->floor_ns)
		due_ns = l->floor_ns;
	l->floor_ns = due_ns;
	if (held) {
		p->due_ns = due_ns;
		*l->held_end = p;
		l->held_end = &p->next;
		return;
	}
	queue_packet(l, p, due_ns);
	queue_held(l, due_ns, true);
}

struct passing { /* a packet on its way in */
	const struct port_frame *frame;
	const struct frame *headers;
	const struct fate_of *fate;
};

/* The packet, or its copy. */
static void pass(struct lane *l, const struct passing *a, struct fatelog_record *r, bool copy)
{
	int64_t start = a->frame->arrival_ns;
	struct packet *p = hold(l, a->frame);

	if (p && l->trace)
		start = trace_pass(l->trace, start, (int64_t)a->headers->l3_bytes);
	if (start < 0) {
		let_go(l, p);
		p = NULL;
	}
	if (!p) {
		lose(l, r, FATE_QUEUE);
		return;
	}
	p->record = r;
	p->copy = copy;
	if (a->fate->corrupted)
		corrupt(p, a->fate->bit);
	schedule(l, p, start + (copy ? a->fate->copy_delay_ns : a->fate->delay_ns), a->fate->held);
}

static void admit(struct lane *l, const struct port_frame *f)
{
	struct fatelog_record *r;
	struct frame headers;
	struct fate_of fate;
	const struct passing a = {f, &headers, &fate};

	l->number++;
	l->stats->in_packets++;
	l->stats->in_bytes += (int64_t)f->full_len;
	frame_read(f->data, f->len, &headers);
	fate_next(&l->fate, (int64_t)headers.ip_bytes, f->arrival_ns, &fate);
	if (!fate.cause && f->full_len > f->len)
		fate.cause = FATE_OVERSIZE;
	r = note(l, f, fate.cause);
	if (fate.cause) {
		l->stats->lost[fate.cause]++;
		return;
	}
	l->stats->corrupted += fate.corrupted;
	mark(r, FATELOG_CORRUPTED, fate.corrupted);
	pass(l, &a, r, false);
	if (!fate.duplicated)
		return;
	l->stats->duplicated++;
	r = note(l, f, FATE_PASS);
	mark(r, FATELOG_COPY, true);
	mark(r, FATELOG_CORRUPTED, fate.corrupted);
	pass(l, &a, r, true);
}

unsigned lane_take(struct lane *l, int64_t now_ns, int64_t wall_ns)
{
	struct port_frame f;
	unsigned n = 0;

	while (n < PORT_BATCH && port_in_next(&l->in, now_ns, wall_ns, &f)) {
		admit(l, &f);
		port_in_done(&l->in);
		n++;
	}
	return n;
}

/* Nothing has come that could overtake them. */
static void release_held(struct lane *l, int64_t now_ns)
{
	int64_t limit_ns = l->held ? l->held->due_ns + LANE_HOLD_NS : INT64_MAX;

	if (now_ns < limit_ns)
		return;
	if (l->floor_ns < now_ns)
		l->floor_ns = now_ns;
	queue_held(l, l->floor_ns, false);
}

static void gone(struct lane *l, const struct packet *p, int64_t now_ns)
{
	struct lane_stats *s = l->stats;
	bool late = now_ns - p->due_ns > RELAY_LATE_NS;

	s->out_packets++;
	s->out_bytes += p->len;
	s->late += late;
	s->reordered += p->reordered;
	hist_add(&s->asked, p->due_ns - p->arrival_ns);
	hist_add(&s->given, now_ns - p->arrival_ns);
	hist_add(&s->slip, now_ns - p->due_ns);
	if (p->record)
		p->record->departure_ns = now_ns;
	mark(p->record, FATELOG_LATE, late);
}

struct batch {
	struct queue_item items[PORT_BATCH];
	struct mmsghdr v[PORT_BATCH];
	struct iovec iov[PORT_BATCH];
	unsigned n;
};

static void collect(struct lane *l, int64_t now_ns, struct batch *b)
{
	const struct queue_item *first;

	for (b->n = 0; b->n < PORT_BATCH; b->n++) {
		struct packet *p;

		first = queue_first(&l->queue);
		if (!first || first->due_ns > now_ns)
			break;
		b->items[b->n] = queue_pop(&l->queue);
		p = b->items[b->n].what;
		b->iov[b->n] = (struct iovec){p->vnet, PORT_VNET_BYTES + p->len};
		b->v[b->n] =
		    (struct mmsghdr){.msg_hdr = {.msg_iov = &b->iov[b->n], .msg_iovlen = 1}};
	}
}

int lane_give(struct lane *l, int64_t now_ns)
{
	unsigned done = 0;
	struct batch b;

	release_held(l, now_ns);
	collect(l, now_ns, &b);
	while (done < b.n) {
		int sent = port_out_send(&l->out, b.v + done, b.n - done);
		int64_t at = clock_now_ns();

		if (sent == -EAGAIN)
			break;
		for (int i = 0; i < sent; i++, done++) {
			gone(l, b.items[done].what, at);
			let_go(l, b.items[done].what);
		}
		if (sent <= 0) {
			struct packet *p = b.items[done++].what;

			lose(l, p->record, FATE_SEND);
			let_go(l, p);
		}
	}
	for (unsigned i = done; i < b.n; i++)
		queue_put_back(&l->queue, b.items[i]);
	return done < b.n && !done ? -EAGAIN : (int)done;
}

int64_t lane_next_ns(const struct lane *l)
{
	const struct queue_item *first = queue_first(&l->queue);
	int64_t next = first ? first->due_ns : INT64_MAX;

	if (l->held && l->held->due_ns + LANE_HOLD_NS < next)
		next = l->held->due_ns + LANE_HOLD_NS;
	return next;
}
