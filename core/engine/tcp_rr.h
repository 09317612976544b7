/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tcp_rr: what its two files know of each other. Private to this folder. */
#ifndef VPCLAB_ENGINE_TCP_RR_H
#define VPCLAB_ENGINE_TCP_RR_H

#include "core/engine/rr.h"

/* Serves all connections of a crew, as client until the window's end, as server until it is told.
 */
void tcp_rr_events(struct crew *c, struct rr *rr);

#endif
