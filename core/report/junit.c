// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * junit: writes JUnit XML by hand; the only hard part is the escaping. Called by cli/.
 */
#include "core/report/junit.h"

#include <stdlib.h>
#include <time.h>

#include "core/harness/verdict.h"
#include "core/report/proofs.h"

void junit_escape(struct strbuf *out, const char *s)
{
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (c == '&')
			strbuf_add(out, "&amp;");
		else if (c == '<')
			strbuf_add(out, "&lt;");
		else if (c == '>')
			strbuf_add(out, "&gt;");
		else if (c == '"')
			strbuf_add(out, "&quot;");
		else if (c == '\n' || c == '\t')
			strbuf_addf(out, "&#%d;", c);
		else if (c < 0x20 || c == 0x7f)
			strbuf_add(out, "\xef\xbf\xbd");
		else
			strbuf_addc(out, (char)c);
	}
}

static void attribute(struct strbuf *out, const char *name, const char *value)
{
	strbuf_addf(out, " %s=\"", name);
	junit_escape(out, value);
	strbuf_addc(out, '"');
}

static void print_outcome(const struct run_verdict *v, struct strbuf *out)
{
	static const char *const elements[] = {
	    [VERDICT_FAIL] = "failure",
	    [VERDICT_INCONCLUSIVE] = "skipped",
	    [VERDICT_SKIP] = "skipped",
	};
	autostr struct strbuf message = {0};

	strbuf_addf(&message, "%s: %s", verdict_name(v->verdict), v->found);
	if (v->evidence)
		strbuf_addf(&message, "; %s", v->evidence);
	if (v->verdict == VERDICT_PASS) {
		strbuf_add(out, "      <system-out>");
		junit_escape(out, v->found);
		strbuf_add(out, "</system-out>\n");
		return;
	}
	strbuf_addf(out, "      <%s", elements[v->verdict]);
	attribute(out, "message", strbuf_text(&message));
	strbuf_add(out, "/>\n");
}

/* The seconds that its measurement took on its path. */
static double seconds_of(const struct run_result *r, const struct run_verdict *v)
{
	const struct scenario_quantity *q = &r->scenario->expects.v[v->expect].what;
	const struct run_cell *c = result_cell(r, q->measure, q->path);
	double ns = 0;

	if (!c)
		return 0;
	VEC_FOREACH (run, &c->runs)
		ns += (double)run->fidelity.elapsed_ns;
	return ns / 1e9;
}

static void print_case(const struct run_result *r, const struct run_verdict *v, struct strbuf *out)
{
	strbuf_add(out, "    <testcase");
	attribute(out, "name", r->scenario->expects.v[v->expect].text);
	attribute(out, "classname", r->scenario->name);
	strbuf_addf(out, " time=\"%.3f\">\n", seconds_of(r, v));
	print_outcome(v, out);
	strbuf_add(out, "    </testcase>\n");
}

static void print_error(const struct run_result *r, const char *name, const char *message,
			struct strbuf *out)
{
	strbuf_add(out, "    <testcase");
	attribute(out, "name", name);
	attribute(out, "classname", r->scenario->name);
	strbuf_add(out, " time=\"0.000\">\n      <error");
	attribute(out, "message", message);
	strbuf_add(out, "/>\n    </testcase>\n");
}

/* Measurements without figures, and what went wrong around them. */
static size_t print_errors(const struct run_result *r, struct strbuf *out)
{
	size_t n = 0;

	VEC_FOREACH (c, &r->cells) {
		const char *error = r->interrupted ? NULL : result_error(r, c);
		autofree char *name =
		    mem_printf("%s of %s is measured", r->scenario->measures.v[c->measure].name,
			       r->scenario->paths.v[c->path].name);

		if (!error)
			continue;
		print_error(r, name, error, out);
		n++;
	}
	if (r->error)
		print_error(r, "the run ends in order", r->error, out);
	return n + (r->error != NULL);
}

/* The links of the lab are a test case too: all that they should be. */
static void print_proofs(const struct run_result *r, struct strbuf *out)
{
	enum verdict v = proofs_overall(&r->proofs);
	autostr struct strbuf text = {0};

	strbuf_add(out, "    <testcase name=\"links are what they say\"");
	attribute(out, "classname", r->scenario->name);
	strbuf_addf(out, " time=\"%.3f\">\n", (double)r->proofs.took_ns / 1e9);
	proofs_line(&r->proofs, &text);
	VEC_FOREACH (p, &r->proofs.list) {
		if (p->verdict != v || v == VERDICT_PASS)
			continue;
		strbuf_add(&text, "\n");
		proofs_describe(p, &text);
	}
	if (v == VERDICT_PASS)
		strbuf_add(out, "      <system-out>");
	else
		strbuf_addf(out, "      <%s", v == VERDICT_FAIL ? "failure" : "skipped");
	if (v == VERDICT_PASS)
		junit_escape(out, strbuf_text(&text));
	else
		attribute(out, "message", strbuf_text(&text));
	strbuf_add(out, v == VERDICT_PASS ? "</system-out>\n" : "/>\n");
	strbuf_add(out, "    </testcase>\n");
}

static bool has_proofs(const struct run_result *r)
{
	return r->proven && r->proofs.list.n;
}

static void print_totals(const struct run_result *r, size_t errors, struct strbuf *out)
{
	size_t failures = 0, skipped = 0;

	VEC_FOREACH (v, &r->verdicts) {
		failures += v->verdict == VERDICT_FAIL;
		skipped += v->verdict == VERDICT_INCONCLUSIVE || v->verdict == VERDICT_SKIP;
	}
	failures += has_proofs(r) && proofs_overall(&r->proofs) == VERDICT_FAIL;
	skipped += has_proofs(r) && proofs_overall(&r->proofs) == VERDICT_INCONCLUSIVE;
	strbuf_addf(out,
		    " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\" time=\"%.3f\"",
		    r->verdicts.n + has_proofs(r) + errors, failures, errors, skipped,
		    (double)r->total_ns / 1e9);
}

void junit_print(const struct run_result *r, struct strbuf *out)
{
	char when[32];
	time_t t = (time_t)r->started_s;
	struct tm tm;
	autostr struct strbuf errors = {0};
	size_t n_errors = print_errors(r, &errors);

	gmtime_r(&t, &tm);
	strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%S", &tm);
	strbuf_add(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites");
	print_totals(r, n_errors, out);
	strbuf_add(out, ">\n  <testsuite");
	attribute(out, "name", r->scenario->name);
	print_totals(r, n_errors, out);
	attribute(out, "timestamp", when);
	strbuf_add(out, ">\n");
	if (has_proofs(r))
		print_proofs(r, out);
	VEC_FOREACH (v, &r->verdicts)
		print_case(r, v, out);
	strbuf_add(out, strbuf_text(&errors));
	strbuf_add(out, "  </testsuite>\n</testsuites>\n");
}
