/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * listen: workers for hosts without ssh, over TCP, and TLS with a pre-shared key.
 *
 * A listener makes one worker process (engine.h) of each session. With a key, both ends prove that
 * they have it and what they say is encrypted (TLS 1.3 with PSK, RFC 8446, and nothing older);
 * without one, only loopback addresses are served. The measured traffic itself is not encrypted.
 * Used by `vpclab engine --listen` and by whoever measures with tls:// ends.
 *
 * A key file has 32 to 1024 hexadecimal digits (white space apart) and is readable by its owner
 * only; `openssl rand -hex 32 >FILE` makes one.
 */
#ifndef VPCLAB_ENGINE_LISTEN_H
#define VPCLAB_ENGINE_LISTEN_H

#include "core/base/err.h"

/*
 * Serves on "ADDRESS:PORT" ("[ADDRESS]:PORT" for IPv6; port 0: the kernel chooses) until stop_fd is
 * readable, then ends its sessions. `ready` is called with the address and port that are bound.
 * -EINVAL: a bad address, or one that is not loopback without a key_file (NULL: none).
 */
struct listen_options {
	const char *at, *key_file;
	int stop_fd;
	void (*ready)(void *arg, const char *address, int port);
	void *arg;
};
int listen_serve(const struct listen_options *o, struct err *err);

/*
 * Connects to a listener and gives, in *fd, a descriptor that speaks the protocol of engine.h in
 * plain text: the caller closes it, which ends the session. key_file NULL: no TLS. A thread of this
 * process carries the bytes of a TLS session until either end closes. Errors say what went wrong:
 * not reachable, wrong key, not a listener.
 */
int listen_connect(const char *host, const char *port, const char *key_file, int *fd,
		   struct err *err);

#endif
