/* SPDX-License-Identifier: GPL-2.0-or-later */
/* result: findings as JSON on the control channel, and two of them merged. Private to this folder.
 */
#ifndef VPCLAB_ENGINE_RESULT_H
#define VPCLAB_ENGINE_RESULT_H

#include <jansson.h>

#include "core/engine/engine.h"
#include "core/stats/hist.h"

struct worker;

json_t *result_interval_message(const struct worker *w, int k); /* "interval" that ends at edge k */
json_t *result_of_worker(struct worker *w);			/* the "result" message */

json_t *result_real(double v);				/* null for NAN and infinities */
double result_number(const json_t *j, const char *key); /* 0 where absent, NAN where null */
int64_t result_integer(const json_t *j, const char *key);

void result_dist(const struct hist *h, struct engine_dist *out);
/* From a histogram in JSON; all zero and NAN where there is none. */
void result_dist_get(const json_t *hist, struct engine_dist *out);
json_t *result_dist_of(const json_t *hist); /* likewise, as results have it; gives a reference */

/* The two "result" messages (borrowed) and the flows (taken) into *out. */
void result_merge(const struct engine_spec *s, const json_t *client, const json_t *server,
		  json_t *flows, struct engine_result *out);

#endif
