/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pair: one run of one measurement inside a running lab: workers started in their nodes, counters
 * set on the flow, machine watched. run.c repeats it; `vpclab measure` does it once.
 */
#ifndef VPCLAB_HARNESS_PAIR_H
#define VPCLAB_HARNESS_PAIR_H

#include "core/harness/result.h"

struct pair_spec {
	const struct lab *lab;
	const struct wire *wire;
	const char *from, *to; /* endpoints */
	int family;
	bool opposite; /* an equal flow runs the other way (prediction only) */
	struct engine_spec engine;
	double idle_busy; /* CPUs busy when nothing is measured */
	int64_t slip_ns;
	void (*tick)(void *arg); /* at each interval, or NULL */
	void *arg;
};

/* UDP payload of an Ethernet frame (FCS included) of that family; -EINVAL when it has no room. */
int pair_frame_payload(int64_t frame, int family, int64_t *payload, struct err *err);

/* The prediction for this measurement. An error leaves out->known false. */
int pair_predict(const struct pair_spec *s, struct truth_predicted *out, struct err *err);

/* Fills `out` but for index and started_ns; strings in `arena`. An error is only returned. */
int pair_run(const struct pair_spec *s, struct arena *arena, struct run_sample *out,
	     struct err *err);

/* Kills the workers of the pair that runs now. Safe in a signal handler. */
void pair_interrupt(void);

#endif
