/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * prove_judge: the arithmetic of proofs, and when the machine excuses a figure. It sends nothing.
 * Called by prove.c and prove_impair.c.
 */
#include "core/harness/prove_judge.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/units.h"
#include "core/harness/prove.h"

enum {
	LEAST_POINTS = 4,
	ROUNDS = 4,	      /* of finding the line; it stands still after two or three */
	FOREIGN_SHARE = 1000, /* one in so many of ours is nothing */
};

#define OFFERED_LEAST 1.02 /* of what was asked */
#define OFFERED_FAR   0.5  /* … below it no other try comes there */

/* ---- rates ---- */

/* The earliest of v[from…to-1] against a line of that slope. */
static size_t earliest(const struct judge_point *v, const double *charged, double per_ns,
		       const size_t range[2])
{
	size_t best = range[0];
	double least = INFINITY;

	for (size_t i = range[0]; i < range[1]; i++) {
		double late = (double)(v[i].at_ns - v[0].at_ns) - charged[i] / per_ns;

		if (late < least) {
			least = late;
			best = i;
		}
	}
	return best;
}

static void find_pauses(const struct judge_point *v, size_t a, size_t b, int64_t bridge_ns,
			struct judge_rate *out)
{
	for (size_t i = a + 1; i <= b; i++) {
		int64_t gap = v[i].at_ns - v[i - 1].at_ns;

		if (gap > out->longest_ns)
			out->longest_ns = gap;
		if (gap > bridge_ns)
			out->paused_ns += gap;
	}
}

static void fit(const struct judge_point *v, size_t n, int64_t bridge_ns, struct judge_rate *out)
{
	double *charged = mem_zalloc(n * sizeof(*charged));
	size_t a = 0, b = n - 1;

	for (size_t i = 1; i < n; i++)
		charged[i] = charged[i - 1] + (double)v[i].charge;
	for (int round = 0; round < ROUNDS && v[b].at_ns > v[a].at_ns; round++) {
		double per_ns = (charged[b] - charged[a]) / (double)(v[b].at_ns - v[a].at_ns);

		a = earliest(v, charged, per_ns, (size_t[]){0, n / 3 + 1});
		b = earliest(v, charged, per_ns, (size_t[]){n - 1 - n / 3, n});
	}
	out->window_ns = v[b].at_ns - v[a].at_ns;
	if (out->window_ns > 0)
		out->rate = (charged[b] - charged[a]) * 1e9 / (double)out->window_ns;
	find_pauses(v, a, b, bridge_ns, out);
	free(charged);
}

void judge_rate(const struct judge_point *v, size_t n, int64_t skip, int64_t bridge_ns,
		struct judge_rate *out)
{
	size_t from = 0;

	*out = (struct judge_rate){0};
	while (from < n && skip > 0)
		skip -= v[from++].charge;
	out->n = n - from;
	if (out->n >= LEAST_POINTS)
		fit(v + from, out->n, bridge_ns, out);
}

/* ---- verdicts ---- */

double proof_error(const struct proof *p)
{
	double diff = p->got - p->asked;

	return p->absolute || p->asked == 0 ? diff : diff / p->asked;
}

static void say(struct proof *p, struct arena *arena, enum verdict verdict, const char *why)
{
	p->verdict = verdict;
	p->why = why ? arena_strdup(arena, why) : NULL;
}

/* A link that is too fast and a machine that stood still can make the right figure together. */
static bool may_be_more(const struct proof *p, const struct judge_evidence *e)
{
	return e->paused_share > 0 &&
	       p->got > p->asked * (1 + p->tolerance) * (1 - e->paused_share);
}

static void explain_pause(const struct judge_evidence *e, char *why, size_t size)
{
	char longest[32];

	snprintf(why, size, "the machine stood still, for up to %s",
		 units_format_time(longest, sizeof(longest), e->longest_ns));
}

/* What may have held packets back, or kept them from being seen. Empty text: nothing. */
static void excuse_low(const struct proof *p, const struct judge_evidence *e, char *why,
		       size_t size)
{
	double low = p->absolute ? p->asked - p->tolerance : p->asked * (1 - p->tolerance);
	if (e->softnet_dropped)
		snprintf(why, size, "the kernel's backlog dropped %lld packets meanwhile",
			 (long long)e->softnet_dropped);
	else if (e->offered > 0 && !e->pushed_back && e->offered < p->asked * OFFERED_LEAST)
		snprintf(why, size, "the probe could offer only %.1f %% of it",
			 e->offered / p->asked * 100);
	else if (e->paused_share > 0 && p->got >= low * (1 - e->paused_share))
		explain_pause(e, why, size);
}

