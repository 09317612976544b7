/* SPDX-License-Identifier: GPL-2.0-or-later */
/* trial_evidence: what the lab itself knows of one run of a tool: see struct evidence. */
#ifndef VPCLAB_HARNESS_TRIAL_EVIDENCE_H
#define VPCLAB_HARNESS_TRIAL_EVIDENCE_H

#include "core/harness/judge.h"
#include "core/harness/rig.h"

struct trial_evidence;

struct trial_evidence_at {
	const struct rig *rig;
	const struct trial *trial;
	const struct trial_ask *ask;
};

/* Sets counters, reads what must be read before. */
int trial_evidence_open(const struct trial_evidence_at *at, struct trial_evidence **out,
			struct err *err);
/* Reads the counters; *began_ns: when the flow began, 0: not yet. */
int trial_evidence_read(struct trial_evidence *t, int64_t *began_ns, struct err *err);
void trial_evidence_froze(struct trial_evidence *t, double seconds); /* the link stood still */
/* Waits until all is quiet, reads, and fills `out`; out->machine points to static storage of this
 * thread until the next call. Frees. */
int trial_evidence_close(struct trial_evidence *t, const struct tool_output *o,
			 struct evidence *out, struct err *err);
void trial_evidence_drop(struct trial_evidence *t);

#endif
