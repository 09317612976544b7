/* SPDX-License-Identifier: GPL-2.0-or-later */
/* clock: the one clock of all measurements. It makes no timers; engines and waits call it. */
#include "core/base/clock.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "core/base/units.h"

int64_t clock_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

void clock_sleep_until_ns(int64_t when_ns)
{
	struct timespec ts = {.tv_sec = when_ns / NSEC_PER_SEC, .tv_nsec = when_ns % NSEC_PER_SEC};

	if (when_ns <= 0) /* long past, and a negative tv_nsec is not valid */
		return;
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
		;
}

void clock_id(char *id, size_t size)
{
	char boot[64] = "", ns[48] = "";
	FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");
	int known = f && fscanf(f, "%63s", boot) == 1;

	if (f)
		fclose(f);
	if (readlink("/proc/self/ns/time", ns, sizeof(ns) - 1) < 0)
		ns[0] = '\0'; /* before Linux 5.6 there is one only */
	snprintf(id, size, "%s%s", known ? boot : "", known ? ns : "");
}
