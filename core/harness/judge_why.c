/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * judge_why: holds a wrong figure against every way of going wrong that would give just this
 * figure, by the evidence of the run; the first that does names the fault. Decides nothing about
 * whether it is one. Called by judge.c.
 */
#include "core/harness/judge_why.h"

#include <math.h>
#include <stddef.h>

#include "core/base/mem.h"

#define NEAR 0.04 /* two figures are "the same" for the purpose of naming a fault */

static bool near(double a, double b)
{
	return !isnan(a) && !isnan(b) && b != 0 && fabs(a / b - 1) <= NEAR;
}

double judge_counted_loss(const struct evidence *e)
{
	return e->sent_packets > 0
		   ? 1 - (e->arrived_packets - fmax(e->duplicated, 0)) / e->sent_packets
		   : NAN;
}

/* Did anything get lost, there or back? */
static bool loses(const struct evidence *e)
{
	return judge_counted_loss(e) > 0 || e->lost_relay > 0;
}

/* The factors by which units are mistaken for each other. */
static bool unit_factor(double said, double truth)
{
	static const double factors[] = {8,	    1.024,	  1.048576, 1.073741824,
					 8 * 1.024, 8 * 1.048576, 1000,	    1e6};

	for (size_t i = 0; i < ARRAY_SIZE(factors); i++)
		if (fabs(said / truth / factors[i] - 1) < 0.01 ||
		    fabs(said / truth * factors[i] - 1) < 0.01)
			return true;
	return false;
}

/* A wrong side's rate must differ from the truth itself, or it explains nothing. */
static bool explains(double cause, double said, double truth)
{
	return near(said, cause) && !near(truth, cause);
}

static enum fault_kind why_rate(const struct evidence *e, double said, double truth)
{
	double bits = e->counted_bps * e->active_s, sent_bits = e->sent_bps * e->active_s;

	if (e->fragments > 1.5 && said < truth)
		return FAULT_FRAGMENT_LOSS;
	/* It tells what was, and what was is not what it was asked for. */
	if (explains(e->counted_bps, said, truth) && e->asked_bps > 0 &&
	    !near(e->sent_bps, e->asked_bps))
		return unit_factor(said, truth) ? FAULT_WRONG_UNIT : FAULT_SILENT_FALLBACK;
	if (explains(e->sent_bps, said, truth) ||
	    (explains(e->asked_bps, said, truth) && said > truth))
		return FAULT_WRONG_SIDE;
	if (explains(bits / e->run_s, said, truth) || explains(bits / e->asked_s, said, truth) ||
	    explains(sent_bits / e->asked_s, said, truth))
		return FAULT_WRONG_WINDOW;
	if (unit_factor(said, truth))
		return FAULT_WRONG_UNIT;
	/* More than was sent, by a sender that kept to its rate: more time's bytes. */
	if (said > truth && e->asked_bps > 0 && near(e->sent_bps, e->asked_bps) &&
	    said > e->asked_bps)
		return FAULT_WRONG_WINDOW;
	if (said > truth)
		return FAULT_WRONG_SIDE; /* more than came can only be what was sent */
	return FAULT_OTHER;
}

/* Messages that a stream was given each second: what it carried, in the size that was asked for. */
static double messages_pps(const struct evidence *e)
{
	return isnan(e->messages_pps) && e->asked_size > 0 ? e->counted_bps / 8 / e->asked_size
							   : e->messages_pps;
}

static enum fault_kind why_packets(const struct evidence *e, double said, double truth)
{
	double messages = messages_pps(e);

	if (e->fragments > 1.5)
		return FAULT_WRONG_PACKET_UNIT;
	/* A writer is ahead of what arrives by what lies in buffers. */
	if (messages > 1.5 * e->wire_packets_pps && said > 0.7 * messages && said < 1.5 * messages)
		return FAULT_HIDDEN_COALESCING;
	if (explains(e->sent_pps, said, truth) || said > truth)
		return FAULT_WRONG_SIDE;
	return FAULT_OTHER;
}

