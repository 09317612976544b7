// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * table: which rows a test has, and their cells. More paths than fit side by side become further
 * blocks. Only figures: verdicts and words around them are terminal.c's.
 */
#include "core/report/table.h"

#include <math.h>
#include <stdio.h>

#include "core/report/text.h"

enum {
	NAME_WIDTH = 14,
	LABEL_WIDTH = 13,
	UNIT_WIDTH = 9,
	BLOCK_PATHS = 4,
	CELL_MIN = 15,
	CELL_MAX = 20
};

/* What a row shows of a cell. */
enum row_kind {
	ROW_METRIC,
	ROW_PAIR,
	ROW_FULL, /* what a scaled model's figure is at full size */
	ROW_PREDICTED,
	ROW_COUNTED,
	ROW_REFERENCE
};

struct row {
	unsigned tests;
	enum row_kind kind;
	const char *label, *unit;
	double scale; /* a figure is shown divided by it */
	int digits;
	const char *metric, *second; /* second: ROW_PAIR, the figure behind the slash */
};

#define IX     METRIC_TEST(TEST_THROUGHPUT)
#define STREAM METRIC_TCP_STREAMS
#define UDP    METRIC_UDP_STREAMS
#define BIDIR  METRIC_BIDIRS
#define TPS    (METRIC_RR | METRIC_CRR)
#define PROBES METRIC_TEST(TEST_UDP_LATENCY)
#define RR     (TPS | PROBES)
#define PAIRS  METRIC_TEST(TEST_PAIRS)
#define CHECK  METRIC_TEST(TEST_PATH_CHECK)

static const struct row rows[] = {
    {IX, ROW_METRIC, "average", "Mbit/s", 1e6, 1, "average", NULL},
    {IX, ROW_PAIR, "min / max", "Mbit/s", 1e6, 1, "min", "max"},
    {STREAM, ROW_METRIC, "goodput", "Mbit/s", 1e6, 1, "goodput", NULL},
    {UDP, ROW_METRIC, "goodput", "Mbit/s", 1e6, 1, "goodput", NULL},
    {PAIRS, ROW_METRIC, "goodput", "Mbit/s", 1e6, 1, "goodput", NULL},
    {BIDIR, ROW_METRIC, "other way", "Mbit/s", 1e6, 1, "back.goodput", NULL},
    {UDP, ROW_METRIC, "packets", "kpps", 1e3, 1, "pps", NULL},
    {CHECK, ROW_METRIC, "path MTU", "bytes", 1, 0, "path_mtu", NULL},
    {IX, ROW_FULL, "full size", "Mbit/s", 1e6, 0, "average", NULL},
    {STREAM, ROW_FULL, "full size", "Mbit/s", 1e6, 0, "goodput", NULL},
    {UDP, ROW_FULL, "full size", "Mbit/s", 1e6, 0, "goodput", NULL},
    {UDP, ROW_FULL, "full size", "kpps", 1e3, 0, "pps", NULL},
    {IX, ROW_PREDICTED, "predicted", "Mbit/s", 1e6, 1, "average", NULL},
    {STREAM, ROW_PREDICTED, "predicted", "Mbit/s", 1e6, 1, "goodput", NULL},
    {UDP, ROW_PREDICTED, "predicted", "kpps", 1e3, 1, "pps", NULL},
    {IX, ROW_COUNTED, "counted", "Mbit/s", 1e6, 1, "average", NULL},
    {STREAM, ROW_COUNTED, "counted", "Mbit/s", 1e6, 1, "goodput", NULL},
    {UDP, ROW_COUNTED, "counted", "kpps", 1e3, 1, "pps", NULL},
    {IX, ROW_REFERENCE, "published", "Mbit/s", 1e6, 1, "average", NULL},
    {STREAM, ROW_REFERENCE, "published", "Mbit/s", 1e6, 1, "goodput", NULL},
    {UDP, ROW_REFERENCE, "published", "kpps", 1e3, 1, "pps", NULL},
    {IX, ROW_METRIC, "response", "s", 1e9, 3, "response.average", NULL},
    {IX, ROW_PAIR, "min / max", "s", 1e9, 3, "response.min", "response.max"},
    {IX, ROW_REFERENCE, "published", "s", 1e9, 3, "response.average", NULL},
    {RR, ROW_METRIC, "p50", "µs", 1e3, 1, "p50", NULL},
    {RR, ROW_PAIR, "p90 / p99", "µs", 1e3, 1, "p90", "p99"},
    {RR, ROW_REFERENCE, "published", "µs", 1e3, 1, "p50", NULL},
    {TPS, ROW_METRIC, "rate", "1/s", 1, 0, "tps", NULL},
    {STREAM, ROW_METRIC, "retransmits", "segments", 1, 0, "retransmits", NULL},
    {UDP | PROBES, ROW_METRIC, "loss", "%", 0.01, 2, "loss", NULL},
    {UDP | STREAM, ROW_METRIC, "CPU/packet", "µs", 1e3, 2, "cpu_per_packet", NULL},
};

static void print_number(struct strbuf *out, const struct row *row, double v)
{
	if (isnan(v))
		strbuf_add(out, "–");
	else
		strbuf_addf(out, "%.*f", row->digits, v / row->scale);
}

static void print_mean(struct strbuf *out, const struct row *row, const struct summary *s)
{
	print_number(out, row, s->mean);
	if (isnan(s->mean) || isnan(s->half_width))
		return;
	strbuf_add(out, " ±");
	print_number(out, row, s->half_width);
}

