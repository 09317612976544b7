// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sweep: from words to lists of values to specifications. What a value may be is engine_spec's
 * business: each is set in a specification and read back. Called by `vpclab measure --sweep`.
 */
#include "core/harness/sweep.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/units.h"
#include "core/harness/attempt.h"

static bool is_frame(const char *key)
{
	return str_eq(key, "frame");
}

/* With the unit in its name a key takes a number without one. */
static json_t *json_value(const char *key, const char *text)
{
	bool unit = str_ends(key, "_ns") || str_ends(key, "_bps") || str_ends(key, "_pps");
	int64_t v;
	struct err ignored = ERR_INIT;

	if (unit && !units_parse_int(text, 0, INT64_MAX, &v, &ignored))
		return json_integer(v);
	return str_eq(text, "true")    ? json_true()
	       : str_eq(text, "false") ? json_false()
				       : json_string(text);
}

/* What differs from the defaults of its test, as JSON. */
static json_t *own_choices(const struct engine_spec *s)
{
	struct engine_spec usual;
	const char *key;
	json_t *v;

	engine_spec_default(&usual, s->test);
	json_t *all = engine_spec_json(s), *defaults = engine_spec_json(&usual);
	json_t *own = json_object();
	json_object_foreach(all, key, v) if (!json_equal(v, json_object_get(defaults, key)))
	    json_object_set(own, key, v);
	json_decref(defaults);
	json_decref(all);
	return own;
}

/* Another test with all that was chosen for this one. */
static int set_test(struct engine_spec *s, const char *text, struct err *err)
{
	struct engine_spec other;
	enum engine_test test;

	if (engine_test_parse(text, &test, err))
		return err_wrap(err, "test");
	bool scripted = engine_test_traits(test).scripted;
	if (scripted || engine_test_traits(s->test).scripted)
		return err_input(err,
				 "test: %s does what its script says, which no other test does: "
				 "measure it by itself",
				 engine_test_name(scripted ? test : s->test));
	json_t *own = own_choices(s);
	json_object_set_new(own, "test", json_string(engine_test_name(test)));
	int r = engine_spec_parse(own, &other, err);
	json_decref(own);
	if (!r)
		*s = other;
	return r;
}

/* What is the protocol's and no choice for a measurement. */
static int check_key(const char *key, struct err *err)
{
	static const char *const protocol[] = {"type", "version", "role", "session", "clock"};

	for (size_t i = 0; i < ARRAY_SIZE(protocol); i++)
		if (str_eq(key, protocol[i]))
			return err_input(err,
					 "%s: is of the protocol between the ends; sweep a "
					 "key of the test, such as size",
					 key);
	if (str_eq(key, "family"))
		return err_input(err, "family: measure twice, with -4 and with -6");
	return 0;
}

/* Sets `text` as the value of a key, as whatever the key takes. */
static int set_value(struct engine_spec *s, const char *key, const char *text, int family,
		     struct err *err)
{
	if (check_key(key, err))
		return -err->code;
	if (str_eq(key, "test"))
		return set_test(s, text, err);
	struct engine_traits t = engine_test_traits(s->test);
	json_t *v = json_value(key, text);
	int64_t frame;
	int r;

	if (is_frame(key)) {
		r = units_parse_size(text, &frame, err) ? err_wrap(err, "frame") : 0;
		if (!r && !(t.datagram && t.stream))
			r = err_input(err, "frame: only streams of datagrams have frames of a "
					   "given size");
		if (!r)
			s->size = attempt_frame_payload(frame, family);
		if (!r && !s->size)
			r = err_input(err, "frame: %s bytes leave no room for payload", text);
	} else {
		r = engine_spec_change(s, key, v, err);
	}
	json_decref(v);
	return r;
}

/* A text with or without unit as a number in the key's own unit. */
static int number_of(const struct engine_spec *base, const char *key, const char *text,
		     int64_t *out, struct err *err)
{
	static const char *const units[] = {"", "_ns", "_bps", "_pps"};
	struct engine_spec s = *base;
	char name[64];

	if (is_frame(key))
		return units_parse_size(text, out, err) ? err_wrap(err, "frame") : 0;
	int r = set_value(&s, key, text, 0, err);
	if (r)
		return r;
	json_t *j = engine_spec_json(&s), *v = NULL;
	for (size_t i = 0; i < ARRAY_SIZE(units) && !v; i++) {
		snprintf(name, sizeof(name), "%s%s", str_eq(key, "rate_packets") ? "rate" : key,
			 str_eq(key, "rate_packets") ? "_pps" : units[i]);
		v = json_object_get(j, name);
	}
	if (json_is_integer(v))
		*out = json_integer_value(v);
	else
		r = err_input(err, "%s: a range needs numbers; give a list such as %s=a,b", key,
			      key);
	json_decref(j);
	return r;
}

