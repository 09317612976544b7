/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * run: a scenario from file to result: labs up, every measurement on every path until its interval
 * is narrow enough, labs down.
 */
#ifndef VPCLAB_HARNESS_RUN_H
#define VPCLAB_HARNESS_RUN_H

#include "core/harness/result.h"

struct run_progress {
	const char *text; /* "direct throughput, run 4 of at most 10" */
	double done;	  /* share of the planned time, 0…1 */
	int64_t left_ns;  /* estimate */
	bool step;	  /* a new step; else only time has passed */
};

struct run_options {
	void (*progress)(void *arg, const struct run_progress *p); /* or NULL */
	void *arg;
};

/*
 * `s` must have been parsed without problems and outlive `out`. A measurement that fails is in the
 * result, and so is an error after the first; an error here is what prevents any measurement: the
 * topology (its problems in `p`), a lab that does not come up or is not what the plan says.
 * result_done() is needed in either case.
 */
int run_scenario(const struct scenario *s, const struct run_options *o, struct run_result *out,
		 struct problems *p, struct err *err);

/*
 * Asks the run of this process to end: workers are killed, labs taken down, the result is partial.
 * Safe in a signal handler.
 */
void run_interrupt(void);

#endif
