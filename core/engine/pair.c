/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pair: drives the two workers of one measurement through the protocol of engine.h.
 *
 * One poll loop (pair_hear.c) hears both at all times. What a message changes is kept in struct
 * pair, and each step waits for a condition on it, so no order of arrival can be wrong. Once the
 * streams run, a worker that dies, falls silent or fails does not take the findings with it: the
 * other one is stopped, and what is known by then is a partial result that says why it is invalid.
 * It starts no process, owns no descriptor, measures nothing and keeps no state between calls:
 * several may run in threads of one process. Called by the harness and by `vpclab engine`.
 */
#include "core/engine/pair.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>

#include "core/base/clock.h"
#include "core/base/str.h"
#include "core/base/units.h"
#include "core/engine/engines.h"
#include "core/engine/partial.h"
#include "core/engine/result.h"

#define PAIR_SETUP_NS (20 * NSEC_PER_SEC)
/* From the start message to the start: both make their streams' memory and threads meanwhile. */
#define PAIR_LEAD_NS	     (50 * NSEC_PER_MSEC)
#define PAIR_LEAD_THREAD_NS  (4 * NSEC_PER_MSEC) /* each of the first PAIR_LEAD_FEW */
#define PAIR_LEAD_MORE_NS    NSEC_PER_MSEC
#define PAIR_LEAD_STREAM_NS  (50 * NSEC_PER_USEC)
#define PAIR_LEAD_FEW	     250
#define PAIR_LEAD_BUSY_NS    NSEC_PER_SEC /* at most, for what setting up has shown */
#define PAIR_SETUP_STREAM_NS (2 * NSEC_PER_MSEC)
/* From the end to both results. With PAIR_STOP_NS it is 5 s: what is on its way drains within 3 s
 * (udp_receive.c), streams end within 4 s (run.c); whoever has said nothing then is told to stop.
 */
#define PAIR_GRACE_NS	  (4 * NSEC_PER_SEC)
#define PAIR_FEW	  100 /* streams; each more gets a millisecond */
#define PAIR_CLOCK_ROUNDS 40
#define PAIR_CLOCK_NS	  NSEC_PER_SEC /* for all rounds with one worker, but the first */
#define PAIR_CLOCK_END_NS (5 * NSEC_PER_SEC)
#define PAIR_STOP_NS	  NSEC_PER_SEC /* for a worker that was told to stop */

static bool pair_both_ready(const struct pair *p)
{
	return p->ready[PAIR_CLIENT] && p->ready[PAIR_SERVER];
}

static bool pair_is_connected(const struct pair *p)
{
	return p->connected;
}

static bool pair_have_results(const struct pair *p)
{
	return p->result[PAIR_CLIENT] && p->result[PAIR_SERVER];
}

static int64_t pair_setup_end(const struct pair *p)
{
	return clock_now_ns() + PAIR_SETUP_NS + p->spec->streams * PAIR_SETUP_STREAM_NS;
}

static int pair_specify(struct pair *p, const struct ip *server, struct err *err)
{
	uint32_t session = 0;
	while (!session)
		if (getrandom(&session, sizeof(session), 0) < 0 && errno != EINTR)
			return err_sys(err, errno, "choosing a session number");
	for (int side = 0; side < 2; side++) {
		json_t *m = engine_spec_json(p->spec);
		json_t *protocol =
		    json_pack("{s:s,s:i,s:s,s:I,s:s,s:s}", "type", "spec", "version", 1, "role",
			      pair_names[side], "session", (json_int_t)session, "family",
			      server->family == AF_INET6 ? "ipv6" : "ipv4", "clock",
			      p->own_clocks ? "own" : "shared");
		json_object_update(m, protocol);
		json_decref(protocol);
		int r = control_send(&p->ctl[side], m, err);
		if (r)
			return err_wrap(err, "%s", pair_roles[side]);
	}
	return pair_until(p, pair_both_ready, pair_setup_end(p), "setting up", err);
}

