/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The histogram: its error bound, its quantiles, its JSON. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "core/base/mem.h"
#include "core/stats/hist.h"

static int setup(void **state)
{
	*state = hist_new();
	return 0;
}

static int teardown(void **state)
{
	hist_free(*state);
	return 0;
}

static void empty_has_no_figures(void **state)
{
	struct hist *h = *state;

	assert_true(isnan(hist_mean(h)));
	assert_true(isnan(hist_stddev(h)));
	assert_true(isnan(hist_quantile(h, 0.5)));
	hist_add(h, 5);
	assert_true(hist_mean(h) == 5);
	assert_true(isnan(hist_stddev(h)));
	assert_true(hist_quantile(h, 0.5) == 5);
}

/* One value at a time: min, max and median are exact; the bucket alone is within 1/256. */
static void relative_error_is_bounded(void **state)
{
	struct hist *h = *state;

	for (int bits = 0; bits < 63; bits++) {
		for (int k = 0; k < 500; k++) {
			int64_t v = (INT64_C(1) << bits) +
				    (int64_t)(drand48() * (double)(INT64_C(1) << bits));
			double q;

			if (v < 0)
				continue;
			hist_reset(h);
			hist_add(h, v);
			assert_true(hist_quantile(h, 0.5) == (double)v);
			hist_add(h, INT64_MAX); /* so that max does not cap the bucket */
			q = hist_quantile(h, 0.5);
			assert_true(q >= (double)v);
			assert_true(q - (double)v <= (double)v / 256);
			if (v < 256)
				assert_true(q == (double)v);
		}
	}
}

static void edges_of_buckets(void **state)
{
	static const int64_t edges[] = {0,
					1,
					255,
					256,
					257,
					511,
					512,
					513,
					1023,
					1024,
					INT64_MAX / 2,
					INT64_MAX / 2 + 1,
					INT64_MAX - 1,
					INT64_MAX};
	struct hist *h = *state;
	uint64_t total = 0;

	for (size_t i = 0; i < ARRAY_SIZE(edges); i++)
		hist_add(h, edges[i]);
	for (size_t i = 0; i < HIST_BUCKETS; i++)
		total += h->bucket[i];
	assert_int_equal(total, ARRAY_SIZE(edges));
	assert_int_equal(h->bucket[0], 1);
	assert_int_equal(h->bucket[255], 1);
	assert_int_equal(h->bucket[256], 1);
	assert_int_equal(h->bucket[511], 1);
	assert_int_equal(h->bucket[512], 2); /* 512 and 513 share one */
	assert_int_equal(h->bucket[HIST_BUCKETS - 1], 2);
	assert_int_equal(h->min, 0);
	assert_int_equal(h->max, INT64_MAX);
	hist_add(h, -7);
	assert_int_equal(h->bucket[0], 2);
	assert_int_equal(h->min, 0);
}

static void mean_and_deviation(void **state)
{
	static const int64_t v[] = {2, 4, 4, 4, 5, 5, 7, 9};
	struct hist *h = *state;

	for (size_t i = 0; i < ARRAY_SIZE(v); i++)
		hist_add(h, v[i]);
	assert_true(hist_mean(h) == 5);
	assert_true(fabs(hist_stddev(h) - sqrt(32.0 / 7)) < 1e-12);
	hist_reset(h);
	for (int i = 0; i < 1000; i++)
		hist_add(h, 123456789);
	assert_true(hist_stddev(h) >= 0 && hist_stddev(h) < 1);
}

static void quantiles_of_one_to_thousand(void **state)
{
	static const struct {
		double q, low, high;
	} cases[] = {{0, 1, 1},	      {0.001, 1, 1},   {0.1, 100, 100}, {0.25, 250, 250},
		     {0.5, 500, 501}, {0.9, 900, 903}, {0.99, 990, 994}};
	struct hist *h = *state;

	for (int i = 1; i <= 1000; i++)
		hist_add(h, i);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		double q = hist_quantile(h, cases[i].q);

		if (q < cases[i].low || q > cases[i].high)
			fail_msg("quantile %g is %g", cases[i].q, q);
	}
	assert_true(isnan(hist_quantile(h, -0.1)));
	assert_true(isnan(hist_quantile(h, 1.1)));
	assert_true(isnan(hist_quantile(h, NAN)));
}

/* Ten samples beyond it, or no figure. */
static void a_tail_needs_samples(void **state)
{
	static const struct {
		double q;
		int need;
	} cases[] = {{0.9, 100}, {0.99, 1000}, {0.999, 10000}, {0.95, 200}, {0.75, 40}};
	struct hist *h = *state;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		hist_reset(h);
		for (int k = 0; k < cases[i].need - 1; k++)
			hist_add(h, k);
		assert_true(isnan(hist_quantile(h, cases[i].q)));
		assert_false(isnan(hist_quantile(h, 0.5)));
		hist_add(h, 0);
		assert_false(isnan(hist_quantile(h, cases[i].q)));
		assert_true(isnan(hist_quantile(h, 1)));
	}
}

