/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trial_course: makes a trial's events happen while the tool runs, each at its time since the
 * flow's first packet, and undoes what was to last for a while only. What it changes in a link is
 * what a scenario's `schedule:` changes (schedule.h).
 */
#ifndef VPCLAB_HARNESS_TRIAL_COURSE_H
#define VPCLAB_HARNESS_TRIAL_COURSE_H

#include "core/harness/rig.h"
#include "core/harness/trial.h"
#include "core/harness/trial_evidence.h"

struct trial_course;

struct trial_course_at { /* all borrowed */
	const struct trial *trial;
	const struct rig *rig;
	const struct machine *machine;
	struct trial_evidence *evidence;
};

/* Finds the links and nodes that the events name, and tries what they change; the first that is not
 * possible is the error. trial_course_close() in either case. */
int trial_course_open(const struct trial_course_at *at, struct trial_course **out, struct err *err);
/* As tool_run() wants it, `arg` is the course: reads the evidence and does what is due. True: the
 * server is to be killed. */
bool trial_course_tick(void *arg, int64_t now_ns);
/* Nothing happens any more, and what stands still goes on. The error is that of the first event
 * that did not happen. NULL is fine. */
int trial_course_close(struct trial_course *c, struct err *err);

#endif
