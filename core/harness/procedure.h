/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * procedure: what is common to all that makes many measurements to find one thing: a search, a
 * sweep, a ramp. It measures through one callback, so it never knows whether the ends are in a lab
 * or are machines; it can be stopped between measurements; it tells where it is.
 *
 * A trial is one paced udp_stream whose loss counts (RFC 2544's word). One that was not offered as
 * asked, or whose loss this machine may have caused, says nothing about the path: it is invalid and
 * made again, at most PROCEDURE_TRIES times; then whoever asked must go on without it. It is not
 * made again where that would change nothing: the path takes no more of its flows, or two tries in
 * a row fell equally short for reasons of their own making.
 */
#ifndef VPCLAB_HARNESS_PROCEDURE_H
#define VPCLAB_HARNESS_PROCEDURE_H

#include "core/harness/result.h"

#define PROCEDURE_TRIES	      3
#define PROCEDURE_ALIKE	      0.02  /* two tries: of the rate sent, and of the share lost */
#define PROCEDURE_OFFERED_MIN 0.995 /* of the target rate, but for one datagram, else invalid */

struct procedure {
	/* One measurement. *out on success only; its texts live as long as the procedure. */
	int (*measure)(void *arg, const struct engine_spec *spec, struct run_sample *out,
		       struct err *err);
	void *arg;
	void (*progress)(void *arg, const char *text); /* a step, in words; or NULL */
	void *progress_arg;
	bool (*stop)(void);  /* asked before each measurement; or NULL */
	struct arena *arena; /* of texts and arrays; the caller's */
	int measured;	     /* measurements begun so far */
};

/* -EINTR when it is to stop; else what the callback gives. engine_result_done(&out->engine). */
int procedure_measure(struct procedure *p, const struct engine_spec *spec, struct run_sample *out,
		      struct err *err);
bool procedure_stopped(const struct procedure *p);
void procedure_tell(struct procedure *p, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

enum trial_fault { /* of an invalid trial: whose it is */
		   TRIAL_VALID,
		   TRIAL_ENDED,	  /* it did not come to its end */
		   TRIAL_REFUSED, /* each packet was turned away where it was sent */
		   TRIAL_LATE, /* fewer were offered than asked for: the sender woke up too late */
		   TRIAL_SENDER,  /* … the sender can do no more */
		   TRIAL_OTHERS,  /* others used the machine: it may have caused the loss */
		   TRIAL_MACHINE, /* … it was short of something by the trial's own doing */
};

struct trial {
	int64_t load_pps; /* asked for; 0: as fast as it goes */
	int64_t duration_ns;
	int64_t sent, lost; /* datagrams of the window */
	double sent_pps, pps, goodput_bps;
	double burst_pps;	  /* while it was in calls that send; NAN: not known */
	double loss;		  /* share 0…1 of sent */
	struct engine_dist delay; /* one way, ns; NAN where the engine has none */
	bool valid;
	enum trial_fault fault;
	const char *why; /* invalid: why; valid: a remark, or NULL */
	int tries;
};

/* Would another try end like this one, which is invalid? `before`: the try before it, or NULL. */
bool trial_hopeless(const struct trial *t, const struct trial *before);

/* What a sample of udp_stream says as a trial; fills all but tries. `why` is in `arena`. */
void trial_judge(const struct run_sample *s, struct arena *arena, struct trial *out);

/*
 * Measures `spec` (paced, or as fast as it goes) until the trial is valid or was tried often
 * enough; the last try is in *out. A loss with the machine short of something is valid when each
 * try had one and the links' own counters account for every packet of it.
 */
int procedure_trial(struct procedure *p, const struct engine_spec *spec, struct trial *out,
		    struct err *err);

#endif
