// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * bound: with another measurement on the way nothing is attributed; else what this machine itself
 * dropped comes first; else a rate that reaches what the model predicts was held by what the model
 * says; drops that the ledger knows name their place; a machine that was short of something is said
 * where the ends could prove nothing. Called by attempt.c.
 */
#include "core/harness/bound.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

static void __attribute__((format(printf, 3, 4)))
set(struct engine_result *e, const char *limit, const char *format, ...)
{
	char why[sizeof(e->limit_why)];
	va_list args;

	va_start(args, format);
	vsnprintf(why, sizeof(why), format, args);
	va_end(args);
	snprintf(e->limit_why, sizeof(e->limit_why), "%s", why);
	snprintf(e->limit, sizeof(e->limit), "%s", limit);
}

static bool by_model(const struct truth_predicted *p, struct engine_result *e)
{
	autostr struct strbuf text = {0};
	double rate = e->rate.count > 0 ? e->rate.mean : e->goodput_bps;

	if (!p || !p->known || !(p->low_bps > 0) || !(rate >= BOUND_REACHED * p->low_bps))
		return false;
	truth_limit_text(p, &text);
	set(e, p->limit == LIMIT_SENDER ? "schedule" : "link",
	    "%.1f %% of what the model predicts was reached: %s", rate / p->goodput_bps * 100,
	    strbuf_text(&text));
	return true;
}

/* Where most of the datagrams were lost. */
static const struct loss *most_lost(const struct run_sample *run)
{
	const struct loss *most = NULL;

	VEC_FOREACH (l, &run->losses.list)
		if (!l->answers && (!most || l->packets > most->packets))
			most = l;
	return most;
}

static bool by_ledger(struct run_sample *run)
{
	const struct loss *most = most_lost(run);

	if (!str_eq(run->engine.limit, "link") || !engine_test_traits(run->spec.test).datagram)
		return false;
	if (!most || most->packets <= 0)
		return false;
	set(&run->engine, "link", "%lld packets were dropped at %s: %s", (long long)most->packets,
	    most->where, most->cause);
	return true;
}

/*
 * What this machine dropped, or its relay could not carry, comes before the name of a link, also
 * where the rate is near to what the model predicts. Those drops are everyone's: they were this
 * flow's where something of it is missing, and for the most part where no link dropped more.
 */
static bool by_drops(struct run_sample *run)
{
	const struct fidelity *f = &run->fidelity;
	struct engine_result *e = &run->engine;
	bool datagram = engine_test_traits(run->spec.test).datagram;
	int64_t missing = datagram ? e->lost + e->back.lost : e->retransmits + e->back.retransmits;
	const struct loss *most = datagram ? most_lost(run) : NULL;
	int64_t dropped = f->softnet_dropped + f->socket_dropped;

	if (engine_test_traits(run->spec.test).transactions || !missing ||
	    (e->limit[0] && !str_eq(e->limit, "link")))
		return false;
	if (f->limit == FIDELITY_RELAY)
		set(e, "link", "%s", f->why);
	else if ((f->limit == FIDELITY_BACKLOG || f->limit == FIDELITY_SOCKET) &&
		 (!most || most->packets <= dropped))
		set(e, "receiver", "%s", f->why);
	else
		return false;
	return true;
}

static void by_machine(struct run_sample *run)
{
	const struct fidelity *f = &run->fidelity;
	struct engine_result *e = &run->engine;

	if (e->limit[0] || engine_test_traits(run->spec.test).transactions)
		return; /* a closed loop waits for its answers, whatever else is short */
	if (f->limit == FIDELITY_BACKLOG || f->limit == FIDELITY_SOCKET)
		set(e, "receiver", "%s", f->why);
	else if (f->limit == FIDELITY_SENDER)
		set(e, "sender", "%s", f->why);
	else if (f->limit == FIDELITY_RELAY)
		set(e, "link", "%s", f->why);
	else if (f->limit != FIDELITY_ENOUGH)
		set(e, "", "perhaps the machine: %s", f->why);
}

void bound_refine(const struct truth_predicted *p, struct run_sample *run)
{
	if (engine_test_traits(run->spec.test).transactions)
		p = NULL;
	if (run->company) { /* what was dropped is nobody's alone, and no model had two flows */
		if (!run->engine.limit[0] || str_eq(run->engine.limit, "link"))
			set(&run->engine, run->engine.limit[0] ? "link" : "", "%s", run->company);
		return;
	}
	if (!by_drops(run) && !by_model(p, &run->engine) && !by_ledger(run))
		by_machine(run);
}
