/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pair_stats: the timing records of a pair, or of many: sums, spread and confidence, in memory that
 * does not grow. Private to this folder.
 *
 * A figure's mean over all is by sums (all bytes by all the time), never a mean of rates. Its
 * spread is that of the records' own figures; half_width is Student's for 95 %.
 */
#ifndef VPCLAB_ENGINE_PAIR_STATS_H
#define VPCLAB_ENGINE_PAIR_STATS_H

#include <jansson.h>
#include <stdint.h>

struct pair_figure {			/* of records */
	double mean, squares, min, max; /* squares: sum of squared differences (Welford) */
};

struct pair_stats {
	int64_t records, transactions, bytes;
	int64_t measured_ns;	   /* sum of the records' times */
	int64_t first_ns, last_ns; /* the first one's begin, the last one's end */
	struct pair_figure rate;   /* bit/s */
	struct pair_figure tps;	   /* transactions a second */
	struct pair_figure time;   /* ns a transaction */
};

struct pair_record {
	int64_t begin_ns, end_ns, bytes, transactions;
};

void pair_stats_add(struct pair_stats *s, const struct pair_record *r);
void pair_stats_merge(struct pair_stats *into, const struct pair_stats *from); /* Chan's */

/* Half of the 95 % interval of the mean; NAN below two records. */
double pair_figure_half(const struct pair_figure *f, int64_t records);

/* An array of numbers for the control channel and back; gives a reference. */
json_t *pair_stats_pack(const struct pair_stats *s);
void pair_stats_unpack(const json_t *j, struct pair_stats *out);

#endif
