/* SPDX-License-Identifier: GPL-2.0-or-later */
/* steady: from where on a series of figures is steady. Pure. */
#ifndef VPCLAB_STATS_STEADY_H
#define VPCLAB_STATS_STEADY_H

#include <stddef.h>

struct steady {
	int cut;      /* that many figures at the begin are not of the steady part; -1: none is */
	double trend; /* of what is behind the cut: last less first of its fitted line, over its
			 mean */
	char why[120];
};

#define STEADY_LEAST 4	  /* figures that must be left behind the cut */
#define STEADY_NEAR  1.25 /* times the least error: so much is noise, and less is cut then */
#define STEADY_TREND 0.05 /* of the mean, that a steady part may drift in all */

/*
 * The first cut that makes the standard error of the rest about the least (MSER-5, White 1997:
 * means of five figures where there are 100, of fewer where there are fewer), in the first half
 * only. What is left must not drift: its slope, where a t-test at 99 % sees one, at most
 * STEADY_TREND.
 */
void steady_find(const double *v, size_t n, struct steady *out);

#endif
