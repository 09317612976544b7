/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ovs_run: runs ovsdb-tool, ovsdb-server, ovs-vswitchd, ovs-vsctl and ovs-ofctl of one instance. It
 * knows nothing of bridges. Called by ovs.c, ovs_trial.c and ovs_dump.c.
 */
#include "emulator/kernel/ovs_run.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/mem.h"
#include "core/base/units.h"
#include "emulator/kernel/netns.h"
#include "emulator/kernel/program.h"

#define OVS_PACKAGE "openvswitch-switch"
#define OVS_TIME_NS (10 * NSEC_PER_SEC) /* for a program alone; one that hangs is an error */
#define OVS_STOP_MS 2000

/* A memory file with the text, at its beginning. */
static int memory_file(const char *text)
{
	int fd = memfd_create("vpclab", MFD_CLOEXEC);
	size_t len = text ? strlen(text) : 0;

	if (fd >= 0 && len &&
	    (write(fd, text, len) != (ssize_t)len || lseek(fd, 0, SEEK_SET) < 0)) {
		close(fd);
		return -1;
	}
	return fd;
}

/* proc_start() in another network namespace: the thread goes there and comes back. */
static int start_in(int ns_fd, const struct proc_spec *spec, struct proc *p, struct err *err)
{
	struct netns self = NETNS_INIT;
	int rc = netns_self(&self, err);
	struct err back = ERR_INIT;

	if (rc)
		return rc;
	if (setns(ns_fd, CLONE_NEWNET) < 0)
		rc = err_sys(err, errno, "cannot enter the namespace of Open vSwitch");
	if (!rc)
		rc = proc_start(spec, p, err);
	if (netns_enter(&self, &back) && !rc) {
		proc_kill(p, 0);
		*err = back;
		rc = -err->code;
	}
	netns_close(&self);
	return rc;
}

int ovs_run_start(const struct ovs_at *at, const char *const *argv, const char *input,
		  struct ovs_job *job, struct err *err)
{
	char env[OVS_ENV][OVS_PATH + 24], path[512];
	const char *const envp[] = {env[0], env[1], env[2], env[3], NULL};
	struct proc_spec spec = PROC_SPEC(argv);
	autofree const char **args = NULL;
	size_t n = 0;
	int rc;

	while (argv[n])
		n++;
	args = mem_zalloc((n + 1) * sizeof(*args));
	memcpy(args, argv, n * sizeof(*args));
	if (!program_find(argv[0], path, sizeof(path)))
		return err_unsupported(err, "'%s' is not installed (Debian: " OVS_PACKAGE ")",
				       argv[0]);
	args[0] = path;
	ovs_env(env, at->name);
	snprintf(job->what, sizeof(job->what), "%s", argv[0]);
	job->output = memory_file(NULL);
	job->deadline_ns = at->deadline_ns ? at->deadline_ns : clock_now_ns() + OVS_TIME_NS;
	spec.argv = args;
	spec.env = envp;
	spec.in = input ? memory_file(input) : PROC_NULL;
	spec.out = spec.errfd = job->output;
	rc = job->output < 0 || spec.in == -1 ? err_sys(err, errno, "cannot make a memory file")
					      : start_in(at->ns_fd, &spec, &job->proc, err);
	if (spec.in >= 0)
		close(spec.in);
	if (rc && job->output >= 0)
		close(job->output);
	return rc;
}

static void read_output(int fd, struct strbuf *out)
{
	char buf[4096];
	off_t at = 0;
	ssize_t n;

	while ((n = pread(fd, buf, sizeof(buf), at)) > 0) {
		strbuf_addn(out, buf, (size_t)n);
		at += n;
	}
}

/* On one line, for messages. */
static void flatten(struct strbuf *said)
{
	while (said->len && said->s[said->len - 1] == '\n')
		said->s[--said->len] = '\0';
	for (size_t i = 0; i < said->len; i++)
		if (said->s[i] == '\n')
			said->s[i] = ' ';
}

int ovs_run_read(struct ovs_job *job, struct strbuf *out, int *status, struct err *err)
{
	int wait_status = 0;
	int rc = proc_wait(&job->proc, job->deadline_ns, &wait_status, err);

	if (rc == -ETIMEDOUT) {
		proc_kill(&job->proc, 0);
		rc = err_fail(err, ETIMEDOUT,
			      "it did not finish in time (does it hang?) and was killed");
	}
	read_output(job->output, out);
	close(job->output);
	*status = proc_shell_status(wait_status);
	return rc;
}