/* More than asked is hardly the machine's doing: only a bucket that filled up while the probe was
 * kept from sending, so that its saving went into the window. */
static void excuse_high(const struct proof *p, const struct judge_evidence *e, char *why,
			size_t size)
{
	bool starved = e->paused_share > 0 ||
		       (e->offered > 0 && !e->pushed_back && e->offered < p->asked * OFFERED_LEAST);

	if (starved && proof_error(p) <= p->tolerance + e->saved_share)
		snprintf(why, size, "the probe could not keep the link full");
}

static void excuse_any(const struct judge_evidence *e, char *why, size_t size)
{
	if (e->overrun)
		snprintf(why, size, "%lld arrivals were not seen, the machine was too slow",
			 (long long)e->overrun);
	else if (e->foreign * FOREIGN_SHARE > e->arrived)
		snprintf(why, size, "%lld packets of others came meanwhile", (long long)e->foreign);
	else if (e->relay)
		snprintf(why, size, "%s", e->relay);
	else if (e->busy)
		snprintf(why, size, "%s", e->busy);
}

/* Nothing was measured. */
static void excuse_none(struct proof *p, const struct judge_evidence *e, char *why, size_t size)
{
	if (e->sent && e->arrived >= e->sent) {
		snprintf(why, size,
			 "the probe could send only %lld frames in time, too few to fill it",
			 (long long)e->sent);
		p->hopeless = true;
		return;
	}
	snprintf(why, size, "only %lld of %lld frames arrived", (long long)e->arrived,
		 (long long)e->sent);
}

void judge_proof(struct proof *p, const struct judge_evidence *e, struct arena *arena)
{
	double error = proof_error(p);
	char why[160] = "";

	p->hopeless = e->offered > 0 && !e->pushed_back && e->offered < p->asked * OFFERED_FAR;
	if (isnan(p->got) && e->sent && !e->arrived && !e->overrun && !e->softnet_dropped) {
		snprintf(why, sizeof(why), "none of %lld frames arrived", (long long)e->sent);
		say(p, arena, VERDICT_FAIL, why);
		return;
	}
	if (fabs(error) <= p->tolerance && !may_be_more(p, e)) {
		say(p, arena, VERDICT_PASS, NULL);
		return;
	}
	if (fabs(error) <= p->tolerance) {
		explain_pause(e, why, sizeof(why));
		say(p, arena, VERDICT_INCONCLUSIVE, why);
		return;
	}
	excuse_any(e, why, sizeof(why));
	if (!why[0] && !isnan(error) && error < 0)
		excuse_low(p, e, why, sizeof(why));
	else if (!why[0] && !isnan(error))
		excuse_high(p, e, why, sizeof(why));
	else if (!why[0])
		excuse_none(p, e, why, sizeof(why));
	say(p, arena, why[0] ? VERDICT_INCONCLUSIVE : VERDICT_FAIL, why[0] ? why : NULL);
}

/* ---- all proofs together ---- */

void proofs_count(const struct proofs *p, struct proofs_census *out)
{
	*out = (struct proofs_census){.all = p->list.n, .worst_share = NAN};
	VEC_FOREACH (one, &p->list) {
		out->pass += one->verdict == VERDICT_PASS;
		out->fail += one->verdict == VERDICT_FAIL;
		out->inconclusive += one->verdict == VERDICT_INCONCLUSIVE;
		out->skip += one->verdict == VERDICT_SKIP;
		if (one->verdict == VERDICT_PASS &&
		    (one->unit == PROOF_BPS || one->unit == PROOF_PPS))
			out->worst_share = fmax(isnan(out->worst_share) ? 0 : out->worst_share,
						fabs(proof_error(one)));
	}
}

enum verdict proofs_overall(const struct proofs *p)
{
	struct proofs_census c;

	proofs_count(p, &c);
	return c.fail ? VERDICT_FAIL : c.inconclusive ? VERDICT_INCONCLUSIVE : VERDICT_PASS;
}

const char *proof_unit_name(enum proof_unit unit)
{
	static const char *const names[] = {
	    [PROOF_BPS] = "bps",     [PROOF_PPS] = "pps",     [PROOF_NS] = "ns",
	    [PROOF_SHARE] = "share", [PROOF_COUNT] = "count", [PROOF_BYTES] = "bytes",
	};

	return names[unit];
}

void proofs_done(struct proofs *p)
{
	arena_done(&p->arena);
	*p = (struct proofs){0};
}
