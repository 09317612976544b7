// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * run: builds a scenario's labs, measures, judges, reports, takes them down.
 *
 * All scenarios are read first, so that a mistake in the last does not show after an hour. The work
 * is core/harness/run.c; here are files, the terminal and the exit status.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
#include "emulator/lab/load.h"

enum { REPORT_BYTES = 256 * 1024 }; /* more than a report of a hundred runs */

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
	int status;   /* the worst so far */
};

static bool is_topology(const char *name, const char *text, size_t len)
{
	struct problems p;
	struct load load;
	bool is;

	problems_init(&p);
	load_topology(&(struct topology_source){.main = {name, text, len}}, &load, &p);
	load_done(&load);
	is = !problems_count(&p);
	problems_done(&p);
	return is;
}

static int find_scenario(const char *name, char **path, struct err *err)
{
	struct err none = ERR_INIT;
	int r = data_find(DATA_SCENARIOS, name, path, err);

	if (!r || data_find(DATA_TOPOLOGIES, name, path, &none))
		return r;
	return err_input(err, "'%s' is a topology, not a scenario", name);
}

static int read_scenario(struct job *job, const char *name, struct err *err)
{
	autofree char *path = NULL, *text = NULL;
	size_t len;
	int r = find_scenario(name, &path, err);

	if (!r)
		r = file_read(path, &text, &len, err);
	if (r)
		return r;
	const char *shown = str_eq(path, "-") ? "standard input" : path;
	if (!scenario_recognise(text, len) && is_topology(shown, text, len))
		return err_input(err, "%s is a topology, not a scenario", shown);
	*VEC_ADD(&job->arena, &job->scenarios) = scenario_parse(shown, text, len, &job->problems);
	return 0;
}

