// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * grid: layout of small tables; knows nothing of what stands in them. Called by searches.c and
 * curves.c.
 */
#include "core/report/grid.h"

#include <stdarg.h>
#include <string.h>

#include "core/report/text.h"

enum { COLUMNS_MOST = 32, BETWEEN = 2 };

void grid_init(struct grid *g, size_t columns, size_t texts)
{
	*g = (struct grid){.columns = columns, .texts = texts};
	arena_init(&g->arena);
}

void grid_done(struct grid *g)
{
	arena_done(&g->arena);
}

void grid_add(struct grid *g, const char *text)
{
	*VEC_ADD(&g->arena, &g->cells) = arena_strdup(&g->arena, text ? text : "–");
}

void grid_addf(struct grid *g, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	autofree char *text = mem_vprintf(fmt, ap);
	va_end(ap);
	grid_add(g, text);
}

void grid_print(const struct grid *g, const char *indent, struct strbuf *out)
{
	size_t width[COLUMNS_MOST] = {0};

	for (size_t i = 0; i < g->cells.n; i++) {
		size_t w = text_width(g->cells.v[i]), *most = &width[i % g->columns % COLUMNS_MOST];

		*most = w > *most ? w : *most;
	}
	for (size_t i = 0; i < g->cells.n; i++) {
		size_t column = i % g->columns, w = text_width(g->cells.v[i]);
		size_t rest = width[column % COLUMNS_MOST] - w;
		bool last = column + 1 == g->columns, left = last || column < g->texts;

		strbuf_add(out, column ? "" : indent);
		text_spaces(out, left ? 0 : rest);
		strbuf_add(out, g->cells.v[i]);
		text_spaces(out, last ? 0 : left ? rest + BETWEEN : BETWEEN);
		if (last) {
			while (out->len && out->s[out->len - 1] == ' ')
				out->s[--out->len] = '\0';
			strbuf_addc(out, '\n');
		}
	}
}

void grid_csv(struct strbuf *out, bool first, const char *text)
{
	if (!first)
		strbuf_addc(out, ',');
	if (!strpbrk(text, ",\"\r\n")) {
		strbuf_add(out, text);
		return;
	}
	strbuf_addc(out, '"');
	for (; *text; text++) {
		if (*text == '"')
			strbuf_addc(out, '"');
		strbuf_addc(out, *text);
	}
	strbuf_addc(out, '"');
}
