/* SPDX-License-Identifier: GPL-2.0-or-later */
/* measure: one entry of a scenario's `measure:`, and `repeat:`. */
#ifndef VPCLAB_HARNESS_MEASURE_H
#define VPCLAB_HARNESS_MEASURE_H

#include "core/base/yaml.h"
#include "core/harness/scenario.h"

/* Fills `m` (name and the file's own repeat are there already); adds a problem for each mistake. */
void measure_parse(const struct yaml_node *node, struct scenario_measure *m, struct problems *p);

/* Does the key of a measurement mean anything to that test? Of no key: true. */
bool measure_takes(const char *key, enum engine_test test);

/* NULL leaves `r` as it is. */
void measure_parse_repeat(const struct yaml_node *node, struct scenario_repeat *r,
			  struct problems *p);

#endif
