/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * engine: the measuring program by hand. As a worker (--stdio) it speaks the protocol of
 * core/engine/engine.h; otherwise it runs both ends as two children of its own over an address of
 * this machine and prints the result. It builds no lab: `vpclab measure` does that.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/proc.h"
#include "core/base/units.h"
#include "core/cli/command.h"
#include "core/cli/print.h"
#include "core/engine/engine.h"

#define ENGINE_END_NS (2 * NSEC_PER_SEC) /* for a worker to go once its channel is closed */

struct engine_options {
	bool stdio;
	const char *address, *congestion;
	int64_t duration, warmup, interval, streams, size, response, rate, pps, file_size, count;
};

static const struct engine_options engine_unset = {
    .address = "127.0.0.1",
    .duration = -1,
    .warmup = -1,
    .interval = -1,
    .streams = -1,
    .size = -1,
    .response = -1,
    .rate = -1,
    .pps = -1,
    .file_size = -1,
    .count = -1,
};

#define ENGINE_AT(field) OPT_AT(struct engine_options, field)

static const struct option_def engine_option_defs[] = {
    {"stdio", 0, OPT_FLAG, NULL, "be a worker: JSON lines on standard input and output",
     ENGINE_AT(stdio), NULL, 0, 0},
    {"address", 'a', OPT_STRING, "ADDRESS", "measure over this address (127.0.0.1)",
     ENGINE_AT(address), NULL, 0, 0},
    {"duration", 't', OPT_TIME, "TIME", "measuring window (5s)", ENGINE_AT(duration), NULL, 0, 0},
    {"warmup", 0, OPT_TIME, "TIME", "left out before it (1s)", ENGINE_AT(warmup), NULL, 0, 0},
    {"interval", 'i', OPT_TIME, "TIME", "one sample each (500ms)", ENGINE_AT(interval), NULL, 0, 0},
    {"streams", 'P', OPT_INT, "N", "connections at once (1)", ENGINE_AT(streams), NULL, 1, 1000},
    {"size", 'l', OPT_SIZE, "BYTES", "of a write, a datagram or a request", ENGINE_AT(size), NULL,
     0, 0},
    {"response", 0, OPT_SIZE, "BYTES", "of an answer (1)", ENGINE_AT(response), NULL, 0, 0},
    {"rate", 'b', OPT_RATE, "RATE", "udp_stream: payload bits per second", ENGINE_AT(rate), NULL, 0,
     0},
    {"pps", 0, OPT_PPS, "RATE", "udp_stream: packets per second", ENGINE_AT(pps), NULL, 0, 0},
    {"file-size", 0, OPT_SIZE, "BYTES", "throughput: of a transaction (999999999)",
     ENGINE_AT(file_size), NULL, 0, 0},
    {"count", 'n', OPT_INT, "N", "throughput: transactions", ENGINE_AT(count), NULL, 0,
     INT64_C(1) << 40},
    {"congestion", 'C', OPT_STRING, "NAME", "congestion control (cubic)", ENGINE_AT(congestion),
     NULL, 0, 0},
};

/* The options given, over the specification read or made. */
static void engine_apply(const struct engine_options *o, json_t *spec)
{
	const struct {
		const char *key;
		int64_t value;
	} given[] = {
	    {"duration_ns", o->duration}, {"warmup_ns", o->warmup}, {"interval_ns", o->interval},
	    {"streams", o->streams},	  {"size", o->size},	    {"response_size", o->response},
	    {"rate_bps", o->rate},	  {"rate_pps", o->pps},	    {"file_size", o->file_size},
	    {"count", o->count},
	};
	for (size_t i = 0; i < ARRAY_SIZE(given); i++)
		if (given[i].value >= 0)
			json_object_set_new(spec, given[i].key, json_integer(given[i].value));
	if (o->congestion)
		json_object_set_new(spec, "congestion", json_string(o->congestion));
}

static int engine_read(json_t **out, struct err *err)
{
	autofree char *text = NULL;
	size_t len;
	int ret = file_read("-", &text, &len, err);
	if (ret)
		return ret;
	json_error_t why;
	json_t *j = json_loadb(text, len, 0, &why);
	if (!j)
		return err_input(err, "-:%d:%d: %s", why.line, why.column, why.text);
	if (json_object_get(j, "role")) {
		json_decref(j);
		return err_input(err, "role: one end alone is a worker; run it with --stdio");
	}
	*out = j;
	return 0;
}

