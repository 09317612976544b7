/* SPDX-License-Identifier: GPL-2.0-or-later */
/* socket: options, addresses and kernel figures of the measured sockets. Private to this folder. */
#ifndef VPCLAB_ENGINE_SOCKET_H
#define VPCLAB_ENGINE_SOCKET_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "core/base/addr.h"
#include "core/base/err.h"
#include "core/engine/engine.h"

/* Of tcp_info, tcp(7) and linux/tcp.h; since the connection was made. Of several sockets: sums, but
 * means of rtt, rttvar and cwnd, and the least of min_rtt and mss. */
struct socket_tcp {
	int sockets; /* that are in it */
	int64_t retransmits;
	double rtt_us, rttvar_us, min_rtt_us; /* min_rtt: 0 not known */
	double cwnd;			      /* segments */
	int mss;
	int64_t bytes_sent, bytes_received; /* sent: those sent again too */
	int64_t bytes_acked;
	int64_t segs_out, data_segs_out; /* of the MSS, however the kernel hands them down */
	double delivery_bps;		 /* the kernel's latest estimate of what gets through */
	int app_limited;		 /* sockets that had too little to send for that estimate */
	/* Time with data on the way or waiting; of that, held by the receiver's window, and by the
	 * sender's own buffer. */
	int64_t busy_us, rwnd_limited_us, sndbuf_limited_us;
	int64_t reord_seen, dsack_dups;
};

/* A socket of that family with the specification's options set; close-on-exec. Negative errno. */
int socket_open(const struct engine_spec *s, bool datagram, int family, struct err *err);

/* `ip` NULL or family 0: any address of `family`. Returns the length. */
socklen_t socket_address(struct sockaddr_storage *a, int family, const struct ip *ip, int port);
/*
 * Which socket address is that text, "10.0.0.1" or "fe80::1%eth0", with port 0 here? A link-local
 * one without zone is behind spec.bind_device, or spec.zone. -EINVAL says what is missing or
 * unknown; *ip may be NULL.
 */
int socket_locate(const struct engine_spec *s, const char *text, struct sockaddr_storage *a,
		  struct ip *ip, struct err *err);
/* spec.client_address as such, of that family. */
int socket_client(const struct engine_spec *s, int family, struct sockaddr_storage *a,
		  struct err *err);
socklen_t socket_length(const struct sockaddr_storage *a);
void socket_set_port(struct sockaddr_storage *a, int port);

/* To spec.client_address, where there is one; the kernel chooses the port. Before connect(2).
 * Negative errno. */
int socket_bind_client(int fd, const struct engine_spec *s, int family, struct err *err);

int socket_port(int fd); /* local port, 0 on failure */

/* {"local", "local_port", "remote", "remote_port", "protocol"}; gives a reference. */
json_t *socket_flow(int fd, bool datagram);

int socket_tcp_info(int fd, struct socket_tcp *out); /* 0 or negative errno */
void socket_tcp_add(struct socket_tcp *sum, const struct socket_tcp *one);
/* spec.congestion. Again once it is connected: a route that names one (ip-route(8), congctl) has
 * replaced the socket's own then. Negative errno. */
int socket_congestion_set(int fd, const struct engine_spec *s, struct err *err);
void socket_congestion(int fd, char name[static 16]); /* "" on failure */
int64_t socket_rcvbuf(int fd); /* as the kernel counts it, twice the payload */
int64_t socket_drops(int fd);  /* datagrams dropped at this socket, sock_meminfo; -1 not known */
int socket_mtu(int fd);	       /* of the connected path, as known here; 0 not known */

/* Makes close() discard what is queued (TCP: reset), so that no test leaks into the next. */
void socket_abort_on_close(int fd);

#endif
