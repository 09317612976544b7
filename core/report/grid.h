/* SPDX-License-Identifier: GPL-2.0-or-later */
/* grid: rows of short texts under headings, figures to the right, and the same rows as CSV. */
#ifndef VPCLAB_REPORT_GRID_H
#define VPCLAB_REPORT_GRID_H

#include <stdbool.h>

#include "core/base/mem.h"
#include "core/base/str.h"

struct grid {
	struct arena arena;
	size_t columns; /* as many as the first row has cells */
	size_t texts;	/* the first so many columns are texts, and the last: to the left */
	VEC(const char *) cells;
};

void grid_init(struct grid *g, size_t columns, size_t texts);
void grid_done(struct grid *g);
/* The next cell of the row that is being filled; copied. NULL is "–". */
void grid_add(struct grid *g, const char *text);
void grid_addf(struct grid *g, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void grid_print(const struct grid *g, const char *indent, struct strbuf *out);

/* One value of a CSV row (RFC 4180): quoted where it must be; a comma before all but the first. */
void grid_csv(struct strbuf *out, bool first, const char *text);

#endif
