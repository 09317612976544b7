/* SPDX-License-Identifier: GPL-2.0-or-later */
/* options: a command line against a command's table, and the help text from the same table. */
#ifndef VPCLAB_CLI_OPTIONS_H
#define VPCLAB_CLI_OPTIONS_H

#include "core/base/str.h"
#include "core/cli/command.h"

struct parsed { /* owns what a struct call borrows */
	struct call call;
	bool help; /* --help was given: nothing else counts */
	struct arena arena;
};

/*
 * Parses argv[1…] of a command (argv[0] is its name). Options and operands may be mixed; "--" ends
 * the options. parsed_done() is needed in either case. -EINVAL with a text that names the option.
 */
int options_parse(const struct command *c, int argc, char **argv, struct parsed *out,
		  struct err *err);
void parsed_done(struct parsed *p);

/* `vpclab COMMAND --help`. */
void options_print_help(const struct command *c, struct strbuf *out);
/* "vpclab COMMAND [OPTION]… OPERANDS" */
void options_print_usage(const struct command *c, struct strbuf *out);

#endif
