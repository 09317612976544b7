/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * problems: the list of all that is wrong with a user's files. It does not judge and does not print
 * to a terminal: parsers add, cli/ prints.
 */
#include "core/base/problems.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void problems_init(struct problems *p)
{
	memset(p, 0, sizeof(*p));
	arena_init(&p->arena);
}

void problems_done(struct problems *p)
{
	arena_done(&p->arena);
	memset(p, 0, sizeof(*p));
}

/* The name is copied, since problems outlive the document that they are about. */
static const char *keep_file(struct problems *p, const char *file)
{
	if (p->list.n && str_eq(p->list.v[p->list.n - 1].at.file, file))
		return p->list.v[p->list.n - 1].at.file;
	return arena_strdup(&p->arena, file);
}

void problems_add(struct problems *p, struct mark at, const char *fmt, ...)
{
	autofree char *text = NULL;
	struct problem *problem;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (n < 0)
		abort();
	at.file = keep_file(p, at.file);
	problem = VEC_ADD(&p->arena, &p->list);
	problem->at = at;
	problem->text = arena_strdup(&p->arena, text);
}

size_t problems_count(const struct problems *p)
{
	return p->list.n;
}

static int by_place(const void *va, const void *vb)
{
	const struct problem *a = *(const struct problem *const *)va;
	const struct problem *b = *(const struct problem *const *)vb;
	int order = strcmp(a->at.file ? a->at.file : "", b->at.file ? b->at.file : "");

	if (!order)
		order = (a->at.line > b->at.line) - (a->at.line < b->at.line);
	if (!order)
		order = (a->at.column > b->at.column) - (a->at.column < b->at.column);
	if (!order) /* at one place in the order of finding */
		order = (a > b) - (a < b);
	return order;
}

static bool same(const struct problem *a, const struct problem *b)
{
	return str_eq(a->at.file, b->at.file) && a->at.line == b->at.line &&
	       a->at.column == b->at.column && str_eq(a->text, b->text);
}

static void print_one(const struct problem *problem, struct strbuf *out)
{
	if (problem->at.file)
		strbuf_addf(out, "%s:", problem->at.file);
	if (problem->at.line)
		strbuf_addf(out, "%d:", problem->at.line);
	if (problem->at.line && problem->at.column)
		strbuf_addf(out, "%d:", problem->at.column);
	if (problem->at.file || problem->at.line)
		strbuf_addc(out, ' ');
	strbuf_addf(out, "%s\n", problem->text);
}

void problems_sort(struct problems *p)
{
	autofree struct problem **sorted = mem_zalloc((p->list.n + 1) * sizeof(*sorted));
	struct problem *out = arena_alloc(&p->arena, (p->list.n + 1) * sizeof(*out));
	size_t n = 0;

	for (size_t i = 0; i < p->list.n; i++)
		sorted[i] = &p->list.v[i];
	if (p->list.n)
		qsort(sorted, p->list.n, sizeof(*sorted), by_place);
	for (size_t i = 0; i < p->list.n; i++)
		if (!n || !same(&out[n - 1], sorted[i])) /* what an alias repeats is one mistake */
			out[n++] = *sorted[i];
	for (size_t i = 0; i < n; i++)
		p->list.v[i] = out[i];
	p->list.n = n;
}

void problems_print(struct problems *p, struct strbuf *out)
{
	problems_sort(p);
	VEC_FOREACH (it, &p->list)
		print_one(it, out);
	if (p->list.n)
		strbuf_addf(out, "%zu problem%s\n", p->list.n, p->list.n == 1 ? "" : "s");
}
