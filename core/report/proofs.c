/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * proofs: prints proofs. Decides nothing. Called by cli/ and by the faces of a scenario's result.
 */
#include "core/report/proofs.h"

#include <math.h>
#include <stdio.h>

#include "core/base/units.h"
#include "core/harness/verdict.h"
#include "core/report/nullable.h"
#include "core/report/terminal.h"
#include "core/report/text.h"

enum { COLUMNS = 8, CELL = 96, VERDICT = COLUMNS - 1 };

struct row {
	char cell[COLUMNS][CELL];
};

static const struct row head = {
    {"link or cap", "direction", "asked", "basis", "got", "error", "tolerance", "verdict"}};

/* Rates in the unit in which the asked one is said, so that the two compare at a glance. */
static void format_value(char *buf, size_t size, const struct proof *p, double v, int digits)
{
	static const struct {
		double least, unit;
		const char *bps, *pps;
	} scales[] = {
	    {1e9, 1e9, "Gbit/s", "Mpps"},
	    {1e6, 1e6, "Mbit/s", "Mpps"},
	    {1e4, 1e3, "kbit/s", "kpps"},
	    {0, 1, "bit/s", "pps"},
	};
	char text[CELL / 2];
	size_t i = 0;

	while (scales[i].least > p->asked)
		i++;
	if (isnan(v))
		snprintf(buf, size, "–");
	else if (p->unit == PROOF_BPS)
		snprintf(buf, size, "%.*g %s", digits, v / scales[i].unit, scales[i].bps);
	else if (p->unit == PROOF_PPS)
		snprintf(buf, size, "%.*g %s", digits, v / fmin(scales[i].unit, 1e6),
			 scales[i].pps);
	else if (p->unit == PROOF_NS)
		snprintf(buf, size, "%s", units_format_time(text, sizeof(text), (int64_t)v));
	else if (p->unit == PROOF_SHARE)
		snprintf(buf, size, "%.*g %%", digits, v * 100);
	else
		snprintf(buf, size, "%.*g%s", digits, v, p->unit == PROOF_BYTES ? " B" : "");
}

static void format_share(char *buf, size_t size, double share)
{
	snprintf(buf, size, "%s%.2f %%", share < 0 ? "−" : "+", fabs(share) * 100);
}

static void format_error(char *buf, size_t size, const struct proof *p)
{
	double error = proof_error(p);
	char text[CELL / 2];

	if (isnan(error))
		snprintf(buf, size, "–");
	else if (!p->absolute && p->asked != 0)
		format_share(buf, size, error);
	else {
		format_value(text, sizeof(text), p, fabs(error), 3);
		snprintf(buf, size, "%s%s", error < 0 ? "−" : "+", text);
	}
}

static void fill_row(const struct proof *p, struct row *row)
{
	bool skipped = p->verdict == VERDICT_SKIP;

	snprintf(row->cell[0], CELL, "%s %s", p->link, p->what);
	snprintf(row->cell[1], CELL, "%s", p->direction);
	format_value(row->cell[2], CELL, p, p->asked, 6);
	snprintf(row->cell[3], CELL, "%s", p->has_basis ? wire_basis_name(p->basis) : "–");
	format_value(row->cell[4], CELL, p, p->got, 5);
	format_error(row->cell[5], CELL, p);
	if (skipped)
		snprintf(row->cell[6], CELL, "–");
	else if (p->absolute)
		format_value(row->cell[6], CELL, p, p->tolerance, 3);
	else
		snprintf(row->cell[6], CELL, "%.3g %%", p->tolerance * 100);
	snprintf(row->cell[7], CELL, "%s%s%s%s", verdict_name(p->verdict), p->engine ? " (" : "",
		 p->engine ? p->engine : "", p->engine ? ")" : "");
}

static void begin_row(const struct row *row, const size_t *widest, struct strbuf *out)
{
	text_spaces(out, 2);
	for (size_t i = 0; i < VERDICT; i++)
		text_pad(out, row->cell[i], widest[i] + 2);
}

