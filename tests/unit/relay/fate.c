/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fates: the same seed gives the same, shares and distributions are those asked for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/base/units.h"
#include "emulator/relay/fate.h"
#include "emulator/relay/random.h"

#define N 200000

/* Five standard deviations of a binomial share. */
static void assert_share(int64_t hits, int64_t n, double share)
{
	double spread = sqrt((double)n * share * (1 - share));

	assert_true(fabs((double)hits - (double)n * share) <= 5 * spread + 1);
}

/* The constant was computed apart from this program: three times SplitMix64's step, of which the
 * first, from seed 0, gives its published first number 0xe220a8397b1dcdaf. */
static void numbers_depend_on_all_three(void **state)
{
	(void)state;
	assert_true(random_bits(1, 1, RANDOM_LOSS) == random_bits(1, 1, RANDOM_LOSS));
	assert_true(random_bits(1, 1, RANDOM_LOSS) != random_bits(2, 1, RANDOM_LOSS));
	assert_true(random_bits(1, 1, RANDOM_LOSS) != random_bits(1, 2, RANDOM_LOSS));
	assert_true(random_bits(1, 1, RANDOM_LOSS) != random_bits(1, 1, RANDOM_STATE));
	assert_false(random_ppm(0, 0));
	assert_true(random_ppm(UINT64_MAX, 1000000));
	assert_false(random_ppm(UINT64_MAX, 999999));
	/* Fixed for ever: labs with a seed shall lose the same packets in later versions. */
	assert_true(random_bits(0, 0, RANDOM_SEED) == UINT64_C(0x238275bc38fcbe91));
}

static int64_t count_lost(const struct wire_impair *i, bool *lost)
{
	struct fate f;
	int64_t n = 0;

	fate_init(&f, i, 0, 0);
	for (int k = 0; k < N; k++) {
		struct fate_of o;

		fate_next(&f, 100, k, &o);
		n += o.cause == FATE_LOSS;
		if (lost)
			lost[k] = o.cause == FATE_LOSS;
	}
	return n;
}

static void same_seed_same_fates(void **state)
{
	const struct wire_impair i = {.loss = LOSS_RANDOM,
				      .loss_ppm = 100000,
				      .loss_correlation_ppm = 300000,
				      .delay_ns = 5000000,
				      .jitter_ns = 1000000,
				      .jitter_correlation_ppm = 250000,
				      .duplication_ppm = 10000,
				      .corruption_ppm = 10000,
				      .reordering_ppm = 10000,
				      .seed = 42};
	struct wire_impair other = i;
	struct fate a, b, c, back;
	int same = 0, same_back = 0;

	(void)state;
	other.seed = 43;
	fate_init(&a, &i, 0, 0);
	fate_init(&b, &i, 0, 77);
	fate_init(&c, &other, 0, 0);
	fate_init(&back, &i, 1, 0);
	for (int k = 0; k < 10000; k++) {
		struct fate_of x, y, z, w;

		memset(&x, 0, sizeof(x));
		fate_next(&a, 100, k, &x);
		fate_next(&b, 1500, 1000 * k, &y); /* neither time nor length matter */
		fate_next(&c, 100, k, &z);
		fate_next(&back, 100, k, &w);
		assert_int_equal(x.cause, y.cause);
		assert_int_equal(x.corrupted, y.corrupted);
		assert_int_equal(x.duplicated, y.duplicated);
		assert_int_equal(x.held, y.held);
		assert_true(x.delay_ns == y.delay_ns && x.bit == y.bit);
		same += x.delay_ns == z.delay_ns;
		same_back += x.delay_ns == w.delay_ns;
	}
	assert_true(same < 10);
	assert_true(same_back < 10);
}

static void random_loss_keeps_its_share_when_correlated(void **state)
{
	struct wire_impair i = {.loss = LOSS_RANDOM, .loss_ppm = 50000, .seed = 1};
	bool *lost = mem_zalloc(N);
	int64_t n = count_lost(&i, lost), pairs = 0;

	(void)state;
	assert_share(n, N, 0.05);
	i.loss_correlation_ppm = 600000;
	n = count_lost(&i, lost);
	for (int k = 1; k < N; k++)
		pairs += lost[k] && lost[k - 1];
	/* After a lost one: repeated, or lost by chance. The runs make the count spread wider. */
	assert_true(fabs((double)n / N - 0.05) < 0.05 * 0.1);
	assert_true(fabs((double)pairs / (double)n - (0.6 + 0.4 * 0.05)) < 0.03);
	free(lost);
}

static void every_nth_and_after_are_exact(void **state)
{
	struct wire_impair i = {.loss = LOSS_EVERY, .loss_every = 7};
	bool *lost = mem_zalloc(N);

	(void)state;
	assert_int_equal(count_lost(&i, lost), N / 7);
	assert_true(lost[6] && lost[13] && !lost[0] && !lost[7]);
	i = (struct wire_impair){.loss = LOSS_AFTER, .loss_after = 500};
	assert_int_equal(count_lost(&i, lost), N - 500);
	assert_true(!lost[499] && lost[500]);
	i.loss_after = 0;
	assert_int_equal(count_lost(&i, NULL), N);
	i = (struct wire_impair){.loss = LOSS_EVERY, .loss_every = 1};
	assert_int_equal(count_lost(&i, NULL), N);
	free(lost);
}

