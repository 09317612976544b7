/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * path_check: what a path does to packets besides carrying them, found out by asking the other end.
 *
 * The script (JSON text) names what to look at: a list as ["mtu", "hops"], or an object:
 *   {"mtu": true, "hops": true, "translations": true, "dscp": true or [0, 46],
 *    "idle": {"from": "1s", "to": "60s"}}
 * or just names: mtu,hops. Without a script: all but idle, which takes as long as the times that it
 * tries. It ends with its work, at the latest after `duration` (60 s).
 *
 * The result's `detail` has an object a check:
 *   path_mtu      of the way forward, as below
 *   reached       did the server answer at all; what follows needs it, but for the hops
 *   mtu           {forward, back}: {mtu: the largest IP packet that arrived, confirmed by the other
 *                 end; first: the size tried first, of the own device; black_hole: larger ones
 *                 vanish and nobody says why; vanished: the least size that did, or null;
 *                 told: [{size, mtu, from}] by ICMP, from: null where only the server heard it;
 *                 limit: "device", "icmp", "black_hole"}. As RFC 8899 does: what counts is what
 *                 arrives; ICMP only says where to look next
 *   hops          [{hop, address, round_trip_ns, reached, icmp}], address null: silent; after five
 *                 silent ones in a row it is given up
 *   distance      {forward, back, symmetric}: routers that counted down, by what is left of a hop
 *                 limit of 64
 *   translations  {client, seen_as, asked, arrived_at: "address port"; source, destination: was it
 *                 translated}
 *   dscp          [{dscp, arrived, returned}]: the class sent, as the server saw it, and as its
 *                 answer, sent with the same class, came back; null: nothing did
 *   idle          {survived_s, expired_s, alive}: the longest silence after which the server still
 *                 reached the client, the shortest after which it did not (null: none found), and
 *                 did the path work again after that
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/base/str.h"
#include "core/base/units.h"
#include "core/engine/path_probe.h"
#include "core/engine/result.h"

#define PATH_DURATION (60 * NSEC_PER_SEC)
#define PATH_FARTHEST 30
#define PATH_SILENT   5
#define PATH_CLASSES  64
#define PATH_TRIALS   20
#define PATH_LINGER   (200 * NSEC_PER_MSEC)
#define PATH_IDLE_MIN 100		 /* ms */
#define PATH_IDLE_MAX (24 * 3600 * 1000) /* ms */

struct path_want {
	bool mtu, hops, translations, dscp, idle;
	int classes[PATH_CLASSES], n_classes;
	int64_t from_ms, to_ms;
};

struct path_check {
	struct path_probe path;
	struct path_want want;
	json_t *found; /* client; owned */
};

static const char *const path_checks[] = {"mtu", "hops", "translations", "dscp", "idle"};

/* Default, CS1 to CS7, the first of each AF class, EF. */
static const int path_classes[] = {0, 8, 10, 16, 18, 24, 26, 32, 34, 40, 46, 48, 56};

static int path_want_unknown(const char *key, struct err *err)
{
	const char *near = str_suggest(key, path_checks, ARRAY_SIZE(path_checks));
	if (near)
		return err_input(err, "script: unknown check '%s'; did you mean '%s'?", key, near);
	return err_input(err,
			 "script: unknown check '%s'; there are mtu, hops, translations, dscp, "
			 "idle",
			 key);
}

static int path_want_classes(struct path_want *w, const json_t *j, struct err *err)
{
	w->n_classes = 0;
	for (size_t i = 0; i < ARRAY_SIZE(path_classes) && !json_is_array(j); i++)
		w->classes[w->n_classes++] = path_classes[i];
	for (size_t i = 0; i < json_array_size(j); i++) {
		const json_t *one = json_array_get(j, i);
		json_int_t dscp = json_integer_value(one);
		if (!json_is_integer(one) || dscp < 0 || dscp > 63 || i >= PATH_CLASSES)
			return err_input(err,
					 "script: dscp: a list of at most %d numbers from 0 "
					 "to 63",
					 PATH_CLASSES);
		w->classes[w->n_classes++] = (int)dscp;
	}
	return 0;
}

