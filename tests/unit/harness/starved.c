// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests of core/harness/starved: two processes on one CPU wait for each other, and that is seen;
 * one that sleeps does not wait, however long.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/units.h"
#include "core/harness/starved.h"

static pid_t spin(int cpu)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		_exit(1);
	for (;;)
		;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static int first_cpu(void)
{
	cpu_set_t set;

	assert_int_equal(sched_getaffinity(0, sizeof(set), &set), 0);
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &set))
			return i;
	return 0;
}

/* Of two that want one CPU all the time one has waited for half of it, or more. */
static void test_waits(void **state)
{
	struct starved *s = starved_new(getpid());
	int64_t begin, now;
	struct starved_found f;
	int cpu = first_cpu();
	pid_t a = spin(cpu), b = spin(cpu);

	(void)state;
	starved_look(s);
	for (begin = now = clock_now_ns(); now < begin + NSEC_PER_SEC; now = clock_now_ns()) {
		clock_sleep_until_ns(now + 20 * NSEC_PER_MSEC);
		starved_look(s);
	}
	starved_found(s, &f);
	starved_free(s);
	end(a);
	end(b);
	if (!f.known)
		skip(); /* the kernel counts no waits */
	assert_true(f.waited_s > 0.2);
	assert_true(f.longest_s > 0 && f.longest_s <= f.waited_s);
}

static void test_parse(void **state)
{
	int64_t ran, waited;

	(void)state;
	assert_true(starved_parse("795554 1402423 7\n", &ran, &waited));
	assert_int_equal(ran, 795554);
	assert_int_equal(waited, 1402423);
	assert_false(starved_parse("", &ran, &waited));
	assert_false(starved_parse("12\n", &ran, &waited));
	assert_false(starved_parse("-1 -1 0", &ran, &waited));
}

static void test_gone(void **state)
{
	struct starved *s = starved_new(-1);
	struct starved_found f;

	(void)state;
	starved_look(s);
	starved_found(s, &f);
	assert_false(f.known);
	assert_true(f.waited_s == 0 && f.longest_s == 0);
	starved_free(s);
	starved_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_parse),
	    cmocka_unit_test(test_waits),
	    cmocka_unit_test(test_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
