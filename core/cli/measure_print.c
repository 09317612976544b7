// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * measure_print: the faces of one measurement. What it means was decided in core/harness.
 *
 * Called by cmd_measure.c.
 */
#include "core/cli/measure_print.h"

#include <math.h>

#include "core/base/str.h"
#include "core/base/units.h"
#include "core/cli/command.h"
#include "core/cli/print.h"
#include "core/report/findings.h"
#include "core/report/json.h"
#include "core/report/text.h"

/* How far what was found is from a prediction, or from the near end of a range of them. */
static void add_found(double found, double low, double high, struct strbuf *out)
{
	double near = found < low ? low : high;

	if (low < high && found >= low && found <= high) {
		strbuf_add(out, " (found within)");
		return;
	}
	/* Rounded first, so that there is no −0.00. */
	double off = round((found / near - 1) * 1e4) / 100;
	strbuf_addf(out, " (found %s%.2f %%)", off < 0 ? "−" : "+", fabs(off));
}

/* "…" is one column. */
static void add_label(const char *label, struct strbuf *out)
{
	strbuf_add(out, "  ");
	text_pad(out, label, 16);
	strbuf_addc(out, ' ');
}

struct found { /* of one way */
	const char *label;
	const struct truth_predicted *predicted;
	double bps, pps;
};

static void print_predicted(const struct measurement *m, const struct found *f, struct strbuf *out)
{
	const struct truth_predicted *p = f->predicted;
	struct engine_traits t = engine_test_traits(m->spec.engine.test);
	bool packets = t.datagram && t.stream;
	double found = packets ? f->pps : f->bps;
	enum metric_unit unit = packets ? METRIC_PPS : METRIC_BPS;
	char a[64], b[64];

	if (!p->known) {
		if (!p->unknown[0])
			return;
		add_label(f->label, out);
		strbuf_addf(out, "nothing: %s\n", p->unknown);
		return;
	}
	if (engine_test_traits(m->spec.engine.test).files)
		found = m->sample.engine.rate.mean;
	metric_format(a, sizeof(a), unit, packets ? p->low_pps : p->low_bps);
	metric_format(b, sizeof(b), unit, packets ? p->high_pps : p->high_bps);
	add_label(f->label, out);
	strbuf_add(out, a);
	if (!str_eq(a, b))
		strbuf_addf(out, " … %s", b);
	add_found(found, packets ? p->low_pps : p->low_bps, packets ? p->high_pps : p->high_bps,
		  out);
	strbuf_add(out, ": ");
	truth_limit_text(p, out);
	if (p->charged_bytes)
		strbuf_addf(out, " %s, %lld of %lld bytes", wire_basis_name(p->basis),
			    (long long)p->payload_bytes, (long long)p->charged_bytes);
	strbuf_addf(out, "%s%s\n", p->assumption ? ", " : "", p->assumption ? p->assumption : "");
}

static void print_counted(const struct measurement *m, const char *label,
			  const struct truth_counted *c, struct strbuf *out)
{
	char a[64];

	add_label(label, out);
	if (!isnan(c->goodput_bps))
		strbuf_addf(out, "%s, ", metric_format(a, sizeof(a), METRIC_BPS, c->goodput_bps));
	if (c->agreement == TRUTH_AGREE)
		strbuf_addf(out, "%lld packets of the flow%s, %lld others; nft and device agree\n",
			    (long long)c->packets,
			    m->spec.engine.warmup_ns > 0 ? " with the warm-up" : "",
			    (long long)c->foreign_packets);
	else
		strbuf_addf(out, "%s\n", c->why);
}

/* Also when nothing was: that all is told is a finding. */
static void print_losses(const struct measurement *m, struct strbuf *out)
{
	autostr struct strbuf text = {0};

	losses_describe(&m->sample.losses, &text);
	if (text.len)
		strbuf_addf(out, "  %-16s %s%s\n", "lost", strbuf_text(&text),
			    m->spec.engine.warmup_ns > 0 ? "; with the warm-up" : "");
}

static void print_placed(const struct measurement *m, struct strbuf *out)
{
	const int cpus[] = {m->sample.engine.client.cpu, m->sample.engine.server.cpu};

	if (!m->placed)
		return;
	strbuf_addf(out, "  %-16s ", "placed");
	if (m->spec.engine.spread) {
		strbuf_add(out, "thread k of both ends on the k-th CPU: as asked\n");
		return;
	}
	for (int i = 0; i < 2; i++) {
		strbuf_addf(out, "%s%s ", i ? ", " : "", i ? "server" : "client");
		if (cpus[i] >= 0)
			strbuf_addf(out, "on CPU %d", cpus[i]);
		else
			strbuf_add(out, "free");
	}
	strbuf_add(out, ": as asked\n");
}

