// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * search: many measurements between two endpoints of a running lab, or two real machines, that find
 * one thing together: a rate without loss, a number of streams, a number of connections.
 *
 * Methods are core/harness's (search.h, rfc2544.h, rfc6349.h, saturate.h); here are their options
 * and what is printed. One line of the table below a method.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "core/base/units.h"
#include "core/cli/command.h"
#include "core/cli/interrupt.h"
#include "core/cli/many.h"
#include "core/cli/measure_ends.h"
#include "core/cli/print.h"
#include "core/cli/source.h"
#include "core/cli/test_options.h"
#include "core/cli/where.h"
#include "core/report/curves.h"
#include "core/report/searches.h"

enum { ETHERNET_BYTES = 18, GOALS_MOST = 8, CONNECTIONS_MOST = ENGINE_STREAMS };

#define TRIAL_NS      (2 * NSEC_PER_SEC)
#define POINT_NS      NSEC_PER_SEC /* of a saturation's or ramp's point */
#define SHORT_NS      (500 * NSEC_PER_MSEC)
#define WARMUP_NS     (200 * NSEC_PER_MSEC)
#define WIDTH_PERCENT "0.5%"
#define REPEAT	      "95%,2%,5"

struct search_command_options {
	struct test_options test;
	struct where_options where;
	const char *frames, *resolution, *exceed, *most, *repeat;
	struct option_list goals;
	int64_t initial_ns, sum_ns, bursts, most_threads;
	bool quiet, json;
};

struct job {
	const struct search_command_options *o;
	const char *test; /* the operand, or NULL */
	struct measure_ends ends;
	struct many many;
	struct engine_spec spec;
};

struct method {
	const char *name;
	int (*run)(struct job *job, struct err *err);
	const char *test;  /* what it runs unless one is named */
	const char *tests; /* which may be named, in words; NULL: none */
	int64_t duration_ns;
};

static int family(const struct job *job)
{
	return where_family(&job->o->where, &job->ends);
}

static int parse_share(const char *option, const char *text, double most, double *out,
		       struct err *err)
{
	int64_t ppm;

	if (units_parse_percent(text, &ppm, err))
		return err_wrap(err, "--%s", option);
	*out = (double)ppm / 1e6;
	return *out < most ? 0 : err_input(err, "--%s: '%s' is too much", option, text);
}

static int parse_goal_times(const struct job *job, bool brief, struct search_goal *g,
			    struct err *err)
{
	const struct search_command_options *o = job->o;
	int r = parse_share("resolution", o->resolution ? o->resolution : WIDTH_PERCENT, 0.5,
			    &g->width, err);

	if (!r)
		r = parse_share("exceed", o->exceed ? o->exceed : "0%", 1, &g->exceed_ratio, err);
	if (r)
		return r;
	g->final_ns = job->spec.duration_ns;
	g->initial_ns = o->initial_ns > 0 ? o->initial_ns : brief ? SHORT_NS : g->final_ns;
	if (g->initial_ns > g->final_ns)
		g->initial_ns = g->final_ns;
	g->sum_ns = o->sum_ns > 0 ? o->sum_ns : g->final_ns;
	return g->sum_ns >= g->final_ns
		   ? 0
		   : err_input(err, "--sum: is shorter than a trial (--duration)");
}

static int parse_most_pps(const struct job *job, int64_t *out, struct err *err)
{
	*out = 0;
	if (job->o->most && units_parse_pps(job->o->most, out, err))
		return err_wrap(err, "--most");
	return 0;
}

static int parse_most_count(const struct job *job, int64_t *out, struct err *err)
{
	*out = 0;
	if (job->o->most && units_parse_int(job->o->most, 1, CONNECTIONS_MOST, out, err))
		return err_wrap(err, "--most");
	return 0;
}

static int parse_frames(const struct job *job, struct rfc2544_options *out, struct err *err)
{
	autofree char *text = job->o->frames ? mem_strdup(job->o->frames) : NULL;
	char *save = NULL;

	for (char *v = text ? strtok_r(text, ",", &save) : NULL; v;
	     v = strtok_r(NULL, ",", &save)) {
		if (out->n_frames == RFC2544_FRAMES)
			return err_input(err, "--frames: more than %d sizes", RFC2544_FRAMES);
		if (units_parse_size(v, &out->frames[out->n_frames], err))
			return err_wrap(err, "--frames");
		if (out->frames[out->n_frames] < 64)
			return err_input(err, "--frames: %s is less than a frame of Ethernet (64)",
					 v);
		out->n_frames++;
	}
	return 0;
}

