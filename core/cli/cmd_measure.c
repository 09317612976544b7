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
#include "core/cli/measure_ends.h"
#include "core/cli/measure_many.h"
#include "core/cli/measure_print.h"
#include "core/cli/measure_several.h"
#include "core/cli/print.h"
#include "core/cli/source.h"
#include "core/cli/test_options.h"
#include "core/cli/where.h"
#include "core/harness/attempt.h"
#include "core/harness/bench.h"
#include "core/report/json.h"
#include "core/report/text.h"

struct measure_options {
	struct test_options test;
	int64_t frame;
	struct where_options where;
	struct face_options face;
	struct many_options many;
	bool opposite, json;
};

static int fill_spec(const struct measure_options *o, const struct measure_ends *ends,
		     const char *test, struct engine_spec *e, struct err *err)
{
	int r = test_options_specify(&o->test, test, e, err);

	if (r)
		return r;
	if (o->frame < 0)
		return 0;
	if (!engine_test_traits(e->test).datagram || !engine_test_traits(e->test).stream)
		return err_input(err, "--frame: only streams of datagrams (udp_stream, udp_maerts, "
				      "udp_bidir) have frames of a given size");
	e->size = attempt_frame_payload(o->frame, where_family(&o->where, ends));
	return e->size ? 0
		       : err_input(err, "--frame: %lld bytes leave no room for payload",
				   (long long)o->frame);
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

static int measure(struct measurement *m, enum face face, struct err *err)
{
	bool json = face == FACE_JSON;
	struct arena arena;
	struct lines lines;
	int r;

	arena_init(&arena);
	lines_init(&lines, &m->spec.engine, face_show);
	if (face_is_live(face)) {
		m->spec.each = lines_each;
		m->spec.arg = &lines;
	}
	r = measure_once(m, &arena, err);
	lines_end(&lines);
	measure_face(face, face_is_live(face));
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

/* --sweep and --repeat, with CPUs anew for each specification. */
static int many_in_lab(const struct measure_options *o, const struct attempt_spec *at,
		       enum face face, struct err *err)
{
	struct many many;

	many_init(&many, at, o->many.quiet);
	many.cpus = where_cpus(&o->where);
	many.pins = where_pins(&o->test);
	int r = measure_many(&many, &o->many, &at->engine, face, err);
	many_done(&many);
	return r;
}

static int many_remotely(const struct measure_options *o, const struct attempt_spec *at,
			 const struct remote_options *remote, enum face face, struct err *err)
{
	struct many many;

	many_init(&many, at, o->many.quiet);
	int r = many_remote(&many, remote, err);
	if (!r)
		r = measure_many(&many, &o->many, &at->engine, face, err);
	many_done(&many);
	return r;
}

static int measure_lab(const struct measure_options *o, const struct measure_ends *ends,
		       const struct engine_spec *e, struct err *err)
{
	struct attempt_pins pins = where_pins(&o->test);
	struct measurement m = {0};
	struct source s;
	enum face face = face_of(&o->face, o->json, FACE_TEXT);
	int r = source_open_lab(ends->lab, &s, err);

	if (!r)
		r = where_zones(ends, &s.wire, err);
	measure_face(face, false);
	m.spec = (struct attempt_spec){
	    .lab = s.lab,
	    .wire = &s.wire,
	    .from = ends->pairs.v[0].from,
	    .to = ends->pairs.v[0].to,
	    .family = where_family(&o->where, ends),
	    .opposite = o->opposite,
	    .engine = *e,
	};
	attempt_place_given(where_cpus(&o->where), &pins, &m.spec.engine);
	m.placed = pins.client >= 0 || pins.server >= 0 || m.spec.engine.spread;
	if (!r && measure_many_wanted(&o->many))
		r = many_in_lab(o, &m.spec, face, err);
	else if (!r)
		r = ends->pairs.n > 1 ? measure_in_lab(ends, &m.spec, face == FACE_JSON, err)
				      : measure(&m, face, err);
	source_done(&s);
	return r;
}

/* What only one kind of ends knows is an error with the other. */
static int measure_remote(const struct measure_options *o, const struct measure_ends *ends,
			  const struct engine_spec *e, struct err *err)
{
	struct remote_options remote = where_remote(&o->where);
	struct engine_spec spec = *e;

	if (o->opposite)
		return err_input(err, "--opposite: between real machines nothing is predicted");
	where_place_remote(&o->where, &o->test, &spec);
	enum face face = face_of(&o->face, o->json, FACE_TEXT);
	measure_face(face, false);
	if (measure_many_wanted(&o->many))
		return many_remotely(o,
				     &(struct attempt_spec){.from = ends->pairs.v[0].from,
							    .to = ends->pairs.v[0].to,
							    .family = remote.family,
							    .engine = spec},
				     &remote, face, err);
	return measure_machines(ends, &spec, &remote, face == FACE_JSON, err);
}

static int check_options(const struct measure_options *o, const struct measure_ends *ends,
			 struct err *err)
{
	if (measure_many_wanted(&o->many) && ends->pairs.n > 1)
		return err_input(err, "--%s: takes one pair of ends",
				 o->many.repeat ? "repeat" : "sweep");
	return where_check(&o->where, ends, err);
}

static int measure_run(const struct call *call, struct err *err)
{
	const struct measure_options *o = call->options;
	struct measure_ends ends;
	struct engine_spec e;
	struct interrupt i;

	interrupt_begin(&i);
	int r = measure_ends_parse(call->argv[0], call->argv[1], &ends, err);
	if (!r)
		r = check_options(o, &ends, err);
	if (!r)
		r = fill_spec(o, &ends, call->argv[2], &e, err);
	if (!r)
		r = ends.remote ? measure_remote(o, &ends, &e, err)
				: measure_lab(o, &ends, &e, err);
	interrupt_end(&i);
	measure_ends_done(&ends);
	return r;
}

#define AT(field) OPT_AT(struct measure_options, field)

static const struct option_def option_defs[] = {
    TEST_OPTION_DEFS(struct measure_options),
    {"frame", 'f', OPT_SIZE, "BYTES", "udp_stream: Ethernet frame with FCS, instead of --size",
     AT(frame), NULL, 0, 0},
    WHERE_OPTION_DEFS(struct measure_options),
    {"opposite", 0, OPT_FLAG, NULL, "predict for an equal flow that runs the other way meanwhile",
     AT(opposite), NULL, 0, 0},
    MANY_OPTION_DEFS(struct measure_options),
    FACE_OPTION_DEFS(struct measure_options),
    OPT_JSON(struct measure_options, json),
};

static const struct measure_options defaults = {
    .test = TEST_OPTIONS_UNSET,
    .frame = -1,
};

const struct command cmd_measure = {
    .name = "measure",
    .summary = "measure once between endpoints of a running lab, or real machines",
    .operands = "[LAB:]SRC[,SRC]… DST[,DST]… TEST",
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
	"Several ends: one source with each destination, each source with one destination, or as\n"
	"many of both, one with one. All pairs start together; each is shown, and their sum.\n"
	"\n"
	"    vpclab measure star:a,b c tcp_stream\n"
	"\n"
	"A link-local address needs its zone, the device of SRC behind which it is:\n"
	"\n"
	"    vpclab measure star:a fe80::2%eth1 tcp_stream\n"
	"\n"
	"Real machines are ssh://[USER@]HOST[:PORT], where vpclab of this version is installed "
	"and\n"
	"ssh gets in without a password; tls://HOST:PORT of a `vpclab engine --listen`; and "
	"local,\n"
	"this machine. Only the control goes through ssh: the client must reach the server's\n"
	"address, as ssh resolves its host or as --address says (fe80::1%eth0: with the client's\n"
	"device). No counters confirm the figures\n"
	"there.\n"
	"\n"
	"    vpclab measure ssh://web1 ssh://admin@db1 tcp_stream --address 10.0.0.7\n"
	"\n"
	"--sweep measures at each value of a key of the specification (those options, with _ for\n"
	"-) or of test=NAME,NAME, several nest; --repeat measures again until the confidence "
	"interval of the mean is\n"
	"as narrow as asked. It is never narrower than the figure itself is fine: 1/512 to 1/256 "
	"of\n"
	"a percentile, one packet or transaction in the window of a rate. Both print a line a "
	"point:\n"
	"text, --json or --csv.\n"
	"\n"
	"    vpclab measure zstack:client direct tcp_rr --sweep size=1..64KiB*2 --repeat 99%,2.5%\n"
	"\n"
	"The exit status is 3 when a --repeat did not get as narrow as asked, when a result is\n"
	"invalid (an end died, the path was cut), when the counters disagree with each other or\n"
	"with the figure, and when a relay on the way was beyond its capacity.",
    .options = option_defs,
    .n_options = ARRAY_SIZE(option_defs),
    .options_size = sizeof(struct measure_options),
    .defaults = &defaults,
    .run = measure_run,
};
