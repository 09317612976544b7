// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * graph: the picture of a topology file or of a running lab.
 */
#include "core/cli/print.h"
#include "core/cli/source.h"

struct graph_options {
	const char *format;
};

static int graph_run(const struct call *call, struct err *err)
{
	const struct graph_options *o = call->options;
	autostr struct strbuf text = {0};
	struct source s;
	int ret = source_open(call->argv[0], &s, err);

	if (!ret)
		ret = graph_print(&s.wire, o->format, &text, err);
	if (!ret)
		print_text(&text);
	source_done(&s);
	return ret;
}

static const char *const formats[] = {"text", "dot", "mermaid", NULL};
static const struct option_def option_defs[] = {
    {"format", 'f', OPT_STRING, "FORMAT", "how to draw it", OPT_AT(struct graph_options, format),
     formats, 0, 0},
};
static const struct graph_options defaults = {.format = "text"};

const struct command cmd_graph = {
    .name = "graph",
    .summary = "draw a topology or a running lab",
    .operands = "FILE|LAB",
    .operand_kind = OPERAND_TOPOLOGY,
    .min_operands = 1,
    .max_operands = 1,
    .description = "Draws nodes, networks, addresses and limits. A running lab of that name goes "
		   "before a file.",
    .options = option_defs,
    .n_options = ARRAY_SIZE(option_defs),
    .options_size = sizeof(struct graph_options),
    .defaults = &defaults,
    .run = graph_run,
};
