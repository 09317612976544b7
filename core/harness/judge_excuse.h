/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * judge_excuse: may a figure be as it is because of the machine that the lab runs on? Pure.
 */
#ifndef VPCLAB_HARNESS_JUDGE_EXCUSE_H
#define VPCLAB_HARNESS_JUDGE_EXCUSE_H

#include "core/harness/judge.h"

/*
 * Why nothing can be told of the figure that `a` has (said, truth, tolerance), or NULL; in `arena`,
 * or borrowed from the evidence. `beyond`: by how much it is outside of what is tolerated; below 0
 * inside. Outside, the machine may have made it so; inside, it may hide that it would be outside.
 */
const char *judge_doubt(const struct evidence *e, const struct trial_question *q,
			const struct answer *a, double beyond, struct arena *arena);

#endif
