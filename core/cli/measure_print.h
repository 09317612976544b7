/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * measure_print: what `vpclab measure` found, as text and as JSON. Measures nothing.
 */
#ifndef VPCLAB_CLI_MEASURE_PRINT_H
#define VPCLAB_CLI_MEASURE_PRINT_H

#include <jansson.h>

#include "core/cli/faces.h"
#include "core/harness/attempt.h"

struct measurement { /* one pair of ends, one run */
	struct attempt_spec spec;
	struct truth_predicted predicted;
	struct err predicted_err; /* why there is no prediction */
	struct run_sample sample;
	bool placed; /* the user named CPUs, which won over what would have been chosen */
};

/* What measure_print() prints from now on; text until then. live: intervals were shown already. */
void measure_face(enum face f, bool live);

/* To standard output, in that face. */
void measure_print(const struct measurement *m);

/* One object; gives a reference. */
json_t *measure_json(const struct measurement *m);

/* Nothing is expected here, but what cannot be believed is said by the exit status as well. */
int measure_status(const struct measurement *m);

#endif