/* The same, also where this test could not take the number: a step, or an end that is never
 * reached. What the values come to is checked with all others. */
static int loose_number(const struct engine_spec *base, const char *key, const char *text,
			int64_t *out, struct err *err)
{
	static const enum engine_test others[] = {TEST_UDP_STREAM, TEST_TCP_STREAM, TEST_TCP_RR};
	int r = number_of(base, key, text, out, err);

	for (size_t i = 0; i < ARRAY_SIZE(others) && r; i++) {
		struct err ignored = ERR_INIT;
		struct engine_spec s;

		engine_spec_default(&s, others[i]);
		r = number_of(&s, key, text, out, &ignored) ? r : 0;
	}
	return r;
}

struct range {
	const char *key;
	int64_t from, to;
	bool times; /* a factor, else a step */
	double factor;
	int64_t step;
};

static int bad_range(const char *text, struct err *err)
{
	return err_input(err,
			 "'%s' is no list of values; write it like size=1,64,512, size=1..64KiB*2 "
			 "or size=1..9+2",
			 text);
}

/* "*2", "+16", where `how` begins with the sign. */
static int parse_how(const struct engine_spec *base, const char *how, struct range *r,
		     struct err *err)
{
	char *end = NULL;

	r->times = *how == '*';
	if (r->times) {
		r->factor = strtod(how + 1, &end);
		if (end == how + 1 || *end || !(r->factor > 1) || r->factor > 1e9)
			return err_input(err, "%s: '%s' is no factor above 1", r->key, how);
		return 0;
	}
	int e = loose_number(base, r->key, how + 1, &r->step, err);
	if (!e && r->step < 1)
		return err_input(err, "%s: '%s' is no step of at least 1", r->key, how);
	return e;
}

static const char *plain_number(const char *key, int64_t v, struct arena *arena)
{
	/* Without the unit in its name a key wants it in the value. */
	const char *unit = str_eq(key, "duration") || str_eq(key, "warmup") ||
				   str_eq(key, "interval") || str_eq(key, "timeout")
			       ? "ns"
			   : str_eq(key, "rate")	 ? "bit"
			   : str_eq(key, "rate_packets") ? "pps"
							 : "";

	return arena_printf(arena, "%lld%s", (long long)v, unit);
}

static int fill_range(const struct range *r, struct arena *arena, struct sweep_axis *axis,
		      struct err *err)
{
	int64_t v = r->from;

	if (r->from > r->to)
		return err_input(err, "%s: the range ends before it begins", r->key);
	if (r->times && r->from < 1)
		return err_input(err, "%s: a factor needs a range that begins above 0", r->key);
	while (v <= r->to) {
		if (axis->texts.n >= SWEEP_VALUES)
			return err_input(err, "%s: more than %d values", r->key, SWEEP_VALUES);
		*VEC_ADD(arena, &axis->texts) = plain_number(r->key, v, arena);
		double next = r->times ? fmax(nearbyint((double)v * r->factor), (double)v + 1)
				       : (double)v + (double)r->step;
		if (next > 9e15)
			break;
		v = (int64_t)next;
	}
	return 0;
}

static int parse_range(const struct engine_spec *base, struct arena *arena, const char *key,
		       char *values, struct sweep_axis *axis, struct err *err)
{
	struct range r = {.key = key};
	char *dots = strstr(values, ".."), *sign = strpbrk(dots, "*+");

	if (!sign || dots == values || sign == dots + 2)
		return bad_range(values, err);
	autofree char *how = mem_strdup(sign);
	*dots = *sign = '\0';
	int e = loose_number(base, key, values, &r.from, err);
	if (!e)
		e = loose_number(base, key, dots + 2, &r.to, err);
	if (!e)
		e = parse_how(base, how, &r, err);
	return e ? e : fill_range(&r, arena, axis, err);
}

static int parse_list(const struct engine_spec *base, struct arena *arena, char *values,
		      struct sweep_axis *axis, int family, struct err *err)
{
	char *save = NULL;

	for (char *v = strtok_r(values, ",", &save); v; v = strtok_r(NULL, ",", &save)) {
		struct engine_spec s = *base;
		int r = set_value(&s, axis->key, v, family, err);

		if (r)
			return r;
		if (axis->texts.n >= SWEEP_VALUES)
			return err_input(err, "%s: more than %d values", axis->key, SWEEP_VALUES);
		*VEC_ADD(arena, &axis->texts) = arena_strdup(arena, v);
	}
	return axis->texts.n ? 0 : err_input(err, "%s: no value is given", axis->key);
}