static int engine_specify(const struct call *call, struct engine_spec *spec, struct err *err)
{
	json_t *j = NULL;
	int ret = 0;

	if (call->argc)
		j = json_pack("{s:s}", "test", call->argv[0]);
	else
		ret = engine_read(&j, err);
	if (ret)
		return ret;
	engine_apply(call->options, j);
	ret = engine_spec_parse(j, spec, err);
	json_decref(j);
	return ret;
}

struct engine_worker {
	struct proc proc;
	int fd;
};

static int engine_start(struct engine_worker *w, struct err *err)
{
	static const char *const argv[] = {"/proc/self/exe", "engine", "--stdio", NULL};
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return err_sys(err, errno, "socketpair");
	struct proc_spec spec = PROC_SPEC(argv);
	spec.in = spec.out = ends[1];
	spec.die_with_parent = true;
	int ret = proc_start(&spec, &w->proc, err);
	close(ends[1]);
	w->fd = ret ? -1 : ends[0];
	if (ret)
		close(ends[0]);
	return ret;
}

/* The end of the channel ends a worker; one that does not hear it is killed. */
static void engine_end(struct engine_worker *w)
{
	struct err ignored = ERR_INIT;
	int status;

	if (w->fd < 0)
		return;
	close(w->fd);
	if (proc_wait(&w->proc, clock_now_ns() + ENGINE_END_NS, &status, &ignored))
		proc_kill(&w->proc, 0);
}

static int engine_print(const struct engine_spec *spec, struct engine_result *result)
{
	json_t *j = engine_result_json(result);

	json_object_set_new(j, "spec", engine_spec_json(spec));
	engine_result_done(result);
	return print_json(j);
}

/* Interrupted, the measurement ends early and its partial result is printed. */
static int engine_signals(struct err *err)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	int fd = signalfd(-1, &set, SFD_CLOEXEC);
	return fd < 0 ? err_sys(err, errno, "signalfd") : fd;
}

static int engine_both(const struct engine_spec *spec, const char *address, struct err *err)
{
	struct engine_worker client = {.fd = -1}, server = {.fd = -1};
	struct engine_result result;
	struct ip ip;
	int ret = ip_parse(address, &ip, err);

	if (ret)
		return ret;
	ret = engine_start(&server, err);
	if (!ret)
		ret = engine_start(&client, err);
	autofd int stop = ret ? -1 : engine_signals(err);
	if (!ret && stop < 0)
		ret = stop;
	if (!ret) {
		struct engine_ends ends = {client.fd, client.fd, server.fd, server.fd};
		struct engine_hooks hooks = {.stop_fd = stop};
		ret = engine_pair(spec, &ip, &ends, &hooks, &result, err);
	}
	engine_end(&client);
	engine_end(&server);
	return ret ? ret : engine_print(spec, &result);
}

static int engine_run(const struct call *call, struct err *err)
{
	const struct engine_options *o = call->options;
	struct engine_spec spec;

	if (o->stdio) {
		if (!isatty(STDIN_FILENO)) /* whoever holds the channel decides when it ends */
			signal(SIGINT, SIG_IGN);
		int ret = engine_stdio(STDIN_FILENO, STDOUT_FILENO, err);
		return ret == -ECANCELED ? EXIT_FAIL : ret;
	}
	int ret = engine_specify(call, &spec, err);
	return ret ? ret : engine_both(&spec, o->address, err);
}

const struct command cmd_engine = {
    .name = "engine",
    .summary = "the measuring program alone, between any two places",
    .operands = "[TEST]",
    .max_operands = 1,
    .options = engine_option_defs,
    .n_options = ARRAY_SIZE(engine_option_defs),
    .options_size = sizeof(struct engine_options),
    .defaults = &engine_unset,
    .description =
	"Runs both ends of one measurement on this machine, as two processes, and prints the\n"
	"result as JSON. TEST is tcp_stream, udp_stream, tcp_rr, udp_rr or throughput, or another\n"
	"tool's name for it; without TEST the specification is read from standard input as JSON.\n"
	"\n"
	"With --stdio it is one worker: JSON messages, one a line, on standard input and output.\n"
	"The first one has a role; the end of standard input ends the worker.",
    .run = engine_run,
};
