/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * json: a result as JSON, schema "vpclab-result/1": everything, raw runs included, units in the
 * names (_bps, _ns, _pps, _share 0…1). What could not be measured is null.
 */
#ifndef VPCLAB_REPORT_JSON_H
#define VPCLAB_REPORT_JSON_H

#include <jansson.h>

#include "core/harness/result.h"

#define JSON_RESULT_SCHEMA "vpclab-result/1"

json_t *json_result(const struct run_result *r); /* gives a reference */

/* Parts that `vpclab measure --json` prints too. Each gives a reference. */
json_t *json_predicted(const struct truth_predicted *p); /* null when nothing is known */
/* {"num", "den"}: figures are those of the model, num/den of full size; null without shapers. */
json_t *json_scale(const struct truth_predicted *p);
json_t *json_sample(const struct run_sample *run);

#endif
