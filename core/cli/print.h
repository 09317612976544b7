/* SPDX-License-Identifier: GPL-2.0-or-later */
/* print: what commands write to standard output: aligned columns, and JSON. */
#ifndef VPCLAB_CLI_PRINT_H
#define VPCLAB_CLI_PRINT_H

#include <jansson.h>

#include "core/base/mem.h"
#include "core/base/str.h"

#define COLUMNS_MAX 8

struct columns { /* rows of text cells, printed aligned with two blanks between */
	struct arena arena;
	size_t n_columns;
	VEC(const char *) cells;
};

void columns_init(struct columns *c, size_t n_columns);
void columns_done(struct columns *c);
/* Adds the next cell of the row that is being filled; the text is copied. NULL is "". */
void columns_add(struct columns *c, const char *text);
void columns_addf(struct columns *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Each line starts with `indent`; no blanks at its end. */
void columns_print(const struct columns *c, const char *indent, struct strbuf *out);

void print_text(const struct strbuf *text); /* to standard output */

/* Prints and drops the reference. Adds "schema_version": 1 to an object. Gives EXIT_PASS. */
int print_json(json_t *j);

#endif
