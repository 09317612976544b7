// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * terminal: what a person reads after `vpclab run`: the lab, the table, what each path costs, which
 * expectations held, whether the machine was the limit, the lesson. Colour marks verdicts and
 * nothing else. Called by cli/.
 */
#include "core/report/terminal.h"

#include <math.h>
#include <stdio.h>

#include "core/base/units.h"
#include "core/harness/verdict.h"
#include "core/report/proofs.h"
#include "core/report/table.h"
#include "core/report/text.h"

enum { LABEL = 16 };

static void begin(struct strbuf *out, const char *label)
{
	text_spaces(out, 2);
	text_pad(out, label, LABEL);
}

void terminal_verdict(struct strbuf *out, enum verdict v, bool color, const char *text)
{
	static const char *const colors[] = {
	    [VERDICT_PASS] = "\033[32m",	 [VERDICT_FAIL] = "\033[1;31m",
	    [VERDICT_INCONCLUSIVE] = "\033[33m", [VERDICT_SKIP] = "\033[2m",
	    [VERDICT_ERROR] = "\033[1;31m",
	};

	if (color)
		strbuf_add(out, colors[v]);
	strbuf_add(out, text);
	if (color)
		strbuf_add(out, "\033[0m");
}

static void add_count(struct strbuf *out, int n, const char *one, const char *many)
{
	if (n)
		strbuf_addf(out, ", %d %s", n, n == 1 ? one : many);
}

static void print_lab(const struct run_result *r, const struct run_lab *lab, struct strbuf *out)
{
	autostr struct strbuf nodes = {0}, text = {0};

	add_count(&nodes, lab->hosts, "host", "hosts");
	add_count(&nodes, lab->vms, "VM", "VMs");
	add_count(&nodes, lab->machines, "machine", "machines");
	add_count(&nodes, lab->routers, "router", "routers");
	add_count(&nodes, lab->eips, "EIP namespace", "EIP namespaces");
	add_count(&nodes, lab->switches, "switch", "switches");
	begin(out, lab->unshaped ? "lab, unshaped" : "lab");
	strbuf_addf(&text, "up %.2f s, ", (double)lab->timing.total_ns / 1e9);
	if (lab->left)
		strbuf_add(&text, "could not be taken down");
	else
		strbuf_addf(&text, "down %.2f s, nothing left", (double)lab->down_ns / 1e9);
	strbuf_addf(&text, " · %s", nodes.len ? nodes.s + 2 : "no nodes");
	if (r->proven && r->proofs.list.n && !lab->unshaped) {
		strbuf_add(&text, " · ");
		proofs_line(&r->proofs, &text);
	}
	text_wrap(out, strbuf_text(&text), LABEL + 2, LABEL + 2);
	strbuf_addc(out, '\n');
}

/* "impaired by the relay: r-b, r-c": what says `word` at `key` of a link or of its directions. */
static void add_links(const struct run_lab *lab, const char *key, const char *word,
		      struct strbuf *out)
{
	static const char *const directions[] = {"ab", "ba"};
	autostr struct strbuf names = {0};
	json_t *link;
	size_t i;

	json_array_foreach(lab->links, i, link)
	{
		bool has = str_eq(json_string_value(json_object_get(link, key)), word);

		for (size_t d = 0; d < ARRAY_SIZE(directions) && !has; d++) {
			const json_t *ways = json_object_get(link, directions[d]);

			has = str_eq(json_string_value(json_object_get(ways, key)), word);
		}
		if (has)
			strbuf_addf(&names, "%s%s", names.len ? ", " : "",
				    json_string_value(json_object_get(link, "name")));
	}
	if (names.len)
		strbuf_addf(out, "%s%s by %s: %s", out->len ? "; " : "",
			    str_eq(key, "impaired_by") ? "impaired" : "policed", word,
			    strbuf_text(&names));
}

