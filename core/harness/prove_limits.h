/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * prove_limits: all that a direction carries at most: rate, credit, packets, shares of queues and
 * flows; and what counts both directions together.
 */
#ifndef VPCLAB_HARNESS_PROVE_LIMITS_H
#define VPCLAB_HARNESS_PROVE_LIMITS_H

#include "core/harness/prove_run.h"

int prove_limits(struct prover *p, const struct way *way, struct err *err);
/* Of a link that counts the sum: both directions at once. */
int prove_sums(struct prover *p, const struct way ways[static 2], struct err *err);

#endif
