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

#define VALUES_MAX   1000000 /* of one read: a tool that prints more has gone mad */
#define WARNINGS_MAX 100     /* lines of one expression; the rest says nothing new */
#define LINE_MAX     200     /* bytes of a stranger's line in a line of ours */

struct found { /* all values of one read, in order, in our unit */
	VEC(double) values;
	struct strbuf raw; /* of the last one */
	struct strbuf why; /* there is none */
	bool bad;	   /* what there is does not give the figure */
};

static void found_done(struct found *f)
{
	strbuf_done(&f->raw);
	strbuf_done(&f->why);
}

/* `quoted`: what a stranger wrote, or NULL. */
static void say_why(struct found *f, const char *quoted, const char *what)
{
	f->why.len = 0;
	if (quoted) {
		strbuf_addc(&f->why, '\'');
		str_add_line(&f->why, quoted, LINE_MAX);
		strbuf_add(&f->why, "' ");
	}
	str_add_line(&f->why, what, 2 * LINE_MAX);
}

static void spoil(struct found *f, const char *quoted, const char *what)
{
	say_why(f, quoted, what);
	f->bad = true;
}

/* A total that is no number must not be taken from an interval before it: of a `last` the last
 * match decides, of a `first` the first, of all else each. */
static void take(struct readings *out, const struct tool_read *r, struct found *f, double value,
		 const char *raw)
{
	if (f->bad && r->pick != PICK_LAST)
		return;
	if (!isfinite(value)) {
		spoil(f, raw, "is not a number");
		return;
	}
	*VEC_ADD(&out->arena, &f->values) = value;
	f->bad = false;
	f->raw.len = 0;
	str_add_line(&f->raw, raw, LINE_MAX);
}

/* ---- text ---- */

/* Is there a group of thousands at text: a comma, three digits, and no fourth? */
static bool is_thousand(const char *text)
{
	return text[0] == ',' && strspn(text + 1, "0123456789") == 3;
}

/*
 * A plain decimal number, blanks around it. "1,234.5" is 1234.5: groups of three, as English has
 * them. A decimal comma, and what strtod() takes besides (nan, inf, 0x10), are no figures.
 */
static bool number_of(const char *text, double *v)
{
	autostr struct strbuf plain = {0};
	const char *c = text + strspn(text, " \t\r\n");
	size_t digits, len = strlen(c);
	char *end;

	while (len && isspace((unsigned char)c[len - 1]))
		len--;
	if (!len || strspn(c, "+-.,0123456789eE") < len)
		return false;
	if (*c == '+' || *c == '-')
		strbuf_addc(&plain, *c++);
	digits = strspn(c, "0123456789");
	strbuf_addn(&plain, c, digits);
	c += digits;
	for (bool group = digits && digits <= 3; group && is_thousand(c); c += 4)
		strbuf_addn(&plain, c + 1, 3);
	while (*c && !isspace((unsigned char)*c))
		strbuf_addc(&plain, *c++);
	*v = strtod(strbuf_text(&plain), &end);
	return plain.len && !*end && isfinite(*v);
}

static void take_match(struct readings *out, const struct tool_read *r, const struct pattern *p,
		       struct found *f)
{
	autostr struct strbuf value = {0}, unit = {0};
	struct err err = ERR_INIT;
	double v, factor = 1;

	if (!pattern_get(p, "value", &value)) {
		say_why(f, NULL, "what matches has no value");
		return;
	}
	if (!number_of(strbuf_text(&value), &v)) {
		if (r->pick != PICK_FIRST || !f->values.n)
			spoil(f, strbuf_text(&value), "is not a number");
		return;
	}
	if (!pattern_get(p, "unit", &unit))
		strbuf_add(&unit, r->unit ? r->unit : "count");
	if (figure_unit(strbuf_text(&unit), figure_dimension(r->figure), &factor, &err)) {
		spoil(f, NULL, err.text);
		return;
	}
	strbuf_addf(&value, " %s", strbuf_text(&unit));
	take(out, r, f, v * factor * r->factor, strbuf_text(&value));
}

static void by_match(struct readings *out, const struct tool_read *r, const char *text,
		     struct found *f)
{
	struct err err = ERR_INIT;
	struct pattern *p;
	size_t at = 0, len = strlen(text), n = 0;

	if (pattern_new(r->match, &p, &err)) {
		spoil(f, NULL, err.text);
		return;
	}
	while (n++ < VALUES_MAX && pattern_next(p, text, len, &at))
		take_match(out, r, p, f);
	if (n > VALUES_MAX)
		spoil(f, NULL, "it is there over a million times");
	else if (pattern_gave_up(p))
		spoil(f, r->match, "tries too many ways to match it");
	pattern_free(p);
	if (!f->values.n && !f->why.len)
		say_why(f, NULL, "nothing in it matches");
}

/* ---- JSON ---- */

int reading_check_path(const char *path, struct err *err)
{
	const char *c = path;

	while (*c) {
		size_t digits = c[0] == '[' ? strspn(c + 1, "0123456789") : 0;
		size_t key = strcspn(c, ".[]");

		if (c[0] == '[' && c[1] == '*' && c[2] == ']')
			c += 3;
		else if (digits && digits < 10 && c[digits + 1] == ']')
			c += digits + 2;
		else if (key && (c == path || c[-1] == '.'))
			c += key;
		else
			break;
		if (c[0] == '.' && c[1] && c[1] != '[')
			c++;
		else if (*c && *c != '[')
			break;
	}
	return *c || c == path ? err_input(err,
					   "'%s' is no path, such as end.sum.seconds, "
					   "intervals[*].sum or streams[0].sender",
					   path)
			       : 0;
}

static void by_path(struct readings *out, const struct tool_read *r, const json_t *j,
		    const char *path, struct found *f);