/* The kernel's buckets have an end, and credit that is larger is cut there. */
static void add_credit(const struct run_lab *lab, struct strbuf *out)
{
	static const char *const directions[] = {"ab", "ba"};
	json_t *link;
	size_t i;

	json_array_foreach(lab->links, i, link)
	{
		for (size_t d = 0; d < ARRAY_SIZE(directions); d++) {
			const json_t *way = json_object_get(link, directions[d]);
			double built = json_number_value(json_object_get(way, "credit_s"));
			double asked = json_number_value(json_object_get(way, "declared_credit_s"));

			if (built < asked)
				strbuf_addf(out,
					    "%s%s %s has credit for %.3g s of %.3g s, the "
					    "kernel's bucket holds no more",
					    out->len ? "; " : "",
					    json_string_value(json_object_get(link, "name")),
					    directions[d], built, asked);
		}
	}
}

/* {"h1": {"ovs_datapath": "netdev", "ovs_port": "…", "ovs_port_why": "…"}} in words */
static void print_choices(const struct run_lab *lab, struct strbuf *out)
{
	autostr struct strbuf text = {0};
	json_t *choice;
	const char *node;

	json_object_foreach(lab->choices, node, choice)
	{
		const char *datapath = json_string_value(json_object_get(choice, "ovs_datapath"));
		const char *port = json_string_value(json_object_get(choice, "ovs_port"));
		const char *why = json_string_value(json_object_get(choice, "ovs_port_why"));

		if (json_is_string(choice)) { /* {"vlan 100": "own wire; …"} */
			strbuf_addf(&text, "%s%s: %s", text.len ? "; " : "", node,
				    json_string_value(choice));
			continue;
		}
		strbuf_addf(&text, "%sOpen vSwitch of %s has datapath %s, its ports are %s",
			    text.len ? "; " : "", node, datapath ? datapath : "?",
			    port ? port : "?");
		if (why)
			strbuf_addf(&text, ": %s", why);
	}
	add_links(lab, "impaired_by", "netem", &text);
	add_links(lab, "impaired_by", "relay", &text);
	add_links(lab, "policed_by", "act_police", &text);
	add_links(lab, "policed_by", "a queue of two frames", &text);
	add_links(lab, "packets_policed_by", "nft limit", &text);
	add_credit(lab, &text);
	if (!text.len)
		return;
	begin(out, "choices");
	text_wrap(out, strbuf_text(&text), LABEL + 2, LABEL + 2);
	strbuf_addc(out, '\n');
}

/* Links that are not what they say, and those of which nobody can tell. */
static void print_proofs(const struct run_result *r, bool color, struct strbuf *out)
{
	VEC_FOREACH (p, &r->proofs.list) {
		if (p->verdict != VERDICT_FAIL && p->verdict != VERDICT_INCONCLUSIVE)
			continue;
		text_spaces(out, 4);
		terminal_verdict(out, p->verdict, color, verdict_name(p->verdict));
		strbuf_add(out, "  ");
		proofs_describe(p, out);
		strbuf_addc(out, '\n');
	}
}

/* "+7.3 µs ±0.4 µs"; rates as shares of the base, since that is how a cost is read. */
static void add_difference(struct strbuf *out, const struct run_overhead *o)
{
	bool share = o->what.metric->unit != METRIC_NS && o->base != 0;
	double diff = o->difference.diff, width = o->difference.half_width;
	char text[64];

	if (share) {
		diff = diff / o->base * 100;
		width = width / fabs(o->base) * 100;
	}
	if (!o->difference.significant) {
		strbuf_add(out, "no difference measured");
		if (share)
			strbuf_addf(out, width < 1 ? " (±%.2f %%)" : " (±%.0f %%)", width);
		else
			strbuf_addf(out, " (±%s)",
				    metric_format(text, sizeof(text), o->what.metric->unit, width));
		return;
	}
	if (diff >= 0)
		strbuf_add(out, "+");
	if (share && width < 1)
		strbuf_addf(out, "%s%.2f ±%.2f %%", diff < 0 ? "−" : "", fabs(diff), width);
	else if (share)
		strbuf_addf(out, "%s%.0f ±%.0f %%", diff < 0 ? "−" : "", fabs(diff), width);
	else
		strbuf_add(out, metric_format_interval(text, sizeof(text), o->what.metric->unit,
						       (struct metric_interval){diff, width}));
}

