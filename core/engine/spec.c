/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spec: what to measure, as a struct and as JSON, by one table for both ways.
 *
 * A key takes a number in the unit of its name, or a text with a unit; with a text the short name
 * without unit may be used ("duration": "2s"). Keys of the protocol (type, role, …) are let
 * through; worker.c reads those. Used by the worker, the driver, the harness and `vpclab engine`.
 */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/base/str.h"
#include "core/base/units.h"
#include "core/engine/cpu.h"
#include "core/engine/engine.h"
#include "core/engine/engines.h"

enum spec_kind {
	SPEC_TIME,
	SPEC_RATE,
	SPEC_PPS,
	SPEC_SIZE,
	SPEC_COUNT,
	SPEC_INT,
	SPEC_BOOL,
	SPEC_TEXT,
	SPEC_LONG, /* a text of any length, kept for the life of the process */
	SPEC_SCHEDULE
};

struct spec_key {
	const char *name, *brief; /* brief: the name without unit; the same where it has none */
	enum spec_kind kind;
	size_t offset, size; /* of the member */
	int64_t min, max;
};

#define SPEC_DAY (24 * 3600 * NSEC_PER_SEC)
#define AT(m)	 offsetof(struct engine_spec, m), sizeof(((struct engine_spec *)0)->m)

static const struct spec_key spec_keys[] = {
    {"duration_ns", "duration", SPEC_TIME, AT(duration_ns), NSEC_PER_MSEC, SPEC_DAY},
    {"warmup_ns", "warmup", SPEC_TIME, AT(warmup_ns), 0, SPEC_DAY},
    {"interval_ns", "interval", SPEC_TIME, AT(interval_ns), NSEC_PER_MSEC, SPEC_DAY},
    {"streams", "streams", SPEC_INT, AT(streams), 1, ENGINE_STREAMS},
    {"threads", "threads", SPEC_INT, AT(threads), 0, 1024},
    {"size", "size", SPEC_SIZE, AT(size), 0, 1 << 30},
    {"response_size", "response_size", SPEC_SIZE, AT(response_size), 1, 1 << 30},
    {"rate_bps", "rate", SPEC_RATE, AT(rate_bps), 0, INT64_C(1000000000000000)},
    {"rate_pps", "rate_packets", SPEC_PPS, AT(rate_pps), 0, NSEC_PER_SEC},
    {"file_size", "file_size", SPEC_SIZE, AT(file_size), 1, INT64_C(1) << 50},
    {"count", "count", SPEC_COUNT, AT(count), 0, INT64_C(1) << 40},
    {"bounded", "bounded", SPEC_BOOL, AT(bounded), 0, 1},
    {"no_delay", "no_delay", SPEC_BOOL, AT(no_delay), 0, 1},
    {"congestion", "congestion", SPEC_TEXT, AT(congestion), 0, 0},
    {"congestion_required", "congestion_required", SPEC_BOOL, AT(congestion_required), 0, 1},
    {"client_cpu", "client_cpu", SPEC_INT, AT(client_cpu), -1, 1023},
    {"server_cpu", "server_cpu", SPEC_INT, AT(server_cpu), -1, 1023},
    {"spread", "spread", SPEC_BOOL, AT(spread), 0, 1},
    {"dscp", "dscp", SPEC_INT, AT(dscp), 0, 63},
    {"rcvbuf", "rcvbuf", SPEC_SIZE, AT(rcvbuf), 0, INT32_MAX},
    {"sndbuf", "sndbuf", SPEC_SIZE, AT(sndbuf), 0, INT32_MAX},
    {"mss", "mss", SPEC_INT, AT(mss), 0, 65495},
    {"spin", "spin", SPEC_BOOL, AT(spin), 0, 1},
    {"discard", "discard", SPEC_BOOL, AT(discard), 0, 1},
    {"io", "io", SPEC_TEXT, AT(io), 0, 0},
    {"outstanding", "outstanding", SPEC_INT, AT(outstanding), 1, 1024},
    {"burst", "burst", SPEC_COUNT, AT(burst), 1, ENGINE_BURST},
    {"schedule", "schedule", SPEC_SCHEDULE, AT(schedule), 0, 0},
    {"seed", "seed", SPEC_COUNT, AT(seed), 0, INT64_MAX},
    {"timeout_ns", "timeout", SPEC_TIME, AT(timeout_ns), 0, SPEC_DAY},
    {"close", "close", SPEC_TEXT, AT(close), 0, 0},
    {"ports", "ports", SPEC_INT, AT(ports), 1, 1024},
    {"steady", "steady", SPEC_BOOL, AT(steady), 0, 1},
    {"total_loss", "total_loss", SPEC_BOOL, AT(total_loss), 0, 1},
    {"group", "group", SPEC_TEXT, AT(group), 0, 0},
    {"client_address", "client_address", SPEC_TEXT, AT(client_address), 0, 0},
    {"script", "script", SPEC_LONG, AT(script), 0, 0},
    {"bind_device", "bind_device", SPEC_TEXT, AT(bind_device), 0, 0},
    {"zone", "zone", SPEC_TEXT, AT(zone), 0, 0},
};

