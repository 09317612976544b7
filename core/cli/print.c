// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * print: text and JSON on standard output, for all commands alike.
 *
 * Results of measurements are not printed here: core/report does that.
 */
#include "core/cli/print.h"

#include <stdio.h>

#include "core/cli/command.h"

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
