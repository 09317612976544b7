/* SPDX-License-Identifier: GPL-2.0-or-later */
/* measure_ends: which pairs of ends the operands of `vpclab measure` name. Pure. */
#ifndef VPCLAB_CLI_MEASURE_ENDS_H
#define VPCLAB_CLI_MEASURE_ENDS_H

#include <stdbool.h>

#include "core/base/err.h"
#include "core/base/mem.h"

struct measure_pair {
	const char *from, *to;
};

struct measure_ends {
	struct arena arena;
	const char *lab; /* before the first source, or NULL */
	bool zones;	 /* a destination is link-local and names its zone: fe80::2%eth1 */
	bool remote;	 /* real machines (core/harness/remote.h), else endpoints of a lab */
	VEC(struct measure_pair) pairs;
};

/*
 * "[LAB:]SRC[,SRC]…" and "DST[,DST]…": one with each of several, or as many of both, one with one.
 * measure_ends_done() in either case.
 */
int measure_ends_parse(const char *sources, const char *destinations, struct measure_ends *out,
		       struct err *err);
void measure_ends_done(struct measure_ends *e);

#endif
