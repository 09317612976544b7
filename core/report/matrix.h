/* SPDX-License-Identifier: GPL-2.0-or-later */
/* matrix: what came of tools on trial: trials down, tools across; and the same as JSON, JUnit, TAP.
 */
#ifndef VPCLAB_REPORT_MATRIX_H
#define VPCLAB_REPORT_MATRIX_H

#include <jansson.h>

#include "core/harness/verify.h"

struct matrix {
	const struct verify_spec *spec;
	const struct trial_result *results;
	const struct baseline *baseline; /* or NULL */
	bool color, interrupted;
	double took_s;
};

void matrix_text(const struct matrix *m, struct strbuf *out);
json_t *matrix_json(const struct matrix *m); /* gives a reference */
void matrix_junit(const struct matrix *m, struct strbuf *out);
void matrix_tap(const struct matrix *m, struct strbuf *out);

/*
 * What there is of each result that has a fault, known or not, in a folder of its own, beside the
 * packets' headers of verify_spec.keep:
 * FOLDER/TRIAL-TOOL: what the client and the server printed (a file for each output) and its part
 * of the JSON (result.json). Errors: the file system's.
 */
int matrix_keep(const struct matrix *m, const char *folder, struct err *err);

#endif
