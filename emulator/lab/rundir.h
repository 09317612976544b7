/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rundir: the one thing that a lab has outside its namespaces: a directory BASE/NAME, which holds
 * state.json and log. Its flock is held by the lab's watcher and supervisor as long as one of them
 * lives, so the kernel itself says which directories are stale.
 */
#ifndef VPCLAB_LAB_RUNDIR_H
#define VPCLAB_LAB_RUNDIR_H

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/base/err.h"

#define RUNDIR_NAME_MAX 200
#define RUNDIR_BASES	2

struct rundir {
	char name[RUNDIR_NAME_MAX + 1];
	char path[PATH_MAX];
	int parent_fd; /* directory that holds BASE */
	int base_fd;   /* BASE */
	int fd;	       /* BASE/NAME; carries the lock */
};

/* Is this a name for a lab? Letters, digits, '.', '_', '-', at most 200 bytes. ERR_INPUT if not. */
int rundir_check_name(const char *name, struct err *err);

/*
 * Where labs of this user live, the best first. Root: /run/vpclab alone ($XDG_RUNTIME_DIR/vpclab
 * instead where /run is not its own). Others: $XDG_RUNTIME_DIR/vpclab, and /tmp/vpclab-UID. Writes
 * to `bases` and returns how many there are (1 or 2). Nothing is created.
 */
size_t rundir_bases(char bases[RUNDIR_BASES][PATH_MAX]);

/*
 * Makes BASE/NAME and locks it. A stale one of that name is emptied and taken over. `base` NULL:
 * the first of rundir_bases() that can be used. -EALREADY: a lab of that name lives or is being
 * started.
 */
int rundir_claim(const char *base, const char *name, struct rundir *out, struct err *err);

/* Removes all of it (also BASE, when nothing is left there) and closes. Works from any mount
 * namespace. Never fails: what cannot be removed now is stale and goes with the next command. */
void rundir_remove(struct rundir *r);
void rundir_close(struct rundir *r); /* lets go of the lock, unless another process shares it */

/*
 * The lab's log, BASE/NAME/log: what its processes say, and what it has to do without. Made when it
 * is not there. rundir_open_log() gives a descriptor that appends, or -1; rundir_log() adds a line,
 * and loses it where it cannot: a lab does not fail for want of a log.
 */
int rundir_open_log(const struct rundir *r);
void rundir_log(const struct rundir *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/*
 * Opens BASE/NAME of a lab that lives, without its lock. -ENOENT where there is none: nothing of
 * that name, a stale one (which is removed), or one that is not this user's alone.
 */
int rundir_open(const char *base, const char *name, struct rundir *out, struct err *err);

/* Opens BASE to list it. *out is NULL, and no error, where no lab of this user can be. */
int rundir_list(const char *base, DIR **out, struct err *err);

/* A descriptor of state.json, or a negative errno: -EPROTO when it is no file of this user's. */
int rundir_open_state(const struct rundir *r, struct err *err);

/* Takes state.json away, by which the lab's watcher knows that the lab shall end. */
void rundir_ask_end(const struct rundir *r);

/* Can commands still find the lab? Not when somebody moved or removed its directory or state. */
bool rundir_intact(const struct rundir *r);

/*
 * rundir_notify(): a descriptor that becomes readable when rundir_intact(), or state.json, may have
 * changed; -1 where there is none to be had. rundir_drain() takes what it has to say.
 * rundir_wait_change(): returns when it says something, at the deadline, or after half a second: a
 * process killed by SIGKILL lets go of its lock without a word. `notify_fd` may be -1.
 */
int rundir_notify(const struct rundir *r);
void rundir_drain(int notify_fd);
void rundir_wait_change(int notify_fd, long long deadline_ns);

/* Removes BASE/NAME if nobody holds its lock. True when no lab of this user is there (any more). */
bool rundir_prune(const char *base, const char *name);

/* Waits until nobody holds the lock of BASE/NAME (then prunes it), at most until the deadline. True
 * when the directory is gone. */
bool rundir_wait_gone(const char *base, const char *name, long long deadline_ns);

#endif
