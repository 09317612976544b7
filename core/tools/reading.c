/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reading: takes figures out of outputs: by a path into JSON, or by the matches of a regular
 * expression. Judges nothing. Called by the harness and by `vpclab tool try`.
 */
#include "core/tools/reading.h"

#include <ctype.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/str.h"
#include "core/tools/pattern.h"

struct found { /* all values of one read, in order, in our unit */
	VEC(double) values;
	const char *raw; /* of the last one */
	const char *why;
};

static void take(struct readings *out, struct found *f, double value, const char *raw)
{
	*VEC_ADD(&out->arena, &f->values) = value;
	f->raw = arena_strdup(&out->arena, raw);
}

/* ---- text ---- */

/* "1,234.5" is 1234.5; a decimal comma is not. */
static bool number_of(const char *text, double *v)
{
	autostr struct strbuf plain = {0};
	char *end;

	for (; *text; text++)
		if (*text != ',')
			strbuf_addc(&plain, *text);
	if (!plain.len)
		return false;
	*v = strtod(strbuf_text(&plain), &end);
	return !*end || isspace((unsigned char)*end);
}

static void take_match(struct readings *out, const struct tool_read *r, const struct pattern *p,
		       struct found *f)
{
	autostr struct strbuf value = {0}, unit = {0};
	struct err err = ERR_INIT;
	double v, factor = 1;

	if (!pattern_get(p, "value", &value) || !number_of(strbuf_text(&value), &v)) {
		f->why = arena_printf(&out->arena, "'%s' is not a number", strbuf_text(&value));
		return;
	}
	if (!pattern_get(p, "unit", &unit))
		strbuf_add(&unit, r->unit ? r->unit : "count");
	if (figure_unit(strbuf_text(&unit), figure_dimension(r->figure), &factor, &err)) {
		f->why = arena_strdup(&out->arena, err.text);
		return;
	}
	strbuf_addf(&value, " %s", strbuf_text(&unit));
	take(out, f, v * factor * r->factor, strbuf_text(&value));
}

static void by_match(struct readings *out, const struct tool_read *r, const char *text,
		     struct found *f)
{
	struct err err = ERR_INIT;
	struct pattern *p;
	size_t at = 0, len = strlen(text);

	if (pattern_new(r->match, &p, &err)) {
		f->why = arena_strdup(&out->arena, err.text);
		return;
	}
	while (pattern_next(p, text, len, &at))
		take_match(out, r, p, f);
	pattern_free(p);
	if (!f->values.n && !f->why)
		f->why = "nothing in it matches";
}

/* ---- JSON ---- */

static void by_path(struct readings *out, const struct tool_read *r, const json_t *j,
		    const char *path, struct found *f);

/* "[0]" or "[*]", then the rest. */
static void by_index(struct readings *out, const struct tool_read *r, const json_t *j,
		     const char *path, struct found *f)
{
	char *end;
	size_t i;
	const json_t *item;

	if (path[1] == '*') {
		json_array_foreach((json_t *)j, i, item) by_path(out, r, item, path + 3, f);
		return;
	}
	i = strtoul(path + 1, &end, 10);
	by_path(out, r, json_array_get(j, i), *end ? end + 1 : end, f);
}

static void by_value(struct readings *out, const struct tool_read *r, const json_t *j,
		     struct found *f)
{
	struct err err = ERR_INIT;
	char raw[64];
	double factor = 1, v;

	if (json_is_string(j) && number_of(json_string_value(j), &v))
		snprintf(raw, sizeof(raw), "\"%.40s\" %s", json_string_value(j), r->unit);
	else if (json_is_number(j))
		snprintf(raw, sizeof(raw), "%.12g %s", v = json_number_value(j), r->unit);
	else
		return;
	if (figure_unit(r->unit, figure_dimension(r->figure), &factor, &err))
		f->why = arena_strdup(&out->arena, err.text);
	else
		take(out, f, v * factor * r->factor, raw);
}