static int show_problems(struct problems *p)
{
	autostr struct strbuf text = {0};

	problems_print(p, &text);
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

static int write_report(const char *folder, const char *name, const char *text, size_t len,
			struct err *err)
{
	autofree char *path = mem_printf("%s/%s", folder, name);

	return file_write(path, text, len, err);
}

/* Before anything is built: the folder must be there and take a file as large as a report. */
static int try_folder(const char *folder, struct err *err)
{
	autofree char *path = mem_printf("%s/.report.json", folder);
	autofree char *zeros = mem_zalloc(REPORT_BYTES);
	int r = file_mkdirs(folder, err);

	if (!r)
		r = write_report(folder, ".report.json", zeros, REPORT_BYTES, err);
	unlink(path);
	return r ? err_wrap(err, "no place for the reports") : 0;
}

static int try_folders(const struct job *job, struct err *err)
{
	int r = 0;

	if (job->o->output && !job->o->output[0])
		return err_input(err, "-o: the name of the directory is empty");
	for (size_t i = 0; i < job->scenarios.n && !r; i++) {
		autofree char *folder = output_folder(job, job->scenarios.v[i]);

		r = try_folder(folder, err);
	}
	return r;
}

static int write_reports(const char *folder, const struct run_result *r, json_t *json,
			 struct err *err)
{
	autostr struct strbuf junit = {0};
	autofree char *text = json_dumps(json, JSON_INDENT(1) | JSON_REAL_PRECISION(12));
	int ret = file_mkdirs(folder, err);

	junit_print(r, &junit);
	if (!ret)
		ret = write_report(folder, "report.json", text, strlen(text), err);
	if (!ret)
		ret = write_report(folder, "junit.xml", strbuf_text(&junit), junit.len, err);
	return ret;
}

/* The short name of a shipped topology, else its file. Gives heap text. */
static char *topology_name(const char *file)
{
	const char *slash = strrchr(file, '/'), *base = slash ? slash + 1 : file;
	char *name = mem_printf("%.*s", (int)strcspn(base, "."), base);
	autofree char *shipped = NULL, *a = realpath(file, NULL), *b = NULL;
	struct err none = ERR_INIT;

	if (!data_find(DATA_TOPOLOGIES, name, &shipped, &none))
		b = realpath(shipped, NULL);
	if (a && b && str_eq(a, b))
		return name;
	free(name);
	return mem_strdup(file);
}

static void print_result(const struct job *job, const struct run_result *r, const char *folder,
			 bool written)
{
	autostr struct strbuf text = {0};
	autofree char *topology = topology_name(r->scenario->topology);

	terminal_print(r, text_color(STDOUT_FILENO), &text);
	if (written)
		strbuf_addf(&text, "  Report: %s/report.json, junit.xml    More: vpclab plan %s\n",
			    folder, topology);
	if (job->scenarios.n > 1)
		strbuf_addc(&text, '\n');
	print_text(&text);
}

static int worse(int a, int b)
{
	static const int weight[] = {
	    [EXIT_PASS] = 0,  [EXIT_UNSUPPORTED] = 1, [EXIT_INCONCLUSIVE] = 2,
	    [EXIT_USAGE] = 3, [EXIT_FAIL] = 4,
	};

	return weight[b] > weight[a] ? b : a;
}

/* What was found is shown even where it could not be written. */
static int report(struct job *job, const struct run_result *r, struct err *err)
{
	autofree char *folder = output_folder(job, r->scenario);
	json_t *json = json_result(r);
	int ret = write_reports(folder, r, json, err);

	if (job->o->json)
		json_array_append(job->list, json);
	else
		print_result(job, r, folder, !ret);
	json_decref(json);
	return ret ? ret : verdict_exit_status(verdict_overall(r));
}

static int run_one(struct job *job, const struct scenario *s, bool *interrupted, struct err *err)
{
	struct progress bar;
	struct run_options o = {.progress = job->o->quiet ? NULL : progress_show, .arg = &bar};
	struct problems problems;
	struct interrupt i;
	struct run_result r;

	problems_init(&problems);
	progress_init(&bar);
	interrupt_begin(&i);
	int ret = run_scenario(s, &o, &r, &problems, err);
	progress_done(&bar);
	*interrupted = r.interrupted;
	if (!ret)
		ret = report(job, &r, err);
	else if (problems_count(&problems))
		ret = show_problems(&problems);
	interrupt_end(&i);
	problems_done(&problems);
	result_done(&r);
	return ret;
}

/* One that fails does not stop those behind it: its error is told at once, and it is the status. */
static int run_all(struct job *job)
{
	bool interrupted = false;

	for (size_t i = 0; i < job->scenarios.n && !interrupted; i++) {
		const struct scenario *s = job->scenarios.v[i];
		struct err err = ERR_INIT;
		int status = run_one(job, s, &interrupted, &err);

		if (status < 0) {
			fflush(stdout);
			fprintf(stderr, "vpclab run: %s: %s\n", s->name, err.text);
			status = err_exit_status(&err);
		}
		job->status = worse(job->status, status);
	}
	if (job->o->json && job->scenarios.n == 1 && json_array_size(job->list) == 1)
		print_json(json_incref(json_array_get(job->list, 0)));
	else if (job->o->json && job->scenarios.n > 1)
		print_json(json_incref(job->list));
	return job->status;
}

static int run_run(const struct call *call, struct err *err)
{
	struct job job = {.o = call->options, .list = json_array()};
	int ret = 0;

	arena_init(&job.arena);
	problems_init(&job.problems);
	for (int i = 0; i < call->argc && !ret; i++)
		ret = read_scenario(&job, call->argv[i], err);
	if (!ret && problems_count(&job.problems))
		ret = show_problems(&job.problems);
	if (!ret)
		ret = try_folders(&job, err);
	if (!ret)
		ret = run_all(&job);
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
	"Builds the lab of each SCENARIO, proves its links by short probes, runs its measurements\n"
	"on every path until their confidence intervals are narrow enough, judges its "
	"expectations,\n"
	"and prints a table.\n"
	"report.json has everything that was found, junit.xml a test case for each expectation.\n"
	"\n"
	"The exit status is 0 when all expectations hold, 1 when one does not, a link is not what\n"
	"it says, or something could not be measured, and 3 when the machine was the limit, also "
	"of\n"
	"the proof of a link, or two truths disagree, so that nothing can be said. Progress goes "
	"to\n"
	"standard error. Ctrl-C takes the lab down and reports what was measured so far.",
    .options = option_defs,
    .n_options = ARRAY_SIZE(option_defs),
    .options_size = sizeof(struct run_command_options),
    .run = run_run,
};
