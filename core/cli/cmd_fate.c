// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fate: what became of each packet of a link that a relay impairs: a table, JSON lines, a capture.
 */
#include <stdio.h>
#include <string.h>

#include "core/base/file.h"
#include "core/base/units.h"
#include "core/cli/columns.h"
#include "core/cli/command.h"
#include "core/cli/print.h"
#include "core/cli/source.h"
#include "emulator/lab/relays.h"
#include "emulator/model/link_set.h"
#include "emulator/relay/fatelog.h"

struct fate_options {
	const char *output;
	int64_t number;
	bool json;
};

static int open_link(const char *text, struct source *s, const struct wire_link **link,
		     struct err *err)
{
	const char *name;
	int rc = source_open_link(text, s, &name, err);

	if (!rc)
		rc = link_find(&s->wire, name, err);
	if (rc < 0)
		return rc;
	*link = &s->wire.links.v[rc];
	return 0;
}

static void add_row(struct columns *c, const struct fatelog_record *r, int direction,
		    int64_t start_ns)
{
	autostr struct strbuf why = {0}, packet = {0};

	fatelog_why(r, &why);
	fatelog_packet(r, &packet);
	columns_addf(c, "%llu", (unsigned long long)r->number);
	columns_add(c, direction == RELAY_AB ? "a→b" : "b→a");
	columns_addf(c, "%.6f", (double)(r->arrival_ns - start_ns) / 1e9);
	if (r->departure_ns)
		columns_addf(c, "%.6f", (double)(r->departure_ns - start_ns) / 1e9);
	else
		columns_add(c, "-");
	columns_addf(c, "%u", r->len);
	columns_add(c, fatelog_fate(r));
	columns_add(c, strbuf_text(&why));
	columns_add(c, strbuf_text(&packet));
}

/* The sums of a direction's log, whatever part of it is printed: "a→b: 120 packets: 118 passed,
 * 2 lost (loss)". */
static void add_sums(const struct fatelog_view *v, int direction, struct strbuf *out)
{
	uint64_t n = v->head->dir[direction].n, passed = 0, copies = 0, causes[FATE_CAUSES] = {0};

	for (uint64_t i = 0; i < n; i++) {
		const struct fatelog_record *r = &v->records[direction][i];

		passed += r->departure_ns != 0;
		copies += (r->flags & FATELOG_COPY) != 0;
		if (r->cause > FATE_PASS && r->cause < FATE_CAUSES)
			causes[r->cause]++;
	}
	strbuf_addf(out, "%s: %llu packets", direction == RELAY_AB ? "a→b" : "b→a",
		    (unsigned long long)(n - copies));
	if (copies)
		strbuf_addf(out, " and %llu copies", (unsigned long long)copies);
	strbuf_addf(out, ": %llu passed", (unsigned long long)passed);
	for (int c = FATE_PASS + 1; c < FATE_CAUSES; c++) {
		if (!causes[c])
			continue;
		strbuf_addf(out, ", %llu lost (%s)", (unsigned long long)causes[c],
			    fate_cause_name(c));
		passed += causes[c];
	}
	if (passed < n)
		strbuf_addf(out, ", %llu wait", (unsigned long long)(n - passed));
	strbuf_addc(out, '\n');
}

/* What was not logged is told: the table would else look complete. */
static void add_rest(const struct fatelog_view *v, struct strbuf *out)
{
	for (int d = 0; d < RELAY_DIRECTIONS; d++)
		if (v->head->dir[d].not_logged)
			strbuf_addf(out, "%s: %llu more packets are not in the log\n",
				    d == RELAY_AB ? "a→b" : "b→a",
				    (unsigned long long)v->head->dir[d].not_logged);
}

