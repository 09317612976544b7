/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verify: tools on trial. Chooses tools and trials, runs them by core/harness/verify.c and prints
 * what came of it. What a fault means is told by --explain.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/share.h"
#include "core/base/str.h"
#include "core/base/units.h"
#include "core/cli/columns.h"
#include "core/cli/command.h"
#include "core/cli/data.h"
#include "core/cli/interrupt.h"
#include "core/cli/print.h"
#include "core/cli/tool_open.h"
#include "core/harness/attempt.h"
#include "core/report/matrix.h"
#include "core/report/nullable.h"
#include "core/report/progress.h"
#include "core/report/text.h"

struct verify_options {
	struct option_list tools, trials;
	const char *baseline, *explain, *format, *output, *keep;
	int64_t jobs;
	bool update, json, quiet, list;
};

struct verifier {
	const struct verify_options *o;
	struct arena arena;
	VEC(struct verify_tool) tools;
	VEC(struct adapter *) adapters;
	VEC(struct trial *) trials;
	struct baseline *baseline; /* NULL: none */
	struct progress bar;
};

/* ---- --explain ---- */

static int explain(const char *name, struct err *err)
{
	autostr struct strbuf out = {0};
	enum fault_kind kind;

	if (str_eq(name, "all")) {
		for (int k = FAULT_NONE + 1; k < FAULT_KINDS; k++)
			strbuf_addf(&out, "%s: %s.\n", fault_name((enum fault_kind)k),
				    fault_sentence((enum fault_kind)k));
		print_text(&out);
		return EXIT_PASS;
	}
	int r = fault_parse(name, &kind, err);
	if (r)
		return r;
	strbuf_addf(&out, "%s: %s.\n\n%s\n", fault_name(kind), fault_sentence(kind),
		    fault_explain(kind));
	print_text(&out);
	return EXIT_PASS;
}

/* ---- choosing ---- */

/* Results and baselines name tools and trials: one of a name. The same file twice is once. */
static int twice(const char *what, const char *name, const char *a, const char *b, struct err *err)
{
	if (str_eq(a, b))
		return 0;
	return err_input(err, "two %ss are called '%s': %s and %s; change the name of one", what,
			 name, a, b);
}

static int add_tool(struct verifier *v, const char *name, struct err *err)
{
	struct adapter *a = NULL;
	struct err missing = ERR_INIT;
	char *path = NULL, *version = NULL;
	int r = tool_open(name, &a, err);

	if (r)
		return r;
	*VEC_ADD(&v->arena, &v->adapters) = a;
	VEC_FOREACH (other, &v->tools)
		if (str_eq(other->adapter->name, a->name))
			return twice("tool", a->name, other->adapter->file, a->file, err);
	struct verify_tool *t = VEC_ADD(&v->arena, &v->tools);
	t->adapter = a;
	if (tool_run_find(a, &path, &version, &missing)) {
		t->version = NULL;
		t->missing = arena_strdup(&v->arena, missing.text);
	} else {
		t->version = arena_strdup(&v->arena, version);
	}
	free(path);
	free(version);
	return 0;
}

/* Those that were named, else all that are here. */
static int choose_tools(struct verifier *v, struct err *err)
{
	struct share_names names;
	int r = 0;

	for (size_t i = 0; i < v->o->tools.n && !r; i++)
		r = add_tool(v, v->o->tools.v[i], err);
	if (r || v->o->tools.n)
		return r;
	share_names(DATA_TOOLS, &v->arena, &names);
	for (size_t i = 0; i < names.list.n && !r; i++) {
		if (str_eq(names.list.v[i], "skeleton"))
			continue;
		r = add_tool(v, names.list.v[i], err);
		if (!r && !v->tools.v[v->tools.n - 1].version)
			v->tools.n--;
	}
	return r;
}

/* A topology that a trial names is a shipped one, or a file relative to the trial's own folder. */
static int read_topology(struct verifier *v, struct trial *t, struct err *err)
{
	autofree char *path = NULL, *text = NULL;
	size_t len;
	const char *slash = strrchr(t->file, '/');

	if (t->topology)
		return 0;
	if (slash && t->topology_name[0] != '/' && data_says_file(t->topology_name))
		t->topology_name = arena_printf(&v->arena, "%.*s/%s", (int)(slash - t->file),
						t->file, t->topology_name);
	int r = data_find(DATA_TOPOLOGIES, t->topology_name, &path, err);

	if (!r)
		r = file_read(path, &text, &len, err);
	if (r)
		return err_wrap(err, "%s", t->file);
	t->topology_name = arena_strdup(&v->arena, path);
	t->topology = arena_strdup(&v->arena, text);
	return 0;
}

