/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * attempt_many: several measurements inside one running lab at the same time: two clients to one
 * server, one client to eight. Each pair has its sample with counters of its own flow; what the
 * links lost, and the CPU time, belong to all together and are told of none.
 */
#ifndef VPCLAB_HARNESS_ATTEMPT_MANY_H
#define VPCLAB_HARNESS_ATTEMPT_MANY_H

#include "core/harness/attempt.h"
#include "core/harness/several.h"

struct attempt_many {
	const struct attempt_spec *specs; /* of one lab and one test; [n]; borrowed */
	struct run_sample *samples;	  /* [n]; written where the pair has a result */
	struct several_pair *pairs;	  /* [n], zeroed; several_done() is the caller's */
	size_t n;
};

/* Pair i's ends on CPUs of their own, as far as there are any: moves those of `spec` by i. */
void attempt_spread(size_t i, struct engine_spec *spec);

/*
 * Runs all. An error: none ran. Where one fails later its pair says so. The engine's results stay
 * in `pairs`; samples share their references, so only several_done() frees them. Texts in `arena`.
 */
int attempt_run_many(struct attempt_many *m, struct arena *arena, struct err *err);

/*
 * What the model says for all together: known where all pairs have the same limiting link on their
 * way, which they then share; lone[n] are the predictions of each pair alone.
 */
void attempt_predict_many(const struct truth_predicted *lone, size_t n,
			  struct truth_predicted *out);

#endif
