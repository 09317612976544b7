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

static int ls_json(const struct lab_entry *labs, size_t n)
{
	json_t *list = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(
		    list, json_pack("{s:s,s:s?,s:i,s:I,s:I,s:I}", "name", labs[i].name, "source",
				    labs[i].source, "pid", (int)labs[i].pid, "started_unix_s",
				    (json_int_t)labs[i].started_s, "nodes",
				    (json_int_t)labs[i].nodes, "links", (json_int_t)labs[i].links));
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

static void ls_text(const struct lab_entry *labs, size_t n)
{
	static const char *const head[] = {"lab", "nodes", "links", "up since", "pid", "source"};
	autostr struct strbuf text = {0};
	struct columns c;

	columns_init(&c, ARRAY_SIZE(head));
	for (size_t i = 0; i < ARRAY_SIZE(head); i++)
		columns_add(&c, head[i]);
	for (size_t i = 0; i < n; i++)
		add_row(&c, &labs[i]);
	columns_print(&c, "", &text);
	print_text(&text);
	columns_done(&c);
}

static int ls_run(const struct call *call, struct err *err)
{
	const struct ls_options *o = call->options;
	struct lab_entry *labs;
	size_t n;
	int ret = lab_list(&labs, &n, err);

	if (ret)
		return ret;
	if (o->json)
		ls_json(labs, n);
	else if (n)
		ls_text(labs, n);
	else
		fputs("no lab is up\n", stderr);
	lab_list_free(labs, n);
	return EXIT_PASS;
}

static const struct option_def option_defs[] = {
    OPT_JSON(struct ls_options, json),
};

const struct command cmd_ls = {
    .name = "ls",
    .summary = "list the running labs",
    .description =
	"Lists the labs of this user. What a lab that was killed left behind is removed.",
    .options = option_defs,
    .n_options = ARRAY_SIZE(option_defs),
    .options_size = sizeof(struct ls_options),
    .run = ls_run,
};