/* Gives the trial, or its problems to standard error and EXIT_USAGE. */
static int read_trial(struct verifier *v, const char *name, struct trial **out, struct err *err)
{
	autofree char *path = NULL, *text = NULL;
	autostr struct strbuf all = {0};
	struct problems p;
	size_t len;
	int r = data_find(DATA_TRIALS, name, &path, err);

	if (!r)
		r = file_read(path, &text, &len, err);
	if (r)
		return r;
	problems_init(&p);
	*out = trial_parse(path, text, len, &p);
	problems_print(&p, &all);
	fputs(strbuf_text(&all), stderr);
	r = problems_count(&p) ? EXIT_USAGE : read_topology(v, *out, err);
	problems_done(&p);
	if (r)
		trial_free(*out);
	return r;
}

static int add_trial(struct verifier *v, const char *name, bool only_core, struct err *err)
{
	struct trial *t;
	int r = read_trial(v, name, &t, err);

	if (r)
		return r;
	bool keep = t->core || !only_core;
	VEC_FOREACH (other, &v->trials)
		if (keep && !r && str_eq((*other)->name, t->name)) {
			r = twice("trial", t->name, (*other)->file, t->file, err);
			keep = false;
		}
	if (keep)
		*VEC_ADD(&v->arena, &v->trials) = t;
	else
		trial_free(t);
	return r;
}

static int add_trials(struct verifier *v, bool core, struct err *err)
{
	struct share_names names;
	int r = 0;

	share_names(DATA_TRIALS, &v->arena, &names);
	for (size_t i = 0; i < names.list.n && !r; i++)
		r = add_trial(v, names.list.v[i], core, err);
	return r;
}

static int choose_trials(struct verifier *v, struct err *err)
{
	int r = 0;

	if (!v->o->trials.n)
		return add_trials(v, !v->o->list, err);
	for (size_t i = 0; i < v->o->trials.n && !r; i++) {
		const char *name = v->o->trials.v[i];

		if (str_eq(name, "core") || str_eq(name, "full"))
			r = add_trials(v, str_eq(name, "core"), err);
		else
			r = add_trial(v, name, false, err);
	}
	return r;
}

static json_t *trial_json(const struct trial *t)
{
	json_t *asks = json_array(), *truth = json_array();

	VEC_FOREACH (a, &t->asks)
		json_array_append_new(asks, json_string(a->test));
	VEC_FOREACH (q, &t->questions)
		json_array_append_new(truth, json_string(figure_name(q->figure)));
	return json_pack("{s:s, s:o, s:s?, s:s?, s:b, s:b, s:o, s:o}", "name", t->name, "file",
			 nullable_text(t->file), "title", t->title, "explain", t->explain, "core",
			 t->core, "alone", t->alone, "tests", asks, "figures", truth);
}

static int list(const struct verifier *v)
{
	autostr struct strbuf out = {0};
	struct columns c;

	if (v->o->json) {
		json_t *trials = json_array();

		VEC_FOREACH (t, &v->trials)
			json_array_append_new(trials, trial_json(*t));
		return print_json(json_pack("{s:o}", "trials", trials));
	}
	columns_init(&c, 3);
	VEC_FOREACH (t, &v->trials) {
		columns_add(&c, (*t)->name);
		columns_add(&c, (*t)->core ? "core" : "");
		columns_add(&c, (*t)->title);
	}
	columns_print(&c, "", &out);
	columns_done(&c);
	print_text(&out);
	return EXIT_PASS;
}

/* ---- running ---- */

static void show(void *arg, const struct trial_result *r, size_t done, size_t n)
{
	struct verifier *v = arg;
	const struct answer *worst;
	autofree char *text = mem_printf("%s on %s: %s", r->trial, r->tool,
					 judgement_name(trial_result_judgement(r, &worst)));
	struct run_progress p = {.text = text, .done = (double)done / (double)n, .step = true};

	progress_show(&v->bar, &p);
}

