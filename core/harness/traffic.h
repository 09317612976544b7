/* SPDX-License-Identifier: GPL-2.0-or-later */
/* traffic: what attempt.c and its prediction must agree on about what is sent. */
#ifndef VPCLAB_HARNESS_TRAFFIC_H
#define VPCLAB_HARNESS_TRAFFIC_H

#include "core/harness/attempt.h"

bool traffic_is_udp(enum engine_test test);

/* Datagrams of no given size are as long as the path has room, for the engine and the truth. */
void traffic_size(const struct path *p, int family, struct engine_spec *e);

void traffic_describe(const struct attempt_spec *s, const struct engine_spec *e,
		      struct truth_traffic *t);

#endif
