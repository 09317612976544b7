/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pair_hear: takes in what the two workers say, whenever they say it, and keeps it in struct pair;
 * sends heartbeats and notices who is gone. It decides no step of a measurement: that is pair.c,
 * which waits here for conditions.
 */
#include "core/engine/pair.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>

#include "core/base/clock.h"
#include "core/base/str.h"
#include "core/base/units.h"
#include "core/engine/engines.h"
#include "core/engine/result.h"

const char *const pair_names[2] = {"client", "server"};
const char *const pair_roles[2] = {"the client's worker", "the server's worker"};

/* What a worker's error says, as ours. */
static void pair_failed(struct pair *p, enum pair_side side, const json_t *m)
{
	if (p->failure.kind || p->stopping)
		return;
	const char *text = json_string_value(json_object_get(m, "text"));
	int kind = (int)result_integer(m, "kind"), code = (int)result_integer(m, "code");
	snprintf(p->failure.text, sizeof(p->failure.text), "%s: %s", pair_names[side],
		 text ? text : "failed without saying why");
	p->failure.kind =
	    kind > ERR_NONE && kind <= ERR_UNSUPPORTED ? (enum err_kind)kind : ERR_SYSTEM;
	p->failure.code = code > 0 ? code : EIO;
}

static void pair_keep(json_t **place, json_t *m)
{
	json_decref(*place);
	*place = json_incref(m);
}

static void pair_interval(struct pair *p, enum pair_side side, json_t *m)
{
	json_array_append(p->intervals[side], m);
	bool headline = engines_get(p->spec->test)->headline_client == (side == PAIR_CLIENT);
	if (headline && p->hooks && p->hooks->on_interval)
		p->hooks->on_interval(p->hooks->arg, m);
	if (p->hooks && p->hooks->on_each)
		p->hooks->on_each(p->hooks->arg, headline, m);
}

/* What one has sent, for the other one, which counts what came. */
static int pair_sent(struct pair *p, enum pair_side side, json_t *sent, struct err *err)
{
	enum pair_side other = side == PAIR_CLIENT ? PAIR_SERVER : PAIR_CLIENT;
	if (!sent || p->told[side] || p->ended[other])
		return 0;
	p->told[side] = true;
	/* One that was told to stop may have answered and gone: its result is yet to be read. */
	int r = control_send(&p->ctl[other],
			     json_pack("{s:s,s:O}", "type", "sent", "packets", sent), err);
	if (r != -EPIPE)
		return r;
	*err = ERR_INIT;
	return 0;
}

void pair_stop(struct pair *p)
{
	struct err ignored =
	    ERR_INIT; /* one that cannot be told is gone, and that is seen by reading */
	for (int side = 0; side < 2; side++)
		if (!p->ended[side] && !p->ctl[side].eof)
			control_send(&p->ctl[side], json_pack("{s:s}", "type", "stop"), &ignored);
}

static int pair_result(struct pair *p, enum pair_side side, json_t *m, struct err *err)
{
	pair_keep(&p->result[side], m);
	p->ended[side] = true;
	/* It gave up: the other one may not learn that over a path that was cut. */
	if (json_is_true(json_object_get(m, "partial")) && !p->stopping) {
		p->stopping = true;
		pair_stop(p);
	}
	return pair_sent(p, side, json_object_get(m, "sent"), err);
}

static void pair_clock_answer(struct pair *p, enum pair_side side, const json_t *m)
{
	int64_t asked = result_integer(m, "at_ns"), now = clock_now_ns();
	struct clock_offset one = CLOCK_OFFSET_UNKNOWN, *o = &p->clock[side][p->when];
	bool track = asked == p->track_asked_ns[side];
	clock_offset_add(track ? &one : o, asked, result_integer(m, "now_ns"), now);
	if (track)
		clock_track_add(&p->track[side], &one);
}

/* Where clocks differ: what time is it there now? One that is slow to answer is not asked twice. */
static int pair_clock_ask(struct pair *p, int side, struct err *err)
{
	int64_t now = clock_now_ns();
	if (!p->running || !p->own_clocks || p->one_clock || p->stopping ||
	    now - p->track_asked_ns[side] < PAIR_TRACK_NS || p->when != PAIR_BEFORE)
		return 0;
	p->track_asked_ns[side] = now;
	return control_send(&p->ctl[side],
			    json_pack("{s:s,s:I}", "type", "clock", "at_ns", (json_int_t)now), err);
}

/* Both ends of one version: what a figure means may change between two. */
static int pair_ready(struct pair *p, enum pair_side side, json_t *m, struct err *err)
{
	const char *program = json_string_value(json_object_get(m, "program"));
	if (program && !str_eq(program, VPCLAB_VERSION))
		return err_unsupported(err,
				       "%s is of vpclab %.40s, and this is vpclab " VPCLAB_VERSION
				       ": both ends of a measurement must be of one version",
				       pair_roles[side], program);
	pair_keep(&p->ready[side], m);
	return 0;
}

