/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * matrix: the result of `vpclab verify` on a terminal: trials down, tools across, and below a row
 * a sentence for each fault and for each trial without a verdict. Tools that do not fit beside each
 * other follow in a table of their own. What came of it for programs: matrix_json.c, matrix_ci.c.
 * Called by cmd_verify.c.
 */
#include "core/report/matrix.h"

#include <string.h>

#include "core/base/str.h"
#include "core/report/text.h"

#define INDENT	2
#define BETWEEN 2

struct layout {
	size_t names; /* columns of the trials' names */
	size_t *tool; /* columns of each tool */
};

const struct trial_result *matrix_at(const struct matrix *m, size_t tool, size_t trial)
{
	return &m->results[tool * m->spec->n_trials + trial];
}

/* ---- words ---- */

static const char *word(const struct trial_result *r, enum judgement j)
{
	static const char *const loud[] = {[JUDGED_LIE] = "LIE",
					   [JUDGED_HANG] = "HANG",
					   [JUDGED_CRASH] = "CRASH",
					   [JUDGED_WRONG_EXIT] = "WRONG EXIT",
					   [JUDGED_OFF] = "off"};

	if (r->skip)
		return "–";
	return judgement_is_fault(j) ? loud[j] : judgement_name(j);
}

void matrix_sentence(const struct matrix *m, const struct trial_result *r, const struct answer *a,
		     struct strbuf *out)
{
	strbuf_add(out, a->text);
	if (r->known && str_eq(r->known->kind ?: "", fault_name(a->kind)))
		strbuf_addf(out, " (known: %s)", r->known->reference);
	if (m->baseline && !baseline_has(m->baseline, r, a))
		strbuf_add(out, " NEW");
}

/* The last line that the client wrote to standard error, else to standard output. */
static void last_words(const struct trial_result *r, struct strbuf *out)
{
	const char *text = r->output.text[FROM_CLIENT_ERR];

	if (!text || !*text)
		text = r->output.text[FROM_CLIENT_OUT];
	size_t end = text ? strlen(text) : 0, begin;

	while (end && text[end - 1] == '\n')
		end--;
	for (begin = end; begin && text[begin - 1] != '\n';)
		begin--;
	if (end > begin)
		strbuf_addf(out, ": %.*s", (int)(end - begin < 200 ? end - begin : 200),
			    text + begin);
}

static void silence(const struct trial_result *r, struct strbuf *out)
{
	int n = 0;

	VEC_FOREACH (a, &r->judged.answers)
		if (a->judgement == JUDGED_SILENT)
			strbuf_addf(out, "%s%s", n++ ? ", " : "tells no ", a->about);
	if (r->output.status[0])
		strbuf_addf(out, "%sstatus %d", n ? "; " : "", r->output.status[0]);
	if (r->output.status[0])
		last_words(r, out);
	if (!out->len)
		strbuf_add(out, "tells nothing that is asked");
}

/* What is in doubt, and what speaks against it: the sentence may have said so already. */
static void doubt(const struct trial_result *r, const struct answer *worst, struct strbuf *out)
{
	const char *spoilt = r->evidence.spoilt, *why = spoilt ? spoilt : r->evidence.machine;

	if (r->inconclusive || !worst) {
		strbuf_add(out, r->inconclusive ? r->inconclusive : "no reason is known");
		return;
	}
	strbuf_add(out, worst->text);
	if (why && !strstr(worst->text, why))
		strbuf_addf(out, "; %s: %s",
			    spoilt ? "the lab failed" : "the machine was the limit", why);
}

bool matrix_why(const struct trial_result *r, struct strbuf *out)
{
	const struct answer *worst;
	enum judgement j = trial_result_judgement(r, &worst);

	if (j == JUDGED_SKIP)
		strbuf_add(out, r->skip);
	else if (j == JUDGED_INCONCLUSIVE)
		doubt(r, worst, out);
	else if (j == JUDGED_SILENT)
		silence(r, out);
	return out->len;
}

