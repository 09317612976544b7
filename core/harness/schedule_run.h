/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * schedule_run: makes a scenario's changes happen in a running lab, each at its time, in a thread
 * beside the measurement; and puts the lab back afterwards.
 */
#ifndef VPCLAB_HARNESS_SCHEDULE_RUN_H
#define VPCLAB_HARNESS_SCHEDULE_RUN_H

#include "core/harness/result.h"

struct schedule_run;

/* Makes ready; *out is NULL, and no error, where there is nothing to change. Both are borrowed. */
int schedule_run_open(const struct lab *lab, const struct scenario_schedule *s,
		      struct schedule_run **out, struct err *err);

/* From now on changes happen; the window begins at `window_ns`, CLOCK_MONOTONIC. */
void schedule_run_start(struct schedule_run *r, int64_t window_ns);

/*
 * No change happens any more; the lab becomes again what it was. Adds what was changed to `out`,
 * texts in `arena`. The error is that of the first change that failed, or of putting the lab back.
 * NULL: nothing to do.
 */
int schedule_run_close(struct schedule_run *r, struct arena *arena, struct run_sample *out,
		       struct err *err);

#endif