static int path_want_time(const json_t *j, const char *key, int64_t *ms, struct err *err)
{
	const json_t *one = json_object_get(j, key);
	int64_t ns;
	if (!one)
		return 0;
	if (!json_is_string(one))
		return err_input(err, "script: idle: %s: write a time with its unit, as \"30s\"",
				 key);
	if (units_parse_time(json_string_value(one), &ns, err))
		return err_wrap(err, "script: idle: %s", key);
	*ms = ns / NSEC_PER_MSEC;
	if (*ms < PATH_IDLE_MIN || *ms > PATH_IDLE_MAX)
		return err_input(err, "script: idle: %s: from 100ms to 24h", key);
	return 0;
}

static int path_want_idle(struct path_want *w, const json_t *j, struct err *err)
{
	const char *key;
	json_t *value;
	json_object_foreach((json_t *)j, key, value)
	{
		static const char *const keys[] = {"from", "to"};
		const char *near = str_suggest(key, keys, 2);
		if (!str_eq(key, "from") && !str_eq(key, "to"))
			return err_input(err, "script: idle: unknown key '%s'; did you mean '%s'?",
					 key, near ? near : "from");
	}
	int r = path_want_time(j, "from", &w->from_ms, err);
	if (!r)
		r = path_want_time(j, "to", &w->to_ms, err);
	if (!r && w->to_ms < w->from_ms)
		r = err_input(err, "script: idle: from is later than to");
	return r;
}

static int path_want_one(struct path_want *w, const char *key, const json_t *value, struct err *err)
{
	bool on = !json_is_false(value);
	if (str_eq(key, "mtu"))
		w->mtu = on;
	else if (str_eq(key, "hops"))
		w->hops = on;
	else if (str_eq(key, "translations"))
		w->translations = on;
	else if (str_eq(key, "dscp")) {
		w->dscp = on;
		return path_want_classes(w, value, err);
	} else if (str_eq(key, "idle")) {
		w->idle = on;
		return json_is_object(value) ? path_want_idle(w, value, err) : 0;
	} else {
		return path_want_unknown(key, err);
	}
	return 0;
}

/* "mtu,hops" */
static int path_want_names(struct path_want *w, const char *script, struct err *err)
{
	autofree char *text = mem_strdup(script);
	char *rest = text, *name;
	int r = 0;
	while (!r && (name = strsep(&rest, ", ")))
		r = *name ? path_want_one(w, name, NULL, err) : 0;
	return r;
}

static int path_want_json(struct path_want *w, const json_t *j, struct err *err)
{
	const char *key;
	json_t *value;
	int r = 0;
	json_object_foreach((json_t *)j, key, value)
	{
		r = path_want_one(w, key, value, err);
		if (r)
			return r;
	}
	for (size_t i = 0; i < json_array_size(j) && !r; i++) {
		key = json_string_value(json_array_get(j, i));
		r = key ? path_want_one(w, key, NULL, err)
			: err_input(err, "script: a list has names of checks");
	}
	return r;
}

static int path_want_parse(const char *script, struct path_want *w, struct err *err)
{
	*w = (struct path_want){.from_ms = 1000, .to_ms = 32000};
	struct err ignored = ERR_INIT;
	path_want_classes(w, NULL, &ignored);
	if (!script) {
		w->mtu = w->hops = w->translations = w->dscp = true;
		return 0;
	}
	script += strspn(script, " \t\n");
	if (*script != '[' && *script != '{')
		return path_want_names(w, script, err);
	json_error_t at;
	json_t *j = json_loads(script, 0, &at);
	if (!j)
		return err_input(err, "script: no JSON: %s", at.text);
	int r = path_want_json(w, j, err);
	json_decref(j);
	return r;
}

static void path_defaults(struct engine_spec *s)
{
	s->duration_ns = PATH_DURATION;
	s->warmup_ns = 0;
}

static int path_check_spec(const struct engine_spec *s, struct err *err)
{
	struct path_want w;
	if (s->streams != 1)
		return err_input(err, "streams: path_check asks one question at a time: 1");
	return path_want_parse(s->script, &w, err);
}

static void path_prepare(struct stream *s)
{
	struct path_check *c = mem_zalloc(sizeof(*c));
	struct err ignored = ERR_INIT; /* it was checked with the specification */
	s->own = c;
	path_want_parse(s->w->spec.script, &c->want, &ignored);
	path_probe_init(&c->path, s);
	c->found = json_object();
}

