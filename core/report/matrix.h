/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * matrix: what came of tools on trial: trials down, tools across; and the same as JSON, JUnit, TAP.
 * A fault that the baseline has is told in each of them, and fails in none.
 */
#ifndef VPCLAB_REPORT_MATRIX_H
#define VPCLAB_REPORT_MATRIX_H

#include <jansson.h>

#include "core/harness/verify.h"

struct matrix {
	const struct verify_spec *spec;
	const struct trial_result *results;
	const struct baseline *baseline; /* or NULL */
	size_t columns;			 /* of the terminal; 0: TEXT_COLUMNS */
	bool color, interrupted;
	double took_s;
};

const struct trial_result *matrix_at(const struct matrix *m, size_t tool, size_t trial);
/* What is said of a fault, where it is known from, and whether the baseline lacks it. */
void matrix_sentence(const struct matrix *m, const struct trial_result *r, const struct answer *a,
		     struct strbuf *out);
/* Why there is no verdict: inconclusive, silent, skipped; false: there is one. `out` is empty. */
bool matrix_why(const struct trial_result *r, struct strbuf *out);

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