static const char *const spec_others[] = {"test",    "type",   "version", "role",
					  "session", "family", "clock"};

static const char *const spec_schedules[] = {"periodic", "poisson", "uniform", "normal"};

void engine_spec_default(struct engine_spec *s, enum engine_test test)
{
	bool two = cpu_allowed(1) >= 0;
	*s = (struct engine_spec){
	    .test = test,
	    .duration_ns = 5 * NSEC_PER_SEC,
	    .warmup_ns = NSEC_PER_SEC,
	    .interval_ns = 500 * NSEC_PER_MSEC,
	    .streams = 1,
	    .response_size = 1,
	    .outstanding = 1,
	    .burst = 1,
	    .ports = 1,
	    .close = "rst",
	    .file_size = 999999999,
	    .congestion = "cubic",
	    .client_cpu = two ? cpu_allowed(0) : -1,
	    .server_cpu = two ? cpu_allowed(1) : -1,
	};
	if (engines_get(test)->defaults)
		engines_get(test)->defaults(s);
}

static int64_t spec_load(const struct spec_key *k, const struct engine_spec *s)
{
	const char *at = (const char *)s + k->offset;
	if (k->kind == SPEC_BOOL)
		return *(const bool *)at;
	return k->size == sizeof(int) ? *(const int *)at : *(const int64_t *)at;
}

static void spec_store(const struct spec_key *k, struct engine_spec *s, int64_t v)
{
	char *at = (char *)s + k->offset;
	if (k->kind == SPEC_BOOL)
		*(bool *)at = v;
	else if (k->size == sizeof(int))
		*(int *)at = (int)v;
	else
		*(int64_t *)at = v;
}

static json_t *spec_show(const struct spec_key *k, const struct engine_spec *s)
{
	switch (k->kind) {
	case SPEC_TEXT:
		return json_string((const char *)s + k->offset);
	case SPEC_LONG:
		return s->script ? json_string(s->script) : NULL;
	case SPEC_SCHEDULE:
		return json_string(spec_schedules[s->schedule]);
	case SPEC_BOOL:
		return json_boolean(spec_load(k, s));
	default:
		return json_integer(spec_load(k, s));
	}
}

json_t *engine_spec_json(const struct engine_spec *s)
{
	json_t *j = json_object();
	json_object_set_new(j, "test", json_string(engine_test_name(s->test)));
	for (size_t i = 0; i < ARRAY_SIZE(spec_keys); i++) {
		const struct spec_key *k = &spec_keys[i];
		json_t *v = spec_show(k, s);
		if (v)
			json_object_set_new(j, k->name, v);
	}
	return j;
}

