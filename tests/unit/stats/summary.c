/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Summaries against figures worked out elsewhere: Student's t by the tables in any textbook,
 * Welch's test by the formulas of its definition.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdbool.h>

#include "core/base/mem.h"
#include "core/stats/summary.h"

static bool near(double a, double b)
{
	return fabs(a - b) <= 1e-4 * fmax(1, fabs(b));
}

static void of_five_runs(void **state)
{
	static const double v[] = {941.2, 941.5, 940.9, 941.4, 941.0};
	struct summary s;

	(void)state;
	summary_of(v, ARRAY_SIZE(v), 0.95, &s);
	assert_int_equal(s.n, 5);
	assert_true(near(s.mean, 941.2));
	assert_true(near(s.stddev, 0.254951));
	assert_true(s.min == 940.9 && s.max == 941.5 && s.median == 941.2);
	assert_true(near(s.half_width, 2.776445 * 0.254951 / sqrt(5))); /* t(4; 0.975) */
	assert_true(s.confidence == 0.95);
}

static void quantiles_of_student(void **state)
{
	static const struct {
		size_t n;
		double confidence, t;
	} cases[] = {
	    {2, 0.95, 12.7062},	 {3, 0.95, 4.30265},  {10, 0.95, 2.26216},
	    {30, 0.99, 2.75639}, {10, 0.90, 1.83311}, {1000, 0.95, 1.96234},
	};
	static double v[1000];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(v); i++)
		v[i] = (double)(i % 2);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct summary s;

		summary_of(v, cases[i].n, cases[i].confidence, &s);
		assert_true(near(s.half_width / s.stddev * sqrt((double)cases[i].n), cases[i].t));
	}
}

static void of_few(void **state)
{
	static const double v[] = {3, 1};
	struct summary s;

	(void)state;
	summary_of(v, 0, 0.95, &s);
	assert_true(isnan(s.mean) && isnan(s.min) && isnan(s.median) && isnan(s.half_width));
	summary_of(v, 1, 0.95, &s);
	assert_true(s.mean == 3 && s.median == 3 && s.min == 3 && s.max == 3);
	assert_true(isnan(s.stddev) && isnan(s.half_width));
	summary_of(v, 2, 0.95, &s);
	assert_true(s.mean == 2 && s.median == 2 && s.min == 1 && s.max == 3);
	summary_of(v, 2, 1.5, &s);
	assert_true(isnan(s.half_width));
}

static void equal_runs_have_no_spread(void **state)
{
	static const double v[] = {5, 5, 5};
	struct summary s;

	(void)state;
	summary_of(v, 3, 0.95, &s);
	assert_true(s.stddev == 0 && s.half_width == 0);
}

/* Large equal parts must not eat the small differences. */
static void far_from_zero(void **state)
{
	static const double v[] = {1e12 + 1, 1e12 + 2, 1e12 + 3};
	struct summary s;

	(void)state;
	summary_of(v, 3, 0.95, &s);
	assert_true(s.stddev == 1);
}

/*
 * a: mean 20, variance 2, n 4. b: mean 25, variance 10, n 5. Squared errors 0.5 and 2:
 * degrees 6.25 / (0.25 / 3 + 4 / 4) = 5.769231.
 */
static void welch(void **state)
{
	static const double a[] = {20, 20 - 1.7320508075688772, 20 + 1.7320508075688772, 20};
	static const double b[] = {21, 23, 25, 27, 29};
	struct difference d;

	(void)state;
	summary_difference(a, 4, b, 5, 0.95, &d);
	assert_true(near(d.diff, 5));
	/* t(5.769231; 0.975) lies between t(6) = 2.44691 and t(5) = 2.57058 */
	assert_true(d.half_width > 2.44691 * sqrt(2.5) && d.half_width < 2.57058 * sqrt(2.5));
	assert_true(d.significant);
	summary_difference(b, 5, a, 4, 0.95, &d);
	assert_true(near(d.diff, -5));
	assert_true(d.significant);
	summary_difference(a, 4, b, 5, 0.999, &d);
	assert_false(d.significant);
}

/* With equal sizes and variances the degrees are those of the pooled test: 2 n - 2. */
static void welch_of_equal_spread_is_student(void **state)
{
	static const double a[] = {1, 2, 3, 4, 5}, b[] = {2, 3, 4, 5, 6};
	struct difference d;

	(void)state;
	summary_difference(a, 5, b, 5, 0.95, &d);
	assert_true(near(d.half_width, 2.306004 * sqrt(2.5 / 5 + 2.5 / 5))); /* t(8; 0.975) */
	assert_false(d.significant);
}

static void differences_of_few_or_equal(void **state)
{
	static const double a[] = {1, 1, 1}, b[] = {2, 2, 2};
	struct difference d;

	(void)state;
	summary_difference(a, 1, b, 3, 0.95, &d);
	assert_true(d.diff == 1 && isnan(d.half_width) && !d.significant);
	summary_difference(a, 0, b, 3, 0.95, &d);
	assert_true(isnan(d.diff) && !d.significant);
	summary_difference(a, 3, b, 3, 0.95, &d);
	assert_true(d.diff == 1 && d.half_width == 0 && d.significant);
	summary_difference(a, 3, a, 3, 0.95, &d);
	assert_true(d.diff == 0 && d.half_width == 0 && !d.significant);
}

/* An interval is never narrower than the step of its values; one that is not there stays so. */
static void widened(void **state)
{
	const double same[] = {100, 100, 100}, spread[] = {90, 100, 110}, other[] = {101, 101, 101};
	struct difference d;
	struct summary s;
	double before;

	(void)state;
	summary_of(same, 3, 0.95, &s);
	assert_true(s.half_width == 0);
	summary_widen(&s, 2);
	assert_true(s.half_width == 2 && s.mean == 100);
	summary_of(spread, 3, 0.95, &s);
	before = s.half_width;
	summary_widen(&s, 2);
	assert_true(s.half_width == before);
	summary_widen(&s, NAN);
	assert_true(s.half_width == before);
	summary_of(same, 1, 0.95, &s);
	summary_widen(&s, 2);
	assert_true(isnan(s.half_width));

	summary_difference(same, 3, other, 3, 0.95, &d);
	assert_true(d.significant);
	summary_widen_difference(&d, 0.5);
	assert_true(d.significant && d.half_width == 0.5);
	summary_widen_difference(&d, 1);
	assert_true(!d.significant && d.half_width == 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(of_five_runs),
	    cmocka_unit_test(quantiles_of_student),
	    cmocka_unit_test(of_few),
	    cmocka_unit_test(equal_runs_have_no_spread),
	    cmocka_unit_test(far_from_zero),
	    cmocka_unit_test(welch),
	    cmocka_unit_test(welch_of_equal_spread_is_student),
	    cmocka_unit_test(differences_of_few_or_equal),
	    cmocka_unit_test(widened),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
