/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * engine: the measuring program by hand. As a worker (--stdio) it speaks the protocol of
 * core/engine/engine.h; otherwise it runs both ends as two children of its own over an address of
 * this machine and prints the result. It builds no lab: `vpclab measure` does that.
 */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
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
#include "core/cli/faces.h"
#include "core/cli/print.h"
#include "core/cli/test_options.h"
#include "core/engine/engine.h"
#include "core/engine/listen.h"
#include "core/report/findings.h"

#define ENGINE_END_NS (2 * NSEC_PER_SEC) /* for a worker to go once its channel is closed */

struct engine_options {
	bool stdio;
	const char *listen, *key;
	const char *address;
	struct test_options test;
	struct face_options face;
	bool json;
};

static const struct engine_options engine_unset = {
    .address = "127.0.0.1",
    .test = TEST_OPTIONS_UNSET,
};

#define ENGINE_AT(field) OPT_AT(struct engine_options, field)

static const struct option_def engine_option_defs[] = {
    {"stdio", 0, OPT_FLAG, NULL, "be a worker: JSON lines on standard input and output",
     ENGINE_AT(stdio), NULL, 0, 0},
    {"listen", 0, OPT_STRING, "ADDRESS:PORT", "serve workers to who connects here",
     ENGINE_AT(listen), NULL, 0, 0},
    {"key", 0, OPT_STRING, "FILE", "with --listen: only to who has this key, by TLS",
     ENGINE_AT(key), NULL, 0, 0},
    {"address", 'a', OPT_STRING, "ADDRESS", "measure over this address (127.0.0.1)",
     ENGINE_AT(address), NULL, 0, 0},
    TEST_OPTION_DEFS(struct engine_options),
    FACE_OPTION_DEFS(struct engine_options),
    OPT_JSON(struct engine_options, json),
};

static int engine_read(json_t **out, struct err *err)
{
	autofree char *text = NULL;
	size_t len;

	if (isatty(STDIN_FILENO))
		return err_input(err, "which TEST? vpclab help tests lists them; without one, a "
				      "specification is read from "
				      "standard input, which is a terminal here");
	int ret = file_read("-", &text, &len, err);
	if (ret)
		return ret;
	if (!text[strspn(text, " \t\r\n")])
		return err_input(err, "standard input is empty: name a TEST, or write a "
				      "specification such as {\"test\": \"tcp_rr\"}");
	json_error_t why;
	json_t *j = json_loadb(text, len, 0, &why);
	if (!j)
		return err_input(err, "standard input:%d:%d: %s", why.line, why.column, why.text);
	if (json_object_get(j, "role")) {
		json_decref(j);
		return err_input(err, "role: one end alone is a worker; run it with --stdio");
	}
	*out = j;
	return 0;
}

