/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pair_stats: the timing records of a pair, or of many: sums, spread and confidence, in memory that
 * does not grow. Private to this folder.
 *
 * A figure of all records is a ratio of sums, all bytes by all the time, never a mean of rates. Its
 * confidence is that of such a ratio (Cochran, Sampling Techniques, 6.4): from the spread of the
 * records about it, by Student's quantile for 95 %.
 */
#ifndef VPCLAB_ENGINE_PAIR_STATS_H
#define VPCLAB_ENGINE_PAIR_STATS_H

#include <jansson.h>
#include <stdint.h>

enum pair_quantity { PAIR_NS, PAIR_BYTES, PAIR_TRANSACTIONS, PAIR_QUANTITIES };

struct pair_range {
	double min, max;
};

struct pair_stats {
	int64_t records;
	int64_t sum[PAIR_QUANTITIES];
	int64_t first_ns, last_ns; /* the first one's begin, the last one's end */
	struct pair_range rate;	   /* of single records, bit/s */
	struct pair_range tps;	   /* transactions a second */
	struct pair_range time;	   /* ns a transaction */
	/* Means, and sums of products of differences from them (Welford); [i][j] for j ≤ i. */
	double mean[PAIR_QUANTITIES], product[PAIR_QUANTITIES][PAIR_QUANTITIES];
};

struct pair_record {
	int64_t begin_ns, end_ns, bytes, transactions;
};

void pair_stats_add(struct pair_stats *s, const struct pair_record *r);
void pair_stats_merge(struct pair_stats *into, const struct pair_stats *from); /* Chan's */

/* Σ of one quantity over Σ of another; and half the 95 % interval of that, NAN below two records.
 */
double pair_stats_ratio(const struct pair_stats *s, enum pair_quantity of, enum pair_quantity per);
double pair_stats_half(const struct pair_stats *s, enum pair_quantity of, enum pair_quantity per);

/* An array of numbers for the control channel and back; gives a reference. */
json_t *pair_stats_pack(const struct pair_stats *s);
void pair_stats_unpack(const json_t *j, struct pair_stats *out);

#endif
