/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pair_stats: arithmetic of timing records. It knows no pairs. Used by pair_client.c, which makes
 * records, and pair_result.c, which adds them up. */
#include "core/engine/pair_stats.h"

#include <math.h>
#include <stdbool.h>

#include "core/base/mem.h"
#include "core/stats/summary.h"

static void range_add(struct pair_range *r, double v, int64_t n)
{
	r->min = n == 1 || v < r->min ? v : r->min;
	r->max = n == 1 || v > r->max ? v : r->max;
}

void pair_stats_add(struct pair_stats *s, const struct pair_record *r)
{
	int64_t ns = r->end_ns > r->begin_ns ? r->end_ns - r->begin_ns : 1;
	const int64_t v[] = {ns, r->bytes, r->transactions};
	double n = (double)++s->records, delta[PAIR_QUANTITIES];
	if (s->records == 1)
		s->first_ns = r->begin_ns;
	s->last_ns = r->end_ns;
	for (int i = 0; i < PAIR_QUANTITIES; i++) {
		s->sum[i] += v[i];
		delta[i] = (double)v[i] - s->mean[i];
		s->mean[i] += delta[i] / n;
		for (int k = 0; k <= i; k++)
			s->product[i][k] += delta[i] * delta[k] * (n - 1) / n;
	}
	range_add(&s->rate, (double)r->bytes * 8e9 / (double)ns, s->records);
	range_add(&s->tps, (double)r->transactions * 1e9 / (double)ns, s->records);
	range_add(&s->time, (double)ns / (double)r->transactions, s->records);
}

static void range_merge(struct pair_range *into, const struct pair_range *from, bool first)
{
	into->min = first || from->min < into->min ? from->min : into->min;
	into->max = first || from->max > into->max ? from->max : into->max;
}

void pair_stats_merge(struct pair_stats *into, const struct pair_stats *from)
{
	double n = (double)into->records, more = (double)from->records, delta[PAIR_QUANTITIES];
	bool first = !into->records;
	if (!from->records)
		return;
	for (int i = 0; i < PAIR_QUANTITIES; i++) {
		delta[i] = from->mean[i] - into->mean[i];
		into->mean[i] += delta[i] * more / (n + more);
		into->sum[i] += from->sum[i];
		for (int k = 0; k <= i; k++)
			into->product[i][k] +=
			    from->product[i][k] + delta[i] * delta[k] * n * more / (n + more);
	}
	range_merge(&into->rate, &from->rate, first);
	range_merge(&into->tps, &from->tps, first);
	range_merge(&into->time, &from->time, first);
	if (first || from->first_ns < into->first_ns)
		into->first_ns = from->first_ns;
	if (from->last_ns > into->last_ns)
		into->last_ns = from->last_ns;
	into->records += from->records;
}

double pair_stats_ratio(const struct pair_stats *s, enum pair_quantity of, enum pair_quantity per)
{
	return s->sum[per] > 0 ? (double)s->sum[of] / (double)s->sum[per] : NAN;
}

double pair_stats_half(const struct pair_stats *s, enum pair_quantity of, enum pair_quantity per)
{
	double ratio = pair_stats_ratio(s, of, per), n = (double)s->records;
	if (s->records < 2)
		return NAN;
	double both = of > per ? s->product[of][per] : s->product[per][of];
	double squares =
	    s->product[of][of] - 2 * ratio * both + ratio * ratio * s->product[per][per];
	double deviation = sqrt(fmax(squares, 0) / (n - 1)) / s->mean[per];
	return summary_half_width(deviation, (size_t)s->records, 0.95);
}

/* In this order on the control channel. */
#define STATS_WHOLE(s)                                                                             \
	{                                                                                          \
		&(s)->records, &(s)->sum[0], &(s)->sum[1], &(s)->sum[2], &(s)->first_ns,           \
		    &(s)->last_ns                                                                  \
	}
#define STATS_REAL(s)                                                                              \
	{                                                                                          \
		&(s)->rate.min, &(s)->rate.max, &(s)->tps.min, &(s)->tps.max, &(s)->time.min,      \
		    &(s)->time.max, &(s)->mean[0], &(s)->mean[1], &(s)->mean[2],                   \
		    &(s)->product[0][0], &(s)->product[1][0], &(s)->product[1][1],                 \
		    &(s)->product[2][0], &(s)->product[2][1], &(s)->product[2][2]                  \
	}

json_t *pair_stats_pack(const struct pair_stats *s)
{
	const int64_t *whole[] = STATS_WHOLE(s);
	const double *real[] = STATS_REAL(s);
	json_t *j = json_array();
	if (!s->records)
		return j;
	for (size_t i = 0; i < ARRAY_SIZE(whole); i++)
		json_array_append_new(j, json_integer(*whole[i]));
	for (size_t i = 0; i < ARRAY_SIZE(real); i++)
		json_array_append_new(j, json_real(*real[i]));
	return j;
}

void pair_stats_unpack(const json_t *j, struct pair_stats *out)
{
	*out = (struct pair_stats){0};
	int64_t *whole[] = STATS_WHOLE(out);
	double *real[] = STATS_REAL(out);
	for (size_t i = 0; i < ARRAY_SIZE(whole); i++)
		*whole[i] = json_integer_value(json_array_get(j, i));
	for (size_t i = 0; i < ARRAY_SIZE(real); i++)
		*real[i] = json_number_value(json_array_get(j, ARRAY_SIZE(whole) + i));
}
