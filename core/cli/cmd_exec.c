// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * exec: one command inside a node.
 */
#include "core/cli/command.h"
#include "core/cli/inside.h"

static int exec_run(const struct call *call, struct err *err)
{
	struct proc_spec spec = PROC_SPEC(call->rest);
	struct source lab;
	int node, ret;

	if (!call->rest || !call->rest[0])
		return err_input(err, "no command to run; usage: vpclab exec %s",
				 call->command->operands);
	spec.die_with_parent = true;
	spec.keep_ignored = true;
	ret = source_open_node(call->argv[0], &lab, &node, err);
	if (!ret)
		ret = inside_run(&lab, node, &spec, err);
	source_done(&lab);
	return ret;
}

const struct command cmd_exec = {
    .name = "exec",
    .summary = "run a command inside a node",
    .operands = "[LAB:]NODE -- CMD…",
    .operand_kind = OPERAND_NODE,
    .min_operands = 1,
    .max_operands = 1,
    .takes_rest = true,
    .description =
	"LAB may be left out when only one is up. The exit status is the command's own (128 +\n"
	"signal when one ended it), or one of vpclab's when the command did not start.",
    .run = exec_run,
};