static void print_overheads_of(const struct run_result *r, int path, bool first, struct strbuf *out)
{
	const struct scenario *s = r->scenario;
	autostr struct strbuf text = {0};
	const char *between = "";

	strbuf_addf(&text, "%s: ", s->paths.v[path].name);
	VEC_FOREACH (o, &r->overheads) {
		char name[128];

		if (o->what.path != path)
			continue;
		strbuf_addf(&text, "%s%s ", between,
			    scenario_quantity_name(s, &o->what, name, sizeof(name)));
		if (o->known)
			add_difference(&text, o);
		else
			strbuf_add(&text, "not measured");
		between = " · ";
	}
	autofree char *label = mem_printf("over %s", s->paths.v[s->compare_base].name);
	begin(out, first ? label : "");
	text_wrap(out, strbuf_text(&text), LABEL + 2, LABEL + 4);
	strbuf_addc(out, '\n');
}

static void print_expectations(const struct run_result *r, bool color, struct strbuf *out)
{
	int count[4] = {0};
	const char *between = "";

	if (!r->verdicts.n)
		return;
	VEC_FOREACH (v, &r->verdicts)
		count[v->verdict]++;
	begin(out, "expectations");
	for (int i = 0; i < 4; i++) {
		char text[64];

		if (!count[i])
			continue;
		strbuf_add(out, between);
		snprintf(text, sizeof(text), "%d %s", count[i], verdict_name((enum verdict)i));
		terminal_verdict(out, (enum verdict)i, color, text);
		between = ", ";
	}
	strbuf_addc(out, '\n');
	VEC_FOREACH (v, &r->verdicts) {
		if (v->verdict == VERDICT_PASS)
			continue;
		text_spaces(out, 4);
		terminal_verdict(out, v->verdict, color, verdict_name(v->verdict));
		autofree char *line =
		    mem_printf("  %s: %s%s%s", r->scenario->expects.v[v->expect].text, v->found,
			       v->evidence ? "; " : "", v->evidence ? v->evidence : "");
		strbuf_add(out, "  ");
		text_wrap(out, line + 2, 6 + text_width(verdict_name(v->verdict)), LABEL + 2);
		strbuf_addc(out, '\n');
	}
}

struct machine_summary {
	int runs, limited;
	double least_idle, worst_steal;
	int64_t drops;
	const struct run_sample *example;
	const struct run_cell *at;
};

static void summarise_machine(const struct run_result *r, struct machine_summary *s)
{
	*s = (struct machine_summary){.least_idle = 1};
	VEC_FOREACH (cell, &r->cells) {
		if (r->scenario->measures.v[cell->measure].unshaped)
			continue;
		VEC_FOREACH (run, &cell->runs) {
			if (run->error || !run->fidelity.known)
				continue;
			s->runs++;
			s->least_idle = fmin(s->least_idle, run->fidelity.idle);
			s->worst_steal = fmax(s->worst_steal, run->fidelity.steal);
			s->drops += run->fidelity.softnet_dropped;
			if (run->fidelity.limit == FIDELITY_ENOUGH)
				continue;
			s->limited++;
			s->example = run;
			s->at = cell;
		}
	}
}

static void print_machine(const struct run_result *r, struct strbuf *out)
{
	struct machine_summary s;
	autostr struct strbuf text = {0};

	summarise_machine(r, &s);
	strbuf_addf(&text, "Linux %s, %d CPUs, %s: ", r->machine.kernel, r->machine.cpus,
		    r->machine.root ? "root" : "an ordinary user");
	if (!s.runs)
		strbuf_add(&text, "nothing was measured with shapers");
	else if (!s.limited)
		strbuf_addf(
		    &text,
		    "never short of CPU in the %d shaped runs (idle ≥ %.0f %%, steal ≤ %.1f "
		    "%%, %lld packets dropped by the backlog)",
		    s.runs, s.least_idle * 100, s.worst_steal * 100, (long long)s.drops);
	else
		strbuf_addf(&text,
			    "at its limit in %d of %d shaped runs, e.g. %s of %s, run %d: %s",
			    s.limited, s.runs, r->scenario->measures.v[s.at->measure].name,
			    r->scenario->paths.v[s.at->path].name, s.example->index,
			    s.example->fidelity.why);
	begin(out, "machine");
	text_wrap(out, strbuf_text(&text), LABEL + 2, LABEL + 2);
	strbuf_addc(out, '\n');
}

