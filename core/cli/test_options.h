/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_options: the options that say how to measure, one set of names for every command that does.
 *
 * A command has a `struct test_options` in its options struct, TEST_OPTION_DEFS in its table and
 * TEST_OPTIONS_UNSET in its defaults; test_options_specify() makes a specification of them, by the
 * same checks as one that is read from a file.
 */
#ifndef VPCLAB_CLI_TEST_OPTIONS_H
#define VPCLAB_CLI_TEST_OPTIONS_H

#include "core/cli/command.h"
#include "core/engine/engine.h"

struct test_options { /* negative or NULL: not given */
	int64_t duration_ns, warmup_ns, interval_ns, streams, size, response_size;
	int64_t rate_bps, rate_pps, file_size, count;
	const char *congestion;
};

#define TEST_OPTIONS_UNSET                                                                         \
	{                                                                                          \
		-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, NULL                                       \
	}

#define TEST_OPTION(name, letter, kind, arg, help, type, field)                                    \
	{                                                                                          \
		name, letter, kind, arg, help, OPT_AT(type, test.field), NULL, 0, INT64_C(1) << 40 \
	}

/* For a struct `type` whose member `test` is a struct test_options. */
#define TEST_OPTION_DEFS(type)                                                                     \
	TEST_OPTION("duration", 'd', OPT_TIME, "TIME", "measuring window (5s)", type,              \
		    duration_ns),                                                                  \
	    TEST_OPTION("warmup", 'w', OPT_TIME, "TIME", "left out before it (1s)", type,          \
			warmup_ns),                                                                \
	    TEST_OPTION("interval", 'i', OPT_TIME, "TIME", "one intermediate figure each (500ms)", \
			type, interval_ns),                                                        \
	    TEST_OPTION("streams", 'n', OPT_INT, "N", "sockets at the same time (1)", type,        \
			streams),                                                                  \
	    TEST_OPTION("size", 's', OPT_SIZE, "BYTES", "of a write, a datagram or a request",     \
			type, size),                                                               \
	    TEST_OPTION("response-size", 0, OPT_SIZE, "BYTES", "of an answer (1)", type,           \
			response_size),                                                            \
	    TEST_OPTION("rate", 'r', OPT_RATE, "RATE",                                             \
			"udp_stream: offer so many payload bits a second", type, rate_bps),        \
	    TEST_OPTION("packets", 'p', OPT_PPS, "PPS",                                            \
			"udp_stream: offer so many datagrams a second", type, rate_pps),           \
	    TEST_OPTION("file-size", 0, OPT_SIZE, "BYTES",                                         \
			"throughput: of a transaction (999999999)", type, file_size),              \
	    TEST_OPTION("count", 0, OPT_INT, "N", "throughput: transactions", type, count),        \
	    TEST_OPTION("congestion", 'C', OPT_STRING, "NAME",                                     \
			"TCP congestion control (cubic where it may be chosen)", type, congestion)

/* Puts what was given into `spec` (a JSON object), over what is in it. */
void test_options_apply(const struct test_options *o, json_t *spec);

/* The specification of a test with these options. -EINVAL names the key. */
int test_options_specify(const struct test_options *o, const char *test, struct engine_spec *out,
			 struct err *err);

#endif
