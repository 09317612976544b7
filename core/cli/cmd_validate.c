// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * validate: all problems of topologies and scenarios, each with its place. Starts nothing.
 *
 * A scenario is checked together with the topology that it names.
 */
#include <errno.h>
#include <stdio.h>

#include "core/base/file.h"
#include "core/base/problems.h"
#include "core/cli/data.h"
#include "core/cli/print.h"
#include "core/cli/command.h"
#include "core/harness/schedule.h"
#include "emulator/lab/load.h"

struct validate_options {
	bool json;
};

static void check_topology(const struct topology_source *src, const struct scenario *scenario,
			   struct problems *p)
{
	struct compile_options o = {.machine = MACHINE_DEFAULT};
	struct load load;
	struct wire w;

	load_topology(src, &load, p);
	if (!problems_count(p)) {
		topology_compile(load.topology, &o, &w, p);
		if (scenario && !problems_count(p))
			scenario_check(scenario, &w, p);
		if (scenario && !problems_count(p))
			schedule_check(scenario, src, &o, &w, p);
		wire_done(&w);
	}
	load_done(&load);
}

static void check_scenario(const char *name, const char *text, size_t len, struct problems *p)
{
	struct scenario *s = scenario_parse(name, text, len, p);
	autofree char *topology = NULL;
	struct err err = ERR_INIT;
	size_t topology_len;

	if (problems_count(p))
		;
	else if (file_read(s->topology, &topology, &topology_len, &err))
		problems_add(p, s->topology_at, "%s", err.text);
	else
		check_topology(
		    &(struct topology_source){.main = {s->topology, topology, topology_len},
					      .sets = s->sets.v,
					      .n_sets = s->sets.n},
		    s, p);
	scenario_free(s);
}

/* A file of that name, or a shipped topology or scenario. */
static int find_any(const char *name, char **path, struct err *err)
{
	struct err none = ERR_INIT;

	if (!data_find(DATA_SCENARIOS, name, path, &none))
		return 0;
	return data_find(DATA_TOPOLOGIES, name, path, err);
}

/* A file that cannot be read is one more problem: the others are still looked at. */
static void check_file(const char *file, struct problems *p)
{
	autofree char *path = NULL, *text = NULL;
	struct err err = ERR_INIT;
	size_t len;

	if (find_any(file, &path, &err) || file_read(path, &text, &len, &err)) {
		problems_add(p, (struct mark){.file = file}, "%s", err.text);
		return;
	}
	const char *name = str_eq(path, "-") ? "standard input" : path;
	if (scenario_recognise(text, len))
		check_scenario(name, text, len, p);
	else
		check_topology(&(struct topology_source){.main = {name, text, len}}, NULL, p);
}

/* A later stage looks at a file only when the earlier found nothing: each has its own problems. */
static void check_alone(const char *file, struct problems *all)
{
	struct problems own;

	problems_init(&own);
	check_file(file, &own);
	VEC_FOREACH (it, &own.list)
		problems_add(all, it->at, "%s", it->text);
	problems_done(&own);
}

static json_t *problems_json(const struct problems *p)
{
	json_t *list = json_array();

	VEC_FOREACH (it, &p->list)
		json_array_append_new(list,
				      json_pack("{s:s,s:i,s:i,s:s}", "file",
						it->at.file ? it->at.file : "", "line", it->at.line,
						"column", it->at.column, "text", it->text));
	return json_pack("{s:b,s:o}", "valid", !problems_count(p), "problems", list);
}

static int show(const struct call *call, struct problems *p)
{
	const struct validate_options *o = call->options;
	int status = problems_count(p) ? EXIT_USAGE : EXIT_PASS;
	autostr struct strbuf text = {0};

	if (o->json) {
		problems_sort(p);
		print_json(problems_json(p));
		return status;
	}
	if (status)
		problems_print(p, &text);
	for (int i = 0; !status && i < call->argc; i++)
		strbuf_addf(&text, "%s: valid\n", call->argv[i]);
	print_text(&text);
	return status;
}

static int validate_run(const struct call *call, struct err *err)
{
	struct problems all;
	int status;

	(void)err;
	problems_init(&all);
	for (int i = 0; i < call->argc; i++)
		check_alone(call->argv[i], &all);
	status = show(call, &all);
	problems_done(&all);
	return status;
}

static const struct option_def option_defs[] = {
    OPT_JSON(struct validate_options, json),
};

const struct command cmd_validate = {
    .name = "validate",
    .summary = "list all problems of topology and scenario files",
    .operands = "FILE…",
    .operand_kind = OPERAND_TOPOLOGY,
    .min_operands = 1,
    .max_operands = -1,
    .description =
	"Checks each FILE and prints every problem as FILE:LINE:COLUMN with a suggestion. A\n"
	"scenario is checked together with its topology. Nothing is built.",
    .options = option_defs,
    .n_options = ARRAY_SIZE(option_defs),
    .options_size = sizeof(struct validate_options),
    .run = validate_run,
};
