// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * print: columns and JSON on standard output, for all commands alike.
 *
 * Results of measurements are not printed here: core/report does that.
 */
#include "core/cli/print.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/cli/command.h"

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

void print_text(const struct strbuf *text)
{
	fwrite(strbuf_text(text), 1, text->len, stdout);
}

int print_json(json_t *j)
{
	if (json_is_object(j) && !json_object_get(j, "schema_version"))
		json_object_set_new(j, "schema_version", json_integer(1));
	json_dumpf(j, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
	putchar('\n');
	json_decref(j);
	return EXIT_PASS;
}