static int spec_unit(const struct spec_key *k, const char *text, int64_t *v, struct err *err)
{
	switch (k->kind) {
	case SPEC_TIME:
		return units_parse_time(text, v, err);
	case SPEC_RATE:
		return units_parse_rate(text, v, err);
	case SPEC_PPS:
		return units_parse_pps(text, v, err);
	case SPEC_SIZE:
		return units_parse_size(text, v, err);
	default:
		return units_parse_int(text, k->min, k->max, v, err);
	}
}

static int spec_text(const struct spec_key *k, const json_t *j, struct engine_spec *s,
		     struct err *err)
{
	const char *text = json_string_value(j);
	if (!text)
		return err_input(err, "%s: must be a text", k->name);
	if (strlen(text) >= k->size)
		return err_input(err, "%s: '%s' is longer than %zu characters", k->name, text,
				 k->size - 1);
	snprintf((char *)s + k->offset, k->size, "%s", text);
	return 0;
}

static int spec_number(const struct spec_key *k, const json_t *j, struct engine_spec *s,
		       struct err *err)
{
	int64_t v;
	if (json_is_integer(j))
		v = json_integer_value(j);
	else if (json_is_real(j) && nearbyint(json_real_value(j)) == json_real_value(j) &&
		 fabs(json_real_value(j)) < 9e15)
		v = (int64_t)json_real_value(j);
	else if (json_is_string(j)) {
		if (spec_unit(k, json_string_value(j), &v, err))
			return err_wrap(err, "%s", k->name);
	} else
		return err_input(err, "%s: must be a whole number", k->name);
	if (v < k->min || v > k->max)
		return err_input(err, "%s: %lld is not within %lld to %lld", k->name, (long long)v,
				 (long long)k->min, (long long)k->max);
	spec_store(k, s, v);
	return 0;
}

/* Specifications are copied freely, so the text belongs to none of them: each different one is kept
 * until the process ends. */
static const char *spec_keep(const char *text)
{
	static struct kept {
		struct kept *next;
		char *text;
	} * all;
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	pthread_mutex_lock(&lock);
	struct kept *k = all;
	while (k && !str_eq(k->text, text))
		k = k->next;
	if (!k) {
		k = mem_zalloc(sizeof(*k));
		*k = (struct kept){all, mem_strdup(text)};
		all = k;
	}
	pthread_mutex_unlock(&lock);
	return k->text;
}

static int spec_long(const struct spec_key *k, const json_t *j, struct engine_spec *s,
		     struct err *err)
{
	if (!json_is_string(j))
		return err_input(err, "%s: must be a text", k->name);
	s->script = spec_keep(json_string_value(j));
	return 0;
}

static int spec_schedule(const struct spec_key *k, const json_t *j, struct engine_spec *s,
			 struct err *err)
{
	const char *text = json_string_value(j);
	for (size_t i = 0; i < ARRAY_SIZE(spec_schedules); i++)
		if (text && str_eq(text, spec_schedules[i])) {
			s->schedule = (enum engine_schedule)i;
			return 0;
		}
	return err_input(err, "%s: must be periodic, poisson, uniform or normal", k->name);
}

static int spec_value(const struct spec_key *k, const json_t *j, struct engine_spec *s,
		      struct err *err)
{
	if (k->kind == SPEC_TEXT)
		return spec_text(k, j, s, err);
	if (k->kind == SPEC_LONG)
		return spec_long(k, j, s, err);
	if (k->kind == SPEC_SCHEDULE)
		return spec_schedule(k, j, s, err);
	if (k->kind != SPEC_BOOL)
		return spec_number(k, j, s, err);
	if (!json_is_boolean(j))
		return err_input(err, "%s: must be true or false", k->name);
	spec_store(k, s, json_is_true(j));
	return 0;
}

static int spec_unknown(const char *key, struct err *err)
{
	const char *names[ARRAY_SIZE(spec_keys) * 2 + ARRAY_SIZE(spec_others)];
	size_t n = 0;
	for (size_t i = 0; i < ARRAY_SIZE(spec_keys); i++) {
		names[n++] = spec_keys[i].name;
		names[n++] = spec_keys[i].brief;
	}
	for (size_t i = 0; i < ARRAY_SIZE(spec_others); i++)
		names[n++] = spec_others[i];
	const char *near = str_suggest(key, names, n);
	return near ? err_input(err, "unknown key '%s'; did you mean '%s'?", key, near)
		    : err_input(err, "unknown key '%s'", key);
}

