// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * help and version: the list of commands, the help of one, and what this program is.
 */
#include <stdio.h>

#include "core/cli/options.h"
#include "core/cli/columns.h"
#include "core/cli/data.h"
#include "core/cli/language.h"
#include "core/cli/print.h"
#include "core/cli/scripts_help.h"
#include "core/cli/tests_help.h"
#include "core/cli/trials_help.h"

static void print_overview(struct strbuf *out)
{
	struct columns c;

	strbuf_add(out,
		   "vpclab builds cloud networks on one Linux machine, with links whose truth is\n"
		   "known, measures them, and says what each hop costs.\n\n"
		   "Usage: vpclab COMMAND [OPTION]… [ARGUMENT]…\n\n");
	columns_init(&c, 2);
	for (size_t i = 0; command_table[i]; i++) {
		if (command_table[i]->hidden)
			continue;
		columns_add(&c, command_table[i]->name);
		columns_add(&c, command_table[i]->summary);
	}
	columns_print(&c, "  ", out);
	columns_done(&c);
	strbuf_add(
	    out, "\nvpclab COMMAND --help says more; vpclab(1) says all.\n"
		 "vpclab help topology and vpclab help scenario list the keys of those files;\n"
		 "vpclab help tests lists what can be measured, vpclab help scripts what pairs "
		 "can do;\n"
		 "vpclab tool show skeleton is a tool's file, vpclab help trial lists the keys of "
		 "a trial's.\n"
		 "Try: vpclab up zstack; vpclab ls; vpclab run zstack\n");
}

static int help_run(const struct call *call, struct err *err)
{
	autostr struct strbuf text = {0};
	const struct command *c;

	if (!call->argv[0]) {
		print_overview(&text);
	} else if (str_eq(call->argv[0], "topology") || str_eq(call->argv[0], "scenario")) {
		int r = language_print(str_eq(call->argv[0], "topology") ? DATA_TOPOLOGIES
									 : DATA_SCENARIOS,
				       LANGUAGE_TEXT, &text, err);
		if (r)
			return r;
	} else if (str_eq(call->argv[0], "scripts")) {
		scripts_help(&text);
	} else if (str_eq(call->argv[0], "tests")) {
		tests_help(&text);
	} else if (str_eq(call->argv[0], "trial")) {
		trials_help(&text);
	} else {
		c = command_find(call->argv[0]);
		if (!c)
			return command_unknown(call->argv[0], err);
		options_print_help(c, &text);
	}
	print_text(&text);
	return EXIT_PASS;
}

const struct command cmd_help = {
    .name = "help",
    .summary = "list the commands, or explain one, or the keys of a file",
    .operands = "[COMMAND|topology|scenario|scripts|tests|trial]",
    .max_operands = 1,
    .run = help_run,
};

struct version_options {
	bool json;
};

static int version_run(const struct call *call, struct err *err)
{
	const struct version_options *o = call->options;

	(void)err;
	if (o->json)
		return print_json(json_pack("{s:s}", "version", VPCLAB_VERSION));
	printf("vpclab %s\n", VPCLAB_VERSION);
	return EXIT_PASS;
}

static const struct option_def version_option_defs[] = {
    OPT_JSON(struct version_options, json),
};

const struct command cmd_version = {
    .name = "version",
    .summary = "print the version",
    .options = version_option_defs,
    .n_options = ARRAY_SIZE(version_option_defs),
    .options_size = sizeof(struct version_options),
    .run = version_run,
};