static void print_machine(const struct fidelity *f, struct strbuf *out)
{
	if (!f->known) /* not looked at: real machines */
		return;
	strbuf_addf(out, "  %-16s %.0f %% idle (CPU %d: %.0f %%), steal %.1f %%: %s%s\n", "machine",
		    f->idle * 100, f->busiest_cpu, f->least_idle * 100, f->steal * 100,
		    f->limit == FIDELITY_ENOUGH ? "not the limit" : "may be the limit: ", f->why);
}

static void print_metrics(const struct measurement *m, struct strbuf *out)
{
	const struct metric *metric;
	char text[64];

	for (size_t i = 0; (metric = metric_at(i)); i++) {
		if (!(metric->tests & METRIC_TEST(m->spec.engine.test)) || metric->seldom ||
		    str_eq(metric->name, "counted"))
			continue;
		strbuf_addf(out, "  %-16s ", metric->name);
		bool cpu = str_eq(metric->name, "cpu_per_packet") && m->sample.cpu_missing;

		double value = metric->get(&m->sample);

		metric_format(text, sizeof(text), metric->unit, value);
		text_pad(out, text, 14);
		strbuf_addf(out, "  %s", cpu ? m->sample.cpu_missing : metric->help);
		if (truth_scaled(&m->predicted) &&
		    (metric->unit == METRIC_BPS || metric->unit == METRIC_PPS))
			strbuf_addf(out, "; at full size %s",
				    metric_format(text, sizeof(text), metric->unit,
						  truth_full_size(&m->predicted, value)));
		strbuf_addc(out, '\n');
	}
}

static double wire_pps(const struct measurement *m)
{
	const struct truth_counted *c = &m->sample.counted;

	return c->packets > 0 && c->pps > 0 ? c->pps : NAN;
}

static void print_both_ways(const struct measurement *m, struct strbuf *out)
{
	const struct run_back *b = &m->sample.back;
	const struct engine_result *e = &m->sample.engine;
	struct found f = {"predicted", &m->predicted, e->goodput_bps, e->pps};

	print_predicted(m, &f, out);
	if (m->predicted_err.text[0])
		strbuf_addf(out, "  %-16s nothing: %s\n", "predicted", m->predicted_err.text);
	print_counted(m, "counted", &m->sample.counted, out);
	if (!b->known)
		return;
	f = (struct found){"… other way", &b->predicted, e->back.goodput_bps, e->back.pps};
	print_predicted(m, &f, out);
	print_counted(m, "… counted", &b->counted, out);
}

static void print_as_text(const struct measurement *m)
{
	autostr struct strbuf out = {0};

	strbuf_addf(&out, "%s → %s, %s\n", m->spec.from, m->spec.to,
		    engine_test_name(m->spec.engine.test));
	print_metrics(m, &out);
	print_both_ways(m, &out);
	print_losses(m, &out);
	findings_describe(&m->sample.spec, &m->sample.engine, wire_pps(m), &out);
	print_placed(m, &out);
	print_machine(&m->sample.fidelity, &out);
	if (m->sample.company)
		strbuf_addf(&out, "  %-16s %s\n", "company", m->sample.company);
	print_text(&out);
}

/* One command, one face. */
static struct {
	enum face face;
	bool live;
} chosen;

void measure_face(enum face f, bool live)
{
	chosen.face = f;
	chosen.live = live;
}

void measure_print(const struct measurement *m)
{
	const struct engine_result *e = &m->sample.engine;
	struct flat_about about = {m->spec.from, m->spec.to, false};
	autostr struct strbuf out = {0};

	if (chosen.face == FACE_TEXT || chosen.face == FACE_JSON) {
		print_as_text(m);
		return;
	}
	if (chosen.face == FACE_LINES && !chosen.live) {
		lines_intervals(&m->sample.spec, e, &out);
		print_text(&out);
	}
	face_print(chosen.face, &about, &m->sample.spec, e);
}

json_t *measure_json(const struct measurement *m)
{
	json_t *o = json_sample(&m->sample);

	json_object_set_new(o, "from", json_string(m->spec.from));
	json_object_set_new(o, "to", json_string(m->spec.to));
	json_object_set_new(o, "test", json_string(engine_test_name(m->spec.engine.test)));
	json_object_set_new(o, "scale", json_scale(&m->predicted));
	json_object_set_new(o, "predicted", json_predicted(&m->predicted));
	return o;
}

int measure_status(const struct measurement *m)
{
	bool relay = m->sample.fidelity.limit == FIDELITY_RELAY;

	return relay || m->sample.engine.invalid[0] ||
		       m->sample.counted.agreement == TRUTH_DISAGREE ||
		       m->sample.back.counted.agreement == TRUTH_DISAGREE
		   ? EXIT_INCONCLUSIVE
		   : EXIT_PASS;
}
