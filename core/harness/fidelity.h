/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fidelity: was it the emulated link or this machine that limited a run? Evidence from /proc before
 * and after it, and the rules that judge it.
 *
 * /proc/stat and /proc/net/softnet_stat count the whole machine whatever the namespace, so they are
 * read where the harness runs.
 */
#ifndef VPCLAB_HARNESS_FIDELITY_H
#define VPCLAB_HARNESS_FIDELITY_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/err.h"

#define FIDELITY_MAX_CPUS 256

struct fidelity_cpu {			     /* clock ticks since boot */
	uint64_t busy, softirq, idle, steal; /* busy: all but idle, I/O wait and steal */
	uint64_t user;			     /* of busy: programs, nice ones too */
};

struct fidelity_snapshot {
	int64_t at_ns;
	int n_cpus;
	struct fidelity_cpu cpu[FIDELITY_MAX_CPUS];
	uint64_t softnet_dropped, softnet_squeezed;
};

/* -EIO when /proc is not readable. */
int fidelity_read(struct fidelity_snapshot *s, struct err *err);
/* The two texts, for tests; `s` must be zeroed. -EINVAL when they are not what the kernel writes.
 */
int fidelity_parse_stat(const char *text, struct fidelity_snapshot *s);
int fidelity_parse_softnet(const char *text, struct fidelity_snapshot *s);

/* Rules. */
#define FIDELITY_IDLE_MIN     0.05 /* of all CPUs together */
#define FIDELITY_CPU_IDLE_MIN 0.02 /* of any one CPU */
#define FIDELITY_STEAL_MAX    0.02
#define FIDELITY_OTHERS_MAX   0.10  /* of all CPUs */
#define FIDELITY_SENT_MIN     0.995 /* of the datagrams that were needed */
#define FIDELITY_QUIET_MAX    0.05  /* of all CPUs: with more, no CPU time per packet is told */

/* What the machine was short of. */
enum fidelity_limit {
	FIDELITY_ENOUGH,
	FIDELITY_RELAY,	  /* a relay on the way was beyond its capacity, or has ended */
	FIDELITY_BACKLOG, /* the kernel's receive queues overflowed */
	FIDELITY_SOCKET,  /* the receiver did not read fast enough */
	FIDELITY_STEAL,	  /* the hypervisor took the CPU away */
	FIDELITY_OTHERS,  /* other programs used it already before the measurement */
	FIDELITY_CPU,	  /* all CPUs or one of them was busy all the time */
	FIDELITY_SENDER,  /* it sent fewer datagrams than the link was to be filled with */
};

struct fidelity {
	bool known;
	double idle, least_idle, steal; /* shares 0…1: all CPUs, the busiest CPU, all CPUs */
	int busiest_cpu, n_cpus;
	double busy_s, user_s; /* CPU seconds of all CPUs: in all, and in user mode */
	int64_t elapsed_ns;
	int64_t softnet_dropped, softnet_squeezed;
	int64_t socket_dropped;	     /* by the receiver's socket */
	double others;		     /* share 0…1 of all CPUs that was busy before it began */
	double needed_pps, sent_pps; /* udp_stream: what would fill the link, and what the sender
					gave; 0: no matter */
	char relay[160];	     /* what the relays on the way could not do; empty: nothing */
	int64_t slip_ns;	     /* worst timer slip measured when the lab was built */
	enum fidelity_limit limit;
	char why[160]; /* "CPU 0 busy 99.2 %", … */
};

/* What happened between two snapshots. */
void fidelity_between(const struct fidelity_snapshot *before, const struct fidelity_snapshot *after,
		      struct fidelity *out);
/* Applies the rules to what is filled in, and sets limit and why. */
void fidelity_judge(struct fidelity *f);

#endif
