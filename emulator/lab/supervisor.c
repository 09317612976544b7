/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * supervisor: PID 1 of a lab. Called by watch.c alone.
 *
 * It lives from clone() to SIGTERM, or to the end of the watcher (end of file on the lifeline), and
 * owns all of the lab: when PID 1 of a PID namespace ends, the kernel kills every process in it,
 * and with the last process go the mount and network namespaces. So nothing needs to be undone,
 * however it ends. Building runs in a child, so that PID 1 answers at any moment and stays small.
 */
#include "emulator/lab/supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/mem.h"
#include "core/base/str.h"
#include "emulator/lab/apply.h"
#include "emulator/lab/msg.h"
#include "emulator/lab/relays.h"

#define NAMESPACES (CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS)

bool supervisor_needs_userns(void)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct caps[2] = {0};
	const unsigned need = 1u << CAP_SYS_ADMIN | 1u << CAP_NET_ADMIN;

	return syscall(SYS_capget, &head, caps) < 0 || (caps[0].effective & need) != need;
}

static bool file_says(const char *path, const char *value)
{
	autofree char *text = NULL;
	struct err ignored = ERR_INIT;

	if (file_read(path, &text, NULL, &ignored))
		return false;
	text[strcspn(text, "\n")] = '\0';
	return str_eq(text, value);
}

int supervisor_explain(int code, struct err *err)
{
	if (file_says("/proc/sys/kernel/unprivileged_userns_clone", "0"))
		return err_unsupported(err, "this system keeps ordinary users from making user "
					    "namespaces (sysctl kernel.unprivileged_userns_clone "
					    "is 0): set it to 1, or run vpclab as root");
	if (file_says("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1"))
		return err_unsupported(err, "AppArmor keeps ordinary users from user namespaces "
					    "(sysctl kernel.apparmor_restrict_unprivileged_userns "
					    "is 1): set it to 0, or run vpclab as root");
	if (code == ENOSPC)
		return err_unsupported(err,
				       "no more namespaces are allowed: raise the sysctls "
				       "user.max_*_namespaces (user, mnt, pid, net, ipc, uts)");
	if (code == EPERM || code == EACCES)
		return err_unsupported(err, "this user may not make namespaces here (a container "
					    "without them?): see vpclab doctor");
	return err_sys(err, code, "cannot make the lab's namespaces");
}

static int write_file(const char *path, const char *text)
{
	autofd int fd = open(path, O_WRONLY | O_CLOEXEC);
	size_t len = strlen(text);

	if (fd < 0)
		return -errno;
	return write(fd, text, len) == (ssize_t)len ? 0 : -errno;
}

/* user_namespaces(7): one line each, and setgroups(2) given up before gid_map. */
int supervisor_map_ids(unsigned uid, unsigned gid, struct err *err)
{
	char uid_line[48], gid_line[48];
	int rc;

	snprintf(uid_line, sizeof(uid_line), "0 %u 1\n", uid);
	snprintf(gid_line, sizeof(gid_line), "0 %u 1\n", gid);
	rc = write_file("/proc/self/setgroups", "deny");
	if (!rc)
		rc = write_file("/proc/self/uid_map", uid_line);
	if (!rc)
		rc = write_file("/proc/self/gid_map", gid_line);
	return rc ? supervisor_explain(-rc, err) : 0;
}

static int mount_tmpfs(const char *at, struct err *err)
{
	if (mkdir(at, 0755) < 0 && errno != EEXIST)
		return err_sys(err, errno, "cannot make '%s' inside the lab", at);
	if (mount("tmpfs", at, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755") < 0)
		return err_sys(err, errno, "cannot mount a tmpfs on '%s' inside the lab", at);
	return 0;
}

/* A system whose /var/run is a directory of its own: programs of the lab shall see the lab's. */
static void cover_var_run(const struct rundir *run)
{
	struct stat st;

	if (lstat("/var/run", &st) == 0 && S_ISDIR(st.st_mode) &&
	    mount("/run", "/var/run", NULL, MS_BIND, NULL) < 0)
		rundir_log(run, "cannot bind /run on /var/run: %s", strerror(errno));
}

/*
 * Slave, not private: what the host unmounts must go here too, or its devices would stay busy; what
 * happens here never reaches the host. /run/netns is a mount of its own, so that all namespaces go
 * by one umount.
 */
static int set_up_mounts(const struct rundir *run, struct err *err)
{
	int rc;

	if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0)
		return errno == EPERM || errno == EACCES
			   ? supervisor_explain(errno, err)
			   : err_sys(err, errno, "cannot separate the lab's mounts");
	rc = mount_tmpfs("/run", err);
	if (!rc)
		rc = mount_tmpfs("/run/netns", err);
	if (rc)
		return rc;
	cover_var_run(run);
	/* Refused where a container hides parts of /proc; then the old one must do. */
	if (mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0) {
		rundir_log(run, "the lab has no /proc of its own: %s", strerror(errno));
		if (access("/proc/sys/net", F_OK) < 0)
			return err_unsupported(err, "/proc has no sys/net here (mounted with "
						    "subset=pid?), and a new one is refused: the "
						    "lab's hosts and routers cannot be set up");
	}
	return 0;
}

/* A namespace costs the builder two descriptors. */
static void raise_file_limit(void)
{
	struct rlimit lim;

	if (getrlimit(RLIMIT_NOFILE, &lim) == 0) {
		lim.rlim_cur = lim.rlim_max;
		setrlimit(RLIMIT_NOFILE, &lim);
	}
}

static json_t *result_json(const struct apply_result *r)
{
	json_t *phases = json_array();

	for (int i = 0; i < PHASE_COUNT; i++)
		json_array_append_new(phases, json_integer(r->phase_ns[i]));
	return json_pack("{s:o, s:O?}", "phase_ns", phases, "choices", r->choices);
}

static _Noreturn void build(const struct supervisor_job *job)
{
	struct apply_result result = {0};
	struct err err = ERR_INIT;
	sigset_t none;
	json_t *m;
	int rc;

	prctl(PR_SET_NAME, "vpclab-build");
	close(job->lifeline);
	rundir_close(job->run);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	raise_file_limit();
	rc = apply_plan(job->plan, &result, &err);
	m = rc ? msg_error(&err) : result_json(&result);
	rc = msg_send(job->report, m);
	json_decref(m);
	json_decref(result.choices);
	_exit(rc ? 1 : 0);
}

static void report_error(const struct supervisor_job *job, const struct err *err)
{
	json_t *m = msg_error(err);

	msg_send(job->report, m);
	json_decref(m);
}

struct loop {
	const struct supervisor_job *job;
	pid_t builder; /* 0: done */
	int signals;   /* signalfd */
};

/* Collects the dead. A builder that was killed has reported nothing: that is reported here. */
static void reap(struct loop *l)
{
	struct err err = ERR_INIT;
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG | __WALL)) > 0) {
		if (pid != l->builder) {
			relays_collected(pid, status, l->job->run);
			continue;
		}
		if (WIFSIGNALED(status)) {
			err_fail(&err, EINTR, "the process that built the lab was killed (%s)",
				 strsignal(WTERMSIG(status)));
			report_error(l->job, &err);
		}
		close(l->job->report);
		l->builder = 0;
	}
}

