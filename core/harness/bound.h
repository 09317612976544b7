/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bound: what held a rate, with what the lab knows beyond the two ends (core/engine/limit.h). Pure.
 */
#ifndef VPCLAB_HARNESS_BOUND_H
#define VPCLAB_HARNESS_BOUND_H

#include "core/harness/result.h"

#define BOUND_REACHED 0.97 /* of the prediction: the link is what held it */

/* Rewrites run->engine.limit and limit_why where counters or the model (p, or NULL) prove more. */
void bound_refine(const struct truth_predicted *p, struct run_sample *run);

#endif