static void by_path(struct readings *out, const struct tool_read *r, const json_t *j,
		    const char *path, struct found *f)
{
	if (*path == '.')
		path++;
	if (!j)
		return;
	if (!*path) {
		by_value(out, r, j, f);
		return;
	}
	if (*path == '[') {
		by_index(out, r, j, path, f);
		return;
	}
	size_t len = strcspn(path, ".[");
	autofree char *key = mem_printf("%.*s", (int)len, path);
	by_path(out, r, json_object_get(j, key), path + len, f);
}

static void from_json(struct readings *out, const struct tool_read *r, const char *text,
		      struct found *f)
{
	json_error_t why;
	json_t *j = json_loads(text, JSON_DISABLE_EOF_CHECK, &why);

	if (!j) {
		out->json_broken = true;
		f->why =
		    arena_printf(&out->arena, "it is no JSON: line %d: %s", why.line, why.text);
		return;
	}
	by_path(out, r, j, r->path, f);
	json_decref(j);
	if (!f->values.n && !f->why)
		f->why = arena_printf(&out->arena, "there is no number at '%s'", r->path);
}

/* ---- all ---- */

static double pick(const struct tool_read *r, const struct found *f)
{
	double sum = 0, least = f->values.v[0], most = least;

	VEC_FOREACH (v, &f->values) {
		sum += *v;
		least = fmin(least, *v);
		most = fmax(most, *v);
	}
	switch (r->pick) {
	case PICK_FIRST:
		return f->values.v[0];
	case PICK_SUM:
		return sum;
	case PICK_MEAN:
		return sum / (double)f->values.n;
	case PICK_MIN:
		return least;
	case PICK_MAX:
		return most;
	default:
		return f->values.v[f->values.n - 1];
	}
}

static void read_one(const struct tool_read *r, const struct tool_output *o, struct readings *out)
{
	struct reading *reading = VEC_ADD(&out->arena, &out->list);
	struct found f = {0};

	if (r->path)
		from_json(out, r, o->text[r->from], &f);
	else
		by_match(out, r, o->text[r->from], &f);
	*reading = (struct reading){.read = r, .why = f.why, .value = NAN};
	if (!f.values.n && !isnan(r->absent) && !out->json_broken)
		take(out, &f, r->absent, "not mentioned");
	if (!f.values.n)
		return;
	reading->found = true;
	reading->why = NULL;
	reading->value = pick(r, &f);
	reading->raw = f.raw;
	if (r->series)
		VEC_FOREACH (v, &f.values)
			*VEC_ADD(&out->arena, &reading->series) = *v;
}

static void add_warnings(const char *expression, const char *text, struct readings *out)
{
	struct err ignored = ERR_INIT; /* the adapter was checked */
	size_t at = 0, len = strlen(text);
	struct pattern *p;

	if (pattern_new(expression, &p, &ignored))
		return;
	while (pattern_next(p, text, len, &at)) {
		const char *begin = text + (at > len ? len : at), *end;

		while (begin > text && begin[-1] == '\n')
			begin--;
		end = begin;
		while (begin > text && begin[-1] != '\n')
			begin--;
		end += strcspn(end, "\n");
		*VEC_ADD(&out->arena, &out->warnings) =
		    arena_printf(&out->arena, "%.*s", (int)(end - begin), begin);
	}
	pattern_free(p);
}

void readings_of(const struct tool_test *t, const struct tool_output *o, struct readings *out)
{
	*out = (struct readings){0};
	arena_init(&out->arena);
	VEC_FOREACH (r, &t->reads)
		read_one(r, o, out);
	VEC_FOREACH (w, &t->warnings)
		for (int from = 0; from < 4; from++)
			add_warnings(*w, o->text[from], out);
}

void readings_done(struct readings *r)
{
	arena_done(&r->arena);
	*r = (struct readings){0};
}

const struct reading *readings_headline(const struct readings *r, enum figure f)
{
	VEC_FOREACH (reading, &r->list)
		if (reading->read->figure == f && reading->read->headline)
			return reading;
	return NULL;
}

bool readings_claims_success(const struct tool_test *t, const struct tool_output *o)
{
	VEC_FOREACH (e, &t->exits)
		if (e->status == o->status[0])
			return e->ok;
	return o->status[0] == 0;
}
