/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plan_relay: OP_RELAY as a specification of emulator/relay. For printers and emulator/lab. */
#include "emulator/plan/plan_relay.h"

struct relay_spec plan_relay_spec(const struct op *op)
{
	struct relay_spec s = {.name = op->relay.link};

	for (int i = 0; i < RELAY_DIRECTIONS; i++)
		s.dir[i] = (struct relay_direction){
		    .in = op->relay.in[i], .out = op->relay.out[i], .impair = *op->relay.impair[i]};
	return s;
}