/* Prints, and gives the exit status: an interrupt has left a part, and that is no conclusion. */
static int finish(struct job *job, json_t *j, const struct strbuf *text, bool complete)
{
	many_wipe(&job->many);
	if (job->o->json) {
		json_object_set_new(j, "from", json_string(job->many.at.from));
		json_object_set_new(j, "to", json_string(job->many.at.to));
		json_object_set_new(j, "measurements", json_integer(job->many.p.measured));
		json_object_set_new(j, "interrupted",
				    json_boolean(procedure_stopped(&job->many.p)));
		print_json(j);
	} else {
		json_decref(j);
		print_text(text);
	}
	return complete && !procedure_stopped(&job->many.p) ? EXIT_PASS : EXIT_INCONCLUSIVE;
}

static int rfc2544(struct job *job, struct rfc2544_options *o, struct err *err)
{
	autostr struct strbuf text = {0};
	struct rfc2544 found = {0};
	int r = parse_frames(job, o, err);

	o->family = family(job);
	o->mtu = many_mtu(&job->many);
	o->repeats = (int)job->o->bursts;
	if (!r)
		r = parse_goal_times(job, false, &o->goal, err);
	if (!r)
		r = parse_most_pps(job, &o->most_pps, err);
	o->goal.name = "throughput";
	if (!r)
		r = rfc2544_run(&job->many.p, &job->spec, o, &found, err);
	if (r && r != -EINTR)
		return r;
	searches_rfc2544_text(&found, o, &text);
	return finish(job, searches_rfc2544_json(&found, o), &text, rfc2544_complete(&found, o));
}

static int run_rfc2544(struct job *job, struct err *err)
{
	return rfc2544(
	    job, &(struct rfc2544_options){.throughput = true, .loss = true, .burst = true}, err);
}

static int run_throughput(struct job *job, struct err *err)
{
	return rfc2544(job, &(struct rfc2544_options){.throughput = true}, err);
}

static int run_frame_loss(struct job *job, struct err *err)
{
	return rfc2544(job, &(struct rfc2544_options){.loss = true}, err);
}

static int run_back_to_back(struct job *job, struct err *err)
{
	return rfc2544(job, &(struct rfc2544_options){.burst = true}, err);
}

/* "pdr=0.5%" */
static int parse_goal(struct job *job, const char *text, const struct search_goal *times,
		      struct search_goal *out, struct err *err)
{
	const char *equals = strchr(text, '=');
	double loss;

	if (!equals || equals == text)
		return err_input(err, "--goal: '%s' is no goal; write it like pdr=0.5%%", text);
	int r = parse_share("goal", equals + 1, 1, &loss, err);
	if (!r)
		search_goal_set(out, arena_strndup(&job->many.arena, text, (size_t)(equals - text)),
				loss, times);
	return r;
}

static int parse_goals(struct job *job, struct search_goal *goals, size_t *n, struct err *err)
{
	static const char *const usual[] = {"NDR=0%", "PDR=0.5%"};
	const struct option_list *given = &job->o->goals;
	struct search_goal times = {0};
	int r = parse_goal_times(job, true, &times, err);

	*n = given->n ? given->n : ARRAY_SIZE(usual);
	if (!r && *n > GOALS_MOST)
		return err_input(err, "--goal: more than %d", GOALS_MOST);
	for (size_t i = 0; i < *n && !r; i++)
		r = parse_goal(job, given->n ? given->v[i] : usual[i], &times, &goals[i], err);
	return r;
}

static int one_frame(struct job *job, struct err *err)
{
	struct rfc2544_options frames = {0};
	int r = parse_frames(job, &frames, err);

	if (!r && !frames.n_frames && !job->spec.size)
		job->spec.size =
		    attempt_frame_payload(many_mtu(&job->many) + ETHERNET_BYTES, family(job));
	if (r || !frames.n_frames)
		return r;
	if (frames.n_frames > 1)
		return err_input(err, "--frames: ndr takes one size; rfc2544 takes several");
	job->spec.size = attempt_frame_payload(frames.frames[0], family(job));
	return job->spec.size ? 0
			      : err_input(err, "--frames: %lld bytes leave no room for payload",
					  (long long)frames.frames[0]);
}

