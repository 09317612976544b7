/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * script_amount: sizes, times and counts of a script, constant or random, variables, the draws from
 * them, and where in the JSON a mistake is. Called by script.c; script_draw() by the engine.
 */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/base/str.h"
#include "core/base/units.h"
#include "core/engine/script_read.h"

int script_fail(struct script_reader *r, const char *at, const char *fmt, ...)
{
	char text[600];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	snprintf(r->where->pointer, sizeof(r->where->pointer), "%s", at);
	return err_input(r->err, "%s", text);
}

int script_failed(struct script_reader *r, const char *at, const char *what)
{
	snprintf(r->where->pointer, sizeof(r->where->pointer), "%s", at);
	return what ? err_wrap(r->err, "%s", what) : -r->err->code;
}

int script_unknown(struct script_reader *r, const char *at, const char *what, const char *name,
		   const char *const *names, size_t n)
{
	const char *near = str_suggest(name, names, n);
	if (near)
		return script_fail(r, at, "unknown %s '%s'; did you mean '%s'?", what, name, near);
	autostr struct strbuf all = {0};
	for (size_t i = 0; i < n; i++)
		strbuf_addf(&all, "%s%s", i ? ", " : "", names[i]);
	return script_fail(r, at, "unknown %s '%s'; there are %s", what, name, strbuf_text(&all));
}

int script_check_keys(struct script_reader *r, const char *at, const json_t *map,
		      const char *const *names, size_t n)
{
	const char *key;
	json_t *value;
	json_object_foreach((json_t *)map, key, value)
	{
		bool known = false;
		for (size_t i = 0; i < n; i++)
			known |= str_eq(key, names[i]);
		if (known)
			continue;
		char place[SCRIPT_PLACE];
		snprintf(place, sizeof(place), "%.*s/%.40s", SCRIPT_PLACE - 48, at, key);
		r->where->key = true;
		return script_unknown(r, place, "key", key, names, n);
	}
	return 0;
}

const json_t *script_key(struct script_reader *r, const char *at, const json_t *map,
			 const char *key, char place[static SCRIPT_PLACE])
{
	(void)r;
	snprintf(place, SCRIPT_PLACE, "%.*s/%.40s", SCRIPT_PLACE - 48, at, key);
	return json_object_get(map, key);
}

bool script_text(const json_t *j, char *text, size_t size)
{
	if (json_is_string(j))
		snprintf(text, size, "%s", json_string_value(j));
	else if (json_is_integer(j))
		snprintf(text, size, "%lld", (long long)json_integer_value(j));
	else if (json_is_real(j))
		snprintf(text, size, "%.15g", json_real_value(j));
	else
		return false;
	return true;
}

const json_t *script_resolve(struct script_reader *r, const json_t *j)
{
	const char *name = json_string_value(j);
	for (int i = 0; name && i < 2; i++) {
		const json_t *value = json_object_get(r->variables[i], name);
		if (value)
			return value;
	}
	return j;
}

static bool is_random_name(const char *name)
{
	return str_eq(name, "uniform") || str_eq(name, "normal") || str_eq(name, "poisson") ||
	       str_eq(name, "exponential");
}

bool script_is_random(const json_t *j)
{
	return json_object_size(j) == 1 &&
	       is_random_name(json_object_iter_key(json_object_iter((json_t *)j)));
}

static int no_variable(struct script_reader *r, const char *at, const char *name)
{
	const char *names[64], *key;
	size_t n = 0;
	json_t *value;
	for (int i = 0; i < 2; i++)
		json_object_foreach((json_t *)r->variables[i], key, value)
		{
			if (n < ARRAY_SIZE(names))
				names[n++] = key;
		}
	const char *near = str_suggest(name, names, n);
	if (near)
		return script_fail(r, at, "no variable '%s'; did you mean '%s'?", name, near);
	return script_fail(r, at, "no variable '%s'", name);
}