static int pair_connect(struct pair *p, const struct ip *server, struct err *err)
{
	char address[ADDR_TEXT];
	const char *zone = p->spec->zone;
	json_t *m = json_pack("{s:s,s:s++,s:O}", "type", "connect", "address",
			      ip_format(address, server), *zone ? "%" : "", zone, "port",
			      json_object_get(p->ready[PAIR_SERVER], "port"));
	if (!m)
		return err_fail(err, EPROTO, "the server is ready without a port");
	json_t *ports = json_object_get(p->ready[PAIR_SERVER], "ports");
	if (ports)
		json_object_set(m, "ports", ports);
	int r = control_send(&p->ctl[PAIR_CLIENT], m, err);
	if (r)
		return err_wrap(err, "%s", pair_roles[PAIR_CLIENT]);
	r = pair_until(p, pair_is_connected, pair_setup_end(p), "connecting", err);
	p->setup_ns = clock_now_ns() - p->begun_ns;
	if (!r && p->hooks && p->hooks->on_connected)
		r = p->hooks->on_connected(p->hooks->arg, json_object_get(p->connected, "flow"),
					   err);
	return r;
}

static int pair_start(struct pair *p, int64_t at, struct err *err)
{
	json_int_t size = result_integer(p->connected, "size");
	for (int side = 0; side < 2; side++) {
		int64_t ahead = p->clock[side][PAIR_BEFORE].ahead_ns;
		int64_t other = p->clock[!side][PAIR_BEFORE].ahead_ns;
		json_t *m = json_pack("{s:s,s:I,s:I}", "type", "start", "at_ns",
				      (json_int_t)(at + ahead), "size", size);
		if (p->own_clocks)
			json_object_set_new(m, "peer_ahead_ns", json_integer(other - ahead));
		int r = control_send(&p->ctl[side], m, err);
		if (r)
			return err_wrap(err, "%s", pair_roles[side]);
	}
	return 0;
}

static int64_t pair_deadline(const struct engine_spec *s, int64_t start)
{
	double seconds = 0;
	if (engines_get(s->test)->files && !s->bounded)
		seconds =
		    (double)s->file_size * 8 / 1e6 * s->streams * (double)(s->count ? s->count : 1);
	if (seconds > 1e9)
		seconds = 1e9;
	if (s->streams > PAIR_FEW)
		seconds += s->streams / 1e3;
	if (engines_get(s->test)->linger_ns > PAIR_GRACE_NS - NSEC_PER_SEC)
		seconds += (double)engines_get(s->test)->linger_ns / 1e9;
	return start + s->warmup_ns + s->duration_ns + PAIR_GRACE_NS + (int64_t)(seconds * 1e9);
}

/* Until both results are in; when time is up, what the workers have by then. */
static int pair_collect(struct pair *p, int64_t start, struct err *err)
{
	int r = pair_until(p, pair_have_results, pair_deadline(p->spec, start), "the result", err);
	if (r != -ETIMEDOUT || p->failure.kind)
		return r;
	p->stopping = true;
	pair_stop(p);
	struct err second = ERR_INIT;
	pair_until(p, pair_have_results, clock_now_ns() + PAIR_STOP_NS, "the result", &second);
	return r;
}

/* Nothing more will come of it. */
static bool pair_gone(const struct pair *p, int side)
{
	return p->ctl[side].eof || p->silent[side] || p->result[side];
}

/* After a failure: both are told to stop, and whoever turns out to have died is named. */
static int pair_abort(struct pair *p, struct err *err)
{
	int64_t deadline = clock_now_ns() + PAIR_STOP_NS;
	struct err ignored = ERR_INIT;
	bool dead[2] = {pair_dead(p, PAIR_CLIENT), pair_dead(p, PAIR_SERVER)};
	p->stopping = true;
	pair_stop(p);
	while (!pair_gone(p, PAIR_CLIENT) || !pair_gone(p, PAIR_SERVER))
		if (pair_poll(p, deadline, &ignored))
			break;
	if (p->stopped && !p->running)
		return err_fail(err, ECANCELED, "stopped before there was a result");
	for (int side = 0; side < 2; side++)
		if (pair_dead(p, side) && !dead[side] && !dead[!side])
			return pair_death(p, side, err);
	return -err->code;
}

static bool pair_clock_answered(const struct pair *p)
{
	return p->clock[p->asked][p->when].rounds == p->rounds;
}

