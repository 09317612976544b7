// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * completion: writes the bash completion from the tables of all commands, and the lists of names
 * that it asks for while a person types.
 *
 * Hidden: the Makefile and the completion itself call it.
 */
#include <string.h>

#include "core/base/share.h"
#include "core/cli/data.h"
#include "core/cli/print.h"
#include "core/cli/source.h"
#include "core/harness/judge.h"

static const char head[] =
    "# bash completion for vpclab; made by `vpclab completion`, do not edit\n"
    "_vpclab_operands() {\n"
    "\tcase $1 in\n"
    "\tfile) compgen -f -- \"$2\"; return ;;\n"
    "\tfolder) compgen -d -- \"$2\"; return ;;\n"
    "\ttopology | scenario | tool | trial) compgen -o plusdirs -f -X '!*.yaml' -- \"$2\" ;;\n"
    "\tesac\n"
    "\tcompgen -W \"$(vpclab completion \"$1\" 2>/dev/null)\" -- \"$2\"\n"
    "}\n"
    "\n"
    "_vpclab() {\n"
    "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} words='' operand=''\n"
    "\tif [ \"$COMP_CWORD\" = 1 ]; then\n"
    "\t\tmapfile -t COMPREPLY < <(compgen -W \"";
static const char after_names[] = "\" -- \"$cur\")\n"
				  "\t\treturn\n"
				  "\tfi\n"
				  "\tcase ${COMP_WORDS[1]} in\n";
static const char tail[] = "\tesac\n"
			   "\tcase $cur in\n"
			   "\t-*) mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\") ;;\n"
			   "\t*) [ -z \"$operand\" ] || mapfile -t COMPREPLY < <(_vpclab_operands "
			   "\"$operand\" \"$cur\") ;;\n"
			   "\tesac\n"
			   "}\n"
			   "complete -o filenames -F _vpclab vpclab\n";

static const char *const operand_names[] = {
    [OPERAND_NONE] = "",   [OPERAND_TOPOLOGY] = "topology", [OPERAND_SCENARIO] = "scenario",
    [OPERAND_LAB] = "lab", [OPERAND_NODE] = "node",	    [OPERAND_TOOL] = "tool",
};

