/* SPDX-License-Identifier: GPL-2.0-or-later */
/* judge_why: what kind of mistake gives a figure that is not true. Pure; a part of judge.h. */
#ifndef VPCLAB_HARNESS_JUDGE_WHY_H
#define VPCLAB_HARNESS_JUDGE_WHY_H

#include "core/harness/judge.h"

/* `said` and `truth` in the figure's own unit, further apart than the tolerance. */
enum fault_kind judge_why(const struct evidence *e, enum figure f, double said, double truth);

/* Of those sent, the share of which no copy arrived: 0…1, or NAN where nothing was counted. */
double judge_counted_loss(const struct evidence *e);

#endif