/* ---- the table ---- */

static size_t greater(size_t a, size_t b)
{
	return a > b ? a : b;
}

static void lay_out(const struct matrix *m, struct layout *l)
{
	const struct answer *worst;

	l->names = strlen("trial");
	for (size_t k = 0; k < m->spec->n_trials; k++)
		l->names = greater(l->names, text_width(m->spec->trials[k]->name));
	for (size_t t = 0; t < m->spec->n_tools; t++) {
		const struct verify_tool *tool = &m->spec->tools[t];
		size_t w = text_width(tool->adapter->name);

		w = greater(w, tool->version ? text_width(tool->version) : 0);
		for (size_t k = 0; k < m->spec->n_trials; k++) {
			const struct trial_result *r = matrix_at(m, t, k);

			w = greater(w, text_width(word(r, trial_result_judgement(r, &worst))));
		}
		l->tool[t] = w;
	}
}

/* The tools from `begin` that fit beside each other, at least one; gives the first that does not.
 */
static size_t fits(const struct matrix *m, const struct layout *l, size_t begin)
{
	size_t columns = m->columns ? m->columns : TEXT_COLUMNS;
	size_t width = INDENT + l->names + BETWEEN + l->tool[begin], end = begin + 1;

	while (end < m->spec->n_tools && width + BETWEEN + l->tool[end] <= columns)
		width += BETWEEN + l->tool[end++];
	return end;
}

/* Left, and nothing behind the last. */
static void cell(const char *text, const char *color, size_t width, bool last, struct strbuf *out)
{
	if (color)
		strbuf_add(out, color);
	strbuf_add(out, text);
	if (color)
		strbuf_add(out, "\033[0m");
	if (!last)
		text_spaces(out, width + BETWEEN - text_width(text));
}

static void heading(const struct matrix *m, const struct layout *l, size_t begin, size_t end,
		    struct strbuf *out)
{
	text_spaces(out, INDENT);
	cell("trial", NULL, l->names, false, out);
	for (size_t t = begin; t < end; t++)
		cell(m->spec->tools[t].adapter->name, NULL, l->tool[t], t + 1 == end, out);
	strbuf_addc(out, '\n');
	text_spaces(out, INDENT);
	cell("", NULL, l->names, false, out);
	for (size_t t = begin; t < end; t++) {
		const char *version = m->spec->tools[t].version;

		cell(version && *version ? version : "–", NULL, l->tool[t], t + 1 == end, out);
	}
	strbuf_addc(out, '\n');
}

static void row(const struct matrix *m, const struct layout *l, size_t trial, size_t begin,
		size_t end, struct strbuf *out)
{
	text_spaces(out, INDENT);
	cell(m->spec->trials[trial]->name, NULL, l->names, false, out);
	for (size_t t = begin; t < end; t++) {
		const struct trial_result *r = matrix_at(m, t, trial);
		const struct answer *worst;
		enum judgement j = trial_result_judgement(r, &worst);
		const char *color = !m->color		       ? NULL
				    : judgement_is_fault(j)    ? "\033[31m"
				    : j == JUDGED_TRUE	       ? "\033[32m"
				    : j == JUDGED_INCONCLUSIVE ? "\033[33m"
							       : NULL;

		cell(word(r, j), color, l->tool[t], t + 1 == end, out);
	}
	strbuf_addc(out, '\n');
}

static void say(const char *tool, const char *text, struct strbuf *out)
{
	autofree char *line = mem_printf("%s: %s", tool, text);

	text_spaces(out, 6);
	text_wrap(out, line, 6, 8);
	strbuf_addc(out, '\n');
}

/* Of one result: a sentence for each fault, or why there is no verdict. */
static void sentences(const struct matrix *m, const struct trial_result *r, struct strbuf *out)
{
	autostr struct strbuf why = {0};

	VEC_FOREACH (a, &r->judged.answers) {
		autostr struct strbuf text = {0};

		if (!judgement_is_fault(a->judgement))
			continue;
		matrix_sentence(m, r, a, &text);
		say(r->tool, strbuf_text(&text), out);
	}
	if (!verify_has_fault(r) && !r->skip && matrix_why(r, &why))
		say(r->tool, strbuf_text(&why), out);
}

