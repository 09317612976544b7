/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * watch: the watcher of a lab, a process outside its namespaces. It claims the run directory,
 * starts the supervisor, writes the state, and cleans up when the supervisor has ended.
 */
#ifndef VPCLAB_LAB_WATCH_H
#define VPCLAB_LAB_WATCH_H

#include "emulator/lab/lab.h"

struct watch_job {
	const char *name;
	const struct plan *plan;
	const struct lab_up_options *options;
	int ctl;	  /* socket to the command that starts the lab */
	int caller_pidfd; /* that command */
};

#define WATCH_RELEASE 'R' /* the command's answer to success; without it the lab ends */

/*
 * For a child that the command has just forked: becomes the watcher (in a child of its own,
 * detached from terminal and session). The command gets one msg: {"state", "phase_ns"}, or an error
 * when all is cleaned up again.
 */
_Noreturn void watch_detach(const struct watch_job *job);

#endif
