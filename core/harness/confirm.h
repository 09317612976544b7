/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * confirm: a fault is told only where it shows again in a fresh lab. What one run alone says
 * against a tool is inconclusive, and both are told. Pure.
 */
#ifndef VPCLAB_HARNESS_CONFIRM_H
#define VPCLAB_HARNESS_CONFIRM_H

#include "core/harness/trial_run.h"

#define CONFIRM_RUNS 3 /* at most; a fault that two of them show alike stands */

/* Is something said against the tool that no two of the n runs say alike (the same question, the
 * same kind), so that one more run could tell? Never of CONFIRM_RUNS. */
bool confirm_wants_more(const struct trial_result *runs, int n);

/*
 * Which of the runs is to be told: the first with the most that stands. Its answers become what
 * all n say: what does not stand is inconclusive, with what another run said; what stands, but was
 * not seen in it, is added. `known` of it is not made again.
 */
int confirm_settle(struct trial_result *runs, int n);

#endif