static void path_release(struct stream *s)
{
	struct path_check *c = s->own;
	path_probe_done(&c->path);
	json_decref(c->found);
	free(c);
}

static json_t *path_text(const struct ip *ip)
{
	char text[ADDR_TEXT];
	return ip->family ? json_string(ip_format(text, ip)) : json_null();
}

static json_t *path_place(const struct ip *ip, int port)
{
	char text[ADDR_TEXT], both[ADDR_TEXT + 16];
	snprintf(both, sizeof(both), "%s %d", ip_format(text, ip), port);
	return json_string(both);
}

static bool path_same(const json_t *a, const json_t *b)
{
	return str_eq(json_string_value(a), json_string_value(b));
}

static void path_translations(struct path_check *c, const struct path_answer *a)
{
	json_t *flow = socket_flow(c->path.s->fd, true);
	struct ip local = {0}, remote = {0};
	struct err ignored = ERR_INIT; /* the kernel's own text */
	ip_parse(json_string_value(json_object_get(flow, "local")), &local, &ignored);
	ip_parse(json_string_value(json_object_get(flow, "remote")), &remote, &ignored);
	json_t *client = path_place(&local, (int)result_integer(flow, "local_port"));
	json_t *asked = path_place(&remote, (int)result_integer(flow, "remote_port"));
	json_t *seen = path_place(&a->source, a->source_port);
	json_t *arrived = path_place(&a->destination, a->destination_port);
	json_object_set_new(c->found, "translations",
			    json_pack("{s:o,s:o,s:o,s:o,s:b,s:b}", "client", client, "seen_as",
				      seen, "asked", asked, "arrived_at", arrived, "source",
				      !path_same(client, seen), "destination",
				      !path_same(asked, arrived)));
	json_decref(flow);
}

static void path_distance(struct path_check *c, const struct path_answer *a)
{
	int there = PATH_HOPS - a->hops_left, back = PATH_HOPS - a->answer_hops_left;
	json_object_set_new(
	    c->found, "distance",
	    json_pack("{s:i,s:i,s:b}", "forward", there, "back", back, "symmetric", there == back));
}

/* A search of the largest packet, one way. */
struct path_search {
	bool back;
	int low, failed; /* arrives; does not (0: none known) */
	bool silent;	 /* `failed` vanished without a word, */
	bool local;	 /* or was refused by the device of who sends it */
	int hint;	 /* what ICMP said of it; 0: nothing */
	json_t *told;
};

static bool path_fits(struct path_check *c, struct path_search *f, int size)
{
	struct path_question q = {.size = f->back ? 0 : size, .answer_size = f->back ? size : 0};
	struct path_answer a, after;
	path_probe_ask(&c->path, &q, &a);
	f->hint = a.icmp.any ? a.icmp.mtu : 0;
	struct ip from = a.icmp.from;
	f->local = a.icmp.local;
	if (a.answered && (f->back ? a.answer_size : a.size) >= size)
		return true;
	if (f->back) { /* it was the server who heard why, if anyone did */
		path_probe_ask(&c->path, &(struct path_question){0}, &after);
		f->hint = after.answered ? after.server_mtu : 0;
		f->local = after.server_local;
		from.family = 0;
	}
	if (f->hint && !f->local)
		json_array_append_new(f->told, json_pack("{s:i,s:i,s:o}", "size", size, "mtu",
							 f->hint, "from", path_text(&from)));
	return false;
}

/* Where to look next; 0: it is found. */
static int path_next(const struct path_check *c, const struct path_search *f)
{
	int base = c->path.s->w->family == AF_INET6 ? 1280 : 576; /* must pass, RFC 8200, 791 */
	if (!f->failed || f->failed - f->low <= 1 || (!f->silent && f->hint == f->low))
		return 0;
	if (!f->silent && f->hint > f->low && f->hint < f->failed)
		return f->hint;
	return f->low < base && base < f->failed ? base : f->low + (f->failed - f->low) / 2;
}

