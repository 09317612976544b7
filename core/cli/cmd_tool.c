/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tool: other people's measuring tools by their adapters: which there are, what is wrong with one,
 * and what one reads. It judges no figure: `vpclab verify` does that.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/share.h"
#include "core/base/str.h"
#include "core/base/units.h"
#include "core/cli/columns.h"
#include "core/cli/command.h"
#include "core/cli/data.h"
#include "core/cli/print.h"
#include "core/cli/tool_open.h"
#include "core/harness/rig.h"
#include "core/harness/tool_run.h"
#include "core/report/nullable.h"

struct tool_options {
	const char *test;
	bool json, raw;
};

static const char topology[] =
    "version: 1\n"
    "name: try\n"
    "nodes:\n"
    "  client: {kind: machine, addresses: [10.0.0.1/24]}\n"
    "  server: {kind: machine, addresses: [10.0.0.2/24]}\n"
    "links:\n"
    "  - {endpoints: [\"client:eth0\", \"server:eth0\"], rate: 100mbit}\n";

static const char *const sources[] = {"client.stdout", "client.stderr", "server.stdout",
				      "server.stderr"};

/* ---- ls ---- */

static void list_one(const struct adapter *a, struct columns *c, json_t *list)
{
	autofree char *path = NULL, *version = NULL;
	autostr struct strbuf tests = {0};
	struct err err = ERR_INIT;
	bool here = !tool_run_find(a, &path, &version, &err);

	VEC_FOREACH (t, &a->tests)
		strbuf_addf(&tests, "%s%s", tests.len ? " " : "", t->name);
	if (list) {
		json_array_append_new(list,
				      json_pack("{s:s, s:b, s:s?, s:o, s:s}", "name", a->name,
						"here", here, "version", version, "program",
						nullable_text(path), "tests", strbuf_text(&tests)));
		return;
	}
	columns_add(c, a->name);
	columns_add(c, here ? (*version ? version : "?") : "not here");
	columns_add(c, strbuf_text(&tests));
	columns_add(c, here ? "" : err.text);
}

static int list_tools(const struct tool_options *o, struct err *err)
{
	json_t *list = o->json ? json_array() : NULL;
	autostr struct strbuf text = {0};
	struct share_names names;
	struct columns c;
	struct arena a;
	int r = 0;

	arena_init(&a);
	columns_init(&c, 4);
	share_names(DATA_TOOLS, &a, &names);
	for (size_t i = 0; i < names.list.n && !r; i++) {
		struct adapter *adapter = NULL;

		if (str_eq(names.list.v[i], "skeleton"))
			continue;
		r = tool_open(names.list.v[i], &adapter, err);
		if (!r)
			list_one(adapter, &c, list);
		adapter_free(adapter);
	}
	columns_print(&c, "", &text);
	if (!r && list)
		print_json(json_pack("{s:O}", "tools", list));
	else if (!r)
		print_text(&text);
	json_decref(list);
	columns_done(&c);
	arena_done(&a);
	return r;
}

/* ---- check ---- */

/* Programs besides the tool's own that its commands start, and that are not here. */
static void others(const struct adapter *a, json_t *missing)
{
	VEC_FOREACH (t, &a->tests)
		for (int i = 0; i < 2; i++) {
			const struct tool_command *c = i ? &t->client : &t->server;
			const char *first = c->argv.n ? c->argv.v[0].text : NULL;
			autofree char *path =
			    !first || *first == '{' ? mem_strdup("") : tool_run_program(first);

			if (!path)
				json_array_append_new(
				    missing, json_sprintf("test %s: its %s starts %s, which is not "
							  "here either as a file or in PATH",
							  t->name, i ? "client" : "server", first));
		}
}

static int check_tool(const struct tool_options *o, const struct adapter *a)
{
	autofree char *path = NULL, *version = NULL;
	json_t *missing = json_array(), *line;
	struct err err = ERR_INIT;
	bool here = !tool_run_find(a, &path, &version, &err);
	size_t i;

	if (here)
		others(a, missing);
	else
		json_array_append_new(missing, json_string(err.text));
	if (o->json)
		return print_json(json_pack("{s:s, s:o, s:b, s:o, s:s?, s:i, s:o}", "tool", a->name,
					    "file", nullable_text(a->file), "here", here, "program",
					    nullable_text(path), "version", version, "tests",
					    (int)a->tests.n, "missing", missing));
	printf("%s: no mistakes, %zu test%s\n", a->file, a->tests.n, a->tests.n == 1 ? "" : "s");
	if (here)
		printf("%s: %s, version %s\n", a->name, path,
		       *version		  ? version
		       : a->version_match ? "not told: the version's `match` finds nothing"
					  : "not told: `find` says nothing of a version");
	json_array_foreach(missing, i, line) printf("%s: %s\n", a->name, json_string_value(line));
	json_decref(missing);
	return EXIT_PASS;
}

