// SPDX-License-Identifier: GPL-2.0-or-later
/* attempt_place: which CPU each end is kept on, and what the user's own words do to that. */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/harness/attempt.h"

/* Where each end goes, by the kind of test, `cpus` and what was named. */
static void place(enum engine_test test, enum scenario_cpus cpus, int client, int server,
		  int out[2])
{
	struct engine_spec spec = {.test = test, .client_cpu = 0, .server_cpu = 1};

	attempt_place_given(cpus, &(struct attempt_pins){client, server}, &spec);
	out[0] = spec.client_cpu;
	out[1] = spec.server_cpu;
}

#define PLACED(test, cpus, client, server, at_client, at_server)                                   \
	do {                                                                                       \
		int at[2];                                                                         \
		place(test, cpus, client, server, at);                                             \
		assert_int_equal(at[0], at_client);                                                \
		assert_int_equal(at[1], at_server);                                                \
	} while (0)

static void test_own_choice(void **state)
{
	(void)state;
	PLACED(TEST_TCP_STREAM, CPUS_DEFAULT, -1, -1, 1, 1);
	PLACED(TEST_TCP_MAERTS, CPUS_DEFAULT, -1, -1, 1, 1);
	PLACED(TEST_UDP_RR, CPUS_DEFAULT, -1, -1, 1, 1);
	PLACED(TEST_UDP_STREAM, CPUS_DEFAULT, -1, -1, 0, 1);
	PLACED(TEST_UDP_STREAM, CPUS_SAME, -1, -1, 1, 1);
	PLACED(TEST_TCP_STREAM, CPUS_APART, -1, -1, 0, 1);
	PLACED(TEST_TCP_STREAM, CPUS_FREE, -1, -1, -1, -1);
}

static void test_given_wins(void **state)
{
	(void)state;
	PLACED(TEST_TCP_STREAM, CPUS_DEFAULT, 0, 1, 0, 1);
	PLACED(TEST_TCP_STREAM, CPUS_SAME, 3, 2, 3, 2);
	PLACED(TEST_TCP_STREAM, CPUS_DEFAULT, 0, -1, 0, 0); /* the other one stays with it */
	PLACED(TEST_TCP_STREAM, CPUS_DEFAULT, -1, 0, 0, 0);
	PLACED(TEST_TCP_STREAM, CPUS_FREE, 0, -1, 0, -1);
}

static void test_other_end_stays_apart(void **state)
{
	cpu_set_t set;
	int at[2];

	(void)state;
	sched_getaffinity(0, sizeof(set), &set);
	if (CPU_COUNT(&set) < 2)
		skip();
	place(TEST_UDP_STREAM, CPUS_DEFAULT, 1, -1, at);
	assert_int_equal(at[0], 1);
	assert_int_not_equal(at[1], 1);
	assert_true(CPU_ISSET(at[1], &set));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_own_choice),
	    cmocka_unit_test(test_given_wins),
	    cmocka_unit_test(test_other_end_stays_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
