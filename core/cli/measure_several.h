/* SPDX-License-Identifier: GPL-2.0-or-later */
/* measure_several: `vpclab measure` of several pairs at the same time, and of real machines. */
#ifndef VPCLAB_CLI_MEASURE_SEVERAL_H
#define VPCLAB_CLI_MEASURE_SEVERAL_H

#include "core/cli/measure_ends.h"
#include "core/cli/measure_print.h"
#include "core/harness/remote.h"

/* All pairs in the lab of `first`, which has everything but the ends. Prints; gives the exit status
 * or a negative errno. */
int measure_in_lab(const struct measure_ends *ends, const struct attempt_spec *first, bool json,
		   struct err *err);

/* The same between real machines; one pair is printed as one measurement. */
int measure_machines(const struct measure_ends *ends, const struct engine_spec *spec,
		     const struct remote_options *o, bool json, struct err *err);

#endif
