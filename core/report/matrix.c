/* SPDX-License-Identifier: GPL-2.0-or-later */
/* matrix: the result of `vpclab verify` in its faces. Called by cmd_verify.c. */
#include "core/report/matrix.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/file.h"
#include "core/base/str.h"
#include "core/report/junit.h"
#include "core/report/text.h"

#define NAME_WIDTH 22
#define CELL_WIDTH 15

static const struct trial_result *at(const struct matrix *m, size_t tool, size_t trial)
{
	return &m->results[tool * m->spec->n_trials + trial];
}

static bool is_fault(enum judgement j)
{
	return j == JUDGED_LIE || j == JUDGED_OFF || j == JUDGED_HANG || j == JUDGED_CRASH ||
	       j == JUDGED_WRONG_EXIT;
}

static const char *word(const struct trial_result *r, enum judgement j)
{
	static const char *const loud[] = {[JUDGED_LIE] = "LIE",
					   [JUDGED_HANG] = "HANG",
					   [JUDGED_CRASH] = "CRASH",
					   [JUDGED_WRONG_EXIT] = "WRONG EXIT",
					   [JUDGED_OFF] = "off"};

	if (r->skip)
		return "–";
	return is_fault(j) ? loud[j] : judgement_name(j);
}

static void cell(const struct matrix *m, const struct trial_result *r, struct strbuf *out)
{
	const struct answer *worst;
	enum judgement j = trial_result_judgement(r, &worst);
	bool color = m->color && (is_fault(j) || j == JUDGED_TRUE);

	if (color)
		strbuf_add(out, is_fault(j) ? "\033[31m" : "\033[32m");
	text_pad(out, word(r, j), CELL_WIDTH);
	if (color)
		strbuf_add(out, "\033[0m");
}

static void heading(const struct matrix *m, struct strbuf *out)
{
	text_pad(out, "  trial", NAME_WIDTH + 2);
	for (size_t t = 0; t < m->spec->n_tools; t++) {
		const struct verify_tool *tool = &m->spec->tools[t];
		autofree char *name =
		    mem_printf("%s %.8s", tool->adapter->name, tool->version ? tool->version : "");

		text_pad(out, name, CELL_WIDTH);
	}
	strbuf_addc(out, '\n');
}

/* The faults of a row, a sentence each. */
static void sentences(const struct matrix *m, size_t trial, struct strbuf *out)
{
	for (size_t t = 0; t < m->spec->n_tools; t++) {
		const struct trial_result *r = at(m, t, trial);

		VEC_FOREACH (a, &r->judged.answers) {
			autostr struct strbuf text = {0};

			if (!is_fault(a->judgement))
				continue;
			strbuf_addf(&text, "%s: %s", r->tool, a->text);
			if (r->known && str_eq(r->known->kind ?: "", fault_name(a->kind)))
				strbuf_addf(&text, " (known: %s)", r->known->reference);
			if (m->baseline && !baseline_has(m->baseline, r, a))
				strbuf_add(&text, " NEW");
			text_spaces(out, 6);
			text_wrap(out, strbuf_text(&text), 6, 8);
			strbuf_addc(out, '\n');
		}
		const char *why = r->inconclusive;
		const struct answer *worst;

		if (!why && trial_result_judgement(r, &worst) == JUDGED_INCONCLUSIVE)
			why = worst->text;
		if (why)
			strbuf_addf(out, "      %s: %s\n", r->tool, why);
	}
}

static void summary(const struct matrix *m, struct strbuf *out)
{
	size_t n = m->spec->n_tools * m->spec->n_trials;
	struct verify_counts c;

	verify_count(m->results, n, m->baseline, &c);
	strbuf_addf(
	    out,
	    "  %zu trials: %d true, %d lies, %d off, %d hangs, %d crashes, %d wrong exits, %d "
	    "silent, %d inconclusive, %d skipped",
	    n, c.true_, c.lies, c.off, c.hangs, c.crashes, c.wrong_exits, c.silent, c.inconclusive,
	    c.skipped);
	if (m->baseline)
		strbuf_addf(out, " · new since the baseline: %d", c.fresh);
	strbuf_addf(out, " · %d min %d s\n", (int)m->took_s / 60, (int)m->took_s % 60);
	if (m->interrupted)
		strbuf_add(out, "  interrupted: what was not run to its end is skipped\n");
	for (size_t t = 0; t < m->spec->n_tools; t++)
		if (!m->spec->tools[t].version)
			strbuf_addf(out, "  %s: %s\n", m->spec->tools[t].adapter->name,
				    m->spec->tools[t].missing);
}

