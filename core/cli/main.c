// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * main: finds the command, parses its options, runs it, prints its error once, gives the status.
 *
 * The only place that prints errors. What commands do is in cmd_*.c.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>

#include "core/base/str.h"
#include "core/cli/command.h"
#include "core/cli/options.h"

static int report(const char *command, const struct err *err)
{
	fflush(stdout);
	fprintf(stderr, "vpclab%s%s: %s\n", command ? " " : "", command ? command : "", err->text);
	return err_exit_status(err);
}

static int print_help(const struct command *c)
{
	autostr struct strbuf text = {0};

	options_print_help(c, &text);
	fputs(strbuf_text(&text), stdout);
	return EXIT_PASS;
}

/* Output that could not be written (full disk) is a failure, whatever the command thought. */
static int flush_output(int status)
{
	if (!fflush(stdout) && !ferror(stdout))
		return status;
	struct err err = ERR_INIT;
	err_sys(&err, errno, "cannot write the output");
	return report(NULL, &err);
}

static int run_command(const struct command *c, int argc, char **argv)
{
	struct err err = ERR_INIT;
	struct parsed p;
	int status = options_parse(c, argc, argv, &p, &err);

	if (!status && p.help)
		status = print_help(c);
	else if (!status)
		status = c->run(&p.call, &err);
	parsed_done(&p);
	if (status < 0)
		return report(c->name, &err);
	return flush_output(status);
}

/* `vpclab --help` and `vpclab --version` are commands too. */
static const char *command_name(const char *arg)
{
	if (str_eq(arg, "--help") || str_eq(arg, "-h"))
		return "help";
	if (str_eq(arg, "--version") || str_eq(arg, "-V"))
		return "version";
	return arg;
}

int main(int argc, char **argv)
{
	struct err err = ERR_INIT;
	const struct command *c;

	signal(SIGPIPE, SIG_DFL); /* `vpclab plan x | head` ends quietly */
	if (argc < 2) {
		err_input(&err, "which command? vpclab help lists them");
		return report(NULL, &err);
	}
	c = command_find(command_name(argv[1]));
	if (!c) {
		command_unknown(argv[1], &err);
		return report(NULL, &err);
	}
	return run_command(c, argc - 1, argv + 1);
}
