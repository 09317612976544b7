/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * several: measurements that run at the same time, from one common start, and what they give
 * together. It knows no labs: whoever calls it has the workers' ends.
 *
 * Each pair is an engine_pair() in a thread of this process. None starts before all are connected:
 * a sum with one missing is no sum.
 */
#ifndef VPCLAB_HARNESS_SEVERAL_H
#define VPCLAB_HARNESS_SEVERAL_H

#include "core/engine/engine.h"

#define SEVERAL_MOST 256 /* pairs */

struct several_pair {
	/* Given; borrowed. */
	struct engine_spec spec;
	struct ip server; /* where the client connects to; its zone is spec.zone */
	struct engine_ends ends;
	bool own_clocks; /* the two workers may be on different machines */
	/* Found: engine_result_done() where err.kind is 0. */
	json_t *flows; /* owned; of engine_pair(), once connected */
	struct engine_result result;
	struct err err; /* why this one has no result */
	bool ran;	/* it was started */
};

struct several_hooks {
	/* All are connected and none has started; called once, in the caller's thread. */
	int (*on_connected)(void *arg, struct err *err);
	/* Each interval of a pair's headline; from any thread, one call at a time. */
	void (*on_interval)(void *arg, size_t pair, const json_t *interval);
	void *arg;
	int stop_fd; /* readable: end early, see engine_hooks; -1: none */
};

/*
 * Runs all pairs. An error is that of the first that failed before they started, and then none ran;
 * what failed later is in its own pair. several_done() in either case.
 */
int several_run(struct several_pair *pairs, size_t n, const struct several_hooks *hooks,
		struct err *err);
void several_done(struct several_pair *pairs, size_t n);

/* What pairs gave together, over the window in which all of them ran. Rates per second. */
struct several_total {
	size_t pairs;	 /* that have a result */
	double window_s; /* from the common start of the windows */
	bool cut; /* some ran on after others had ended: that part is left out, by intervals */
	double goodput_bps, pps;       /* received; pps: datagrams or transactions */
	double back_goodput_bps;       /* of tests with data both ways: the other way */
	int64_t lost, retransmits;     /* in each pair's own window */
	double mean, min, max, stddev; /* of pairs: bit/s; of transactions: those per second */
	double fairness;	       /* Jain's index: 1 all equal, 1/n all for one */
};
void several_total(const struct several_pair *pairs, size_t n, struct several_total *out);
json_t *several_total_json(const struct several_total *t); /* gives a reference */

#endif
