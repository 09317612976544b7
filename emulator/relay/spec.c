/* SPDX-License-Identifier: GPL-2.0-or-later */
/* spec: a relay's specification as JSON and back, by one table. Pure. */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "core/base/str.h"
#include "emulator/relay/relay.h"

#define PPM 1000000

enum field_kind { FIELD_I64, FIELD_SEED, FIELD_PPM, FIELD_BOOL, FIELD_JITTER, FIELD_LOSS };

static const struct field {
	const char *name;
	enum field_kind kind;
	size_t offset;
} fields[] = {
#define F(name, kind)                                                                              \
	{                                                                                          \
#name, kind, offsetof(struct wire_impair, name)                                    \
	}
    F(given, FIELD_BOOL),
    F(delay_ns, FIELD_I64),
    F(jitter_ns, FIELD_I64),
    F(jitter, FIELD_JITTER),
    F(jitter_correlation_ppm, FIELD_PPM),
    F(loss, FIELD_LOSS),
    F(loss_ppm, FIELD_PPM),
    F(loss_correlation_ppm, FIELD_PPM),
    F(loss_every, FIELD_I64),
    F(loss_after, FIELD_I64),
    F(to_bad_ppm, FIELD_PPM),
    F(to_good_ppm, FIELD_PPM),
    F(bad_loss_ppm, FIELD_PPM),
    F(good_loss_ppm, FIELD_PPM),
    F(duplication_ppm, FIELD_PPM),
    F(reordering_ppm, FIELD_PPM),
    F(corruption_ppm, FIELD_PPM),
    F(flap_up_ns, FIELD_I64),
    F(flap_down_ns, FIELD_I64),
    F(black_hole, FIELD_I64),
    F(seed, FIELD_SEED),
#undef F
};

static const char *const jitter_words[] = {
    [JITTER_NORMAL] = "normal", [JITTER_UNIFORM] = "uniform", [JITTER_PARETO] = "pareto", NULL};
static const char *const loss_words[] = {
    [LOSS_NONE] = "none",     [LOSS_RANDOM] = "random", [LOSS_EVERY] = "every",
    [LOSS_BURSTS] = "bursts", [LOSS_AFTER] = "after",	NULL};

static int64_t field_get(const struct wire_impair *i, const struct field *f)
{
	const void *p = (const char *)i + f->offset;

	switch (f->kind) {
	case FIELD_I64:
		return *(const int64_t *)p;
	case FIELD_SEED:
		return (int64_t) * (const uint64_t *)p;
	case FIELD_PPM:
		return *(const int *)p;
	case FIELD_BOOL:
		return *(const bool *)p;
	case FIELD_JITTER:
		return *(const enum wire_jitter *)p;
	case FIELD_LOSS:
		return *(const enum wire_loss *)p;
	}
	return 0;
}

static void field_set(struct wire_impair *i, const struct field *f, int64_t v)
{
	void *p = (char *)i + f->offset;

	switch (f->kind) {
	case FIELD_I64:
		*(int64_t *)p = v;
		break;
	case FIELD_SEED:
		*(uint64_t *)p = (uint64_t)v;
		break;
	case FIELD_PPM:
		*(int *)p = (int)v;
		break;
	case FIELD_BOOL:
		*(bool *)p = v;
		break;
	case FIELD_JITTER:
		*(enum wire_jitter *)p = (enum wire_jitter)v;
		break;
	case FIELD_LOSS:
		*(enum wire_loss *)p = (enum wire_loss)v;
		break;
	}
}

static const char *const *words_of(enum field_kind kind)
{
	return kind == FIELD_JITTER ? jitter_words : kind == FIELD_LOSS ? loss_words : NULL;
}

bool relay_impair_equal(const struct wire_impair *a, const struct wire_impair *b)
{
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		if (field_get(a, &fields[i]) != field_get(b, &fields[i]))
			return false;
	return a->trace_n == b->trace_n &&
	       (!a->trace_n ||
		memcmp(a->trace_ms, b->trace_ms, a->trace_n * sizeof(*a->trace_ms)) == 0);
}

static json_t *field_json(const struct field *f, int64_t v)
{
	if (f->kind == FIELD_BOOL)
		return json_boolean(v);
	if (words_of(f->kind))
		return json_string(words_of(f->kind)[v]);
	return json_integer(v);
}

json_t *relay_impair_json(const struct wire_impair *i)
{
	json_t *j = json_object(), *trace;

	for (size_t k = 0; k < ARRAY_SIZE(fields); k++) {
		int64_t v = field_get(i, &fields[k]);

		if (v)
			json_object_set_new(j, fields[k].name, field_json(&fields[k], v));
	}
	if (!i->trace_n)
		return j;
	trace = json_array();
	for (size_t k = 0; k < i->trace_n; k++)
		json_array_append_new(trace, json_integer(i->trace_ms[k]));
	json_object_set_new(j, "trace_ms", trace);
	if (i->trace_file)
		json_object_set_new(j, "trace_file", json_string(i->trace_file));
	return j;
}

static int parse_word(const struct field *f, const json_t *v, int64_t *out, struct err *err)
{
	const char *const *words = words_of(f->kind);
	const char *text = json_string_value(v);

	for (int64_t k = 0; text && words[k]; k++) {
		if (str_eq(words[k], text)) {
			*out = k;
			return 0;
		}
	}
	return err_input(err, "'%s': '%s' is no word for it", f->name, text ? text : "?");
}

