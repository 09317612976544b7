/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * listen_tls: one TLS 1.3 session with a pre-shared key, by GnuTLS, over a connected socket.
 * Private to listen.c and listen_connect.c.
 */
#ifndef VPCLAB_ENGINE_LISTEN_TLS_H
#define VPCLAB_ENGINE_LISTEN_TLS_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/err.h"

#define LISTEN_KEY_MAX 512 /* bytes */

struct listen_key {
	unsigned char bytes[LISTEN_KEY_MAX];
	unsigned size; /* 0: none */
};

/* Reads a key file (listen.h says what is in it). -EINVAL: that is not one, or others may read it.
 */
int listen_key_read(const char *path, struct listen_key *key, struct err *err);

struct listen_tls;

/* Shakes hands over `fd` (borrowed) within 5 s. NULL on failure, with the reason. */
struct listen_tls *listen_tls_open(int fd, const struct listen_key *key, bool server,
				   struct err *err);

/* Carries bytes between the session and a plain descriptor until either ends. */
void listen_tls_pump(struct listen_tls *t, int plain);
void listen_tls_close(struct listen_tls *t); /* says good-bye, frees; the descriptor stays open */

/* What a listener says first, so that the other end knows who is there. */
#define LISTEN_HELLO	"{\"type\":\"hello\",\"program\":\"vpclab\"}\n"
#define LISTEN_SHAKE_NS INT64_C(5000000000)

/* Keeps a session's TCP connection from outliving its peer. */
void listen_tune(int fd);

#endif
