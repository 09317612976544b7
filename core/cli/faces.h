/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * faces: in which form a measurement is printed: --format and its short forms, for every command
 * that measures. A command has a `struct face_options face` and a `bool json` in its options struct
 * and FACE_OPTION_DEFS in its table.
 */
#ifndef VPCLAB_CLI_FACES_H
#define VPCLAB_CLI_FACES_H

#include "core/cli/command.h"
#include "core/report/flat.h"
#include "core/report/lines.h"

enum face { FACE_TEXT, FACE_LINES, FACE_JSON, FACE_CSV, FACE_NETPERF };

struct face_options {
	const char *format; /* one of face_words, or NULL */
	bool csv;
};

extern const char *const face_words[]; /* in the order of enum face, NULL behind */

#define FACE_OPTION_DEFS(type)                                                                     \
	{"format",                                                                                 \
	 0,                                                                                        \
	 OPT_STRING,                                                                               \
	 "WHICH",                                                                                  \
	 "how to print it; lines are iperf's, netperf its KEY=VALUE",                              \
	 OPT_AT(type, face.format),                                                                \
	 face_words,                                                                               \
	 0,                                                                                        \
	 0},                                                                                       \
	{                                                                                          \
		"csv", 0, OPT_FLAG, NULL, "the same as --format csv", OPT_AT(type, face.csv),      \
		    NULL, 0, 0                                                                     \
	}

/* `usual`: where nothing was asked for. */
enum face face_of(const struct face_options *o, bool json, enum face usual);

/* Does this face show intervals while they come? lines: always; text: on a terminal. */
bool face_is_live(enum face f);
void face_show(const char *line); /* for lines_init() */

/* FACE_LINES (the summary alone after live intervals), FACE_CSV, FACE_NETPERF on standard output.
 * A second CSV of the same process has no header. */
void face_print(enum face f, const struct flat_about *a, const struct engine_spec *s,
		const struct engine_result *r);

#endif
