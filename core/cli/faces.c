// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * faces: which face was asked for, and printing those that need no more than a result. The text and
 * JSON of a measurement in a lab are measure_print.c's. Called by cmd_measure.c and cmd_engine.c.
 */
#include "core/cli/faces.h"

#include <stdio.h>
#include <unistd.h>

#include "core/base/str.h"
#include "core/cli/print.h"

const char *const face_words[] = {"text", "lines", "json", "csv", "netperf", NULL};

enum face face_of(const struct face_options *o, bool json, enum face usual)
{
	if (json)
		return FACE_JSON;
	if (o->csv)
		return FACE_CSV;
	for (int i = 0; o->format && face_words[i]; i++)
		if (str_eq(o->format, face_words[i]))
			return (enum face)i;
	return usual;
}

bool face_is_live(enum face f)
{
	return f == FACE_LINES || (f == FACE_TEXT && isatty(STDOUT_FILENO));
}

void face_show(const char *line)
{
	fputs(line, stdout);
	fflush(stdout);
}

void face_print(enum face f, const struct flat_about *a, const struct engine_spec *s,
		const struct engine_result *r)
{
	autostr struct strbuf out = {0};
	static bool headed;

	if (f == FACE_LINES) {
		lines_summary(s, r, &out);
	} else if (f == FACE_CSV) {
		struct flat_about about = *a;

		about.headless = headed;
		headed = true;
		flat_csv(&about, s, r, &out);
	} else if (f == FACE_NETPERF) {
		flat_netperf(s, r, &out);
	}
	print_text(&out);
}
