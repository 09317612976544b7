/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reading: figures out of what a tool has printed, by its adapter. Pure.
 */
#ifndef VPCLAB_TOOLS_READING_H
#define VPCLAB_TOOLS_READING_H

#include "core/tools/adapter.h"

struct tool_output {   /* heap texts, never NULL */
	char *text[4]; /* by enum tool_source; a NUL byte in it has become ^Z, ASCII's substitute */
	unsigned flooded; /* bits 1 << enum tool_source: more was printed there than is kept, so
			     that the end of it is not known */
	int status[2];	  /* client, server: as a shell gives it; -1: was killed by us */
	bool timed_out;	  /* the client did not end in time and was killed */
	double took_s;	  /* of the client */
	double still_s;	  /* besides: that we, and maybe it, did not run at all (SIGSTOP, no CPU) */
};

struct reading {
	const struct tool_read *read;
	bool found;
	double value;	 /* in the figure's own unit */
	const char *raw; /* as the tool wrote it, with its unit: "9.31 Mbits/sec" */
	/* Not found: why ("no line matches", "path end.sum is not there", …). Like `raw` fit to be
	 * printed: short, without control characters, UTF-8. */
	const char *why;
	VEC(double) series; /* read->series: all values in order */
};

struct readings {
	struct arena arena;
	VEC(struct reading) list; /* one for each of the test's reads, in order */
	bool json_broken; /* output that should be JSON is not, or one that is read has no end */
	VEC(const char *) warnings; /* lines, fit to be printed */
};

/* Is that the path of a value: keys between dots, [0] for one of a list, [*] for all? */
int reading_check_path(const char *path, struct err *err);

void readings_of(const struct tool_test *t, const struct tool_output *o, struct readings *out);
void readings_done(struct readings *r);

/* The headline reading of a figure: the first that was found, else the first; NULL when the tool
 * does not tell it. */
const struct reading *readings_headline(const struct readings *r, enum figure f);

/* Half of the last digit that the tool wrote, in the figure's own unit: it may be so much off by
 * being rounded. */
double reading_half_digit(const struct reading *r);

/* Did the tool itself claim success by its status? */
bool readings_claims_success(const struct tool_test *t, const struct tool_output *o);

#endif
