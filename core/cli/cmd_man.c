// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * man: writes the manual page in man(7) macros: a hand-written frame around what the tables of all
 * commands say.
 *
 * Hidden: the Makefile calls it.
 */
#include <ctype.h>
#include <string.h>

#include "core/cli/data.h"
#include "core/cli/language.h"
#include "core/cli/options.h"
#include "core/cli/print.h"
#include "core/cli/scripts_help.h"
#include "core/cli/trials_help.h"

static const char before_commands[] =
    ".TH VPCLAB 1 \"\" \"vpclab " VPCLAB_VERSION "\" \"User Commands\"\n"
    ".SH NAME\n"
    "vpclab \\- build cloud networks on one machine, measure them, and say what each hop costs\n"
    ".SH SYNOPSIS\n"
    ".B vpclab\n"
    ".I COMMAND\n"
    "[\\fIOPTION\\fR]... [\\fIARGUMENT\\fR]...\n"
    ".SH DESCRIPTION\n"
    "A \\fItopology\\fR file describes hosts, networks, VMs, routers and public addresses as a "
    "cloud\n"
    "has them. \\fBvpclab up\\fR builds it from namespaces, bridges and links of known rate: a\n"
    "\\fIlab\\fR. A \\fIscenario\\fR file names a topology, what to measure in it and what to "
    "expect;\n"
    "\\fBvpclab run\\fR builds, measures, judges, reports and takes down.\n"
    ".PP\n"
    "A lab lives in namespaces of its own under one supervising process. It needs no root and "
    "does\n"
    "not touch the host: no address, route, rule or file outside of its run directory changes, "
    "and\n"
    "when the supervisor ends, the kernel removes everything.\n"
    ".PP\n"
    "Where a FILE is expected, - is standard input, and the name of a topology or scenario that\n"
    "comes with vpclab, such as \\fBzstack\\fR, is enough. Options may stand anywhere before "
    "\\-\\-.\n"
    ".SH COMMANDS\n";

static const char after_commands[] =
    ".SH INSIDE A LAB\n"
    "\\fBvpclab exec\\fR runs one program in a node, \\fBvpclab shell\\fR a shell; both enter the "
    "lab's\n"
    "namespaces, which a shell outside does not see. Inside,\n"
    "\\fBip netns exec\\fR \\fINODE COMMAND\\fR goes from node to node. Other tools of the host "
    "enter "
    "by\n"
    "the supervisor, whose process \\fBvpclab ls \\-\\-json\\fR names:\n"
    "\\fBnsenter \\-t\\fR \\fIPID\\fR \\fB\\-m \\-n \\-p ip netns exec\\fR \\fINODE COMMAND\\fR, "
    "for an\n"
    "ordinary user with \\fB\\-U \\-\\-preserve\\-credentials\\fR as well.\n"
    ".SH EXIT STATUS\n"
    ".TP\n.B 0\nPass.\n"
    ".TP\n.B 1\nAn expectation failed, or the system refused something.\n"
    ".TP\n.B 2\nUsage or bad input: all problems of a file are listed with line and column.\n"
    ".TP\n.B 3\nInconclusive: the machine was the limit, or two truths disagree; the evidence is\n"
    "printed.\n"
    ".TP\n.B 4\nThis kernel, user or system cannot do it; what is missing is named.\n"
    ".PP\n"
    "\\fBvpclab exec\\fR and \\fBvpclab shell\\fR give the status of the program that they ran, "
    "and\n"
    "one of these only when it did not start.\n"
    ".SH ENVIRONMENT\n"
    ".TP\n.B XDG_RUNTIME_DIR\nWhere an ordinary user's labs keep their run directories; without it "
    "that is\n"
    "\\fI/tmp/vpclab\\-UID\\fR.\n"
    ".TP\n.B NO_COLOR\nWhen set, nothing is coloured.\n"
    ".TP\n.B SHELL\nWhat \\fBvpclab shell\\fR starts.\n"
    ".SH FILES\n"
    ".TP\n.I /run/vpclab, $XDG_RUNTIME_DIR/vpclab, /tmp/vpclab\\-UID\nA directory for each running "
    "lab of root, or "
    "of\n"
    "the user: its state and its log.\n"
    ".TP\n.I PREFIX/share/vpclab\nThe topologies and scenarios that come with vpclab.\n"
    ".SH EXAMPLES\n"
    ".nf\n"
    "vpclab run zstack\n"
    "vpclab up zstack\n"
    "vpclab exec client \\-\\- ping \\-c 1 192.0.2.60\n"
    "vpclab path client 'eip(vpc\\-eip)'\n"
    "vpclab plan zstack \\-\\-format sh\n"
    "vpclab down\n"
    ".fi\n"
    ".SH SEE ALSO\n"
    ".BR ip (8),\n.BR tc (8),\n.BR nft (8),\n.BR ovs\\-vsctl (8),\n.BR network_namespaces (7)\n";

