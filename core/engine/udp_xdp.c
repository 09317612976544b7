/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * udp_xdp: the receiving end of a UDP stream with io afxdp. The first datagram comes through the
 * socket and tells the device; from then on they come through xdp.h, and those that its filter lets
 * pass (fragments, other queues) through the socket still. Called by udp_receive.c.
 */
#include <poll.h>
#include <stdlib.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/engine/udp.h"
#include "core/engine/xdp.h"

#define UDP_XDP_BATCH 64
#define UDP_XDP_MS    20 /* the end is noticed within this */

/* Gives the number of frames that there were. */
static int udp_xdp_read(struct stream *s, struct xdp *x)
{
	struct udp_receiver *r = &((struct udp_stream *)s->own)->rx;
	struct xdp_payload payloads[UDP_XDP_BATCH];
	int n = xdp_take(x, payloads, UDP_XDP_BATCH), fresh = 0;
	if (!n)
		return 0;
	int64_t now = clock_now_ns();
	r->xdp_drops = xdp_drops(x);
	int64_t drops = udp_receive_drops(s);
	for (int i = 0; i < n; i++)
		fresh += udp_receive_payload(s, payloads[i].data, payloads[i].size, drops, now);
	xdp_give_back(x, n);
	if (fresh)
		udp_receive_count(s, n, fresh, now);
	return n;
}

static void udp_xdp_receive(struct stream *s, struct xdp *x)
{
	struct udp_receiver *r = &((struct udp_stream *)s->own)->rx;
	for (;;) {
		bool over = worker_over(s->w);
		if (udp_xdp_read(s, x))
			continue;
		int fresh = udp_receive_read(s, false);
		if (fresh < 0 || (over && !fresh))
			break;
		struct pollfd fds[2] = {{.fd = x->fd, .events = POLLIN},
					{.fd = s->fd, .events = POLLIN}};
		if (!fresh)
			poll(fds, 2, UDP_XDP_MS);
	}
	r->xdp_drops = xdp_drops(x);
}

void udp_xdp(struct stream *s, int device)
{
	struct worker *w = s->w;
	struct xdp *x = mem_zalloc(sizeof(*x));
	if (xdp_open(x, device, w->family, socket_port(s->fd), &s->err)) {
		atomic_store(&w->failed, true);
	} else {
		udp_xdp_receive(s, x);
		xdp_close(x);
	}
	free(x);
}
