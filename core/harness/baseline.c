/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * baseline: faults that are known and accepted, one a line: tool, trial, what about, kind; what
 * follows a # is a remark. A fault is new when its line is not there. Called by `vpclab verify`.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/file.h"
#include "core/base/mem.h"
#include "core/base/str.h"
#include "core/harness/verify.h"

struct baseline {
	struct arena arena;
	VEC(const char *) lines;
};

static char *line_of(const struct trial_result *r, const struct answer *a)
{
	char *line = mem_printf("%s\t%s\t%s\t%s", r->tool, r->trial, a->about, fault_name(a->kind));

	for (char *c = line; *c; c++)
		if (*c == '\n' || *c == '#')
			*c = ' ';
	return line;
}

/* Tool, trial, what about, and a kind that there is: another line would accept nothing, unsaid. */
static int check_line(const char *line, struct err *err)
{
	const char *at = line;
	enum fault_kind kind;

	for (int i = 0; i < 3; i++) {
		size_t len = strcspn(at, "\t");

		if (!len || !at[len])
			return err_input(err,
					 "'%.100s' is no line of a baseline: tool, trial, what "
					 "about and kind, with tabs between them",
					 line);
		at += len + 1;
	}
	return fault_parse(at, &kind, err);
}

static int read_lines(struct baseline *b, const char *text, struct err *err)
{
	int number = 0;

	for (const char *line = text; *line;) {
		size_t n = strcspn(line, "\n"), used = strcspn(line, "#\n");

		number++;
		while (used && strchr(" \t\r", line[used - 1]))
			used--;
		if (used) {
			const char *kept = arena_printf(&b->arena, "%.*s", (int)used, line);

			*VEC_ADD(&b->arena, &b->lines) = kept;
			if (check_line(kept, err))
				return err_wrap(err, "line %d", number);
		}
		line += n + (line[n] == '\n');
	}
	return 0;
}

int baseline_read(const char *path, struct baseline **out, struct err *err)
{
	struct baseline *b = mem_zalloc(sizeof(*b));
	autofree char *text = NULL;
	size_t len;
	int r = file_read(path, &text, &len, err);

	arena_init(&b->arena);
	*out = b;
	if (r == -ENOENT) {
		*err = ERR_INIT;
		return 0;
	}
	if (r)
		return r;
	if (str_bad_byte(text, len) < len)
		return err_input(err, "%s: is no text", path);
	r = read_lines(b, text, err);
	return r ? err_wrap(err, "%s", path) : 0;
}

int baseline_write(const char *path, const struct trial_result *results, size_t n, struct err *err)
{
	autostr struct strbuf text = {0};

	strbuf_add(&text, "# Faults that are known and accepted: tool, trial, what about, kind.\n"
			  "# Written by vpclab verify --update-baseline.\n");
	for (size_t i = 0; i < n; i++)
		VEC_FOREACH (a, &results[i].judged.answers) {
			if (!judgement_is_fault(a->judgement))
				continue;
			autofree char *line = line_of(&results[i], a);

			strbuf_addf(&text, "%s\t# %s %s\n", line, results[i].tool,
				    results[i].version);
		}
	return file_write(path, strbuf_text(&text), text.len, err);
}

bool baseline_has(const struct baseline *b, const struct trial_result *r, const struct answer *a)
{
	autofree char *line = line_of(r, a);

	if (!judgement_is_fault(a->judgement))
		return true;
	for (size_t i = 0; b && i < b->lines.n; i++)
		if (str_eq(b->lines.v[i], line))
			return true;
	return false;
}

void baseline_free(struct baseline *b)
{
	if (!b)
		return;
	arena_done(&b->arena);
	free(b);
}
