/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trial: a link or a course of events whose truth is known, what a tool is asked on it, and how far
 * its answers may be off. A YAML file in scenarios/trials, whose keys `vpclab help trial`
 * (core/cli/trials_help.c) documents; pure.
 */
#ifndef VPCLAB_HARNESS_TRIAL_H
#define VPCLAB_HARNESS_TRIAL_H

#include "core/base/problems.h"
#include "core/engine/engine.h"
#include "core/harness/scenario.h"
#include "core/tools/figure.h"

/* TRUTH_NONE: the run does not support the figure; the right answer is none. */
enum truth_source { TRUTH_COUNTED, TRUTH_PREDICTED, TRUTH_FIXED, TRUTH_NONE };

struct trial_question {
	enum figure figure;
	struct mark at;
	enum truth_source source;
	double value;		/* TRUTH_FIXED, in the figure's unit */
	double tolerance_share; /* of the truth; the greater of the two counts */
	double tolerance_abs;	/* in the figure's unit */
};

enum trial_event_kind { EVENT_CUT, EVENT_FREEZE, EVENT_KILL_SERVER, EVENT_CHANGE };

struct trial_event {
	enum trial_event_kind kind;
	int64_t at_ns, for_ns;	       /* since the flow's first packet; cut: 0 = for good */
	const char *node;	       /* cut: all links of this; NULL: of `change` the link */
	struct scenario_change change; /* its link NULL: the one under test */
	struct mark mark;
};

struct trial_step { /* in a node, before the tool starts; must succeed */
	const char *node;
	VEC(const char *) argv;
	struct mark at;
};

struct trial_ask {
	const char *test; /* as adapters name it */
	struct engine_spec spec;
	bool warmup; /* it was named */
};

enum trial_exit { WANT_EITHER, WANT_SUCCESS, WANT_FAILURE };

struct trial {
	struct arena arena;
	const char *file, *name, *title, *explain;
	bool core, alone, no_server;
	int repeat;	      /* runs in a row on one lab (soak); default 1 */
	int clients;	      /* at one server at the same time; default 1 */
	const char *topology; /* text made from `link`, or NULL: topology_name is to be found */
	const char *topology_name; /* what problems call it, or what the file is called */
	const char *from, *to;	   /* endpoints */
	const char *link; /* the link under test, as link_find() takes it; NULL: the file's own */
	int family;
	bool link_local; /* … and its addresses: the server's is fe80::1 */
	VEC(struct trial_ask) asks;
	VEC(struct trial_question) questions;
	VEC(struct trial_event) events;
	VEC(struct trial_step) before;
	enum trial_exit exit;
	int64_t ends_within_ns; /* 0: duration + 10 s */
};

/* Tolerance that a figure has where the trial says none: 2 % of rates, transactions and times and
 * at least 50 µs of times, exactly 0 of counts, 0.05 % absolute of shares. */
void trial_tolerance(enum figure f, double *share, double *abs);

/* Gives a trial also when there are problems (then it must only be freed). */
struct trial *trial_parse(const char *name, const char *text, size_t len, struct problems *p);
void trial_free(struct trial *t);

#endif
