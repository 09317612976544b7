/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * prove: is every link of a running lab what it says? Each limit and impairment of each direction
 * gets a short probe of frames (emulator/lab/frames.h), and what arrived is compared with what the
 * wire model asks. Nothing is believed of the kernel's configuration: only arrivals count.
 *
 * A probe fills the link for 0.2 to 1 s, one direction after the other, so it belongs on an idle
 * lab. One that does not pass is tried again, since a link that is wrong is wrong each time, and a
 * machine is busy now and then. The verdict of a proof, that of its last try:
 *   pass          within the tolerance
 *   fail          outside, and the machine does not explain it
 *   inconclusive  outside (or nothing measured), and the machine or foreign traffic may be why
 *   skip          not probed, with the reason
 */
#ifndef VPCLAB_HARNESS_PROVE_H
#define VPCLAB_HARNESS_PROVE_H

#include <jansson.h>

#include "core/harness/outcome.h"
#include "emulator/lab/lab.h"
#include "emulator/model/wire.h"

enum proof_unit {
	PROOF_BPS,   /* bits a second, by a basis */
	PROOF_PPS,   /* packets a second */
	PROOF_NS,    /* nanoseconds */
	PROOF_SHARE, /* 0…1 of packets */
	PROOF_COUNT, /* packets */
	PROOF_BYTES,
};

struct proof {
	const char *link;      /* its name */
	const char *direction; /* "tx", "rx" of a host's or VM's card, "a→b" of others, "sum" */
	const char *what;      /* "rate", "packets", "delay", "loss", … */
	enum proof_unit unit;
	double asked, got; /* got NAN: nothing was measured */
	double tolerance;  /* share of `asked`, or `absolute`: in the unit */
	bool absolute;
	bool has_basis;
	enum rate_basis basis;
	int tries;
	bool hopeless;	    /* the machine was so far from it that another try cannot tell more */
	const char *engine; /* "netem", "relay", or NULL */
	enum verdict verdict;
	const char *why; /* why it is not a pass, or a remark; or NULL */
};

struct proofs { /* zeroed is empty; proofs_done() */
	struct arena arena;
	VEC(struct proof) list; /* by link, then direction */
	int64_t took_ns;
};

struct prove_options {
	bool quick;	  /* shorter probes, wider tolerances: what a scenario does first */
	int64_t limit_ns; /* what is not proven by then is skipped; 0: no limit */
	/* Told before each direction: its place among all, and in words what it is. Or NULL. */
	void (*progress)(void *arg, size_t index, size_t n, const char *text);
	void *arg;
	bool (*stop)(void); /* asked between directions: give up? Or NULL */
};

/* Fills `out` (proofs_done() in either case). Errors: -EINTR when stopped; the lab's own. */
int prove_lab(const struct lab *lab, const struct wire *w, const struct prove_options *o,
	      struct proofs *out, struct err *err);
void proofs_done(struct proofs *p);

struct proofs_census {
	size_t all, pass, fail, inconclusive, skip;
	double worst_share; /* largest relative error of a rate that passed; NAN: there is none */
};
void proofs_count(const struct proofs *p, struct proofs_census *out);
/* fail before inconclusive before pass; skips count for nothing. */
enum verdict proofs_overall(const struct proofs *p);

/* got − asked: as a share of `asked`, or `absolute`, or where `asked` is 0, in the unit. */
double proof_error(const struct proof *p);
const char *proof_unit_name(enum proof_unit unit); /* "bps", "pps", "ns", … */

#endif