static void print_error(const char *where, const char *text, struct strbuf *out)
{
	autofree char *line = mem_printf("%s: %s", where, text);

	begin(out, "error");
	text_wrap(out, line, LABEL + 2, LABEL + 2);
	strbuf_addc(out, '\n');
}

/* A measurement without figures, else single runs that failed; then what went wrong around them. */
static void print_errors(const struct run_result *r, struct strbuf *out)
{
	VEC_FOREACH (c, &r->cells) {
		const char *error = result_error(r, c);
		autofree char *where =
		    mem_printf("%s of %s", r->scenario->measures.v[c->measure].name,
			       r->scenario->paths.v[c->path].name);

		if (error)
			print_error(where, error, out);
		VEC_FOREACH (run, &c->runs) {
			autofree char *one = mem_printf("%s, run %d", where, run->index);

			if (run->error && !error && !r->interrupted)
				print_error(one, run->error, out);
		}
	}
	if (r->error)
		print_error("the run", r->error, out);
}

/* Where packets that did not arrive were lost. */
static void print_drops_of(const struct run_result *r, const struct run_cell *c, struct strbuf *out)
{
	autostr struct strbuf text = {0};
	int runs = 0;

	VEC_FOREACH (run, &c->runs) {
		const struct losses *l = &run->losses;

		if (run->error || (!l->list.n && !l->unexplained))
			continue;
		runs++;
		/* The example is a run with packets that nobody explains, where there is one. */
		if (text.len && !l->unexplained)
			continue;
		strbuf_done(&text);
		losses_describe(l, &text);
	}
	if (!runs)
		return;
	begin(out, "lost");
	autofree char *line = mem_printf(
	    "%s of %s, %d of %zu runs, e.g. %s", r->scenario->measures.v[c->measure].name,
	    r->scenario->paths.v[c->path].name, runs, c->runs.n, strbuf_text(&text));
	text_wrap(out, line, LABEL + 2, LABEL + 2);
	strbuf_addc(out, '\n');
}

static void print_drops(const struct run_result *r, struct strbuf *out)
{
	VEC_FOREACH (c, &r->cells)
		print_drops_of(r, c, out);
}

/* The schedule as it was in one run, and how late it was in any. */
static void print_changes_of(const struct run_result *r, const struct run_cell *c,
			     struct strbuf *out)
{
	const struct run_sample *example = NULL;
	autostr struct strbuf line = {0};
	int64_t late_ns = 0;
	char at[64], late[64];

	VEC_FOREACH (run, &c->runs) {
		example = example || !run->changes.n || run->error ? example : run;
		VEC_FOREACH (change, &run->changes) {
			int64_t ns = change->done_ns - change->asked_ns;

			late_ns = ns > late_ns ? ns : late_ns;
		}
	}
	if (!example)
		return;
	strbuf_addf(&line, "%s of %s: ", r->scenario->measures.v[c->measure].name,
		    r->scenario->paths.v[c->path].name);
	VEC_FOREACH (change, &example->changes)
		strbuf_addf(&line, "at %s %s %s%s; ",
			    units_format_time(at, sizeof(at), change->asked_ns), change->link,
			    change->text, change->done_ns < 0 ? " (it had ended before)" : "");
	units_format_time(late, sizeof(late), late_ns / 100000 * 100000);
	strbuf_addf(&line, "at most %s later than asked", late);
	begin(out, "changed");
	text_wrap(out, strbuf_text(&line), LABEL + 2, LABEL + 2);
	strbuf_addc(out, '\n');
}

static void print_changes(const struct run_result *r, struct strbuf *out)
{
	VEC_FOREACH (c, &r->cells)
		print_changes_of(r, c, out);
}

/* A dash in the table without a reason would be a riddle. */
static void print_cpu_missing(const struct run_result *r, struct strbuf *out)
{
	const char *example = NULL;
	int missing = 0, runs = 0;

	VEC_FOREACH (c, &r->cells) {
		VEC_FOREACH (run, &c->runs) {
			runs += !run->error;
			if (run->error || !run->cpu_missing)
				continue;
			missing++;
			example = run->cpu_missing;
		}
	}
	if (!missing)
		return;
	begin(out, "CPU/packet");
	autofree char *line =
	    mem_printf("not told for %d of %d runs, e.g.: %s", missing, runs, example);
	text_wrap(out, line, LABEL + 2, LABEL + 2);
	strbuf_addc(out, '\n');
}

