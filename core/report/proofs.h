/* SPDX-License-Identifier: GPL-2.0-or-later */
/* proofs: what `check --prove` found, as a table, as one line, as JSON. */
#ifndef VPCLAB_REPORT_PROOFS_H
#define VPCLAB_REPORT_PROOFS_H

#include <jansson.h>

#include "core/base/str.h"
#include "core/harness/prove.h"

/* Rows of asked, got, error and verdict, then why some are not a pass. `color`: of verdicts. */
void proofs_table(const struct proofs *p, bool color, struct strbuf *out);

/* "links proven: 6 of 6 within 0.12 %", or what is not; no line end. */
void proofs_line(const struct proofs *p, struct strbuf *out);

/* "r-b rate a→b: asked 100 Mbit/s, got 90 Mbit/s (−10.00 %)", and why where that is known. */
void proofs_describe(const struct proof *p, struct strbuf *out);

/*
 * Array of {"link", "direction", "what", "asked", "got", "unit", "basis", "error_share",
 * "error_absolute", "tolerance", "tolerance_is" ("share" or "absolute"), "tries", "engine",
 * "verdict", "why"}; figures are in `unit`, what does not apply is null. Gives a reference.
 */
json_t *proofs_json(const struct proofs *p);

#endif
