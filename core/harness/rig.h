/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rig: a lab made from a topology's text for one purpose, that dies with the process. It measures
 * nothing and keeps nothing: bench.h has the labs of a scenario, with what is to be told of them.
 */
#ifndef VPCLAB_HARNESS_RIG_H
#define VPCLAB_HARNESS_RIG_H

#include "emulator/lab/lab.h"
#include "emulator/lab/load.h"

struct rig {
	struct lab *lab; /* owned; NULL: none runs */
	struct wire wire;
	struct load load;
	bool loaded, compiled;
};

struct rig_spec {
	const char *name; /* of the lab; must be free */
	struct topology_file topology;
	const struct machine *machine; /* as lab_measure_machine() fills it */
};

/* Loads, compiles, builds and checks against the plan. -EINVAL: the topology has problems, which
 * are in `p`. rig_close() in either case. */
int rig_open(const struct rig_spec *s, struct rig *out, struct problems *p, struct err *err);
/* The last step alone, for who has compiled `w` with options->compile: a lab that is tied, and that
 * is what its plan says (-EUCLEAN: it is not; then *out is that lab all the same, for its owner to
 * take down, and NULL with any other error). */
int rig_build(const struct wire *w, const struct lab_up_options *options, struct lab **out,
	      struct lab_timing *timing, struct err *err);
/* An error is that of a lab that did not end. */
int rig_close(struct rig *r, struct err *err);

#endif
