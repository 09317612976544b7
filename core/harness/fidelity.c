// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fidelity: what the machine did while something was measured, and whether that could have changed
 * the figure. Only evidence and rules: whether an expectation then fails or is inconclusive is
 * decided in verdict.c. Called by pair.c, run.c and `vpclab measure`.
 */
#include "core/harness/fidelity.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/mem.h"
#include "core/base/str.h"
#include "core/base/units.h"

/* "cpu0 user nice system idle iowait irq softirq steal guest guest_nice" (proc(5)); guest time is
 * part of user time already. */
static int parse_cpu(const char *line, struct fidelity_cpu *cpu)
{
	unsigned long long v[8] = {0};
	int n = sscanf(line, "%*s %llu %llu %llu %llu %llu %llu %llu %llu", &v[0], &v[1], &v[2],
		       &v[3], &v[4], &v[5], &v[6], &v[7]);

	if (n < 7)
		return -EINVAL;
	cpu->busy = v[0] + v[1] + v[2] + v[5] + v[6];
	cpu->user = v[0] + v[1];
	cpu->softirq = v[6];
	cpu->idle = v[3] + v[4];
	cpu->steal = v[7];
	return 0;
}

static const char *next_line(const char *line)
{
	const char *end = strchr(line, '\n');

	return end ? end + 1 : line + strlen(line);
}

int fidelity_parse_stat(const char *text, struct fidelity_snapshot *s)
{
	for (const char *line = text; *line; line = next_line(line)) {
		if (!str_starts(line, "cpu") || !isdigit((unsigned char)line[3]))
			continue;
		if (s->n_cpus == FIDELITY_MAX_CPUS)
			break;
		if (parse_cpu(line, &s->cpu[s->n_cpus]))
			return -EINVAL;
		s->n_cpus++;
	}
	return s->n_cpus ? 0 : -EINVAL;
}

/* One line a CPU, hexadecimal: processed, dropped, time_squeeze, … (net/core/net-procfs.c). */
int fidelity_parse_softnet(const char *text, struct fidelity_snapshot *s)
{
	int lines = 0;

	for (const char *line = text; *line; line = next_line(line), lines++) {
		unsigned long long dropped, squeezed;

		if (sscanf(line, "%*x %llx %llx", &dropped, &squeezed) != 2)
			return -EINVAL;
		s->softnet_dropped += dropped;
		s->softnet_squeezed += squeezed;
	}
	return lines ? 0 : -EINVAL;
}

static int read_one(const char *path, int (*parse)(const char *, struct fidelity_snapshot *),
		    struct fidelity_snapshot *s, struct err *err)
{
	autofree char *text = NULL;
	size_t len;
	int r = file_read(path, &text, &len, err);

	if (r)
		return r;
	if (parse(text, s))
		return err_fail(err, EIO, "%s is not as the kernel writes it", path);
	return 0;
}

int fidelity_read(struct fidelity_snapshot *s, struct err *err)
{
	memset(s, 0, sizeof(*s));
	s->at_ns = clock_now_ns();
	int r = read_one("/proc/stat", fidelity_parse_stat, s, err);
	if (!r)
		r = read_one("/proc/net/softnet_stat", fidelity_parse_softnet, s, err);
	return r;
}

/* Shares are taken of the ticks counted, not of the clock: the kernel's two differ by a tick. */
static void add_cpu(const struct fidelity_cpu *a, const struct fidelity_cpu *b, int cpu,
		    struct fidelity *out, double sum[3])
{
	double busy = (double)(b->busy - a->busy), idle = (double)(b->idle - a->idle);
	double steal = (double)(b->steal - a->steal), all = busy + idle + steal;
	double share = all > 0 ? idle / all : 1;

	sum[0] += idle;
	sum[1] += steal;
	sum[2] += all;
	out->busy_s += busy / (double)sysconf(_SC_CLK_TCK);
	out->user_s += (double)(b->user - a->user) / (double)sysconf(_SC_CLK_TCK);
	if (out->busiest_cpu < 0 || share < out->least_idle) {
		out->least_idle = share;
		out->busiest_cpu = cpu;
	}
}

void fidelity_between(const struct fidelity_snapshot *before, const struct fidelity_snapshot *after,
		      struct fidelity *out)
{
	double sum[3] = {0}; /* idle, steal, all */

	*out = (struct fidelity){.busiest_cpu = -1, .n_cpus = before->n_cpus};
	out->elapsed_ns = after->at_ns - before->at_ns;
	for (int i = 0; i < before->n_cpus && i < after->n_cpus; i++)
		add_cpu(&before->cpu[i], &after->cpu[i], i, out, sum);
	out->known = sum[2] > 0;
	out->idle = out->known ? sum[0] / sum[2] : 1;
	out->steal = out->known ? sum[1] / sum[2] : 0;
	out->softnet_dropped = (int64_t)(after->softnet_dropped - before->softnet_dropped);
	out->softnet_squeezed = (int64_t)(after->softnet_squeezed - before->softnet_squeezed);
}

void fidelity_judge(struct fidelity *f)
{
	if (f->relay[0]) { /* first: no figure of a link is worth anything then */
		f->limit = FIDELITY_RELAY;
		snprintf(f->why, sizeof(f->why), "%s", f->relay);
	} else if (f->softnet_dropped > 0) {
		f->limit = FIDELITY_BACKLOG;
		snprintf(f->why, sizeof(f->why), "the kernel's backlog dropped %lld packets",
			 (long long)f->softnet_dropped);
	} else if (f->socket_dropped > 0) {
		f->limit = FIDELITY_SOCKET;
		snprintf(f->why, sizeof(f->why), "the receiver's socket dropped %lld datagrams",
			 (long long)f->socket_dropped);
	} else if (f->known && f->steal > FIDELITY_STEAL_MAX) {
		f->limit = FIDELITY_STEAL;
		snprintf(f->why, sizeof(f->why), "the hypervisor took %.1f %% of the CPU time",
			 f->steal * 100);
	} else if (f->others > FIDELITY_OTHERS_MAX) {
		f->limit = FIDELITY_OTHERS;
		snprintf(f->why, sizeof(f->why),
			 "other programs used %.0f %% of the CPUs before it began",
			 f->others * 100);
	} else if (f->known && f->idle < FIDELITY_IDLE_MIN) {
		f->limit = FIDELITY_CPU;
		snprintf(f->why, sizeof(f->why), "all %d CPUs together were %.1f %% busy",
			 f->n_cpus, (1 - f->idle) * 100);
	} else if (f->known && f->least_idle < FIDELITY_CPU_IDLE_MIN) {
		f->limit = FIDELITY_CPU;
		snprintf(f->why, sizeof(f->why), "CPU %d was %.1f %% busy", f->busiest_cpu,
			 (1 - f->least_idle) * 100);
	} else if (f->sent_pps < f->needed_pps * FIDELITY_SENT_MIN) {
		f->limit = FIDELITY_SENDER;
		snprintf(f->why, sizeof(f->why),
			 "the sender gave %.0f datagrams a second, and %.0f were needed",
			 f->sent_pps, f->needed_pps);
	}
}
