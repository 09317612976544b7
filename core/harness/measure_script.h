/* SPDX-License-Identifier: GPL-2.0-or-later */
/* measure_script: `script` and `variables` of a scenario's measurement by pairs. */
#ifndef VPCLAB_HARNESS_MEASURE_SCRIPT_H
#define VPCLAB_HARNESS_MEASURE_SCRIPT_H

#include "core/base/yaml.h"
#include "core/harness/scenario.h"

/* From a measurement's map to m->spec; its duration is the script's unless the map has one. Adds a
 * problem for each mistake. */
void measure_read_script(const struct yaml_node *map, struct scenario_measure *m,
			 struct problems *p);

#endif
