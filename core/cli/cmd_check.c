// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * check: compares the kernel's state of a running lab with its plan.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/cli/command.h"
#include "core/cli/print.h"
#include "emulator/lab/lab.h"

struct check_options {
	bool json;
};

static void check_json(const struct lab *lab, char *differences)
{
	json_t *list = json_array();
	bool equal = !*differences;
	char *rest = NULL;

	for (char *line = strtok_r(differences, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest))
		json_array_append_new(list, json_string(line));
	print_json(json_pack("{s:s,s:b,s:o}", "name", lab_name(lab), "as_planned", equal,
			     "differences", list));
}

static int check_run(const struct call *call, struct err *err)
{
	const struct check_options *o = call->options;
	struct strbuf differences = {0};
	autofree char *text = NULL;
	struct lab *lab;
	size_t n = 0;
	int ret = lab_open(call->argv[0], &lab, err);

	if (ret == -ENOENT)
		err->kind = ERR_INPUT; /* a name that is not there, as for other commands */
	if (ret)
		return ret;
	ret = lab_check(lab, &differences, &n, err);
	text = mem_strdup(strbuf_text(&differences));
	strbuf_done(&differences);
	if (!ret && o->json)
		check_json(lab, text);
	else if (!ret && n)
		printf("%s%s: %zu difference%s from the plan\n", text, lab_name(lab), n,
		       n == 1 ? "" : "s");
	else if (!ret)
		printf("%s: as planned\n", lab_name(lab));
	lab_close(lab);
	return ret ? ret : n ? EXIT_FAIL : EXIT_PASS;
}

static const struct option_def option_defs[] = {
    OPT_JSON(struct check_options, json),
};

const struct command cmd_check = {
    .name = "check",
    .summary = "compare a running lab with its plan",
    .operands = "[LAB]",
    .operand_kind = OPERAND_LAB,
    .max_operands = 1,
    .description =
	"Reads devices, addresses, routes, rules and shapers back from the kernel. Prints\n"
	"each difference; the status is 1 when there is one.",
    .options = option_defs,
    .n_options = ARRAY_SIZE(option_defs),
    .options_size = sizeof(struct check_options),
    .run = check_run,
};
