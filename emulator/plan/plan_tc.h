/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plan_tc: the words of OP_TC for the printers of a plan. For files of emulator/plan alone.
 */
#ifndef VPCLAB_PLAN_PLAN_TC_H
#define VPCLAB_PLAN_PLAN_TC_H

#include "emulator/plan/plan.h"

/* "tbf", "htb", "class", … */
const char *plan_tc_word(enum tc_kind kind);
/* One of many equal classes of flows, and not the first two: a person need not read it. */
bool plan_tc_repeats(const struct op *op);
/* What follows "tc -n NAMESPACE ", without the end of the line. */
void plan_tc_sh(const struct op *op, struct strbuf *out);
void plan_tc_text(const struct op *op, struct strbuf *out);
void plan_tc_json(const struct op *op, json_t *o); /* adds its keys to `o` */

#endif
