// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_options: from options to a specification. It checks that an option means something to the
 * test; whether its value is a good one engine_spec_parse() says.
 *
 * Called by cmd_engine.c, cmd_measure.c and cmd_search.c.
 */
#include "core/cli/test_options.h"

#include <string.h>

#include "core/base/mem.h"
#include "core/base/str.h"
#include "core/harness/measure.h"
#include "core/harness/scripts.h"

/* A duration on the command line is stronger than the script's. */
static int apply_script(const struct test_options *o, json_t *spec, struct err *err)
{
	struct scripts s;
	enum engine_test test;
	const char *name = json_string_value(json_object_get(spec, "test"));

	if (!o->script)
		return o->variables.n ? err_input(err, "--var: needs --script") : 0;
	if (!name || engine_test_parse(name, &test, err) || !engine_test_traits(test).scripted)
		return err_input(err, "--script: only the tests pairs and path_check have scripts");
	if (test == TEST_PATH_CHECK) { /* what to look at: mtu,hops */
		json_object_set_new(spec, "script", json_string(o->script));
		return o->variables.n ? err_input(err, "--var: path_check has no variables") : 0;
	}
	int r = scripts_load(&(struct scripts_source){.name = o->script,
						      .set = o->variables.v,
						      .n_set = o->variables.n},
			     &s, err);
	if (r)
		return r;
	json_object_set_new(spec, "script", json_string(s.json));
	if (s.duration_ns && o->duration_ns < 0)
		json_object_set_new(spec, "duration_ns", json_integer(s.duration_ns));
	scripts_done(&s);
	return 0;
}

/* An option that the test does not look at would be measured as if it had not been given. */
static int check_key(const json_t *spec, const char *key, struct err *err)
{
	static const char *const units[] = {"_ns", "_bps", "_pps"};
	const char *name = json_string_value(json_object_get(spec, "test"));
	autofree char *plain = mem_strdup(str_eq(key, "schedule") ? "gaps" : key);
	autofree char *option = mem_strdup(key);
	struct err ignored = ERR_INIT;
	enum engine_test test;

	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (str_ends(key, units[i]))
			plain[strlen(key) - strlen(units[i])] =
			    option[strlen(key) - strlen(units[i])] = '\0';
	if (!name || engine_test_parse(name, &test, &ignored) || str_eq(plain, "rate") ||
	    measure_takes(plain, test))
		return 0; /* engine_spec_parse() says what is wrong with the others */
	for (char *c = option; *c; c++)
		*c = *c == '_' ? '-' : *c;
	return err_input(err, "--%s: means nothing to %s", option, name);
}

/* Takes `value`. */
static int put(json_t *spec, const char *key, json_t *value, struct err *err)
{
	json_object_set_new(spec, key, value);
	return check_key(spec, key, err);
}

static int put_numbers(const struct test_options *o, json_t *spec, struct err *err)
{
	const struct {
		const char *key;
		int64_t value;
	} given[] = {
	    {"duration_ns", o->duration_ns},
	    {"warmup_ns", o->warmup_ns},
	    {"interval_ns", o->interval_ns},
	    {"streams", o->streams},
	    {"size", o->size},
	    {"response_size", o->response_size},
	    {"rate_bps", o->rate_bps},
	    {"rate_pps", o->rate_pps},
	    {"file_size", o->file_size},
	    {"count", o->count},
	    {"threads", o->threads},
	    {"outstanding", o->outstanding},
	    {"burst", o->burst},
	    {"seed", o->seed},
	    {"timeout_ns", o->timeout_ns},
	    {"ports", o->ports},
	    {"dscp", o->dscp},
	    {"rcvbuf", o->rcvbuf},
	    {"sndbuf", o->sndbuf},
	    {"mss", o->mss},
	    {"client_cpu", o->client_cpu},
	    {"server_cpu", o->server_cpu},
	};
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(given) && !r; i++)
		if (given[i].value >= 0)
			r = put(spec, given[i].key, json_integer(given[i].value), err);
	return r;
}

static int put_words(const struct test_options *o, json_t *spec, struct err *err)
{
	const struct {
		const char *key, *value;
	} texts[] = {
	    {"congestion", o->congestion},
	    {"io", o->io},
	    {"schedule", o->schedule},
	    {"close", o->close},
	    {"bind_device", o->bind_device},
	    {"client_address", o->client_address},
	    {"group", o->group},
	};
	const struct {
		const char *key;
		bool value;
	} flags[] = {
	    {"spin", o->spin},
	    {"discard", o->discard},
	    {"steady", o->steady},
	    {"total_loss", o->total_loss},
	};
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(texts) && !r; i++)
		if (texts[i].value)
			r = put(spec, texts[i].key, json_string(texts[i].value), err);
	for (size_t i = 0; i < ARRAY_SIZE(flags) && !r; i++)
		if (flags[i].value)
			r = put(spec, flags[i].key, json_true(), err);
	return r;
}

int test_options_apply(const struct test_options *o, json_t *spec, struct err *err)
{
	int r = put_numbers(o, spec, err);

	if (!r)
		r = put_words(o, spec, err);
	if (!r && o->no_delay)
		r = put(spec, "no_delay",
			str_eq(o->no_delay, "on")    ? json_true()
			: str_eq(o->no_delay, "off") ? json_false()
						     : json_string(o->no_delay),
			err);
	return r ? r : apply_script(o, spec, err);
}

int test_options_specify(const struct test_options *o, const char *test, struct engine_spec *out,
			 struct err *err)
{
	json_t *j = json_pack("{s:s}", "test", test);
	int r = test_options_apply(o, j, err);

	if (!r)
		r = engine_spec_parse(j, out, err);
	json_decref(j);
	return r;
}
