/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * redirect: devices whose ingress hands every frame on to another one (taps, caps, middles and
 * spans of links), found in the rules of the wire model, and in its links where a relay carries
 * frames and no rule tells it. For path and graph.
 */
#ifndef VPCLAB_MODEL_REDIRECT_H
#define VPCLAB_MODEL_REDIRECT_H

#include "emulator/model/wire.h"

struct redirect; /* of all devices of a lab */

struct redirect *redirect_find(const struct wire *w); /* gives; redirect_free() */
void redirect_free(struct redirect *r);

/*
 * Where a frame that comes in at `dev` is handed on to, or -1. `mark`: the frame's, 0 at first;
 * rules read and set it.
 */
int redirect_next(const struct redirect *r, int dev, uint32_t *mark);

/* The device at which a frame that leaves by `dev` (a veth) arrives, all redirections followed. */
int redirect_far_end(const struct wire *w, const struct redirect *r, int dev);

/* The device of `node` whose name in double quotes follows `before` in an nft text, or -1. */
int redirect_quoted_dev(const struct wire *w, int node, const char *text, const char *before);

#endif
