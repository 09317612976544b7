/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ident: which process is meant, for longer than a pid means one: pid, start time, boot.
 */
#ifndef VPCLAB_LAB_IDENT_H
#define VPCLAB_LAB_IDENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/base/err.h"

#define IDENT_BOOT 40

struct ident {
	pid_t pid;
	uint64_t start;	       /* clock ticks after boot: field 22 of /proc/PID/stat, proc(5) */
	char boot[IDENT_BOOT]; /* /proc/sys/kernel/random/boot_id */
};

/* Fills in start time and boot of process `pid`. -ESRCH when there is none. */
int ident_of(pid_t pid, struct ident *id, struct err *err);

/* Gives a pidfd of just this process, or -ESRCH when it has ended or is ending (a reused pid is not
 * taken). Any other negative errno: it could not be looked at. */
int ident_open(const struct ident *id);

/* Is the process the caller's user's, and in the caller's user namespace (`own_userns`: in
 * another)? To be asked before a pid that a file names is entered or killed. */
bool ident_is_ours(const struct ident *id, bool own_userns);

/* Does a line of /proc/PID/stat tell of a process that runs nothing any more? */
bool ident_parse_ending(const char *stat);

/* The start time in one line of /proc/PID/stat; 0 where the text is not one. Split off for tests.
 */
uint64_t ident_parse_start(const char *stat);

#endif