static int run_ndr(struct job *job, struct err *err)
{
	autostr struct strbuf text = {0};
	struct search_goal goals[GOALS_MOST];
	struct search_options o = {.goals = goals};
	struct search found = {0};
	bool complete = true;
	int r = one_frame(job, err);

	if (!r)
		r = parse_goals(job, goals, &o.n_goals, err);
	if (!r)
		r = parse_most_pps(job, &o.most_pps, err);
	if (!r)
		r = search_run(&job->many.p, &job->spec, &o, &found, err);
	if (r && r != -EINTR)
		return r;
	VEC_FOREACH (f, &found.found)
		complete = complete && search_complete(f);
	searches_text(&found, job->spec.size, &text);
	return finish(job, searches_json(&found), &text, complete);
}

static int run_rfc6349(struct job *job, struct err *err)
{
	autostr struct strbuf text = {0};
	struct rfc6349 found = {0};
	bool complete;
	int r = rfc6349_run(&job->many.p, &job->spec, family(job), &found, err);

	if (r && r != -EINTR)
		return r;
	complete = found.bottleneck_valid && found.rows.n == RFC6349_WINDOWS;
	VEC_FOREACH (row, &found.rows)
		complete = complete && !row->error;
	searches_rfc6349_text(&found, &text);
	return finish(job, searches_rfc6349_json(&found), &text, complete);
}

static int run_saturate(struct job *job, struct err *err)
{
	autostr struct strbuf text = {0};
	struct saturate_options o = {.most_threads = (int)job->o->most_threads};
	struct saturate found = {0};
	int64_t most;
	int r = parse_most_count(job, &most, err);

	o.most_streams = (int)most;
	if (!r && repeat_parse(job->o->repeat ? job->o->repeat : REPEAT, &o.repeat, err))
		r = err_wrap(err, "--repeat");
	if (!r)
		r = saturate_run(&job->many.p, &job->spec, &o, &found, err);
	if (r && (r != -EINTR || !found.metric))
		return r;
	curves_saturate_text(&found, job->spec.test, &text);
	json_t *j = curves_saturate_json(&found);
	json_object_set_new(j, "test", json_string(engine_test_name(job->spec.test)));
	return finish(job, j, &text, found.end == SATURATE_FLAT);
}

static int run_connections(struct job *job, struct err *err)
{
	autostr struct strbuf text = {0};
	struct ramp_options o = {.evidence = many_evidence, .arg = &job->many};
	struct ramp found = {0};
	int64_t most;
	int r = parse_most_count(job, &most, err);

	o.most = (int)most;
	if (!r && job->o->resolution)
		r = parse_share("resolution", job->o->resolution, 0.5, &o.width, err);
	if (!r && !engine_test_traits(job->spec.test).transactions)
		r = err_input(err, "connections: takes tcp_rr or udp_rr, not %s",
			      engine_test_name(job->spec.test));
	if (!r)
		r = ramp_run(&job->many.p, &job->spec, &o, &found, err);
	if (r && r != -EINTR)
		return r;
	curves_ramp_text(&found, &text);
	json_t *j = curves_ramp_json(&found);
	json_object_set_new(j, "test", json_string(engine_test_name(job->spec.test)));
	return finish(job, j, &text, found.works > 0);
}

static const struct method methods[] = {
    {"rfc2544", run_rfc2544, "udp_stream", NULL, TRIAL_NS},
    {"throughput", run_throughput, "udp_stream", NULL, TRIAL_NS},
    {"frame-loss", run_frame_loss, "udp_stream", NULL, TRIAL_NS},
    {"back-to-back", run_back_to_back, "udp_stream", NULL, TRIAL_NS},
    {"ndr", run_ndr, "udp_stream", NULL, TRIAL_NS},
    {"rfc6349", run_rfc6349, "tcp_stream", NULL, TRIAL_NS},
    {"saturate", run_saturate, NULL, "any that has a figure", POINT_NS},
    {"connections", run_connections, "tcp_rr", "tcp_rr or udp_rr", POINT_NS},
};

