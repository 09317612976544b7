/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lines: a measurement as lines of intervals and a summary, in the shape that iperf users read:
 * `[ ID] Interval Transfer Bitrate Retr Cwnd`. Units are iperf's: MBytes of 1024, Mbits of 1000.
 *
 * All streams together are one line; a test with data both ways has one for each way.
 */
#ifndef VPCLAB_REPORT_LINES_H
#define VPCLAB_REPORT_LINES_H

#include <jansson.h>
#include <stdbool.h>

#include "core/base/str.h"
#include "core/engine/engine.h"

struct lines {
	const struct engine_spec *spec; /* borrowed */
	double last_s;			/* where the next interval begins */
	json_t *headline, *other;	/* heard, and not yet shown; owned */
	void (*show)(const char *text); /* where live lines go, a whole line each */
	bool headed;
};

/* For a measurement that begins: lines_each() shows each interval when both sides have told it, or
 * when the next one comes. lines_end() shows what is left and frees. */
void lines_init(struct lines *l, const struct engine_spec *s, void (*show)(const char *text));
void lines_each(void *lines, bool headline, const json_t *interval); /* an engine_hooks.on_each */
void lines_end(struct lines *l);

/* Of a finished one: the intervals with their header, and the summary, receiver first. */
void lines_intervals(const struct engine_spec *s, const struct engine_result *r,
		     struct strbuf *out);
void lines_summary(const struct engine_spec *s, const struct engine_result *r, struct strbuf *out);

#endif