/* Round trips with one worker: each waits for its answer, so none queues behind another. */
static int pair_clock(struct pair *p, enum pair_side side, struct err *err)
{
	int64_t begin = clock_now_ns(), now = begin;
	int r = 0;
	p->asked = side;
	for (p->rounds = 1; !r && p->rounds <= PAIR_CLOCK_ROUNDS; p->rounds++) {
		if (now - begin > PAIR_CLOCK_NS)
			break;
		r = control_send(
		    &p->ctl[side],
		    json_pack("{s:s,s:I}", "type", "clock", "at_ns", (json_int_t)clock_now_ns()),
		    err);
		if (!r)
			r = pair_until(p, pair_clock_answered, begin + PAIR_CLOCK_END_NS,
				       "comparing clocks", err);
		now = clock_now_ns();
	}
	return r;
}

static int pair_clocks(struct pair *p, enum pair_when when, struct err *err)
{
	p->when = when;
	int r = pair_clock(p, PAIR_CLIENT, err);
	return r ? r : pair_clock(p, PAIR_SERVER, err);
}

static void pair_done(struct pair *p)
{
	for (int side = 0; side < 2; side++) {
		control_done(&p->ctl[side]);
		json_decref(p->ready[side]);
		json_decref(p->result[side]);
		json_decref(p->intervals[side]);
		clock_track_done(&p->track[side]);
	}
	json_decref(p->connected);
}

/* How long the two need from the message "start" until all that they run is ready. Where setting up
 * took long, since the workers are far away or wait for a CPU, the message takes long too. */
static int64_t pair_lead(const struct pair *p)
{
	const struct engine_spec *s = p->spec;
	const struct engine_def *def = engines_get(s->test);
	int64_t streams = s->streams * (def->way == WAY_BOTH ? 2 : 1);
	int64_t busy = p->setup_ns < PAIR_LEAD_BUSY_NS ? p->setup_ns : PAIR_LEAD_BUSY_NS;
	int64_t lead = PAIR_LEAD_NS + busy + streams * PAIR_LEAD_STREAM_NS;
	if (def->crew[0] && def->crew[1])
		return lead;
	int64_t few = streams < PAIR_LEAD_FEW ? streams : PAIR_LEAD_FEW;
	return lead + few * PAIR_LEAD_THREAD_NS + (streams - few) * PAIR_LEAD_MORE_NS;
}

/* Two workers whose clocks may differ, or that have one which is not ours, by which they are told
 * when to start: unless all three are the same after all, they are compared. */
static int pair_compare(struct pair *p, struct err *err)
{
	const char *ours = json_string_value(json_object_get(p->ready[PAIR_CLIENT], "clock_id"));
	const char *theirs = json_string_value(json_object_get(p->ready[PAIR_SERVER], "clock_id"));
	char here[128];
	clock_id(here, sizeof(here));
	p->one_clock = here[0] && ours && theirs && str_eq(ours, theirs) && str_eq(ours, here);
	for (int side = 0; side < 2 && (!p->own_clocks || p->one_clock); side++)
		p->clock[side][PAIR_BEFORE] = (struct clock_offset){0};
	return p->own_clocks && !p->one_clock ? pair_clocks(p, PAIR_BEFORE, err) : 0;
}

/* From the look before, over those meanwhile, to the one after. */
static int64_t pair_clock_track_error(const struct pair *p, int side)
{
	struct clock_track all = {0};
	if (p->clock[side][PAIR_AFTER].bound_ns == INT64_MAX)
		return INT64_MAX;
	clock_track_add(&all, &p->clock[side][PAIR_BEFORE]);
	for (size_t i = 0; i < p->track[side].n; i++)
		clock_track_add(&all, &p->track[side].v[i]);
	clock_track_add(&all, &p->clock[side][PAIR_AFTER]);
	int64_t error = clock_track_error_ns(&all);
	clock_track_done(&all);
	return error;
}

/* NAN: not known, as the run did not come to its end. */
static double pair_clock_error(const struct pair *p)
{
	int64_t sum = 0;
	if (!p->own_clocks || p->one_clock)
		return 0;
	for (int side = 0; side < 2; side++) {
		int64_t one = pair_clock_track_error(p, side);
		if (one == INT64_MAX)
			return NAN;
		sum += one;
	}
	return (double)sum;
}

