/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * matrix_ci: the result of `vpclab verify` as JUnit XML and TAP 13. A fault that the baseline has
 * fails nothing in either: JUnit has no word for it but skipped, TAP has a directive for it. Called
 * by cmd_verify.c.
 */
#include <ctype.h>

#include "core/base/str.h"
#include "core/report/junit.h"
#include "core/report/matrix.h"

enum outcome { PASSED, FAILED, KNOWN, SKIPPED };

/* Of one result, with the words for it: the faults, or why there is no verdict. */
static enum outcome outcome_of(const struct matrix *m, const struct trial_result *r,
			       struct strbuf *text)
{
	bool fresh = false;

	VEC_FOREACH (a, &r->judged.answers) {
		if (!judgement_is_fault(a->judgement))
			continue;
		strbuf_addf(text, "%s%s: ", text->len ? "; " : "", judgement_name(a->judgement));
		matrix_sentence(m, r, a, text);
		fresh = fresh || !baseline_has(m->baseline, r, a);
	}
	if (text->len)
		return fresh ? FAILED : KNOWN;
	return matrix_why(r, text) ? SKIPPED : PASSED;
}

static void test_case(const struct trial_result *r, enum outcome o, const char *text,
		      struct strbuf *out)
{
	const struct answer *worst;
	enum judgement j = trial_result_judgement(r, &worst);

	strbuf_add(out, "    <testcase classname=\"");
	junit_escape(out, r->tool);
	strbuf_add(out, "\" name=\"");
	junit_escape(out, r->trial);
	strbuf_addf(out, "\" time=\"%.3f\">", r->took_s);
	if (o == FAILED)
		strbuf_addf(out, "<failure type=\"%s\" message=\"",
			    fault_name(worst ? worst->kind : FAULT_OTHER));
	else if (o != PASSED)
		strbuf_addf(out, "<skipped message=\"%s",
			    o == KNOWN	       ? "known: "
			    : j != JUDGED_SKIP ? judgement_name(j)
					       : "");
	if (o == SKIPPED && j != JUDGED_SKIP)
		strbuf_add(out, ": ");
	if (o != PASSED) {
		junit_escape(out, text);
		strbuf_add(out, "\"/>");
	}
	strbuf_add(out, "</testcase>\n");
}

void matrix_junit(const struct matrix *m, struct strbuf *out)
{
	size_t n = m->spec->n_tools * m->spec->n_trials;
	autostr struct strbuf cases = {0};
	int failures = 0, skipped = 0;

	for (size_t i = 0; i < n; i++) {
		autostr struct strbuf text = {0};
		enum outcome o = outcome_of(m, &m->results[i], &text);

		failures += o == FAILED;
		skipped += o == SKIPPED || o == KNOWN;
		test_case(&m->results[i], o, strbuf_text(&text), &cases);
	}
	strbuf_addf(out,
		    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite "
		    "name=\"vpclab verify\" tests=\"%zu\" failures=\"%d\" errors=\"0\" "
		    "skipped=\"%d\" time=\"%.3f\">\n%s  </testsuite>\n</testsuites>\n",
		    n, failures, skipped, m->took_s, strbuf_text(&cases));
}

/* In TAP a line end ends a test, and a # begins a directive. */
static void one_line(struct strbuf *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '#')
			strbuf_addc(out, '\\');
		strbuf_addc(out, iscntrl((unsigned char)*text) ? ' ' : *text);
	}
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
		enum outcome o = outcome_of(m, r, &text);

		strbuf_addf(out, "%s %zu - ", o == FAILED || o == KNOWN ? "not ok" : "ok", i + 1);
		one_line(out, r->tool);
		strbuf_add(out, " on ");
		one_line(out, r->trial);
		if (o == KNOWN)
			strbuf_add(out, " # TODO known");
		if (o == SKIPPED) {
			strbuf_addf(out, " # SKIP %s%s", j == JUDGED_SKIP ? "" : judgement_name(j),
				    j == JUDGED_SKIP ? "" : ": ");
			one_line(out, strbuf_text(&text));
		}
		strbuf_addc(out, '\n');
		if (o == FAILED || o == KNOWN) {
			strbuf_add(out, "# ");
			one_line(out, strbuf_text(&text));
			strbuf_addc(out, '\n');
		}
	}
}
