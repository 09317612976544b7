/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tcp_stream: one direction of TCP, client to server, as fast as it goes.
 *
 * The receiver's bytes between the edges of the window are the headline. An edge falls between two
 * reads, or inside one, whose bytes are then shared by time: that is exact where the link
 * serialises evenly, and off by less than one read (at most 256 KiB, 0.2 ms at 10 Gbit/s)
 * elsewhere. Sockets block, and the end comes from the watcher, so the path has two system calls
 * and two clock readings for each 128 KiB.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/base/units.h"
#include "core/engine/result.h"
#include "core/engine/worker.h"

#define TCP_STREAM_WRITE (128 << 10)
#define TCP_STREAM_READ	 (256 << 10)

static void tcp_stream_defaults(struct engine_spec *s)
{
	s->size = TCP_STREAM_WRITE;
}

static int tcp_stream_check(const struct engine_spec *s, struct err *err)
{
	return s->size ? 0 : err_input(err, "size: a write of 0 bytes moves nothing");
}

static void tcp_stream_prepare(struct stream *s)
{
	s->own = mem_zalloc(s->w->server ? TCP_STREAM_READ : (size_t)s->w->spec.size);
}

static void tcp_stream_release(struct stream *s)
{
	free(s->own);
}

static void tcp_stream_receive(struct stream *s)
{
	int64_t end = s->w->win.end_ns, now = 0;
	while (now < end) {
		ssize_t n = recv(s->fd, s->own, TCP_STREAM_READ, 0);
		now = clock_now_ns();
		if (n > 0) {
			window_track_add(&s->track, now, n);
		} else if (n == 0 || errno != EINTR) {
			run_fail(s, n ? errno : 0, "receiving");
			return;
		}
	}
}

/* Goes on a little after the end, so that the receiver's last edge has data on both sides too. */
static void tcp_stream_send(struct stream *s)
{
	size_t size = (size_t)s->w->spec.size;
	int64_t end = s->w->win.end_ns + s->w->def->linger_ns, now = 0;
	while (now < end) {
		ssize_t n = send(s->fd, s->own, size, MSG_NOSIGNAL);
		now = clock_now_ns();
		if (n > 0) {
			window_track_add(&s->track, now, n);
		} else if (errno != EINTR) {
			run_fail(s, errno, "sending");
			return;
		}
	}
}

static const char *const tcp_stream_aliases[] = {"tcp_bw", NULL};

const struct engine_def tcp_stream_engine = {
    .test = TEST_TCP_STREAM,
    .name = "tcp_stream",
    .aliases = tcp_stream_aliases,
    .unit = UNIT_BYTES,
    .linger_ns = 100 * NSEC_PER_MSEC,
    .max_gap_ns = {100 * NSEC_PER_MSEC, INT64_MAX},
    .defaults = tcp_stream_defaults,
    .check = tcp_stream_check,
    .prepare = tcp_stream_prepare,
    .body = {tcp_stream_receive, tcp_stream_send},
    .release = tcp_stream_release,
};