static void print_table(const struct fatelog_view *v, const struct fate_options *o)
{
	static const char *const head[] = {"packet", "way",  "arrival, s", "departure, s",
					   "bytes",  "fate", "why",	   "what"};
	size_t at[RELAY_DIRECTIONS] = {0};
	const struct fatelog_record *r;
	autostr struct strbuf text = {0};
	int64_t start = 0, left = o->number;
	struct columns c;
	int d;

	columns_init(&c, ARRAY_SIZE(head));
	for (size_t i = 0; i < ARRAY_SIZE(head); i++)
		columns_add(&c, head[i]);
	while ((!o->number || left-- > 0) && (r = fatelog_next(v, at, &d))) {
		start = start ? start : r->arrival_ns;
		add_row(&c, r, d, start);
	}
	columns_print(&c, "", &text);
	columns_done(&c);
	strbuf_addc(&text, '\n');
	for (d = 0; d < RELAY_DIRECTIONS; d++)
		add_sums(v, d, &text);
	add_rest(v, &text);
	print_text(&text);
}

static void print_lines(const struct fatelog_view *v, const struct fate_options *o)
{
	size_t at[RELAY_DIRECTIONS] = {0};
	const struct fatelog_record *r;
	autostr struct strbuf text = {0};
	int64_t left = o->number;
	int d;

	while ((!o->number || left-- > 0) && (r = fatelog_next(v, at, &d))) {
		json_t *j = fatelog_json(r, d);
		autofree char *line = json_dumps(j, JSON_COMPACT);

		strbuf_addf(&text, "%s\n", line);
		json_decref(j);
	}
	print_text(&text);
}

static int show(const struct fatelog_view *v, const struct fate_options *o, struct err *err)
{
	autostr struct strbuf capture = {0};

	if (o->output) {
		fatelog_pcapng(v, &capture);
		return file_write(o->output, capture.s, capture.len, err);
	}
	if (o->json)
		print_lines(v, o);
	else
		print_table(v, o);
	return 0;
}

static int fate_run(const struct call *call, struct err *err)
{
	const struct fate_options *o = call->options;
	const struct wire_link *link = NULL;
	autofree char *bytes = NULL;
	struct fatelog_view view;
	struct source s;
	size_t len = 0;
	int rc = open_link(call->argv[0], &s, &link, err);

	if (!rc && link->engine != IMPAIR_RELAY)
		rc = err_input(err, "link '%s' has no relay, so no fates are kept%s", link->name,
			       link->engine == IMPAIR_NETEM ? "; `via: relay` gives it one" : "");
	if (!rc)
		rc = relays_fates(s.lab, link->name, &bytes, &len, err);
	if (!rc)
		rc = fatelog_open(bytes, len, &view, err);
	if (!rc)
		rc = show(&view, o, err);
	source_done(&s);
	return rc;
}

static const struct option_def option_defs[] = {
    {"output", 'o', OPT_STRING, "FILE", "write a capture (pcapng) with each fate as a comment",
     OPT_AT(struct fate_options, output), NULL, 0, 0},
    {"number", 'n', OPT_INT, "N", "print only the first N", OPT_AT(struct fate_options, number),
     NULL, 1, INT64_MAX},
    {"json", 0, OPT_FLAG, NULL, "print one JSON object a line", OPT_AT(struct fate_options, json),
     NULL, 0, 0},
};

const struct command cmd_fate = {
    .name = "fate",
    .summary = "tell what became of each packet of an impaired link",
    .operands = "[LAB:]LINK",
    .operand_kind = OPERAND_LAB,
    .min_operands = 1,
    .max_operands = 1,
    .description =
	"LINK is one whose impairments the relay makes (vpclab inspect tells), named as for\n"
	"vpclab set. Of the first 200,000 packets each way it tells when they came and left, and\n"
	"what was done to them: lost (black_hole, flap, loss, queue, oversize, send), corrupted,\n"
	"duplicated (the copy has a line of its own), reordered, late (by more than 0.5 ms after\n"
	"they were due). Sums stand at the end. Probes of --prove are packets of the link too;\n"
	"times count from the first packet.\n"
	"\n"
	"The capture has the first 64 bytes of each packet as it came, and opens in Wireshark:\n"
	"add the column frame.comment.",
    .options = option_defs,
    .n_options = ARRAY_SIZE(option_defs),
    .options_size = sizeof(struct fate_options),
    .run = fate_run,
};
