/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reading_fuzz: any output of a tool, read by any expression or path: the first byte says how, the
 * line after it is the expression or the path, the rest the output. Figures are finite, and what is
 * said of the rest is a line that JSON can hold.
 */
#include <math.h>

#include "core/base/str.h"
#include "core/tools/pattern.h"
#include "core/tools/reading.h"
#include "tests/fuzz/fuzz.h"

#define LINE_MAX 1024

static void is_line(const char *text)
{
	size_t len = strlen(text);

	require(len < LINE_MAX && str_bad_byte(text, len) == len && !strpbrk(text, "\n\r\x1b"));
}

static void check(const struct reading *r)
{
	require(r->found ? isfinite(r->value) && r->raw : r->why && *r->why);
	if (r->found)
		is_line(r->raw);
	else
		is_line(r->why);
	VEC_FOREACH (v, &r->series)
		require(isfinite(*v));
}

static void read_output(struct tool_read read, const char *warning, char *output)
{
	const struct tool_output o = {.text = {output, output, output, output}};
	struct tool_test t = {0};
	struct readings r;
	struct arena a;

	arena_init(&a);
	*VEC_ADD(&a, &t.reads) = read;
	if (warning)
		*VEC_ADD(&a, &t.warnings) = warning;
	readings_of(&t, &o, &r);
	VEC_FOREACH (one, &r.list)
		check(one);
	VEC_FOREACH (w, &r.warnings)
		is_line(*w);
	readings_done(&r);
	arena_done(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 2)
		return 0;
	char *text = mem_zalloc(size); /* to the byte, so that reading over its end shows */
	memcpy(text, data + 1, size - 1);
	for (char *nul = text; (nul = memchr(nul, '\0', size - 1 - (size_t)(nul - text)));)
		*nul = '?'; /* as tool_run.c does */
	size_t line = strcspn(text, "\n");
	struct tool_read read = {.figure = FIGURE_LOST,
				 .unit = "count",
				 .pick = (enum tool_pick)(data[0] % 6),
				 .factor = 1,
				 .series = data[0] & 64,
				 .absent = data[0] & 32 ? 0 : NAN};
	struct pattern *p = NULL;
	struct err err = ERR_INIT;

	if (line < size - 1)
		text[line++] = '\0';
	if (data[0] & 128) {
		read.path = text;
		if (!reading_check_path(text, &err))
			read_output(read, NULL, text + line);
	} else if (!pattern_new(text, &p, &err)) {
		read.match = text;
		read_output(read, text, text + line);
		pattern_free(p);
	}
	free(text);
	return 0;
}
