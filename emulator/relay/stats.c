/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stats: a lane's counters as JSON. Called by control.c. */
#include <math.h>

#include "emulator/relay/lane.h"

static json_t *number(double v)
{
	return isnan(v) ? json_null() : json_integer((json_int_t)llround(v));
}

static json_t *hist_summary(const struct hist *h)
{
	return json_pack("{s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "count", (json_int_t)h->count,
			 "min", h->count ? json_integer(h->min) : json_null(), "p50",
			 number(hist_quantile(h, 0.5)), "p90", number(hist_quantile(h, 0.9)), "p99",
			 number(hist_quantile(h, 0.99)), "p999", number(hist_quantile(h, 0.999)),
			 "max", h->count ? json_integer(h->max) : json_null(), "mean",
			 number(hist_mean(h)));
}

json_t *lane_stats_json(const struct lane_stats *s)
{
	json_t *lost = json_object();

	for (enum fate_cause c = FATE_PASS + 1; c < FATE_CAUSES; c++)
		json_object_set_new(lost, fate_cause_name(c), json_integer(s->lost[c]));
	json_object_set_new(lost, "overrun", json_integer(s->overrun));
	return json_pack(
	    "{s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:I, s:I, s:I, s:I, s:o, s:o, s:o}", "in_packets",
	    (json_int_t)s->in_packets, "in_bytes", (json_int_t)s->in_bytes, "out_packets",
	    (json_int_t)s->out_packets, "out_bytes", (json_int_t)s->out_bytes, "waiting_packets",
	    (json_int_t)s->waiting_packets, "waiting_bytes", (json_int_t)s->waiting_bytes, "lost",
	    lost, "duplicated", (json_int_t)s->duplicated, "corrupted", (json_int_t)s->corrupted,
	    "reordered", (json_int_t)s->reordered, "late", (json_int_t)s->late, "asked",
	    hist_summary(&s->asked), "given", hist_summary(&s->given), "slip",
	    hist_summary(&s->slip));
}
