/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * proc: child processes by pidfd; never a shell, never a sleep.
 *
 * A `struct proc` is open from proc_start() (or from lab_spawn()) until proc_wait() or proc_kill().
 */
#ifndef VPCLAB_BASE_PROC_H
#define VPCLAB_BASE_PROC_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/base/err.h"
#include "core/base/str.h"

struct proc_spec {
	const char *const *argv; /* argv[0] looked up in PATH; NULL-terminated */
	const char *const *env;	 /* "NAME=value", added; NULL-terminated, or NULL */
	int in, out, errfd;	 /* -1: inherit; PROC_NULL: /dev/null; else dup'ed onto 0, 1, 2 */
	int keep_fd;		 /* -1, or one more descriptor that the child gets as 3 */
	bool die_with_parent;	 /* SIGKILL when the thread that started it ends, prctl(2) */
	int cpu;		 /* -1, or the CPU to run on */
	int64_t file_max;	 /* 0, or no file of its grows beyond so many bytes: EFBIG */
	bool keep_ignored;	 /* SIGHUP, SIGINT, SIGQUIT stay ignored where they are (nohup) */
};
#define PROC_NULL (-2)
#define PROC_SPEC(args)                                                                            \
	((struct proc_spec){                                                                       \
	    .argv = (args), .in = -1, .out = -1, .errfd = -1, .keep_fd = -1, .cpu = -1})

struct proc {
	pid_t pid;
	int pidfd;
};

/*
 * In a child after fork(): closes every descriptor from 3 on but those in `keep` (any order; below
 * 3 means none). What another thread had open at that moment, pipes and namespaces, would otherwise
 * stay open as long as the child lives.
 */
void proc_close_others(const int *keep, size_t n);

/* Starts a child. Gives it in *p, which is left alone on failure; -errno when execve() failed. */
int proc_start(const struct proc_spec *spec, struct proc *p, struct err *err);

/*
 * In a child after fork(): applies `spec` (descriptors, environment, CPU, default signals) and
 * executes. Returns only on failure, with a negative errno.
 */
int proc_exec(const struct proc_spec *spec);

/*
 * Waits until the deadline (clock_now_ns() time; INT64_MAX = for ever). *status is waitpid()'s.
 * -ETIMEDOUT leaves the process running and open.
 */
int proc_wait(struct proc *p, int64_t deadline_ns, int *status, struct err *err);

/* SIGTERM, then SIGKILL after grace_ns, and waits. Never fails; harmless on a closed proc. */
void proc_kill(struct proc *p, int64_t grace_ns);

/* The exit status as a shell gives it: code, or 128 + signal. */
int proc_shell_status(int wait_status);

/*
 * Runs to its end, adding standard output and error to the buffers (either may be NULL: /dev/null).
 * Standard input is empty. A status other than 0 is no error: look at *status (shell status).
 * -ETIMEDOUT after timeout_ns and -EFBIG after 64 MiB, both kill it.
 */
int proc_run(const char *const *argv, int64_t timeout_ns, struct strbuf *out, struct strbuf *errout,
	     int *status, struct err *err);

#endif
