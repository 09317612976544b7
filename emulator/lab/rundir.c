/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rundir: run directories by name: choose, claim, remove, recognise stale ones. It does not know
 * what is in them. Called by watch.c, supervisor.c (to log and to remove), lab.c (to list and
 * prune).
 *
 * Two commands that claim, prune and remove the same name race safely, because each first takes the
 * flock of the directory itself and then makes sure that the name still leads to what it locked.
 *
 * Nothing that another user could have prepared is believed: BASE and BASE/NAME are opened one
 * after the other without following links, and count only when they are the caller's and writable
 * to nobody else. To a command that looks for labs, anything else is no lab.
 */
#include "emulator/lab/rundir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/base/str.h"
#include "core/base/units.h"

#define STATE_FILE  "state.json"
#define LOG_FILE    "log"
#define DIR_FLAGS   (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
#define CLAIM_TRIES 100 /* each lost race is another command's progress */
#define ENDING_NS   (5 * NSEC_PER_SEC)
#define DEPTH_MAX   8	/* of directories that somebody made in a run directory */
#define LOOK_MS	    500 /* a lock that its holder lost by SIGKILL is told by no event */

#define RUNDIR_INIT ((struct rundir){.parent_fd = -1, .base_fd = -1, .fd = -1})

int rundir_check_name(const char *name, struct err *err)
{
	size_t len = strlen(name);

	if (!len)
		return err_input(err, "the lab has no name; give one with --name");
	if (len > RUNDIR_NAME_MAX)
		return err_input(err, "a lab's name has at most %d bytes, '%.40s…' has %zu",
				 RUNDIR_NAME_MAX, name, len);
	if (name[0] == '.' || name[0] == '-')
		return err_input(err, "a lab's name does not start with '%c': '%s'", name[0], name);
	for (const char *c = name; *c; c++) {
		if ((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
		    (*c >= '0' && *c <= '9') || strchr("._-", *c))
			continue;
		return err_input(err,
				 "a lab's name is made of letters, digits, '.', '_' and '-'; byte "
				 "%zu of it is something else",
				 (size_t)(c - name) + 1);
	}
	return 0;
}

static bool is_own_dir(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
	       access(path, R_OK | W_OK | X_OK) == 0;
}

size_t rundir_bases(char bases[RUNDIR_BASES][PATH_MAX])
{
	const char *xdg = getenv("XDG_RUNTIME_DIR");
	bool has_xdg = xdg && xdg[0] == '/' && strlen(xdg) < PATH_MAX / 2 && is_own_dir(xdg);
	bool root = geteuid() == 0;
	size_t n = 0;

	/* Root in a user namespace of somebody's has a /run that is not its own. */
	if (has_xdg && (!root || !is_own_dir("/run")))
		snprintf(bases[n++], PATH_MAX, "%s/vpclab", xdg);
	if (root && !n)
		snprintf(bases[n++], PATH_MAX, "/run/vpclab");
	/* Never for root: whoever comes first may make anything of that name. */
	if (!root)
		snprintf(bases[n++], PATH_MAX, "/tmp/vpclab-%u", (unsigned)geteuid());
	return n;
}

void rundir_close(struct rundir *r)
{
	int *fds[] = {&r->fd, &r->base_fd, &r->parent_fd};

	for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
		if (*fds[i] >= 0)
			close(*fds[i]);
		*fds[i] = -1;
	}
}

static const char *last_part(const char *path)
{
	return strrchr(path, '/') + 1;
}

