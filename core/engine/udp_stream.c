/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * udp_stream, udp_maerts and udp_bidir: UDP from client to server, from server to client, or both,
 * on a schedule or as fast as it goes.
 *
 * Two counts are kept apart. Accounting is by packet: each carries its phase and number (packet.h),
 * so sent = received + lost holds exactly for those of the window, wherever they were at its edges;
 * the sender's total comes over the control channel, and the receiver waits for stragglers before
 * it counts. The headline rate is by time: what arrived, once, between the edges of the window, so
 * that a queue that fills up or drains does not pass for capacity.
 *
 * How datagrams are handed over (spec.io), named in the result:
 *   plain  each datagram is a packet of its own: no segmentation offload, whose bursts are one
 *          packet to the path and many to us. The default.
 *   gso    UDP_SEGMENT and UDP_GRO, udp(7): up to 64 datagrams are one packet to the path, unless
 *          its sender's device segments them. What is counted are datagrams, not wire packets.
 *   steer  plain, and the kernel's work of receiving is moved to the receiver's CPU, see steer.h.
 *   afxdp  steer, and the receiver takes packets before the kernel's stack does, see xdp.h. One
 *          stream. Its drops are seen a little later than they happened, and what counts above the
 *          device (nft, /proc/net/snmp) does not see these packets.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/base/str.h"
#include "core/base/units.h"
#include "core/engine/packet.h"
#include "core/engine/udp.h"

static const char *const udp_ios[] = {"plain", "gso", "steer", "afxdp"};

static int udp_stream_check_io(const struct engine_spec *s, struct err *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(udp_ios); i++)
		if (!*s->io || str_eq(s->io, udp_ios[i]))
			return 0;
	const char *near = str_suggest(s->io, udp_ios, ARRAY_SIZE(udp_ios));
	return near ? err_input(err, "io: %s has no '%s'; did you mean '%s'?",
				engine_test_name(s->test), s->io, near)
		    : err_input(err, "io: %s has no '%s'; there are plain, gso, steer, afxdp",
				engine_test_name(s->test), s->io);
}

int udp_stream_check(const struct engine_spec *s, struct err *err)
{
	bool paced = s->rate_bps || s->rate_pps;
	if (s->size && (s->size < PACKET_MIN || s->size > UDP_MAX))
		return err_input(err, "size: a datagram of %s has %d to %d bytes",
				 engine_test_name(s->test), PACKET_MIN, UDP_MAX);
	if (s->burst > 1 && !paced)
		return err_input(err, "burst: needs a rate: rate_bps or rate_pps");
	if (s->schedule != SCHEDULE_PERIODIC && !paced)
		return err_input(err, "schedule: needs a rate: rate_bps or rate_pps");
	if (str_eq(s->io, "afxdp") && s->streams > 1)
		return err_input(err, "streams: io afxdp takes one stream from a device, not %d",
				 s->streams);
	return udp_stream_check_io(s, err);
}

void udp_batch_init(struct udp_batch *b, size_t size, int messages, bool control)
{
	b->stride =
	    (size + 63) / 64 * 64 + 64; /* not a power of two: spreads over the cache's sets */
	b->data = mem_zalloc(b->stride * (size_t)messages);
	for (int i = 0; i < messages; i++) {
		b->iovs[i] = (struct iovec){b->data + b->stride * (size_t)i, size};
		b->msgs[i].msg_hdr = (struct msghdr){.msg_iov = &b->iovs[i], .msg_iovlen = 1};
		if (control)
			b->msgs[i].msg_hdr.msg_control = b->control[i];
	}
}

void udp_stream_prepare(struct stream *s)
{
	struct udp_stream *u = mem_zalloc(sizeof(*u));
	s->own = u;
	u->gso = str_eq(s->w->spec.io, "gso");
	u->steer = str_eq(s->w->spec.io, "steer");
	u->xdp = str_eq(s->w->spec.io, "afxdp");
	if (stream_sends(s))
		udp_send_prepare(s);
	else
		udp_receive_prepare(s);
}

void udp_stream_body(struct stream *s)
{
	if (stream_sends(s))
		udp_send(s);
	else
		udp_receive(s);
}

void udp_stream_release(struct stream *s)
{
	struct udp_stream *u = s->own;
	if (stream_sends(s))
		udp_send_release(s);
	else
		udp_receive_release(s);
	free(u->batch.data);
	free(u);
}

static const char *const udp_stream_aliases[] = {"udp_bw", NULL};

const struct engine_def udp_stream_engine = {
    .test = TEST_UDP_STREAM,
    .name = "udp_stream",
    .aliases = udp_stream_aliases,
    .check = udp_stream_check,
    .body = {udp_stream_body, udp_stream_body},
    UDP_STREAM_PARTS,
};
