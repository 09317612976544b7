/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * attempt: one run of one measurement inside a running lab: workers started in their nodes,
 * counters set on the flow, the machine watched. run.c repeats it; `vpclab measure` makes one.
 */
#ifndef VPCLAB_HARNESS_ATTEMPT_H
#define VPCLAB_HARNESS_ATTEMPT_H

#include "core/harness/result.h"

struct attempt_spec {
	const struct lab *lab;
	const struct wire *wire;
	const char *from, *to; /* endpoints */
	int family;	       /* AF_INET or AF_INET6 */
	/* An equal flow runs the other way (only the prediction needs it); tests that have one of
	 * their own need not say so. */
	bool opposite;
	struct engine_spec engine;
	double idle_busy; /* CPUs busy when nothing is measured */
	int64_t slip_ns;
	const struct scenario_schedule *schedule; /* NULL or empty: nothing changes meanwhile */
	void (*tick)(void *arg);		  /* at each interval, or NULL */
	/* Each interval of either side, see struct engine_hooks, or NULL. */
	void (*each)(void *arg, bool headline, const json_t *interval);
	void *arg;
};

/* UDP payload of an Ethernet frame (FCS included) of that family; 0 when it has no room for any. */
int64_t attempt_frame_payload(int64_t frame, int family);

/*
 * Who runs where, unless the user says: both ends on one CPU, but those of streams of datagrams
 * apart.
 *
 * A hop's work runs on the CPU that sent the packet, and each CPU has a receive queue of its own. A
 * TCP sender transmits from its own CPU and, when an acknowledgement arrives, from the receiver's:
 * the path then reorders, which no wire does (direct path at 1 Gbit/s: 2,000 retransmits in 8.5 s
 * and 1 to 10 % less, with nothing dropped; on one CPU none and 941.3 Mbit/s). And to wake another
 * CPU for an answer costs more than all hops together. Datagrams are sent by one CPU only.
 */
void attempt_place(enum scenario_cpus cpus, struct engine_spec *spec);

/* The same, but a CPU that the user named is that one: it wins over `cpus`, and the end of which
 * nothing is said goes where `cpus` has it beside the other. */
struct attempt_pins {
	int client, server; /* -1: not given */
};
void attempt_place_given(enum scenario_cpus cpus, const struct attempt_pins *given,
			 struct engine_spec *spec);

/* What the model says; out->known is false when it says nothing (no shaper, request/response, links
 * that change meanwhile). An error is that of path_find(). */
int attempt_predict(const struct attempt_spec *s, struct truth_predicted *out, struct err *err);

/* Of a test with data both ways: that from server to client. */
int attempt_predict_back(const struct attempt_spec *s, struct truth_predicted *out,
			 struct err *err);

/* Fills `out` but for index and started_ns; texts in `arena`. On an error `out` is not touched. */
int attempt_run(const struct attempt_spec *s, struct arena *arena, struct run_sample *out,
		struct err *err);

/* Ends the attempt that runs now, and every later one at once. Safe in a signal handler. */
void attempt_interrupt(void);
bool attempt_interrupted(void);
/* Readable once attempt_interrupt() was called, for what runs outside of labs; negative: there is
 * none. Never closed. */
int attempt_interrupt_fd(void);

#endif