static int open_parent(const char *base)
{
	char parent[PATH_MAX];

	snprintf(parent, sizeof(parent), "%.*s", (int)(last_part(base) - base), base);
	return open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* Nobody else may have prepared it for us: it is ours, and only we can write there. */
static int check_owner(int fd, const char *base, struct err *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return err_sys(err, errno, "cannot use '%s'", base);
	if (st.st_uid != geteuid())
		return err_fail(err, EPERM, "'%s' belongs to user %u, not to you (%u)", base,
				(unsigned)st.st_uid, (unsigned)geteuid());
	if (st.st_mode & 022)
		return err_fail(err, EPERM, "others may write to '%s'; chmod 700 it", base);
	return 0;
}

/* Opens BASE, made when missing if `make`. -ENOENT when it is not there. */
static int open_base(const char *base, bool make, struct rundir *r, struct err *err)
{
	r->parent_fd = open_parent(base);
	if (r->parent_fd < 0)
		return err_sys(err, errno, "cannot use '%s'", base);
	if (make && mkdirat(r->parent_fd, last_part(base), 0700) < 0 && errno != EEXIST)
		return err_sys(err, errno, "cannot make directory '%s'", base);
	r->base_fd = openat(r->parent_fd, last_part(base), DIR_FLAGS);
	if (r->base_fd < 0 && errno == ENOTDIR)
		return err_fail(err, ENOTDIR, "'%s' is in the way: it is no directory; remove it",
				base);
	if (r->base_fd < 0)
		return err_sys(err, errno, "cannot use '%s'", base);
	return check_owner(r->base_fd, base, err);
}

static bool leads_to(int dir, const char *name, int fd)
{
	struct stat a, b;

	return fstat(fd, &a) == 0 && fstatat(dir, name, &b, AT_SYMLINK_NOFOLLOW) == 0 &&
	       a.st_ino == b.st_ino && a.st_dev == b.st_dev;
}

/* Does the name still lead to the directory that we opened? */
static bool still_there(const struct rundir *r)
{
	return leads_to(r->base_fd, r->name, r->fd);
}

static void empty(int fd, int depth);

static void remove_entry(int dir, const char *name, int depth)
{
	autofd int sub = -1;

	if (unlinkat(dir, name, 0) == 0 || depth <= 0)
		return;
	sub = openat(dir, name, DIR_FLAGS);
	if (sub < 0)
		return;
	empty(sub, depth - 1);
	unlinkat(dir, name, AT_REMOVEDIR);
}

static void empty(int fd, int depth)
{
	int copy = openat(fd, ".", DIR_FLAGS);
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *e;

	if (!dir) {
		if (copy >= 0)
			close(copy);
		return;
	}
	unlinkat(fd, STATE_FILE, 0); /* first: see has_state() */
	while ((e = readdir(dir)))
		if (!str_eq(e->d_name, ".") && !str_eq(e->d_name, ".."))
			remove_entry(fd, e->d_name, depth);
	closedir(dir);
}

void rundir_remove(struct rundir *r)
{
	char *slash = strrchr(r->path, '/');

	if (r->fd >= 0 && still_there(r)) {
		empty(r->fd, DEPTH_MAX);
		unlinkat(r->base_fd, r->name, AT_REMOVEDIR);
		*slash = '\0';						  /* BASE */
		unlinkat(r->parent_fd, last_part(r->path), AT_REMOVEDIR); /* if it is empty */
		*slash = '/';
	}
	rundir_close(r);
}

/*
 * One attempt to open and lock BASE/NAME. 0: locked and there. -EAGAIN: lost a race, try again.
 * -EWOULDBLOCK is the same number, so a held lock is -EBUSY.
 */
static int try_lock(const char *base, const char *name, bool make, struct rundir *r,
		    struct err *err)
{
	int rc;

	*r = RUNDIR_INIT;
	snprintf(r->name, sizeof(r->name), "%s", name);
	snprintf(r->path, sizeof(r->path), "%s/%s", base, name);
	rc = open_base(base, make, r, err);
	if (rc)
		return rc;
	if (make && mkdirat(r->base_fd, name, 0700) < 0 && errno != EEXIST)
		return errno == ENOENT ? -EAGAIN
				       : err_sys(err, errno, "cannot make directory '%s'", r->path);
	r->fd = openat(r->base_fd, name, DIR_FLAGS);
	if (r->fd < 0)
		return make && errno == ENOENT ? -EAGAIN
					       : err_sys(err, errno, "cannot open '%s'", r->path);
	rc = check_owner(r->fd, r->path, err);
	if (rc)
		return rc;
	if (flock(r->fd, LOCK_EX | LOCK_NB) < 0)
		return errno == EWOULDBLOCK ? -EBUSY
					    : err_sys(err, errno, "cannot lock '%s'", r->path);
	return still_there(r) ? 0 : -EAGAIN;
}

/* As try_lock(); -EBUSY leaves *r open, without the lock. */
static int lock(const char *base, const char *name, bool make, struct rundir *r, struct err *err)
{
	int rc = -EAGAIN;

	for (int i = 0; rc == -EAGAIN && i < CLAIM_TRIES; i++) {
		rc = try_lock(base, name, make, r, err);
		if (rc && rc != -EBUSY)
			rundir_close(r);
	}
	if (rc == -EAGAIN)
		return err_fail(err, EDEADLK, "'%s/%s' comes and goes; another command works on it",
				base, name);
	return rc;
}

/* A lab writes state.json first of all and removes it first of all: without one, a held lock is
 * that of a lab that ends just now, or of a command that prunes. */
static bool has_state(const struct rundir *r)
{
	return faccessat(r->fd, STATE_FILE, F_OK, 0) == 0;
}

static int claim_in(const char *base, const char *name, struct rundir *out, struct err *err)
{
	int64_t deadline = clock_now_ns() + ENDING_NS;
	int rc;

	for (;;) {
		bool lives;

		rc = lock(base, name, true, out, err);
		if (rc != -EBUSY)
			break;
		lives = has_state(out);
		rundir_close(out);
		if (lives || !rundir_wait_gone(base, name, deadline))
			return err_fail(err, EALREADY, "lab '%s' exists", name);
	}
	if (rc)
		return rc;
	empty(out->fd, DEPTH_MAX); /* what a killed lab left */
	return 0;
}

int rundir_claim(const char *base, const char *name, struct rundir *out, struct err *err)
{
	char bases[RUNDIR_BASES][PATH_MAX];
	struct err first = ERR_INIT;
	size_t n;
	int rc = 0;

	if (base)
		return claim_in(base, name, out, err);
	n = rundir_bases(bases);
	for (size_t i = 0; i < n; i++) {
		rc = claim_in(bases[i], name, out, err);
		if (!rc || rc == -EALREADY)
			return rc;
		if (i == 0)
			first = *err;
	}
	*err = first;
	return rc;
}

int rundir_open_log(const struct rundir *r)
{
	return openat(r->fd, LOG_FILE, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW,
		      0600);
}

void rundir_log(const struct rundir *r, const char *fmt, ...)
{
	autofd int fd = rundir_open_log(r);
	va_list ap;

	if (fd < 0)
		return;
	va_start(ap, fmt);
	vdprintf(fd, fmt, ap);
	va_end(ap);
	dprintf(fd, "\n");
}

/* What an open or a check says of a directory that is no lab of this user's. */
static bool is_no_lab(int rc)
{
	return rc == -ENOENT || rc == -ENOTDIR || rc == -ELOOP || rc == -EPERM || rc == -EACCES;
}

int rundir_open(const char *base, const char *name, struct rundir *out, struct err *err)
{
	int rc = lock(base, name, false, out, err);

	if (rc == -EBUSY)
		return 0;
	if (!rc)
		rundir_remove(out); /* nobody holds it: all of it has died */
	return !rc || is_no_lab(rc) ? err_fail(err, ENOENT, "there is no lab '%s'", name) : rc;
}

int rundir_list(const char *base, DIR **out, struct err *err)
{
	struct rundir r = RUNDIR_INIT;
	int rc = open_base(base, false, &r, err);

	*out = rc ? NULL : fdopendir(r.base_fd);
	if (*out)
		r.base_fd = -1; /* closedir() closes it */
	else if (!rc)
		rc = err_sys(err, errno, "cannot read '%s'", base);
	rundir_close(&r);
	return is_no_lab(rc) ? 0 : rc;
}

int rundir_open_state(const struct rundir *r, struct err *err)
{
	/* Not blocking: whatever has that name, nobody waits for it. */
	int fd = openat(r->fd, STATE_FILE, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return err_sys(err, errno, "cannot read '%s/" STATE_FILE "'", r->path);
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid())
		return fd;
	close(fd);
	return err_fail(err, EPROTO, "'%s/" STATE_FILE "' is no file of this user's", r->path);
}

void rundir_ask_end(const struct rundir *r)
{
	if (unlinkat(r->fd, STATE_FILE, 0) < 0 && errno != ENOENT)
		unlinkat(r->fd, STATE_FILE, AT_REMOVEDIR);
}

bool rundir_intact(const struct rundir *r)
{
	autofree char *base = mem_printf("%.*s", (int)(last_part(r->path) - r->path - 1), r->path);

	return still_there(r) && has_state(r) &&
	       leads_to(r->parent_fd, last_part(base), r->base_fd);
}

int rundir_notify(const struct rundir *r)
{
	autofree char *base = mem_printf("%.*s", (int)(last_part(r->path) - r->path), r->path);
	int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);

	if (fd < 0)
		return -1;
	if (inotify_add_watch(fd, r->path,
			      IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF |
				  IN_MOVE_SELF | IN_ONLYDIR) >= 0 &&
	    inotify_add_watch(fd, base, IN_MOVE_SELF | IN_DELETE_SELF | IN_ONLYDIR) >= 0)
		return fd;
	close(fd);
	return -1;
}

