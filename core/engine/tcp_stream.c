/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tcp_stream: bulk data over TCP as fast as it goes: client to server, tcp_maerts the other way,
 * tcp_bidir both (on connections of their own), tcp_sendfile from the pages of a file.
 *
 * The receiver's bytes between the edges of the window are the headline. An edge falls between two
 * reads, or inside one, whose bytes are then shared by time: that is exact where the link
 * serialises evenly, and off by less than one read (at most 256 KiB, 0.2 ms at 10 Gbit/s)
 * elsewhere. Sockets block, and the end comes from the watcher, so the path has two system calls
 * and two clock readings for each 128 KiB.
 *
 * Two ways to spare a copy, both said in the result: `discard` has the receiver's kernel drop the
 * bytes instead of copying them out (MSG_TRUNC, tcp(7)), `io: zerocopy` has the sender's network
 * stack use our pages (MSG_ZEROCOPY; over loopback and veth the kernel copies anyway, and then the
 * result says "plain").
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <linux/errqueue.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/base/str.h"
#include "core/base/units.h"
#include "core/engine/result.h"
#include "core/engine/worker.h"

#define TCP_STREAM_WRITE (128 << 10)
#define TCP_STREAM_READ	 (256 << 10)
#define TCP_DISCARD_READ (4 << 20) /* nothing is copied, so nothing falls out of the cache */

struct tcp_stream {
	char *buf;
	int file;	       /* tcp_sendfile: a file in memory of spec.size bytes, or -1 */
	bool zerocopy;	       /* asked for, and the socket can */
	int64_t sends, copied; /* zerocopy: completed, and of those by copying after all */
	uint32_t open;	       /* zerocopy: sends whose pages are still in use */
};

static void tcp_stream_defaults(struct engine_spec *s)
{
	s->size = TCP_STREAM_WRITE;
}

static int tcp_stream_check(const struct engine_spec *s, struct err *err)
{
	if (!s->size)
		return err_input(err, "size: a write of 0 bytes moves nothing");
	if (s->io[0] && !str_eq(s->io, "plain") && !str_eq(s->io, "zerocopy"))
		return err_input(err, "io: '%s' means nothing to TCP; there are plain and zerocopy",
				 s->io);
	return 0;
}

static int tcp_sendfile_check(const struct engine_spec *s, struct err *err)
{
	if (s->io[0])
		return err_input(err, "io: tcp_sendfile always sends the pages of a file");
	return tcp_stream_check(s, err);
}

static void tcp_stream_sender(struct stream *s, struct tcp_stream *t)
{
	const struct engine_spec *spec = &s->w->spec;
	t->buf = mem_zalloc((size_t)spec->size);
	if (spec->test == TEST_TCP_SENDFILE) {
		t->file = memfd_create("vpclab", MFD_CLOEXEC);
		if (t->file < 0 || write(t->file, t->buf, (size_t)spec->size) != spec->size)
			run_fail(s, errno, "making a file to send");
	}
	if (str_eq(spec->io, "zerocopy"))
		t->zerocopy = !setsockopt(s->fd, SOL_SOCKET, SO_ZEROCOPY, &(int){1}, sizeof(int));
}

static void tcp_stream_prepare(struct stream *s)
{
	struct tcp_stream *t = mem_zalloc(sizeof(*t));
	s->own = t;
	t->file = -1;
	if (stream_sends(s))
		tcp_stream_sender(s, t);
	else
		t->buf = mem_zalloc(TCP_STREAM_READ);
}

static void tcp_stream_release(struct stream *s)
{
	struct tcp_stream *t = s->own;
	if (t->file >= 0)
		close(t->file);
	free(t->buf);
	free(t);
}

static void tcp_stream_receive(struct stream *s)
{
	struct tcp_stream *t = s->own;
	bool discard = s->w->spec.discard;
	size_t most = discard ? TCP_DISCARD_READ : TCP_STREAM_READ;
	int64_t end = s->w->win.end_ns, now = 0;
	while (now < end) {
		ssize_t n = recv(s->fd, discard ? NULL : t->buf, most, discard ? MSG_TRUNC : 0);
		now = clock_now_ns();
		if (n > 0) {
			window_track_add(&s->track, now, n);
		} else if (n == 0 || errno != EINTR) {
			run_fail(s, n ? errno : 0, "receiving");
			return;
		}
	}
}

/* Which sends' pages are free again, and whether the kernel has copied them after all. */
static void tcp_stream_completed(struct stream *s)
{
	struct tcp_stream *t = s->own;
	char control[128];
	struct msghdr m = {.msg_control = control, .msg_controllen = sizeof(control)};
	while (recvmsg(s->fd, &m, MSG_ERRQUEUE | MSG_DONTWAIT) >= 0) {
		for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c)) {
			const struct sock_extended_err *e = (const void *)CMSG_DATA(c);
			if (e->ee_origin != SO_EE_ORIGIN_ZEROCOPY)
				continue;
			uint32_t n = e->ee_data - e->ee_info + 1;
			t->open -= n < t->open ? n : t->open;
			t->sends += n;
			if (e->ee_code & SO_EE_CODE_ZEROCOPY_COPIED)
				t->copied += n;
		}
		m.msg_controllen = sizeof(control);
	}
}