/* "[0]" or "[*]", then the rest. */
static void by_index(struct readings *out, const struct tool_read *r, const json_t *j,
		     const char *path, struct found *f)
{
	const char *rest = strchr(path, ']') + 1; /* the adapter was checked */
	size_t i;
	const json_t *item;

	if (path[1] == '*')
		json_array_foreach((json_t *)j, i, item) by_path(out, r, item, rest, f);
	else
		by_path(out, r, json_array_get(j, strtoul(path + 1, NULL, 10)), rest, f);
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
		spoil(f, NULL, err.text);
	else
		take(out, r, f, v * factor * r->factor, raw);
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

/* Of each output once, however many figures are read from it. */
struct outputs {
	const struct tool_output *o;
	json_t *json[4];
	const char *no_json[4];
};

static const json_t *json_of(struct outputs *all, enum tool_source from, struct readings *out)
{
	json_error_t why;

	if (all->json[from] || all->no_json[from])
		return all->json[from];
	all->json[from] = json_loads(all->o->text[from], JSON_DISABLE_EOF_CHECK, &why);
	if (!all->json[from]) {
		all->no_json[from] =
		    arena_printf(&out->arena, "it is no JSON: line %d: %s", why.line, why.text);
		out->json_broken = true;
	}
	return all->json[from];
}

static void from_json(struct readings *out, const struct tool_read *r, struct outputs *all,
		      struct found *f)
{
	const json_t *j = json_of(all, r->from, out);

	if (!j) {
		spoil(f, NULL, all->no_json[r->from]);
		return;
	}
	by_path(out, r, j, r->path, f);
	if (!f->values.n && !f->why.len)
		strbuf_addf(&f->why, "there is no number at '%s'", r->path);
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

static void read_one(const struct tool_read *r, struct outputs *all, struct readings *out)
{
	struct reading *reading = VEC_ADD(&out->arena, &out->list);
	__attribute__((cleanup(found_done))) struct found f = {0};

	if (all->o->flooded & 1u << r->from) {
		spoil(&f, NULL, "it printed more than is read");
		out->json_broken = true;
	} else if (r->path)
		from_json(out, r, all, &f);
	else
		by_match(out, r, all->o->text[r->from], &f);
	if (!f.values.n && !f.bad && !isnan(r->absent))
		take(out, r, &f, r->absent, "not mentioned");
	*reading = (struct reading){
	    .read = r, .why = arena_strdup(&out->arena, strbuf_text(&f.why)), .value = NAN};
	if (!f.values.n || f.bad)
		return;
	reading->value = pick(r, &f);
	if (!isfinite(reading->value)) { /* a sum */
		reading->why = "its values together are too large";
		return;
	}
	reading->found = true;
	reading->why = NULL;
	reading->raw = arena_strdup(&out->arena, strbuf_text(&f.raw));
	if (r->series)
		VEC_FOREACH (v, &f.values)
			*VEC_ADD(&out->arena, &reading->series) = *v;
}

/* The line around a match, once however often it matches there. */
static void add_warnings(const char *expression, const char *text, struct readings *out)
{
	struct err ignored = ERR_INIT; /* the adapter was checked */
	size_t at = 0, len = strlen(text);
	struct pattern *p;

	if (pattern_new(expression, &p, &ignored))
		return;
	for (int n = 0; n < WARNINGS_MAX && pattern_next(p, text, len, &at); n++) {
		autostr struct strbuf line = {0};
		const char *begin = text + (at > len ? len : at);

		while (begin > text && begin[-1] == '\n')
			begin--;
		while (begin > text && begin[-1] != '\n')
			begin--;
		autofree char *whole = mem_printf("%.*s", (int)strcspn(begin, "\n"), begin);
		str_add_line(&line, whole, LINE_MAX);
		*VEC_ADD(&out->arena, &out->warnings) =
		    arena_strdup(&out->arena, strbuf_text(&line));
		size_t end = (size_t)(begin - text) + strlen(whole);
		at = end + 1 > at ? end + 1 : at;
	}
	pattern_free(p);
}

void readings_of(const struct tool_test *t, const struct tool_output *o, struct readings *out)
{
	struct outputs all = {.o = o};

	*out = (struct readings){0};
	arena_init(&out->arena);
	VEC_FOREACH (r, &t->reads)
		read_one(r, &all, out);
	VEC_FOREACH (w, &t->warnings)
		for (int from = 0; from < 4; from++)
			add_warnings(*w, o->text[from], out);
	for (int from = 0; from < 4; from++)
		json_decref(all.json[from]);
}

void readings_done(struct readings *r)
{
	arena_done(&r->arena);
	*r = (struct readings){0};
}

const struct reading *readings_headline(const struct readings *r, enum figure f)
{
	const struct reading *first = NULL;

	VEC_FOREACH (reading, &r->list) {
		if (reading->read->figure != f || !reading->read->headline)
			continue;
		if (reading->found)
			return reading;
		first = first ? first : reading;
	}
	return first;
}

double reading_half_digit(const struct reading *r)
{
	const char *digits = r->raw ?: "";
	double number = 0;
	int after = 0;

	digits += strcspn(digits, "0123456789");
	number = strtod(digits, NULL);
	if (number == 0 || !isfinite(r->value))
		return 0;
	digits += strspn(digits, "0123456789");
	if (*digits == '.')
		after = (int)strspn(digits + 1, "0123456789");
	return fabs(r->value) / number * pow(10, -after) / 2;
}

bool readings_claims_success(const struct tool_test *t, const struct tool_output *o)
{
	VEC_FOREACH (e, &t->exits)
		if (e->status == o->status[0])
			return e->ok;
	return o->status[0] == 0;
}
