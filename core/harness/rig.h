/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rig: a lab made from a topology's text for one purpose, that dies with the process. */
#ifndef VPCLAB_HARNESS_RIG_H
#define VPCLAB_HARNESS_RIG_H

#include "emulator/lab/lab.h"
#include "emulator/lab/load.h"

struct rig {
	struct lab *lab;
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
/* An error is that of a lab that did not end. */
int rig_close(struct rig *r, struct err *err);

#endif
