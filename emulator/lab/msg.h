/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * msg: one JSON object over a pipe or stream socket, with its length before it; and errors as JSON.
 */
#ifndef VPCLAB_LAB_MSG_H
#define VPCLAB_LAB_MSG_H

#include <jansson.h>

#include "core/base/err.h"

/* 0 or a negative errno (-EPIPE: nobody reads). SIGPIPE is not raised on sockets. */
int msg_send(int fd, const json_t *m);
/* Blocks for one message and gives a reference. -ECONNRESET when the sender ended without one. */
int msg_recv(int fd, json_t **m);

/* {"error": {...}}; gives a reference. */
json_t *msg_error(const struct err *err);
/* Sets `err` and returns -err->code when the message is such an error, else 0. */
int msg_take_error(const json_t *m, struct err *err);

#endif
