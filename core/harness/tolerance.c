/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tolerance: reads values and tolerances, each by its figure's dimension. Called by trial.c. */
#include "core/harness/tolerance.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/base/str.h"
#include "core/base/units.h"

static int plain(const char *text, double *value, struct err *err)
{
	char *end;

	*value = strtod(text, &end);
	if (end == text || *end || !isfinite(*value))
		return err_input(err, "'%s' is not a number", text);
	return 0;
}

int tolerance_value(const char *text, enum figure f, double *value, struct err *err)
{
	int64_t v = 0;
	int r;

	if (str_eq(text, "0")) {
		*value = 0;
		return 0;
	}
	switch (figure_dimension(f)) {
	case DIM_RATE:
		r = units_parse_rate(text, &v, err);
		*value = (double)v;
		return r;
	case DIM_TIME:
		r = units_parse_time(text, &v, err);
		*value = (double)v / 1e9;
		return r;
	case DIM_SHARE:
		r = units_parse_percent(text, &v, err);
		*value = (double)v / 1e6;
		return r;
	case DIM_BYTES:
		r = units_parse_size(text, &v, err);
		*value = (double)v;
		return r;
	default:
		return plain(text, value, err);
	}
}

static int one(const char *text, enum figure f, double *share, double *abs, struct err *err)
{
	int64_t ppm;
	int r;

	if (!str_ends(text, "%") || figure_dimension(f) == DIM_SHARE)
		return tolerance_value(text, f, abs, err);
	r = units_parse_percent(text, &ppm, err);
	*share = (double)ppm / 1e6;
	return r;
}

int tolerance_parse(const char *text, enum figure f, double *share, double *abs, struct err *err)
{
	const char * or = strstr(text, " or ");
	autofree char *first = or ? mem_printf("%.*s", (int)(or -text), text) : mem_strdup(text);

	*share = *abs = 0;
	int r = one(first, f, share, abs, err);
	return r || ! or ? r : one(or +4, f, share, abs, err);
}
