/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * result: everything that one run of a scenario found, in one struct. run.c fills it, verdict.c
 * judges it, core/report prints it. Strings and arrays live in its arena.
 */
#ifndef VPCLAB_HARNESS_RESULT_H
#define VPCLAB_HARNESS_RESULT_H

#include "core/engine/engine.h"
#include "core/harness/fidelity.h"
#include "core/harness/losses.h"
#include "core/harness/outcome.h"
#include "core/harness/prove.h"
#include "core/harness/scenario.h"
#include "core/harness/truth.h"
#include "core/stats/summary.h"
#include "emulator/lab/lab.h"

struct run_change { /* of a link, by the schedule; times since the window began */
	int64_t asked_ns;
	int64_t done_ns;  /* when it was so; -1: the run ended before */
	const char *link; /* as the scenario names it */
	const char *text; /* "rate=5mbit ab.delay=1ms" */
	const char *what; /* what became of it, a line a direction; "": nothing changed */
};

struct run_sample {	    /* one run of one measurement on one path */
	int index;	    /* of this measurement and path, from 1 */
	const char *error;  /* NULL: it worked; else nothing below counts */
	int64_t started_ns; /* since the scenario began */
	struct engine_spec spec;
	struct engine_result engine;
	struct truth_counts whole, window;
	struct truth_counted counted;
	struct fidelity fidelity;
	/*
	 * CPU time of the whole machine for each packet that reached the receiving device: (busy
	 * time of all CPUs from before the first packet to after the last, less what the idle
	 * machine used in as long) / packets counted there; request/response: and answers. Whole
	 * machine, because what the hops do runs in softirq on whatever CPU sent the packet, and is
	 * charged to no process; so with other programs at work it is NAN.
	 */
	double cpu_per_packet_ns;
	const char *cpu_missing; /* why it is NAN, or NULL */
	const char *company;	 /* another measurement shared the way: in words, or NULL */
	struct losses losses;	 /* on the way of the data and of the answers */
	VEC(struct run_change) changes;
	struct run_back { /* tests with data both ways: that from server to client */
		bool known;
		struct truth_predicted predicted;
		struct truth_counts whole, window;
		struct truth_counted counted;
		struct losses losses;
	} back;
};

struct run_cell { /* one measurement on one path */
	int measure, path;
	struct truth_predicted predicted;
	const char *error; /* why there is no prediction, or no (further) runs; or NULL */
	VEC(struct run_sample) runs;
	bool settled;	    /* the interval became as narrow as asked */
	double ceiling_bps; /* this path without shapers, when measured; NAN else */
};

struct run_verdict {
	int expect; /* index in the scenario */
	enum verdict verdict;
	const char *found;    /* "941.3 Mbit/s ±0.2; predicted 941.5 Mbit/s (−0.02 %)" */
	const char *evidence; /* why it is not a pass, or NULL */
};

struct run_overhead { /* a path against the base, in one metric */
	struct scenario_quantity what;
	bool known;
	double base, mean;
	struct difference difference; /* in the metric's unit */
};

struct run_lab {
	const char *name;
	bool unshaped;
	struct lab_timing timing;
	int64_t down_ns;
	bool left; /* it could not be taken down */
	int hosts, vms, machines, routers, eips, switches;
	json_t *choices; /* which fallbacks ran: a reference, or NULL */
	json_t *links;	 /* how they were built, see plan_links_json(): a reference, or NULL */
};

struct run_machine {
	char kernel[128], cpu[128];
	int cpus;
	bool root;
	struct machine model; /* what compile was told */
	double idle_busy;     /* CPUs busy (0…n) with the lab up and nothing measured, at most */
};

struct run_result {
	struct arena arena;
	const struct scenario *scenario; /* borrowed */
	int64_t started_s;		 /* CLOCK_REALTIME */
	int64_t total_ns;
	bool interrupted;
	const char *error; /* what went wrong around the measurements, or NULL */
	struct run_machine machine;
	VEC(struct run_lab) labs;
	bool proven;	      /* the shaped lab's links were proven before anything was measured */
	struct proofs proofs; /* … and what came of it */
	VEC(struct run_cell) cells; /* by measure, then path */
	VEC(struct run_verdict) verdicts;
	VEC(struct run_overhead) overheads;
};

void result_init(struct run_result *r, const struct scenario *s);
void result_done(struct run_result *r);

struct run_cell *result_cell(const struct run_result *r, int measure, int path);
/*
 * Why the cell has no figures, or fewer than it should: what it was given up for, or how its last
 * run failed where none worked. NULL: all is well, or an interrupt explains it.
 */
const char *result_error(const struct run_result *r, const struct run_cell *c);
bool result_worked(const struct run_cell *c); /* has it a run that worked? */
/* The metric of each run that worked and where it is a number, into v[max]; gives how many. */
size_t result_values(const struct run_cell *c, const struct metric *m, double *v, size_t max);
/* The coarsest step of the metric in those runs (metric_step()); 0: none. */
double result_step(const struct run_cell *c, const struct metric *m);
/* All runs together as the metric combines them; .n 0 when there is none. */
void result_summary(const struct run_cell *c, const struct metric *m, double confidence,
		    struct summary *out);
/* The metric's prediction and its range; false when the model says nothing about it. */
bool result_predicted(const struct run_result *r, const struct run_cell *c, const struct metric *m,
		      double *point, double *low, double *high);
double result_counted(const struct run_cell *c, const struct metric *m); /* mean of runs, or NAN */

#define RESULT_MAX_RUNS 100

#endif
