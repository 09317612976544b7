/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * search: the highest rate at which a path loses no more than it may, for several goals at once.
 *
 * A goal is that of MLRsearch (draft-ietf-bmwg-mlrsearch): a load is a lower bound when, of
 * `sum_ns` of trials at it, no more than the share `exceed_ratio` lost more than `loss_ratio`; an
 * upper bound when that can no longer be reached; trials shorter than `final_ns` count against a
 * load, never for it. RFC 2544's throughput is the goal with both ratios 0 and one trial of the
 * full length. The search ends when the two bounds are as near as `width`.
 *
 * A load that cannot be offered validly bounds the search too, but by the machine: then nothing is
 * known above the lower bound, and the result says so. Each trial is a new flow: where a filter or
 * a limit of connections turns one away whole, the next would be too, and the search ends.
 */
#ifndef VPCLAB_HARNESS_SEARCH_H
#define VPCLAB_HARNESS_SEARCH_H

#include "core/harness/procedure.h"

struct search_goal {
	const char *name;		 /* "NDR" */
	double loss_ratio, exceed_ratio; /* shares 0…1, below 1 */
	int64_t initial_ns, final_ns; /* first and full length of a trial; initial at most final */
	int64_t sum_ns;		      /* of full trials at a bound; at least final_ns */
	double width;		      /* (upper − lower) / upper, as near as the bounds get */
};

enum search_above {		    /* what is above the lower bound */
		    SEARCH_UNKNOWN, /* the search was not completed */
		    SEARCH_LOSS,    /* a load that loses too much: upper_pps */
		    SEARCH_MACHINE, /* a load that could not be offered validly: upper_pps */
		    SEARCH_REFUSED, /* the path took no more of the search's flows: not known */
		    SEARCH_END,	    /* nothing: it is the highest load that was to be tried */
};

struct search_found {
	const struct search_goal *goal;
	int64_t lower_pps; /* the result; 0: no load passed, down to the least */
	int64_t upper_pps;
	enum search_above above;
	const char *why; /* SEARCH_MACHINE, SEARCH_REFUSED: what was wrong there */
	/* What passes at the lower bound: load × (1 − the loss that its good trials stay under). */
	double conditional_pps; /* NAN where lower_pps is 0 */
	int trials;		/* made for this goal; those of earlier goals count too */
};

struct search_options {
	const struct search_goal *goals; /* borrowed for as long as the result */
	size_t n_goals;
	int64_t least_pps; /* 0: 100 datagrams in a full trial */
	int64_t most_pps;  /* 0: found by sending as fast as it goes */
	int most_trials;   /* of a goal; 0: 200 */
};

struct search { /* zeroed is empty; arrays in the procedure's arena */
	int64_t most_pps;
	bool has_flood;	    /* `flood` was made, to find most_pps */
	struct trial flood; /* as fast as it goes */
	VEC(struct trial) trials;
	VEC(struct search_found) found; /* one a goal, those that were begun */
};

/* `base` is an udp_stream with a size; rate and duration are set here. An error loses nothing of
 * *out, which is always what is known so far: -EINTR when stopped. */
int search_run(struct procedure *p, const struct engine_spec *base, const struct search_options *o,
	       struct search *out, struct err *err);

/* Was it found, to the goal's width and by loss (or nothing above it)? */
bool search_complete(const struct search_found *f);

/* For tests: what the trials at one load say. */
enum search_class { SEARCH_UNDECIDED, SEARCH_LOWER, SEARCH_UPPER };
enum search_class search_classify(const struct trial *v, size_t n, int64_t load_pps,
				  const struct search_goal *g);

/* The goals of `vpclab search ndr`: NDR and PDR (0.5 %); trials of `final_ns`, `sum_ns` in all. */
void search_goal_set(struct search_goal *g, const char *name, double loss_ratio,
		     const struct search_goal *times);

#endif