static void widen(const struct row *row, size_t *widest)
{
	for (size_t i = 0; i < COLUMNS; i++) {
		size_t width = text_width(row->cell[i]);

		if (width > widest[i])
			widest[i] = width;
	}
}

static void print_reasons(const struct proofs *p, struct strbuf *out)
{
	VEC_FOREACH (one, &p->list) {
		if (!one->why)
			continue;
		autofree char *text =
		    mem_printf("%s %s %s: %s: %s", one->link, one->what, one->direction,
			       verdict_name(one->verdict), one->why);
		text_spaces(out, 2);
		text_wrap(out, text, 2, 4);
		strbuf_addc(out, '\n');
	}
}

void proofs_table(const struct proofs *p, bool color, struct strbuf *out)
{
	struct row *rows = mem_zalloc((p->list.n + 1) * sizeof(*rows));
	size_t widest[COLUMNS] = {0};

	widen(&head, widest);
	for (size_t i = 0; i < p->list.n; i++) {
		fill_row(&p->list.v[i], &rows[i]);
		widen(&rows[i], widest);
	}
	begin_row(&head, widest, out);
	strbuf_addf(out, "%s\n", head.cell[VERDICT]);
	for (size_t i = 0; i < p->list.n; i++) {
		begin_row(&rows[i], widest, out);
		terminal_verdict(out, p->list.v[i].verdict, color, rows[i].cell[VERDICT]);
		strbuf_addc(out, '\n');
	}
	free(rows);
	print_reasons(p, out);
}

static void add_count(struct strbuf *out, size_t n, const char *what)
{
	if (n)
		strbuf_addf(out, ", %zu %s", n, what);
}

void proofs_line(const struct proofs *p, struct strbuf *out)
{
	struct proofs_census c;

	proofs_count(p, &c);
	if (!c.all) {
		strbuf_add(out, "no link has anything to prove");
		return;
	}
	strbuf_addf(out, "links proven: %zu of %zu", c.pass, c.all);
	if (!isnan(c.worst_share))
		strbuf_addf(out, " within %.2f %%", c.worst_share * 100);
	add_count(out, c.fail, "failed");
	add_count(out, c.inconclusive, "inconclusive");
	add_count(out, c.skip, "not probed");
}

void proofs_describe(const struct proof *p, struct strbuf *out)
{
	struct row row;

	fill_row(p, &row);
	strbuf_addf(out, "%s %s: asked %s, got %s (%s)", row.cell[0], row.cell[1], row.cell[2],
		    row.cell[4], row.cell[5]);
	if (p->why)
		strbuf_addf(out, "; %s", p->why);
}

static json_t *one_json(const struct proof *p)
{
	double diff = p->got - p->asked;
	json_t *o = json_object();

	json_object_set_new(o, "link", nullable_text(p->link));
	json_object_set_new(o, "direction", nullable_text(p->direction));
	json_object_set_new(o, "what", nullable_text(p->what));
	json_object_set_new(o, "asked", nullable_number(p->asked));
	json_object_set_new(o, "got", nullable_number(p->got));
	json_object_set_new(o, "unit", nullable_text(proof_unit_name(p->unit)));
	json_object_set_new(o, "basis",
			    nullable_text(p->has_basis ? wire_basis_name(p->basis) : NULL));
	json_object_set_new(o, "error_share",
			    nullable_number(p->asked != 0 ? diff / p->asked : NAN));
	json_object_set_new(o, "error_absolute", nullable_number(diff));
	json_object_set_new(o, "tolerance", nullable_number(p->tolerance));
	json_object_set_new(o, "tolerance_is", nullable_text(p->absolute ? "absolute" : "share"));
	json_object_set_new(o, "tries", json_integer(p->tries));
	json_object_set_new(o, "engine", nullable_text(p->engine));
	json_object_set_new(o, "verdict", nullable_text(verdict_name(p->verdict)));
	json_object_set_new(o, "why", nullable_text(p->why));
	return o;
}

json_t *proofs_json(const struct proofs *p)
{
	json_t *list = json_array();

	VEC_FOREACH (one, &p->list)
		json_array_append_new(list, one_json(one));
	return list;
}