static ssize_t tcp_stream_write(struct stream *s, size_t size)
{
	struct tcp_stream *t = s->own;
	if (t->file >= 0)
		return sendfile(s->fd, t->file, &(off_t){0}, size);
	if (!t->zerocopy)
		return send(s->fd, t->buf, size, MSG_NOSIGNAL);
	ssize_t n = send(s->fd, t->buf, size, MSG_NOSIGNAL | MSG_ZEROCOPY);
	if (n < 0 && errno == ENOBUFS) /* too many pages in use: this one is copied */
		n = send(s->fd, t->buf, size, MSG_NOSIGNAL);
	else if (n > 0)
		t->open++;
	tcp_stream_completed(s);
	return n;
}

/* Goes on a little after the end, so that the receiver's last edge has data on both sides too. */
static void tcp_stream_send(struct stream *s)
{
	size_t size = (size_t)s->w->spec.size;
	int64_t end = s->w->win.end_ns + s->w->def->linger_ns, now = 0;
	while (now < end) {
		ssize_t n = tcp_stream_write(s, size);
		now = clock_now_ns();
		if (n > 0) {
			window_track_add(&s->track, now, n);
			__atomic_store_n(&s->messages, s->messages + 1, __ATOMIC_RELAXED);
		} else if (errno != EINTR) {
			run_fail(s, errno, "sending");
			return;
		}
	}
}

static void tcp_stream_body(struct stream *s)
{
	if (stream_sends(s))
		tcp_stream_send(s);
	else
		tcp_stream_receive(s);
}

static void tcp_stream_report(struct worker *w, json_t *result)
{
	int64_t sends = 0, copied = 0;
	bool asked = false;
	for (int i = 0; i < w->n_streams; i++) {
		struct tcp_stream *t = w->streams[i].own;
		sends += t->sends;
		copied += t->copied;
		asked |= t->zerocopy;
	}
	if (asked)
		json_object_set_new(result, "zerocopy", json_boolean(sends > 2 * copied));
}

/* What really happened, where it was not what was asked for. */
static void tcp_stream_merge(const struct engine_spec *s, const json_t *client,
			     const json_t *server, struct engine_result *out)
{
	const json_t *sender = engines_get(s->test)->way == WAY_BACK ? server : client;
	if (str_eq(s->io, "zerocopy") && !json_is_true(json_object_get(sender, "zerocopy")))
		snprintf(out->io, sizeof(out->io), "plain");
	if (s->test == TEST_TCP_SENDFILE)
		snprintf(out->io, sizeof(out->io), "sendfile");
	if (s->discard)
		out->detail = json_pack("{s:b}", "discarded_unread", true);
}

static const char *const tcp_stream_aliases[] = {"tcp_bw", NULL};
static const char *const tcp_maerts_aliases[] = {"tcp_reverse", NULL};
static const char *const tcp_bidir_aliases[] = {"tcp_duplex", NULL};
static const char *const tcp_sendfile_aliases[] = {"sendfile", NULL};

#define TCP_STREAM_ENGINE                                                                          \
	.unit = UNIT_BYTES, .stream = true, .linger_ns = 100 * NSEC_PER_MSEC,                      \
	.max_gap_ns = {100 * NSEC_PER_MSEC, INT64_MAX}, .defaults = tcp_stream_defaults,           \
	.prepare = tcp_stream_prepare, .body = {tcp_stream_body, tcp_stream_body},                 \
	.release = tcp_stream_release, .report = tcp_stream_report, .merge = tcp_stream_merge

const struct engine_def tcp_stream_engine = {
    TCP_STREAM_ENGINE,	       .test = TEST_TCP_STREAM,
    .name = "tcp_stream",      .aliases = tcp_stream_aliases,
    .check = tcp_stream_check,
};

const struct engine_def tcp_maerts_engine = {
    TCP_STREAM_ENGINE,	       .test = TEST_TCP_MAERTS,
    .name = "tcp_maerts",      .aliases = tcp_maerts_aliases,
    .check = tcp_stream_check, .headline_client = true,
    .way = WAY_BACK,
};

const struct engine_def tcp_bidir_engine = {
    TCP_STREAM_ENGINE,	       .test = TEST_TCP_BIDIR,
    .name = "tcp_bidir",       .aliases = tcp_bidir_aliases,
    .check = tcp_stream_check, .way = WAY_BOTH,
};

const struct engine_def tcp_sendfile_engine = {
    TCP_STREAM_ENGINE,		 .test = TEST_TCP_SENDFILE,
    .name = "tcp_sendfile",	 .aliases = tcp_sendfile_aliases,
    .check = tcp_sendfile_check,
};
