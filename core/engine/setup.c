/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * setup: from nothing to connected sockets, before any measuring.
 *
 * Each TCP connection begins with a hello of 8 bytes (session, stream) that the server answers with
 * one byte, so a stranger's connection is never measured. UDP has a port a stream and the same
 * hello as a datagram, repeated for 1.5 s: it fills neighbour and NAT tables before the start. A
 * UDP stream goes on without an answer, since a path that loses everything is a result too. Where
 * the server sends, it does so to where the hello came from, which is the NAT's address if there is
 * one.
 *
 * Engines that connect again and again (own_connections) get listening ports and the server's
 * address, and open their connections themselves.
 *
 * Sockets are blocking; whoever waits here does so in worker_wait(), which also hears the control
 * channel. Called by worker.c.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/base/units.h"
#include "core/engine/packet.h"
#include "core/engine/worker.h"

#define SETUP_CONNECT_NS (5 * NSEC_PER_SEC)
#define SETUP_HELLO_NS	 (50 * NSEC_PER_MSEC) /* the first wait; it doubles */
#define SETUP_HELLOS	 5

struct setup_hello { /* of TCP */
	uint32_t session, stream;
};

static int setup_bind(int fd, int family, const struct ip *ip, int port, struct err *err)
{
	struct sockaddr_storage a;
	socklen_t len = socket_address(&a, family, ip, port);
	if (bind(fd, (struct sockaddr *)&a, len))
		return err_sys(err, errno, "binding to port %d", port);
	return 0;
}

/* A listening socket, not blocking, at a free port. */
static int setup_listen(struct worker *w, bool defer, struct err *err)
{
	autofd int fd = socket_open(&w->spec, false, w->family, err);
	if (fd < 0)
		return fd;
	int r = setup_bind(fd, w->family, NULL, 0, err);
	if (r)
		return r;
	if (defer)
		setsockopt(fd, IPPROTO_TCP, TCP_DEFER_ACCEPT, &(int){10}, sizeof(int));
	if (fcntl(fd, F_SETFL, O_NONBLOCK) || listen(fd, w->n_streams + 16))
		return err_sys(err, errno, "listening");
	int out = fd;
	fd = -1;
	return out;
}

static int setup_listen_ports(struct worker *w, json_t *ports, struct err *err)
{
	w->listen_fds = mem_zalloc((size_t)w->spec.ports * sizeof(*w->listen_fds));
	w->listen_ports = mem_zalloc((size_t)w->spec.ports * sizeof(*w->listen_ports));
	for (; w->n_listen < w->spec.ports; w->n_listen++) {
		int fd = setup_listen(w, false, err);
		if (fd < 0)
			return fd;
		w->listen_fds[w->n_listen] = fd;
		w->listen_ports[w->n_listen] = socket_port(fd);
		json_array_append_new(ports, json_integer(socket_port(fd)));
	}
	return 0;
}

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
	int r = setup_bind(s->fd, w->family, NULL, 0, err);
	if (r)
		return r;
	/* For setup_answering(). Before the bind, two streams could have been given one port. */
	setsockopt(s->fd, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int));
	if (setup_want_destination(s->fd, w->family))
		return err_sys(err, errno, "asking for destination addresses");
	s->port = socket_port(s->fd);
	return 0;
}

static int setup_bind_streams(struct worker *w, json_t *ports, struct err *err)
{
	for (int i = 0; i < w->n_streams; i++) {
		int r = setup_bind_stream(&w->streams[i], err);
		if (r)
			return r;
		json_array_append_new(ports, json_integer(w->streams[i].port));
	}
	return 0;
}

int setup_server(struct worker *w, json_t *ready, struct err *err)
{
	if (w->def->open[0])
		return w->def->open[0](w, ready, err);
	if (!w->def->datagram && !w->def->own_connections) {
		/* A connection is only accepted with its hello in it. */
		w->listen_fd = setup_listen(w, true, err);
		if (w->listen_fd < 0)
			return w->listen_fd;
		json_object_set_new(ready, "port", json_integer(socket_port(w->listen_fd)));
		return 0;
	}
	json_t *ports = json_array();
	json_object_set_new(ready, "ports", ports);
	int r = w->def->own_connections ? setup_listen_ports(w, ports, err)
					: setup_bind_streams(w, ports, err);
	json_object_set(ready, "port", json_array_get(ports, 0));
	return r;
}

