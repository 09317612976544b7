/* SPDX-License-Identifier: GPL-2.0-or-later */
/* near: figures of engines that are what they should be, or nearly. */
#ifndef VPCLAB_TESTS_ENGINE_NEAR_H
#define VPCLAB_TESTS_ENGINE_NEAR_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

static inline void near(double got, double want, double tolerance)
{
	if (!(fabs(got - want) <= tolerance))
		fail_msg("%.12g is not within %.12g of %.12g", got, tolerance, want);
}

/* But for what arithmetic rounds. */
static inline void same(double got, double want)
{
	near(got, want, fabs(want) * 1e-9);
}

#endif