static int spec_set(const char *key, const json_t *j, struct engine_spec *s, struct err *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(spec_others); i++)
		if (str_eq(key, spec_others[i]))
			return 0;
	for (size_t i = 0; i < ARRAY_SIZE(spec_keys); i++) {
		const struct spec_key *k = &spec_keys[i];
		if (str_eq(key, k->name))
			return spec_value(k, j, s, err);
		if (!str_eq(key, k->brief))
			continue;
		if (!json_is_string(j))
			return err_input(err,
					 "%s: write a text with its unit, or '%s' with a number",
					 key, k->name);
		return spec_value(k, j, s, err);
	}
	return spec_unknown(key, err);
}

/* What hangs together between keys. */
static int spec_check(const struct engine_spec *s, struct err *err)
{
	if (s->duration_ns / s->interval_ns > 100000)
		return err_input(err, "interval_ns: more than 100000 intervals in duration_ns");
	if (s->rate_bps && s->rate_pps)
		return err_input(err, "rate_pps: give rate_bps or rate_pps, not both");
	if ((s->rate_bps || s->rate_pps) && !engines_get(s->test)->paced)
		return err_input(err, "%s: %s goes as fast as it can, it is not paced",
				 s->rate_bps ? "rate_bps" : "rate_pps", engine_test_name(s->test));
	if (s->spread && (s->client_cpu >= 0 || s->server_cpu >= 0))
		return err_input(err, "%s: with spread, each thread has a CPU of its own",
				 s->client_cpu >= 0 ? "client_cpu" : "server_cpu");
	if (s->count && !engines_get(s->test)->open_end)
		return err_input(err, "count: %s ends by the clock, not by a count",
				 engine_test_name(s->test));
	return engines_get(s->test)->check ? engines_get(s->test)->check(s, err) : 0;
}

int engine_spec_parse(const json_t *j, struct engine_spec *s, struct err *err)
{
	if (!json_is_object(j))
		return err_input(err, "a specification is a JSON object");
	const char *test = json_string_value(json_object_get(j, "test"));
	if (!test)
		return err_input(err, "test: name the test, such as \"tcp_stream\"");
	struct engine_spec spec;
	int r = engine_test_parse(test, &spec.test, err);
	if (r)
		return err_wrap(err, "test");
	engine_spec_default(&spec, spec.test);
	const char *key;
	json_t *value;
	json_object_foreach((json_t *)j, key, value)
	{
		r = spec_set(key, value, &spec, err);
		if (r)
			return r;
	}
	if (json_object_get(j, "congestion") && !json_object_get(j, "congestion_required"))
		spec.congestion_required = true;
	if ((json_object_get(j, "duration") || json_object_get(j, "duration_ns")) &&
	    !json_object_get(j, "bounded") && !spec.count)
		spec.bounded = true;
	if (spec.spread) {
		spec.client_cpu = json_object_get(j, "client_cpu") ? spec.client_cpu : -1;
		spec.server_cpu = json_object_get(j, "server_cpu") ? spec.server_cpu : -1;
	} else if (spec.spin && spec.server_cpu == spec.client_cpu &&
		   !json_object_get(j, "server_cpu")) {
		spec.server_cpu = cpu_allowed(spec.client_cpu == cpu_allowed(0)); /* one each */
	}
	r = spec_check(&spec, err);
	if (!r)
		*s = spec;
	return r;
}

int engine_spec_change(struct engine_spec *s, const char *key, const json_t *value, struct err *err)
{
	struct engine_spec spec = *s;
	int r = spec_set(key, value, &spec, err);
	if (!r)
		r = spec_check(&spec, err);
	if (!r)
		*s = spec;
	return r;
}
