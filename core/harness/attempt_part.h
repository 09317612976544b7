/* SPDX-License-Identifier: GPL-2.0-or-later */
/* attempt_part: an attempt in steps, for attempt.c and attempt_many.c alone. */
#ifndef VPCLAB_HARNESS_ATTEMPT_PART_H
#define VPCLAB_HARNESS_ATTEMPT_PART_H

#include "core/base/proc.h"
#include "core/harness/attempt.h"
#include "core/harness/attempt_way.h"
#include "core/harness/schedule_run.h"
#include "emulator/lab/company.h"

struct attempt {
	const struct attempt_spec *s;
	struct engine_spec spec;
	bool others; /* pairs that run at the same time */
	const struct wire_endpoint *from, *to;
	struct path there, back; /* from client to server, and the answers */
	struct way ways[2];	 /* of the data: the headline's, and the other where there is one */
	int n_ways;
	struct account links; /* the ledger of both ways before the traffic */
	bool links_read;
	struct company *company;       /* others that measure on the way there; or NULL */
	json_t *relays;		       /* what those on the way said before it, or NULL */
	struct schedule_run *schedule; /* NULL: nothing changes */
	struct proc proc[2];	       /* client, server */
	int fd[2];
	bool started[2];
	double read_s; /* when the last reading was, since the window began */
	bool read;     /* there was one */
	struct fidelity_snapshot before, after;
};

/* Finds ends and ways, waits until the ways are quiet, starts the workers. attempt_close() after it
 * in either case; `a` has s, spec and others set. */
int attempt_open(struct attempt *a, struct err *err);
struct ip attempt_server(const struct attempt *a); /* where the client connects to */
void attempt_on_interval(struct attempt *a, const json_t *interval);
/* When all is over: what was counted and what the machine did; out->engine is there. */
void attempt_assess(struct attempt *a, struct arena *arena, struct run_sample *out);
void attempt_close(struct attempt *a);

#endif
