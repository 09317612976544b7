// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * inside: what `exec` and `shell` share: start inside a node, stay out of the way, give its status.
 *
 * It does not choose what runs. Called by cmd_exec.c and cmd_shell.c.
 */
#include "core/cli/inside.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>

static atomic_int child_fd = -1;

static void pass_on(int signal_number)
{
	int saved = errno, fd = child_fd;

	if (fd >= 0)
		syscall(SYS_pidfd_send_signal, fd, signal_number, NULL, 0);
	errno = saved;
}

static const int signals[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};

/*
 * The terminal sends SIGINT and SIGQUIT to the program as well: it decides what they mean, and
 * vpclab waits. SIGTERM and SIGHUP come to vpclab alone. What was ignored already (nohup) stays so.
 */
static void set_signals(struct sigaction old[static ARRAY_SIZE(signals)])
{
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++) {
		bool interactive = signals[i] == SIGINT || signals[i] == SIGQUIT;
		struct sigaction a = {.sa_handler = interactive ? SIG_IGN : pass_on,
				      .sa_flags = SA_RESTART};

		sigaction(signals[i], NULL, &old[i]);
		if (old[i].sa_handler != SIG_IGN)
			sigaction(signals[i], &a, NULL);
	}
}

static void restore_signals(const struct sigaction old[static ARRAY_SIZE(signals)])
{
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		sigaction(signals[i], &old[i], NULL);
}

int inside_run(const struct source *lab, int node, const struct proc_spec *spec, struct err *err)
{
	struct sigaction old[ARRAY_SIZE(signals)];
	struct proc p;
	int status, ret;

	ret = lab_spawn(lab->lab, lab->wire.nodes.v[node].name, spec, &p, err);
	if (ret == -ENOENT || ret == -EACCES)
		err->kind = ERR_INPUT; /* no such program: the user's mistake */
	if (ret)
		return ret;
	child_fd = p.pidfd;
	set_signals(old);
	ret = proc_wait(&p, INT64_MAX, &status, err);
	child_fd = -1;
	restore_signals(old);
	return ret ? ret : proc_shell_status(status);
}
