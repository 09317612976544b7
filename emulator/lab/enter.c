/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * enter: starts processes inside a running lab: lab_spawn() and lab_call(). It keeps no process
 * between the caller and the one inside: an intermediate child enters the namespaces and forks with
 * CLONE_PARENT, so that what runs inside is the caller's own child, with its true exit status, in
 * the caller's session and process group (job control on a terminal works).
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/mem.h"
#include "emulator/kernel/netns.h"
#include "emulator/kernel/ovs.h"
#include "emulator/kernel/program.h"
#include "emulator/lab/handle.h"
#include "emulator/lab/msg.h"

#define HIGH_FD	   16 /* out of the way of the descriptors that a spec fills */
#define NAMESPACES (CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS)

struct entering {
	const struct lab *lab;
	bool die_with_parent;
	enter_fn *fn;
	void *arg;
	int parent_pidfd;
	int answer; /* write end: pid_t of the child inside, or a negative errno */
};

static bool readable(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, 0) > 0;
}

static _Noreturn void inside(const struct entering *e)
{
	if (e->die_with_parent) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (readable(e->parent_pidfd)) /* it died before the line above */
			_exit(127);
	}
	close(e->answer);
	close(e->parent_pidfd);
	e->fn(e->arg);
	_exit(127);
}

/* In the intermediate child. The current directory is kept where the lab has the same path. */
static int enter_all(const struct entering *e)
{
	bool userns = json_is_true(json_object_get(e->lab->state, "userns"));
	autofree char *cwd = getcwd(NULL, 0);

	if (setns(e->lab->pidfd, NAMESPACES | (userns ? CLONE_NEWUSER : 0)) < 0)
		return -errno;
	if (chdir(cwd ? cwd : "/") < 0 && chdir("/") < 0)
		return -errno;
	return 0;
}

static _Noreturn void intermediate(const struct entering *e)
{
	int answer = enter_all(e);
	ssize_t written;

	if (!answer) {
		long pid = syscall(SYS_clone, (long)(CLONE_PARENT | SIGCHLD), 0L, 0L, 0L, 0L);

		if (pid == 0)
			inside(e);
		answer = pid < 0 ? -errno : (int)pid;
	}
	written = write(e->answer, &answer, sizeof(answer));
	_exit(written == (ssize_t)sizeof(answer) ? 0 : 1);
}

static int read_answer(int fd, int *answer)
{
	ssize_t n;

	do
		n = read(fd, answer, sizeof(*answer));
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof(*answer) ? 0 : -EPIPE;
}

static void wait_pid(pid_t pid)
{
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

static int entered(const struct lab *lab, int answer, struct proc *p, struct err *err)
{
	if (answer == -ESRCH)
		return err_fail(err, ENOENT, "lab '%s' has just ended", lab->name);
	if (answer < 0)
		return err_sys(err, -answer, "cannot enter lab '%s'", lab->name);
	p->pid = answer;
	p->pidfd = pidfd_open(answer, 0); /* our child, not reaped: the pid is its */
	if (p->pidfd < 0) {
		int code = errno;

		kill(answer, SIGKILL);
		wait_pid(answer);
		return err_sys(err, code, "cannot watch process %d", answer);
	}
	return 0;
}

/*
 * Forks a process that is a child of the caller, inside all namespaces of the lab, and runs `fn` in
 * it. With `die_with_parent` the kernel kills it when the calling thread ends.
 */
static int enter_fork(const struct lab *lab, bool die_with_parent, enter_fn *fn, void *arg,
		      struct proc *p, struct err *err)
{
	struct entering e = {.lab = lab, .die_with_parent = die_with_parent, .fn = fn, .arg = arg};
	autofd int self = pidfd_open(getpid(), 0);
	autofd int answer_r = -1;
	int fds[2], answer = 0, rc;
	pid_t pid;

	if (self < 0 || pipe2(fds, O_CLOEXEC) < 0)
		return err_sys(err, errno, "cannot enter lab '%s'", lab->name);
	answer_r = fds[0];
	e.answer = fds[1];
	e.parent_pidfd = self;
	pid = fork();
	if (pid == 0)
		intermediate(&e);
	rc = pid < 0 ? -errno : 0;
	close(fds[1]);
	if (rc)
		return err_sys(err, -rc, "cannot enter lab '%s'", lab->name);
	rc = read_answer(answer_r, &answer);
	wait_pid(pid);
	if (rc)
		return err_sys(err, -rc, "cannot enter lab '%s'", lab->name);
	return entered(lab, answer, p, err);
}

int enter_node(const char *node, struct err *err)
{
	autofree char *path = mem_printf(NETNS_DIR "/%s", node);
	autofd int fd = strchr(node, '/') ? -1 : open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return err_fail(err, ENOENT, "the lab has no node '%s'", node);
	if (setns(fd, CLONE_NEWNET) < 0)
		return err_sys(err, errno, "cannot enter node '%s'", node);
	return 0;
}

/* /sys shows the devices of the namespace that mounted it: so mount it again, as `ip netns exec`
 * does. Where that is forbidden (a container; user.max_mnt_namespaces), /sys/class/net is not the
 * node's; nothing else suffers. */
static int own_sys(struct err *err)
{
	struct statvfs old;
	unsigned long flags = MS_NOSUID | MS_NODEV | MS_NOEXEC;

	if (unshare(CLONE_NEWNS) < 0)
		return 0;
	if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0)
		return err_sys(err, errno, "cannot separate mounts");
	if (statvfs("/sys", &old) == 0 && (old.f_flag & ST_RDONLY))
		flags |= MS_RDONLY;
	mount("sysfs", "/sys", "sysfs", flags, NULL);
	return 0;
}

