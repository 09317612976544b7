/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * command: what a verb of vpclab is. One `struct command` a file (cmd_NAME.c), all listed in
 *table.c.
 *
 * From this one description come the parsing of options, --help, the man page and the completion of
 * bash, so they cannot disagree. Below here nothing prints errors or exits: a command prints its
 * output, and main.c prints its error ("vpclab up: …") once.
 *
 *	struct up_options { const char *name; struct option_list set; bool json; };
 *	static const struct option_def up_option_defs[] = {
 *		{"name", 'n', OPT_STRING, "NAME", "call the lab NAME", OPT_AT(struct up_options,
 *name)},
 *		{"set", 0, OPT_LIST, "PATH=VALUE", "override a value", OPT_AT(struct up_options,
 *set)}, OPT_JSON(struct up_options, json),
 *	};
 *	static int up_run(const struct call *call, struct err *err)
 *	{
 *		const struct up_options *o = call->options;
 *		… call->argv[0] …
 *	}
 *	const struct command cmd_up = {
 *		.name = "up", .summary = "build a lab", .operands = "FILE", .operand_kind =
 *OPERAND_TOPOLOGY, .min_operands = 1, .max_operands = 1, .options = up_option_defs, .n_options =
 *ARRAY_SIZE(up_option_defs), .options_size = sizeof(struct up_options), .description = "…", .run =
 *up_run,
 *	};
 */
#ifndef VPCLAB_CLI_COMMAND_H
#define VPCLAB_CLI_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/err.h"
#include "core/base/mem.h"

enum option_kind {	       /* … and the type of the field that it fills */
		   OPT_FLAG,   /* bool */
		   OPT_STRING, /* const char *, borrows argv; .words limits it */
		   OPT_INT,    /* int64_t */
		   OPT_RATE,   /* int64_t, bits per second: "100mbit" */
		   OPT_PPS,    /* int64_t, packets per second: "300kpps" */
		   OPT_TIME,   /* int64_t, nanoseconds: "2s" */
		   OPT_SIZE,   /* int64_t, bytes: "64KiB" */
		   OPT_LIST,   /* struct option_list: may be given several times */
};

struct option_list {
	const char **v; /* borrows argv; the array lives until the command ends */
	size_t n;
};

struct option_def {
	const char *name; /* long form, without dashes */
	char letter;	  /* short form, or 0 */
	enum option_kind kind;
	const char *arg;	  /* "NAME" as help says it; NULL for OPT_FLAG */
	const char *help;	  /* one line, lower case, no full stop */
	size_t offset;		  /* OPT_AT(struct …, field) */
	const char *const *words; /* OPT_STRING: the values allowed, NULL-terminated; or NULL */
	int64_t min, max;	  /* OPT_INT: the range; both 0: any */
};

#define OPT_AT(type, field) offsetof(type, field)
#define OPT_JSON(type, field)                                                                      \
	{                                                                                          \
		"json", 0, OPT_FLAG, NULL, "print JSON", OPT_AT(type, field), NULL, 0, 0           \
	}

/* What a command's operands are: completion offers these. */
enum operand_kind {
	OPERAND_NONE,
	OPERAND_TOPOLOGY,
	OPERAND_SCENARIO,
	OPERAND_LAB,
	OPERAND_NODE,
	OPERAND_TOOL
};

struct command;

struct call { /* one parsed command line */
	const struct command *command;
	const void *options;	 /* the command's own struct, filled */
	int argc;		 /* operands, without the command's name */
	const char *const *argv; /* NULL-terminated */
	const char *const *rest; /* what follows "--", NULL-terminated; NULL: there was no "--" */
};

struct command {
	const char *name;
	const char *summary;  /* one line, lower case, no full stop */
	const char *operands; /* "FILE", "[LAB:]NODE -- CMD…"; NULL: none */
	const char
	    *description; /* paragraphs for --help and the man page, blank line between them */
	const struct option_def *options;
	size_t n_options, options_size;
	const void *defaults; /* of the options struct; NULL: zeroes */
	enum operand_kind operand_kind;
	int min_operands, max_operands; /* without `rest`; max −1: any number */
	bool takes_rest;		/* "--" starts another program's command line */
	bool hidden;			/* not in the list, the man page and the completion */
	/* Gives the exit status, or a negative errno with err set (main prints it). */
	int (*run)(const struct call *call, struct err *err);
};

enum exit_status {
	EXIT_PASS = 0,
	EXIT_FAIL = 1,
	EXIT_USAGE = 2,
	EXIT_INCONCLUSIVE = 3,
	EXIT_UNSUPPORTED = 4,
};

extern const struct command *const command_table[]; /* in the order of help; NULL-terminated */

const struct command *command_find(const char *name);	/* or NULL */
int command_unknown(const char *name, struct err *err); /* sets the error with a suggestion */

#endif
