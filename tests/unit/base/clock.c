/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The clock goes on, and sleeping to an absolute time survives signals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <sys/time.h>

#include "core/base/clock.h"
#include "core/base/units.h"

static volatile sig_atomic_t alarms;

static void on_alarm(int sig)
{
	(void)sig;
	alarms = alarms + 1;
}

static void never_goes_back(void **state)
{
	int64_t last = clock_now_ns();

	(void)state;
	for (int i = 0; i < 10000; i++) {
		int64_t now = clock_now_ns();

		assert_true(now >= last);
		last = now;
	}
}

static void sleeps_until_the_time_through_signals(void **state)
{
	struct itimerval every_2ms = {{0, 2000}, {0, 2000}}, off = {0};
	int64_t when = clock_now_ns() + 20 * NSEC_PER_MSEC;

	(void)state;
	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &every_2ms, NULL);
	clock_sleep_until_ns(when);
	setitimer(ITIMER_REAL, &off, NULL);
	assert_true(clock_now_ns() >= when);
	assert_true(alarms > 0);
}

static void the_past_is_over(void **state)
{
	int64_t start = clock_now_ns();

	(void)state;
	clock_sleep_until_ns(start - 1);
	clock_sleep_until_ns(0);
	clock_sleep_until_ns(-5);
	assert_true(clock_now_ns() - start < NSEC_PER_SEC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(never_goes_back),
	    cmocka_unit_test(sleeps_until_the_time_through_signals),
	    cmocka_unit_test(the_past_is_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
