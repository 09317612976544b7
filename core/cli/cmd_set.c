// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * set: changes what a link of a running lab carries, and what happens to packets on it.
 *
 * It turns what was typed into overrides of the lab's topology; lab_change() does the rest.
 */
#include <stdio.h>
#include <string.h>

#include "core/cli/command.h"
#include "core/cli/print.h"
#include "core/cli/source.h"
#include "emulator/model/link_set.h"

struct set_options {
	bool json;
};

static json_t *lines_json(struct strbuf *text)
{
	autofree char *lines = strbuf_take(text);
	json_t *list = json_array();
	char *rest = NULL;

	for (char *line = lines ? strtok_r(lines, "\n", &rest) : NULL; line;
	     line = strtok_r(NULL, "\n", &rest))
		json_array_append_new(list, json_string(line));
	return list;
}

static int show(const struct set_options *o, const struct lab *lab, struct strbuf *what)
{
	if (o->json)
		return print_json(json_pack("{s:s, s:o, s:O}", "name", lab_name(lab), "changes",
					    lines_json(what), "sets",
					    json_object_get(lab_state(lab), "sets")));
	if (!what->len)
		strbuf_add(what, "nothing changes\n");
	print_text(what);
	return EXIT_PASS;
}

static int change(const struct call *call, struct source *s, const char *name, struct err *err)
{
	const struct link_change c = {name, call->argv + 1, (size_t)call->argc - 1};
	autostr struct strbuf what = {0};
	struct link_sets sets = {0};
	struct topology_source src;
	int rc = lab_source(s->lab, &src, err);

	if (!rc)
		rc = link_sets_change(&src, &s->wire, &c, &sets, err);
	lab_source_done(&src);
	if (!rc)
		rc = lab_change(s->lab, sets.v.v, sets.v.n, &what, err);
	link_sets_done(&sets);
	return rc ? rc : show(call->options, s->lab, &what);
}

static int set_run(const struct call *call, struct err *err)
{
	struct source s;
	const char *link;
	int rc = source_open_link(call->argv[0], &s, &link, err);

	if (!rc)
		rc = change(call, &s, link, err);
	source_done(&s);
	return rc;
}

static const struct option_def option_defs[] = {
    OPT_JSON(struct set_options, json),
};

const struct command cmd_set = {
    .name = "set",
    .summary = "change the rate, caps, queues and impairments of a link while traffic runs",
    .operands = "[LAB:]LINK KEY=VALUE…",
    .operand_kind = OPERAND_LAB,
    .min_operands = 2,
    .max_operands = -1,
    .description =
	"LINK is a link as vpclab inspect names it (\"client vNIC\", r-b), one of its ends\n"
	"(NODE:DEVICE), or a node that has no other link. KEY is a key of the topology file;\n"
	"ab.KEY and ba.KEY are those of one direction, and a KEY without one replaces what both\n"
	"directions had. A VALUE that begins with { or [ is YAML; with none, or empty, the key is\n"
	"taken away:\n"
	"\n"
	"    vpclab set r-b rate=20mbit ab.delay=50ms\n"
	"    vpclab set 'client vNIC' 'rate={base: 1gbit, burst: 2gbit, credit: 1s}' pps=none\n"
	"    vpclab set r-b 'ab.loss={every: 100}'\n"
	"\n"
	"All of it happens in one step, without losing what waits in queues where the kernel\n"
	"allows that, or nothing happens. vpclab inspect and check know the new values. Links can\n"
	"change in what they carry, not in what they consist of: a link between machines can be\n"
	"delayed later if its topology says at least 'delay: 0s'. The VMs of one 'count' change\n"
	"together, and so do the impairments of all uplinks, which are the fabric's.",
    .options = option_defs,
    .n_options = ARRAY_SIZE(option_defs),
    .options_size = sizeof(struct set_options),
    .run = set_run,
};
