/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * figure: two tables: what tools may tell, and the units in which they write it. Called by
 * adapter.c, reading.c and the judge. It reads no output.
 */
#include "core/tools/figure.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/base/str.h"

struct figure_row {
	const char *name;
	enum figure_dimension dimension;
};

static const struct figure_row figures[FIGURE_COUNT] = {
    [FIGURE_GOODPUT] = {"goodput", DIM_RATE},
    [FIGURE_PACKETS] = {"packets", DIM_EACH_SECOND},
    [FIGURE_LOSS] = {"loss", DIM_SHARE},
    [FIGURE_LOST] = {"lost", DIM_NUMBER},
    [FIGURE_SENT] = {"sent", DIM_NUMBER},
    [FIGURE_RECEIVED] = {"received", DIM_NUMBER},
    [FIGURE_DUPLICATED] = {"duplicated", DIM_NUMBER},
    [FIGURE_REORDERED] = {"reordered", DIM_NUMBER},
    [FIGURE_LATENCY_MEAN] = {"latency_mean", DIM_TIME},
    [FIGURE_LATENCY_MIN] = {"latency_min", DIM_TIME},
    [FIGURE_LATENCY_MAX] = {"latency_max", DIM_TIME},
    [FIGURE_LATENCY_P50] = {"latency_p50", DIM_TIME},
    [FIGURE_LATENCY_P90] = {"latency_p90", DIM_TIME},
    [FIGURE_LATENCY_P99] = {"latency_p99", DIM_TIME},
    [FIGURE_LATENCY_P999] = {"latency_p999", DIM_TIME},
    [FIGURE_JITTER] = {"jitter", DIM_TIME},
    [FIGURE_TRANSACTIONS] = {"transactions", DIM_EACH_SECOND},
    [FIGURE_CONNECTIONS] = {"connections", DIM_EACH_SECOND},
    [FIGURE_RETRANSMITS] = {"retransmits", DIM_NUMBER},
    [FIGURE_MSS] = {"mss", DIM_BYTES},
    [FIGURE_CPU_CLIENT] = {"cpu_client", DIM_SHARE},
    [FIGURE_CPU_SERVER] = {"cpu_server", DIM_SHARE},
    [FIGURE_DURATION] = {"duration", DIM_TIME},
};

struct unit_row {
	const char *name;
	enum figure_dimension dimension;
	double factor;
};

/*
 * K and M of bytes differ by tool: iperf 2 and 3 print KBytes and MBytes of 1024 and 1,048,576, but
 * Kbits and Mbits of 1000 and 10^6 (their units.c); qperf's KB and MB are 1000 and 10^6 (its
 * help.txt), sockperf's MBps 1,048,576 (its common.h).
 */
static const struct unit_row units[] = {
    {"bit/s", DIM_RATE, 1},
    {"bits/sec", DIM_RATE, 1},
    {"kbit/s", DIM_RATE, 1e3},
    {"Kbits/sec", DIM_RATE, 1e3},
    {"Mbit/s", DIM_RATE, 1e6},
    {"Mbits/sec", DIM_RATE, 1e6},
    {"Mbps", DIM_RATE, 1e6},
    {"Gbit/s", DIM_RATE, 1e9},
    {"Gbits/sec", DIM_RATE, 1e9},
    {"Gbps", DIM_RATE, 1e9},
    {"byte/s", DIM_RATE, 8},
    {"bytes/sec", DIM_RATE, 8},
    {"KBytes/sec", DIM_RATE, 8 * 1024.0},
    {"MBytes/sec", DIM_RATE, 8 * 1048576.0},
    {"GBytes/sec", DIM_RATE, 8 * 1073741824.0},
    {"KB/sec", DIM_RATE, 8e3},
    {"MB/sec", DIM_RATE, 8e6},
    {"Kb/s", DIM_RATE, 1e3},
    {"Mb/s", DIM_RATE, 1e6},
    {"Gb/s", DIM_RATE, 1e9},
    {"GB/sec", DIM_RATE, 8e9},
    {"MBps", DIM_RATE, 8 * 1048576.0},
    {"1/s", DIM_EACH_SECOND, 1},
    {"/sec", DIM_EACH_SECOND, 1},
    {"pps", DIM_EACH_SECOND, 1},
    {"msg/sec", DIM_EACH_SECOND, 1},
    {"K/sec", DIM_EACH_SECOND, 1e3},
    {"M/sec", DIM_EACH_SECOND, 1e6},
    {"%", DIM_SHARE, 0.01},
    {"share", DIM_SHARE, 1},
    {"count", DIM_NUMBER, 1},
    {"s", DIM_TIME, 1},
    {"sec", DIM_TIME, 1},
    {"ms", DIM_TIME, 1e-3},
    {"us", DIM_TIME, 1e-6},
    {"usec", DIM_TIME, 1e-6},
    {"µs", DIM_TIME, 1e-6},
    {"ns", DIM_TIME, 1e-9},
    {"bytes", DIM_BYTES, 1},
};

