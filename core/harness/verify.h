/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verify: tools × trials, in parallel where trials do not fill the machine; against a baseline of
 * faults that are known and accepted. `vpclab verify` calls it, core/report/matrix.h shows it.
 */
#ifndef VPCLAB_HARNESS_VERIFY_H
#define VPCLAB_HARNESS_VERIFY_H

#include "core/harness/trial_run.h"

struct verify_tool {
	const struct adapter *adapter;
	const char *version; /* NULL: not here */
	const char *missing; /* … and what to install */
};

struct baseline; /* "TOOL TRIAL ABOUT KIND" a line, with the version as a remark */
int baseline_read(const char *path, struct baseline **out, struct err *err); /* absent: empty */
int baseline_write(const char *path, const struct trial_result *results, size_t n, struct err *err);
bool baseline_has(const struct baseline *b, const struct trial_result *r, const struct answer *a);
void baseline_free(struct baseline *b);

struct verify_spec {
	const struct verify_tool *tools;
	size_t n_tools;
	const struct trial *const *trials;
	size_t n_trials;
	int jobs;	  /* labs at the same time; those that are `alone` run by themselves */
	const char *keep; /* folder that is there, for headers of packets, or NULL */
	void (*progress)(void *arg, const struct trial_result *r, size_t done, size_t n);
	void *arg;
};

struct verify_counts {
	int true_, off, lies, silent, hangs, crashes, wrong_exits, inconclusive, skipped, fresh;
};

/*
 * results[t * n_trials + k]: n_tools × n_trials of them, by the caller, who calls
 * trial_result_done() for each. -EINTR after attempt_interrupt(): those that were not run to their
 * end say so.
 */
int verify_run(const struct verify_spec *s, struct trial_result *results, struct err *err);
void verify_count(const struct trial_result *results, size_t n, const struct baseline *b,
		  struct verify_counts *out);
bool verify_has_fault(const struct trial_result *r); /* in any of its answers, known or not */
/* FOLDER/TRIAL-TOOL, heap: what is kept of a result is called so. */
char *verify_keep_path(const char *folder, const char *trial, const char *tool);
/* 0; 1: a new fault; 3: nothing but inconclusive ones. */
int verify_exit_status(const struct verify_counts *c);

#endif