static int pair_begin(struct pair *p, int64_t *start, struct err *err)
{
	*start = clock_now_ns() + pair_lead(p);
	if (p->hooks && p->hooks->start)
		*start = p->hooks->start(p->hooks->arg, *start);
	if (*start < 0)
		return err_fail(err, (int)-*start, "the common start was given up");
	int r = pair_start(p, *start, err);
	p->running = !r;
	p->end_ns = *start + p->spec->warmup_ns + p->spec->duration_ns;
	if (!r && p->hooks && p->hooks->on_start)
		p->hooks->on_start(p->hooks->arg, *start + p->spec->warmup_ns);
	return r;
}

/* The drift, and the workers may go. Neither is worth the result. */
static void pair_end(struct pair *p)
{
	struct err ignored = ERR_INIT;
	if (!p->own_clocks)
		return;
	p->ended[PAIR_CLIENT] = p->ended[PAIR_SERVER] = false;
	if (!p->one_clock)
		pair_clocks(p, PAIR_AFTER, &ignored);
	for (int side = 0; side < 2; side++) {
		p->ended[side] = true;
		control_send(&p->ctl[side], json_pack("{s:s}", "type", "end"), &ignored);
	}
}

static int pair_run(struct pair *p, const struct ip *server, struct err *err)
{
	int64_t start;
	p->begun_ns = clock_now_ns();
	int r = pair_specify(p, server, err);
	if (!r)
		r = pair_connect(p, server, err);
	if (!r)
		r = pair_compare(p, err);
	if (!r)
		r = pair_begin(p, &start, err);
	if (!r)
		r = pair_collect(p, start, err);
	if (!r)
		pair_end(p);
	return r ? pair_abort(p, err) : 0;
}

/* Is anything known of what was measured? */
static bool pair_knows(const struct pair *p)
{
	for (int side = 0; side < 2; side++)
		if (json_array_size(p->intervals[side]) ||
		    result_integer(p->result[side], "window_ns") > 0)
			return true;
	return false;
}

static void pair_reason(const struct pair *p, const struct err *why, struct engine_result *out)
{
	const char *text = why->text;
	for (int side = 0; side < 2 && !*text; side++) {
		const char *own = json_string_value(json_object_get(p->result[side], "invalid"));
		text = own ? own : text;
	}
	if (!*text && p->stopped && out->partial)
		text = "stopped before its end";
	if (!*text) /* what the engine itself found wrong, if anything, in whole reports */
		return;
	snprintf(out->invalid, sizeof(out->invalid), "%.199s", text);
	out->partial = true;
}

static void pair_merge(struct pair *p, const struct err *why, struct engine_result *out)
{
	const struct engine_def *def = engines_get(p->spec->test);
	enum pair_side headline = def->headline_client ? PAIR_CLIENT : PAIR_SERVER;
	bool have = p->result[headline];
	for (int side = 0; side < 2; side++)
		if (!p->result[side])
			p->result[side] = partial_result(pair_names[side], p->intervals[side],
							 result_integer(p->connected, "size"));
	result_merge(p->spec, p->result[PAIR_CLIENT], p->result[PAIR_SERVER],
		     json_incref(json_object_get(p->connected, "flow")), out);
	out->clock_error_ns = pair_clock_error(p);
	if (!have)
		out->loss = NAN; /* who counted what came is gone */
	pair_reason(p, why, out);
}

int engine_pair(const struct engine_spec *s, const struct ip *server,
		const struct engine_ends *ends, const struct engine_hooks *hooks,
		struct engine_result *out, struct err *err)
{
	struct pair p = {.spec = s, .hooks = hooks, .own_clocks = hooks && hooks->own_clocks};
	*err = ERR_INIT;
	for (int side = 0; side < 2; side++) {
		p.intervals[side] = json_array();
		p.clock[side][PAIR_BEFORE] = p.clock[side][PAIR_AFTER] = CLOCK_OFFSET_UNKNOWN;
	}
	control_init(&p.ctl[PAIR_CLIENT], ends->client_out, ends->client_in);
	control_init(&p.ctl[PAIR_SERVER], ends->server_out, ends->server_in);
	int r = pair_run(&p, server, err);
	if (!r || (p.running && pair_knows(&p))) {
		pair_merge(&p, err, out);
		*err = ERR_INIT;
		r = 0;
	}
	pair_done(&p);
	return r;
}
