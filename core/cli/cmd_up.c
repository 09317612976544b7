// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * up: builds a lab from a topology file and leaves it running.
 *
 * It puts together what other layers do: measure the machine, compile, plan, build.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/cli/print.h"
#include "core/cli/proving.h"
#include "core/cli/source.h"

struct up_options {
	const char *name;
	struct option_list set;
	bool prove, quiet, verbose, json;
};

/* "3 hosts, 4 VMs, 1 router": what the lab consists of. */
static void print_census(const struct wire *w, struct strbuf *out)
{
	static const struct {
		enum node_kind kind;
		const char *one, *many;
	} words[] = {
	    {NODE_HOST, "host", "hosts"},
	    {NODE_VM, "VM", "VMs"},
	    {NODE_MACHINE, "machine", "machines"},
	    {NODE_ROUTER, "router", "routers"},
	    {NODE_EIP, "EIP namespace", "EIP namespaces"},
	    {NODE_SWITCH, "switch", "switches"},
	};
	const char *comma = "";

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		size_t n = 0;

		VEC_FOREACH (node, &w->nodes)
			n += node->kind == words[i].kind;
		if (!n)
			continue;
		strbuf_addf(out, "%s%zu %s", comma, n, n == 1 ? words[i].one : words[i].many);
		comma = ", ";
	}
}

/* A node to try the lab with: the first VM or machine. */
static const char *example_node(const struct wire *w)
{
	VEC_FOREACH (node, &w->nodes)
		if (node->kind == NODE_VM || node->kind == NODE_MACHINE)
			return node->name;
	return w->nodes.n ? w->nodes.v[0].name : "NODE";
}

static void print_phases(const struct lab_timing *t)
{
	int64_t rest = t->total_ns;

	for (int i = 0; i < PHASE_COUNT; i++) {
		fprintf(stderr, "  %-8s %8.1f ms\n", plan_phase_name(i),
			(double)t->phase_ns[i] / 1e6);
		rest -= t->phase_ns[i];
	}
	fprintf(stderr, "  %-8s %8.1f ms\n", "start", (double)rest / 1e6);
}

static json_t *up_json(const struct lab *lab, const struct wire *w, const struct lab_timing *t)
{
	json_t *phases = json_object();

	for (int i = 0; i < PHASE_COUNT; i++)
		json_object_set_new(phases, plan_phase_name(i),
				    json_real((double)t->phase_ns[i] / 1e9));
	return json_pack("{s:s,s:I,s:I,s:f,s:o}", "name", lab_name(lab), "nodes",
			 (json_int_t)w->nodes.n, "links", (json_int_t)w->links.n, "up_s",
			 (double)t->total_ns / 1e9, "phases_s", phases);
}

static void print_up(const struct up_options *o, const struct lab *lab, const struct wire *w,
		     const struct lab_timing *t)
{
	autostr struct strbuf text = {0};

	if (o->verbose)
		print_phases(t);
	if (o->json)
		return;
	strbuf_addf(&text, "%s: ", lab_name(lab));
	print_census(w, &text);
	strbuf_addf(&text, " up in %.2f s; vpclab exec %s:%s -- …\n", (double)t->total_ns / 1e9,
		    lab_name(lab), example_node(w));
	VEC_FOREACH (choice, &w->choices)
		strbuf_addf(&text, "  %s: %s\n", choice->what, choice->how);
	print_text(&text);
	fflush(stdout);
}

/* A lab that proves wrong stays up, to be looked at; the status tells. */
static int finish_up(const struct up_options *o, const struct lab *lab, const struct wire *w,
		     const struct lab_timing *t, struct err *err)
{
	const struct proving how = {o->prove, o->quiet};

	print_up(o, lab, w, t);
	return proving_finish(lab, w, &how, o->json ? up_json(lab, w, t) : NULL, err);
}

/* One that is up. What has been changed since is what it should be now. */
static int finish_running(const struct up_options *o, const struct lab *lab, struct err *err)
{
	const struct proving how = {o->prove, o->quiet};
	json_t *j =
	    o->json ? json_pack("{s:s, s:b}", "name", lab_name(lab), "already_up", 1) : NULL;

	if (!o->json)
		printf("%s: already up\n", lab_name(lab));
	return proving_finish(lab, NULL, &how, j, err);
}

/* Are the other files of the topology those that the lab was made with? */
static bool same_files(const struct lab *lab, const struct load *load)
{
	const json_t *files = json_object_get(lab_state(lab), "files");

	VEC_FOREACH (f, &load->files) {
		const json_t *kept = json_object_get(files, f->name);

		if (json_string_length(kept) != f->len ||
		    memcmp(json_string_value(kept), f->text, f->len) != 0)
			return false;
	}
	return json_object_size(files) == load->files.n;
}

