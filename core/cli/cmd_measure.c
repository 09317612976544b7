// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * measure: one measurement between two endpoints of a running lab, beside its truth.
 *
 * The measurement is core/harness/attempt.c's; nothing is repeated and no expectation judged here.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "core/base/units.h"
#include "core/cli/command.h"
#include "core/cli/interrupt.h"
#include "core/cli/print.h"
#include "core/cli/source.h"
#include "core/cli/test_options.h"
#include "core/harness/attempt.h"
#include "core/harness/bench.h"
#include "core/report/json.h"
#include "core/report/text.h"

struct measure_options {
	struct test_options test;
	int64_t frame;
	const char *cpus;
	bool ipv6, opposite, json;
};

static const char *const cpus_words[] = {"default", "same", "apart", "free", NULL};

struct measurement {
	const struct measure_options *o;
	struct attempt_spec spec;
	struct truth_predicted predicted;
	struct err predicted_err; /* why there is no prediction */
	struct run_sample sample;
};

static int fill_spec(const struct measure_options *o, const char *test, struct engine_spec *e,
		     struct err *err)
{
	int r = test_options_specify(&o->test, test, e, err);

	if (r)
		return r;
	if (o->frame < 0)
		return 0;
	if (e->test != TEST_UDP_STREAM)
		return err_input(err, "--frame: only udp_stream sends frames of a given size");
	e->size = attempt_frame_payload(o->frame, o->ipv6 ? AF_INET6 : AF_INET);
	return e->size ? 0
		       : err_input(err, "--frame: %lld bytes leave no room for payload",
				   (long long)o->frame);
}

static enum scenario_cpus find_cpus(const struct measure_options *o)
{
	for (int i = 0; o->cpus && cpus_words[i]; i++)
		if (str_eq(o->cpus, cpus_words[i]))
			return (enum scenario_cpus)i;
	return CPUS_DEFAULT;
}

static int specify(struct measurement *m, const struct source *s, const char *src,
		   const struct call *call, struct err *err)
{
	m->spec = (struct attempt_spec){
	    .lab = s->lab,
	    .wire = &s->wire,
	    .from = src,
	    .to = call->argv[1],
	    .family = m->o->ipv6 ? AF_INET6 : AF_INET,
	    .opposite = m->o->opposite,
	};
	int r = fill_spec(m->o, call->argv[2], &m->spec.engine, err);
	if (!r)
		attempt_place(find_cpus(m->o), &m->spec.engine);
	return r;
}

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

