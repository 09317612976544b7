/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * proc: starts, waits for and ends child processes. It runs no shell and installs no signal
 * handler. The harness, the tool adapters, the OVS and the lab code call it.
 *
 * A child learns of nothing but what its spec names: descriptors above the wanted ones are closed
 * by execve(), signals are as a login shell would have them. That execve() failed comes back
 * through a close-on-exec pipe, so proc_start() reports it as its own error.
 */
#include "core/base/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/base/units.h"

#define OUTPUT_MAX (64 * 1024 * 1024) /* more than that from a tool is an error */
#define HIGH_FD	   16 /* sources are moved up here first, so that filling 0…3 overwrites none */

static bool stays_ignored(int sig)
{
	struct sigaction old;

	return (sig == SIGHUP || sig == SIGINT || sig == SIGQUIT) &&
	       sigaction(sig, NULL, &old) == 0 && old.sa_handler == SIG_IGN;
}

static void default_signals(bool keep_ignored)
{
	sigset_t none;

	for (int sig = 1; sig < NSIG; sig++)
		if (!keep_ignored || !stays_ignored(sig))
			signal(sig, SIG_DFL); /* refused for KILL, STOP and libc's own: as wanted */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* A copy at HIGH_FD or above. Where the limit is below that, fcntl(2) says EINVAL. */
static int copy_up(int fd)
{
	int up = fcntl(fd, F_DUPFD_CLOEXEC, HIGH_FD);

	return up >= 0 ? up : errno == EINVAL ? -EMFILE : -errno;
}

/* A copy of the descriptor out of the way; -1 stays -1 (inherit). */
static int moved_up(int fd, int flags)
{
	int source = fd, up;

	if (fd == PROC_NULL)
		source = open("/dev/null", flags | O_CLOEXEC);
	if (source < 0)
		return fd == -1 ? -1 : -errno - 1;
	up = copy_up(source);
	return up < 0 ? up - 1 : up;
}

/* Puts the spec's descriptors onto 0 to 3; everything above closes at execve(). */
static int place_fds(const struct proc_spec *spec)
{
	const int wanted[] = {spec->in, spec->out, spec->errfd, spec->keep_fd};
	int up[ARRAY_SIZE(wanted)];
	unsigned last = spec->keep_fd >= 0 ? 3 : 2;

	for (unsigned i = 0; i <= last; i++) {
		up[i] = moved_up(wanted[i], i == 0 ? O_RDONLY : O_WRONLY);
		if (up[i] < -1)
			return up[i] + 1;
	}
	for (unsigned i = 0; i <= last; i++)
		if (up[i] >= 0 && dup2(up[i], (int)i) < 0)
			return -errno;
	if (close_range(last + 1, ~0U, CLOSE_RANGE_CLOEXEC) < 0)
		return -errno;
	return 0;
}

void proc_close_others(const int *keep, size_t n)
{
	unsigned from = 3;

	for (;;) {
		unsigned next = ~0U;

		for (size_t i = 0; i < n; i++)
			if (keep[i] >= (int)from && (unsigned)keep[i] < next)
				next = (unsigned)keep[i];
		if (next > from)
			close_range(from, next == ~0U ? next : next - 1, 0);
		if (next == ~0U)
			return;
		from = next + 1;
	}
}

static int pin(int cpu)
{
	cpu_set_t set;

	if (cpu < 0)
		return 0;
	if (cpu >= CPU_SETSIZE)
		return -EINVAL;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set) < 0 ? -errno : 0;
}

/* Whether a directory of PATH that we may look into has the program. */
static bool in_path(const char *program)
{
	const char *path = getenv("PATH");
	char candidate[4096];

	while (path && *path) {
		int n = (int)strcspn(path, ":");

		snprintf(candidate, sizeof(candidate), "%.*s/%s", n, path, program);
		if (access(candidate, F_OK) == 0)
			return true;
		path += n + (path[n] == ':');
	}
	return false;
}

/* execvp() says EACCES also where a directory of PATH is closed to us: then it is not there. */
static int exec_program(const char *const *argv)
{
	int rc;

	execvp(argv[0], (char *const *)argv);
	rc = -errno;
	return rc == -EACCES && !strchr(argv[0], '/') && !in_path(argv[0]) ? -ENOENT : rc;
}

/* An error of write(2) then, not a signal: the program is not to be ended by it (setrlimit(2)). */
static int limit_files(int64_t most)
{
	const struct rlimit limit = {(rlim_t)most, (rlim_t)most};

	signal(SIGXFSZ, SIG_IGN);
	return setrlimit(RLIMIT_FSIZE, &limit) < 0 ? -errno : 0;
}