int ovs_run_finish(struct ovs_job *job, struct err *err)
{
	autostr struct strbuf said = {0};
	int status, rc = ovs_run_read(job, &said, &status, err);

	flatten(&said);
	if (rc)
		return err_wrap(err, "%s%s%s%s", job->what, said.len ? " (it said: " : "",
				strbuf_text(&said), said.len ? ")" : "");
	/* ovs-vsctl ends with 0 also when vswitchd could not set up a port, but says so. */
	if (status || strstr(strbuf_text(&said), "Error detected"))
		return err_fail(err, EIO, "%s: %s", job->what,
				said.len ? strbuf_text(&said) : "failed");
	return 0;
}

static int run(const struct ovs_at *at, const char *const *argv, struct err *err)
{
	struct ovs_job job = {0};
	int rc = ovs_run_start(at, argv, NULL, &job, err);

	return rc ? rc : ovs_run_finish(&job, err);
}

static int find_schema(char *path, size_t size, struct err *err)
{
	static const char *const dirs[] = {"/usr/share/openvswitch",
					   "/usr/local/share/openvswitch"};
	const char *own = getenv("OVS_PKGDATADIR");

	if (own && snprintf(path, size, "%s/vswitch.ovsschema", own) < (int)size &&
	    access(path, R_OK) == 0)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++) {
		snprintf(path, size, "%s/vswitch.ovsschema", dirs[i]);
		if (access(path, R_OK) == 0)
			return 0;
	}
	return err_unsupported(
	    err, "Open vSwitch's vswitch.ovsschema is not installed (Debian: " OVS_PACKAGE ")");
}

int ovs_run_prepare(const struct ovs_at *at, struct err *err)
{
	char dir[OVS_PATH], db[OVS_PATH + 16], schema[256];
	const char *const argv[] = {"ovsdb-tool", "create", db, schema, NULL};
	int rc = find_schema(schema, sizeof(schema), err);

	if (rc)
		return rc;
	rc = file_mkdirs(ovs_dir(dir, at->name), err);
	if (rc)
		return rc;
	snprintf(db, sizeof(db), "%s/conf.db", dir);
	return run(at, argv, err);
}

int ovs_run_ovsdb(const struct ovs_at *at, struct ovs_job *job, struct err *err)
{
	char dir[OVS_PATH], db[OVS_PATH + 16], remote[OVS_PATH + 32];
	const char *const argv[] = {
	    "ovsdb-server", db,		  remote,     "--pidfile", "--log-file", "-vconsole:off",
	    "-vsyslog:off", "--no-chdir", "--detach", NULL};

	ovs_dir(dir, at->name);
	snprintf(db, sizeof(db), "%s/conf.db", dir);
	snprintf(remote, sizeof(remote), "--remote=punix:%s/db.sock", dir);
	return ovs_run_start(at, argv, NULL, job, err);
}

/* Unless told otherwise, the switch looks for the kernel's datapath, which loads its module. */
int ovs_run_vswitchd(const struct ovs_at *at, const char *datapath, struct ovs_job *job,
		     struct err *err)
{
	bool dummy = str_eq(datapath, "dummy");
	char dir[OVS_PATH], db[OVS_PATH + 16];
	const char *const argv[] = {"ovs-vswitchd",
				    db,
				    "--pidfile",
				    "--log-file",
				    "-vconsole:off",
				    "-vsyslog:off",
				    "--no-chdir",
				    "--detach",
				    str_eq(datapath, "system") ? NULL : "--disable-system",
				    dummy ? "--enable-dummy" : NULL,
				    NULL};

	ovs_dir(dir, at->name);
	snprintf(db, sizeof(db), "unix:%s/db.sock", dir);
	return ovs_run_start(at, argv, NULL, job, err);
}

/* Ends the daemon whose pid file that is. It is no child of ours: it detached itself. */
static void stop_daemon(const char *dir, const char *daemon)
{
	autofree char *path = mem_printf("%s/%s.pid", dir, daemon);
	autofree char *text = NULL;
	struct err ignored = ERR_INIT;
	autofd int pidfd = -1;
	struct pollfd p = {.events = POLLIN};
	long pid;

	if (file_read(path, &text, NULL, &ignored))
		return;
	pid = strtol(text, NULL, 10);
	pidfd = pid > 1 ? pidfd_open((pid_t)pid, 0) : -1;
	if (pidfd < 0)
		return;
	p.fd = pidfd;
	pidfd_send_signal(pidfd, SIGTERM, NULL, 0);
	if (poll(&p, 1, OVS_STOP_MS) <= 0)
		pidfd_send_signal(pidfd, SIGKILL, NULL, 0);
}

void ovs_run_stop(const struct ovs_at *at)
{
	char path[OVS_PATH];
	struct dirent *e;
	DIR *dir;

	ovs_dir(path, at->name);
	stop_daemon(path, "ovs-vswitchd");
	stop_daemon(path, "ovsdb-server");
	dir = opendir(path);
	while (dir && (e = readdir(dir)))
		unlinkat(dirfd(dir), e->d_name, 0);
	if (dir)
		closedir(dir);
	rmdir(path);
}