struct spawn {
	const struct lab *lab;
	const char *node;
	struct proc_spec spec;
	int report; /* write end: errors before execve() */
};

static void report_error(int fd, const struct err *err)
{
	json_t *m = msg_error(err);

	msg_send(fd, m);
	json_decref(m);
}

static void set_environment(const struct spawn *s)
{
	char ovs[OVS_ENV][OVS_PATH + 24];
	autofree char *path = program_path(); /* one is root there, so wants sbin too */

	setenv("PATH", path, 1);
	setenv("VPCLAB_LAB", s->lab->name, 1);
	if (!s->node)
		return;
	setenv("VPCLAB_NODE", s->node, 1);
	/*
	 * Also for a node without Open vSwitch, where that directory does not exist: its programs
	 * then find nothing, wherever they were built to look, and never the machine's own switch.
	 */
	ovs_env(ovs, s->node);
	for (int i = 0; i < OVS_ENV; i++) {
		char *value = strchr(ovs[i], '=');

		*value = '\0';
		setenv(ovs[i], value + 1, 1);
	}
}

static void spawn_inside(void *arg)
{
	struct spawn *s = arg;
	struct err err = ERR_INIT;
	/* proc_exec() fills descriptors 0 to 3 and closes the rest at execve() */
	int report = fcntl(s->report, F_DUPFD_CLOEXEC, HIGH_FD);
	int rc = s->node ? enter_node(s->node, &err) : 0;

	if (!rc && s->node)
		rc = own_sys(&err);
	if (!rc) {
		set_environment(s);
		rc = proc_exec(&s->spec);
		err_sys(&err, -rc, "cannot start '%s'", s->spec.argv[0]);
	}
	report_error(report, &err);
}

/* Waits for execve() (end of file) or an error of the process inside, which is then collected. */
static int await_exec(int report, struct proc *p, struct err *err)
{
	json_t *m = NULL;
	int rc = msg_recv(report, &m);

	if (rc == -ECONNRESET)
		return 0; /* closed by execve(), or killed: then its status says so */
	rc = rc ? err_sys(err, -rc, "cannot start a process inside the lab")
		: msg_take_error(m, err);
	json_decref(m);
	proc_kill(p, 0);
	return rc;
}

int lab_spawn(const struct lab *lab, const char *node, const struct proc_spec *spec, struct proc *p,
	      struct err *err)
{
	struct spawn s = {.lab = lab, .node = node, .spec = *spec};
	autofd int report = -1;
	struct proc started;
	int fds[2], rc;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return err_sys(err, errno, "cannot make a pipe");
	report = fds[0];
	s.report = fds[1];
	rc = enter_fork(lab, spec->die_with_parent, spawn_inside, &s, &started, err);
	close(fds[1]);
	if (!rc)
		rc = await_exec(report, &started, err);
	if (!rc)
		*p = started;
	return rc;
}

struct call {
	const char *node;
	int (*fn)(void *arg, int out_fd, struct err *err);
	void *arg;
	int out, report; /* write ends */
};

static void call_inside(void *arg)
{
	struct call *c = arg;
	struct err err = ERR_INIT;
	int rc = c->node ? enter_node(c->node, &err) : 0;

	signal(SIGPIPE, SIG_IGN);
	if (!rc)
		rc = c->fn(c->arg, c->out, &err);
	if (rc)
		report_error(c->report, &err);
	_exit(rc ? 1 : 0);
}

static int read_text(int fd, struct strbuf *text)
{
	char chunk[16384];
	ssize_t n;

	while ((n = read(fd, chunk, sizeof(chunk))) != 0) {
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0)
			strbuf_addn(text, chunk, (size_t)n);
	}
	return 0;
}

/* Reads what the function wrote, then its error, then its end. */
static int collect(int out_fd, int report, struct proc *p, struct strbuf *text, struct err *err)
{
	json_t *m = NULL;
	int status = 0, rc = read_text(out_fd, text);

	if (rc) {
		proc_kill(p, 0);
		return err_sys(err, -rc, "cannot read from inside the lab");
	}
	rc = msg_recv(report, &m) == 0 ? msg_take_error(m, err) : 0;
	json_decref(m);
	if (rc) {
		proc_kill(p, 0);
		return rc;
	}
	rc = proc_wait(p, INT64_MAX, &status, err);
	if (!rc && status)
		rc = err_fail(err, EINTR, "the process inside the lab ended early (status %d)",
			      proc_shell_status(status));
	return rc;
}

static int make_pipes(int out[2], int report[2], struct err *err)
{
	if (pipe2(out, O_CLOEXEC) < 0)
		return err_sys(err, errno, "cannot make a pipe");
	if (pipe2(report, O_CLOEXEC) < 0) {
		err_sys(err, errno, "cannot make a pipe");
		close(out[0]);
		close(out[1]);
		return -err->code;
	}
	return 0;
}

int lab_call(const struct lab *lab, const char *node,
	     int (*fn)(void *arg, int out_fd, struct err *err), void *arg, char **out, size_t *len,
	     struct err *err)
{
	struct call c = {.node = node, .fn = fn, .arg = arg};
	autostr struct strbuf text = {0};
	int out_fds[2], report_fds[2];
	struct proc p;
	int rc = make_pipes(out_fds, report_fds, err);

	if (rc)
		return rc;
	c.out = out_fds[1];
	c.report = report_fds[1];
	rc = enter_fork(lab, true, call_inside, &c, &p, err);
	close(out_fds[1]);
	close(report_fds[1]);
	if (!rc)
		rc = collect(out_fds[0], report_fds[0], &p, &text, err);
	close(out_fds[0]);
	close(report_fds[0]);
	if (rc)
		return rc;
	if (len)
		*len = text.len;
	*out = strbuf_take(&text);
	return 0;
}