static int engine_specify(const struct call *call, struct engine_spec *spec, struct err *err)
{
	const struct engine_options *o = call->options;
	json_t *j = NULL;

	if (call->argc)
		return test_options_specify(&o->test, call->argv[0], spec, err);
	int ret = engine_read(&j, err);
	if (ret)
		return ret;
	ret = test_options_apply(&o->test, j, err);
	if (!ret)
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

static void engine_text(const struct engine_spec *spec, const struct engine_result *result)
{
	autostr struct strbuf out = {0};

	if (!isatty(STDOUT_FILENO))
		lines_intervals(spec, result, &out);
	lines_summary(spec, result, &out);
	findings_describe(spec, result, NAN, &out);
	print_text(&out);
}

static int engine_print(const struct engine_spec *spec, enum face face,
			struct engine_result *result)
{
	struct flat_about about = {"client", "server", false};
	bool valid = !result->invalid[0];
	int status = EXIT_PASS;

	if (face == FACE_JSON) {
		json_t *j = engine_result_json(result);

		json_object_set_new(j, "spec", engine_spec_json(spec));
		status = print_json(j);
	} else if (face == FACE_TEXT) {
		engine_text(spec, result);
	} else {
		face_print(face, &about, spec, result);
	}
	engine_result_done(result);
	return status ? status : valid ? EXIT_PASS : EXIT_INCONCLUSIVE;
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

static int engine_both(const struct engine_spec *spec, const char *address, enum face face,
		       struct err *err)
{
	struct lines lines;
	struct engine_worker client = {.fd = -1}, server = {.fd = -1};
	struct engine_result result;
	struct engine_spec zoned = *spec;
	struct ip_zone at;
	int ret = ip_zone_parse(address, &at, err);

	if (ret)
		return ret;
	memcpy(zoned.zone, at.zone, sizeof(zoned.zone));
	ret = engine_start(&server, err);
	if (!ret)
		ret = engine_start(&client, err);
	autofd int stop = ret ? -1 : engine_signals(err);
	if (!ret && stop < 0)
		ret = stop;
	if (!ret) {
		struct engine_ends ends = {client.fd, client.fd, server.fd, server.fd};
		struct engine_hooks hooks = {.stop_fd = stop, .arg = &lines};
		lines_init(&lines, spec, face_show);
		if (face_is_live(face))
			hooks.on_each = lines_each;
		ret = engine_pair(&zoned, &at.ip, &ends, &hooks, &result, err);
		lines_end(&lines);
	}
	engine_end(&client);
	engine_end(&server);
	return ret ? ret : engine_print(spec, face, &result);
}

static void engine_listens(void *arg, const char *address, int port)
{
	(void)arg;
	bool v6 = strchr(address, ':');
	printf("listening on %s%s%s:%d\n", v6 ? "[" : "", address, v6 ? "]" : "", port);
	fflush(stdout);
}

static int engine_listen(const struct engine_options *o, struct err *err)
{
	autofd int stop = engine_signals(err);
	struct listen_options l = {
	    .at = o->listen, .key_file = o->key, .stop_fd = stop, .ready = engine_listens};

	return stop < 0 ? stop : listen_serve(&l, err);
}

static int engine_run(const struct call *call, struct err *err)
{
	const struct engine_options *o = call->options;
	struct engine_spec spec;

	if (o->stdio) {
		if (!isatty(STDIN_FILENO)) /* whoever holds the channel decides when it ends */
			signal(SIGINT, SIG_IGN);
		/* What failed has been told on the channel: whoever holds it prints it, once. */
		return engine_stdio(STDIN_FILENO, STDOUT_FILENO, 0, err) ? err_exit_status(err)
									 : EXIT_PASS;
	}
	if (o->key && !o->listen)
		return err_input(err, "--key goes with --listen");
	if (o->listen && call->argc)
		return err_input(err, "--listen: the TEST is named by who connects, not here");
	if (o->listen)
		return engine_listen(o, err);
	int ret = engine_specify(call, &spec, err);
	return ret ? ret
		   : engine_both(&spec, o->address, face_of(&o->face, o->json, FACE_JSON), err);
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
	"result, as JSON unless --format says otherwise. TEST is one of those of `vpclab help\n"
	"tests`; without it the specification is read from standard input as JSON.\n"
	"\n"
	"With --stdio it is one worker: JSON messages, one a line, on standard input and output.\n"
	"The first one has a role; the end of standard input ends the worker.\n"
	"\n"
	"With --listen it serves a worker to each connection, for machines without ssh. An "
	"address\n"
	"that is not of the loopback device needs --key FILE, the same file at both ends, "
	"readable\n"
	"by its owner only: 'openssl rand -hex 32 >FILE' makes one. The session is then "
	"encrypted;\n"
	"the measured traffic is not. SIGINT or SIGTERM end it.\n"
	"\n"
	"Exit status 3: a worker died or fell silent, the path was cut, or it was interrupted; "
	"what\n"
	"was known by then is printed, with the reason as \"invalid\".",
    .run = engine_run,
};