void matrix_text(const struct matrix *m, struct strbuf *out)
{
	heading(m, out);
	for (size_t k = 0; k < m->spec->n_trials; k++) {
		strbuf_add(out, "  ");
		text_pad(out, m->spec->trials[k]->name, NAME_WIDTH);
		for (size_t t = 0; t < m->spec->n_tools; t++)
			cell(m, at(m, t, k), out);
		strbuf_addc(out, '\n');
		sentences(m, k, out);
	}
	summary(m, out);
}

static json_t *real(double v)
{
	return isfinite(v) ? json_real(v) : json_null();
}

static json_t *answers(const struct matrix *m, const struct trial_result *r)
{
	json_t *list = json_array();

	VEC_FOREACH (a, &r->judged.answers)
		json_array_append_new(
		    list,
		    json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:s, s:b}", "about", a->about,
			      "judgement", judgement_name(a->judgement), "kind",
			      fault_name(a->kind), "said", real(a->said), "truth", real(a->truth),
			      "tolerance", real(a->tolerance), "text", a->text ? a->text : "",
			      "new", is_fault(a->judgement) && !baseline_has(m->baseline, r, a)));
	return list;
}

static json_t *evidence(const struct evidence *e)
{
	const struct {
		const char *name;
		double value;
	} rows[] = {
	    {"predicted_bps", e->predicted_bps},
	    {"counted_bps", e->counted_bps},
	    {"sent_bps", e->sent_bps},
	    {"predicted_pps", e->predicted_pps},
	    {"counted_pps", e->counted_pps},
	    {"sent_pps", e->sent_pps},
	    {"sent_packets", e->sent_packets},
	    {"arrived_packets", e->arrived_packets},
	    {"lost_host_packets", e->lost_host},
	    {"lost_relay_packets", e->lost_relay},
	    {"duplicated_packets", e->duplicated},
	    {"reordered_packets", e->reordered},
	    {"active_s", e->active_s},
	    {"run_s", e->run_s},
	    {"asked_s", e->asked_s},
	    {"asked_bps", e->asked_bps},
	    {"asked_size_bytes", e->asked_size},
	    {"delay_s", e->delay_s},
	    {"delay_back_s", e->delay_back_s},
	    {"frozen_s", e->frozen_s},
	    {"payload_bytes", e->payload_bytes},
	    {"fragments", e->fragments},
	};
	json_t *j = json_pack("{s:s?}", "machine", e->machine);

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		json_object_set_new(j, rows[i].name, real(rows[i].value));
	return j;
}

static json_t *result(const struct matrix *m, const struct trial_result *r)
{
	const struct answer *worst;
	enum judgement j = trial_result_judgement(r, &worst);

	return json_pack("{s:s, s:s, s:s, s:s, s:s?, s:s?, s:s?, s:f, s:i, s:o, s:o}", "tool",
			 r->tool, "version", r->version, "trial", r->trial, "judgement",
			 judgement_name(j), "skip", r->skip, "inconclusive", r->inconclusive,
			 "known", r->known ? r->known->reference : NULL, "took_s", r->took_s,
			 "status", r->output.status[0], "answers", answers(m, r), "evidence",
			 evidence(&r->evidence));
}

json_t *matrix_json(const struct matrix *m)
{
	size_t n = m->spec->n_tools * m->spec->n_trials;
	json_t *list = json_array();
	struct verify_counts c;

	for (size_t i = 0; i < n; i++)
		json_array_append_new(list, result(m, &m->results[i]));
	verify_count(m->results, n, m->baseline, &c);
	return json_pack("{s:o, s:f, s:b, s:{s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i}}",
			 "results", list, "took_s", m->took_s, "interrupted", m->interrupted,
			 "counts", "true", c.true_, "lie", c.lies, "off", c.off, "hang", c.hangs,
			 "crash", c.crashes, "wrong_exit", c.wrong_exits, "silent", c.silent,
			 "inconclusive", c.inconclusive, "skip", c.skipped, "new", c.fresh);
}

static void fault_text(const struct trial_result *r, struct strbuf *out)
{
	VEC_FOREACH (a, &r->judged.answers)
		if (is_fault(a->judgement))
			strbuf_addf(out, "%s%s: %s", out->len ? "; " : "",
				    judgement_name(a->judgement), a->text);
}

