/* SPDX-License-Identifier: GPL-2.0-or-later */
/* findings: what the two results say together, beyond their counts. Private to this folder. */
#ifndef VPCLAB_ENGINE_FINDINGS_H
#define VPCLAB_ENGINE_FINDINGS_H

#include <jansson.h>

#include "core/engine/engine.h"

/* The steady part, writes and segments, CPU costs, machines, and what held the rate, from the two
 * "result" messages (borrowed) and what the engine's own merge has put into *out. */
void findings_add(const struct engine_spec *s, const json_t *client, const json_t *server,
		  struct engine_result *out);

#endif
