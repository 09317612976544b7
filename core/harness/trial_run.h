/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trial_run: one tool on one trial: a lab of its own, its link proven, counters set on both ends of
 * the way, the tool run, events made to happen, evidence gathered, judged, the lab taken down.
 *
 * Counters: at the first device after the client's card (what was sent) and at the server's card
 * (what arrived), of the flow's protocol and the server's address and port, both ways, read every
 * 50 ms, which gives when the flow began and ended. Losses by cause come from the ledger of links
 * (emulator/lab/account.h), drops at the server's sockets from its namespace's counters.
 */
#ifndef VPCLAB_HARNESS_TRIAL_RUN_H
#define VPCLAB_HARNESS_TRIAL_RUN_H

#include "core/harness/judge.h"
#include "core/harness/tool_run.h"
#include "core/harness/trial.h"

struct trial_result {
	struct arena arena;
	const char *tool, *version, *trial; /* copies */
	const struct tool_test *test;	    /* borrowed from the adapter; NULL: it has none */
	struct evidence evidence;
	struct tool_output output; /* heap; trial_result_done() frees it */
	struct tool_output *more;  /* of the other clients at the same server; heap */
	int n_more;
	struct judged judged;
	const char *skip; /* why it was not run: the tool is not here, has no such test, … */
	const char *inconclusive; /* the machine was the limit, the link was not proven, … */
	const struct tool_fault *known; /* of the first fault, or NULL; borrowed */
	double took_s;
	int runs; /* each in a lab of its own (core/harness/confirm.h); took_s is of all */
};

struct trial_run_spec {
	const struct trial *trial;
	const struct adapter *adapter;
	const char *version; /* as tool_run_find() gave it */
	const struct machine *machine;
	const char *capture; /* file for headers of packets at the server, or NULL */
	bool (*stop)(void);  /* true: end soon, -EINTR; NULL: never */
};

/* 0 also where the tool failed: that is a finding. An error is one of the lab. */
int trial_run(const struct trial_run_spec *s, struct trial_result *out, struct err *err);
void trial_result_done(struct trial_result *r);
/* Sets `known` by what is said of it. */
void trial_result_find_known(const struct trial_run_spec *s, struct trial_result *r);

/* The worst of its answers: what the matrix shows. */
enum judgement trial_result_judgement(const struct trial_result *r, const struct answer **worst);

#endif
