/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nullable: what could not be measured, or is not there, is null in JSON, and a text is never
 * refused. */
#ifndef VPCLAB_REPORT_NULLABLE_H
#define VPCLAB_REPORT_NULLABLE_H

#include <jansson.h>
#include <math.h>
#include <string.h>

#include "core/base/str.h"

/* Each gives a reference. */
static inline json_t *nullable_number(double v)
{
	return isfinite(v) ? json_real(v) : json_null();
}

/* File names and what the system says may be no UTF-8: better a sign in its place than no result.
 */
static inline json_t *nullable_text(const char *s)
{
	json_t *j = s ? json_string(s) : json_null();
	struct strbuf line = {0};

	if (j)
		return j;
	str_add_line(&line, s, 3 * strlen(s)); /* U+FFFD is three bytes */
	j = json_string(strbuf_text(&line));
	strbuf_done(&line);
	return j;
}

#endif
