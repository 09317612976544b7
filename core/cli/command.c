// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * command: the list of all commands, in the order in which help shows them.
 *
 * To add a command: write cmd_NAME.c with `const struct command cmd_NAME`, declare and list it
 * here.
 */
#include "core/cli/command.h"

#include <errno.h>

#include "core/base/str.h"

extern const struct command cmd_doctor, cmd_validate, cmd_plan, cmd_graph, cmd_up, cmd_down, cmd_ls,
    cmd_inspect, cmd_exec, cmd_shell, cmd_check, cmd_path, cmd_measure, cmd_run, cmd_engine,
    cmd_help, cmd_version, cmd_man, cmd_completion, cmd_relay, cmd_profile, cmd_set, cmd_top,
    cmd_fate, cmd_search, cmd_tool, cmd_verify;

const struct command *const command_table[] = {
    &cmd_doctor, &cmd_validate,	  &cmd_plan,	&cmd_graph,  &cmd_profile, &cmd_up,
    &cmd_down,	 &cmd_ls,	  &cmd_inspect, &cmd_exec,   &cmd_shell,   &cmd_check,
    &cmd_path,	 &cmd_top,	  &cmd_fate,	&cmd_set,    &cmd_run,	   &cmd_measure,
    &cmd_search, &cmd_tool,	  &cmd_verify,	&cmd_engine, &cmd_help,	   &cmd_version,
    &cmd_man,	 &cmd_completion, &cmd_relay,	NULL,
};

const struct command *command_find(const char *name)
{
	for (size_t i = 0; command_table[i]; i++)
		if (str_eq(command_table[i]->name, name))
			return command_table[i];
	return NULL;
}

int command_unknown(const char *name, struct err *err)
{
	const char *names[ARRAY_SIZE(command_table)] = {NULL};
	size_t n = 0;

	for (size_t i = 0; command_table[i]; i++)
		if (!command_table[i]->hidden)
			names[n++] = command_table[i]->name;
	const char *near = str_suggest(name, names, n);
	if (near)
		return err_input(err, "unknown command '%s'; did you mean '%s'?", name, near);
	return err_input(err, "unknown command '%s'; vpclab help lists them", name);
}
