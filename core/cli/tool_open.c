/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tool_open: finds and reads adapters. Called by cmd_tool.c and cmd_verify.c. */
#include "core/cli/tool_open.h"

#include <stdio.h>

#include "core/base/file.h"
#include "core/cli/command.h"
#include "core/cli/data.h"
#include "core/engine/engine.h"
#include "core/harness/judge.h"

/* Tests are called as ours are, so that a trial finds what it asks for; ping is none of ours. */
static void check_tests(const struct adapter *a, struct problems *p)
{
	VEC_FOREACH (t, &a->tests) {
		enum engine_test test;
		struct err err = ERR_INIT;

		if (!str_eq(t->name, "ping") && engine_test_parse(t->name, &test, &err))
			problems_add(p, t->at, "%s", err.text);
	}
}

static void check_faults(const struct adapter *a, struct problems *p)
{
	VEC_FOREACH (f, &a->faults) {
		enum fault_kind kind;
		struct err err = ERR_INIT;

		if (f->kind && fault_parse(f->kind, &kind, &err))
			problems_add(p, f->at, "%s", err.text);
	}
}

int tool_open(const char *name, struct adapter **out, struct err *err)
{
	autofree char *path = NULL, *text = NULL;
	autostr struct strbuf all = {0};
	struct problems p;
	size_t len;
	int r = data_find(DATA_TOOLS, name, &path, err);

	if (!r)
		r = file_read(path, &text, &len, err);
	if (r)
		return r;
	problems_init(&p);
	*out = adapter_parse(path, text, len, &p);
	check_tests(*out, &p);
	check_faults(*out, &p);
	if (problems_count(&p)) {
		problems_print(&p, &all);
		fputs(strbuf_text(&all), stderr);
		adapter_free(*out);
		*out = NULL;
		r = EXIT_USAGE;
	}
	problems_done(&p);
	return r;
}
