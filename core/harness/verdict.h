/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verdict: expectations against what was found. Pure.
 *
 * The figure that an expectation is about is a mean with a confidence interval. Inside the region
 * that is expected: pass, if the truths agree. Interval wholly outside: fail. Mean outside, but the
 * interval reaches in: inconclusive. Where the machine was the limit, a miss is inconclusive, never
 * a fail. `above` and `below` another figure need the whole interval of the difference on the right
 * side.
 */
#ifndef VPCLAB_HARNESS_VERDICT_H
#define VPCLAB_HARNESS_VERDICT_H

#include "core/harness/result.h"

/* Fills r->verdicts and r->overheads; what an earlier call left there is gone. */
void verdict_judge(struct run_result *r);

/* All together: fail before inconclusive before pass; skips count for nothing. Interrupted, or with
 * a measurement that never worked: not a pass. */
enum verdict verdict_overall(const struct run_result *r);
int verdict_exit_status(enum verdict v); /* 0, 1, 3, 4 */
const char *verdict_name(enum verdict v);

#endif
