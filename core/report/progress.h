/* SPDX-License-Identifier: GPL-2.0-or-later */
/* progress: where a run is, on standard error: a bar on a terminal, else one line a step. */
#ifndef VPCLAB_REPORT_PROGRESS_H
#define VPCLAB_REPORT_PROGRESS_H

#include "core/harness/run.h"

struct progress {
	bool bar;   /* standard error is a terminal */
	bool drawn; /* a bar stands on the line */
};

void progress_init(struct progress *p);
void progress_show(void *progress,
		   const struct run_progress *what); /* a struct run_options callback */
void progress_done(struct progress *p);		     /* wipes the bar */

#endif
