/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * supervisor: PID 1 of a lab. It sets up the lab's mounts, has a child build what the plan says,
 * then reaps for ever. When it ends, the kernel ends everything in the lab.
 */
#ifndef VPCLAB_LAB_SUPERVISOR_H
#define VPCLAB_LAB_SUPERVISOR_H

#include <stdbool.h>

#include "emulator/lab/rundir.h"
#include "emulator/plan/plan.h"

struct supervisor_job {
	const struct plan *plan;
	struct rundir *run; /* has the log; removed when the watcher is not there to do it */
	bool userns;	    /* in a user namespace of its own, where the user becomes root */
	unsigned uid, gid;  /* effective ids outside */
	int lifeline;	    /* read end of a pipe whose other end only the watcher has */
	int report;	    /* write end: gets one msg, the result of building or the error */
	int not_its[4];	    /* descriptors of the watcher to close in the supervisor */
};

/* Starts it in new namespaces. *pid and *pidfd are those of PID 1, seen from outside; the caller is
 * its parent. ERR_UNSUPPORTED where this user may not make the namespaces. */
int supervisor_start(const struct supervisor_job *job, int *pid, int *pidfd, struct err *err);

/* Would a lab of this process need a user namespace of its own? */
bool supervisor_needs_userns(void);

/* In a new user namespace: its root is the user with these ids outside. */
int supervisor_map_ids(unsigned uid, unsigned gid, struct err *err);

/* Why making namespaces failed with `code`, as an error for the user. Returns a negative errno. */
int supervisor_explain(int code, struct err *err);

#endif
