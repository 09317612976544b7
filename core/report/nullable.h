/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nullable: what could not be measured, or is not there, is null in JSON. For json.c and proofs.c.
 */
#ifndef VPCLAB_REPORT_NULLABLE_H
#define VPCLAB_REPORT_NULLABLE_H

#include <jansson.h>
#include <math.h>

/* Each gives a reference. */
static inline json_t *nullable_number(double v)
{
	return isfinite(v) ? json_real(v) : json_null();
}

static inline json_t *nullable_text(const char *s)
{
	return s ? json_string(s) : json_null();
}

#endif
