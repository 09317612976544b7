/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * figure: what a measuring tool may tell, each with one unit of ours, and the units in which tools
 * write them. Pure.
 */
#ifndef VPCLAB_TOOLS_FIGURE_H
#define VPCLAB_TOOLS_FIGURE_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/err.h"

enum figure {
	FIGURE_GOODPUT,	 /* bit/s of payload */
	FIGURE_PACKETS,	 /* datagrams or packets a second */
	FIGURE_LOSS,	 /* share 0…1 */
	FIGURE_LOST,	 /* datagrams */
	FIGURE_SENT,	 /* datagrams */
	FIGURE_RECEIVED, /* datagrams */
	FIGURE_DUPLICATED,
	FIGURE_REORDERED,
	FIGURE_LATENCY_MEAN, /* seconds, round trip; and so on */
	FIGURE_LATENCY_MIN,
	FIGURE_LATENCY_MAX,
	FIGURE_LATENCY_P50,
	FIGURE_LATENCY_P90,
	FIGURE_LATENCY_P99,
	FIGURE_LATENCY_P999,
	FIGURE_JITTER,	     /* seconds */
	FIGURE_TRANSACTIONS, /* a second */
	FIGURE_CONNECTIONS,  /* a second */
	FIGURE_RETRANSMITS,
	FIGURE_MSS,	   /* bytes */
	FIGURE_CPU_CLIENT, /* share of one CPU */
	FIGURE_CPU_SERVER,
	FIGURE_DURATION, /* seconds */
	FIGURE_COUNT
};

enum figure_dimension { DIM_RATE, DIM_EACH_SECOND, DIM_SHARE, DIM_NUMBER, DIM_TIME, DIM_BYTES };

const char *figure_name(enum figure f); /* "goodput", "latency_p99", … as adapters write it */
enum figure_dimension figure_dimension(enum figure f);
int figure_parse(const char *name, enum figure *f, struct err *err); /* -EINVAL with a suggestion */
/* "8.13 Mbit/s", "73.4 %", "0": for people. */
void figure_format(enum figure f, double value, char *buf, size_t size);

/*
 * How much one of a tool's unit is in ours: "Mbits/sec" → 1e6, "KBytes/sec" → 8 · 1024 (iperf's),
 * "KB/sec" → 8000 (qperf's), "usec" → 1e-6, "%" → 0.01. A table names each with who writes it so.
 * -EINVAL: unknown, or not of that dimension, with a suggestion.
 */
int figure_unit(const char *unit, enum figure_dimension dimension, double *factor, struct err *err);

#endif
