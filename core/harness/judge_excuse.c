/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * judge_excuse: what the machine did during a run, as far as that can have changed the figure that
 * is weighed. Each rule has a bound of its own: a figure that is further off than the machine can
 * explain is not excused. Called by judge.c.
 */
#include "core/harness/judge_excuse.h"

#include <math.h>

/* From here on a wait for a CPU is felt by a flow, and not only by a clock that is read late. */
#define FELT_SHARE 0.05 /* of the time */
#define FELT_S	   0.1	/* in one go */

static bool is_rate(enum figure f)
{
	return figure_dimension(f) == DIM_RATE || figure_dimension(f) == DIM_EACH_SECOND;
}

/*
 * What the kernel counted is so however busy the machine was: numbers and shares exactly, rates but
 * for the times at which they were read.
 */
static bool counted_well(const struct trial_question *q, double said, double truth)
{
	enum figure_dimension d = figure_dimension(q->figure);

	return q->source == TRUTH_COUNTED &&
	       (d == DIM_NUMBER || d == DIM_SHARE || fabs(said - truth) > 0.25 * fabs(truth));
}

/* A busy machine makes times longer and rates smaller. */
static const char *busy(const struct evidence *e, const struct trial_question *q, double said,
			double truth)
{
	if (counted_well(q, said, truth) || q->figure == FIGURE_MSS ||
	    (figure_dimension(q->figure) == DIM_TIME && said < truth) ||
	    (is_rate(q->figure) && said > truth))
		return NULL;
	return e->machine;
}

/* How far a clock that is read late, at the beginning and at the end, can put a figure. */
static double clock_error(const struct evidence *e, enum figure f, double truth)
{
	double late_s = 2 * e->waited_longest_s;

	if (f == FIGURE_DURATION)
		return late_s;
	return is_rate(f) && e->active_s > 0 ? fabs(truth) * late_s / e->active_s : 0;
}

static bool felt(const struct evidence *e)
{
	return e->waited_longest_s > FELT_S || e->waited_s > FELT_SHARE * e->active_s;
}

/* Datagrams that came while the receiver had no CPU may have found its socket full. */
static double overflowed(const struct evidence *e)
{
	double pps = fmax(e->counted_pps, e->arrived_packets / e->active_s);
	double came = e->waited_s * pps / e->fragments;

	return e->lost_host > 0 && e->lost_host <= came ? e->lost_host : 0;
}

static const char *socket_was_full(const struct evidence *e, enum figure f, double off,
				   double allowed, struct arena *arena)
{
	double lost = overflowed(e), by = 0;

	if (f == FIGURE_LOSS && e->sent_packets > 0)
		by = lost * e->fragments / e->sent_packets;
	else if (f == FIGURE_LOST)
		by = lost;
	if (by == 0 || off < 0 || off > by + allowed)
		return NULL;
	return arena_printf(
	    arena, "it waited %.3g s for a CPU, and its socket overflowed by %.0f datagrams",
	    e->waited_s, lost);
}

/* Whatever time the tool took it of, an uneven flow has another rate in each. */
static const char *uneven(const struct evidence *e, const struct trial_question *q, double said,
			  double tolerance, struct arena *arena)
{
	if (q->figure != FIGURE_GOODPUT || q->source != TRUTH_COUNTED || !felt(e) ||
	    !(said >= e->least_bps - tolerance && said <= e->most_bps + tolerance))
		return NULL;
	return arena_printf(
	    arena, "a thread waited %.3g s for a CPU, and the rate was from %.4g to %.4g Mbit/s",
	    e->waited_s, e->least_bps / 1e6, e->most_bps / 1e6);
}

/*
 * A quantile may be of one question that waited longest. A mean has the questions of all waits,
 * each of them half as long as its wait at the most, and in a closed loop as much less of all
 * others.
 */
static double time_error(const struct evidence *e, enum figure f, double truth)
{
	if (figure_dimension(f) != DIM_TIME || f == FIGURE_DURATION)
		return 0;
	if (f != FIGURE_LATENCY_MEAN && f != FIGURE_LATENCY_P50 && f != FIGURE_LATENCY_MIN)
		return e->waited_longest_s;
	return e->active_s > 0 ? e->waited_s / e->active_s * (truth + e->waited_longest_s) : 0;
}

static const char *waited(const struct evidence *e, struct arena *arena)
{
	return arena_printf(arena, "a thread waited %.0f ms for a CPU in one go",
			    e->waited_longest_s * 1e3);
}

/*
 * It is so little inside that without the waits it might be outside. One in the inner half stays
 * true: that a lie and a wait undo each other so well is not to be expected.
 */
static bool hidden(const struct evidence *e, const struct answer *a, double beyond, double error)
{
	return fabs(a->said - a->truth) > a->tolerance / 2 && beyond > -error &&
	       (e->machine || felt(e));
}

const char *judge_doubt(const struct evidence *e, const struct trial_question *q,
			const struct answer *a, double beyond, struct arena *arena)
{
	double off = a->said - a->truth, late = clock_error(e, q->figure, a->truth);
	double longer = time_error(e, q->figure, a->truth);
	const char *why = NULL;

	if (beyond <= 0)
		return hidden(e, a, beyond, late) || hidden(e, a, -off - a->tolerance, longer)
			   ? waited(e, arena)
			   : NULL;
	if (e->spoilt)
		return e->spoilt;
	if (e->machine)
		why = busy(e, q, a->said, a->truth);
	if (!why)
		why = socket_was_full(e, q->figure, off, a->tolerance, arena);
	if (!why && beyond <= late)
		why = waited(e, arena);
	if (!why && off > 0 && beyond <= longer)
		why = waited(e, arena);
	return why ?: uneven(e, q, a->said, a->tolerance, arena);
}
