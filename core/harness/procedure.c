// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * procedure: one measurement of many, and what makes a trial valid. Decides nothing about what to
 * measure next: search.c, ramp.c, … do. Called by those.
 */
#include "core/harness/procedure.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "core/base/units.h"

bool procedure_stopped(const struct procedure *p)
{
	return p->stop && p->stop();
}

void procedure_tell(struct procedure *p, const char *fmt, ...)
{
	va_list ap;

	if (!p->progress)
		return;
	va_start(ap, fmt);
	autofree char *text = mem_vprintf(fmt, ap);
	va_end(ap);
	p->progress(p->progress_arg, text);
}

int procedure_measure(struct procedure *p, const struct engine_spec *spec, struct run_sample *out,
		      struct err *err)
{
	if (procedure_stopped(p))
		return err_fail(err, EINTR, "interrupted");
	p->measured++;
	int r = p->measure(p->arg, spec, out, err);
	if (r && procedure_stopped(p))
		return err_fail(err, EINTR, "interrupted");
	return r;
}

/* Every packet that did not arrive was dropped by a link, and by nothing of the machine's. */
static bool lost_by_links(const struct run_sample *s)
{
	const struct losses *l = &s->losses;

	return l->known && l->followed && !l->unexplained && !l->behind && !s->engine.lost_host &&
	       !s->fidelity.softnet_dropped && s->fidelity.limit != FIDELITY_RELAY;
}

/* Why the loss of this sample may be the machine's and not the path's; false: it is the path's. */
static bool excuse(const struct run_sample *s, struct arena *arena, struct trial *out)
{
	enum fidelity_limit limit = s->fidelity.limit;

	if (s->engine.lost_host) {
		out->fault = TRIAL_MACHINE;
		out->why = arena_printf(arena, "the receiver's own socket dropped %lld datagrams",
					(long long)s->engine.lost_host);
		return true;
	}
	if (limit == FIDELITY_ENOUGH || limit == FIDELITY_SENDER)
		return false;
	bool others = limit == FIDELITY_OTHERS || limit == FIDELITY_STEAL ||
		      s->fidelity.others > FIDELITY_QUIET_MAX;
	out->fault = others ? TRIAL_OTHERS : TRIAL_MACHINE;
	out->why = arena_printf(arena, "the machine may have lost them: %s", s->fidelity.why);
	return true;
}

/* One datagram more or less is no matter of the rate: the window's edges decide it. */
static bool offered_enough(const struct engine_result *e, const struct engine_spec *spec)
{
	double one_pps = (double)NSEC_PER_SEC / (double)spec->duration_ns;

	return e->sent_pps + one_pps >= (double)spec->rate_pps * PROCEDURE_OFFERED_MIN;
}

/* Nothing left, and the kernel said so each time: a filter, or a limit of connections. */
static bool all_refused(const struct engine_result *e)
{
	return !e->client.packets && e->refused > 0;
}

static const char *shortfall(const struct engine_result *e, const struct engine_spec *spec,
			     struct arena *arena)
{
	const char *text = arena_printf(arena, "the sender offered %.0f of %.0f packets/s",
					e->sent_pps, (double)spec->rate_pps);

	return e->refused ? arena_printf(arena, "%s; its own system refused %lld sends", text,
					 (long long)e->refused)
			  : text;
}

/* Why the sample is no trial at all, whatever was lost. */
static const char *not_offered(const struct engine_result *e, const struct engine_spec *spec,
			       struct arena *arena, enum trial_fault *fault)
{
	*fault = TRIAL_ENDED;
	if (e->partial || e->invalid[0])
		return arena_printf(arena, "it ended early%s%s", e->invalid[0] ? ": " : "",
				    e->invalid);
	*fault = TRIAL_REFUSED;
	if (all_refused(e))
		return arena_printf(arena,
				    "nothing was sent: the sender's own system refused each of "
				    "%lld sends, as where a filter or a limit of connections is "
				    "on its way",
				    (long long)e->refused);
	*fault = str_eq(e->limit, "sender") ? TRIAL_SENDER : TRIAL_LATE;
	if (!e->client.packets)
		return arena_printf(arena,
				    "nothing was sent: the sender gave up %lld places on "
				    "its schedule",
				    (long long)e->missed);
	if (!offered_enough(e, spec))
		return shortfall(e, spec, arena);
	*fault = TRIAL_VALID;
	return NULL;
}

static double burst_pps(const struct engine_result *e)
{
	double share = json_number_value(json_object_get(e->detail, "in_send_calls"));

	return share > 0 ? e->sent_pps / share : NAN;
}

void trial_judge(const struct run_sample *s, struct arena *arena, struct trial *out)
{
	const struct engine_result *e = &s->engine;
	const struct engine_spec *spec = &s->spec;

	*out = (struct trial){
	    .load_pps = spec->rate_pps,
	    .duration_ns = spec->duration_ns,
	    .sent = e->client.packets,
	    .lost = e->lost,
	    .sent_pps = e->sent_pps,
	    .pps = e->pps,
	    .burst_pps = burst_pps(e),
	    .goodput_bps = e->goodput_bps,
	    .loss = e->client.packets > 0 ? (double)e->lost / (double)e->client.packets : 0,
	    .delay = e->delay,
	    .tries = 1,
	};
	out->why = not_offered(e, spec, arena, &out->fault);
	out->valid = !out->why && !(e->lost && excuse(s, arena, out));
}

bool trial_hopeless(const struct trial *t, const struct trial *before)
{
	if (t->fault == TRIAL_REFUSED)
		return true;
	if (!before || t->fault != before->fault ||
	    (t->fault != TRIAL_SENDER && t->fault != TRIAL_MACHINE))
		return false;
	return fabs(t->sent_pps - before->sent_pps) <= PROCEDURE_ALIKE * before->sent_pps &&
	       fabs(t->loss - before->loss) <= PROCEDURE_ALIKE;
}

int procedure_trial(struct procedure *p, const struct engine_spec *spec, struct trial *out,
		    struct err *err)
{
	struct engine_spec lossy = *spec;
	struct trial before = {0};
	int by_links = 0, r;

	lossy.total_loss = true; /* that is what a trial asks */

	for (int i = 1; i <= PROCEDURE_TRIES; i++) {
		struct run_sample sample = {.index = i};

		r = procedure_measure(p, &lossy, &sample, err);
		if (r)
			return r;
		trial_judge(&sample, p->arena, out);
		out->load_pps = spec->rate_pps;
		out->duration_ns = spec->duration_ns;
		out->tries = i;
		by_links += !out->valid && out->lost && lost_by_links(&sample) &&
			    offered_enough(&sample.engine, spec);
		engine_result_done(&sample.engine);
		if (out->valid)
			return 0;
		procedure_tell(p, "invalid trial at %lld packets/s: %s", (long long)spec->rate_pps,
			       out->why);
		if (by_links < i && trial_hopeless(out, i > 1 ? &before : NULL))
			return 0;
		before = *out;
	}
	if (by_links == PROCEDURE_TRIES) {
		out->valid = true;
		out->fault = TRIAL_VALID;
		out->why = arena_printf(p->arena,
					"lost in each of %d trials, and the links' own counters "
					"account for all of it",
					PROCEDURE_TRIES);
	}
	return 0;
}
