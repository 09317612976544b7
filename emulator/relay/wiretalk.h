/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wiretalk: a JSON value over a Unix stream socket, its length before it (four bytes, the machine's
 * order), with or without a descriptor. Both ends may be anybody: nothing is believed.
 */
#ifndef VPCLAB_RELAY_WIRETALK_H
#define VPCLAB_RELAY_WIRETALK_H

#include <jansson.h>
#include <stdint.h>

#define WIRETALK_MAX (UINT32_C(64) << 20) /* bytes: a delivery trace of millions of times */

/* 0 or a negative errno. `fd` -1: none. Raises no SIGPIPE. */
int wiretalk_send(int socket, const json_t *j, int fd);
/* Gives a reference, and in *fd (where not NULL) a descriptor or -1. -ECONNRESET: the other end
 * ended; -EPROTO: that was no JSON; -ETIMEDOUT: `deadline_ns` (CLOCK_MONOTONIC) has passed. */
int wiretalk_recv(int socket, int64_t deadline_ns, json_t **j, int *fd);

#endif
