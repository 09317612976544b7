/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From where on a series is steady: slow starts are cut, noise is not, a drift is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "core/stats/steady.h"

/* Uniform in −1…1, always the same. */
static double noise(uint32_t *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return (double)(*seed >> 8) / (1 << 23) - 1;
}

static void constant_is_steady(void **state)
{
	double v[10];
	struct steady s;

	(void)state;
	for (int i = 0; i < 10; i++)
		v[i] = 941.5e6;
	steady_find(v, 10, &s);
	assert_int_equal(s.cut, 0);
	for (int i = 0; i < 10; i++)
		v[i] = 0;
	steady_find(v, 10, &s);
	assert_int_equal(s.cut, 0);
}

static void slow_start_is_cut(void **state)
{
	double v[20];
	uint32_t seed = 1;
	struct steady s;

	(void)state;
	for (int i = 0; i < 20; i++)
		v[i] = (i < 3 ? 100 * (i + 1) : 940) + noise(&seed);
	steady_find(v, 20, &s);
	assert_int_equal(s.cut, 3);
	assert_true(fabs(s.trend) < 0.01);
}

/* Too high at first: a full token bucket. */
static void burst_is_cut(void **state)
{
	double v[100];
	uint32_t seed = 7;
	struct steady s;

	(void)state;
	for (int i = 0; i < 100; i++)
		v[i] = (i < 10 ? 3000 : 1000) + 20 * noise(&seed);
	steady_find(v, 100, &s);
	assert_true(s.cut >= 10 && s.cut <= 20); /* batches of 5 */
}

static void noise_is_not_cut(void **state)
{
	struct steady s;
	int cut = 0;

	(void)state;
	for (uint32_t trial = 1; trial <= 200; trial++) {
		uint32_t seed = trial * 7919;
		double v[20];

		for (int i = 0; i < 20; i++)
			v[i] = 1000 + 100 * noise(&seed);
		steady_find(v, 20, &s);
		cut += s.cut != 0;
	}
	assert_true(cut <= 10); /* of 200 */
}

static void drift_is_not_steady(void **state)
{
	double v[20];
	uint32_t seed = 3;
	struct steady s;

	(void)state;
	for (int i = 0; i < 20; i++)
		v[i] = 1000 + 30 * i + noise(&seed);
	steady_find(v, 20, &s);
	assert_int_equal(s.cut, -1);
	assert_true(s.trend > STEADY_TREND);
	assert_non_null(strstr(s.why, "grew"));
	for (int i = 0; i < 10; i++) {
		double swap = v[i];

		v[i] = v[19 - i];
		v[19 - i] = swap;
	}
	steady_find(v, 20, &s);
	assert_int_equal(s.cut, -1);
	assert_non_null(strstr(s.why, "fell"));
}

static void few_say_nothing(void **state)
{
	double v[3] = {1, 2, 3};
	struct steady s;

	(void)state;
	steady_find(v, 3, &s);
	assert_int_equal(s.cut, -1);
	assert_true(isnan(s.trend));
	steady_find(v, 0, &s);
	assert_int_equal(s.cut, -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(constant_is_steady),  cmocka_unit_test(slow_start_is_cut),
	    cmocka_unit_test(burst_is_cut),	   cmocka_unit_test(noise_is_not_cut),
	    cmocka_unit_test(drift_is_not_steady), cmocka_unit_test(few_say_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
