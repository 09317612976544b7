/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trials_help: what a trial of tools may say, for people; the checks are core/harness/trial.c's.
 * The figures and their usual tolerances come from their tables. Called by cmd_help.c and
 * cmd_man.c.
 */
#include "core/cli/trials_help.h"

#include "core/base/mem.h"
#include "core/cli/columns.h"
#include "core/harness/trial.h"

static const char language[] =
    "A trial is a link or a course of events whose truth is known, what a tool is asked on it,\n"
    "and how far its answers may be off: vpclab verify --tool TOOL --trials FILE. It is a YAML\n"
    "file:\n"
    "\n"
    "  version: 1\n"
    "  name: half-lost          # letters, digits, '-', '_', '.'\n"
    "  title: Every second packet is lost\n"
    "  link: {ab: {loss: {every: 2}}, rate: 50mbit}\n"
    "  ask: {test: udp_stream, rate: 5mbit, size: 1000, duration: 2s}\n"
    "  truth: {goodput: counted, loss: 50%}\n"
    "  tolerance: {loss: 0.2%}\n"
    "\n"
    "Where:\n"
    "\n"
    "  link: {KEY: VALUE, …}    between `client` and `server`; keys of a topology's link, ab "
    "there\n"
    "                           and ba back\n"
    "  via: router              with link: a router `n` between them; the link is n's to server\n"
    "  topology: NAME, from: ENDPOINT, to: ENDPOINT\n"
    "                           instead of link: a shipped one, or a file beside the trial's\n"
    "  family: ipv6             or link-local, of a link without via: fe80:: with the client's\n"
    "                           device as zone; usual: ipv4\n"
    "\n"
    "What is asked:\n"
    "\n"
    "  ask: {test: TEST, …}     a test of vpclab help tests or ping, with the keys of a\n"
    "                           measurement; a list: the first of them that the tool has\n"
    "  clients: 2               at one server at the same time\n"
    "  repeat: 100              runs in a row on one lab\n"
    "  no_server: true          nobody answers\n"
    "\n"
    "What happens:\n"
    "\n"
    "  before: [{node: n, run: [nft, -f, FILE]}]\n"
    "                           in nodes, before the tool starts; must succeed\n"
    "  events: [{at: 1s, …}]    at a time since the first packet of the tool's flow:\n"
    "    cut: true              the link loses all; with for: 2s only so long\n"
    "    freeze: 500ms          the link, one with a relay, stands still\n"
    "    kill: server           the tool's server dies\n"
    "    rate: 5mbit, …         keys of a link change it, as in a scenario's schedule\n"
    "    link: r-b              another link than the trial's own; any of the topology\n"
    "    node: r                with cut: all links of that node\n"
    "\n"
    "What is true:\n"
    "\n"
    "  truth: {FIGURE: TRUTH}   counted: what the kernel's counters on the way saw meanwhile;\n"
    "                           predicted: what the link carries, by arithmetic; none: the run\n"
    "                           does not support the figure, to tell it is a fault; or a value\n"
    "  tolerance: {FIGURE: 2% or 1ms}\n"
    "                           share of the truth, or absolute; the greater counts\n"
    "  exit: failure            or success: what the tool's status has to say; usual: either\n"
    "  ends_within: 20s         usual: the duration and 10 s\n"
    "\n"
    "For people and for vpclab verify: title, explain; core: true, in the short list; alone:\n"
    "true, fills the machine and therefore runs by itself.\n"
    "\n"
    "Figures, and the tolerance of each where the trial says none:\n"
    "\n";

static void add_figure(enum figure f, struct columns *c)
{
	double share, abs;
	char least[32];

	trial_tolerance(f, &share, &abs);
	figure_format(f, abs, least, sizeof(least));
	columns_add(c, figure_name(f));
	if (share > 0 && abs > 0)
		columns_addf(c, "%g %% or %s", share * 100, least);
	else if (share > 0)
		columns_addf(c, "%g %%", share * 100);
	else
		columns_add(c, abs > 0 ? least : "exact");
}

void trials_help(struct strbuf *out)
{
	struct columns c;

	strbuf_add(out, language);
	columns_init(&c, 2);
	for (int f = 0; f < FIGURE_COUNT; f++)
		add_figure((enum figure)f, &c);
	columns_print(&c, "  ", out);
	columns_done(&c);
	strbuf_add(out, "\nvpclab verify --list lists the trials that come with vpclab.\n");
}