/* Text for man(7): backslashes and hyphens as themselves, no accidental macro. */
static void print_escaped(struct strbuf *out, const char *s, size_t n)
{
	if (n && (*s == '.' || *s == '\''))
		strbuf_add(out, "\\&");
	for (size_t i = 0; i < n; i++) {
		if (s[i] == '\\')
			strbuf_add(out, "\\e");
		else if (s[i] == '-')
			strbuf_add(out, "\\-");
		else
			strbuf_addc(out, s[i]);
	}
}

static void print_text_escaped(struct strbuf *out, const char *s)
{
	print_escaped(out, s, strlen(s));
}

/* A sentence, unless it begins with the name of a test ("udp_stream: …"). */
static void print_sentence(struct strbuf *out, const char *s)
{
	bool name = s[strcspn(s, " :")] == ':';

	strbuf_addc(out, (char)(name ? *s : toupper(*s)));
	print_text_escaped(out, s + 1);
}

/* Paragraphs are separated by blank lines; lines that start with four blanks are literal. */
static void print_description(struct strbuf *out, const char *s)
{
	bool literal = false;

	for (size_t n; *s; s += n + (s[n] == '\n')) {
		bool wants = !strncmp(s, "    ", 4);

		n = strcspn(s, "\n");
		if (n && wants != literal) {
			strbuf_add(out, wants ? ".nf\n" : ".fi\n");
			literal = wants;
		}
		if (n)
			print_escaped(out, s, n);
		else
			strbuf_add(out, ".PP");
		strbuf_addc(out, '\n');
	}
	if (literal)
		strbuf_add(out, ".fi\n");
}

static void print_option(struct strbuf *out, const struct option_def *o)
{
	strbuf_add(out, ".TP\n");
	if (o->letter)
		strbuf_addf(out, "\\fB\\-%c\\fR, ", o->letter);
	strbuf_add(out, "\\fB\\-\\-");
	print_text_escaped(out, o->name);
	strbuf_add(out, "\\fR");
	if (o->arg)
		strbuf_addf(out, " \\fI%s\\fR", o->arg);
	strbuf_addc(out, '\n');
	print_sentence(out, o->help);
	for (size_t i = 0; o->words && o->words[i]; i++)
		strbuf_addf(out, "%s%s", i ? ", " : ": ", o->words[i]);
	strbuf_add(out, o->kind == OPT_LIST ? " (may be repeated).\n" : ".\n");
}

static void print_command(struct strbuf *out, const struct command *c)
{
	struct strbuf usage = {0};

	options_print_usage(c, &usage);
	strbuf_add(out, ".SS ");
	print_text_escaped(out, strbuf_text(&usage));
	strbuf_done(&usage);
	strbuf_addc(out, '\n');
	print_sentence(out, c->summary);
	strbuf_add(out, ".\n");
	if (c->description) {
		strbuf_add(out, ".PP\n");
		print_description(out, c->description);
	}
	for (size_t i = 0; i < c->n_options; i++)
		print_option(out, &c->options[i]);
}

static int man_run(const struct call *call, struct err *err)
{
	autostr struct strbuf text = {0};

	(void)call;
	strbuf_add(&text, before_commands);
	for (size_t i = 0; command_table[i]; i++)
		if (!command_table[i]->hidden)
			print_command(&text, command_table[i]);
	strbuf_add(&text, ".SH TOPOLOGY FILES\n");
	int r = language_print(DATA_TOPOLOGIES, LANGUAGE_MAN, &text, err);
	if (r)
		return r;
	strbuf_add(&text, ".SH SCENARIO FILES\n");
	r = language_print(DATA_SCENARIOS, LANGUAGE_MAN, &text, err);
	if (r)
		return r;
	strbuf_add(&text, ".SH SCRIPTS OF PAIRS\n.nf\n");
	autostr struct strbuf scripts = {0};
	scripts_help(&scripts);
	print_text_escaped(&text, strbuf_text(&scripts));
	strbuf_add(&text, ".fi\n.SH TRIALS OF TOOLS\n.nf\n");
	autostr struct strbuf trials = {0};
	trials_help(&trials);
	print_text_escaped(&text, strbuf_text(&trials));
	strbuf_add(&text, ".fi\n");
	strbuf_add(&text, after_commands);
	print_text(&text);
	return EXIT_PASS;
}

const struct command cmd_man = {
    .name = "man",
    .summary = "write the manual page",
    .hidden = true,
    .run = man_run,
};