/* qperf's "msg_size:1:64K:*2" as ours: "size", "1..64KiB*2". Without a step its factor is 2. */
static char *from_qperf(const char *text, char **values)
{
	char key[32], from[32], to[32], how[32] = "*2";
	int n = sscanf(text, "%31[a-z_]:%31[^:]:%31[^:]:%31[^:]", key, from, to, how);
	size_t end = n >= 3 ? strlen(to) : 0, first = n >= 3 ? strlen(from) : 0;

	if (n < 3)
		return NULL;
	bool binary = to[end - 1] == 'K' || to[end - 1] == 'M' || to[end - 1] == 'G';
	bool low = from[first - 1] == 'K' || from[first - 1] == 'M' || from[first - 1] == 'G';
	*values = mem_printf("%s%s..%s%s%s%s", from, low ? "iB" : "", to, binary ? "iB" : "",
			     strchr("*+", how[0]) ? "" : "+", how);
	return mem_strdup(str_eq(key, "msg_size") ? "size" : key);
}

int sweep_add(struct sweep_plan *plan, struct arena *arena, const char *text,
	      const struct engine_spec *base, struct err *err)
{
	const char *equals = strchr(text, '=');
	autofree char *values = equals ? mem_strdup(equals + 1) : NULL;
	autofree char *key =
	    equals ? mem_printf("%.*s", (int)(equals - text), text) : from_qperf(text, &values);
	struct sweep_axis axis = {0};
	int r;

	if (!key)
		return bad_range(text, err);
	VEC_FOREACH (other, &plan->axes)
		if (str_eq(other->key, key))
			return err_input(err, "%s: is swept twice", key);
	axis.key = arena_strdup(arena, key);
	if (strstr(values, ".."))
		r = parse_range(base, arena, axis.key, values, &axis, err);
	else
		r = parse_list(base, arena, values, &axis, plan->family, err);
	if (r)
		return r;
	*VEC_ADD(arena, &plan->axes) = axis;
	return 0;
}

int sweep_spec(const struct sweep_plan *plan, const struct engine_spec *base, const size_t *at,
	       struct engine_spec *out, struct err *err)
{
	struct engine_spec s = *base;

	for (size_t i = 0; i < plan->axes.n; i++) {
		const struct sweep_axis *a = &plan->axes.v[i];
		int r = set_value(&s, a->key, a->texts.v[at[i]], plan->family, err);

		if (r)
			return err_wrap(err, "%s=%s", a->key, a->texts.v[at[i]]);
	}
	*out = s;
	return 0;
}

/* The next point in *at; false after the last. */
static bool advance(const struct sweep_plan *plan, size_t *at)
{
	for (size_t i = plan->axes.n; i-- > 0;) {
		if (++at[i] < plan->axes.v[i].texts.n)
			return true;
		at[i] = 0;
	}
	return false;
}

static size_t count_points(const struct sweep_plan *plan)
{
	size_t n = 1;

	VEC_FOREACH (a, &plan->axes)
		n = n > SWEEP_POINTS ? n : n * a->texts.n;
	return n;
}

static int check_all(const struct sweep_plan *plan, const struct engine_spec *base, size_t *at,
		     struct err *err)
{
	struct engine_spec s;

	if (count_points(plan) > SWEEP_POINTS)
		return err_input(err, "the sweeps together have more than %d points", SWEEP_POINTS);
	do {
		int r = sweep_spec(plan, base, at, &s, err);

		if (r)
			return r;
	} while (advance(plan, at));
	return 0;
}

static void tell(struct procedure *p, const struct sweep_plan *plan, const size_t *at, size_t done)
{
	autostr struct strbuf text = {0};

	for (size_t i = 0; i < plan->axes.n; i++)
		strbuf_addf(&text, " %s=%s", plan->axes.v[i].key, plan->axes.v[i].texts.v[at[i]]);
	procedure_tell(p, "point %zu of %zu:%s", done + 1, count_points(plan), strbuf_text(&text));
}

int sweep_run(struct procedure *p, const struct sweep_plan *plan, const struct engine_spec *base,
	      const struct scenario_repeat *how, struct sweep *out, struct err *err)
{
	size_t n = plan->axes.n * sizeof(size_t), *at = arena_alloc(p->arena, n + 1);
	int r = check_all(plan, base, at, err);

	if (r)
		return r;
	do {
		struct sweep_point point = {.at = arena_alloc(p->arena, n + 1)};
		struct engine_spec s;

		memcpy(point.at, at, n);
		tell(p, plan, at, out->points.n);
		r = sweep_spec(plan, base, at, &s, err);
		if (!r)
			r = repeat_run(p, &s, how, &point.r, err);
		if (!r || point.r.runs.n)
			*VEC_ADD(p->arena, &out->points) = point;
	} while (!r && advance(plan, at));
	out->interrupted = r == -EINTR;
	return r;
}