static void print_predicted(const struct run_result *r, const struct run_cell *c,
			    const struct row *row, const struct metric *m, struct strbuf *out)
{
	double point, low, high;

	if (!result_predicted(r, c, m, &point, &low, &high)) {
		strbuf_add(out, "–");
		return;
	}
	print_number(out, row, low);
	if (high - low < row->scale / 10)
		return;
	strbuf_add(out, "…");
	print_number(out, row, high);
}

/* The text of a cell; empty when the row says nothing there. */
static void print_cell(const struct run_result *r, const struct run_cell *c, const struct row *row,
		       struct strbuf *out)
{
	const struct scenario_measure *measure = &r->scenario->measures.v[c->measure];
	const struct metric *m = metric_find(row->metric, measure->spec.test);
	struct summary first, second;

	switch (row->kind) {
	case ROW_METRIC:
		result_summary(c, m, measure->repeat.confidence, &first);
		print_mean(out, row, &first);
		break;
	case ROW_PAIR:
		result_summary(c, m, measure->repeat.confidence, &first);
		result_summary(c, metric_find(row->second, measure->spec.test),
			       measure->repeat.confidence, &second);
		print_number(out, row, first.mean);
		if (isnan(first.mean) && isnan(second.mean))
			break;
		strbuf_add(out, " / ");
		print_number(out, row, second.mean);
		break;
	case ROW_FULL:
		result_summary(c, m, measure->repeat.confidence, &first);
		print_number(out, row, truth_full_size(&c->predicted, first.mean));
		break;
	case ROW_PREDICTED:
		print_predicted(r, c, row, m, out);
		break;
	case ROW_COUNTED:
		print_number(out, row, result_counted(c, m));
		break;
	case ROW_REFERENCE:
		print_number(out, row, scenario_reference(r->scenario, c->measure, m, c->path));
		break;
	}
}

/* A row that is empty on every path is left out, but a measurement that failed is not. */
static bool row_wanted(const struct run_result *r, int measure, const struct row *row)
{
	enum engine_test test = r->scenario->measures.v[measure].spec.test;
	const struct metric *m = metric_find(row->metric, test);

	if (!(row->tests & METRIC_TEST(test)))
		return false;
	if (row->kind == ROW_METRIC || row->kind == ROW_PAIR)
		return true;
	VEC_FOREACH (c, &r->cells) {
		double point, low, high;

		if (c->measure != measure)
			continue;
		if (row->kind == ROW_FULL && truth_scaled(&c->predicted) &&
		    !r->scenario->measures.v[measure].unshaped)
			return true;
		if (row->kind == ROW_PREDICTED && result_predicted(r, c, m, &point, &low, &high))
			return true;
		if (row->kind == ROW_COUNTED && !isnan(result_counted(c, m)))
			return true;
		if (row->kind == ROW_REFERENCE &&
		    !isnan(scenario_reference(r->scenario, measure, m, c->path)))
			return true;
	}
	return false;
}

struct block {
	int first, n;
	size_t width;
};

static void print_row(const struct run_result *r, int measure, const struct row *row,
		      const struct block *b, struct strbuf *out)
{
	text_pad(out, row->label, LABEL_WIDTH);
	text_pad(out, row->unit, UNIT_WIDTH);
	for (int i = 0; i < b->n; i++) {
		autostr struct strbuf cell = {0};
		const struct run_cell *c = result_cell(r, measure, b->first + i);

		if (c)
			print_cell(r, c, row, &cell);
		else
			strbuf_add(&cell, "–");
		if (i == b->n - 1)
			strbuf_add(out, strbuf_text(&cell));
		else
			text_pad(out, strbuf_text(&cell), b->width);
	}
	while (out->len && out->s[out->len - 1] == ' ')
		out->s[--out->len] = '\0';
	strbuf_addc(out, '\n');
}

static void print_measure(const struct run_result *r, int measure, const struct block *b,
			  struct strbuf *out)
{
	const struct scenario_measure *m = &r->scenario->measures.v[measure];
	int printed = 0;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (!row_wanted(r, measure, &rows[i]))
			continue;
		text_spaces(out, 2);
		text_pad(out,
			 printed == 0		       ? m->name
			 : printed == 1 && m->unshaped ? "(unshaped)"
						       : "",
			 NAME_WIDTH);
		print_row(r, measure, &rows[i], b, out);
		printed++;
	}
}

static bool was_run(const struct run_result *r, int measure)
{
	VEC_FOREACH (c, &r->cells)
		VEC_FOREACH (run, &c->runs)
			if (c->measure == measure && !run->error)
				return true;
	return false;
}

static void print_block(const struct run_result *r, const struct block *b, struct strbuf *out)
{
	text_spaces(out, 2 + NAME_WIDTH + LABEL_WIDTH + UNIT_WIDTH);
	for (int i = 0; i < b->n; i++)
		text_pad(out, r->scenario->paths.v[b->first + i].name,
			 i == b->n - 1 ? 0 : b->width);
	strbuf_addc(out, '\n');
	for (size_t i = 0; i < r->scenario->measures.n; i++)
		if (!r->interrupted || was_run(r, (int)i))
			print_measure(r, (int)i, b, out);
}

void table_print(const struct run_result *r, struct strbuf *out)
{
	int n = (int)r->scenario->paths.n;

	for (int first = 0; first < n; first += BLOCK_PATHS) {
		struct block b = {.first = first,
				  .n = n - first < BLOCK_PATHS ? n - first : BLOCK_PATHS};

		b.width = (TEXT_COLUMNS - 2 - NAME_WIDTH - LABEL_WIDTH - UNIT_WIDTH) / (size_t)b.n;
		b.width = b.width > CELL_MAX ? CELL_MAX : b.width < CELL_MIN ? CELL_MIN : b.width;
		if (first)
			strbuf_addc(out, '\n');
		print_block(r, &b, out);
	}
}