int proc_exec(const struct proc_spec *spec)
{
	int rc = place_fds(spec);

	if (!rc)
		rc = pin(spec->cpu);
	if (rc)
		return rc;
	for (const char *const *e = spec->env; e && *e; e++)
		if (putenv((char *)*e) != 0)
			return -ENOMEM;
	default_signals(spec->keep_ignored);
	rc = spec->file_max ? limit_files(spec->file_max) : 0;
	if (rc)
		return rc;
	/* The caller's own parent check closes the race; here only what execve() keeps is set. */
	if (spec->die_with_parent && prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		return -errno;
	return exec_program(spec->argv);
}

/*
 * Whether the starter still is there: it alone reads from our pipe. Its pid would not tell, since
 * it is 0 for a parent in another PID namespace.
 */
static bool has_parent(int report)
{
	struct pollfd fd = {.fd = report};

	return poll(&fd, 1, 0) == 0;
}

static _Noreturn void child(const struct proc_spec *spec, const int report[2])
{
	int up = copy_up(report[1]), rc = up < 0 ? up : 0;
	ssize_t written;

	close(report[0]);
	if (!rc && spec->die_with_parent) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (!has_parent(up)) /* it died before the line above */
			_exit(127);
	}
	if (!rc)
		rc = proc_exec(spec);
	written = write(up < 0 ? report[1] : up, &rc, sizeof(rc));
	(void)written;
	_exit(127);
}

/* What the child says before execve(): nothing (0) or the error. */
static int read_report(int fd)
{
	int rc = 0;
	ssize_t n;

	do
		n = read(fd, &rc, sizeof(rc));
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof(rc) ? rc : 0;
}

int proc_start(const struct proc_spec *spec, struct proc *p, struct err *err)
{
	autofd int report_r = -1;
	autofd int report_w = -1;
	struct proc new;
	int pipefd[2], rc;

	if (pipe2(pipefd, O_CLOEXEC) < 0)
		return err_sys(err, errno, "cannot start '%s'", spec->argv[0]);
	report_r = pipefd[0];
	report_w = pipefd[1];
	new.pid = fork();
	if (new.pid < 0)
		return err_sys(err, errno, "cannot start '%s'", spec->argv[0]);
	if (new.pid == 0)
		child(spec, pipefd);
	close(report_w);
	report_w = -1;
	new.pidfd = pidfd_open(new.pid, 0);
	rc = new.pidfd < 0 ? -errno : read_report(report_r);
	if (rc) {
		kill(new.pid, SIGKILL); /* not reaped yet: the pid is still its */
		while (waitpid(new.pid, NULL, 0) < 0 && errno == EINTR)
			;
		if (new.pidfd >= 0)
			close(new.pidfd);
		return err_sys(err, -rc, "cannot start '%s'", spec->argv[0]);
	}
	*p = new;
	return 0;
}

/* poll() until the deadline on the monotonic clock; EINTR starts again. 0: the time is over. */
static int poll_until(struct pollfd *fds, nfds_t n, int64_t deadline_ns)
{
	for (;;) {
		int64_t left = deadline_ns - (deadline_ns == INT64_MAX ? 0 : clock_now_ns());
		struct timespec ts;
		int ready;

		if (left < 0)
			left = 0;
		ts.tv_sec = left / NSEC_PER_SEC;
		ts.tv_nsec = left % NSEC_PER_SEC;
		ready = ppoll(fds, n, deadline_ns == INT64_MAX ? NULL : &ts, NULL);
		if (ready >= 0)
			return ready;
		if (errno != EINTR)
			return -errno;
	}
}

static void closed(struct proc *p)
{
	if (p->pidfd >= 0)
		close(p->pidfd);
	p->pidfd = -1;
	p->pid = -1;
}

int proc_wait(struct proc *p, int64_t deadline_ns, int *status, struct err *err)
{
	struct pollfd fd = {.fd = p->pidfd, .events = POLLIN};
	int rc, wait_status;

	if (p->pid <= 0 || p->pidfd < 0)
		return err_fail(err, ECHILD, "the process has ended and was waited for already");
	rc = poll_until(&fd, 1, deadline_ns);
	if (rc < 0)
		return err_sys(err, -rc, "cannot wait for process %ld", (long)p->pid);
	if (rc == 0)
		return err_fail(err, ETIMEDOUT, "process %ld did not end in time", (long)p->pid);
	do
		rc = waitpid(p->pid, &wait_status, 0);
	while (rc < 0 && errno == EINTR);
	if (rc < 0) {
		rc = err_sys(err, errno, "cannot wait for process %ld", (long)p->pid);
		closed(p);
		return rc;
	}
	closed(p);
	if (status)
		*status = wait_status;
	return 0;
}