static const struct method *find_method(const char *name, struct err *err)
{
	const char *names[ARRAY_SIZE(methods)];
	autostr struct strbuf list = {0};

	for (size_t i = 0; i < ARRAY_SIZE(methods); i++) {
		names[i] = methods[i].name;
		strbuf_addf(&list, "%s%s", i ? ", " : "", names[i]);
		if (str_eq(name, names[i]))
			return &methods[i];
	}
	const char *near = str_suggest(name, names, ARRAY_SIZE(names));
	if (near)
		err_input(err, "unknown method '%s'; did you mean '%s'?", name, near);
	else
		err_input(err, "unknown method '%s'; there are %s", name, strbuf_text(&list));
	return NULL;
}

static int specify(struct job *job, const struct method *m, struct err *err)
{
	const struct test_options *t = &job->o->test;
	const char *test = job->test ? job->test : m->test;

	if (!test)
		return err_input(err, "%s needs a test, such as tcp_rr", m->name);
	if (job->test && !m->tests)
		return err_input(err, "%s runs %s and takes no test", m->name, m->test);
	int r = test_options_specify(t, test, &job->spec, err);
	if (r)
		return r;
	if (t->duration_ns < 0)
		job->spec.duration_ns = m->duration_ns;
	if (t->warmup_ns < 0)
		job->spec.warmup_ns = WARMUP_NS;
	if (t->interval_ns < 0 && job->spec.interval_ns > job->spec.duration_ns)
		job->spec.interval_ns = job->spec.duration_ns;
	if (!m->tests && engine_test_traits(job->spec.test).paced &&
	    (job->spec.rate_bps || job->spec.rate_pps))
		return err_input(err, "--%s: %s looks for the rate; --most is its upper end",
				 job->spec.rate_bps ? "rate" : "packets", m->name);
	return 0;
}

static int in_lab(struct job *job, const struct method *m, const struct measure_ends *ends,
		  struct err *err)
{
	struct source s;
	int r = source_open_lab(ends->lab, &s, err);
	if (!r)
		r = where_zones(ends, &s.wire, err);
	struct attempt_spec at = {
	    .lab = s.lab,
	    .wire = &s.wire,
	    .from = ends->pairs.v[0].from,
	    .to = ends->pairs.v[0].to,
	    .family = family(job),
	};

	if (!r) {
		many_init(&job->many, &at, job->o->quiet);
		job->many.cpus = where_cpus(&job->o->where);
		job->many.pins = where_pins(&job->o->test);
		r = m->run(job, err);
		many_done(&job->many);
	}
	source_done(&s);
	return r;
}

static int between_machines(struct job *job, const struct method *m,
			    const struct measure_ends *ends, struct err *err)
{
	const struct search_command_options *o = job->o;
	struct remote_options remote = where_remote(&o->where);
	struct attempt_spec at = {
	    .from = ends->pairs.v[0].from, .to = ends->pairs.v[0].to, .family = remote.family};

	where_place_remote(&o->where, &o->test, &job->spec);
	many_init(&job->many, &at, o->quiet);
	int r = many_remote(&job->many, &remote, err);
	if (!r)
		r = m->run(job, err);
	many_done(&job->many);
	return r;
}

static int search_run_command(const struct call *call, struct err *err)
{
	struct job job = {.o = call->options, .test = call->argc > 3 ? call->argv[3] : NULL};
	const struct method *m = find_method(call->argv[2], err);
	struct measure_ends *ends = &job.ends;
	struct interrupt i;

	if (!m || specify(&job, m, err))
		return -err->code;
	interrupt_begin(&i);
	int r = measure_ends_parse(call->argv[0], call->argv[1], ends, err);
	if (!r && ends->pairs.n > 1)
		r = err_input(err, "a search takes one pair of ends");
	if (!r)
		r = where_check(&job.o->where, ends, err);
	if (!r)
		r = ends->remote ? between_machines(&job, m, ends, err)
				 : in_lab(&job, m, ends, err);
	interrupt_end(&i);
	measure_ends_done(ends);
	return r;
}

#define AT(field) OPT_AT(struct search_command_options, field)

