/* SPDX-License-Identifier: GPL-2.0-or-later */
/* clock: the one clock of all measurements. It makes no timers; engines and waits call it. */
#include "core/base/clock.h"

#include <errno.h>
#include <time.h>

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
