/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cpu: sampling of CPU time and placement. A sample costs one file read, so it is taken at the
 * edges of the window and by the control thread only. Used by run.c and worker.c.
 */
#include "core/engine/cpu.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/mem.h"

int cpu_parse_stat(const char *text, struct cpu_sample *s)
{
	uint64_t v[8]; /* user nice system idle iowait irq softirq steal; guest is in user */
	int n = sscanf(text,
		       "cpu %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
		       " %" SCNu64 " %" SCNu64,
		       &v[0], &v[1], &v[2], &v[3], &v[4], &v[5], &v[6], &v[7]);
	if (n != 8)
		return -EINVAL;
	s->total = 0;
	for (size_t i = 0; i < ARRAY_SIZE(v); i++)
		s->total += v[i];
	s->idle = v[3] + v[4];
	s->softirq = v[6];
	s->steal = v[7];
	return 0;
}

static double cpu_seconds(const struct timeval *tv)
{
	return (double)tv->tv_sec + (double)tv->tv_usec / 1e6;
}

void cpu_sample(struct cpu_sample *s)
{
	*s = (struct cpu_sample){0};
	struct rusage ru;
	if (!getrusage(RUSAGE_SELF, &ru)) {
		s->user_s = cpu_seconds(&ru.ru_utime);
		s->system_s = cpu_seconds(&ru.ru_stime);
	}
	autofd int fd = open("/proc/stat", O_RDONLY | O_CLOEXEC);
	char text[512];
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (n > 0) {
		text[n] = '\0';
		cpu_parse_stat(text, s);
	}
}

/* A short text of the kernel; "" where it cannot be read. */
static void cpu_read(const char *path, char *text, size_t size)
{
	autofd int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);
	text[n > 0 ? n : 0] = '\0';
}

/* "time on a CPU, time waiting for one, turns", ns: Documentation/scheduler/sched-stats.rst */
static double cpu_wait(const char *path)
{
	char text[128];
	uint64_t wait;
	cpu_read(path, text, sizeof(text));
	return sscanf(text, "%*u %" SCNu64, &wait) == 1 ? (double)wait / 1e9 : NAN;
}

void cpu_thread_self(struct cpu_thread *out)
{
	struct timespec ts = {0};
	struct rusage ru = {0};
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	getrusage(RUSAGE_THREAD, &ru);
	*out = (struct cpu_thread){
	    .total_s = (double)ts.tv_sec + (double)ts.tv_nsec / 1e9,
	    .user_s = cpu_seconds(&ru.ru_utime),
	    .system_s = cpu_seconds(&ru.ru_stime),
	    .wait_s = cpu_wait("/proc/thread-self/schedstat"),
	};
}

/* Behind the name, which may contain anything, come state and 10 numbers, then the two times. */
int cpu_parse_thread(const char *text, struct cpu_thread *out)
{
	const char *after = strrchr(text, ')');
	double tick = (double)sysconf(_SC_CLK_TCK);
	uint64_t user, system;
	if (!after ||
	    sscanf(after + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %" SCNu64 " %" SCNu64,
		   &user, &system) != 2)
		return -EINVAL;
	out->user_s = (double)user / tick;
	out->system_s = (double)system / tick;
	return 0;
}

int cpu_thread_of(pthread_t thread, int tid, bool all, struct cpu_thread *out)
{
	clockid_t clock;
	struct timespec ts;
	char path[64], text[1024];
	if (pthread_getcpuclockid(thread, &clock) || clock_gettime(clock, &ts))
		return -ESRCH;
	*out = (struct cpu_thread){(double)ts.tv_sec + (double)ts.tv_nsec / 1e9, NAN, NAN, NAN};
	if (!all)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/task/%d/schedstat", tid);
	out->wait_s = cpu_wait(path);
	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	cpu_read(path, text, sizeof(text));
	cpu_parse_thread(text, out);
	return 0;
}

void cpu_between(const struct cpu_sample *a, const struct cpu_sample *b, struct cpu_use *out)
{
	double total = (double)(b->total - a->total);
	bool known = a->total && b->total > a->total;
	*out = (struct cpu_use){
	    .user_s = b->user_s - a->user_s,
	    .system_s = b->system_s - a->system_s,
	    .busy = known ? 1 - (double)(int64_t)(b->idle - a->idle) / total : NAN,
	    .softirq = known ? (double)(b->softirq - a->softirq) / total : NAN,
	    .steal = known ? (double)(b->steal - a->steal) / total : NAN,
	};
}

int cpu_pin(int cpu, const char *key, struct err *err)
{
	cpu_set_t set;
	CPU_ZERO(&set);
	if (cpu >= CPU_SETSIZE)
		return err_input(err, "%s: there is no CPU %d", key, cpu);
	CPU_SET(cpu, &set);
	if (!sched_setaffinity(0, sizeof(set), &set))
		return 0;
	if (errno == EINVAL)
		return err_input(err, "%s: CPU %d does not exist or is not allowed here", key, cpu);
	return err_sys(err, errno, "%s: moving to CPU %d", key, cpu);
}

int cpu_allowed(int n)
{
	cpu_set_t set;
	if (sched_getaffinity(0, sizeof(set), &set))
		return -1;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &set) && n-- == 0)
			return cpu;
	return -1;
}

int cpu_count_allowed(void)
{
	cpu_set_t set;
	return sched_getaffinity(0, sizeof(set), &set) ? 1 : CPU_COUNT(&set);
}

void cpu_model(char *name, size_t size)
{
	autofree char *text = NULL;
	struct err ignored = ERR_INIT;
	size_t len;
	snprintf(name, size, "%s", "");
	if (file_read("/proc/cpuinfo", &text, &len, &ignored))
		return;
	const char *line = strstr(text, "model name"), *colon = line ? strchr(line, ':') : NULL;
	if (!colon)
		return;
	colon += 1 + strspn(colon + 1, " \t");
	snprintf(name, size, "%.*s", (int)strcspn(colon, "\n"), colon);
}
