// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * rfc2544: one frame size after the other, one benchmark after the other. The search itself is
 * search.c's. Called by `vpclab search`.
 */
#include "core/harness/rfc2544.h"

#include <errno.h>
#include <math.h>
#include <sys/socket.h>

#include "core/base/units.h"
#include "core/harness/attempt.h"

enum {
	ETHERNET_BYTES = 18, /* header and FCS */
	LOSS_STEPS = 10,
	BURST_FIRST = 64,
	BURST_REPEATS = 3
};

#define BURST_APART_NS (250 * NSEC_PER_MSEC) /* so that the queues are empty again */
#define AS_FAST	       0.97		     /* a search goes to 98 % of the sender's own rate */
#define BURST_MOST_S   2		     /* RFC 2544, 26.4 */

static const int64_t standard_frames[] = {64, 128, 256, 512, 1024, 1280, 1518};

static int throughput(struct procedure *p, const struct engine_spec *spec,
		      const struct rfc2544_options *o, struct rfc2544_row *row, struct err *err)
{
	struct search_options so = {.goals = &o->goal, .n_goals = 1, .most_pps = o->most_pps};
	int r = search_run(p, spec, &so, &row->search, err);

	row->throughput_bps = NAN;
	row->delay_why = "there is no rate without loss";
	if (!row->search.found.n || !row->search.found.v[0].lower_pps)
		return r;
	int64_t rate = row->search.found.v[0].lower_pps;
	row->throughput_bps = (double)rate * (double)row->frame * 8;
	row->delay_why = "datagrams this short carry no time of their own";
	VEC_FOREACH (t, &row->search.trials) {
		if (t->load_pps != rate || !t->valid || t->delay.count <= 0)
			continue;
		row->delay = t->delay;
		row->delay_why = NULL;
	}
	return r;
}

/* From 100 % down in tenths, until two rates in a row lose nothing. */
static int loss_rate(struct procedure *p, const struct engine_spec *base,
		     const struct rfc2544_options *o, struct rfc2544_row *row, struct err *err)
{
	struct engine_spec spec = *base;
	int64_t most = row->search.most_pps ? row->search.most_pps : o->most_pps;
	int without = 0, r = 0;

	spec.duration_ns = o->goal.final_ns;
	for (int i = LOSS_STEPS; i > 0 && without < 2; i--) {
		struct trial t;

		spec.rate_pps = most * i / LOSS_STEPS;
		if (!spec.rate_pps)
			break;
		r = procedure_trial(p, &spec, &t, err);
		if (r)
			return r;
		*VEC_ADD(p->arena, &row->losses) = t;
		without = t.valid && !t.lost ? without + 1 : 0;
		procedure_tell(p, "frame loss rate, %lld bytes at %d %%: %s%.4g %%",
			       (long long)row->frame, i * 100 / LOSS_STEPS,
			       t.valid ? "" : "invalid, ", t.loss * 100);
		if (t.fault == TRIAL_REFUSED)
			break;
	}
	return 0;
}

/* From one burst to the next: the sender may be half as fast as it was. */
static int64_t burst_gap_ns(const struct rfc2544_row *row, int64_t n)
{
	double sending_s = 2 * (double)n / fmax(row->search.flood.sent_pps, 1);

	return BURST_APART_NS + (int64_t)(sending_s * NSEC_PER_SEC);
}

/* 1: bursts of n pass without loss; 0: not; negative: error. */
static int burst_passes(struct procedure *p, const struct engine_spec *base,
			const struct rfc2544_options *o, int64_t n, struct rfc2544_row *row,
			struct err *err)
{
	int64_t gap_ns = burst_gap_ns(row, n);
	struct engine_spec spec = *base;
	int repeats = o->repeats > 0 ? o->repeats : BURST_REPEATS;
	struct trial t;

	spec.burst = n;
	spec.warmup_ns = 0;
	spec.duration_ns = repeats * gap_ns;
	spec.rate_pps = llround((double)n * NSEC_PER_SEC / (double)gap_ns);
	spec.rate_pps = spec.rate_pps < 1 ? 1 : spec.rate_pps;
	int r = procedure_trial(p, &spec, &t, err);
	if (r)
		return r;
	procedure_tell(p, "back-to-back, %lld bytes: bursts of %lld: %s%lld lost",
		       (long long)row->frame, (long long)n, t.valid ? "" : "invalid, ",
		       (long long)t.lost);
	if (!t.valid)
		row->burst.why = t.why;
	else if (!t.lost)
		row->burst.burst_pps = t.burst_pps;
	return t.valid && !t.lost;
}

