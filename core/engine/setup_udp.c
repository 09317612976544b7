/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * setup_udp: UDP streams. The server has a port a stream. The client says hello on each, with a
 * datagram that is answered, and repeats it for 1.5 s: that fills neighbour and NAT tables before
 * the start. Where the server sends, it does so to where the hello came from, which is the NAT's
 * address if there is one. A stream goes on without an answer, since a path that loses everything
 * is a result too. Called by setup.c.
 */
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/base/units.h"
#include "core/engine/packet.h"
#include "core/engine/setup.h"

#define SETUP_HELLO_NS (50 * NSEC_PER_MSEC) /* the first wait; it doubles */
#define SETUP_HELLOS   5
#define SETUP_BREATH_NS                                                                            \
	(2 * NSEC_PER_MSEC) /* between two batches of hellos that nobody answers                   \
			     */

/* The destination address of a datagram comes with it: the answer has to leave from there. */
static int setup_want_destination(int fd, int family)
{
	int on = 1;
	return family == AF_INET6 ? setsockopt(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, &on, sizeof(on))
				  : setsockopt(fd, IPPROTO_IP, IP_PKTINFO, &on, sizeof(on));
}

static int setup_bind_stream(struct stream *s, struct err *err)
{
	struct worker *w = s->w;
	s->fd = socket_open(&w->spec, true, w->family, err);
	if (s->fd < 0)
		return s->fd;
	setsockopt(s->fd, SOL_SOCKET, SO_RXQ_OVFL, &(int){1}, sizeof(int));
	int r = setup_bind_any(s->fd, w->family, err);
	if (r)
		return r;
	/* For setup_answering(). Before the bind, two streams could have been given one port. */
	setsockopt(s->fd, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int));
	if (setup_want_destination(s->fd, w->family))
		return err_sys(err, errno, "asking for destination addresses");
	s->port = socket_port(s->fd);
	return 0;
}

int setup_bind_streams(struct worker *w, json_t *ports, struct err *err)
{
	for (int i = 0; i < w->n_streams; i++) {
		int r = setup_bind_stream(&w->streams[i], err);
		if (r)
			return r;
		json_array_append_new(ports, json_integer(w->streams[i].port));
	}
	return 0;
}

struct setup_datagram {
	struct sockaddr_storage from;
	struct sockaddr_storage to; /* any address, where it is not known */
	char data[64];
	size_t len;
};

/* A link-local one is an address of the device by which the datagram came. */
static void setup_destination(struct msghdr *m, struct sockaddr_storage *to)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_PKTINFO) {
			struct in_pktinfo info;
			memcpy(&info, CMSG_DATA(c), sizeof(info));
			((struct sockaddr_in *)to)->sin_addr = info.ipi_addr;
		} else if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_PKTINFO) {
			struct sockaddr_in6 *six = (struct sockaddr_in6 *)to;
			struct in6_pktinfo info;
			memcpy(&info, CMSG_DATA(c), sizeof(info));
			six->sin6_addr = info.ipi6_addr;
			if (IN6_IS_ADDR_LINKLOCAL(&info.ipi6_addr))
				six->sin6_scope_id = (uint32_t)info.ipi6_ifindex;
		}
	}
}

static int setup_receive(int fd, struct setup_datagram *d)
{
	char control[256];
	struct iovec iov = {.iov_base = d->data, .iov_len = sizeof(d->data)};
	struct msghdr m = {.msg_name = &d->from,
			   .msg_namelen = sizeof(d->from),
			   .msg_iov = &iov,
			   .msg_iovlen = 1,
			   .msg_control = control,
			   .msg_controllen = sizeof(control)};
	ssize_t n = recvmsg(fd, &m, MSG_DONTWAIT);
	if (n < 0)
		return -errno;
	d->len = (size_t)n;
	socket_address(&d->to, d->from.ss_family, NULL, 0);
	setup_destination(&m, &d->to);
	return 0;
}

static bool setup_is_hello(const struct worker *w, const void *data, size_t len)
{
	struct packet p;
	return len == PACKET_MIN && packet_get(data, len, &p) && p.session == w->session &&
	       p.phase == PHASE_HELLO;
}

/* A socket of this stream for one client and one own address, so that answers come from there. */
static int setup_answering(struct stream *s, const struct setup_datagram *d, struct err *err)
{
	struct worker *w = s->w;
	autofd int fd = socket_open(&w->spec, true, w->family, err);
	if (fd < 0)
		return fd;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int));
	setsockopt(fd, SOL_SOCKET, SO_RXQ_OVFL, &(int){1}, sizeof(int));
	struct sockaddr_storage own = d->to;
	socket_set_port(&own, s->port);
	int r = setup_bind(fd, &own, err);
	if (r)
		return r;
	if (connect(fd, (const struct sockaddr *)&d->from, socket_length(&d->from)))
		return err_sys(err, errno, "answering the client");
	int out = fd;
	fd = -1;
	return out;
}

