/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * control: JSON objects, one a line, on a pair of descriptors. Both ends of a measurement's control
 * channel use it. It never blocks on reading; the owner polls `in`.
 */
#ifndef VPCLAB_ENGINE_CONTROL_H
#define VPCLAB_ENGINE_CONTROL_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/base/err.h"

struct control {
	int in, out; /* borrowed */
	char *buf;
	size_t len, cap;
	bool eof;
};

void control_init(struct control *c, int in, int out);
void control_done(struct control *c); /* frees memory, leaves the descriptors open */

/* Reads once what is there; call it after poll() said so. Sets eof. Negative errno on failure. */
int control_fill(struct control *c, struct err *err);

/* The next whole message, or NULL with 0 in *status when there is none yet; a line that is no JSON
 * object gives NULL and -EINVAL. Gives a reference. */
json_t *control_next(struct control *c, int *status, struct err *err);

/* Writes one message whole and releases it; a peer that is gone is -EPIPE and never a signal. */
int control_send(struct control *c, json_t *message, struct err *err);

/* The text of "type", "" where there is none; borrows. */
const char *control_type(const json_t *message);

#endif
