// SPDX-License-Identifier: GPL-2.0-or-later
/* fidelity: /proc texts as kernels write them, differences of snapshots, and the rules. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "core/harness/fidelity.h"

static const char stat_text[] = "cpu  300 10 200 1000 20 5 60 7 0 0\n"
				"cpu0 100 5 100 600 10 5 40 3 0 0\n"
				"cpu1 200 5 100 400 10 0 20 4 9 0\n"
				"intr 12345 0 0\n"
				"ctxt 99\n";

static void test_stat(void **state)
{
	struct fidelity_snapshot s = {0};

	(void)state;
	assert_int_equal(fidelity_parse_stat(stat_text, &s), 0);
	assert_int_equal(s.n_cpus, 2);
	assert_int_equal(s.cpu[0].busy, 250);
	assert_int_equal(s.cpu[0].softirq, 40);
	assert_int_equal(s.cpu[0].idle, 610);
	assert_int_equal(s.cpu[0].steal, 3);
	assert_int_equal(s.cpu[1].busy, 325); /* guest time is in user time already */
	memset(&s, 0, sizeof(s));
	assert_int_equal(fidelity_parse_stat("", &s), -EINVAL);
	assert_int_equal(fidelity_parse_stat("cpu0 1 2\n", &s), -EINVAL);
}

static void test_softnet(void **state)
{
	struct fidelity_snapshot s = {0};

	(void)state;
	assert_int_equal(
	    fidelity_parse_softnet("0000ff00 00000001 0000000a 0 0 0 0 0 0 0 0 0 0 0 0\n"
				   "00000002 00000010 00000001 0 0 0 0 0 0 0 0 0 1 0 0\n",
				   &s),
	    0);
	assert_int_equal(s.softnet_dropped, 17);
	assert_int_equal(s.softnet_squeezed, 11);
	assert_int_equal(fidelity_parse_softnet("zz\n", &s), -EINVAL);
	assert_int_equal(fidelity_parse_softnet("", &s), -EINVAL);
}

static void test_read(void **state)
{
	struct fidelity_snapshot s;
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(fidelity_read(&s, &err), 0);
	assert_true(s.n_cpus >= 1);
	assert_true(s.at_ns > 0);
}

static struct fidelity_snapshot shot(uint64_t busy0, uint64_t idle0, uint64_t busy1, uint64_t idle1)
{
	struct fidelity_snapshot s = {.n_cpus = 2};

	s.cpu[0] = (struct fidelity_cpu){.busy = busy0, .idle = idle0};
	s.cpu[1] = (struct fidelity_cpu){.busy = busy1, .idle = idle1};
	return s;
}

static struct fidelity between(const struct fidelity_snapshot *after)
{
	struct fidelity_snapshot before = shot(0, 0, 0, 0);
	struct fidelity f;

	fidelity_between(&before, after, &f);
	return f;
}

static void test_between(void **state)
{
	struct fidelity_snapshot after = shot(150, 50, 20, 180);
	struct fidelity f;

	(void)state;
	after.at_ns = 2000000000;
	after.softnet_dropped = 3;
	after.softnet_squeezed = 4;
	f = between(&after);
	assert_true(f.known);
	assert_float_equal(f.idle, 230.0 / 400, 1e-9);
	assert_float_equal(f.least_idle, 0.25, 1e-9);
	assert_int_equal(f.busiest_cpu, 0);
	assert_float_equal(f.busy_s, 170.0 / (double)sysconf(_SC_CLK_TCK), 1e-9);
	assert_int_equal(f.softnet_dropped, 3);
	assert_int_equal(f.softnet_squeezed, 4);
	assert_int_equal(f.elapsed_ns, 2000000000);
}

static void check_limit(struct fidelity f, enum fidelity_limit want)
{
	fidelity_judge(&f);
	assert_int_equal(f.limit, want);
	assert_int_equal(f.why[0] != 0, want != FIDELITY_ENOUGH);
}

static void test_judge(void **state)
{
	struct fidelity_snapshot fine = shot(100, 100, 100, 100), one = shot(199, 1, 0, 200);
	struct fidelity_snapshot all = shot(195, 5, 193, 7), edge = shot(190, 10, 190, 10);
	struct fidelity f = between(&fine);

	(void)state;
	check_limit(f, FIDELITY_ENOUGH);
	f.softnet_squeezed = 100; /* a squeeze is only a pause */
	check_limit(f, FIDELITY_ENOUGH);
	f.others = 0.2;
	check_limit(f, FIDELITY_OTHERS);
	f.steal = 0.03;
	check_limit(f, FIDELITY_STEAL);
	f.socket_dropped = 1;
	check_limit(f, FIDELITY_SOCKET);
	f.softnet_dropped = 1;
	check_limit(f, FIDELITY_BACKLOG);
	snprintf(f.relay, sizeof(f.relay), "9 packets overran the relay of r-b");
	check_limit(f, FIDELITY_RELAY);
	check_limit(between(&one), FIDELITY_CPU);
	check_limit(between(&all), FIDELITY_CPU);
	check_limit(between(&edge), FIDELITY_ENOUGH);	    /* 5 % idle is enough */
	check_limit((struct fidelity){0}, FIDELITY_ENOUGH); /* nothing known, nothing said */
	check_limit((struct fidelity){.needed_pps = 1000, .sent_pps = 990}, FIDELITY_SENDER);
	check_limit((struct fidelity){.needed_pps = 1000, .sent_pps = 998}, FIDELITY_ENOUGH);
	check_limit((struct fidelity){.needed_pps = 1000, .sent_pps = 2000}, FIDELITY_ENOUGH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_stat),  cmocka_unit_test(test_softnet),
	    cmocka_unit_test(test_read),  cmocka_unit_test(test_between),
	    cmocka_unit_test(test_judge),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
