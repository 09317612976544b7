/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * findings: what a measurement found beside its figures, in words, a line each with a label of 16
 * columns: messages beside segments and packets, what held the rate, TCP, CPU, what was cut, and
 * what only this test has.
 */
#ifndef VPCLAB_REPORT_FINDINGS_H
#define VPCLAB_REPORT_FINDINGS_H

#include "core/base/str.h"
#include "core/harness/result.h"

/* wire_pps: packets a second counted at the receiver's card; NAN: nobody counted. */
void findings_describe(const struct engine_spec *s, const struct engine_result *r, double wire_pps,
		       struct strbuf *out);

/* Any JSON as indented lines "a.b   value", an array of objects as a table; at most so many rows.
 */
#define FINDINGS_ROWS 12
void findings_detail(const json_t *detail, struct strbuf *out);

#endif
