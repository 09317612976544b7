// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * plan: the operations that would build a topology, or that have built a running lab, as text,
 * shell script or JSON. Builds nothing.
 */
#include "core/cli/print.h"
#include "core/cli/source.h"
#include "emulator/plan/plan.h"

struct plan_options {
	const char *format, *datapath;
	struct option_list set;
	bool json;
};

static int print_plan(const struct plan *plan, const char *format)
{
	autostr struct strbuf text = {0};

	if (str_eq(format, "json"))
		return print_json(plan_json(plan));
	if (str_eq(format, "sh"))
		plan_print_sh(plan, &text);
	else
		plan_print_text(plan, &text);
	print_text(&text);
	return EXIT_PASS;
}

/* An option that changes the network means a file: a lab is as it is. */
static int open_source(const char *name, const struct plan_options *o, struct source *s,
		       struct err *err)
{
	int ret = o->set.n || o->datapath ? source_open_file(name, &o->set, NULL, s, err)
					  : source_open(name, s, err);

	if (ret || s->lab)
		return ret;
	s->compile.machine.ovs_kernel = !o->datapath || str_eq(o->datapath, "system");
	s->compile.machine.ovs_tun = !str_eq(o->datapath, "dummy");
	return 0;
}

static int plan_run(const struct call *call, struct err *err)
{
	const struct plan_options *o = call->options;
	struct source s;
	struct plan plan;
	int ret = open_source(call->argv[0], o, &s, err);

	if (!ret) {
		plan_build(&s.wire, &s.compile.machine, &plan);
		ret = print_plan(&plan, o->json ? "json" : o->format);
		plan_done(&plan);
	}
	source_done(&s);
	return ret;
}

static const char *const formats[] = {"text", "sh", "json", NULL};
static const char *const datapaths[] = {"system", "netdev", "dummy", NULL};
static const struct option_def option_defs[] = {
    {"format", 'f', OPT_STRING, "FORMAT", "how to print it", OPT_AT(struct plan_options, format),
     formats, 0, 0},
    {"datapath", 0, OPT_STRING, "WHICH",
     "of Open vSwitch hosts: the kernel's (system, if left out) or a program's",
     OPT_AT(struct plan_options, datapath), datapaths, 0, 0},
    {"set", 's', OPT_LIST, "PATH=VALUE", "override a value of the file",
     OPT_AT(struct plan_options, set), NULL, 0, 0},
    OPT_JSON(struct plan_options, json),
};
static const struct plan_options defaults = {.format = "text"};

const struct command cmd_plan = {
    .name = "plan",
    .summary = "show the operations that build a topology or built a lab",
    .operands = "FILE|LAB",
    .operand_kind = OPERAND_TOPOLOGY,
    .min_operands = 1,
    .max_operands = 1,
    .description =
	"Prints, in order, what `vpclab up` would do. The format sh is a script that builds the\n"
	"same network by ip, tc, nft, ethtool and ovs-vsctl, in namespaces of its own:\n"
	"\n"
	"    vpclab plan zstack --format sh > lab.sh; sh lab.sh\n"
	"\n"
	"`vpclab up` looks at the machine first, and takes the userspace datapath of Open vSwitch\n"
	"where the kernel's is missing; for a script that does, write --datapath netdev. The\n"
	"bursts of shapers follow the machine too, how late its timers are; for a file they come\n"
	"from fixed figures (1 ms), so that the same file gives the same plan. A running lab of "
	"that\n"
	"name goes before a file, unless --set or --datapath is given: its plan is what it was "
	"really\n"
	"built from, with the figures that were measured then.",
    .options = option_defs,
    .n_options = ARRAY_SIZE(option_defs),
    .options_size = sizeof(struct plan_options),
    .defaults = &defaults,
    .run = plan_run,
};
