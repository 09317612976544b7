/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tcp_rr: what its two files know of each other. Private to this folder. */
#ifndef VPCLAB_ENGINE_TCP_RR_H
#define VPCLAB_ENGINE_TCP_RR_H

#include <stddef.h>

#include "core/engine/rr.h"

size_t tcp_rr_room(const struct engine_spec *s); /* bytes that a thread's buffer has */

/* Serves all connections of a crew, as client until the window's end, as server until it is told.
 */
void tcp_rr_events(struct crew *c, struct rr *rr);

#endif
