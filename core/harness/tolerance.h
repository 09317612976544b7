/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tolerance: values of figures and how far they may be off, as trials write them. Pure. */
#ifndef VPCLAB_HARNESS_TOLERANCE_H
#define VPCLAB_HARNESS_TOLERANCE_H

#include "core/tools/figure.h"

/* "8.13mbit", "450ms", "73.4%", "0", "1448": in the figure's own unit. */
int tolerance_value(const char *text, enum figure f, double *value, struct err *err);

/*
 * "1%", "0", "50us", "2% or 1ms": a share of the truth, an absolute value in the figure's unit, or
 * both. Of a figure that is a share itself, "0.1%" is absolute. The one that is not told becomes 0.
 */
int tolerance_parse(const char *text, enum figure f, double *share, double *abs, struct err *err);

#endif
