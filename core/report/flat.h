/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flat: one measurement for programs that read lines: CSV, and netperf's KEY=VALUE. */
#ifndef VPCLAB_REPORT_FLAT_H
#define VPCLAB_REPORT_FLAT_H

#include "core/base/str.h"
#include "core/engine/engine.h"

struct flat_about { /* what the result itself does not know */
	const char *from, *to;
	bool headless; /* CSV: the header has been written before */
};

/*
 * RFC 4180: a header, a row for each interval, one for the whole, those of the other way behind
 * them. Units are in the names; what was not measured is empty. time is ISO 8601, of the row's
 * begin.
 */
void flat_csv(const struct flat_about *a, const struct engine_spec *s,
	      const struct engine_result *r, struct strbuf *out);

/* The names and units of netperf's omni output selectors (its manual, "The Omni Tests"); LOCAL is
 * the client. SD is of the whole machine's CPU time, µs for 1024 bytes or for a transaction. */
void flat_netperf(const struct engine_spec *s, const struct engine_result *r, struct strbuf *out);

#endif
