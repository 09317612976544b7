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
#include "core/cli/measure_print.h"
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

static int fill_spec(const struct measure_options *o, const char *test, struct engine_spec *e,
		     struct err *err)
{
	int r = test_options_specify(&o->test, test, e, err);

	if (r)
		return r;
	if (o->frame < 0)
		return 0;
	if (!engine_test_traits(e->test).datagram || !engine_test_traits(e->test).stream)
		return err_input(err, "--frame: only streams of datagrams (udp_stream, udp_maerts, "
				      "udp_bidir) have frames of a given size");
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

static int specify(struct measurement *m, const struct measure_options *o, const struct source *s,
		   const char *src, const struct call *call, struct err *err)
{
	m->spec = (struct attempt_spec){
	    .lab = s->lab,
	    .wire = &s->wire,
	    .from = src,
	    .to = call->argv[1],
	    .family = o->ipv6 ? AF_INET6 : AF_INET,
	    .opposite = o->opposite,
	};
	int r = fill_spec(o, call->argv[2], &m->spec.engine, err);
	if (!r)
		attempt_place_given(
		    find_cpus(o),
		    &(struct attempt_pins){(int)o->test.client_cpu, (int)o->test.server_cpu},
		    &m->spec.engine);
	return r;
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

static int measure(struct measurement *m, bool json, struct err *err)
{
	struct arena arena;
	int r;

	arena_init(&arena);
	r = measure_once(m, &arena, err);
	if (!r && json)
		print_json(measure_json(m));
	else if (!r)
		measure_print(m);
	if (!r)
		r = measure_status(m);
	engine_result_done(&m->sample.engine);
	arena_done(&arena);
	return r;
}

static int measure_run(const struct call *call, struct err *err)
{
	const char *colon = strchr(call->argv[0], ':');
	autofree char *lab =
	    colon ? mem_printf("%.*s", (int)(colon - call->argv[0]), call->argv[0]) : NULL;
	const struct measure_options *o = call->options;
	struct measurement m = {0};
	struct interrupt i;
	struct source s;

	interrupt_begin(&i);
	int r = source_open_lab(lab, &s, err);
	if (!r)
		r = specify(&m, o, &s, colon ? colon + 1 : call->argv[0], call, err);
	if (!r)
		r = measure(&m, o->json, err);
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