/* now + span, the end of time when that is later. */
static int64_t deadline_after(int64_t span_ns)
{
	int64_t deadline;

	return __builtin_add_overflow(clock_now_ns(), span_ns, &deadline) ? INT64_MAX : deadline;
}

void proc_kill(struct proc *p, int64_t grace_ns)
{
	struct err ignored;

	if (p->pid <= 0 || p->pidfd < 0)
		return;
	pidfd_send_signal(p->pidfd, SIGTERM, NULL, 0);
	if (proc_wait(p, deadline_after(grace_ns), NULL, &ignored) != -ETIMEDOUT)
		return;
	pidfd_send_signal(p->pidfd, SIGKILL, NULL, 0);
	proc_wait(p, INT64_MAX, NULL, &ignored);
}

int proc_shell_status(int wait_status)
{
	return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

/* One end of a child's output that we collect. */
struct drain {
	struct strbuf *into;
	int fd; /* -1: at its end */
};

/*
 * Reads what is there; the read end does not block. At most as much as a pipe can hold (1 MiB
 * unless root made it more), so that a child that never stops writing does not keep us from the
 * deadline.
 */
static void drain(struct drain *d)
{
	char chunk[16384];

	for (int i = 0; i < 64 && d->fd >= 0; i++) {
		ssize_t n = read(d->fd, chunk, sizeof(chunk));

		if (n > 0) {
			strbuf_addn(d->into, chunk, (size_t)n);
		} else if (n == 0 || (errno != EINTR && errno != EAGAIN)) {
			close(d->fd);
			d->fd = -1;
		} else if (errno == EAGAIN) {
			return;
		}
	}
}

/*
 * Collects until the child has ended and its output is read. What a grandchild that still holds the
 * pipes writes later is not waited for.
 */
static int collect(struct proc *p, struct drain d[2], int64_t deadline_ns)
{
	for (;;) {
		struct pollfd fds[] = {
		    {.fd = d[0].fd, .events = POLLIN},
		    {.fd = d[1].fd, .events = POLLIN},
		    {.fd = p->pidfd, .events = POLLIN},
		};
		int rc = poll_until(fds, ARRAY_SIZE(fds), deadline_ns);

		if (rc <= 0)
			return rc ? rc : -ETIMEDOUT;
		drain(&d[0]);
		drain(&d[1]);
		if ((d[0].into && d[0].into->len > OUTPUT_MAX) ||
		    (d[1].into && d[1].into->len > OUTPUT_MAX))
			return -EFBIG;
		if (fds[2].revents)
			return 0;
	}
}

/* A pipe whose write end becomes *child_end; without `into`, /dev/null. */
static int open_drain(struct drain *d, struct strbuf *into, int *child_end)
{
	int fds[2];

	*child_end = PROC_NULL;
	if (!into)
		return 0;
	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	fcntl(fds[0], F_SETFL, O_NONBLOCK);
	*d = (struct drain){into, fds[0]};
	*child_end = fds[1];
	return 0;
}

static void close_end(int fd)
{
	if (fd >= 0)
		close(fd);
}

static int run(const char *const *argv, int64_t timeout_ns, struct drain d[2], int *status,
	       struct err *err)
{
	struct proc_spec spec = PROC_SPEC(argv);
	int64_t deadline = deadline_after(timeout_ns);
	char text[32];
	struct proc p;
	int rc;

	spec.in = PROC_NULL;
	spec.die_with_parent = true;
	rc = open_drain(&d[0], d[0].into, &spec.out);
	if (!rc)
		rc = open_drain(&d[1], d[1].into, &spec.errfd);
	if (rc)
		rc = err_sys(err, -rc, "cannot start '%s'", argv[0]);
	else
		rc = proc_start(&spec, &p, err);
	close_end(spec.out);
	close_end(spec.errfd);
	if (rc)
		return rc;
	rc = collect(&p, d, deadline);
	if (!rc)
		return proc_wait(&p, INT64_MAX, status, err);
	proc_kill(&p, 0);
	if (rc != -ETIMEDOUT)
		return err_sys(err, -rc, "cannot read from '%s'", argv[0]);
	return err_fail(err, ETIMEDOUT, "'%s' did not end within %s", argv[0],
			units_format_time(text, sizeof(text), timeout_ns));
}

int proc_run(const char *const *argv, int64_t timeout_ns, struct strbuf *out, struct strbuf *errout,
	     int *status, struct err *err)
{
	struct drain d[2] = {{out, -1}, {errout, -1}};
	int wait_status, rc = run(argv, timeout_ns, d, &wait_status, err);

	close_end(d[0].fd);
	close_end(d[1].fd);
	if (!rc && status)
		*status = proc_shell_status(wait_status);
	return rc;
}
