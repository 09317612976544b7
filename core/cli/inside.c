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

/*
 * The terminal sends SIGINT and SIGQUIT to the program as well: it decides what they mean, and
 * vpclab waits. SIGTERM and SIGHUP come to vpclab alone.
 */
static void set_signals(void (*interactive)(int), void (*other)(int))
{
	struct sigaction a = {.sa_handler = interactive, .sa_flags = SA_RESTART};

	sigaction(SIGINT, &a, NULL);
	sigaction(SIGQUIT, &a, NULL);
	a.sa_handler = other;
	sigaction(SIGTERM, &a, NULL);
	sigaction(SIGHUP, &a, NULL);
}

int inside_run(const struct source *lab, int node, const struct proc_spec *spec, struct err *err)
{
	struct proc p;
	int status, ret;

	ret = lab_spawn(lab->lab, lab->wire.nodes.v[node].name, spec, &p, err);
	if (ret == -ENOENT || ret == -EACCES)
		err->kind = ERR_INPUT; /* no such program: the user's mistake */
	if (ret)
		return ret;
	child_fd = p.pidfd;
	set_signals(SIG_IGN, pass_on);
	ret = proc_wait(&p, INT64_MAX, &status, err);
	child_fd = -1;
	set_signals(SIG_DFL, SIG_DFL);
	return ret ? ret : proc_shell_status(status);
}