/* Copies that count as packets make losses smaller, but not less than none. */
static bool hides_duplicates(const struct evidence *e, double said, double truth)
{
	double left = fmax(truth - e->duplicated / e->sent_packets, 0);

	return e->duplicated > 0 && fabs(said - left) <= 0.1 * truth + 0.0005;
}

static enum fault_kind why_loss(const struct evidence *e, double said, double truth)
{
	double link = judge_counted_loss(e), pieces = 1 - pow(1 - truth, e->fragments);
	/* Of datagrams, as the socket drops them. */
	double host = e->sent_packets > 0 ? e->lost_host * e->fragments / e->sent_packets : 0;

	if (said > 1 || said < 0)
		return FAULT_WRONG_DENOMINATOR;
	if (said < truth)
		return hides_duplicates(e, said, truth) ? FAULT_HIDDEN_DUPLICATES
							: FAULT_HIDDEN_LOSS;
	/* Those that its socket dropped besides come on top. */
	if (e->fragments > 1.5 && said > 0.8 * pieces && said < 1.2 * pieces + fmax(host, 0))
		return FAULT_FRAGMENT_LOSS;
	if (host > 0 && fabs(said - truth - host) < 0.1 * said + 1e-4)
		return FAULT_HOST_LOSS;
	if (fabs(said - link) < 0.1 * said + 1e-4)
		return FAULT_BURSTS; /* it was lost, and would not have been of an even flow */
	return FAULT_OTHER;
}

/* A count of lost packets is judged as the share that it is of those sent. */
static enum fault_kind why_lost(const struct evidence *e, double said, double truth)
{
	double sent = e->sent_packets;

	return sent > 0 ? why_loss(e, fmin(said / sent, 1), truth / sent) : FAULT_OTHER;
}

static enum fault_kind why_received(const struct evidence *e, double said, double truth)
{
	if (e->fragments > 1.5)
		return FAULT_WRONG_PACKET_UNIT;
	if (said > truth && e->duplicated > 0 && near(said, e->arrived_packets))
		return FAULT_HIDDEN_DUPLICATES;
	return said > truth && near(said, e->sent_packets) ? FAULT_HIDDEN_LOSS : FAULT_OTHER;
}

static enum fault_kind why_time(const struct evidence *e, double said, double truth)
{
	if (e->frozen_s > 0 && said < truth)
		return FAULT_COORDINATED_OMISSION;
	if (loses(e) && said > 3 * truth)
		return FAULT_STOPPED_AT_LOSS;
	/* The host's own time comes on top, so half of the round trip is at least half of the
	 * truth. */
	if (said >= 0.48 * truth && said < 0.8 * truth)
		return FAULT_HALF_ROUND_TRIP;
	if (unit_factor(said, truth))
		return FAULT_WRONG_UNIT;
	return FAULT_OTHER;
}

enum fault_kind judge_why(const struct evidence *e, enum figure f, double said, double truth)
{
	switch (f) {
	case FIGURE_GOODPUT:
		return why_rate(e, said, truth);
	case FIGURE_PACKETS:
		return why_packets(e, said, truth);
	case FIGURE_LOSS:
		return why_loss(e, said, truth);
	case FIGURE_LOST:
		return why_lost(e, said, truth);
	case FIGURE_DUPLICATED:
		return said < truth ? FAULT_HIDDEN_DUPLICATES : FAULT_OTHER;
	case FIGURE_REORDERED:
		return said < truth ? FAULT_HIDDEN_REORDERING : FAULT_OTHER;
	case FIGURE_TRANSACTIONS:
	case FIGURE_CONNECTIONS:
		return loses(e) && said < truth / 2 ? FAULT_STOPPED_AT_LOSS : FAULT_OTHER;
	case FIGURE_RECEIVED:
		return why_received(e, said, truth);
	case FIGURE_SENT:
		return e->fragments > 1.5 ? FAULT_WRONG_PACKET_UNIT : FAULT_OTHER;
	default:
		return figure_dimension(f) == DIM_TIME ? why_time(e, said, truth) : FAULT_OTHER;
	}
}
