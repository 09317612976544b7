/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * problems: all that is wrong with a user's file, collected and reported at once.
 *
 * A parser does not stop at the first mistake: it adds a problem and goes on. Whoever reads a file
 * asks problems_count() at the end.
 */
#ifndef VPCLAB_BASE_PROBLEMS_H
#define VPCLAB_BASE_PROBLEMS_H

#include <stddef.h>

#include "core/base/mem.h"
#include "core/base/str.h"

struct mark { /* a place in a file; line and column start at 1, 0 = not known */
	const char *file;
	int line, column;
};

struct problem {
	struct mark at;
	const char *text;
};

struct problems {
	struct arena arena;
	VEC(struct problem) list;
};

void problems_init(struct problems *p);
void problems_done(struct problems *p);
void problems_add(struct problems *p, struct mark at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
size_t problems_count(const struct problems *p);

/* By file, line, column; what is said twice of one place is kept once. */
void problems_sort(struct problems *p);
/* Sorted by file, line, column; "file:line:column: text" a line, then "N problems". */
void problems_print(struct problems *p, struct strbuf *out);

#endif