/* True when the lab shall end. */
static bool take_signals(struct loop *l)
{
	struct signalfd_siginfo si;
	bool end = false;

	while (read(l->signals, &si, sizeof(si)) == (ssize_t)sizeof(si))
		if (si.ssi_signo == SIGTERM)
			end = true;
	reap(l);
	return end;
}

static bool watcher_gone(const struct supervisor_job *job)
{
	struct pollfd p = {.fd = job->lifeline, .events = POLLIN};

	return poll(&p, 1, 0) > 0;
}

/* Runs until the lab shall end. */
static void supervise(struct loop *l)
{
	struct pollfd p[] = {
	    {.fd = l->signals, .events = POLLIN},
	    {.fd = l->job->lifeline, .events = POLLIN}, /* nothing is ever written: its end */
	};

	for (;;) {
		if (poll(p, ARRAY_SIZE(p), -1) < 0 && errno != EINTR)
			return;
		if (p[0].revents && take_signals(l))
			return;
		if (p[1].revents)
			return;
	}
}

/* The order makes the namespaces go before PID 1 does: whoever waits for PID 1 then knows. */
static _Noreturn void end(const struct supervisor_job *job)
{
	kill(-1, SIGKILL);
	umount2("/run/netns", MNT_DETACH);
	if (watcher_gone(job))
		rundir_remove(job->run);
	_exit(0);
}

static int start_builder(struct loop *l, struct err *err)
{
	sigset_t all;

	/* Blocked, not ignored: PID 1 gets no signal that it does not wait for. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	l->signals = signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
	if (l->signals < 0)
		return err_sys(err, errno, "cannot make a signalfd");
	l->builder = fork();
	if (l->builder < 0)
		return err_sys(err, errno, "cannot start the process that builds the lab");
	if (l->builder == 0) {
		close(l->signals);
		build(l->job);
	}
	return 0;
}

static _Noreturn void supervisor_main(const struct supervisor_job *job)
{
	struct loop loop = {.job = job, .signals = -1};
	struct err err = ERR_INIT;
	int rc = 0;

	for (size_t i = 0; i < ARRAY_SIZE(job->not_its); i++)
		close(job->not_its[i]);
	prctl(PR_SET_NAME, "vpclab-lab");
	prctl(PR_SET_DUMPABLE, 1); /* or its owner could not enter */
	umask(022);
	if (job->userns)
		rc = supervisor_map_ids(job->uid, job->gid, &err);
	if (!rc)
		rc = set_up_mounts(job->run, &err);
	if (!rc)
		rc = start_builder(&loop, &err);
	if (rc)
		report_error(job, &err);
	else
		supervise(&loop);
	end(job);
}

int supervisor_start(const struct supervisor_job *job, int *pid, int *pidfd, struct err *err)
{
	long flags = NAMESPACES | SIGCHLD | (job->userns ? CLONE_NEWUSER : 0);
	/* As fork(), but into new namespaces; the watcher has one thread, so this is safe. */
	long got = syscall(SYS_clone, flags, 0L, 0L, 0L, 0L);

	if (got < 0)
		return supervisor_explain(errno, err);
	if (got == 0)
		supervisor_main(job);
	*pid = (int)got;
	*pidfd = pidfd_open(*pid, 0);
	if (*pidfd < 0) {
		int code = errno;

		kill(*pid, SIGKILL);
		waitpid(*pid, NULL, __WALL);
		return err_sys(err, code, "cannot watch the lab");
	}
	return 0;
}
