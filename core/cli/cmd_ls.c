// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ls: the running labs of this user.
 */
#include <stdio.h>
#include <time.h>

#include "core/cli/command.h"
#include "core/cli/columns.h"
#include "core/cli/print.h"
#include "emulator/lab/lab.h"

struct ls_options {
	bool json;
};

static json_t *lab_json(const struct lab_entry *lab)
{
	if (lab->problem)
		return json_pack("{s:s,s:s}", "name", lab->name, "problem", lab->problem);
	return json_pack("{s:s,s:s?,s:i,s:I,s:I,s:I}", "name", lab->name, "source", lab->source,
			 "pid", (int)lab->pid, "started_unix_s", (json_int_t)lab->started_s,
			 "nodes", (json_int_t)lab->nodes, "links", (json_int_t)lab->links);
}

static int ls_json(const struct lab_entry *labs, size_t n)
{
	json_t *list = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(list, lab_json(&labs[i]));
	return print_json(json_pack("{s:o}", "labs", list));
}

static void add_row(struct columns *c, const struct lab_entry *lab)
{
	time_t started = (time_t)lab->started_s;
	struct tm tm;
	char when[32];

	localtime_r(&started, &tm);
	strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &tm);
	columns_add(c, lab->name);
	columns_addf(c, "%zu", lab->nodes);
	columns_addf(c, "%zu", lab->links);
	columns_add(c, when);
	columns_addf(c, "%d", (int)lab->pid);
	columns_add(c, lab->source);
}

/* Labs that live but cannot be used: in JSON they have a "problem". */
static int print_problems(const struct lab_entry *labs, size_t n)
{
	int status = EXIT_PASS;

	for (size_t i = 0; i < n; i++) {
		if (!labs[i].problem)
			continue;
		fprintf(stderr, "vpclab: %s\n", labs[i].problem);
		status = EXIT_FAIL;
	}
	return status;
}

static void ls_text(const struct lab_entry *labs, size_t n)
{
	static const char *const head[] = {"lab", "nodes", "links", "up since", "pid", "source"};
	autostr struct strbuf text = {0};
	struct columns c;

	columns_init(&c, ARRAY_SIZE(head));
	for (size_t i = 0; i < ARRAY_SIZE(head); i++)
		columns_add(&c, head[i]);
	for (size_t i = 0; i < n; i++)
		if (!labs[i].problem)
			add_row(&c, &labs[i]);
	columns_print(&c, "", &text);
	print_text(&text);
	columns_done(&c);
}

static int ls_run(const struct call *call, struct err *err)
{
	const struct ls_options *o = call->options;
	struct lab_entry *labs;
	size_t n, good = 0;
	int ret = lab_list(&labs, &n, err);

	if (ret)
		return ret;
	for (size_t i = 0; i < n; i++)
		good += !labs[i].problem;
	if (o->json)
		ls_json(labs, n);
	else if (good)
		ls_text(labs, n);
	else if (!n)
		fputs("no lab is up\n", stderr);
	ret = print_problems(labs, n);
	lab_list_free(labs, n);
	return ret;
}

static const struct option_def option_defs[] = {
    OPT_JSON(struct ls_options, json),
};

const struct command cmd_ls = {
    .name = "ls",
    .summary = "list the running labs",
    .description =
	"Lists the labs of this user. What a lab that was killed left behind is removed.\n"
	"A lab that lives but cannot be used (its state is damaged) makes the status 1.",
    .options = option_defs,
    .n_options = ARRAY_SIZE(option_defs),
    .options_size = sizeof(struct ls_options),
    .run = ls_run,
};
