// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * columns: rows of text cells, printed aligned. Knows UTF-8, not wide or combining characters.
 *
 * It prints to a text, not to the terminal. Called by commands that list things.
 */
#include "core/cli/columns.h"

#include <stdarg.h>
#include <stdio.h>

void columns_init(struct columns *c, size_t n_columns)
{
	*c = (struct columns){.n_columns = n_columns < COLUMNS_MAX ? n_columns : COLUMNS_MAX};
	arena_init(&c->arena);
}

void columns_done(struct columns *c)
{
	arena_done(&c->arena);
}

void columns_add(struct columns *c, const char *text)
{
	*VEC_ADD(&c->arena, &c->cells) = arena_strdup(&c->arena, text ? text : "");
}

void columns_addf(struct columns *c, const char *fmt, ...)
{
	va_list ap;
	char text[512];

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	columns_add(c, text);
}

/* Characters, not bytes: continuation bytes of UTF-8 take no room. */
static size_t width(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += (*s & 0xc0) != 0x80;
	return n;
}

static void trim(struct strbuf *out)
{
	while (out->len && out->s[out->len - 1] == ' ')
		out->s[--out->len] = '\0';
}

void columns_print(const struct columns *c, const char *indent, struct strbuf *out)
{
	size_t widest[COLUMNS_MAX] = {0};

	for (size_t i = 0; i < c->cells.n; i++)
		if (width(c->cells.v[i]) > widest[i % c->n_columns])
			widest[i % c->n_columns] = width(c->cells.v[i]);
	for (size_t i = 0; i < c->cells.n; i++) {
		size_t column = i % c->n_columns;

		if (!column)
			strbuf_add(out, indent);
		strbuf_addf(out, "%s%*s", c->cells.v[i],
			    (int)(widest[column] - width(c->cells.v[i]) + 2), "");
		if (column + 1 < c->n_columns)
			continue;
		trim(out);
		strbuf_addc(out, '\n');
	}
}
