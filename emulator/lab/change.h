/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * change: what only emulator/lab knows of a change of a running lab (lab_change(), lab_reset()).
 */
#ifndef VPCLAB_LAB_CHANGE_H
#define VPCLAB_LAB_CHANGE_H

#include <jansson.h>

#include "core/base/str.h"
#include "emulator/plan/plan_diff.h"

/*
 * Inside the lab, in a process of its own there: makes all of `diff` happen, each namespace in one
 * step. When one fails, `undo` (what of the lab as it may be then leads back) is applied to the
 * namespaces that were touched. -ENOTRECOVERABLE: that failed too.
 */
int change_apply(const struct plan_diff *diff, const struct plan_diff *undo, struct err *err);

/* Was a change of the lab with this state broken off? Then the lab is neither before nor after. */
bool change_broken_off(const json_t *state);

#endif