/* RFC 9004, 5.4; and whether the bursts came faster than the path takes them. */
static void set_buffer(struct procedure *p, struct rfc2544_row *row)
{
	struct rfc2544_burst *b = &row->burst;
	double rate = row->search.found.n ? (double)row->search.found.v[0].lower_pps : 0;

	if (!(b->burst_pps > 0))
		b->burst_pps = row->search.has_flood ? row->search.flood.sent_pps : NAN;
	b->buffer_s = b->burst_pps > 0 ? (double)b->frames / b->burst_pps : NAN;
	b->corrected_s = rate > 0 ? b->buffer_s - b->buffer_s * fmin(rate / b->burst_pps, 1) : NAN;
	if (b->open_end && !b->why && rate >= AS_FAST * b->burst_pps)
		b->wire =
		    arena_printf(p->arena,
				 "the sender gives %.0f packets/s, and the path carries %.0f: "
				 "it did not keep the wire full, and no burst filled a queue",
				 b->burst_pps, rate);
}

/* What the sender gives in 2 s, as far as a specification takes it. */
static int64_t burst_most(const struct rfc2544_row *row)
{
	double most = ceil(row->search.flood.sent_pps * BURST_MOST_S);

	return most < BURST_FIRST    ? BURST_FIRST
	       : most < ENGINE_BURST ? (int64_t)most
				     : ENGINE_BURST;
}

static bool burst_near(const struct rfc2544_options *o, int64_t low, int64_t high)
{
	double width = fmax(1, floor(o->goal.width * (double)high));

	return high && (double)(high - low) <= width;
}

/* Upwards, since short bursts take little time, until one loses; then between. */
static int back_to_back(struct procedure *p, const struct engine_spec *base,
			const struct rfc2544_options *o, struct rfc2544_row *row, struct err *err)
{
	int64_t most = burst_most(row), low = 0, high = 0, n = BURST_FIRST;
	struct rfc2544_burst *b = &row->burst;

	while (low < most && !burst_near(o, low, high)) {
		int r = burst_passes(p, base, o, n, row, err);

		if (r < 0)
			return r;
		if (b->why)
			break;
		if (r)
			low = n;
		else
			high = n;
		n = high ? low + (high - low) / 2 : low * 2 < most ? low * 2 : most;
	}
	b->known = !b->why || low;
	b->frames = low;
	b->lost_from = high;
	b->open_end = low == most || b->why;
	set_buffer(p, row);
	return 0;
}

static int flood(struct procedure *p, const struct engine_spec *base,
		 const struct rfc2544_options *o, struct rfc2544_row *row, struct err *err)
{
	struct engine_spec spec = *base;

	if (row->search.has_flood)
		return 0;
	spec.rate_pps = 0;
	spec.duration_ns = o->goal.initial_ns;
	int r = procedure_trial(p, &spec, &row->search.flood, err);
	if (r)
		return r;
	row->search.has_flood = true;
	if (!row->search.most_pps)
		row->search.most_pps =
		    o->most_pps ? o->most_pps : (int64_t)(row->search.flood.pps * 1.2);
	return 0;
}

static int measure_row(struct procedure *p, const struct engine_spec *base,
		       const struct rfc2544_options *o, struct rfc2544_row *row, struct err *err)
{
	struct engine_spec spec = *base;
	int r = 0;

	spec.size = row->payload;
	if (o->throughput)
		r = throughput(p, &spec, o, row, err);
	if (!r && (o->burst || (o->loss && !o->most_pps)))
		r = flood(p, &spec, o, row, err);
	if (!r && o->loss)
		r = loss_rate(p, &spec, o, row, err);
	if (!r && o->burst)
		r = back_to_back(p, &spec, o, row, err);
	return r;
}

int rfc2544_run(struct procedure *p, const struct engine_spec *base,
		const struct rfc2544_options *o, struct rfc2544 *out, struct err *err)
{
	const int64_t *frames = o->n_frames ? o->frames : standard_frames;
	size_t n = o->n_frames ? o->n_frames : ARRAY_SIZE(standard_frames);
	int r = 0;

	for (size_t i = 0; i < n && !r; i++) {
		struct rfc2544_row row = {.frame = frames[i], .throughput_bps = NAN};

		row.payload = attempt_frame_payload(row.frame, o->family);
		if (row.payload < 12)
			row.skipped = "has no room for a datagram of ours";
		else if (o->mtu && row.frame > o->mtu + ETHERNET_BYTES)
			row.skipped =
			    arena_printf(p->arena, "the path's MTU is %lld", (long long)o->mtu);
		else
			r = measure_row(p, base, o, &row, err);
		*VEC_ADD(p->arena, &out->rows) = row;
	}
	out->interrupted = r == -EINTR;
	return r;
}

static bool row_complete(const struct rfc2544_row *row, const struct rfc2544_options *o)
{
	if (row->skipped)
		return true;
	if (o->throughput && (!row->search.found.n || !search_complete(&row->search.found.v[0])))
		return false;
	VEC_FOREACH (t, &row->losses)
		if (!t->valid)
			return false;
	return (!o->loss || row->losses.n) && (!o->burst || (row->burst.known && !row->burst.why));
}

bool rfc2544_complete(const struct rfc2544 *r, const struct rfc2544_options *o)
{
	VEC_FOREACH (row, &r->rows)
		if (!row_complete(row, o))
			return false;
	return !r->interrupted && r->rows.n > 0;
}
