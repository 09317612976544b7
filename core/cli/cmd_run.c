// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * run: builds a scenario's labs, measures, judges, reports, takes them down.
 *
 * All scenarios are read first, so that a mistake in the last does not show after an hour. The work
 * is core/harness/run.c; here are files, the terminal and the exit status.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/base/file.h"
#include "core/cli/command.h"
#include "core/cli/data.h"
#include "core/cli/interrupt.h"
#include "core/cli/print.h"
#include "core/harness/run.h"
#include "core/harness/verdict.h"
#include "core/report/json.h"
#include "core/report/junit.h"
#include "core/report/progress.h"
#include "core/report/terminal.h"
#include "core/report/text.h"

struct run_command_options {
	const char *output;
	bool quiet, json;
};

struct job { /* all scenarios of one command line */
	const struct run_command_options *o;
	struct arena arena;
	VEC(struct scenario *) scenarios;
	struct problems problems;
	json_t *list; /* --json with several scenarios */
	enum verdict worst;
};

static int read_scenario(struct job *job, const char *name, struct err *err)
{
	autofree char *path = NULL, *text = NULL;
	size_t len;
	int r = data_find(DATA_SCENARIOS, name, &path, err);

	if (!r)
		r = file_read(path, &text, &len, err);
	if (r)
		return r;
	const char *shown = str_eq(path, "-") ? "standard input" : path;
	*VEC_ADD(&job->arena, &job->scenarios) = scenario_parse(shown, text, len, &job->problems);
	return 0;
}

static int show_problems(struct job *job)
{
	autostr struct strbuf text = {0};

	problems_print(&job->problems, &text);
	fputs(strbuf_text(&text), stderr);
	return EXIT_USAGE;
}

/* out/NAME, or what -o says; several scenarios below one -o get a folder each. */
static char *output_folder(const struct job *job, const struct scenario *s)
{
	if (!job->o->output)
		return mem_printf("out/%s", s->name);
	if (job->scenarios.n == 1)
		return mem_strdup(job->o->output);
	return mem_printf("%s/%s", job->o->output, s->name);
}

static int write_report(const char *folder, const char *name, const char *text, struct err *err)
{
	autofree char *path = mem_printf("%s/%s", folder, name);

	return file_write(path, text, strlen(text), err);
}

static int write_reports(const char *folder, const struct run_result *r, json_t *json,
			 struct err *err)
{
	autostr struct strbuf junit = {0};
	autofree char *text = json_dumps(json, JSON_INDENT(1) | JSON_REAL_PRECISION(12));
	int ret = file_mkdirs(folder, err);

	junit_print(r, &junit);
	if (!ret)
		ret = write_report(folder, "report.json", text, err);
	if (!ret)
		ret = write_report(folder, "junit.xml", strbuf_text(&junit), err);
	return ret;
}

static void print_result(const struct job *job, const struct run_result *r, const char *folder)
{
	autostr struct strbuf text = {0};

	terminal_print(r, text_color(STDOUT_FILENO), &text);
	strbuf_addf(&text, "  Report: %s/report.json, junit.xml    More: vpclab plan %s\n", folder,
		    r->scenario->topology);
	if (job->scenarios.n > 1)
		strbuf_addc(&text, '\n');
	print_text(&text);
}

static enum verdict worse(enum verdict a, enum verdict b)
{
	static const int weight[] = {
	    [VERDICT_PASS] = 0, [VERDICT_SKIP] = 1, [VERDICT_INCONCLUSIVE] = 2, [VERDICT_FAIL] = 3};

	return weight[b] > weight[a] ? b : a;
}

static int report(struct job *job, const struct run_result *r, struct err *err)
{
	autofree char *folder = output_folder(job, r->scenario);
	json_t *json = json_result(r);
	int ret = write_reports(folder, r, json, err);

	job->worst = worse(job->worst, verdict_overall(r));
	if (job->o->json)
		json_array_append(job->list, json);
	else
		print_result(job, r, folder);
	json_decref(json);
	return ret;
}

static int run_one(struct job *job, const struct scenario *s, bool *interrupted, struct err *err)
{
	struct progress bar;
	struct run_options o = {.progress = job->o->quiet ? NULL : progress_show, .arg = &bar};
	struct interrupt i;
	struct run_result r;

	progress_init(&bar);
	interrupt_begin(&i);
	int ret = run_scenario(s, &o, &r, &job->problems, err);
	interrupt_end(&i);
	progress_done(&bar);
	*interrupted = r.interrupted;
	if (!ret)
		ret = report(job, &r, err);
	else if (problems_count(&job->problems))
		ret = show_problems(job);
	result_done(&r);
	return ret;
}

static int run_all(struct job *job, struct err *err)
{
	bool interrupted = false;
	int ret = 0;

	for (size_t i = 0; i < job->scenarios.n && !ret && !interrupted; i++)
		ret = run_one(job, job->scenarios.v[i], &interrupted, err);
	if (ret)
		return ret;
	if (job->o->json && json_array_size(job->list) == 1)
		print_json(json_incref(json_array_get(job->list, 0)));
	else if (job->o->json)
		print_json(json_incref(job->list));
	return verdict_exit_status(job->worst);
}

static int run_run(const struct call *call, struct err *err)
{
	struct job job = {.o = call->options, .list = json_array(), .worst = VERDICT_PASS};
	int ret = 0;

	arena_init(&job.arena);
	problems_init(&job.problems);
	for (int i = 0; i < call->argc && !ret; i++)
		ret = read_scenario(&job, call->argv[i], err);
	if (!ret && problems_count(&job.problems))
		ret = show_problems(&job);
	if (!ret)
		ret = run_all(&job, err);
	VEC_FOREACH (s, &job.scenarios)
		scenario_free(*s);
	json_decref(job.list);
	problems_done(&job.problems);
	arena_done(&job.arena);
	return ret;
}

static const struct option_def option_defs[] = {
    {"output", 'o', OPT_STRING, "DIR", "write the reports to DIR instead of out/NAME",
     OPT_AT(struct run_command_options, output), NULL, 0, 0},
    {"quiet", 'q', OPT_FLAG, NULL, "show no progress", OPT_AT(struct run_command_options, quiet),
     NULL, 0, 0},
    OPT_JSON(struct run_command_options, json),
};

const struct command cmd_run = {
    .name = "run",
    .summary = "run scenarios: build, measure, judge, report, take down",
    .operands = "SCENARIO…",
    .operand_kind = OPERAND_SCENARIO,
    .min_operands = 1,
    .max_operands = -1,
    .description =
	"Builds the lab of each SCENARIO, runs its measurements on every path until their\n"
	"confidence intervals are narrow enough, judges its expectations, and prints a table.\n"
	"report.json has everything that was found, junit.xml a test case for each expectation.\n"
	"\n"
	"The exit status is 0 when all expectations hold, 1 when one does not, and 3 when the\n"
	"machine was the limit or two truths disagree, so that nothing can be said. Progress goes\n"
	"to standard error. Ctrl-C takes the lab down and reports what was measured so far.",
    .options = option_defs,
    .n_options = ARRAY_SIZE(option_defs),
    .options_size = sizeof(struct run_command_options),
    .run = run_run,
};
