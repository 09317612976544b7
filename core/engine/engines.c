/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engines: the one place where an engine is added, and test names. Used by spec.c, worker.c,
 * pair.c. */
#include "core/engine/engines.h"

#include <strings.h>

#include "core/base/mem.h"
#include "core/base/str.h"

static const struct engine_def *const engines[] = {
    [TEST_TCP_STREAM] = &tcp_stream_engine, [TEST_UDP_STREAM] = &udp_stream_engine,
    [TEST_TCP_RR] = &tcp_rr_engine,	    [TEST_UDP_RR] = &udp_rr_engine,
    [TEST_THROUGHPUT] = &throughput_engine,
};

const struct engine_def *engines_get(enum engine_test test)
{
	return engines[test];
}

const struct engine_def *engines_at(size_t i)
{
	return i < ARRAY_SIZE(engines) ? engines[i] : NULL;
}

const char *engine_test_name(enum engine_test test)
{
	return engines[test]->name;
}

static bool engines_named(const struct engine_def *def, const char *name)
{
	if (!strcasecmp(name, def->name))
		return true;
	for (const char *const *alias = def->aliases; *alias; alias++)
		if (!strcasecmp(name, *alias))
			return true;
	return false;
}

/* All names and aliases, for "did you mean". */
static const char *engines_suggest(const char *name)
{
	const char *names[64];
	size_t n = 0;
	for (size_t i = 0; i < ARRAY_SIZE(engines); i++) {
		names[n++] = engines[i]->name;
		for (const char *const *a = engines[i]->aliases; *a && n < ARRAY_SIZE(names); a++)
			names[n++] = *a;
	}
	return str_suggest(name, names, n);
}

int engine_test_parse(const char *name, enum engine_test *test, struct err *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(engines); i++)
		if (engines_named(engines[i], name)) {
			*test = engines[i]->test;
			return 0;
		}
	const char *near = engines_suggest(name);
	if (near)
		return err_input(err, "unknown test '%s'; did you mean '%s'?", name, near);
	return err_input(err,
			 "unknown test '%s'; there are tcp_stream, udp_stream, tcp_rr, udp_rr, "
			 "throughput",
			 name);
}