int setup_answer(struct stream *s, struct err *err)
{
	struct worker *w = s->w;
	struct setup_datagram d = {.len = 0};
	while (!setup_receive(s->fd, &d)) {
		if (!setup_is_hello(w, d.data, d.len))
			continue;
		s->hello_bytes += PACKET_MIN;
		autofd int fd = s->attached ? -1 : setup_answering(s, &d, err);
		if (!s->attached && fd < 0)
			return fd;
		send(s->attached ? s->fd : fd, d.data, d.len, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (s->attached || !setup_needs_client(s))
			continue;
		close(s->fd); /* from here on, only this client is heard */
		s->fd = fd;
		fd = -1;
		s->attached = true;
		w->missing--;
		int r = setup_add(w->knock_fd, s->fd, EPOLLIN, s->index, err);
		if (r)
			return r;
	}
	return 0;
}

/* The client's streams, while some are silent. */
struct setup_hellos {
	struct worker *w;
	const struct setup_target *t;
	int epoll_fd; /* with the sockets of those that are silent */
	int silent;
};

/* Reads what this stream's socket has: is there the echo of its hello? */
static int setup_heard(struct setup_hellos *h, struct stream *s, struct err *err)
{
	for (;;) {
		char data[64];
		ssize_t n = recv(s->fd, data, sizeof(data), MSG_DONTWAIT);
		if (n < 0 && errno == EAGAIN)
			return 0;
		if (n < 0 && errno != EINTR)
			return err_sys(err, errno, "greeting %s port %d by UDP", h->t->text,
				       s->port);
		if (n < 0 || !setup_is_hello(h->w, data, (size_t)n))
			continue;
		s->attached = true;
		h->silent--;
		epoll_ctl(h->epoll_fd, EPOLL_CTL_DEL, s->fd, NULL);
		return 0;
	}
}

/* Hears echoes until the deadline, or until no more than `enough` streams are silent. */
static int setup_hear(struct setup_hellos *h, int64_t deadline_ns, int enough, struct err *err)
{
	struct epoll_event e[SETUP_EVENTS];
	while (h->silent > enough) {
		int r = worker_wait(h->w, h->epoll_fd, POLLIN, deadline_ns, err);
		if (r)
			return r == -ETIMEDOUT ? 0 : r;
		int n = epoll_wait(h->epoll_fd, e, SETUP_EVENTS, 0);
		for (int i = 0; i < n && !r; i++)
			r = setup_heard(h, &h->w->streams[e[i].data.u32], err);
		if (r)
			return r;
	}
	return 0;
}

static void setup_say_hello(struct stream *s)
{
	char data[PACKET_MIN];
	struct packet p = {.session = s->w->session, .phase = PHASE_HELLO};
	packet_put(data, sizeof(data), &p);
	send(s->fd, data, sizeof(data), MSG_NOSIGNAL | MSG_DONTWAIT);
	s->hello_bytes += PACKET_MIN;
}

/* A hello on each silent stream, with a breath after each batch. */
static int setup_hello_all(struct setup_hellos *h, struct err *err)
{
	int batch = 0, r = 0;
	for (int i = 0; i < h->w->n_streams && !r; i++) {
		if (h->w->streams[i].attached)
			continue;
		setup_say_hello(&h->w->streams[i]);
		if (++batch < SETUP_BATCH)
			continue;
		r = setup_hear(h, clock_now_ns() + SETUP_BREATH_NS, h->silent - batch, err);
		batch = 0;
	}
	return r;
}

static int setup_open_udp(struct setup_hellos *h, struct err *err)
{
	int r = 0;
	for (int i = 0; i < h->w->n_streams && !r; i++) {
		struct stream *s = &h->w->streams[i];
		r = setup_begin(s, h->t, err);
		if (!r)
			r = setup_add(h->epoll_fd, s->fd, EPOLLIN, i, err);
	}
	return r;
}

int setup_connect_udp(struct worker *w, const struct setup_target *t, struct err *err)
{
	autofd int fd = epoll_create1(EPOLL_CLOEXEC);
	struct setup_hellos h = {.w = w, .t = t, .epoll_fd = fd, .silent = w->n_streams};
	if (fd < 0)
		return err_sys(err, errno, "epoll_create1");
	int r = setup_open_udp(&h, err);
	int64_t wait = SETUP_HELLO_NS;
	for (int try = 0; try < SETUP_HELLOS && h.silent && !r; try++, wait *= 2) {
		int64_t deadline = clock_now_ns() + wait;
		r = setup_hello_all(&h, err);
		if (!r)
			r = setup_hear(&h, deadline, 0, err);
	}
	if (!r && h.silent && w->def->unit == UNIT_TRANSACTIONS)
		return err_fail(err, ETIMEDOUT, "no answer from %s port %d by UDP", t->text,
				t->port);
	return r;
}
