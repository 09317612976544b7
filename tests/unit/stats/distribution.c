/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Random numbers: that they follow the distribution whose name they have, by Kolmogorov and Smirnov
 * (continuous) or chi-square (whole numbers). Seeds are fixed, so a test that passes once passes
 * always; each case has several, so that no lucky one is needed. The generator itself is held
 * against an independent implementation of the published algorithm.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define MATHLIB_STANDALONE
#include <Rmath.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/stats/distribution.h"

#define DRAWS 20000

static const uint64_t seeds[] = {1, 2, 42, 0, UINT64_MAX};

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The largest distance between what was drawn and `against`, times √n: above 1.95 once in 1000. */
static double distance(const struct distribution *d, const struct distribution *against,
		       uint64_t seed)
{
	autofree double *v = mem_zalloc(DRAWS * sizeof(*v));
	struct distribution_source r;
	double most = 0;

	distribution_seed(&r, seed);
	for (int i = 0; i < DRAWS; i++)
		v[i] = distribution_draw(d, &r);
	qsort(v, DRAWS, sizeof(*v), by_value);
	for (int i = 0; i < DRAWS; i++) {
		double p = distribution_cdf(against, v[i]);

		most = fmax(most, fmax(p - (double)i / DRAWS, (double)(i + 1) / DRAWS - p));
	}
	return most * sqrt(DRAWS);
}

static const struct distribution continuous[] = {
    {DISTRIBUTION_UNIFORM, -3, 7},	{DISTRIBUTION_NORMAL, 100, 15},
    {DISTRIBUTION_EXPONENTIAL, 0.5, 0}, {DISTRIBUTION_PARETO, 2, 1.5},
    {DISTRIBUTION_LOGNORMAL, 1, 0.75},
};

static void continuous_ones_fit(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(continuous); i++)
		for (size_t k = 0; k < ARRAY_SIZE(seeds); k++) {
			double far = distance(&continuous[i], &continuous[i], seeds[k]);

			if (far > 1.95)
				fail_msg("kind %d, seed %llu: %g", continuous[i].kind,
					 (unsigned long long)seeds[k], far);
		}
}

/* The test above can fail: a parameter that is 5 % off is found. */
static void a_wrong_parameter_shows(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(continuous); i++) {
		struct distribution wrong = continuous[i];

		wrong.a *= 1.05;
		assert_true(distance(&continuous[i], &wrong, 1) > 1.95);
	}
}

/* Chi-square of whole numbers, those with less than ten expected put together at each end. */
static double chi_square_p(const struct distribution *d, double truth, uint64_t seed)
{
	enum { MOST = 2000 };
	autofree double *count = mem_zalloc(MOST * sizeof(*count));
	struct distribution_source r;
	double sum = 0, expected = 0, got = 0;
	int groups = 0;

	distribution_seed(&r, seed);
	for (int i = 0; i < DRAWS; i++) {
		double v = distribution_draw(d, &r);

		assert_true(v >= 0 && v < MOST && v == floor(v));
		count[(int)v]++;
	}
	for (int k = 0; k < MOST; k++) {
		expected += dpois(k, truth, 0) * DRAWS;
		got += count[k];
		if (expected < 10 || ppois(k, truth, 0, 0) * DRAWS < 10)
			continue;
		sum += (got - expected) * (got - expected) / expected;
		groups++;
		expected = got = 0;
	}
	sum += expected > 0 ? (got - expected) * (got - expected) / expected : 0;
	return pchisq(sum, groups, 0, 0); /* groups + 1 of them, less one */
}

static void poisson_fits(void **state)
{
	static const double means[] = {0.1, 1, 4.5, 30, 1000};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(means); i++)
		for (size_t k = 0; k < ARRAY_SIZE(seeds); k++) {
			struct distribution d = {DISTRIBUTION_POISSON, means[i], 0};
			double p = chi_square_p(&d, means[i], seeds[k]);

			if (p < 1e-4) /* one in 400 of such programs */
				fail_msg("mean %g, seed %llu: p = %g", means[i],
					 (unsigned long long)seeds[k], p);
			assert_true(chi_square_p(&d, means[i] * 1.2, seeds[k]) < 1e-4);
		}
}