static void print_source(const struct run_result *r, struct strbuf *out)
{
	if (!r->scenario->reference_source)
		return;
	begin(out, "published");
	text_wrap(out, r->scenario->reference_source, LABEL + 2, LABEL + 2);
	strbuf_addc(out, '\n');
}

/* By one link alone: what is a range has a sentence of its own. */
static bool is_limited(const struct run_result *r, const struct run_cell *c)
{
	const struct truth_predicted *p = &c->predicted;

	return p->known && p->link[0] && !p->assumption && p->limit != LIMIT_SENDER &&
	       !r->scenario->measures.v[c->measure].unshaped;
}

/* The cells that `text` limits, from the first on; false when one before `from` was of them. */
static bool add_limited(const struct run_result *r, size_t from, const char *text,
			struct strbuf *out)
{
	for (size_t i = 0; i < r->cells.n; i++) {
		const struct run_cell *c = &r->cells.v[i];
		autostr struct strbuf own = {0};

		if (!is_limited(r, c))
			continue;
		truth_limit_text(&c->predicted, &own);
		if (!str_eq(strbuf_text(&own), text))
			continue;
		if (i < from)
			return false;
		strbuf_addf(out, "%s%s of %s", i == from ? ": " : ", ",
			    r->scenario->measures.v[c->measure].name,
			    r->scenario->paths.v[c->path].name);
	}
	return true;
}

/* Which limit each prediction comes from, one line a limit. */
static void print_limits(const struct run_result *r, struct strbuf *out)
{
	for (size_t i = 0; i < r->cells.n; i++) {
		autostr struct strbuf text = {0}, cells = {0};

		if (!is_limited(r, &r->cells.v[i]))
			continue;
		truth_limit_text(&r->cells.v[i].predicted, &text);
		if (!add_limited(r, i, strbuf_text(&text), &cells))
			continue;
		strbuf_add(&text, strbuf_text(&cells));
		begin(out, "limited by");
		text_wrap(out, strbuf_text(&text), LABEL + 2, LABEL + 2);
		strbuf_addc(out, '\n');
	}
}

static void print_assumption(const struct run_result *r, struct strbuf *out)
{
	VEC_FOREACH (c, &r->cells) {
		if (!c->predicted.assumption)
			continue;
		begin(out, "predicted");
		autofree char *line = mem_printf("%s of %s is a range at link '%s': %s",
						 r->scenario->measures.v[c->measure].name,
						 r->scenario->paths.v[c->path].name,
						 c->predicted.link, c->predicted.assumption);
		text_wrap(out, line, LABEL + 2, LABEL + 2);
		strbuf_addc(out, '\n');
	}
}

void terminal_print(const struct run_result *r, bool color, struct strbuf *out)
{
	const struct scenario *s = r->scenario;

	strbuf_addf(out, "%s%s%s\n", s->name, s->title && *s->title ? ": " : "",
		    s->title ? s->title : "");
	if (r->interrupted)
		strbuf_add(out, "  interrupted: what follows is partial\n");
	VEC_FOREACH (lab, &r->labs) {
		print_lab(r, lab, out);
		print_choices(lab, out);
	}
	print_proofs(r, color, out);
	strbuf_addc(out, '\n');
	table_print(r, out);
	strbuf_addc(out, '\n');
	print_errors(r, out);
	print_source(r, out);
	print_limits(r, out);
	print_assumption(r, out);
	for (size_t i = 0; i < s->compare_with.n && s->compare_base >= 0; i++)
		print_overheads_of(r, s->compare_with.v[i], i == 0, out);
	print_expectations(r, color, out);
	print_changes(r, out);
	print_drops(r, out);
	print_machine(r, out);
	print_cpu_missing(r, out);
	if (!s->lesson || r->interrupted)
		return;
	strbuf_add(out, "\n  Lesson: ");
	text_wrap(out, s->lesson, 10, 2);
	strbuf_addc(out, '\n');
}
