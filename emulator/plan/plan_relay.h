/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plan_relay: OP_RELAY as the relay takes it. For printers and emulator/lab/apply.c. */
#ifndef VPCLAB_PLAN_PLAN_RELAY_H
#define VPCLAB_PLAN_PLAN_RELAY_H

#include "emulator/plan/plan.h"
#include "emulator/relay/relay.h"

struct relay_spec plan_relay_spec(const struct op *op); /* borrows the operation's strings */

#endif