static int parse_field(const struct field *f, const json_t *v, struct wire_impair *out,
		       struct err *err)
{
	int64_t n = json_is_true(v) ? 1 : json_integer_value(v);
	bool right = f->kind == FIELD_BOOL ? json_is_boolean(v) : json_is_integer(v);
	int rc = 0;

	if (words_of(f->kind))
		rc = parse_word(f, v, &n, err);
	else if (!right || (n < 0 && f->kind != FIELD_SEED) || (f->kind == FIELD_PPM && n > PPM))
		rc = err_input(err, "'%s' is %s", f->name, right ? "out of range" : "no number");
	if (!rc)
		field_set(out, f, n);
	return rc;
}

static int parse_trace(const json_t *v, struct arena *arena, struct wire_impair *out,
		       struct err *err)
{
	size_t n = json_array_size(v);
	int64_t *ms = arena_alloc(arena, (n + 1) * sizeof(*ms));

	for (size_t k = 0; k < n; k++) {
		const json_t *item = json_array_get(v, k);

		ms[k] = json_integer_value(item);
		if (!json_is_integer(item) || ms[k] < (k ? ms[k - 1] : 0) ||
		    ms[k] > INT64_MAX / 4000000)
			return err_input(err, "'trace_ms': times must be whole and rising");
	}
	if (!n || !ms[n - 1])
		return err_input(err, "'trace_ms' needs a time after 0");
	out->trace_ms = ms;
	out->trace_n = n;
	return 0;
}

static const struct field *find_field(const char *name)
{
	for (size_t k = 0; k < ARRAY_SIZE(fields); k++)
		if (str_eq(fields[k].name, name))
			return &fields[k];
	return NULL;
}

int relay_impair_parse(const json_t *j, struct arena *arena, struct wire_impair *out,
		       struct err *err)
{
	struct wire_impair impair = {0};
	const char *key;
	json_t *v;

	if (!json_is_object(j))
		return err_input(err, "impairments must be an object");
	json_object_foreach((json_t *)j, key, v)
	{
		const struct field *f = find_field(key);
		int rc = 0;

		if (f)
			rc = parse_field(f, v, &impair, err);
		else if (str_eq(key, "trace_ms"))
			rc = parse_trace(v, arena, &impair, err);
		else if (str_eq(key, "trace_file"))
			impair.trace_file = arena_strdup(arena, json_string_value(v));
		else
			rc = err_input(err, "unknown key '%s' in impairments", key);
		if (rc)
			return rc;
	}
	*out = impair;
	return 0;
}

static json_t *direction_json(const struct relay_direction *d)
{
	return json_pack("{s:s, s:s, s:o}", "in", d->in, "out", d->out, "impair",
			 relay_impair_json(&d->impair));
}

json_t *relay_spec_json(const struct relay_spec *s)
{
	return json_pack("{s:s, s:I, s:I, s:o, s:o}", "name", s->name, "memory_bytes",
			 (json_int_t)s->memory_bytes, "fates_max", (json_int_t)s->fates_max, "ab",
			 direction_json(&s->dir[RELAY_AB]), "ba",
			 direction_json(&s->dir[RELAY_BA]));
}

static int parse_direction(const json_t *j, struct arena *arena, struct relay_direction *out,
			   struct err *err)
{
	const char *in, *to;
	json_t *impair = NULL;
	json_error_t why;

	if (json_unpack_ex((json_t *)j, &why, 0, "{s:s, s:s, s?o !}", "in", &in, "out", &to,
			   "impair", &impair))
		return err_input(err, "%s", why.text);
	*out =
	    (struct relay_direction){.in = arena_strdup(arena, in), .out = arena_strdup(arena, to)};
	return impair ? relay_impair_parse(impair, arena, &out->impair, err) : 0;
}

int relay_spec_parse(const json_t *j, struct arena *arena, struct relay_spec *out, struct err *err)
{
	json_int_t memory = 0, fates = 0;
	struct relay_spec spec = {0};
	json_t *ab, *ba;
	const char *name;
	json_error_t why;
	int rc;

	if (json_unpack_ex((json_t *)j, &why, 0, "{s:s, s?I, s?I, s:o, s:o !}", "name", &name,
			   "memory_bytes", &memory, "fates_max", &fates, "ab", &ab, "ba", &ba))
		return err_input(err, "a relay's specification: %s", why.text);
	if (memory < 0 || memory > INT64_C(1) << 40 || fates < 0 || fates > 1000000000)
		return err_input(err, "a relay's specification: memory or fates out of range");
	spec.name = arena_strdup(arena, name);
	spec.memory_bytes = memory;
	spec.fates_max = fates;
	rc = parse_direction(ab, arena, &spec.dir[RELAY_AB], err);
	if (!rc)
		rc = parse_direction(ba, arena, &spec.dir[RELAY_BA], err);
	if (rc)
		return err_wrap(err, "a relay's specification");
	*out = spec;
	return 0;
}

void relay_spec_of_link(const struct wire *w, const struct wire_link *l, struct relay_spec *out)
{
	const struct wire_dev *devs = w->devs.v;

	*out = (struct relay_spec){
	    .name = l->name,
	    .fates_max = RELAY_FATES_MAX,
	    .dir[RELAY_AB] = {devs[l->span[1]].name, devs[l->middle[1]].name, l->impair_ab},
	    .dir[RELAY_BA] = {devs[l->span[0]].name, devs[l->middle[0]].name, l->impair_ba},
	};
}
