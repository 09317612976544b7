/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * saturate: how many streams, and threads, does it take until a figure grows no more? Streams are
 * doubled until two doublings in a row bring nothing beyond the confidence of the repeats; then the
 * least number that gives as much is looked for between the last that gave less and the first that
 * did not. With more than one thread allowed, threads are doubled there.
 *
 * ramp: how many connections can there be at the same time? They grow tenfold until some cannot be
 * made, or answers take much longer than more of them explain; then the number is narrowed down.
 */
#ifndef VPCLAB_HARNESS_SATURATE_H
#define VPCLAB_HARNESS_SATURATE_H

#include "core/harness/repeat.h"

struct saturate_options {
	struct scenario_repeat repeat; /* of each point */
	int most_streams;	       /* 0: 1024 */
	int most_threads;	       /* 0 or 1: threads stay as they are */
};

struct saturate_point {
	int streams, threads;
	struct repeat r;
	struct summary figure; /* transactions a second, or the test's default metric */
};

enum saturate_end {
	SATURATE_UNKNOWN, /* stopped before anything could be said */
	SATURATE_FLAT,	  /* grows no more from `streams` on */
	SATURATE_OPEN,	  /* still growing at the most that was to be tried */
	SATURATE_FAILED,  /* more could not be run: `why` */
};

struct saturate { /* zeroed is empty; in the procedure's arena */
	const struct metric *metric;
	VEC(struct saturate_point) points; /* by streams; those of more threads last */
	enum saturate_end end;
	int streams;	   /* where it stops growing, or the most that worked */
	int threads;	   /* that gave most there */
	double single;	   /* with one stream; NAN */
	double figure;	   /* at `streams` */
	const char *limit; /* what was the limit there, or NULL: nothing proves one */
	const char *why;
};

/* Errors: the test has no figure (-EINVAL); -EINTR, with what is known in *out. */
int saturate_run(struct procedure *p, const struct engine_spec *base,
		 const struct saturate_options *o, struct saturate *out, struct err *err);

struct ramp_options {
	int least, most; /* connections; 0: 1, 10,000 */
	double width;	 /* how near, as a share; 0: exactly */
	/* What the system says of connections after some failed, in words; or NULL. */
	const char *(*evidence)(void *arg, struct arena *arena);
	void *arg;
};

struct ramp_point {
	int connections;
	double tps, p50_ns, p99_ns; /* NAN: not known */
	bool slow;	   /* answers take over twice what that many more connections explain */
	const char *error; /* could not be made: why; or NULL */
	const char *evidence;
};

struct ramp {			       /* zeroed is empty; in the procedure's arena */
	VEC(struct ramp_point) points; /* as they were tried */
	int works;		       /* most connections that worked; 0: none */
	int fails;		       /* fewest that did not; 0: none */
	int slow;		       /* fewest where answers become slow; 0: none */
};

/* `base`: tcp_rr or udp_rr. -EINTR with what is known. */
int ramp_run(struct procedure *p, const struct engine_spec *base, const struct ramp_options *o,
	     struct ramp *out, struct err *err);

#endif