/* A fresh connection with its hello: is it ours, and which stream? */
static struct stream *setup_greet(struct worker *w, int fd)
{
	struct setup_hello hello;
	if (recv(fd, &hello, sizeof(hello), MSG_DONTWAIT) != sizeof(hello) ||
	    ntohl(hello.session) != w->session || ntohl(hello.stream) >= (uint32_t)w->n_streams)
		return NULL;
	struct stream *s = &w->streams[ntohl(hello.stream)];
	if (s->attached || send(fd, "", 1, MSG_NOSIGNAL) != 1)
		return NULL;
	return s;
}

static int setup_accept(struct worker *w, struct err *err)
{
	for (;;) {
		autofd int fd = accept4(w->listen_fd, NULL, NULL, SOCK_CLOEXEC);
		if (fd < 0 && (errno == EINTR || errno == ECONNABORTED))
			continue;
		if (fd < 0)
			return errno == EAGAIN ? 0 : err_sys(err, errno, "accepting a connection");
		struct stream *s = setup_greet(w, fd);
		if (!s)
			continue;
		socket_abort_on_close(fd);
		s->fd = fd;
		s->attached = true;
		fd = -1;
	}
}

struct setup_datagram {
	struct sockaddr_storage from;
	struct ip to; /* family 0: not known */
	char data[64];
	size_t len;
};

static void setup_destination(struct msghdr *m, struct ip *to)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_PKTINFO) {
			struct in_pktinfo info;
			memcpy(&info, CMSG_DATA(c), sizeof(info));
			to->family = AF_INET;
			memcpy(to->bytes, &info.ipi_addr, 4);
		} else if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_PKTINFO) {
			struct in6_pktinfo info;
			memcpy(&info, CMSG_DATA(c), sizeof(info));
			to->family = AF_INET6;
			memcpy(to->bytes, &info.ipi6_addr, 16);
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
	d->to = (struct ip){0};
	setup_destination(&m, &d->to);
	return 0;
}

static bool setup_is_hello(const struct worker *w, const void *data, size_t len)
{
	struct packet p;
	return len == PACKET_MIN && packet_get(data, len, &p) && p.session == w->session &&
	       p.phase == PHASE_HELLO;
}

/* Must the server know where the client of this stream is? */
static bool setup_needs_client(const struct stream *s)
{
	return s->w->def->unit == UNIT_TRANSACTIONS || stream_sends(s);
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
	int r = setup_bind(fd, w->family, &d->to, s->port, err);
	if (r)
		return r;
	socklen_t len =
	    w->family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
	if (connect(fd, (const struct sockaddr *)&d->from, len))
		return err_sys(err, errno, "answering the client");
	int out = fd;
	fd = -1;
	return out;
}

static int setup_answer(struct stream *s, struct err *err)
{
	struct setup_datagram d = {.len = 0};
	while (!setup_receive(s->fd, &d)) {
		if (!setup_is_hello(s->w, d.data, d.len))
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
	}
	return 0;
}

int setup_attach(struct worker *w, struct err *err)
{
	if (!w->def->datagram)
		return w->listen_fd >= 0 ? setup_accept(w, err) : 0;
	if (w->def->open[0])
		return 0;
	for (int i = 0; i < w->n_streams; i++) {
		int r = setup_answer(&w->streams[i], err);
		if (r)
			return r;
	}
	return 0;
}

bool setup_complete(const struct worker *w)
{
	if (w->def->own_connections || w->def->open[0])
		return true;
	for (int i = 0; i < w->n_streams; i++)
		if (!w->streams[i].attached &&
		    (!w->def->datagram || setup_needs_client(&w->streams[i])))
			return false;
	return true;
}

int setup_pollfds(const struct worker *w, struct pollfd *out)
{
	if (w->def->own_connections || w->def->open[0])
		return 0;
	if (!w->def->datagram) {
		*out = (struct pollfd){.fd = w->listen_fd, .events = POLLIN};
		return 1;
	}
	for (int i = 0; i < w->n_streams; i++)
		out[i] = (struct pollfd){.fd = w->streams[i].fd, .events = POLLIN};
	return w->n_streams;
}

struct setup_target {
	struct ip ip;
	char text[ADDR_TEXT];
	int port;
	const json_t *ports;
};

