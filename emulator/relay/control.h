/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * control: answers commands on a relay's Unix socket, in a thread of its own: a command a
 * connection, one after the other. Garbage, silence and slowness cost that connection at most
 * CONTROL_NS, and the packets nothing.
 */
#ifndef VPCLAB_RELAY_CONTROL_H
#define VPCLAB_RELAY_CONTROL_H

#include <pthread.h>

#include "emulator/relay/loop.h"

#define CONTROL_NS INT64_C(2000000000)

struct control {
	struct loop *loop;
	struct relay_spec *spec; /* what it does now; all of it in `arena` */
	struct arena arena;
	const char *path;
	int listener;
	pthread_t thread;
	bool running;
};

/* Copies `s` into memory of its own; its `spec` is what the loop shall use. */
int relay_control_init(struct control *c, const struct relay_spec *s, struct err *err);
/* Listens; a socket that is there and that nobody listens to is taken over. -EADDRINUSE. */
int relay_control_listen(struct control *c, const char *path, struct err *err);
int relay_control_start(struct control *c, struct loop *loop, struct err *err);
void relay_control_done(struct control *c); /* also removes the socket */

#endif
