/* SPDX-License-Identifier: GPL-2.0-or-later */
/* prove_run: what the parts of prove.c share: the list of proofs that grows, and sending. */
#ifndef VPCLAB_HARNESS_PROVE_RUN_H
#define VPCLAB_HARNESS_PROVE_RUN_H

#include "core/harness/prove_judge.h"
#include "core/harness/prove_way.h"

struct prover {
	const struct lab *lab;
	const struct wire *w;
	const struct prove_options *o;
	struct proofs *out;
	int64_t end_ns;	   /* CLOCK_MONOTONIC: then no probe begins any more */
	int64_t bridge_ns; /* so long a pause do the buckets of shapers bridge on this machine */
};

/* A new proof of that direction, in the list; valid until the next one. */
struct proof *prove_new(struct prover *p, const struct way *way, const char *what);
/* That something asked for was not probed, and why. */
void prove_skip(struct proof *proof, struct prover *p, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* One probe for the last n proofs of the list. */
struct prove_try {
	const struct way *way;
	const struct frames_spec *spec;
	size_t first, n; /* proofs, indices in the list */
	/* Before each try, or NULL. */
	int (*prepare)(struct prover *p, const struct way *way, struct err *err);
	/*
	 * Sets figures, verdicts and reasons of the proofs. `e` has what the machine did meanwhile:
	 * softnet_dropped, and `busy` where the CPUs had no idle time.
	 */
	void (*judge)(void *arg, struct frames_log logs[static FRAMES_STREAMS],
		      struct judge_evidence *e);
	void *arg;
	bool once; /* try no second time */
};

/* Sends until all proofs pass, or often enough. */
int prove_try(struct prover *p, const struct prove_try *t, struct err *err);

#endif