static int setup_target(const json_t *connect, struct worker *w, struct setup_target *t,
			struct err *err)
{
	const char *address = json_string_value(json_object_get(connect, "address"));
	if (!address)
		return err_input(err, "connect: no address");
	int r = ip_parse(address, &t->ip, err);
	if (r)
		return err_wrap(err, "connect");
	if (t->ip.family != w->family)
		return err_input(err, "connect: %s is not of the family in the specification",
				 address);
	ip_format(t->text, &t->ip);
	t->port = (int)json_integer_value(json_object_get(connect, "port"));
	t->ports = json_object_get(connect, "ports");
	if (t->port < 1 || t->port > 65535)
		return err_input(err, "connect: port %d is not within 1 to 65535", t->port);
	return 0;
}

/* Begins; TCP goes on in the background. */
static int setup_begin(struct stream *s, const struct setup_target *t, struct err *err)
{
	struct worker *w = s->w;
	const json_t *own = json_array_get(t->ports, (size_t)s->index);
	s->port = own ? (int)json_integer_value(own) : t->port;
	if (s->port < 1 || s->port > 65535)
		return err_input(err, "connect: ports: %d is not within 1 to 65535", s->port);
	s->fd = socket_open(&w->spec, w->def->datagram, w->family, err);
	if (s->fd < 0)
		return s->fd;
	struct sockaddr_storage a;
	socklen_t len = socket_address(&a, w->family, &t->ip, s->port);
	setsockopt(s->fd, SOL_SOCKET, SO_RXQ_OVFL, &(int){1}, sizeof(int));
	if (!w->def->datagram && fcntl(s->fd, F_SETFL, O_NONBLOCK))
		return err_sys(err, errno, "preparing a socket");
	if (connect(s->fd, (struct sockaddr *)&a, len) && errno != EINPROGRESS)
		return err_sys(err, errno, "connecting to %s port %d", t->text, s->port);
	return 0;
}

/* worker_wait() with words for a silent peer. */
static int setup_wait(struct stream *s, short events, int64_t deadline,
		      const struct setup_target *t, struct err *err)
{
	int r = worker_wait(s->w, s->fd, events, deadline, err);
	if (r == -ETIMEDOUT)
		err_fail(err, ETIMEDOUT, "no answer from %s port %d within %lld s", t->text,
			 s->port, (long long)(SETUP_CONNECT_NS / NSEC_PER_SEC));
	return r;
}

static int setup_finish(struct stream *s, int64_t deadline, const struct setup_target *t,
			struct err *err)
{
	int r = setup_wait(s, POLLOUT, deadline, t, err);
	if (r)
		return r;
	int code = 0;
	getsockopt(s->fd, SOL_SOCKET, SO_ERROR, &code, &(socklen_t){sizeof(code)});
	if (code)
		return err_sys(err, code, "connecting to %s port %d", t->text, s->port);
	struct setup_hello hello = {htonl(s->w->session), htonl((uint32_t)s->index)};
	if (send(s->fd, &hello, sizeof(hello), MSG_NOSIGNAL) != sizeof(hello))
		return err_sys(err, errno, "greeting %s port %d", t->text, s->port);
	return 0;
}

static int setup_greeted(struct stream *s, int64_t deadline, const struct setup_target *t,
			 struct err *err)
{
	int r = setup_wait(s, POLLIN, deadline, t, err);
	if (r)
		return r;
	char byte;
	ssize_t n = recv(s->fd, &byte, 1, 0);
	if (n != 1)
		return err_fail(err, n ? errno : ECONNREFUSED,
				"%s port %d is not our server: it closed the connection", t->text,
				s->port);
	if (fcntl(s->fd, F_SETFL, 0))
		return err_sys(err, errno, "preparing a socket");
	socket_abort_on_close(s->fd);
	return 0;
}

static int setup_connect_tcp(struct worker *w, const struct setup_target *t, struct err *err)
{
	int64_t deadline = clock_now_ns() + SETUP_CONNECT_NS;
	int r = 0;
	for (int i = 0; i < w->n_streams && !r; i++)
		r = setup_finish(&w->streams[i], deadline, t, err);
	for (int i = 0; i < w->n_streams && !r; i++)
		r = setup_greeted(&w->streams[i], deadline, t, err);
	return r;
}

/* Waits for the echo of this stream's hello; other datagrams do not count. */
static int setup_heard(struct stream *s, int64_t deadline, const struct setup_target *t,
		       struct err *err)
{
	for (;;) {
		int r = worker_wait(s->w, s->fd, POLLIN, deadline, err);
		if (r)
			return r;
		char data[64];
		ssize_t n = recv(s->fd, data, sizeof(data), MSG_DONTWAIT);
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return err_sys(err, errno, "greeting %s port %d by UDP", t->text, s->port);
		if (n >= 0 && setup_is_hello(s->w, data, (size_t)n))
			return 0;
	}
}

