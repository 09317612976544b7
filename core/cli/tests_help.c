// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * tests_help: all tests with a line each, their other names, and the figures that expectations may
 * name. Called by cmd_help.c.
 */
#include "core/cli/tests_help.h"

#include "core/cli/columns.h"
#include "core/engine/engine.h"
#include "core/harness/metric.h"
#include "core/report/text.h"

static void add_list(struct strbuf *out, const char *label, const struct strbuf *list)
{
	if (!list->len)
		return;
	strbuf_addf(out, "      %s: ", label);
	text_wrap(out, strbuf_text(list), 8 + text_width(label), 8);
	strbuf_addc(out, '\n');
}

static void add_test(enum engine_test test, struct strbuf *out)
{
	autostr struct strbuf names = {0}, metrics = {0};
	const struct metric *m;

	strbuf_addf(out, "  %-14s %s\n", engine_test_name(test), engine_test_summary(test));
	for (const char *const *a = engine_test_aliases(test); *a; a++)
		strbuf_addf(&names, "%s%s", names.len ? ", " : "", *a);
	for (size_t i = 0; (m = metric_at(i)); i++)
		if (m->tests & METRIC_TEST(test))
			strbuf_addf(&metrics, "%s%s", metrics.len ? ", " : "", m->name);
	add_list(out, "also", &names);
	add_list(out, "figures", &metrics);
}

void tests_help(struct strbuf *out)
{
	strbuf_add(
	    out, "The tests of vpclab measure, vpclab engine and of scenarios. Names are\n"
		 "netperf's where it has one; case does not matter. `also` are other names,\n"
		 "`figures` what an expectation of a scenario may name, the usual one first.\n\n");
	for (int i = 0; i < ENGINE_TESTS; i++)
		add_test((enum engine_test)i, out);
	strbuf_add(out,
		   "\nvpclab measure --help lists the options, vpclab help scenario the keys.\n");
}
