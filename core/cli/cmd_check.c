// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * check: compares the kernel's state of a running lab with its plan, and with --prove what its
 * links carry with what they say.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/cli/command.h"
#include "core/cli/print.h"
#include "core/cli/proving.h"
#include "emulator/lab/account.h"
#include "emulator/lab/lab.h"

struct check_options {
	bool prove, quiet, json;
};

static json_t *check_json(const struct lab *lab, char *differences)
{
	json_t *list = json_array();
	bool equal = !*differences;
	char *rest = NULL;

	for (char *line = strtok_r(differences, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest))
		json_array_append_new(list, json_string(line));
	return json_pack("{s:s,s:b,s:o}", "name", lab_name(lab), "as_planned", equal, "differences",
			 list);
}

static void print_differences(const struct lab *lab, const char *differences, size_t n)
{
	if (n)
		printf("%s%s: %zu difference%s from the plan\n", differences, lab_name(lab), n,
		       n == 1 ? "" : "s");
	else
		printf("%s: as planned\n", lab_name(lab));
	fflush(stdout);
}

/* A link is proven whether or not the lab is as planned: what it carries is another question. */
static int check_lab(const struct check_options *o, const struct lab *lab, struct err *err)
{
	struct strbuf differences = {0};
	const struct proving how = {o->prove, o->quiet};
	autofree char *text = NULL;
	size_t n = 0;
	int ret = lab_check(lab, &differences, &n, err);

	if (!ret)
		ret = account_check(lab, &differences, &n, err);
	text = mem_strdup(strbuf_text(&differences));
	strbuf_done(&differences);
	if (ret)
		return ret;
	if (!o->json)
		print_differences(lab, text, n);
	ret = proving_finish(lab, NULL, &how, o->json ? check_json(lab, text) : NULL, err);
	return ret < 0 || !n ? ret : EXIT_FAIL;
}

static int check_run(const struct call *call, struct err *err)
{
	struct lab *lab;
	int ret = lab_open(call->argv[0], &lab, err);

	if (ret == -ENOENT)
		err->kind = ERR_INPUT; /* a name that is not there, as for other commands */
	if (ret)
		return ret;
	ret = check_lab(call->options, lab, err);
	lab_close(lab);
	return ret;
}

static const struct option_def option_defs[] = {
    {"prove", 'p', OPT_FLAG, NULL, "also measure what each link carries, and judge it",
     OPT_AT(struct check_options, prove), NULL, 0, 0},
    {"quiet", 'q', OPT_FLAG, NULL, "show no progress", OPT_AT(struct check_options, quiet), NULL, 0,
     0},
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
	"each difference, and of each link the packets of which no counter says what became of\n"
	"them (not while traffic runs); the status is 1 when there is anything.\n"
	"\n"
	"--prove sends short probes through each limit and impairment of each link, one after "
	"the\n"
	"other, and prints what was asked, what came, the error and a verdict. It fills each link\n"
	"for up to a second, so nothing else should use the lab. The frames end at the other end "
	"of\n"
	"the link: no node behind it sees them. The status is 1 when something is outside its "
	"tolerance,\n"
	"and 3 when the machine or foreign traffic was in the way, so that nothing can be said.",
    .options = option_defs,
    .n_options = ARRAY_SIZE(option_defs),
    .options_size = sizeof(struct check_options),
    .run = check_run,
};