static json_t *path_search(struct path_check *c, bool back, int first)
{
	struct path_search f = {
	    .back = back, .low = path_probe_smallest(&c->path), .told = json_array()};
	int vanished = 0;
	for (int size = first; size && !worker_over(c->path.s->w); size = path_next(c, &f)) {
		struct path_search before = f;
		if (path_fits(c, &f, size)) {
			f.low = size;
			f.hint = before.hint; /* of the size that failed */
			f.local = before.local;
			continue;
		}
		f.failed = size;
		f.silent = !f.hint;
		if (f.silent)
			vanished = size;
	}
	bool hole = f.failed && f.silent;
	return json_pack("{s:i,s:i,s:b,s:o,s:o,s:s}", "mtu", f.low, "first", first, "black_hole",
			 hole, "vanished", vanished ? json_integer(vanished) : json_null(), "told",
			 f.told, "limit",
			 !f.failed || (f.local && !hole) ? "device"
			 : hole				 ? "black_hole"
							 : "icmp");
}

/* Is it a path that loses some of all sizes? Then silence says less. */
static void path_try_losses(struct path_check *c)
{
	struct path_answer a;
	for (int i = 0; i < PATH_TRIALS && !c->path.lossy; i++)
		path_probe_ask(&c->path, &(struct path_question){0}, &a);
}

static void path_mtu(struct path_check *c)
{
	path_try_losses(c);
	int most = path_probe_device_mtu(&c->path);
	most = most > 65535 ? 65535 : most;
	json_t *mtu = json_object();
	json_object_set_new(mtu, "forward", path_search(c, false, most));
	json_object_set_new(mtu, "back", path_search(c, true, most));
	json_object_set(c->found, "path_mtu",
			json_object_get(json_object_get(mtu, "forward"), "mtu"));
	json_object_set_new(c->found, "mtu", mtu);
}

static json_t *path_hop(int hop, const struct path_answer *a, const struct ip *server)
{
	json_t *j = json_object();
	bool any = a->answered || a->icmp.any;
	json_object_set_new(j, "hop", json_integer(hop));
	json_object_set_new(j, "address",
			    any ? path_text(a->answered ? server : &a->icmp.from) : json_null());
	json_object_set_new(j, "round_trip_ns", any ? json_integer(a->round_trip_ns) : json_null());
	json_object_set_new(j, "reached", json_boolean(a->answered));
	json_object_set_new(j, "icmp",
			    a->icmp.any
				? json_pack("{s:i,s:i}", "type", a->icmp.type, "code", a->icmp.code)
				: json_null());
	return j;
}

/* "Time exceeded in transit", RFC 792, 4443. */
static bool path_is_exceeded(const struct path_check *c, const struct path_icmp *icmp)
{
	return icmp->type == (c->path.s->w->family == AF_INET6 ? 3 : 11) && !icmp->code;
}

static void path_hops(struct path_check *c)
{
	struct ip server = {0};
	struct err ignored = ERR_INIT;
	json_t *flow = socket_flow(c->path.s->fd, true), *list = json_array();
	ip_parse(json_string_value(json_object_get(flow, "remote")), &server, &ignored);
	json_decref(flow);
	for (int hop = 1, silent = 0; hop <= PATH_FARTHEST && silent < PATH_SILENT; hop++) {
		struct path_question q = {.hops = hop, .tries = c->path.lossy ? 5 : 2};
		struct path_answer a;
		if (!path_probe_ask(&c->path, &q, &a))
			break;
		json_array_append_new(list, path_hop(hop, &a, &server));
		silent = a.answered || a.icmp.any ? 0 : silent + 1;
		if (a.answered || (a.icmp.any && !path_is_exceeded(c, &a.icmp)))
			break;
	}
	json_object_set_new(c->found, "hops", list);
}

static void path_dscp(struct path_check *c)
{
	json_t *list = json_array();
	for (int i = 0; i < c->want.n_classes; i++) {
		struct path_question q = {.dscp = c->want.classes[i]};
		struct path_answer a;
		if (!path_probe_ask(&c->path, &q, &a))
			break;
		json_array_append_new(
		    list, json_pack("{s:i,s:o,s:o}", "dscp", q.dscp, "arrived",
				    a.answered ? json_integer(a.dscp) : json_null(), "returned",
				    a.answered && a.answer_dscp >= 0 ? json_integer(a.answer_dscp)
								     : json_null()));
	}
	json_object_set_new(c->found, "dscp", list);
}

