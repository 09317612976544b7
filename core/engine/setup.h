/* SPDX-License-Identifier: GPL-2.0-or-later */
/* setup: what the files that make sockets share. Private to them: others use worker.h. */
#ifndef VPCLAB_ENGINE_SETUP_H
#define VPCLAB_ENGINE_SETUP_H

#include <jansson.h>

#include "core/engine/worker.h"

#define SETUP_BATCH  256 /* streams that are being connected at the same time */
#define SETUP_EVENTS 64	 /* that one look gives */

struct setup_target {
	struct sockaddr_storage at;
	const char *text; /* borrowed from the message */
	int port;
	const json_t *ports; /* a port a stream, or NULL */
};

/* setup.c */
int setup_bind(int fd, const struct sockaddr_storage *a, struct err *err);
int setup_bind_any(int fd, int family, struct err *err); /* any address, any port */
/* Opens this stream's socket and connects it; TCP goes on in the background. */
int setup_begin(struct stream *s, const struct setup_target *t, struct err *err);
int setup_add(int epoll_fd, int fd, uint32_t events, int index, struct err *err);
/* Must the server have heard from this stream's client before it starts? */
bool setup_needs_client(const struct stream *s);

/* setup_tcp.c. An own listening socket is not blocking; `defer`: only with data in it. */
int setup_listen(struct worker *w, bool defer, struct err *err);
int setup_accept(struct worker *w, struct err *err);
int setup_connect_tcp(struct worker *w, const struct setup_target *t, struct err *err);

/* setup_udp.c */
int setup_bind_streams(struct worker *w, json_t *ports, struct err *err);
int setup_answer(struct stream *s, struct err *err);
int setup_connect_udp(struct worker *w, const struct setup_target *t, struct err *err);

#endif
