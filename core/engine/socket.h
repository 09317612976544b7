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

struct socket_tcp { /* of tcp_info, tcp(7); sums or means of several sockets */
	int64_t retransmits;
	double rtt_us, cwnd;
	int mss;
	int64_t bytes_sent, bytes_received; /* since connected; sent: those sent again too */
};

/* A socket of that family with the specification's options set; close-on-exec. Negative errno. */
int socket_open(const struct engine_spec *s, bool datagram, int family, struct err *err);

/* `ip` NULL or family 0: any address of `family`. Returns the length. */
socklen_t socket_address(struct sockaddr_storage *a, int family, const struct ip *ip, int port);
int socket_port(int fd); /* local port, 0 on failure */

/* {"local", "local_port", "remote", "remote_port", "protocol"}; gives a reference. */
json_t *socket_flow(int fd, bool datagram);

int socket_tcp_info(int fd, struct socket_tcp *out);  /* 0 or negative errno */
void socket_congestion(int fd, char name[static 16]); /* "" on failure */
int64_t socket_rcvbuf(int fd); /* as the kernel counts it, twice the payload */
int64_t socket_drops(int fd);  /* datagrams dropped at this socket, sock_meminfo; -1 not known */
int socket_mtu(int fd);	       /* of the connected path, as known here; 0 not known */

/* Makes close() discard what is queued (TCP: reset), so that no test leaks into the next. */
void socket_abort_on_close(int fd);

#endif
