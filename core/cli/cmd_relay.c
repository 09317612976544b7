// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * relay: carries the packets of one impaired link, here and now, or asks one that does. Hidden: the
 * scripts that `vpclab plan --format sh` prints call it, and tests do; labs start theirs
 * themselves.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/cli/command.h"
#include "core/cli/print.h"
#include "emulator/relay/relay.h"

struct relay_options {
	const char *control;
	bool detach, ask;
};

/* The JSON that the operand is, or that standard input has. Gives a reference, or NULL. */
static json_t *operand(const char *text, struct err *err)
{
	json_error_t why;
	json_t *j = str_eq(text, "-") ? json_loadf(stdin, 0, &why) : json_loads(text, 0, &why);

	if (!j)
		err_input(err, "that is no JSON: %s", why.text);
	return j;
}

static int ask(const char *control, const json_t *command, struct err *err)
{
	json_t *answer;
	int rc;

	if (!control)
		return err_input(err, "--ask needs --control PATH");
	rc = relay_ask(control, command, &answer, err);
	return rc ? rc : print_json(answer);
}

static _Noreturn void detached(const struct relay_spec *s, const char *control, int ready)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	struct err err = ERR_INIT;

	setsid();
	for (int fd = 0; fd <= 1; fd++) /* whoever reads our output shall see its end */
		dup2(null, fd);
	if (relay_run(s, control, ready, &err))
		fprintf(stderr, "vpclab relay: %s\n", err.text);
	_exit(err.code ? err_exit_status(&err) : 0);
}

/* Returns when packets pass; the relay goes on without us. */
static int run_detached(const struct relay_spec *s, const char *control, struct err *err)
{
	int fds[2], status = 0;
	pid_t pid;
	char c;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return err_sys(err, errno, "cannot make a pipe");
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		close(fds[0]);
		detached(s, control, fds[1]);
	}
	close(fds[1]);
	if (pid < 0)
		err_sys(err, errno, "cannot start a process");
	else if (read(fds[0], &c, 1) != 1 && waitpid(pid, &status, 0) == pid)
		err_fail(err, EIO, "the relay ended before it passed packets");
	close(fds[0]);
	return -err->code;
}

static int relay_run_command(const struct call *call, struct err *err)
{
	const struct relay_options *o = call->options;
	json_t *j = operand(call->argv[0], err);
	struct arena arena;
	struct relay_spec spec;
	int rc;

	if (!j)
		return -err->code;
	arena_init(&arena);
	rc = o->ask ? ask(o->control, j, err) : relay_spec_parse(j, &arena, &spec, err);
	if (!rc && !o->ask)
		rc = o->detach ? run_detached(&spec, o->control, err)
			       : relay_run(&spec, o->control, -1, err);
	arena_done(&arena);
	json_decref(j);
	return rc;
}

static const struct option_def option_defs[] = {
    {"control", 'c', OPT_STRING, "PATH", "listen for commands at this Unix socket",
     OPT_AT(struct relay_options, control), NULL, 0, 0},
    {"detach", 'd', OPT_FLAG, NULL, "return when packets pass, and go on in the background",
     OPT_AT(struct relay_options, detach), NULL, 0, 0},
    {"ask", 0, OPT_FLAG, NULL, "send JSON as a command to the relay at PATH, print its answer",
     OPT_AT(struct relay_options, ask), NULL, 0, 0},
};

const struct command cmd_relay = {
    .name = "relay",
    .summary = "carry the packets of one impaired link between devices of this namespace",
    .operands = "JSON|-",
    .min_operands = 1,
    .max_operands = 1,
    .hidden = true,
    .description =
	"JSON says which devices and which impairments; `vpclab plan --format sh` shows it for\n"
	"each link that needs one. Runs until it is told to end by {\"end\": true}, or killed.",
    .options = option_defs,
    .n_options = ARRAY_SIZE(option_defs),
    .options_size = sizeof(struct relay_options),
    .run = relay_run_command,
};
