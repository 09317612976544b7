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

struct test_options { /* negative, false or NULL: not given */
	int64_t duration_ns, warmup_ns, interval_ns, streams, size, response_size;
	int64_t rate_bps, rate_pps, file_size, count;
	const char *congestion;
	int64_t threads, dscp, rcvbuf, sndbuf, mss, outstanding, burst, seed, timeout_ns, ports;
	int64_t client_cpu, server_cpu;
	const char *no_delay, *io, *schedule, *close, *bind_device, *client_address, *group;
	bool spin, discard, steady, total_loss;
	const char *script;
	struct option_list variables; /* of the script */
};

#define TEST_OPTIONS_UNSET                                                                         \
	{                                                                                          \
		-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, NULL, -1, -1, -1, -1, -1, -1, -1, -1, -1,  \
		    -1, -1, -1,                                                                    \
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
	    TEST_OPTION("interval", 'i', OPT_TIME, "TIME",                                         \
			"one intermediate figure each, at least 3 (500ms)", type, interval_ns),    \
	    TEST_OPTION("streams", 'n', OPT_INT, "N", "sockets at the same time (1)", type,        \
			streams),                                                                  \
	    TEST_OPTION("size", 's', OPT_SIZE, "BYTES", "of a write, a datagram or a request",     \
			type, size),                                                               \
	    TEST_OPTION("response-size", 0, OPT_SIZE, "BYTES", "of an answer (1)", type,           \
			response_size),                                                            \
	    TEST_OPTION("rate", 'r', OPT_RATE, "RATE", "udp: offer so many payload bits a second", \
			type, rate_bps),                                                           \
	    TEST_OPTION("packets", 'p', OPT_PPS, "PPS", "udp: offer so many datagrams a second",   \
			type, rate_pps),                                                           \
	    TEST_OPTION("file-size", 0, OPT_SIZE, "BYTES",                                         \
			"throughput: of a transaction (999999999)", type, file_size),              \
	    TEST_OPTION("count", 0, OPT_INT, "N", "throughput: transactions", type, count),        \
	    TEST_OPTION("congestion", 'C', OPT_STRING, "NAME",                                     \
			"TCP congestion control (cubic where it may be chosen)", type,             \
			congestion),                                                               \
	    TEST_OPTION("threads", 0, OPT_INT, "N", "of each end (the test's own choice)", type,   \
			threads),                                                                  \
	    TEST_OPTION("outstanding", 0, OPT_INT, "N",                                            \
			"tcp_rr, udp_rr: requests on the way on each connection (1)", type,        \
			outstanding),                                                              \
	    TEST_OPTION("schedule", 0, OPT_STRING, "WHICH",                                        \
			"what is paced: gaps are periodic, poisson, uniform or normal", type,      \
			schedule),                                                                 \
	    TEST_OPTION("burst", 0, OPT_INT, "N", "what is paced: datagrams at once (1)", type,    \
			burst),                                                                    \
	    TEST_OPTION("seed", 0, OPT_INT, "N", "of all that is random (chosen, and named)",      \
			type, seed),                                                               \
	    TEST_OPTION("timeout", 0, OPT_TIME, "TIME", "after which an answer is late", type,     \
			timeout_ns),                                                               \
	    TEST_OPTION("io", 0, OPT_STRING, "WHICH",                                              \
			"plain; udp: gso, steer, afxdp; tcp: zerocopy", type, io),                 \
	    TEST_OPTION("spin", 0, OPT_FLAG, NULL,                                                 \
			"rr, crr, paced udp: both ends poll, never sleep", type, spin),            \
	    TEST_OPTION("discard", 0, OPT_FLAG, NULL,                                              \
			"tcp: the receiver takes the bytes without copying them", type, discard),  \
	    TEST_OPTION("total-loss", 0, OPT_FLAG, NULL,                                           \
			"udp streams: that nothing arrives is a result, not a failure", type,      \
			total_loss),                                                               \
	    TEST_OPTION("steady", 0, OPT_FLAG, NULL,                                               \
			"leave out of the rates what is before they are steady", type, steady),    \
	    TEST_OPTION("no-delay", 0, OPT_STRING, "WHICH", "TCP_NODELAY: on or off", type,        \
			no_delay),                                                                 \
	    TEST_OPTION("close", 0, OPT_STRING, "WHICH",                                           \
			"tcp_crr, tcp_cc: the client ends with rst or fin (rst)", type, close),    \
	    TEST_OPTION("ports", 0, OPT_INT, "N", "tcp_crr, tcp_cc: listening ports (1)", type,    \
			ports),                                                                    \
	    TEST_OPTION("dscp", 0, OPT_INT, "N", "of all packets, 0 to 63", type, dscp),           \
	    TEST_OPTION("rcvbuf", 0, OPT_SIZE, "BYTES", "socket buffer (the kernel's choice)",     \
			type, rcvbuf),                                                             \
	    TEST_OPTION("sndbuf", 0, OPT_SIZE, "BYTES", "socket buffer (the kernel's choice)",     \
			type, sndbuf),                                                             \
	    TEST_OPTION("mss", 0, OPT_INT, "BYTES", "TCP_MAXSEG (the path's)", type, mss),         \
	    TEST_OPTION("client-cpu", 0, OPT_INT, "N", "keep the client on this CPU", type,        \
			client_cpu),                                                               \
	    TEST_OPTION("server-cpu", 0, OPT_INT, "N", "keep the server on this CPU", type,        \
			server_cpu),                                                               \
	    TEST_OPTION("bind-device", 0, OPT_STRING, "DEVICE", "use this interface", type,        \
			bind_device),                                                              \
	    TEST_OPTION("client-address", 0, OPT_STRING, "ADDRESS", "the client's own", type,      \
			client_address),                                                           \
	    TEST_OPTION("group", 0, OPT_STRING, "ADDRESS", "udp_multicast: the group", type,       \
			group),                                                                    \
	    TEST_OPTION("script", 0, OPT_STRING, "SCRIPT",                                         \
			"pairs: a file or a shipped script, see vpclab help scripts", type,        \
			script),                                                                   \
	    TEST_OPTION("var", 0, OPT_LIST, "NAME=VALUE",                                          \
			"pairs: change a variable of the script", type, variables)

/* Puts what was given into `spec` (a JSON object), over what is in it; reads the script's file. */
int test_options_apply(const struct test_options *o, json_t *spec, struct err *err);

/* The specification of a test with these options. -EINVAL names the key. */
int test_options_specify(const struct test_options *o, const char *test, struct engine_spec *out,
			 struct err *err);

#endif
