/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * distribution: numbers for schedules, sizes and sleeps. It does not know what they are for. Used
 * by the engines' schedules and scripts.
 */
#include "core/stats/distribution.h"

#define MATHLIB_STANDALONE /* the library alone, without R */
#include <Rmath.h>
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <sys/random.h>
#include <time.h>

#include "core/base/mem.h"
#include "core/base/str.h"

static const char *const distribution_names[] = {"constant",	"uniform", "normal",   "poisson",
						 "exponential", "pareto",  "lognormal"};

static uint64_t distribution_rotate(uint64_t x, int by)
{
	return x << by | x >> (64 - by);
}

/* splitmix64: far apart for neighbouring seeds, and never all zero. */
static uint64_t distribution_mix(uint64_t *x)
{
	uint64_t z = *x += UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

void distribution_seed(struct distribution_source *r, uint64_t seed)
{
	for (size_t i = 0; i < ARRAY_SIZE(r->state); i++)
		r->state[i] = distribution_mix(&seed);
}

void distribution_fork(struct distribution_source *r, uint64_t seed, uint64_t index)
{
	uint64_t place = seed;
	uint64_t branch = distribution_mix(&place) ^ distribution_rotate(index + 1, 32);
	distribution_seed(r, distribution_mix(&branch));
}

int64_t distribution_seed_new(void)
{
	uint64_t bits = 0;
	while (!bits) {
		if (getrandom(&bits, sizeof(bits), GRND_NONBLOCK) != sizeof(bits)) {
			/* Early in a boot the system has none yet: the time will do. */
			struct timespec t;
			clock_gettime(CLOCK_REALTIME, &t);
			bits = (uint64_t)t.tv_nsec << 22 ^ (uint64_t)t.tv_sec;
		}
		bits &= (UINT64_C(1) << 53) - 1;
	}
	return (int64_t)bits;
}

uint64_t distribution_bits(struct distribution_source *r)
{
	uint64_t *s = r->state;
	uint64_t out = distribution_rotate(s[1] * 5, 7) * 9, kept = s[1] << 17;
	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= kept;
	s[3] = distribution_rotate(s[3], 45);
	return out;
}

double distribution_unit(struct distribution_source *r)
{
	/* 52 bits and a half: with 53, the last one would be rounded to 1. */
	return ((double)(distribution_bits(r) >> 12) + 0.5) * 0x1p-52;
}

int distribution_kind_parse(const char *name, enum distribution_kind *kind, struct err *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(distribution_names); i++)
		if (str_eq(name, distribution_names[i])) {
			*kind = (enum distribution_kind)i;
			return 0;
		}
	const char *near = str_suggest(name, distribution_names, ARRAY_SIZE(distribution_names));
	if (near)
		return err_input(err, "unknown distribution '%s'; did you mean '%s'?", name, near);
	return err_input(err,
			 "unknown distribution '%s'; there are constant, uniform, normal, poisson, "
			 "exponential, pareto, lognormal",
			 name);
}

int distribution_check(const struct distribution *d, struct err *err)
{
	const char *name = distribution_names[d->kind];
	if (!isfinite(d->a) || !isfinite(d->b))
		return err_input(err, "%s: its parameters must be finite", name);
	switch (d->kind) {
	case DISTRIBUTION_CONSTANT:
		break;
	case DISTRIBUTION_UNIFORM:
		if (d->b < d->a)
			return err_input(err, "%s: from %g to %g is backwards", name, d->a, d->b);
		break;
	case DISTRIBUTION_NORMAL:
	case DISTRIBUTION_LOGNORMAL:
		if (d->b < 0)
			return err_input(err, "%s: the standard deviation %g is below 0", name,
					 d->b);
		break;
	case DISTRIBUTION_POISSON:
	case DISTRIBUTION_EXPONENTIAL:
		if (d->a < 0)
			return err_input(err, "%s: the mean %g is below 0", name, d->a);
		break;
	case DISTRIBUTION_PARETO:
		if (d->a <= 0 || d->b <= 0)
			return err_input(err, "%s: least value and shape must be above 0", name);
		break;
	}
	return 0;
}

double distribution_draw(const struct distribution *d, struct distribution_source *r)
{
	double u = distribution_unit(r);
	switch (d->kind) {
	case DISTRIBUTION_CONSTANT:
		return d->a;
	case DISTRIBUTION_UNIFORM:
		return d->a + (d->b - d->a) * u;
	case DISTRIBUTION_NORMAL:
		return qnorm(u, d->a, d->b, 1, 0);
	case DISTRIBUTION_POISSON:
		return qpois(u, d->a, 1, 0);
	case DISTRIBUTION_EXPONENTIAL:
		return -d->a * log(u);
	case DISTRIBUTION_PARETO:
		return d->a * pow(u, -1 / d->b);
	case DISTRIBUTION_LOGNORMAL:
		return qlnorm(u, d->a, d->b, 1, 0);
	}
	return NAN;
}

double distribution_cdf(const struct distribution *d, double x)
{
	switch (d->kind) {
	case DISTRIBUTION_CONSTANT:
		return x >= d->a;
	case DISTRIBUTION_UNIFORM:
		return x >= d->b ? 1 : x < d->a ? 0 : (x - d->a) / (d->b - d->a);
	case DISTRIBUTION_NORMAL:
		return pnorm(x, d->a, d->b, 1, 0);
	case DISTRIBUTION_POISSON:
		return ppois(x, d->a, 1, 0);
	case DISTRIBUTION_EXPONENTIAL:
		return x > 0 ? -expm1(-x / d->a) : 0;
	case DISTRIBUTION_PARETO:
		return x > d->a ? 1 - pow(d->a / x, d->b) : 0;
	case DISTRIBUTION_LOGNORMAL:
		return plnorm(x, d->a, d->b, 1, 0);
	}
	return NAN;
}
