/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench: the labs of a scenario, shaped and unshaped, built when first needed and taken down
 * together; and what is to be known of the machine beside them.
 */
#ifndef VPCLAB_HARNESS_BENCH_H
#define VPCLAB_HARNESS_BENCH_H

#include "core/harness/result.h"
#include "emulator/lab/load.h"

struct bench_lab {
	struct lab *lab; /* NULL: not built */
	struct wire wire;
	bool compiled;
	int shown; /* index in the result's labs */
};

struct bench {
	const struct scenario *s;
	struct run_result *r;
	char *text; /* of the topology */
	size_t len;
	struct load load;	  /* the topology */
	struct bench_lab labs[2]; /* shaped, unshaped */
};

/*
 * Reads the topology, measures the machine, compiles, checks the scenario's paths. Builds nothing
 * yet. -EINVAL when the files have problems (they are in `p`). bench_close() is needed in either
 * case.
 */
int bench_open(struct bench *b, const struct scenario *s, struct run_result *r, struct problems *p,
	       struct err *err);

/* The lab of that kind, built and checked against its plan when it is not there yet. */
int bench_lab(struct bench *b, bool unshaped, struct bench_lab **out, struct err *err);

/* How many CPUs are busy while nothing is measured, over 0.4 s. */
int bench_idle(double *busy_cpus, struct err *err);

/* Takes the labs down; an error is that of the first lab that did not end. */
int bench_close(struct bench *b, struct err *err);

#endif
