/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * prove_impair: what happens to packets on the way of a direction: delay and jitter, loss,
 * duplication, reordering, corruption, black holes (prove_impair.c); flaps and delivery traces
 * (prove_times.c).
 *
 * A relay decides by the number of the packet, so a probe would use up fates that belong to those
 * who come after it. Each probe therefore begins with a relay that counts from 1, and leaves one
 * that does.
 */
#ifndef VPCLAB_HARNESS_PROVE_IMPAIR_H
#define VPCLAB_HARNESS_PROVE_IMPAIR_H

#include "core/harness/prove_run.h"

int prove_impair(struct prover *p, const struct way *way, struct err *err);

/* For the parts: */

/* The relay of the way's link begins anew with what it has to do. Without one: nothing. */
int impair_restart(struct prover *p, const struct way *way, struct err *err);
/* Time between frames of ip_bytes, at least `least_ns`, so that nothing queues on the way. */
double impair_gap(const struct way *way, int ip_bytes, double least_ns);
/* How long to wait for frames that are under way. */
int64_t impair_quiet(const struct wire_impair *i);
/* A proof that says who did it. */
struct proof *impair_proof(struct prover *p, const struct way *way, const char *what,
			   enum proof_unit unit);

int prove_flap(struct prover *p, const struct way *way, struct err *err);
int prove_trace(struct prover *p, const struct way *way, struct err *err);

#endif
