/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ident: pid + start time + boot id name one process for ever. Reads /proc, changes nothing. Called
 * by state.c, watch.c and lab.c.
 */
#include "emulator/lab/ident.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/mem.h"
#include "core/base/str.h"

#define STAT_STATE_FIELD 3
#define STAT_FLAGS_FIELD 9
#define STAT_START_FIELD 22
#define FLAG_EXITING	 4 /* PF_EXITING, include/linux/sched.h of the kernel */

/* The program's name may hold spaces and parentheses: fields count from the last one. NULL: cut. */
static const char *stat_field(const char *stat, int wanted)
{
	const char *s = strrchr(stat, ')');
	int field = 2;

	while (s && field < wanted) {
		s = strchr(s + 1, ' ');
		field++;
	}
	return s ? s + 1 : NULL;
}

uint64_t ident_parse_start(const char *stat)
{
	const char *s = stat_field(stat, STAT_START_FIELD);

	return s ? strtoull(s, NULL, 10) : 0;
}

/*
 * A PID 1 that ends waits inside the kernel for all others of its namespace, as long as it takes
 * their parents to collect them; it is no zombie then, but it runs nothing any more.
 */
bool ident_parse_ending(const char *stat)
{
	const char *state = stat_field(stat, STAT_STATE_FIELD);
	const char *flags = stat_field(stat, STAT_FLAGS_FIELD);

	if (!state || !flags || *state == 'Z' || *state == 'X')
		return true;
	return strtoul(flags, NULL, 10) & FLAG_EXITING;
}

/* -ESRCH also for one that is on its way out. */
static int read_start(pid_t pid, uint64_t *start, struct err *err)
{
	autofree char *text = NULL;
	char path[64];
	int rc;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	rc = file_read(path, &text, NULL, err);
	if (rc && rc != -ENOENT && rc != -ESRCH)
		return rc;
	*start = rc || ident_parse_ending(text) ? 0 : ident_parse_start(text);
	return *start ? 0 : err_fail(err, ESRCH, "there is no process %d", (int)pid);
}

bool ident_is_ours(const struct ident *id, bool own_userns)
{
	struct stat dir, its, mine;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d", (int)id->pid);
	if (stat(path, &dir) < 0 || dir.st_uid != geteuid())
		return false;
	snprintf(path, sizeof(path), "/proc/%d/ns/user", (int)id->pid);
	if (stat(path, &its) < 0 || stat("/proc/self/ns/user", &mine) < 0)
		return false;
	return (its.st_ino == mine.st_ino && its.st_dev == mine.st_dev) == !own_userns;
}

/* Where /proc shows processes only (subset=pid) there is none: then start times must do. */
static int read_boot(char boot[static IDENT_BOOT], struct err *err)
{
	autofree char *text = NULL;
	int rc = file_read("/proc/sys/kernel/random/boot_id", &text, NULL, err);

	*boot = '\0';
	if (rc)
		return rc == -ENOENT ? 0 : rc;
	snprintf(boot, IDENT_BOOT, "%.*s", (int)strcspn(text, "\n"), text);
	return 0;
}

int ident_of(pid_t pid, struct ident *id, struct err *err)
{
	struct ident got = {.pid = pid};
	int rc = read_start(pid, &got.start, err);

	if (!rc)
		rc = read_boot(got.boot, err);
	if (!rc)
		*id = got;
	return rc;
}

int ident_open(const struct ident *id)
{
	struct err err = ERR_INIT;
	char boot[IDENT_BOOT];
	uint64_t start = 0;
	struct pollfd ended = {.events = POLLIN};
	autofd int fd = -1;
	int out, rc = read_boot(boot, &err);

	if (rc)
		return rc;
	if (id->pid <= 0 || !str_eq(boot, id->boot))
		return -ESRCH;
	fd = pidfd_open(id->pid, 0);
	if (fd < 0)
		return errno == EINVAL ? -ESRCH : -errno;
	/* Read after opening: if the pid still means the old process now, the pidfd does too. */
	rc = read_start(id->pid, &start, &err);
	if (rc || start != id->start)
		return rc ? rc : -ESRCH;
	ended.fd = fd;
	if (poll(&ended, 1, 0) != 0) /* dead, and not yet collected by its parent */
		return -ESRCH;
	out = fd;
	fd = -1;
	return out;
}