static void print_predicted(const struct measurement *m, struct strbuf *out)
{
	const struct truth_predicted *p = &m->predicted;
	bool packets = m->spec.engine.test == TEST_UDP_STREAM;
	double found = packets ? m->sample.engine.pps : m->sample.engine.goodput_bps;
	enum metric_unit unit = packets ? METRIC_PPS : METRIC_BPS;
	char a[64], b[64];

	if (!p->known) {
		if (p->unknown[0])
			strbuf_addf(out, "  %-16s nothing: %s\n", "predicted", p->unknown);
		return;
	}
	if (m->spec.engine.test == TEST_THROUGHPUT)
		found = m->sample.engine.rate.mean;
	metric_format(a, sizeof(a), unit, packets ? p->low_pps : p->low_bps);
	metric_format(b, sizeof(b), unit, packets ? p->high_pps : p->high_bps);
	strbuf_addf(out, "  %-16s %s", "predicted", a);
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

static void print_counted(const struct measurement *m, struct strbuf *out)
{
	const struct truth_counted *c = &m->sample.counted;
	char a[64];

	strbuf_addf(out, "  %-16s ", "counted");
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
		strbuf_addf(out, "  %-16s %s\n", "lost", strbuf_text(&text));
}

static void print_machine(const struct fidelity *f, struct strbuf *out)
{
	strbuf_addf(out, "  %-16s %.0f %% idle (CPU %d: %.0f %%), steal %.1f %%: %s%s\n", "machine",
		    f->idle * 100, f->busiest_cpu, f->least_idle * 100, f->steal * 100,
		    f->limit == FIDELITY_ENOUGH ? "not the limit" : "may be the limit: ", f->why);
}

static void print_metrics(const struct measurement *m, struct strbuf *out)
{
	const struct metric *metric;
	char text[64];

	for (size_t i = 0; (metric = metric_at(i)); i++) {
		if (!(metric->tests & METRIC_TEST(m->spec.engine.test)) ||
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

static void print_measurement(const struct measurement *m)
{
	autostr struct strbuf out = {0};

	strbuf_addf(&out, "%s → %s, %s\n", m->spec.from, m->spec.to,
		    engine_test_name(m->spec.engine.test));
	print_metrics(m, &out);
	print_predicted(m, &out);
	if (m->predicted_err.text[0])
		strbuf_addf(&out, "  %-16s nothing: %s\n", "predicted", m->predicted_err.text);
	print_counted(m, &out);
	print_losses(m, &out);
	print_machine(&m->sample.fidelity, &out);
	print_text(&out);
}

static json_t *measurement_json(const struct measurement *m)
{
	json_t *o = json_sample(&m->sample);

	json_object_set_new(o, "from", json_string(m->spec.from));
	json_object_set_new(o, "to", json_string(m->spec.to));
	json_object_set_new(o, "test", json_string(engine_test_name(m->spec.engine.test)));
	json_object_set_new(o, "scale", json_scale(&m->predicted));
	json_object_set_new(o, "predicted", json_predicted(&m->predicted));
	return o;
}

/* Nothing is expected here, but what cannot be believed is said by the status as well. */
static int status_of(const struct measurement *m)
{
	bool relay = m->sample.fidelity.limit == FIDELITY_RELAY;

	return relay || m->sample.counted.agreement == TRUTH_DISAGREE ? EXIT_INCONCLUSIVE
								      : EXIT_PASS;
}

static int measure_once(struct measurement *m, struct arena *arena, struct err *err)
{
	int r = bench_idle(&m->spec.idle_busy, err);

	if (r)
		return r;
	attempt_predict(&m->spec, &m->predicted, &m->predicted_err);
	m->sample.index = 1;
	r = attempt_run(&m->spec, arena, &m->sample, err);
	if (r && attempt_interrupted())
		err->kind = ERR_INCONCLUSIVE;
	return r;
}

static int measure(struct measurement *m, struct err *err)
{
	struct arena arena;
	int r;

	arena_init(&arena);
	r = measure_once(m, &arena, err);
	if (!r && m->o->json)
		print_json(measurement_json(m));
	else if (!r)
		print_measurement(m);
	if (!r)
		r = status_of(m);
	engine_result_done(&m->sample.engine);
	arena_done(&arena);
	return r;
}

static int measure_run(const struct call *call, struct err *err)
{
	const char *colon = strchr(call->argv[0], ':');
	autofree char *lab =
	    colon ? mem_printf("%.*s", (int)(colon - call->argv[0]), call->argv[0]) : NULL;
	struct measurement m = {.o = call->options};
	struct interrupt i;
	struct source s;

	interrupt_begin(&i);
	int r = source_open_lab(lab, &s, err);
	if (!r)
		r = specify(&m, &s, colon ? colon + 1 : call->argv[0], call, err);
	if (!r)
		r = measure(&m, err);
	interrupt_end(&i);
	source_done(&s);
	return r;
}

#define AT(field) OPT_AT(struct measure_options, field)

static const struct option_def option_defs[] = {
    TEST_OPTION_DEFS(struct measure_options),
    {"frame", 'f', OPT_SIZE, "BYTES", "udp_stream: Ethernet frame with FCS, instead of --size",
     AT(frame), NULL, 0, 0},
    {"cpus", 0, OPT_STRING, "WHICH", "both ends on the same CPU, apart, or free", AT(cpus),
     cpus_words, 0, 0},
    {"ipv6", '6', OPT_FLAG, NULL, "over IPv6", AT(ipv6), NULL, 0, 0},
    {"opposite", 0, OPT_FLAG, NULL, "predict for an equal flow that runs the other way meanwhile",
     AT(opposite), NULL, 0, 0},
    OPT_JSON(struct measure_options, json),
};

static const struct measure_options defaults = {
    .test = TEST_OPTIONS_UNSET,
    .frame = -1,
};

const struct command cmd_measure = {
    .name = "measure",
    .summary = "measure once between two endpoints of a running lab",
    .operands = "[LAB:]SRC DST TEST",
    .operand_kind = OPERAND_NODE,
    .min_operands = 3,
    .max_operands = 3,
    .description =
	"TEST is one of those of `vpclab help tests` (netperf's, qperf's and IxChariot's names\n"
	"are known too). Beside the figure stand what the model predicts, what\n"
	"the kernel's counters say at the receiver's card, and whether the machine was the limit.\n"
	"\n"
	"    vpclab measure zstack:client 'eip(flat-eip)' tcp_stream --duration 5s\n"
	"\n"
	"The exit status is 3 when the counters disagree with each other or with the figure, and\n"
	"when a relay on the way was beyond its capacity.",
    .options = option_defs,
    .n_options = ARRAY_SIZE(option_defs),
    .options_size = sizeof(struct measure_options),
    .defaults = &defaults,
    .run = measure_run,
};
