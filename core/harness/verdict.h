/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verdict: expectations against what was found. Pure.
 *
 * The figure that an expectation is about is a mean with a confidence interval.
 *
 *   within: the mean is inside the region: pass; the interval is wholly outside: fail; the mean is
 *     outside, but the interval reaches in: inconclusive.
 *   above, below, at least, at most: the whole interval (against another figure: of the difference)
 *     is on the right side: pass; wholly on the wrong side: fail; else inconclusive.
 *
 * A pass also needs truths that agree, and relays that kept up. Where the machine was the limit, a
 * miss is inconclusive, never a fail. What was never measured is inconclusive, and the run an
 * error.
 */
#ifndef VPCLAB_HARNESS_VERDICT_H
#define VPCLAB_HARNESS_VERDICT_H

#include "core/harness/result.h"

/* Fills r->verdicts and r->overheads; what an earlier call left there is gone. */
void verdict_judge(struct run_result *r);

/* All together, with the proofs of links: fail before error before inconclusive before pass; skips
 * count for nothing. An error: a measurement that never worked or was given up. Interrupted: not a
 * pass. */
enum verdict verdict_overall(const struct run_result *r);
int verdict_exit_status(enum verdict v); /* 0, 1, 3, 4; an error is 1 */
const char *verdict_name(enum verdict v);

#endif
