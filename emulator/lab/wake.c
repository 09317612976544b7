/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wake: the parents of a lab's dead. `vpclab exec`, stopped by Ctrl-Z, is the parent of what runs
 * inside; the kernel kills that with the lab, but only the parent can collect it. Called by down.c
 * and watch.c. It kills nothing.
 */
#include "emulator/lab/wake.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/mem.h"

/* 0 where it cannot be known. */
static ino_t pid_namespace(pid_t pid)
{
	struct stat st;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/ns/pid", (int)pid);
	return stat(path, &st) < 0 ? 0 : st.st_ino;
}

/* State letter and parent of a process, proc(5). */
static bool read_stat(pid_t pid, char *state, pid_t *parent)
{
	autofree char *text = NULL;
	struct err ignored = ERR_INIT;
	char path[64];
	int ppid;
	const char *end;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (file_read(path, &text, NULL, &ignored))
		return false;
	end = strrchr(text, ')');
	if (!end || sscanf(end, ") %c %d", state, &ppid) != 2)
		return false;
	*parent = ppid;
	return true;
}

static bool is_mine(pid_t pid)
{
	struct stat st;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	return stat(path, &st) == 0 && st.st_uid == geteuid();
}

static void wake_if_stopped(pid_t pid)
{
	autofd int fd = pidfd_open(pid, 0);
	pid_t parent;
	char state;

	if (fd >= 0 && read_stat(pid, &state, &parent) && state == 'T' && is_mine(pid))
		pidfd_send_signal(fd, SIGCONT, NULL, 0);
}

void wake_parents(pid_t supervisor)
{
	ino_t inside = pid_namespace(supervisor);
	DIR *dir = inside ? opendir("/proc") : NULL;
	struct dirent *e;

	while (dir && (e = readdir(dir))) {
		pid_t pid = atoi(e->d_name), parent;
		char state;

		if (pid > 0 && read_stat(pid, &state, &parent) && state == 'Z' &&
		    pid_namespace(pid) == inside && pid_namespace(parent) != inside)
			wake_if_stopped(parent);
	}
	if (dir)
		closedir(dir);
}