static void bursts_have_the_mean_of_the_chain(void **state)
{
	/* Bad for 1/0.25 = 4 packets on average, 0.01 / (0.01 + 0.25) of the time. */
	const struct wire_impair i = {.loss = LOSS_BURSTS,
				      .to_bad_ppm = 10000,
				      .to_good_ppm = 250000,
				      .bad_loss_ppm = 1000000,
				      .seed = 5};
	bool *lost = mem_zalloc(N);
	int64_t n = count_lost(&i, lost), bursts = 0;

	(void)state;
	for (int k = 1; k < N; k++)
		bursts += lost[k] && !lost[k - 1];
	assert_true(fabs((double)n / N - 0.01 / 0.26) < 0.004);
	assert_true(fabs((double)n / (double)bursts - 4) < 0.3);
	free(lost);
}

struct moments {
	double mean, deviation, neighbours; /* the last: correlation */
	int64_t least, most;
};

static struct moments measure(const struct wire_impair *i)
{
	struct moments m = {.least = INT64_MAX};
	double sum = 0, squares = 0, products = 0, last = 0;
	struct fate f;

	fate_init(&f, i, 0, 0);
	for (int k = 0; k < N; k++) {
		struct fate_of o;
		double v;

		fate_next(&f, 100, k, &o);
		v = (double)o.delay_ns;
		sum += v;
		squares += v * v;
		products += v * last;
		last = v;
		m.least = o.delay_ns < m.least ? o.delay_ns : m.least;
		m.most = o.delay_ns > m.most ? o.delay_ns : m.most;
	}
	m.mean = sum / N;
	m.deviation = sqrt(squares / N - m.mean * m.mean);
	m.neighbours = (products / N - m.mean * m.mean) / (m.deviation * m.deviation);
	return m;
}

static bool near(double got, double wanted, double relative)
{
	return fabs(got - wanted) <= fabs(wanted) * relative;
}

static void jitter_has_its_distribution(void **state)
{
	struct wire_impair i = {.delay_ns = 20000000, .jitter_ns = 1000000, .seed = 9};
	struct moments m = measure(&i);

	(void)state;
	assert_true(near(m.mean, 20e6, 0.001) && near(m.deviation, 1e6, 0.02));
	assert_true(fabs(m.neighbours) < 0.02);
	i.jitter_correlation_ppm = 700000;
	m = measure(&i);
	assert_true(near(m.mean, 20e6, 0.001) && near(m.deviation, 1e6, 0.03));
	assert_true(near(m.neighbours, 0.7, 0.03));
	i.jitter_correlation_ppm = 0;
	i.jitter = JITTER_UNIFORM;
	m = measure(&i);
	assert_true(near(m.mean, 20e6, 0.001) && near(m.deviation, 1e6 / sqrt(3), 0.02));
	assert_true(m.least >= 19000000 && m.most <= 21000000 && m.most > 20990000);
	i.jitter = JITTER_PARETO;
	m = measure(&i);
	assert_true(m.least >= 20000000 && m.least < 20001000);
	assert_true(near(m.mean - 20e6, 0.5e6, 0.03));
}

static void delays_are_never_negative(void **state)
{
	struct wire_impair i = {.delay_ns = 100, .jitter_ns = 1000000, .seed = 2};
	struct moments m = measure(&i);

	(void)state;
	assert_int_equal(m.least, 0);
	i = (struct wire_impair){.delay_ns = INT64_MAX, .jitter_ns = INT64_MAX};
	assert_true(measure(&i).least >= 0);
}

static void flaps_and_black_holes_take_nothing_from_chance(void **state)
{
	const struct wire_impair i = {.flap_up_ns = 100,
				      .flap_down_ns = 50,
				      .black_hole = 1000,
				      .loss = LOSS_EVERY,
				      .loss_every = 2};
	struct fate f;
	struct fate_of o;

	(void)state;
	fate_init(&f, &i, 0, 1000);
	fate_next(&f, 1000, 1000, &o);
	assert_int_equal(o.cause, FATE_PASS);
	fate_next(&f, 1001, 1099, &o);
	assert_int_equal(o.cause, FATE_BLACK_HOLE);
	fate_next(&f, 0, 1100, &o);
	assert_int_equal(o.cause, FATE_FLAP);
	fate_next(&f, 0, 1149, &o);
	assert_int_equal(o.cause, FATE_FLAP); /* it comes before the loss */
	fate_next(&f, 0, 1150, &o);
	assert_int_equal(o.cause, FATE_PASS);
	fate_next(&f, 0, 1150, &o);
	assert_int_equal(o.cause, FATE_LOSS);
}

static void shares_are_independent(void **state)
{
	const struct wire_impair i = {
	    .duplication_ppm = 20000, .corruption_ppm = 30000, .reordering_ppm = 40000, .seed = 11};
	int64_t duplicated = 0, corrupted = 0, held = 0, both = 0;
	struct fate f;

	(void)state;
	fate_init(&f, &i, 1, 0);
	for (int k = 0; k < N; k++) {
		struct fate_of o;

		fate_next(&f, 100, k, &o);
		duplicated += o.duplicated;
		corrupted += o.corrupted;
		held += o.held;
		both += o.duplicated && o.corrupted;
	}
	assert_share(duplicated, N, 0.02);
	assert_share(corrupted, N, 0.03);
	assert_share(held, N, 0.04);
	assert_share(both, N, 0.0006);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(numbers_depend_on_all_three),
	    cmocka_unit_test(same_seed_same_fates),
	    cmocka_unit_test(random_loss_keeps_its_share_when_correlated),
	    cmocka_unit_test(every_nth_and_after_are_exact),
	    cmocka_unit_test(bursts_have_the_mean_of_the_chain),
	    cmocka_unit_test(jitter_has_its_distribution),
	    cmocka_unit_test(delays_are_never_negative),
	    cmocka_unit_test(flaps_and_black_holes_take_nothing_from_chance),
	    cmocka_unit_test(shares_are_independent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