static int print(const struct verifier *v, const struct matrix *m, struct err *err)
{
	autostr struct strbuf out = {0};
	const char *format = v->o->json ? "json" : v->o->format ? v->o->format : "text";

	if (str_eq(format, "json")) {
		json_t *j = matrix_json(m);

		json_object_set_new(j, "schema_version", json_integer(1));
		autofree char *text = json_dumps(j, JSON_INDENT(2));
		json_decref(j);
		strbuf_addf(&out, "%s\n", text);
	} else if (str_eq(format, "junit")) {
		matrix_junit(m, &out);
	} else if (str_eq(format, "tap")) {
		matrix_tap(m, &out);
	} else {
		matrix_text(m, &out);
	}
	int r = v->o->output ? file_write(v->o->output, strbuf_text(&out), out.len, err) : 0;
	if (r || !v->o->output) /* what was found is not lost */
		print_text(&out);
	return r;
}

/* Writes what is to be kept: each, also where another cannot be written. The first error. */
static int keep_files(const struct verifier *v, const struct matrix *m, struct err *err)
{
	size_t n = m->spec->n_tools * m->spec->n_trials;
	int r = v->o->keep ? matrix_keep(m, v->o->keep, err) : 0, second = 0;
	struct err more = ERR_INIT;

	if (v->o->update && m->interrupted)
		second = err_fail(&more, EINTR, "interrupted: %s is as it was", v->o->baseline);
	else if (v->o->update)
		second = baseline_write(v->o->baseline, m->results, n, &more);
	if (second && !r)
		*err = more;
	return r ? r : second;
}

static int finish(struct verifier *v, const struct verify_spec *spec,
		  const struct trial_result *results, int64_t begin, struct err *err)
{
	bool interrupted = attempt_interrupted();
	struct matrix m = {.spec = spec,
			   .results = results,
			   .color = !v->o->output && text_color(STDOUT_FILENO),
			   .columns = v->o->output ? TEXT_COLUMNS : text_columns(STDOUT_FILENO),
			   .interrupted = interrupted,
			   .baseline = v->baseline,
			   .took_s = (double)(clock_now_ns() - begin) / 1e9};
	struct err more = ERR_INIT;
	struct verify_counts c;
	int r = print(v, &m, err), second = keep_files(v, &m, &more);

	if (second && !r)
		*err = more;
	if (r || second)
		return r ? r : second;
	verify_count(results, spec->n_tools * spec->n_trials, m.baseline, &c);
	r = v->o->update ? EXIT_PASS : verify_exit_status(&c);
	return r == EXIT_PASS && interrupted ? EXIT_INCONCLUSIVE : r;
}

/* What would spoil the end is found before the first lab. */
static int check_files(struct verifier *v, struct err *err)
{
	const struct verify_options *o = v->o;
	int r = o->keep ? file_mkdirs(o->keep, err) : 0;

	if (!r && o->output)
		r = file_check_write(o->output, err);
	if (!r && o->update)
		r = file_check_write(o->baseline, err);
	else if (!r && o->baseline)
		r = baseline_read(o->baseline, &v->baseline, err);
	return r;
}

static int run_all(struct verifier *v, struct err *err)
{
	int64_t begin = clock_now_ns();
	struct verify_spec spec = {.tools = v->tools.v,
				   .n_tools = v->tools.n,
				   .trials = (const struct trial *const *)v->trials.v,
				   .n_trials = v->trials.n,
				   .jobs = v->o->jobs > 0 ? (int)v->o->jobs : 1,
				   .keep = v->o->keep,
				   .progress = v->o->quiet ? NULL : show,
				   .arg = v};
	size_t n = spec.n_tools * spec.n_trials;
	autofree struct trial_result *results = mem_zalloc((n + 1) * sizeof(*results));

	progress_init(&v->bar);
	int r = check_files(v, err);
	if (!r)
		r = verify_run(&spec, results, err);
	progress_done(&v->bar);
	if (r == -EINTR) {
		*err = ERR_INIT; /* what is there is told */
		r = 0;
	}
	if (!r)
		r = finish(v, &spec, results, begin, err);
	for (size_t i = 0; i < n; i++)
		if (results[i].tool)
			trial_result_done(&results[i]);
	baseline_free(v->baseline);
	return r;
}

