/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * many: what a command gives to a procedure of many measurements (core/harness/procedure.h): ends
 * in a running lab or on real machines, steps on standard error, and Ctrl-C, which ends it between
 * two measurements.
 */
#ifndef VPCLAB_CLI_MANY_H
#define VPCLAB_CLI_MANY_H

#include "core/harness/attempt.h"
#include "core/harness/procedure.h"
#include "core/harness/remote.h"

struct many {
	/* Its engine part is the procedure's; without a lab: only the ends' names and the family.
	 */
	struct attempt_spec at;
	struct remote_options remote; /* real machines */
	struct remote_end ends[2];    /* client, server */
	enum scenario_cpus cpus;
	struct attempt_pins pins;
	int64_t idle_at_ns; /* when the idle machine was looked at last */
	bool terminal, drawn;
	struct arena arena;
	struct procedure p;
};

/* Borrows what *at borrows. many_done(). */
void many_init(struct many *m, const struct attempt_spec *at, bool quiet);
/* From now on between real machines: at.from and at.to as remote_is() takes them. -EINVAL. */
int many_remote(struct many *m, const struct remote_options *o, struct err *err);
void many_done(struct many *m);
void many_wipe(struct many *m); /* the line of progress, before anything else is printed */

/* Of the path, bytes; 0: not known. */
int many_mtu(const struct many *m);

/* How many connections the nodes on the way track, of how many: for struct ramp_options. */
const char *many_evidence(void *many, struct arena *arena);

#endif