/* xoshiro256** after splitmix64 of seed 0 and 1, by a separate program of the published text. */
static void known_sequence(void **state)
{
	static const struct {
		uint64_t seed, bits[3];
	} want[] = {
	    {0,
	     {UINT64_C(0x99ec5f36cb75f2b4), UINT64_C(0xbf6e1f784956452a),
	      UINT64_C(0x1a5f849d4933e6e0)}},
	    {1,
	     {UINT64_C(0xb3f2af6d0fc710c5), UINT64_C(0x853b559647364cea),
	      UINT64_C(0x92f89756082a4514)}},
	};
	struct distribution_source r;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(want); i++) {
		distribution_seed(&r, want[i].seed);
		for (size_t k = 0; k < ARRAY_SIZE(want[i].bits); k++)
			assert_int_equal(distribution_bits(&r), want[i].bits[k]);
	}
}

/* Parts of one seed: each its own, the same again, and none like its neighbour. */
static void forks_differ(void **state)
{
	struct distribution_source a, b;
	double together = 0;

	(void)state;
	distribution_fork(&a, 5, 3);
	distribution_fork(&b, 5, 3);
	for (int i = 0; i < 100; i++)
		assert_int_equal(distribution_bits(&a), distribution_bits(&b));
	distribution_fork(&a, 5, 0);
	distribution_fork(&b, 5, 1);
	for (int i = 0; i < DRAWS; i++)
		together += (distribution_unit(&a) - 0.5) * (distribution_unit(&b) - 0.5) * 12;
	assert_true(fabs(together) / sqrt(DRAWS) < 3.3);
	distribution_fork(&b, 6, 0);
	distribution_fork(&a, 5, 0);
	assert_true(distribution_bits(&a) != distribution_bits(&b));
}

static void bad_input_is_named(void **state)
{
	static const struct {
		struct distribution d;
		const char *text;
	} bad[] = {
	    {{DISTRIBUTION_UNIFORM, 3, 1}, "uniform: from 3 to 1 is backwards"},
	    {{DISTRIBUTION_NORMAL, 3, -1}, "normal: the standard deviation -1 is below 0"},
	    {{DISTRIBUTION_POISSON, -3, 0}, "poisson: the mean -3 is below 0"},
	    {{DISTRIBUTION_PARETO, 0, 1}, "pareto: least value and shape must be above 0"},
	    {{DISTRIBUTION_CONSTANT, NAN, 0}, "constant: its parameters must be finite"},
	};
	struct err err = ERR_INIT;
	enum distribution_kind kind;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_true(distribution_check(&bad[i].d, &err) < 0);
		assert_string_equal(err.text, bad[i].text);
	}
	for (size_t i = 0; i < ARRAY_SIZE(continuous); i++)
		assert_int_equal(distribution_check(&continuous[i], &err), 0);
	assert_true(distribution_kind_parse("poison", &kind, &err) < 0);
	assert_non_null(strstr(err.text, "did you mean 'poisson'?"));
	assert_int_equal(distribution_kind_parse("pareto", &kind, &err), 0);
	assert_int_equal(kind, DISTRIBUTION_PARETO);
}

static void new_seeds_differ(void **state)
{
	int64_t a = distribution_seed_new(), b = distribution_seed_new();

	(void)state;
	assert_true(a > 0 && a < INT64_C(1) << 53);
	assert_true(a != b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(continuous_ones_fit), cmocka_unit_test(a_wrong_parameter_shows),
	    cmocka_unit_test(poisson_fits),	   cmocka_unit_test(known_sequence),
	    cmocka_unit_test(forks_differ),	   cmocka_unit_test(bad_input_is_named),
	    cmocka_unit_test(new_seeds_differ),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