static int one_number(struct script_reader *r, const char *at, const json_t *j,
		      const struct script_range *range, double *v)
{
	char text[64];
	int64_t whole = 0;
	if (!script_text(j, text, sizeof(text)))
		return script_fail(r, at,
				   "must be a number with its unit, a variable's name, or "
				   "one of uniform, normal, poisson and exponential");
	if (isalpha((unsigned char)text[0]))
		return no_variable(r, at, text);
	int ret = range->unit == SCRIPT_SIZE ? units_parse_size(text, &whole, r->err)
		  : range->unit == SCRIPT_TIME
		      ? units_parse_time(text, &whole, r->err)
		      : units_parse_int(text, 0, INT64_C(1) << 50, &whole, r->err);
	if (ret)
		return script_failed(r, at, NULL);
	*v = (double)whole;
	return 0;
}

static int random_amount(struct script_reader *r, const char *at, const json_t *j,
			 const struct script_range *range, struct script_amount *out)
{
	static const char *const names[] = {"uniform", "normal", "poisson", "exponential"};
	const char *name = json_object_iter_key(json_object_iter((json_t *)j));
	if (!name || json_object_size(j) != 1 || !is_random_name(name))
		return script_unknown(r, at, "distribution", name ? name : "", names,
				      ARRAY_SIZE(names));
	if (range->constant)
		return script_fail(r, at, "this must be constant");
	if (distribution_kind_parse(name, &out->d.kind, r->err))
		return script_failed(r, at, NULL);
	const json_t *value = json_object_get(j, name);
	bool two = str_eq(name, "uniform") || str_eq(name, "normal");
	if (two && json_array_size(value) != 2)
		return script_fail(r, at, "%s: must be two numbers, like [%s]", name,
				   str_eq(name, "uniform") ? "least, most" : "mean, deviation");
	int ret = one_number(r, at, two ? json_array_get(value, 0) : value, range, &out->d.a);
	if (!ret && two)
		ret = one_number(r, at, json_array_get(value, 1), range, &out->d.b);
	/* Whole nanoseconds by Poisson would hardly differ: milliseconds do. */
	if (out->d.kind == DISTRIBUTION_POISSON && range->unit == SCRIPT_TIME) {
		out->scale = (double)NSEC_PER_MSEC;
		out->d.a /= out->scale;
	}
	if (!ret && distribution_check(&out->d, r->err))
		return script_failed(r, at, name);
	return ret;
}

int script_amount(struct script_reader *r, const char *at, const json_t *j,
		  const struct script_range *range, struct script_amount *out)
{
	*out = (struct script_amount){.scale = 1, .min = range->min, .max = range->max};
	const json_t *value = script_resolve(r, j);
	if (json_is_object(value))
		return random_amount(r, at, value, range, out);
	int ret = one_number(r, at, value, range, &out->d.a);
	if (ret)
		return ret;
	if (out->d.a < (double)range->min || out->d.a > (double)range->max)
		return script_fail(r, at, "%.0f is not within %lld to %lld%s", out->d.a,
				   (long long)range->min, (long long)range->max,
				   range->unit == SCRIPT_TIME ? " ns" : "");
	return 0;
}

/* splitmix64's last step (Steele, Lea, Flood 2014): all bits of x reach all of the result. */
static uint64_t mixed(uint64_t x)
{
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

int64_t script_draw(const struct script_amount *a, int64_t seed, uint32_t pair, uint64_t n)
{
	double v = a->d.a;
	if (script_random(a)) {
		struct distribution_source source;
		uint64_t part = mixed((uint64_t)seed + UINT64_C(0x9e3779b97f4a7c15) * (pair + 1));
		distribution_seed(&source, mixed(part + UINT64_C(0x9e3779b97f4a7c15) * (n + 1)));
		v = distribution_draw(&a->d, &source);
	}
	v = round(v * a->scale);
	return v < (double)a->min ? a->min : v > (double)a->max ? a->max : (int64_t)v;
}
