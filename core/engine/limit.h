/* SPDX-License-Identifier: GPL-2.0-or-later */
/* limit: what held the rate, by what the two ends know. Pure. Private to this folder. */
#ifndef VPCLAB_ENGINE_LIMIT_H
#define VPCLAB_ENGINE_LIMIT_H

#include "core/engine/engine.h"

#define LIMIT_BUSY                                                                                 \
	0.95 /* of the time, a thread was at work or waited for a CPU: it never slept              \
	      */
#define LIMIT_HELD    0.30  /* of the time with data to send, held by a window */
#define LIMIT_SENDING 0.50  /* of the time, in calls that send: they are what it waits for */
#define LIMIT_OFFERED 0.995 /* of what was asked for: the schedule was kept */
#define LIMIT_QUEUED  1.5   /* times the least round trip: there is a queue on the way */

/* Sets out->limit and out->limit_why, unless the engine has set a limit. Where nothing is proven
 * limit stays "", and limit_why says what was looked at. */
void limit_find(const struct engine_spec *s, struct engine_result *out);

#endif
