/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hist: counts values in buckets whose width grows with the value, so that percentiles of millions
 * of samples cost a fixed 112 KiB. It knows no units. Engines add, the harness merges and asks.
 *
 * A value below 256 is its own bucket. Above, the nine leading bits of the value name the bucket:
 * each power of two is cut into 256 equal parts, hence the relative error of at most 1/256.
 */
#include "core/stats/hist.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"

#define SUB_COUNT (1 << HIST_SUB_BITS)

static unsigned bucket_of(int64_t value)
{
	unsigned shift;

	if (value < SUB_COUNT)
		return (unsigned)value;
	shift = 63 - HIST_SUB_BITS - (unsigned)__builtin_clzll((uint64_t)value);
	return (shift << HIST_SUB_BITS) + (unsigned)(value >> shift);
}

static int64_t bucket_lowest(unsigned bucket)
{
	unsigned shift;

	if (bucket < SUB_COUNT)
		return bucket;
	shift = (bucket >> HIST_SUB_BITS) - 1;
	return (int64_t)(SUB_COUNT + bucket % SUB_COUNT) << shift;
}

static int64_t bucket_highest(unsigned bucket)
{
	return bucket + 1 < HIST_BUCKETS ? bucket_lowest(bucket + 1) - 1 : INT64_MAX;
}

struct hist *hist_new(void)
{
	return mem_zalloc(sizeof(struct hist));
}

void hist_free(struct hist *h)
{
	free(h);
}

void hist_reset(struct hist *h)
{
	memset(h, 0, sizeof(*h));
}

void hist_add(struct hist *h, int64_t value)
{
	if (value < 0) /* the caller's clock went back: no less than nothing */
		value = 0;
	if (!h->count || value < h->min)
		h->min = value;
	if (value > h->max)
		h->max = value;
	h->count++;
	h->sum += (double)value;
	h->sum_squares += (double)value * (double)value;
	h->bucket[bucket_of(value)]++;
}

void hist_merge(struct hist *into, const struct hist *from)
{
	if (!from->count)
		return;
	if (!into->count || from->min < into->min)
		into->min = from->min;
	if (from->max > into->max)
		into->max = from->max;
	into->count += from->count;
	into->sum += from->sum;
	into->sum_squares += from->sum_squares;
	for (unsigned i = 0; i < HIST_BUCKETS; i++)
		into->bucket[i] += from->bucket[i];
}

double hist_mean(const struct hist *h)
{
	return h->count ? h->sum / (double)h->count : NAN;
}

double hist_stddev(const struct hist *h)
{
	double n = (double)h->count, squares;

	if (h->count < 2)
		return NAN;
	squares = h->sum_squares - h->sum * h->sum / n;
	return squares > 0 ? sqrt(squares / (n - 1)) : 0;
}

/* At least ten samples must lie beyond the quantile; the slack is for 1 - 0.9 in binary. */
static bool supported(const struct hist *h, double q)
{
	if (!h->count || !(q >= 0 && q <= 1))
		return false;
	return q <= 0.5 || (double)h->count * (1 - q) >= 10 - 1e-6;
}

double hist_quantile(const struct hist *h, double q)
{
	double rank; /* how many samples are not above the quantile */
	uint64_t seen = 0;

	if (!supported(h, q))
		return NAN;
	rank = ceil(q * (double)h->count - 1e-6);
	for (unsigned i = 0; i < HIST_BUCKETS; i++) {
		int64_t highest;

		seen += h->bucket[i];
		if (!seen || (double)seen < rank)
			continue;
		highest = bucket_highest(i);
		if (highest > h->max)
			highest = h->max;
		return (double)(highest < h->min ? h->min : highest);
	}
	return (double)h->max;
}

double hist_step(double value)
{
	unsigned bucket;

	if (isnan(value))
		return NAN;
	bucket = value >= (double)INT64_MAX ? HIST_BUCKETS - 1 : bucket_of((int64_t)fmax(value, 0));
	return (double)(bucket_highest(bucket) - bucket_lowest(bucket)) + 1;
}

int64_t hist_at_most(const struct hist *h, int64_t value)
{
	uint64_t seen = 0;

	if (value < 0 || !h->count)
		return 0;
	if (value >= h->max)
		return h->count;
	for (unsigned i = 0; i <= bucket_of(value); i++)
		seen += h->bucket[i];
	return (int64_t)seen;
}

json_t *hist_json(const struct hist *h)
{
	json_t *buckets = json_array();

	for (unsigned i = 0; i < HIST_BUCKETS; i++)
		if (h->bucket[i])
			json_array_append_new(buckets,
					      json_pack("[I, I]", (json_int_t)bucket_lowest(i),
							(json_int_t)h->bucket[i]));
	return json_pack("{s:I, s:I, s:I, s:f, s:f, s:o}", "count", (json_int_t)h->count, "min",
			 (json_int_t)h->min, "max", (json_int_t)h->max, "sum", h->sum,
			 "sum_squares", h->sum_squares, "buckets", buckets);
}

static int parse_buckets(json_t *buckets, struct hist *h)
{
	int64_t total = 0;
	size_t i;
	json_t *item;

	json_array_foreach(buckets, i, item)
	{
		json_int_t lowest, count;

		if (json_unpack(item, "[I, I!]", &lowest, &count) || lowest < 0 || count <= 0 ||
		    __builtin_add_overflow(total, count, &total))
			return -EINVAL;
		h->bucket[bucket_of(lowest)] += (uint64_t)count;
	}
	return total == h->count ? 0 : -EINVAL;
}

int hist_parse(const json_t *j, struct hist *h)
{
	struct hist *new = hist_new();
	json_int_t count, min, max;
	json_t *buckets;
	int rc = -EINVAL;

	if (json_unpack((json_t *)j, "{s:I, s:I, s:I, s:F, s:F, s:o}", "count", &count, "min", &min,
			"max", &max, "sum", &new->sum, "sum_squares", &new->sum_squares, "buckets",
			&buckets))
		goto out;
	if (count < 0 || min < 0 || max < min || !json_is_array(buckets))
		goto out;
	new->count = count;
	new->min = min;
	new->max = max;
	rc = parse_buckets(buckets, new);
	if (!rc)
		*h = *new;
out:
	hist_free(new);
	return rc;
}
