/* SPDX-License-Identifier: GPL-2.0-or-later */
/* traffic: what attempt.c and its prediction must agree on about what is sent. */
#ifndef VPCLAB_HARNESS_TRAFFIC_H
#define VPCLAB_HARNESS_TRAFFIC_H

#include "core/harness/attempt.h"

bool traffic_is_udp(enum engine_test test);

/* Data that goes one way on each connection, so that counters can confirm its rate. */
bool traffic_is_bulk(enum engine_test test);

/* Datagrams of no given size are as long as the way of the data has room, for the engine and the
 * truth. The paths are from client to server, and the answers'. */
void traffic_size(const struct path *there, const struct path *back, int family,
		  struct engine_spec *e);

#endif