void rundir_drain(int notify_fd)
{
	char events[4096];

	while (read(notify_fd, events, sizeof(events)) > 0)
		;
}

void rundir_wait_change(int notify_fd, long long deadline_ns)
{
	int64_t left = (deadline_ns - clock_now_ns()) / NSEC_PER_MSEC;
	struct pollfd p = {.fd = notify_fd, .events = POLLIN};

	poll(&p, 1, left < 0 ? 0 : left > LOOK_MS ? LOOK_MS : (int)left);
	rundir_drain(notify_fd);
}

bool rundir_prune(const char *base, const char *name)
{
	struct err err = ERR_INIT;
	struct rundir r;
	int rc = rundir_open(base, name, &r, &err);

	if (!rc)
		rundir_close(&r);
	return rc == -ENOENT;
}

/* In a child: waits for the lock. flock() belongs to the open file, so the parent has it then. */
static pid_t start_locker(int fd)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	_exit(flock(fd, LOCK_EX) < 0);
}

/* True when the lock of `fd` was got before the deadline. */
static bool lock_until(int fd, int64_t deadline)
{
	int64_t left = (deadline - clock_now_ns()) / NSEC_PER_MSEC;
	pid_t pid = start_locker(fd);
	autofd int pidfd = pid > 0 ? pidfd_open(pid, 0) : -1;
	struct pollfd p = {.fd = pidfd, .events = POLLIN};
	int status = -1;

	if (pid <= 0)
		return false;
	if (pidfd < 0 || poll(&p, 1, left < 0 ? 0 : (int)left) <= 0)
		kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status == 0;
}

bool rundir_wait_gone(const char *base, const char *name, long long deadline_ns)
{
	autofree char *path = mem_printf("%s/%s", base, name);

	while (!rundir_prune(base, name)) {
		autofd int fd = open(path, DIR_FLAGS);

		if (fd < 0 && errno != ENOENT)
			return false;
		if (fd >= 0 && !lock_until(fd, deadline_ns))
			return false;
	}
	return true;
}
