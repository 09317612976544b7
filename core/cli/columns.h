/* SPDX-License-Identifier: GPL-2.0-or-later */
/* columns: rows of text cells, aligned. */
#ifndef VPCLAB_CLI_COLUMNS_H
#define VPCLAB_CLI_COLUMNS_H

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

#endif
