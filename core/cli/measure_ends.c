// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * measure_ends: takes lists of ends apart and pairs them. Whether an end exists is not asked here.
 *
 * Called by cmd_measure.c.
 */
#include "core/cli/measure_ends.h"

#include <string.h>

#include "core/base/str.h"
#include "core/harness/remote.h"

struct list {
	VEC(const char *) v;
};

static int split(struct arena *arena, const char *text, const char *which, struct list *out,
		 struct err *err)
{
	for (const char *item = text;; item++) {
		size_t n = strcspn(item, ",");

		if (!n)
			return err_input(err, "%s: '%s': an end between two commas is empty", which,
					 text);
		*VEC_ADD(arena, &out->v) = arena_strndup(arena, item, n);
		item += n;
		if (!*item)
			return 0;
	}
}

/* Some are real machines: then all are. */
static int check_kind(const struct list *from, const struct list *to, struct measure_ends *out,
		      struct err *err)
{
	const struct list *lists[] = {from, to};
	const char *other = NULL, *far = NULL;
	bool named = false;

	for (int i = 0; i < 2; i++) {
		VEC_FOREACH (end, &lists[i]->v) {
			named = named || strstr(*end, "://");
			if (remote_is(*end))
				far = *end;
			else
				other = *end;
		}
	}
	out->remote = named || !other;
	if (out->remote && other)
		return err_input(err,
				 "'%s' is a real machine and '%s' is not: an end of a lab is "
				 "measured with ends of the same lab only",
				 far, other);
	return 0;
}

static int pair_up(const struct list *from, const struct list *to, struct measure_ends *out,
		   struct err *err)
{
	size_t n = from->v.n > to->v.n ? from->v.n : to->v.n;

	if (from->v.n != to->v.n && from->v.n != 1 && to->v.n != 1)
		return err_input(err,
				 "%zu sources and %zu destinations make no pairs: name as many of "
				 "both, or one of either",
				 from->v.n, to->v.n);
	VEC_FOREACH (end, &to->v)
		out->zones = out->zones || (!out->remote && strchr(*end, '%'));
	for (size_t i = 0; i < n; i++)
		*VEC_ADD(&out->arena, &out->pairs) = (struct measure_pair){
		    from->v.v[from->v.n == 1 ? 0 : i], to->v.v[to->v.n == 1 ? 0 : i]};
	return 0;
}

int measure_ends_parse(const char *sources, const char *destinations, struct measure_ends *out,
		       struct err *err)
{
	struct list from = {0}, to = {0};
	const char *colon = strchr(sources, ':');

	*out = (struct measure_ends){0};
	arena_init(&out->arena);
	if (colon && !str_starts(colon, "://") && !str_starts(sources, "local,")) {
		out->lab = arena_strndup(&out->arena, sources, (size_t)(colon - sources));
		sources = colon + 1;
	}
	int r = split(&out->arena, sources, "SRC", &from, err);
	if (!r)
		r = split(&out->arena, destinations, "DST", &to, err);
	if (!r && !out->lab)
		r = check_kind(&from, &to, out, err);
	return r ? r : pair_up(&from, &to, out, err);
}

void measure_ends_done(struct measure_ends *e)
{
	arena_done(&e->arena);
}