/* The kind of name that an option's value is, by the word that help has for it. */
static const char *kind_of_value(const char *value)
{
	static const struct {
		const char *value, *kind;
	} kinds[] = {
	    {"TOOL", "tool"}, {"TRIAL", "trial"}, {"KIND", "fault"},	{"NODE", "node"},
	    {"FILE", "file"}, {"DIR", "folder"},  {"FOLDER", "folder"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (str_eq(value, kinds[i].value))
			return kinds[i].kind;
	return NULL;
}

/* What may follow an option that takes a value: its words, or nothing that we know. */
static void print_values(const struct option_def *o, struct strbuf *out)
{
	strbuf_add(out, "\t\t");
	if (o->letter)
		strbuf_addf(out, "-%c | ", o->letter);
	strbuf_addf(out, "--%s)", o->name);
	const char *kind = kind_of_value(o->arg);
	if (kind) {
		strbuf_addf(out,
			    " mapfile -t COMPREPLY < <(_vpclab_operands %s \"$cur\"); return ;;\n",
			    kind);
	} else if (o->words) {
		strbuf_add(out, " mapfile -t COMPREPLY < <(compgen -W \"");
		for (size_t i = 0; o->words[i]; i++)
			strbuf_addf(out, "%s%s", i ? " " : "", o->words[i]);
		strbuf_add(out, "\" -- \"$cur\"); return ;;\n");
	} else {
		strbuf_add(out, " return ;;\n");
	}
}

static void print_command(const struct command *c, struct strbuf *out)
{
	strbuf_addf(out, "\t%s)\n", c->name);
	strbuf_add(out, "\t\twords=\"");
	for (size_t i = 0; i < c->n_options; i++)
		strbuf_addf(out, "--%s ", c->options[i].name);
	strbuf_addf(out, "--help\" operand=%s\n", operand_names[c->operand_kind]);
	strbuf_add(out, "\t\tcase $prev in\n");
	for (size_t i = 0; i < c->n_options; i++)
		if (c->options[i].kind != OPT_FLAG)
			print_values(&c->options[i], out);
	strbuf_add(out, "\t\tesac\n\t\t;;\n");
}

static void print_script(struct strbuf *out)
{
	const char *space = "";

	strbuf_add(out, head);
	for (size_t i = 0; command_table[i]; i++) {
		if (command_table[i]->hidden)
			continue;
		strbuf_addf(out, "%s%s", space, command_table[i]->name);
		space = " ";
	}
	strbuf_add(out, after_names);
	for (size_t i = 0; command_table[i]; i++)
		if (!command_table[i]->hidden)
			print_command(command_table[i], out);
	strbuf_add(out, tail);
}

static int list_data(const char *kind, struct strbuf *out)
{
	struct share_names names;
	struct arena a;

	arena_init(&a);
	share_names(kind, &a, &names);
	VEC_FOREACH (name, &names.list)
		strbuf_addf(out, "%s\n", *name);
	arena_done(&a);
	return EXIT_PASS;
}

static int list_trials(struct strbuf *out)
{
	strbuf_add(out, "core\nfull\n");
	return list_data(DATA_TRIALS, out);
}

static int list_faults(struct strbuf *out)
{
	strbuf_add(out, "all\n");
	for (int k = FAULT_NONE + 1; k < FAULT_KINDS; k++)
		strbuf_addf(out, "%s\n", fault_name((enum fault_kind)k));
	return EXIT_PASS;
}

static int list_labs(struct strbuf *out, struct err *err)
{
	struct lab_entry *labs;
	size_t n;
	int ret = lab_list(&labs, &n, err);

	if (ret)
		return ret;
	for (size_t i = 0; i < n; i++)
		strbuf_addf(out, "%s\n", labs[i].name);
	lab_list_free(labs, n);
	return EXIT_PASS;
}

/* The nodes of the only lab; with several labs a person types LAB: first. */
static int list_nodes(struct strbuf *out, struct err *err)
{
	struct source s;
	int ret = source_open_lab(NULL, &s, err);

	if (!ret)
		VEC_FOREACH (node, &s.wire.nodes)
			strbuf_addf(out, "%s\n", node->name);
	source_done(&s);
	return ret;
}

static int print_kind(const char *kind, struct strbuf *out, struct err *err)
{
	if (!kind)
		print_script(out);
	else if (str_eq(kind, operand_names[OPERAND_TOPOLOGY]))
		return list_data(DATA_TOPOLOGIES, out);
	else if (str_eq(kind, operand_names[OPERAND_SCENARIO]))
		return list_data(DATA_SCENARIOS, out);
	else if (str_eq(kind, operand_names[OPERAND_TOOL]))
		return list_data(DATA_TOOLS, out);
	else if (str_eq(kind, "trial"))
		return list_trials(out);
	else if (str_eq(kind, "fault"))
		return list_faults(out);
	else if (str_eq(kind, operand_names[OPERAND_LAB]))
		return list_labs(out, err);
	else if (str_eq(kind, operand_names[OPERAND_NODE]))
		return list_nodes(out, err);
	else
		return err_input(err, "'%s' is no kind of name", kind);
	return EXIT_PASS;
}

static int completion_run(const struct call *call, struct err *err)
{
	autostr struct strbuf text = {0};
	int ret = print_kind(call->argv[0], &text, err);

	if (!ret)
		print_text(&text);
	return ret;
}

const struct command cmd_completion = {
    .name = "completion",
    .summary = "write the bash completion",
    .operands = "[KIND]",
    .max_operands = 1,
    .hidden = true,
    .run = completion_run,
};
