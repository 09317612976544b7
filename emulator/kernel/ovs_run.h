/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ovs_run: Open vSwitch's programs, for ovs.c, ovs_trial.c and ovs_dump.c: started side by side,
 * waited for together. Daemons detach themselves; their start has ended when they serve.
 */
#ifndef VPCLAB_KERNEL_OVS_RUN_H
#define VPCLAB_KERNEL_OVS_RUN_H

#include "core/base/proc.h"
#include "emulator/kernel/ovs.h"

struct ovs_at {		     /* an instance as its programs see it */
	const char *name;    /* of the instance's directory */
	int ns_fd;	     /* its network namespace */
	int64_t deadline_ns; /* of its programs, clock_now_ns() time; 0: 10 s for each */
};

struct ovs_job { /* zeroed is none */
	struct proc proc;
	int output; /* memory file: standard output and error */
	char what[64];
	int64_t deadline_ns;
};

/* Starts a program of the instance: argv[0] is looked for, `input` (NULL: none) is its stdin. */
int ovs_run_start(const struct ovs_at *at, const char *const *argv, const char *input,
		  struct ovs_job *job, struct err *err);

/* Waits for its end. A status other than 0 is an error with what it said. */
int ovs_run_finish(struct ovs_job *job, struct err *err);

/* Waits for its end and adds what it said to `out`. Gives the exit status in *status, which is no
 * error here. */
int ovs_run_read(struct ovs_job *job, struct strbuf *out, int *status, struct err *err);

/*
 * The steps of an instance's start. ovsdb (database and its server) and vswitchd each give a job to
 * finish, so that several instances start side by side.
 */
int ovs_run_prepare(const struct ovs_at *at, struct err *err); /* directory and empty database */
int ovs_run_ovsdb(const struct ovs_at *at, struct ovs_job *job, struct err *err);
int ovs_run_vswitchd(const struct ovs_at *at, const char *datapath, struct ovs_job *job,
		     struct err *err);

/* Ends both daemons of an instance (after two seconds by force) and removes its directory. */
void ovs_run_stop(const struct ovs_at *at);

#endif
