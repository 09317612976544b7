/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * setup: from nothing to connected sockets, before any measuring.
 *
 * Streams are made in batches, with one epoll descriptor for all, so that 10,000 of them neither
 * overflow a queue on the way nor take time that grows with their square. Whoever waits here does
 * so in worker_wait(), which also hears the control channel. setup_tcp.c and setup_udp.c know the
 * two protocols; sockets are blocking when they are done.
 *
 * Engines that connect again and again (own_connections) get listening ports and the server's
 * address, and open their connections themselves. Called by worker.c.
 */
#include "core/engine/setup.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "core/base/mem.h"

int setup_bind(int fd, const struct sockaddr_storage *a, struct err *err)
{
	if (bind(fd, (const struct sockaddr *)a, socket_length(a)))
		return err_sys(err, errno, "binding a server's socket");
	return 0;
}

int setup_bind_any(int fd, int family, struct err *err)
{
	struct sockaddr_storage a;
	socket_address(&a, family, NULL, 0);
	return setup_bind(fd, &a, err);
}

int setup_add(int epoll_fd, int fd, uint32_t events, int index, struct err *err)
{
	struct epoll_event e = {.events = events, .data.u32 = (uint32_t)index};
	if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &e))
		return err_sys(err, errno, "epoll_ctl");
	return 0;
}