static const char *const dimensions[] = {
    [DIM_RATE] = "a data rate", [DIM_EACH_SECOND] = "a number each second",
    [DIM_SHARE] = "a share",	[DIM_NUMBER] = "a number",
    [DIM_TIME] = "a time",	[DIM_BYTES] = "a size",
};

const char *figure_name(enum figure f)
{
	return figures[f].name;
}

enum figure_dimension figure_dimension(enum figure f)
{
	return figures[f].dimension;
}

int figure_parse(const char *name, enum figure *f, struct err *err)
{
	const char *names[FIGURE_COUNT];

	for (int i = 0; i < FIGURE_COUNT; i++) {
		names[i] = figures[i].name;
		if (!str_eq(name, figures[i].name))
			continue;
		*f = (enum figure)i;
		return 0;
	}
	const char *near = str_suggest(name, names, FIGURE_COUNT);
	return near ? err_input(err, "'%s' is not a figure; did you mean '%s'?", name, near)
		    : err_input(err, "'%s' is not a figure, such as goodput or latency_p99", name);
}

int figure_unit(const char *unit, enum figure_dimension dimension, double *factor, struct err *err)
{
	const char *names[ARRAY_SIZE(units)];
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (units[i].dimension == dimension)
			names[n++] = units[i].name;
		if (!str_eq(unit, units[i].name))
			continue;
		if (units[i].dimension != dimension)
			return err_input(err, "unit '%s' is that of %s, this is %s", unit,
					 dimensions[units[i].dimension], dimensions[dimension]);
		*factor = units[i].factor;
		return 0;
	}
	const char *near = str_suggest(unit, names, n);
	if (near)
		return err_input(err, "unknown unit '%s'; did you mean '%s'?", unit, near);
	autostr struct strbuf all = {0};
	for (size_t i = 0; i < n; i++)
		strbuf_addf(&all, "%s%s", i ? ", " : "", names[i]);
	return err_input(err, "unknown unit '%s'; of %s there are %s", unit, dimensions[dimension],
			 strbuf_text(&all));
}

/* With the prefix that leaves one to three digits before the point. */
static void scaled(double v, const char *const *names, char *buf, size_t size)
{
	int i = 0;

	while (fabs(v) >= 1000 && names[i + 1]) {
		v /= 1000;
		i++;
	}
	snprintf(buf, size, "%.4g %s", v, names[i]);
}

void figure_format(enum figure f, double v, char *buf, size_t size)
{
	static const char *const rates[] = {"bit/s", "kbit/s", "Mbit/s", "Gbit/s", NULL};
	static const char *const seconds[] = {"1/s", "k/s", "M/s", NULL};

	if (isnan(v))
		snprintf(buf, size, "–");
	else if (figures[f].dimension == DIM_RATE)
		scaled(v, rates, buf, size);
	else if (figures[f].dimension == DIM_EACH_SECOND)
		scaled(v, seconds, buf, size);
	else if (figures[f].dimension == DIM_SHARE)
		snprintf(buf, size, "%.4g %%", v * 100);
	else if (figures[f].dimension == DIM_BYTES)
		snprintf(buf, size, "%.0f bytes", v);
	else if (figures[f].dimension == DIM_NUMBER)
		snprintf(buf, size, "%.10g", v);
	else if (fabs(v) >= 1)
		snprintf(buf, size, "%.4g s", v);
	else if (fabs(v) >= 1e-3)
		snprintf(buf, size, "%.4g ms", v * 1e3);
	else
		snprintf(buf, size, "%.4g µs", v * 1e6);
}
