/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * udp: what the engines of UDP streams share: udp_stream, udp_maerts, udp_bidir, udp_multicast.
 * Private to this folder.
 *
 * Each stream has one end that sends (udp_send.c) and one or more that receive (udp_receive.c);
 * which one this is follows from stream_sends(). udp_counts.c writes and reads what they found.
 */
#ifndef VPCLAB_ENGINE_UDP_H
#define VPCLAB_ENGINE_UDP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "core/base/units.h"
#include "core/engine/engines.h"
#include "core/engine/pace.h"
#include "core/engine/seq.h"
#include "core/engine/worker.h"
#include "core/stats/hist.h"

#define UDP_BATCH     64   /* messages of one sendmmsg() or recvmmsg() */
#define UDP_SEGMENTS  64   /* datagrams of one message with io gso; newer kernels take 128 */
#define UDP_DATAGRAMS 1024 /* of one sendmmsg(), at most */
#define UDP_MAX	      65507
#define UDP_LINGER_NS (100 * NSEC_PER_MSEC)
#define UDP_NEAR_NS   (20 * NSEC_PER_USEC)
#define UDP_CONTROL   64 /* room for SO_RXQ_OVFL and UDP_GRO */

struct udp_batch { /* memory for one sendmmsg() or recvmmsg() */
	struct mmsghdr msgs[UDP_BATCH];
	struct iovec iovs[UDP_BATCH];
	char control[UDP_BATCH][UDP_CONTROL] __attribute__((aligned(8)));
	char *data;
	size_t stride; /* from message to message */
};

struct udp_sender {
	struct pace pace;
	bool paced;
	int full;	 /* messages a batch has room for */
	int most;	 /* messages a batch, as the path takes them */
	int segments;	 /* datagrams a message: 1 but for io gso */
	int64_t spin_ns; /* so long before a packet is due, look at the clock; 0: sleep */
	uint8_t phase[UDP_DATAGRAMS]; /* enum window_phase; of the batch */
	uint64_t sent[PHASE_TAIL + 1];
	int64_t refused;	      /* sends that the local system would not do */
	int64_t sending_ns;	      /* paced: in the calls, in the window */
	int64_t last_ns, last_due_ns; /* of the packet before; 0: there was none */
	struct hist *gap;	      /* paced: ns between packets of the window, as handed over */
	int64_t near;		      /* of gap_error, at most UDP_NEAR_NS */
	struct hist *gap_error;	      /* paced: how far that is from the schedule's gap */
};

struct udp_receiver {
	int full; /* messages a batch has room for */
	struct seq seq[PHASE_TAIL + 1];
	struct hist *delay;	      /* ns, of the window's packets */
	int64_t messages;	      /* of all phases: fewer than datagrams with io gso */
	int64_t drops;		      /* of the socket, when the last datagram was queued */
	int64_t drops_from, drops_to; /* when the window's first one was, and the first after; -1 */
	bool steered;		      /* this stream holds steer.h's device */
	int64_t xdp_drops;	      /* io afxdp: of its rings */
	int64_t backlog;	      /* steer_backlog_drops() at the start */
	_Atomic int64_t measured;     /* unique ones of the window; the watcher reads it */
	_Atomic int64_t heard_ns, longest_ns; /* last arrival; longest delay */
};

struct udp_stream { /* a stream's own */
	struct udp_batch batch;
	bool gso, steer, xdp; /* spec.io */
	struct udp_sender tx;
	struct udp_receiver rx;
};

/* How many of a worker's streams send, one way: of a group, only the first one. */
static inline int udp_senders(const struct worker *w)
{
	return w->def->group ? 1 : w->spec.streams;
}

/* The stream whose datagrams come to this one. */
static inline const struct stream *udp_source(const struct stream *s)
{
	return s->w->def->group ? &s->w->streams[0] : s;
}

/* What all their engine_defs have alike. */
#define UDP_STREAM_PARTS                                                                           \
	.datagram = true, .unit = UNIT_PACKETS, .stream = true, .paced = true,                     \
	.linger_ns = UDP_LINGER_NS, .max_gap_ns = {100 * NSEC_PER_MSEC, INT64_MAX},                \
	.prepare = udp_stream_prepare, .release = udp_stream_release, .report = udp_counts_report, \
	.merge = udp_counts_merge, .settled = udp_receive_settled, .sent = udp_counts_sent

/* udp_stream.c: parts of an engine_def. */
int udp_stream_check(const struct engine_spec *s, struct err *err);
void udp_stream_prepare(struct stream *s);
void udp_stream_body(struct stream *s);
void udp_stream_release(struct stream *s);
void udp_batch_init(struct udp_batch *b, size_t size, int messages, bool control);

/* udp_send.c, udp_receive.c: one end of a stream. */
void udp_send_prepare(struct stream *s);
void udp_send(struct stream *s);
void udp_send_release(struct stream *s);
void udp_receive_prepare(struct stream *s);
void udp_receive(struct stream *s);
void udp_receive_release(struct stream *s);
/* For udp_xdp.c. One datagram's payload; `drops` of the host when it was queued: 1 when it is ours
 * and new. Counts `fresh` of those that came in `messages` at once. Takes what the socket has, or
 * waits for it; new datagrams, -1 when the stream has failed. */
int udp_receive_payload(struct stream *s, const char *data, size_t len, int64_t drops, int64_t now);
void udp_receive_count(struct stream *s, int messages, int fresh, int64_t now);
int udp_receive_read(struct stream *s, bool wait);
int64_t udp_receive_drops(const struct stream *s); /* of the socket and of io afxdp's rings */
void udp_xdp(struct stream *s, int device);	   /* io afxdp: receives until it is over */
bool udp_receive_settled(struct worker *w, int64_t now_ns); /* engine_def.settled */
/* Datagrams that one drop of the socket's counter can be, at most: more than 1 with io gso only. */
int64_t udp_receive_drop(const struct stream *s);
/* Datagrams of the window that this host dropped at the socket, at most. */
int64_t udp_receive_lost_here(const struct stream *s);

/* udp_counts.c: parts of an engine_def. */
json_t *udp_counts_sent(struct worker *w);
void udp_counts_report(struct worker *w, json_t *result);
void udp_counts_merge(const struct engine_spec *s, const json_t *client, const json_t *server,
		      struct engine_result *out);

#endif
