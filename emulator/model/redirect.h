/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * redirect: devices whose ingress hands every frame on to another one (taps, middles of links
 * between machines), found in the rules of the wire model. For path and graph.
 */
#ifndef VPCLAB_MODEL_REDIRECT_H
#define VPCLAB_MODEL_REDIRECT_H

#include "emulator/model/wire.h"

/* By device: where frames that come in are handed on to, or -1. Gives a heap array. */
int *redirect_find(const struct wire *w);

/* The device at which a frame that leaves by `dev` (a veth) arrives, all redirections followed. */
int redirect_far_end(const struct wire *w, const int *redirect, int dev);

#endif