/* ---- show ---- */

/* The file as it is, to be copied. */
static int show_tool(const struct adapter *a, struct err *err)
{
	autofree char *text = NULL;
	size_t len;
	int r = file_read(a->file, &text, &len, err);

	if (r)
		return r;
	fwrite(text, 1, len, stdout);
	return EXIT_PASS;
}

/* ---- try ---- */

static void show_reading(const struct reading *r, struct columns *c)
{
	char value[64];

	columns_addf(c, "%s%s", figure_name(r->read->figure),
		     r->read->series	 ? " (series)"
		     : r->read->headline ? ""
					 : " (aside)");
	if (!r->found) {
		columns_add(c, "–");
		columns_add(c, "");
		columns_addf(c, "%s: %s", sources[r->read->from], r->why);
		return;
	}
	figure_format(r->read->figure, r->value, value, sizeof(value));
	columns_add(c, value);
	columns_add(c, r->raw);
	columns_addf(c, "%s %s", sources[r->read->from],
		     r->read->path ? r->read->path : r->read->match);
}

static json_t *reading_json(const struct reading *r)
{
	return json_pack("{s:s, s:o, s:s?, s:s, s:b, s:s?}", "metric", figure_name(r->read->figure),
			 "value", r->found ? json_real(r->value) : json_null(), "raw", r->raw,
			 "from", sources[r->read->from], "headline", r->read->headline, "why",
			 r->why);
}

static void show_output(const struct tool_output *o, struct strbuf *text)
{
	for (int i = 0; i < 4; i++)
		if (o->text[i][0])
			strbuf_addf(text, "--- %s\n%s%s", sources[i], o->text[i],
				    o->text[i][strlen(o->text[i]) - 1] == '\n' ? "" : "\n");
}

/* True: something was not read. */
static bool show_try(const struct tool_options *o, const struct tool_test *t,
		     const struct tool_output *output, json_t *list)
{
	autostr struct strbuf text = {0};
	struct readings r;
	struct columns c;
	json_t *read = json_array();
	bool missing = false;

	readings_of(t, output, &r);
	columns_init(&c, 4);
	strbuf_addf(&text, "%s: status %d, %.1f s%s\n", t->name, output->status[0], output->took_s,
		    output->timed_out ? ", did not end and was killed" : "");
	VEC_FOREACH (reading, &r.list) {
		missing = missing || !reading->found;
		show_reading(reading, &c);
		json_array_append_new(read, reading_json(reading));
	}
	columns_print(&c, "  ", &text);
	VEC_FOREACH (w, &r.warnings)
		strbuf_addf(&text, "  warns: %s\n", *w);
	if (missing || o->raw)
		show_output(output, &text);
	if (list)
		json_array_append_new(list, json_pack("{s:s, s:i, s:b, s:f, s:O}", "test", t->name,
						      "status", output->status[0], "timed_out",
						      output->timed_out, "took_s", output->took_s,
						      "reads", read));
	else
		print_text(&text);
	json_decref(read);
	columns_done(&c);
	readings_done(&r);
	return missing;
}

/* What a first try asks for: little, so that the link of 100 Mbit/s is not the matter. */
static void ask(const struct tool_test *t, struct engine_spec *spec)
{
	enum engine_test test = TEST_UDP_LATENCY;
	struct err ignored = ERR_INIT;

	engine_test_parse(t->name, &test, &ignored); /* ping is none of ours */
	engine_spec_default(spec, test);
	struct engine_traits traits = engine_test_traits(test);
	spec->duration_ns = 2 * NSEC_PER_SEC;
	spec->streams = 1;
	spec->size = traits.stream && !traits.datagram ? 0 : traits.stream ? 1000 : 64;
	if (traits.stream && traits.paced)
		spec->rate_bps = 5000000;
	else if (traits.paced)
		spec->rate_pps = str_eq(t->name, "ping") ? 10 : 500;
}

static int try_tests(const struct tool_options *o, const struct adapter *a, const struct rig *rig,
		     struct err *err)
{
	json_t *list = o->json ? json_array() : NULL;
	bool missing = false;
	int r = 0;