bool setup_needs_client(const struct stream *s)
{
	const struct engine_def *def = s->w->def;
	return !def->datagram || def->unit == UNIT_TRANSACTIONS || stream_sends(s);
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

/* Where clients will knock. */
static int setup_doors(struct worker *w, struct err *err)
{
	w->knock_fd = epoll_create1(EPOLL_CLOEXEC);
	if (w->knock_fd < 0)
		return err_sys(err, errno, "epoll_create1");
	int r = w->listen_fd >= 0 ? setup_add(w->knock_fd, w->listen_fd, EPOLLIN, 0, err) : 0;
	for (int i = 0; i < w->n_streams && !r; i++) {
		w->missing += setup_needs_client(&w->streams[i]);
		if (w->def->datagram)
			r = setup_add(w->knock_fd, w->streams[i].fd, EPOLLIN, i, err);
	}
	return r;
}

static int setup_server_sockets(struct worker *w, json_t *ready, struct err *err)
{
	json_t *ports = json_array();
	json_object_set_new(ready, "ports", ports);
	int r = 0;
	if (w->def->own_connections)
		r = setup_listen_ports(w, ports, err);
	else if (w->def->datagram)
		r = setup_bind_streams(w, ports, err);
	else
		r = w->listen_fd = setup_listen(w, true, err);
	if (r < 0)
		return r;
	if (w->listen_fd >= 0)
		json_array_append_new(ports, json_integer(socket_port(w->listen_fd)));
	json_object_set(ready, "port", json_array_get(ports, 0));
	return w->def->own_connections ? 0 : setup_doors(w, err);
}

int setup_server(struct worker *w, json_t *ready, struct err *err)
{
	return w->def->open[0] ? w->def->open[0](w, ready, err)
			       : setup_server_sockets(w, ready, err);
}

int setup_attach(struct worker *w, struct err *err)
{
	struct epoll_event e[SETUP_EVENTS];
	int n = epoll_wait(w->knock_fd, e, SETUP_EVENTS, 0), r = 0;
	if (n < 0 && errno != EINTR)
		return err_sys(err, errno, "epoll_wait");
	for (int i = 0; i < n && !r; i++)
		r = w->def->datagram ? setup_answer(&w->streams[e[i].data.u32], err)
				     : setup_accept(w, err);
	return r;
}

bool setup_complete(const struct worker *w)
{
	return !w->missing;
}

void setup_shut(struct worker *w)
{
	if (w->knock_fd >= 0)
		close(w->knock_fd);
	w->knock_fd = -1;
}

static int setup_port(const json_t *j, const char *key, int *port, struct err *err)
{
	json_int_t number = json_integer_value(j);
	if (number < 1 || number > 65535)
		return err_input(err, "connect: %s: %lld is not within 1 to 65535", key,
				 (long long)number);
	*port = (int)number;
	return 0;
}

static int setup_target(const json_t *connect, struct worker *w, struct setup_target *t,
			struct err *err)
{
	const char *address = json_string_value(json_object_get(connect, "address"));
	if (!address)
		return err_input(err, "connect: no address");
	int r = socket_locate(&w->spec, address, &t->at, NULL, err);
	if (r)
		return r;
	if (t->at.ss_family != w->family)
		return err_input(err, "connect: %s is not of the family in the specification",
				 address);
	t->text = address;
	t->ports = json_object_get(connect, "ports");
	r = setup_port(json_object_get(connect, "port"), "port", &t->port, err);
	if (!r)
		socket_set_port(&t->at, t->port);
	return r;
}

int setup_begin(struct stream *s, const struct setup_target *t, struct err *err)
{
	struct worker *w = s->w;
	const json_t *own = json_array_get(t->ports, (size_t)s->index);
	int r = own ? setup_port(own, "ports", &s->port, err) : 0;
	if (r)
		return r;
	if (!own)
		s->port = t->port;
	s->fd = socket_open(&w->spec, w->def->datagram, w->family, err);
	if (s->fd < 0)
		return s->fd;
	r = socket_bind_client(s->fd, &w->spec, w->family, err);
	if (r)
		return r;
	struct sockaddr_storage a = t->at;
	socket_set_port(&a, s->port);
	setsockopt(s->fd, SOL_SOCKET, SO_RXQ_OVFL, &(int){1}, sizeof(int));
	if (!w->def->datagram && fcntl(s->fd, F_SETFL, O_NONBLOCK))
		return err_sys(err, errno, "preparing a socket");
	if (connect(s->fd, (struct sockaddr *)&a, socket_length(&a)) && errno != EINPROGRESS)
		return err_sys(err, errno, "connecting to %s port %d", t->text, s->port);
	return 0;
}

/* The server's ports, for an engine that connects to them itself. */
static int setup_keep_ports(struct worker *w, const struct setup_target *t, struct err *err)
{
	w->listen_ports = mem_zalloc((size_t)w->spec.ports * sizeof(*w->listen_ports));
	for (int i = 0; i < w->spec.ports; i++) {
		const json_t *one = json_array_get(t->ports, (size_t)i);
		w->listen_ports[i] = t->port;
		int r = one ? setup_port(one, "ports", &w->listen_ports[i], err) : 0;
		if (r)
			return r;
	}
	return 0;
}

/* A flow for each port of the server, from any port here; `probe` is connected, by UDP, so that the
 * kernel has chosen the local address without sending anything. */
static void setup_add_flows(struct worker *w, int probe, bool datagram, json_t *flows)
{
	for (int i = 0; i < w->spec.ports; i++) {
		json_t *flow = socket_flow(probe, datagram);
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
	int r = socket_bind_client(probe, &w->spec, w->family, err);
	if (r)
		return r;
	if (connect(probe, (struct sockaddr *)&w->peer, w->peer_len))
		return err_sys(err, errno, "finding the way to the server");
	setup_add_flows(w, probe, false, flows);
	if (w->def->also_udp && w->def->also_udp(&w->spec))
		setup_add_flows(w, probe, true, flows);
	return 0;
}

int setup_connect(struct worker *w, json_t *connect, struct err *err)
{
	struct setup_target t;
	int r = setup_target(connect, w, &t, err);
	if (!r) {
		w->peer = t.at;
		w->peer_len = socket_length(&t.at);
	}
	if (!r && w->def->open[1])
		return w->def->open[1](w, connect, err);
	if (!r && w->def->own_connections)
		return setup_keep_ports(w, &t, err);
	if (r)
		return r;
	return w->def->datagram ? setup_connect_udp(w, &t, err) : setup_connect_tcp(w, &t, err);
}

void setup_close(struct worker *w)
{
	setup_shut(w);
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