/* ---- the end ---- */

static void summary(const struct matrix *m, struct strbuf *out)
{
	size_t n = m->spec->n_tools * m->spec->n_trials;
	autostr struct strbuf text = {0};
	struct verify_counts c;

	verify_count(m->results, n, m->baseline, &c);
	const struct {
		int n;
		const char *one, *more;
	} rows[] = {
	    {c.true_, "true", "true"},
	    {c.lies, "lie", "lies"},
	    {c.off, "off", "off"},
	    {c.hangs, "hang", "hangs"},
	    {c.crashes, "crash", "crashes"},
	    {c.wrong_exits, "wrong exit", "wrong exits"},
	    {c.silent, "silent", "silent"},
	    {c.inconclusive, "inconclusive", "inconclusive"},
	    {c.skipped, "skipped", "skipped"},
	};
	const char *before = ": ";

	strbuf_addf(&text, "%zu trial%s", n, n == 1 ? "" : "s");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (!rows[i].n)
			continue;
		strbuf_addf(&text, "%s%d %s", before, rows[i].n,
			    rows[i].n == 1 ? rows[i].one : rows[i].more);
		before = ", ";
	}
	if (m->baseline)
		strbuf_addf(&text, " · new since the baseline: %d", c.fresh);
	if (m->took_s >= 60)
		strbuf_addf(&text, " · %d min %d s", (int)m->took_s / 60, (int)m->took_s % 60);
	else
		strbuf_addf(&text, " · %.0f s", m->took_s);
	text_spaces(out, INDENT);
	text_wrap(out, strbuf_text(&text), INDENT, INDENT + 2);
	strbuf_addc(out, '\n');
}

/* Why trials were skipped: each reason of a tool once, with the trials; none where it is all. */
static void skips(const struct matrix *m, size_t tool, struct strbuf *out)
{
	for (size_t k = 0; k < m->spec->n_trials; k++) {
		const char *why = matrix_at(m, tool, k)->skip;
		autostr struct strbuf names = {0}, text = {0};
		size_t n = 0;
		bool told = false;

		for (size_t i = 0; why && i < m->spec->n_trials; i++) {
			const char *other = matrix_at(m, tool, i)->skip;

			if (!other || !str_eq(other, why))
				continue;
			told = told || i < k;
			strbuf_addf(&names, "%s%s", n++ ? ", " : ": ", m->spec->trials[i]->name);
		}
		if (!why || told)
			continue;
		strbuf_addf(&text, "skipped: %s%s", why,
			    n < m->spec->n_trials || n == 1 ? strbuf_text(&names) : "");
		text_spaces(out, INDENT);
		text_wrap(out, strbuf_text(&text), INDENT, INDENT + 2);
		strbuf_addc(out, '\n');
	}
}

void matrix_text(const struct matrix *m, struct strbuf *out)
{
	autofree size_t *widths = mem_zalloc((m->spec->n_tools + 1) * sizeof(*widths));
	struct layout l = {.tool = widths};

	lay_out(m, &l);
	for (size_t begin = 0, end; begin < m->spec->n_tools; begin = end) {
		end = fits(m, &l, begin);
		heading(m, &l, begin, end, out);
		for (size_t k = 0; k < m->spec->n_trials; k++) {
			row(m, &l, k, begin, end, out);
			for (size_t t = begin; t < end; t++)
				sentences(m, matrix_at(m, t, k), out);
		}
		if (end < m->spec->n_tools)
			strbuf_addc(out, '\n');
	}
	summary(m, out);
	if (m->interrupted)
		strbuf_add(out, "  interrupted: what was not run to its end is skipped\n");
	for (size_t t = 0; t < m->spec->n_tools; t++)
		skips(m, t, out);
}
