/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * prove_rate: probes of what a direction carries at most: rate, packets a second, shares of queues
 * and flows, the sum of both directions.
 */
#ifndef VPCLAB_HARNESS_PROVE_RATE_H
#define VPCLAB_HARNESS_PROVE_RATE_H

#include "core/harness/prove_run.h"

/* Proofs of all limits of one direction, or with `both`, of those that count both together. */
int prove_rates(struct prover *p, const struct way *way, struct err *err);
int prove_sums(struct prover *p, const struct way ways[static 2], struct err *err);

#endif