	VEC_FOREACH (t, &a->tests) {
		struct tool_run_spec spec = {.lab = rig->lab,
					     .wire = &rig->wire,
					     .adapter = a,
					     .test = t,
					     .from = "client",
					     .to = "server",
					     .family = AF_INET,
					     .port = TOOL_RUN_PORT + (int)(t - a->tests.v),
					     .client_cpu = -1,
					     .server_cpu = -1};
		struct tool_output output;

		if (o->test && !str_eq(o->test, t->name))
			continue;
		ask(t, &spec.spec);
		r = tool_run(&spec, &output, err);
		if (!r)
			missing = show_try(o, t, &output, list) || missing;
		tool_run_done(&output);
		if (r) {
			err_wrap(err, "%s", t->name);
			break;
		}
	}
	if (!r && list)
		print_json(json_pack("{s:s, s:O}", "tool", a->name, "tests", list));
	json_decref(list);
	return r ? r : missing ? EXIT_FAIL : EXIT_PASS;
}

static int try_tool(const struct tool_options *o, const struct adapter *a, struct err *err)
{
	autofree char *name = mem_printf("try-%d", (int)getpid()), *path = NULL, *version = NULL;
	struct machine machine;
	struct rig_spec spec = {.name = name,
				.topology = {"a link of 100 Mbit/s", topology, strlen(topology)},
				.machine = &machine};
	struct problems p;
	struct rig rig = {0};
	struct err down = ERR_INIT;

	if (o->test && !adapter_test(a, o->test))
		return err_input(err, "%s has no test '%s'", a->name, o->test);
	int r = tool_run_find(a, &path, &version, err);
	if (r) {
		err->kind = ERR_UNSUPPORTED;
		return r;
	}
	problems_init(&p);
	r = lab_measure_machine(&machine, err);
	if (!r)
		r = rig_open(&spec, &rig, &p, err);
	if (!r)
		r = try_tests(o, a, &rig, err);
	if (rig_close(&rig, &down) && r >= 0) {
		*err = down;
		r = -down.code;
	}
	problems_done(&p);
	return r;
}

/* ---- the verb ---- */

static int tool_command_run(const struct call *call, struct err *err)
{
	const struct tool_options *o = call->options;
	const char *verb = call->argv[0], *name = call->argc > 1 ? call->argv[1] : NULL;
	struct adapter *a = NULL;
	int r;

	if (str_eq(verb, "ls"))
		return name ? err_input(err, "tool ls takes no name") : list_tools(o, err);
	if (!str_eq(verb, "check") && !str_eq(verb, "try") && !str_eq(verb, "show"))
		return err_input(err, "'%s' is none of ls, show, check, try", verb);
	if (!name)
		return err_input(err, "tool %s: which one? A file, or a name of vpclab tool ls",
				 verb);
	r = tool_open(name, &a, err);
	if (!r)
		r = str_eq(verb, "check")  ? check_tool(o, a)
		    : str_eq(verb, "show") ? show_tool(a, err)
					   : try_tool(o, a, err);
	adapter_free(a);
	return r;
}

static const struct option_def option_defs[] = {
    {"test", 't', OPT_STRING, "TEST", "try: only this test", OPT_AT(struct tool_options, test),
     NULL, 0, 0},
    {"raw", 'r', OPT_FLAG, NULL, "try: print all that the tool printed",
     OPT_AT(struct tool_options, raw), NULL, 0, 0},
    OPT_JSON(struct tool_options, json),
};

const struct command cmd_tool = {
    .name = "tool",
    .summary = "adapters of other people's measuring tools",
    .operands = "ls | show TOOL | check TOOL | try TOOL",
    .operand_kind = OPERAND_TOOL,
    .min_operands = 1,
    .max_operands = 2,
    .description =
	"A measuring tool is described by a file, its adapter: how it is started, when its server\n"
	"is ready, how its figures are read, in which units. TOOL is such a file or the name of "
	"one\n"
	"that comes with vpclab. A tool of one's own begins with a copy of `skeleton`, which\n"
	"documents every key:\n"
	"\n"
	"    vpclab tool show skeleton >mytool.yaml\n"
	"    vpclab tool check mytool.yaml\n"
	"    vpclab tool try mytool.yaml\n"
	"    vpclab verify --tool mytool.yaml\n"
	"\n"
	"ls lists those that come with vpclab, and whether their tools are here. show prints an\n"
	"adapter. check says all that is wrong with one, and whether its tool is here. try builds "
	"a\n"
	"link of 100 Mbit/s, runs each test once and shows what was read from where; where\n"
	"something was not found it prints all that the tool printed, and the status is 1.",
    .options = option_defs,
    .n_options = ARRAY_SIZE(option_defs),
    .options_size = sizeof(struct tool_options),
    .run = tool_command_run,
};