static void setup_say_hello(struct stream *s)
{
	char data[PACKET_MIN];
	struct packet p = {.session = s->w->session, .phase = PHASE_HELLO};
	packet_put(data, sizeof(data), &p);
	send(s->fd, data, sizeof(data), MSG_NOSIGNAL | MSG_DONTWAIT);
	s->hello_bytes += PACKET_MIN;
}

static int setup_connect_udp(struct worker *w, const struct setup_target *t, struct err *err)
{
	int64_t wait = SETUP_HELLO_NS;
	int silent = w->n_streams;
	for (int try = 0; try < SETUP_HELLOS && silent; try++, wait *= 2) {
		for (int i = 0; i < w->n_streams; i++)
			if (!w->streams[i].attached)
				setup_say_hello(&w->streams[i]);
		int64_t deadline = clock_now_ns() + wait;
		for (int i = 0; i < w->n_streams; i++) {
			struct stream *s = &w->streams[i];
			int r = s->attached ? -ETIMEDOUT : setup_heard(s, deadline, t, err);
			if (r && r != -ETIMEDOUT)
				return r;
			s->attached |= !r;
			silent -= !r;
		}
	}
	if (silent && w->def->unit == UNIT_TRANSACTIONS)
		return err_fail(err, ETIMEDOUT, "no answer from %s port %d by UDP", t->text,
				t->port);
	return 0;
}

/* The server's ports, for an engine that connects to them itself. */
static int setup_keep_ports(struct worker *w, const struct setup_target *t, struct err *err)
{
	w->listen_ports = mem_zalloc((size_t)w->spec.ports * sizeof(*w->listen_ports));
	for (int i = 0; i < w->spec.ports; i++) {
		const json_t *one = json_array_get(t->ports, (size_t)i);
		w->listen_ports[i] = one ? (int)json_integer_value(one) : t->port;
		if (w->listen_ports[i] < 1 || w->listen_ports[i] > 65535)
			return err_input(err, "connect: ports: %d is not within 1 to 65535",
					 w->listen_ports[i]);
	}
	return 0;
}

/* A flow for each port of the server, from any port here; `probe` is connected, by UDP, so that the
 * kernel has chosen the local address without sending anything. */
static void setup_add_flows(struct worker *w, int probe, json_t *flows)
{
	for (int i = 0; i < w->spec.ports; i++) {
		json_t *flow = socket_flow(probe, false);
		json_object_set_new(flow, "local_port", json_integer(0));
		json_object_set_new(flow, "remote_port", json_integer(w->listen_ports[i]));
		json_array_append_new(flows, flow);
	}
}

int setup_flows(struct worker *w, json_t *flows, struct err *err)
{
	if (!w->def->own_connections) {
		for (int i = 0; i < w->n_streams; i++)
			if (w->streams[i].fd >= 0)
				json_array_append_new(
				    flows, socket_flow(w->streams[i].fd, w->def->datagram));
		return 0;
	}
	autofd int probe = socket_open(&w->spec, true, w->family, err);
	if (probe < 0)
		return probe;
	if (connect(probe, (struct sockaddr *)&w->peer, w->peer_len))
		return err_sys(err, errno, "finding the way to the server");
	setup_add_flows(w, probe, flows);
	return 0;
}

int setup_connect(struct worker *w, json_t *connect, struct err *err)
{
	struct setup_target t;
	int r = setup_target(connect, w, &t, err);
	if (!r)
		w->peer_len = socket_address(&w->peer, w->family, &t.ip, t.port);
	if (!r && w->def->open[1])
		return w->def->open[1](w, connect, err);
	if (!r && w->def->own_connections)
		return setup_keep_ports(w, &t, err);
	for (int i = 0; i < w->n_streams && !r; i++)
		r = setup_begin(&w->streams[i], &t, err);
	if (r)
		return r;
	return w->def->datagram ? setup_connect_udp(w, &t, err) : setup_connect_tcp(w, &t, err);
}

void setup_close(struct worker *w)
{
	if (w->listen_fd >= 0)
		close(w->listen_fd);
	w->listen_fd = -1;
	for (int i = 0; i < w->n_listen; i++)
		close(w->listen_fds[i]);
	w->n_listen = 0;
	for (int i = 0; w->streams && i < w->n_streams; i++) {
		if (w->streams[i].fd >= 0)
			close(w->streams[i].fd);
		w->streams[i].fd = -1;
	}
}