/* Can the server still reach us after so long a silence? */
static bool path_survives(struct path_check *c, int64_t ms)
{
	struct path_question q = {.kind = PATH_WAIT, .wait_ms = ms, .tries = 1};
	struct path_answer a;
	path_probe_ask(&c->path, &q, &a);
	return a.answered;
}

/* The next silence to try; 0: near enough, or no time left. */
static int64_t path_idle_next(const struct path_check *c, int64_t survived, int64_t expired)
{
	int64_t next = expired ? (survived + expired) / 2 : survived * 2;
	int64_t left = c->path.s->w->win.end_ns - clock_now_ns();
	if (!survived)
		next = expired ? 0 : c->want.from_ms;
	else if (expired && (expired - survived) * 5 <= survived)
		return 0;
	else if (!expired && next > c->want.to_ms)
		next = survived < c->want.to_ms ? c->want.to_ms : 0;
	return (next + 2000) * NSEC_PER_MSEC < left ? next : 0;
}

static void path_idle(struct path_check *c)
{
	int64_t survived = 0, expired = 0, next;
	bool alive = true;
	while (alive && (next = path_idle_next(c, survived, expired))) {
		if (path_survives(c, next)) {
			survived = next;
			continue;
		}
		struct path_answer a;
		if (!path_probe_ask(&c->path, &(struct path_question){0}, &a))
			break;
		alive = a.answered; /* else it says nothing about the silence */
		expired = next;
	}
	json_object_set_new(
	    c->found, "idle",
	    json_pack("{s:f,s:o,s:b}", "survived_s", (double)survived / 1e3, "expired_s",
		      expired ? json_real((double)expired / 1e3) : json_null(), "alive", alive));
}

static void path_ask_all(struct stream *s)
{
	struct path_check *c = s->own;
	struct path_answer a;
	path_probe_ask(&c->path, &(struct path_question){0}, &a);
	json_object_set_new(c->found, "reached", json_boolean(a.answered));
	if (a.answered && c->want.translations)
		path_translations(c, &a);
	if (a.answered && c->want.hops)
		path_distance(c, &a);
	if (c->want.hops)
		path_hops(c);
	if (a.answered && c->want.mtu)
		path_mtu(c);
	if (a.answered && c->want.dscp)
		path_dscp(c);
	if (a.answered && c->want.idle)
		path_idle(c);
	path_probe_ask(&c->path, &(struct path_question){.kind = PATH_BYE}, &a);
	window_track_add(&s->track, clock_now_ns(), 0);
}

static void path_answer_all(struct stream *s)
{
	path_probe_serve(&((struct path_check *)s->own)->path);
}

static void path_report(struct worker *w, json_t *result)
{
	const struct stream *s = &w->streams[0];
	const struct path_check *c = s->own;
	json_object_set_new(result, "packets", json_integer(s->packets_all));
	json_object_set_new(result, "bytes", json_integer(c->path.bytes));
	json_object_set_new(result, "bytes_all", json_integer(c->path.bytes + s->hello_bytes));
	if (!w->server)
		json_object_set(result, "found", c->found);
}

static void path_merge(const struct engine_spec *s, const json_t *client, const json_t *server,
		       struct engine_result *out)
{
	(void)s;
	(void)server;
	json_t *found = json_object_get(client, "found");
	out->detail = found ? json_incref(found) : json_object();
	out->goodput_bps = out->sent_bps = 0; /* its packets say nothing about rates */
}

static const char *const path_aliases[] = {"pmtu",	     "path_mtu",       "traceroute",
					   "traceroute_udp", "path_discovery", NULL};

const struct engine_def path_check_engine = {
    .test = TEST_PATH_CHECK,
    .name = "path_check",
    .aliases = path_aliases,
    .scripted = true,
    .datagram = true,
    .open_end = true,
    .headline_client = true,
    .unit = UNIT_PACKETS,
    .linger_ns = PATH_LINGER,
    .defaults = path_defaults,
    .check = path_check_spec,
    .prepare = path_prepare,
    .body = {path_answer_all, path_ask_all},
    .release = path_release,
    .report = path_report,
    .merge = path_merge,
};
