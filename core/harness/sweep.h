/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sweep: one measurement over values of keys of its specification. Several sweeps nest: the last
 * one turns fastest.
 *
 *   size=1,64,512      these values (texts and true/false too, for keys that are such)
 *   size=1..64KiB*2    from 1, each twice the one before, to 64 KiB at most
 *   streams=1..9+2     from 1, each 2 more, to 9 at most
 *   size:1:64K:*2      the same in qperf's way (msg_size is its name of size; K is 1024 there)
 *
 * A key is one of a specification (engine.h), with the unit in its name or, with units in the
 * values, without; or "frame": an Ethernet frame with FCS, for udp_stream; or "test": others
 * without a script, each with all that was chosen for this one; what it does not take is an error.
 */
#ifndef VPCLAB_HARNESS_SWEEP_H
#define VPCLAB_HARNESS_SWEEP_H

#include "core/harness/repeat.h"

#define SWEEP_VALUES 1000  /* of one key */
#define SWEEP_POINTS 10000 /* in all */

struct sweep_axis {
	const char *key;	 /* as it is in a specification, or "frame" */
	VEC(const char *) texts; /* values */
};

struct sweep_plan {
	VEC(struct sweep_axis) axes;
	int family; /* of frames */
};

struct sweep_point {
	size_t *at; /* index of the value of each axis */
	struct repeat r;
};

struct sweep { /* zeroed is empty; in the procedure's arena */
	VEC(struct sweep_point) points;
	bool interrupted;
};

/* Adds an axis; `base` is what values are checked against. -EINVAL names the key. */
int sweep_add(struct sweep_plan *plan, struct arena *arena, const char *text,
	      const struct engine_spec *base, struct err *err);

/* The specification of a point; -EINVAL when its values do not go together. */
int sweep_spec(const struct sweep_plan *plan, const struct engine_spec *base, const size_t *at,
	       struct engine_spec *out, struct err *err);

/* Every point, each as often as `how` says. All specifications are checked before the first one is
 * measured. A point that fails is in *out with its error. */
int sweep_run(struct procedure *p, const struct sweep_plan *plan, const struct engine_spec *base,
	      const struct scenario_repeat *how, struct sweep *out, struct err *err);

#endif
