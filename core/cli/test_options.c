// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_options: from options to a specification. Checks nothing itself: engine_spec_parse() does.
 *
 * Called by cmd_engine.c and cmd_measure.c.
 */
#include "core/cli/test_options.h"

void test_options_apply(const struct test_options *o, json_t *spec)
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
	};

	for (size_t i = 0; i < ARRAY_SIZE(given); i++)
		if (given[i].value >= 0)
			json_object_set_new(spec, given[i].key, json_integer(given[i].value));
	if (o->congestion)
		json_object_set_new(spec, "congestion", json_string(o->congestion));
}

int test_options_specify(const struct test_options *o, const char *test, struct engine_spec *out,
			 struct err *err)
{
	json_t *j = json_pack("{s:s}", "test", test);

	test_options_apply(o, j);
	int r = engine_spec_parse(j, out, err);
	json_decref(j);
	return r;
}