static const struct option_def option_defs[] = {
    TEST_OPTION_DEFS(struct search_command_options),
    {"frames", 'f', OPT_STRING, "BYTES,…", "Ethernet frames with FCS (RFC 2544's seven sizes)",
     AT(frames), NULL, 0, 0},
    {"most", 0, OPT_STRING, "N", "highest rate (\"50kpps\"; found), or most streams (1024, 10000)",
     AT(most), NULL, 0, 0},
    {"resolution", 0, OPT_STRING, "SHARE", "how near the bounds get (" WIDTH_PERCENT "; counts: 1)",
     AT(resolution), NULL, 0, 0},
    {"goal", 0, OPT_LIST, "NAME=LOSS", "ndr: a loss that is allowed (NDR=0% and PDR=0.5%)",
     AT(goals), NULL, 0, 0},
    {"exceed", 0, OPT_STRING, "SHARE", "share of trials that may lose more (0%)", AT(exceed), NULL,
     0, 0},
    {"initial", 0, OPT_TIME, "TIME", "first, short trials (ndr: 500ms; else as long as all)",
     AT(initial_ns), NULL, 0, 0},
    {"sum", 0, OPT_TIME, "TIME", "of all full trials at a bound (one trial)", AT(sum_ns), NULL, 0,
     0},
    {"bursts", 0, OPT_INT, "N", "back-to-back: of each length (3; RFC 2544: 50)", AT(bursts), NULL,
     1, 1000},
    {"repeat", 0, OPT_STRING, "TARGET", "saturate: confidence, half width, most runs (" REPEAT ")",
     AT(repeat), NULL, 0, 0},
    {"most-threads", 0, OPT_INT, "N", "saturate: try more threads too", AT(most_threads), NULL, 1,
     1024},
    WHERE_OPTION_DEFS(struct search_command_options),
    {"quiet", 'q', OPT_FLAG, NULL, "show no progress", AT(quiet), NULL, 0, 0},
    OPT_JSON(struct search_command_options, json),
};

static const struct search_command_options defaults = {
    .test = TEST_OPTIONS_UNSET,
};

const struct command cmd_search = {
    .name = "search",
    .summary = "find a rate without loss, or how many streams or connections it takes",
    .operands = "[LAB:]SRC DST METHOD [TEST]",
    .operand_kind = OPERAND_NODE,
    .min_operands = 3,
    .max_operands = 4,
    .description =
	"METHOD is one of:\n"
	"\n"
	"    rfc2544       throughput, latency, frame loss rate and back-to-back frames (RFC "
	"2544,\n"
	"                  26.1 to 26.4; the last by RFC 9004), for each frame size\n"
	"    throughput    the first two alone: the highest rate without loss, and the delay at "
	"it\n"
	"    frame-loss    loss from the highest rate down, by tenths, until two rates lose "
	"nothing\n"
	"    back-to-back  the longest burst without loss, of up to 2 s of frames, and how long a\n"
	"                  buffer that means\n"
	"    ndr           rates for several losses at once, with short trials first (MLRsearch,\n"
	"                  draft-ietf-bmwg-mlrsearch): NDR and PDR unless --goal says others\n"
	"    rfc6349       path MTU, baseline RTT, bottleneck, bandwidth delay product, and TCP "
	"with "
	"windows\n"
	"                  below and above it: Transfer TimeRatio, Efficiency, Buffer Delay\n"
	"    saturate      TEST with more and more streams until its figure grows no more; "
	"tcp_crr\n"
	"                  gives the connection rate\n"
	"    connections   how many there can be at the same time (TEST: tcp_rr, or udp_rr)\n"
	"\n"
	"A trial takes 2 s unless --duration says otherwise; RFC 2544 asks for at least 60 s. One\n"
	"that was offered less than 99.5 % of its rate, or whose loss the machine may have "
	"caused,\n"
	"is made again, at most twice and not where nothing can change, and never counts as loss "
	"of\n"
	"the path. Each is a flow of its own: where a limit of connections on the way turns one "
	"away,\n"
	"the search ends and says so.\n"
	"\n"
	"    vpclab search zstack:client 'eip(flat-eip)' throughput --frames 64,1518\n"
	"    vpclab search zstack:client direct saturate tcp_rr --most 256\n"
	"\n"
	"Ends may be real machines too, as those of `vpclab measure`: ssh://HOST, "
	"tls://HOST:PORT,\n"
	"local.\n"
	"\n"
	"The exit status is 3 when the machine, an interrupt or the end of the range bounded what\n"
	"was to be found.",
    .options = option_defs,
    .n_options = ARRAY_SIZE(option_defs),
    .options_size = sizeof(struct search_command_options),
    .defaults = &defaults,
    .run = search_run_command,
};