/* `up` twice is one lab; another topology under the same name is a mistake. */
static int already_up(const struct source *s, const struct lab_up_options *o,
		      const struct up_options *up, struct err *err)
{
	struct err none = ERR_INIT;
	const char *name = o->name ? o->name : s->wire.name, *text;
	struct lab *lab;
	size_t same = 0, n_sets;
	int ret;

	if (lab_open(name, &lab, &none))
		return -err->code;
	const json_t *sets = json_object_get(lab_state(lab), "sets");
	text = json_string_value(json_object_get(lab_state(lab), "topology"));
	n_sets = json_array_size(sets);
	while (same < n_sets && same < o->n_sets &&
	       str_eq(json_string_value(json_array_get(sets, same)), o->sets[same]))
		same++;
	bool equal = str_eq(text, s->text) && same == n_sets && same == o->n_sets &&
		     same_files(lab, &s->load);
	if (!equal)
		lab_close(lab);
	if (!equal)
		return err_input(err,
				 "a lab '%s' of another topology is up; take it down (vpclab down "
				 "%s) or choose another name (--name)",
				 name, name);
	ret = finish_running(up, lab, err);
	lab_close(lab);
	return ret;
}

static int build(const struct call *call, const struct source *s, struct err *err)
{
	const struct up_options *o = call->options;
	struct lab_up_options lab_options = {
	    .name = o->name,
	    .source_name = s->path,
	    .source_text = s->text,
	    .sets = o->set.v,
	    .n_sets = o->set.n,
	    .files = s->load.files.v,
	    .n_files = s->load.files.n,
	    .compile = s->compile,
	};
	struct lab_timing timing;
	struct plan plan;
	struct lab *lab;
	int ret;

	plan_build(&s->wire, &s->compile.machine, &plan);
	ret = lab_up(&plan, &lab_options, &lab, &timing, err);
	plan_done(&plan);
	if (ret == -EALREADY)
		return already_up(s, &lab_options, o, err);
	if (ret)
		return ret;
	ret = finish_up(o, lab, &s->wire, &timing, err);
	lab_close(lab);
	return ret;
}

static int up_run(const struct call *call, struct err *err)
{
	const struct up_options *o = call->options;
	struct machine machine;
	struct source s;
	int ret = lab_measure_machine(&machine, err);

	if (ret)
		return ret;
	ret = source_open_file(call->argv[0], &o->set, &machine, &s, err);
	if (!ret)
		ret = build(call, &s, err);
	source_done(&s);
	return ret;
}

static const struct option_def option_defs[] = {
    {"name", 'n', OPT_STRING, "NAME", "call the lab NAME (default: the topology's name)",
     OPT_AT(struct up_options, name), NULL, 0, 0},
    {"set", 's', OPT_LIST, "PATH=VALUE", "override a value of the file",
     OPT_AT(struct up_options, set), NULL, 0, 0},
    {"prove", 'p', OPT_FLAG, NULL, "then prove its links, see vpclab check --prove",
     OPT_AT(struct up_options, prove), NULL, 0, 0},
    {"quiet", 'q', OPT_FLAG, NULL, "show no progress of --prove", OPT_AT(struct up_options, quiet),
     NULL, 0, 0},
    {"verbose", 'v', OPT_FLAG, NULL, "print the time of each phase",
     OPT_AT(struct up_options, verbose), NULL, 0, 0},
    OPT_JSON(struct up_options, json),
};

const struct command cmd_up = {
    .name = "up",
    .summary = "build a lab and leave it running",
    .operands = "FILE",
    .operand_kind = OPERAND_TOPOLOGY,
    .min_operands = 1,
    .max_operands = 1,
    .description =
	"FILE is a topology, - for standard input, or the name of one that comes with vpclab.\n"
	"Building a lab that is up already does nothing.\n"
	"\n"
	"With --prove the status is that of the proof; the lab stays up in either case.\n"
	"\n"
	"It measures the machine first: bursts of shapers follow how late its timers are, mode "
	"auto\n"
	"what a frame costs. `vpclab plan LAB` and `vpclab inspect LAB` show what came of it;\n"
	"`vpclab plan FILE` uses fixed figures.",
    .options = option_defs,
    .n_options = ARRAY_SIZE(option_defs),
    .options_size = sizeof(struct up_options),
    .run = up_run,
};
