/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wire_text: words for what a link does to packets. It decides nothing. Called by graph.c and cli/.
 */
#include "emulator/model/wire_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/units.h"

#define TEXT 64 /* bytes of a figure with its unit */

struct list { /* of words with commas between them, after what was there before */
	struct strbuf *out;
	size_t begin;
};

static void item(const struct list *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void item(const struct list *l, const char *fmt, ...)
{
	autofree char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		abort();
	va_end(ap);
	strbuf_addf(l->out, "%s%s", l->out->len > l->begin ? ", " : "", text);
}

/* ---- limits ---- */

static void add_rate(const struct list *l, const struct wire_rate *r)
{
	char bps[TEXT], burst[TEXT], credit[TEXT];

	if (!r->bps)
		return;
	item(l, "%s %s%s", units_format_rate(bps, sizeof(bps), (double)r->bps),
	     wire_basis_name(r->basis), r->police ? " policed" : "");
	if (r->burst_bps)
		item(l, "%s for %s of credit",
		     units_format_rate(burst, sizeof(burst), (double)r->burst_bps),
		     units_format_time(credit, sizeof(credit), r->credit_ns));
}

static void add_queues(const struct list *l, const struct wire_queues *q)
{
	char bps[TEXT], pps[TEXT];

	if (q->count < 2 && !q->bps_each && !q->pps_each)
		return;
	units_format_rate(bps, sizeof(bps), (double)q->bps_each);
	units_format_pps(pps, sizeof(pps), (double)q->pps_each);
	item(l, "%d queue%s%s%s%s%s", q->count ? q->count : 1, q->count > 1 ? "s" : "",
	     q->bps_each || q->pps_each ? " of " : "", q->bps_each ? bps : "",
	     q->bps_each && q->pps_each ? " and " : "", q->pps_each ? pps : "");
}

void wire_text_shape(struct strbuf *out, const struct wire_shape *s)
{
	struct list l = {out, out->len};
	char text[TEXT];

	if (!wire_shape_any(s))
		return;
	add_rate(&l, &s->rate);
	if (s->pps.pps)
		item(&l, "%s%s", units_format_pps(text, sizeof(text), (double)s->pps.pps),
		     s->pps.police ? " policed" : "");
	add_queues(&l, &s->queues);
	if (s->flow_bps)
		item(&l, "%s a flow", units_format_rate(text, sizeof(text), (double)s->flow_bps));
}

/* ---- impairments ---- */

static double percent(double ppm)
{
	return ppm / 10000;
}

static void add_delay(const struct list *l, const struct wire_impair *i)
{
	static const char *const words[] = {
	    [JITTER_NORMAL] = "normal", [JITTER_UNIFORM] = "uniform", [JITTER_PARETO] = "Pareto"};
	char delay[TEXT], jitter[TEXT];

	units_format_time(delay, sizeof(delay), i->delay_ns);
	if (i->jitter_ns)
		item(l, "delay %s ± %s %s", delay,
		     units_format_time(jitter, sizeof(jitter), i->jitter_ns), words[i->jitter]);
	else if (i->delay_ns)
		item(l, "delay %s", delay);
}

/* In the long run: the share of time in the bad state follows from the two transitions. */
static double burst_loss_ppm(const struct wire_impair *i)
{
	double both = (double)i->to_bad_ppm + i->to_good_ppm;
	double bad = both > 0 ? i->to_bad_ppm / both : 0;

	return bad * i->bad_loss_ppm + (1 - bad) * i->good_loss_ppm;
}

static void add_loss(const struct list *l, const struct wire_impair *i)
{
	switch (i->loss) {
	case LOSS_NONE:
		break;
	case LOSS_RANDOM:
		item(l, "loss %.4g %%", percent(i->loss_ppm));
		break;
	case LOSS_EVERY:
		item(l, "loss of one packet in %lld", (long long)i->loss_every);
		break;
	case LOSS_AFTER:
		item(l, "loss of all after %lld packets", (long long)i->loss_after);
		break;
	case LOSS_BURSTS:
		item(l, "loss in bursts, %.4g %% in all", percent(burst_loss_ppm(i)));
		break;
	}
}

static void add_share(const struct list *l, const char *what, int ppm)
{
	if (ppm)
		item(l, "%s %.4g %%", what, percent(ppm));
}

static void add_outages(const struct list *l, const struct wire_impair *i)
{
	char up[TEXT], down[TEXT];

	if (i->flap_down_ns)
		item(l, "up %s and down %s", units_format_time(up, sizeof(up), i->flap_up_ns),
		     units_format_time(down, sizeof(down), i->flap_down_ns));
	if (i->black_hole)
		item(l, "black hole above %lld bytes", (long long)i->black_hole);
	if (i->trace_n)
		item(l, "trace %s", i->trace_file ? i->trace_file : "");
}

void wire_text_impair(struct strbuf *out, const struct wire_impair *i)
{
	struct list l = {out, out->len};

	add_delay(&l, i);
	add_loss(&l, i);
	add_share(&l, "duplication", i->duplication_ppm);
	add_share(&l, "reordering", i->reordering_ppm);
	add_share(&l, "corruption", i->corruption_ppm);
	add_outages(&l, i);
}

const char *wire_text_engine(enum impair_engine engine)
{
	static const char *const names[] = {
	    [IMPAIR_NONE] = "none", [IMPAIR_NETEM] = "netem", [IMPAIR_RELAY] = "relay"};

	return names[engine];
}