static int pair_message(struct pair *p, enum pair_side side, json_t *m, struct err *err)
{
	const char *type = control_type(m);
	if (str_eq(type, "ready"))
		return pair_ready(p, side, m, err);
	if (str_eq(type, "connected"))
		pair_keep(&p->connected, m);
	else if (str_eq(type, "interval"))
		pair_interval(p, side, m);
	else if (str_eq(type, "clock"))
		pair_clock_answer(p, side, m);
	else if (str_eq(type, "sent"))
		return pair_sent(p, side, json_object_get(m, "packets"), err);
	else if (str_eq(type, "result"))
		return pair_result(p, side, m, err);
	else if (str_eq(type, "error")) {
		pair_failed(p, side, m);
		p->ended[side] = true;
	} else
		return err_input(err, "%s sent '%s', which is no message", pair_roles[side], type);
	return 0;
}

static int pair_hear(struct pair *p, enum pair_side side, struct err *err)
{
	struct control *c = &p->ctl[side];
	int r = control_fill(c, err);
	json_t *m = NULL;
	while (!r && (m = control_next(c, &r, err))) {
		r = pair_message(p, side, m, err);
		json_decref(m);
	}
	return r ? err_wrap(err, "%s", pair_roles[side]) : 0;
}

/* Heartbeats, and who should have sent one; `heard[side]`: that one has just been heard. */
static int pair_beat(struct pair *p, const bool heard[2], struct err *err)
{
	for (int side = 0; side < 2; side++) {
		if (p->ended[side])
			continue;
		int64_t patience = control_patience_ns(p->spec->streams, p->end_ns, clock_now_ns());
		if (p->running && !heard[side] && control_silent(&p->ctl[side], patience))
			p->silent[side] = true;
		int r = control_beat(&p->ctl[side], err);
		if (!r)
			r = pair_clock_ask(p, side, err);
		if (r)
			return err_wrap(err, "%s", pair_roles[side]);
	}
	return 0;
}

/* Waits for a message of either, at most until the deadline. -ETIMEDOUT sets no text. */
int pair_poll(struct pair *p, int64_t deadline_ns, struct err *err)
{
	int64_t left = deadline_ns - clock_now_ns();
	if (left <= 0)
		return -ETIMEDOUT;
	int64_t beat = p->own_clocks && !p->one_clock ? PAIR_TRACK_NS : CONTROL_BEAT_NS;
	left = left < beat ? left : beat;
	int stop_fd = p->hooks && p->hooks->stop_fd > 0 && !p->stopping ? p->hooks->stop_fd : -1;
	struct pollfd fds[3] = {{.fd = stop_fd, .events = POLLIN}};
	for (int side = 0; side < 2; side++)
		fds[1 + side] = (struct pollfd){.fd = p->ctl[side].eof ? -1 : p->ctl[side].in,
						.events = POLLIN};
	struct timespec ts = {left / NSEC_PER_SEC, left % NSEC_PER_SEC};
	int n = ppoll(fds, 3, &ts, NULL);
	if (n < 0 && errno != EINTR)
		return err_sys(err, errno, "waiting for the workers");
	bool heard[2] = {n > 0 && fds[1].revents, n > 0 && fds[2].revents};
	int r = 0;
	for (int side = 0; side < 2 && !r; side++)
		if (heard[side])
			r = pair_hear(p, (enum pair_side)side, err);
	if (!r)
		r = pair_beat(p, heard, err);
	if (!r && n > 0 && fds[0].revents) {
		p->stopping = p->stopped = true;
		pair_stop(p);
	}
	return r;
}

/* A worker whose channel ended, or fell silent, before its last message has died. */
bool pair_dead(const struct pair *p, int side)
{
	return (p->ctl[side].eof || p->silent[side]) && !p->ended[side];
}

int pair_death(const struct pair *p, int side, struct err *err)
{
	if (p->ctl[side].eof)
		return err_fail(err, EPIPE, "%s ended without a result", pair_roles[side]);
	return err_fail(err, EPIPE, "%s has not been heard for %lld s", pair_roles[side],
			(long long)((clock_now_ns() - p->ctl[side].heard_ns) / NSEC_PER_SEC));
}

static int pair_trouble(const struct pair *p, struct err *err)
{
	for (int side = 0; side < 2; side++)
		if (pair_dead(p, side))
			return pair_death(p, side, err);
	for (int side = 0; side < 2 && p->stopped; side++)
		if (p->ended[side] && !p->result[side])
			return err_fail(err, ECANCELED, "told to stop");
	if (!p->failure.kind)
		return 0;
	*err = p->failure;
	return -err->code;
}

int pair_until(struct pair *p, bool (*condition)(const struct pair *), int64_t deadline_ns,
	       const char *what, struct err *err)
{
	while (!condition(p)) {
		int r = pair_trouble(p, err);
		if (!r)
			r = pair_poll(p, deadline_ns, err);
		if (r == -ETIMEDOUT && !err->kind)
			return err_fail(err, ETIMEDOUT, "%s did not happen in time", what);
		if (r)
			return r;
	}
	return 0;
}
