/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * curves: a figure over something that was varied, as text for a terminal, JSON and CSV:
 * saturation, ramps of connections, sweeps, and repeats of one measurement. In JSON and in the
 * heads of CSV units are in the names; what is not known is null, or empty.
 */
#ifndef VPCLAB_REPORT_CURVES_H
#define VPCLAB_REPORT_CURVES_H

#include <jansson.h>

#include "core/base/str.h"
#include "core/harness/saturate.h"
#include "core/harness/sweep.h"

void curves_saturate_text(const struct saturate *s, enum engine_test test, struct strbuf *out);
json_t *curves_saturate_json(const struct saturate *s); /* gives a reference, as those below */

void curves_ramp_text(const struct ramp *r, struct strbuf *out);
json_t *curves_ramp_json(const struct ramp *r);

/* Without axes: one measurement, repeated. */
void curves_sweep_text(const struct sweep_plan *plan, const struct sweep *s,
		       const struct scenario_repeat *how, struct strbuf *out);
json_t *curves_sweep_json(const struct sweep_plan *plan, const struct sweep *s,
			  const struct scenario_repeat *how);
/* A head, then a row a point: values of the keys, runs, each metric's mean and half width. */
void curves_sweep_csv(const struct sweep_plan *plan, const struct sweep *s,
		      const struct scenario_repeat *how, struct strbuf *out);

#endif
