/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cpu: what this process and the whole machine have used of the CPUs, at two moments, and between;
 * and which CPUs there are. Called by the workers and by the harness.
 */
#ifndef VPCLAB_ENGINE_CPU_H
#define VPCLAB_ENGINE_CPU_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/base/err.h"

struct cpu_sample {
	double user_s, system_s;	      /* this process, getrusage(2) */
	uint64_t total, idle, softirq, steal; /* ticks of all CPUs since boot, proc_stat(5) */
};

struct cpu_thread {		 /* of one thread since it began; s */
	double total_s;		 /* exact */
	double user_s, system_s; /* what it consists of, by ticks; NAN: not known */
	double wait_s;		 /* it could have run and had to wait for a CPU; NAN: not known */
};

struct cpu_use {
	double user_s, system_s;
	double busy, softirq,
	    steal; /* shares 0…1 of all CPUs; NAN where /proc/stat cannot be read */
};

void cpu_sample(struct cpu_sample *s);

/* Of the calling thread, getrusage(2). */
void cpu_thread_self(struct cpu_thread *out);
/* Of another thread of this process; all: not total_s alone, which reads two files. -ESRCH: it has
 * ended. */
int cpu_thread_of(pthread_t thread, int tid, bool all, struct cpu_thread *out);

/* The text of proc_pid_stat(5) into user_s and system_s; -EINVAL where it is something else. */
int cpu_parse_thread(const char *text, struct cpu_thread *out);

/* Parses the first line of /proc/stat into s; -EINVAL where it is something else. */
int cpu_parse_stat(const char *text, struct cpu_sample *s);

void cpu_between(const struct cpu_sample *a, const struct cpu_sample *b, struct cpu_use *out);

/* Keeps the calling thread, and the threads that it starts, on one CPU. `key` is named in errors.
 */
int cpu_pin(int cpu, const char *key, struct err *err);

/* The n-th CPU, from 0, that this process may use; -1 where there is none. */
int cpu_allowed(int n);

/* How many those are; at least 1. */
int cpu_count_allowed(void);

/* The model of this machine's CPUs, as /proc/cpuinfo of some architectures says it; else "". */
void cpu_model(char *name, size_t size);

#endif