static int verify_command_run(const struct call *call, struct err *err)
{
	const struct verify_options *o = call->options;
	struct verifier v = {.o = o};
	struct interrupt i;

	if (o->explain)
		return explain(o->explain, err);
	if (o->update && !o->baseline)
		return err_input(err, "--update-baseline: which file? Name it by --baseline");
	arena_init(&v.arena);
	int r = choose_trials(&v, err);
	if (!r && o->list)
		r = list(&v);
	else if (!r)
		r = choose_tools(&v, err);
	if (!r && !o->list && !v.tools.n)
		r = err_input(err,
			      "none of the tools that vpclab knows is here; see vpclab tool ls");
	if (!r && !o->list) {
		interrupt_begin(&i);
		r = run_all(&v, err);
		interrupt_end(&i);
	}
	VEC_FOREACH (a, &v.adapters)
		adapter_free(*a);
	VEC_FOREACH (t, &v.trials)
		trial_free(*t);
	arena_done(&v.arena);
	return r;
}

#define AT(field) OPT_AT(struct verify_options, field)

static const char *const formats[] = {"text", "json", "junit", "tap", NULL};

static const struct option_def option_defs[] = {
    {"tool", 't', OPT_LIST, "TOOL", "a name of vpclab tool ls, or a file (all that are here)",
     AT(tools), NULL, 0, 0},
    {"trials", 'T', OPT_LIST, "TRIAL", "core, full, or a name of --list, or a file (core)",
     AT(trials), NULL, 0, 0},
    {"list", 'l', OPT_FLAG, NULL, "list all trials, or those named, and run nothing", AT(list),
     NULL, 0, 0},
    {"jobs", 'j', OPT_INT, "N", "so many labs at the same time (1)", AT(jobs), NULL, 1, 64},
    {"baseline", 'b', OPT_STRING, "FILE", "the faults in it are known; only others fail",
     AT(baseline), NULL, 0, 0},
    {"update-baseline", 0, OPT_FLAG, NULL, "write the faults that were found to it", AT(update),
     NULL, 0, 0},
    {"explain", 'e', OPT_STRING, "KIND",
     "how a kind of fault arises and how to ask rightly; all: list them", AT(explain), NULL, 0, 0},
    {"format", 'F', OPT_STRING, "FORMAT", "how to print what came of it (text)", AT(format),
     formats, 0, 0},
    {"output", 'o', OPT_STRING, "FILE", "write there instead of to standard output", AT(output),
     NULL, 0, 0},
    {"quiet", 'q', OPT_FLAG, NULL, "show no progress", AT(quiet), NULL, 0, 0},
    {"keep", 'k', OPT_STRING, "FOLDER",
     "keep there what faulty tools printed, the evidence and, by tcpdump, headers", AT(keep), NULL,
     0, 0},
    OPT_JSON(struct verify_options, json),
};

const struct command cmd_verify = {
    .name = "verify",
    .summary = "put measuring tools on trial",
    .description =
	"Runs measuring tools over links and courses of events whose truth is known, "
	"compares what\n"
	"they say with what is true, and says where one is wrong, silent, hangs, "
	"crashes or claims\n"
	"success without a result, and by what kind of mistake. Tools are described by "
	"adapters, see\n"
	"vpclab tool; trials are files too, vpclab help trial has their keys.\n"
	"\n"
	"A fault is told only where a second run in a fresh lab shows the same; what one "
	"run alone\n"
	"says against a tool is inconclusive, and both are told.\n"
	"\n"
	"    vpclab verify --tool iperf3 --tool ./mytool.yaml\n"
	"    vpclab verify --tool iperf3 --trials overload --trials ./mytrial.yaml\n"
	"    vpclab verify --tool ./mytool.yaml --baseline known.txt --update-baseline\n"
	"    vpclab verify --tool ./mytool.yaml --baseline known.txt\n"
	"\n"
	"The status is 1 when there is a fault that the baseline does not have, 3 when "
	"nothing but\n"
	"inconclusive trials came of it or it was interrupted, 2 when a tool's or a "
	"trial's file is wrong.\n"
	"A tool that is not here is skipped, and the package to install is told.",
    .options = option_defs,
    .n_options = ARRAY_SIZE(option_defs),
    .options_size = sizeof(struct verify_options),
    .run = verify_command_run,
};