void matrix_junit(const struct matrix *m, struct strbuf *out)
{
	size_t n = m->spec->n_tools * m->spec->n_trials;
	struct verify_counts c;

	verify_count(m->results, n, m->baseline, &c);
	strbuf_addf(out,
		    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite "
		    "name=\"vpclab verify\" tests=\"%zu\" failures=\"%d\" skipped=\"%d\" "
		    "time=\"%.3f\">\n",
		    n, c.lies + c.off + c.hangs + c.crashes + c.wrong_exits,
		    c.inconclusive + c.skipped + c.silent, m->took_s);
	for (size_t i = 0; i < n; i++) {
		const struct trial_result *r = &m->results[i];
		const struct answer *worst;
		enum judgement j = trial_result_judgement(r, &worst);
		autostr struct strbuf text = {0};

		if (!r->tool)
			continue;
		fault_text(r, &text);
		strbuf_add(out, "    <testcase classname=\"");
		junit_escape(out, r->tool);
		strbuf_add(out, "\" name=\"");
		junit_escape(out, r->trial);
		strbuf_addf(out, "\" time=\"%.3f\">", r->took_s);
		if (is_fault(j)) {
			strbuf_add(out, "<failure message=\"");
			junit_escape(out, strbuf_text(&text));
			strbuf_add(out, "\"/>");
		} else if (j != JUDGED_TRUE) {
			strbuf_add(out, "<skipped message=\"");
			junit_escape(out, r->skip ? r->skip : judgement_name(j));
			strbuf_add(out, "\"/>");
		}
		strbuf_add(out, "</testcase>\n");
	}
	strbuf_add(out, "  </testsuite>\n</testsuites>\n");
}

void matrix_tap(const struct matrix *m, struct strbuf *out)
{
	size_t n = m->spec->n_tools * m->spec->n_trials;

	strbuf_addf(out, "TAP version 13\n1..%zu\n", n);
	for (size_t i = 0; i < n; i++) {
		const struct trial_result *r = &m->results[i];
		const struct answer *worst;
		enum judgement j = trial_result_judgement(r, &worst);
		autostr struct strbuf text = {0};

		fault_text(r, &text);
		strbuf_addf(out, "%s %zu - %s on %s", is_fault(j) ? "not ok" : "ok", i + 1,
			    r->tool ? r->tool : "?", r->trial ? r->trial : "?");
		if (r->skip || j == JUDGED_INCONCLUSIVE || j == JUDGED_SILENT)
			strbuf_addf(out, " # SKIP %s", r->skip ? r->skip : judgement_name(j));
		strbuf_addc(out, '\n');
		if (text.len)
			strbuf_addf(out, "# %s\n", strbuf_text(&text));
	}
}

static int keep_one(const struct matrix *m, const struct trial_result *r, const char *folder,
		    struct err *err)
{
	static const char *const names[] = {[FROM_CLIENT_OUT] = "client.stdout",
					    [FROM_CLIENT_ERR] = "client.stderr",
					    [FROM_SERVER_OUT] = "server.stdout",
					    [FROM_SERVER_ERR] = "server.stderr"};
	autofree char *path = verify_keep_path(folder, r->trial, r->tool);
	int ret = file_mkdirs(path, err);
	json_t *j = result(m, r);
	autofree char *text = json_dumps(j, JSON_INDENT(2));
	autofree char *json_file = mem_printf("%s/result.json", path);

	json_decref(j);
	for (size_t i = 0; i < ARRAY_SIZE(names) && !ret; i++) {
		autofree char *file = mem_printf("%s/%s", path, names[i]);
		const char *said = r->output.text[i] ? r->output.text[i] : "";

		ret = file_write(file, said, strlen(said), err);
	}
	return ret ? ret : file_write(json_file, text, strlen(text), err);
}

int matrix_keep(const struct matrix *m, const char *folder, struct err *err)
{
	size_t n = m->spec->n_tools * m->spec->n_trials;
	int r = file_mkdirs(folder, err);

	for (size_t i = 0; i < n && !r; i++) {
		bool fault = false;

		VEC_FOREACH (a, &m->results[i].judged.answers)
			fault = fault || is_fault(a->judgement);
		if (fault)
			r = keep_one(m, &m->results[i], folder, err);
	}
	return r;
}