static void counting_up_to_a_value(void **state)
{
	struct hist *h = *state;

	assert_int_equal(hist_at_most(h, 5), 0);
	for (int64_t v = 1; v <= 100; v++)
		hist_add(h, v);
	hist_add(h, 1000000);
	assert_int_equal(hist_at_most(h, -1), 0);
	assert_int_equal(hist_at_most(h, 0), 0);
	assert_int_equal(hist_at_most(h, 40), 40);
	assert_int_equal(hist_at_most(h, 990000), 100);
	assert_int_equal(hist_at_most(h, 1000000), 101);
	assert_int_equal(hist_at_most(h, INT64_MAX), 101);
}

static void merging_is_adding_all(void **state)
{
	struct hist *h = *state, *a = hist_new(), *b = hist_new();

	for (int i = 0; i < 5000; i++) {
		int64_t v = (int64_t)(drand48() * 1e9) + 1;

		hist_add(h, v);
		hist_add(i % 3 ? a : b, v);
	}
	hist_merge(a, b);
	assert_int_equal(a->count, h->count);
	assert_int_equal(a->min, h->min);
	assert_int_equal(a->max, h->max);
	assert_memory_equal(a->bucket, h->bucket, sizeof(a->bucket));
	assert_true(fabs(hist_mean(a) / hist_mean(h) - 1) < 1e-12);
	hist_reset(b);
	hist_merge(a, b); /* nothing: min stays */
	assert_int_equal(a->min, h->min);
	hist_merge(b, a);
	assert_int_equal(b->min, h->min);
	hist_free(a);
	hist_free(b);
}

static void json_there_and_back(void **state)
{
	struct hist *h = *state, *back = hist_new();
	json_t *j;

	for (int round = 0; round < 2; round++) {
		j = hist_json(h); /* first the empty one */
		assert_non_null(j);
		assert_int_equal(hist_parse(j, back), 0);
		assert_memory_equal(h, back, sizeof(*h));
		json_decref(j);
		for (int i = 0; i < 1000; i++)
			hist_add(h, (int64_t)(drand48() * 1e12));
		hist_add(h, INT64_MAX);
	}
	hist_free(back);
}

static void wrong_json_is_refused(void **state)
{
	static const char *const bad[] = {
	    "[]",
	    "{}",
	    "{\"count\":1,\"min\":1,\"max\":1,\"sum\":1,\"sum_squares\":1}",
	    "{\"count\":1,\"min\":1,\"max\":1,\"sum\":1,\"sum_squares\":1,\"buckets\":{}}",
	    "{\"count\":1,\"min\":1,\"max\":1,\"sum\":1,\"sum_squares\":1,\"buckets\":[]}",
	    "{\"count\":1,\"min\":1,\"max\":1,\"sum\":1,\"sum_squares\":1,\"buckets\":[[1,2]]}",
	    "{\"count\":1,\"min\":1,\"max\":1,\"sum\":1,\"sum_squares\":1,\"buckets\":[[-1,1]]}",
	    "{\"count\":1,\"min\":1,\"max\":1,\"sum\":1,\"sum_squares\":1,\"buckets\":[[1,1,1]]}",
	    "{\"count\":1,\"min\":1,\"max\":1,\"sum\":1,\"sum_squares\":1,\"buckets\":[[1,\"1\"]]}",
	    "{\"count\":1,\"min\":2,\"max\":1,\"sum\":1,\"sum_squares\":1,\"buckets\":[[1,1]]}",
	    "{\"count\":-1,\"min\":1,\"max\":1,\"sum\":1,\"sum_squares\":1,\"buckets\":[[1,-1]]}",
	    ("{\"count\":0,\"min\":1,\"max\":1,\"sum\":1,\"sum_squares\":1,\"buckets\":"
	     "[[1,9223372036854775807],[1,9223372036854775807],[1,2]]}"),
	    "{\"count\":\"1\",\"min\":1,\"max\":1,\"sum\":1,\"sum_squares\":1,\"buckets\":[[1,1]]}",
	};
	struct hist *h = *state;

	hist_add(h, 42);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		json_t *j = json_loads(bad[i], 0, NULL);

		assert_non_null(j);
		if (hist_parse(j, h) != -EINVAL)
			fail_msg("%s was taken", bad[i]);
		json_decref(j);
	}
	assert_int_equal(h->count, 1); /* written only on success */
	assert_int_equal(h->max, 42);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

/* The step is how far apart two quantiles are that are not the same. */
static void steps(void **state)
{
	(void)state;
	assert_true(hist_step(0) == 1 && hist_step(511) == 1 && hist_step(512) == 2);
	assert_true(hist_step(20000) == 64 && hist_step(32767.9) == 64 && hist_step(32768) == 128);
	assert_true(hist_step(-5) == 1 && isnan(hist_step(NAN)) && hist_step(1e300) > 1e16);
	for (double v = 1000; v < 1e15; v *= 1.01)
		assert_true(hist_step(v) <= v / 256 && hist_step(v) > v / 512 - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(empty_has_no_figures),	 TEST(relative_error_is_bounded),
	    TEST(edges_of_buckets),	 TEST(steps),
	    TEST(mean_and_deviation),	 TEST(quantiles_of_one_to_thousand),
	    TEST(a_tail_needs_samples),	 TEST(counting_up_to_a_value),
	    TEST(merging_is_adding_all), TEST(json_there_and_back),
	    TEST(wrong_json_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
