/* SPDX-License-Identifier: GPL-2.0-or-later */
/* measure_many: `vpclab measure` with --sweep or --repeat: the same measurement many times. */
#ifndef VPCLAB_CLI_MEASURE_MANY_H
#define VPCLAB_CLI_MEASURE_MANY_H

#include "core/cli/command.h"
#include "core/cli/faces.h"
#include "core/cli/many.h"

struct many_options {
	struct option_list sweeps;
	const char *repeat;
	bool quiet;
};

#define MANY_OPTION_DEFS(type)                                                                     \
	{"sweep",                                                                                  \
	 0,                                                                                        \
	 OPT_LIST,                                                                                 \
	 "KEY=VALUES",                                                                             \
	 "each of size=1,64,512, size=1..64KiB*2 or streams=1..9+2",                               \
	 OPT_AT(type, many.sweeps),                                                                \
	 NULL,                                                                                     \
	 0,                                                                                        \
	 0},                                                                                       \
	    {"repeat",                                                                             \
	     0,                                                                                    \
	     OPT_STRING,                                                                           \
	     "TARGET",                                                                             \
	     "until 99%,2.5%: confidence, half width; at most 30 runs, or 99%,2.5%,N",             \
	     OPT_AT(type, many.repeat),                                                            \
	     NULL,                                                                                 \
	     0,                                                                                    \
	     0},                                                                                   \
	{                                                                                          \
		"quiet", 'q', OPT_FLAG, NULL, "--sweep, --repeat: show no progress",               \
		    OPT_AT(type, many.quiet), NULL, 0, 0                                           \
	}

bool measure_many_wanted(const struct many_options *o);

/* Sweeps and repeats `base` between the ends of `m`, and prints. Gives the exit status, or a
 * negative errno: 3 when a target was not reached, something failed, or it was interrupted. */
int measure_many(struct many *m, const struct many_options *o, const struct engine_spec *base,
		 enum face face, struct err *err);

#endif
