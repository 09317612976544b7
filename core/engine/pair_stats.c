/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pair_stats: arithmetic of timing records. It knows no pairs. Used by pair_client.c, which makes
 * records, and pair_result.c, which adds them up. */
#include "core/engine/pair_stats.h"

#include <math.h>

#include "core/base/mem.h"
#include "core/stats/summary.h"

static void figure_add(struct pair_figure *f, double v, int64_t n)
{
	double delta = v - f->mean;
	f->min = n == 1 || v < f->min ? v : f->min;
	f->max = n == 1 || v > f->max ? v : f->max;
	f->mean += delta / (double)n;
	f->squares += delta * (v - f->mean);
}

void pair_stats_add(struct pair_stats *s, const struct pair_record *r)
{
	double ns = (double)(r->end_ns > r->begin_ns ? r->end_ns - r->begin_ns : 1);
	if (!s->records++)
		s->first_ns = r->begin_ns;
	s->last_ns = r->end_ns;
	s->transactions += r->transactions;
	s->bytes += r->bytes;
	s->measured_ns += (int64_t)ns;
	figure_add(&s->rate, (double)r->bytes * 8e9 / ns, s->records);
	figure_add(&s->tps, (double)r->transactions * 1e9 / ns, s->records);
	figure_add(&s->time, ns / (double)r->transactions, s->records);
}

static void figure_merge(struct pair_figure *into, double n, const struct pair_figure *from,
			 double more)
{
	double delta = from->mean - into->mean;
	into->min = n <= 0 || from->min < into->min ? from->min : into->min;
	into->max = n <= 0 || from->max > into->max ? from->max : into->max;
	into->squares += from->squares + delta * delta * n * more / (n + more);
	into->mean += delta * more / (n + more);
}

void pair_stats_merge(struct pair_stats *into, const struct pair_stats *from)
{
	double n = (double)into->records, more = (double)from->records;
	if (!from->records)
		return;
	figure_merge(&into->rate, n, &from->rate, more);
	figure_merge(&into->tps, n, &from->tps, more);
	figure_merge(&into->time, n, &from->time, more);
	if (!into->records || from->first_ns < into->first_ns)
		into->first_ns = from->first_ns;
	if (from->last_ns > into->last_ns)
		into->last_ns = from->last_ns;
	into->records += from->records;
	into->transactions += from->transactions;
	into->bytes += from->bytes;
	into->measured_ns += from->measured_ns;
}

double pair_figure_half(const struct pair_figure *f, int64_t records)
{
	if (records < 2)
		return NAN;
	return summary_half_width(sqrt(f->squares / (double)(records - 1)), (size_t)records, 0.95);
}

json_t *pair_stats_pack(const struct pair_stats *s)
{
	const int64_t whole[] = {s->records,	 s->transactions, s->bytes,
				 s->measured_ns, s->first_ns,	  s->last_ns};
	const struct pair_figure *figures[] = {&s->rate, &s->tps, &s->time};
	json_t *j = json_array();
	if (!s->records)
		return j;
	for (size_t i = 0; i < ARRAY_SIZE(whole); i++)
		json_array_append_new(j, json_integer(whole[i]));
	for (size_t i = 0; i < ARRAY_SIZE(figures); i++) {
		json_array_append_new(j, json_real(figures[i]->mean));
		json_array_append_new(j, json_real(figures[i]->squares));
		json_array_append_new(j, json_real(figures[i]->min));
		json_array_append_new(j, json_real(figures[i]->max));
	}
	return j;
}

void pair_stats_unpack(const json_t *j, struct pair_stats *out)
{
	*out = (struct pair_stats){0};
	int64_t *whole[] = {&out->records,     &out->transactions, &out->bytes,
			    &out->measured_ns, &out->first_ns,	   &out->last_ns};
	struct pair_figure *figures[] = {&out->rate, &out->tps, &out->time};
	for (size_t i = 0; i < ARRAY_SIZE(whole); i++)
		*whole[i] = json_integer_value(json_array_get(j, i));
	for (size_t i = 0; i < ARRAY_SIZE(figures); i++) {
		size_t at = ARRAY_SIZE(whole) + 4 * i;
		figures[i]->mean = json_number_value(json_array_get(j, at));
		figures[i]->squares = json_number_value(json_array_get(j, at + 1));
		figures[i]->min = json_number_value(json_array_get(j, at + 2));
		figures[i]->max = json_number_value(json_array_get(j, at + 3));
	}
}
