/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * script: groups and commands from JSON, checked whole, into a flat list of operations a group.
 * Amounts are script_amount.c's. It runs nothing. Used by the engine `pairs` (spec.script) and by
 * core/harness/scripts.c, which turns the place of a mistake into a line of the user's file.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/base/str.h"
#include "core/base/units.h"
#include "core/engine/script_read.h"

#define SCRIPT_TCP_BUFFER (128 << 10)
#define SCRIPT_UDP_BUFFER 1372 /* fits the path's MTU through a tunnel or two */
#define SCRIPT_UDP_MOST	  65507

static int read_commands(struct script_reader *r, const char *at, const json_t *list);

static int push(struct script_reader *r, const char *at, const struct script_op *op)
{
	if (r->g->ops.n >= SCRIPT_OPS)
		return script_fail(r, at, "more than %d commands in a group", SCRIPT_OPS);
	*VEC_ADD(&r->s->arena, &r->g->ops) = *op;
	return 0;
}

static int read_rate(struct script_reader *r, const char *at, const json_t *map,
		     struct script_op *op)
{
	char place[SCRIPT_PLACE], text[64];
	const json_t *j = script_key(r, at, map, "rate", place);
	int64_t rate = 0;
	if (!j)
		return 0;
	if (r->g->voip.codec)
		return script_fail(r, place, "rate: the codec has its own");
	if (!script_text(script_resolve(r, j), text, sizeof(text)))
		return script_fail(r, place, "rate: must be like 10mbit");
	if (units_parse_rate(text, &rate, r->err))
		return script_failed(r, place, "rate");
	op->gap_ns = rate > 0 ? (int64_t)((double)op->buffer * 8e9 / (double)rate) : 0;
	return 0;
}

static int read_buffer(struct script_reader *r, const char *at, const json_t *map,
		       struct script_op *op)
{
	bool tcp = r->g->protocol == SCRIPT_TCP;
	struct script_amount a = {.d.a = tcp ? SCRIPT_TCP_BUFFER : SCRIPT_UDP_BUFFER};
	struct script_range range = {SCRIPT_SIZE, tcp ? 1 : SCRIPT_DATAGRAM,
				     tcp ? 64 << 20 : SCRIPT_UDP_MOST, true};
	char place[SCRIPT_PLACE];
	const json_t *j = script_key(r, at, map, "buffer", place);
	if (j && r->g->voip.codec)
		return script_fail(r, place, "buffer: the codec has its own");
	int ret = j ? script_amount(r, place, j, &range, &a) : 0;
	op->buffer = (int64_t)a.d.a;
	return ret;
}

/* Speech of so long is so many datagrams of the codec. */
static int read_speech(struct script_reader *r, const char *at, const json_t *j,
		       struct script_op *op)
{
	const struct script_voip *v = &r->g->voip;
	struct script_range range = {SCRIPT_TIME, NSEC_PER_MSEC, INT64_C(86400) * NSEC_PER_SEC,
				     false};
	int ret = script_amount(r, at, j, &range, &op->amount);
	op->gap_ns = v->datagram_ns;
	op->buffer = 12 + v->codec->frame_bytes * (v->datagram_ns / v->codec->frame_ns);
	op->amount.scale *= (double)op->buffer / (double)v->datagram_ns;
	op->amount.min = op->buffer;
	op->amount.max = INT64_C(1) << 50;
	return ret;
}

static int read_transfer(struct script_reader *r, const char *at, const json_t *arg,
			 enum script_command command)
{
	static const char *const keys[] = {"size", "buffer", "rate"};
	struct script_range range = {SCRIPT_SIZE, 1, INT64_C(1) << 50, false};
	struct script_op op = {.command = command};
	char place[SCRIPT_PLACE];
	bool full = json_is_object(arg) && !script_is_random(arg);
	if (command == SCRIPT_RECEIVE && r->g->protocol != SCRIPT_TCP)
		return script_fail(r, at,
				   "receive: datagrams go from E1 to E2; exchange the two ends of "
				   "the measurement for the other way");
	if (full && script_check_keys(r, at, arg, keys, ARRAY_SIZE(keys)))
		return -EINVAL;
	const json_t *size = full ? script_key(r, at, arg, "size", place) : arg;
	if (!full)
		snprintf(place, sizeof(place), "%s", at);
	if (!size)
		return script_fail(r, at, "no size");
	int ret = read_buffer(r, at, full ? arg : NULL, &op);
	if (!ret)
		ret = r->g->voip.codec ? read_speech(r, place, size, &op)
				       : script_amount(r, place, size, &range, &op.amount);
	if (!ret)
		ret = read_rate(r, at, full ? arg : NULL, &op);
	return ret ? ret : push(r, at, &op);
}

static int read_sleep(struct script_reader *r, const char *at, const json_t *arg)
{
	static const char *const keys[] = {"time", "at"};
	static const struct script_range range = {SCRIPT_TIME, 0, INT64_C(86400) * NSEC_PER_SEC,
						  false};
	struct script_op op = {.command = SCRIPT_SLEEP};
	char place[SCRIPT_PLACE], end[SCRIPT_PLACE];
	bool full = json_is_object(arg) && !script_is_random(arg);
	if (full && script_check_keys(r, at, arg, keys, ARRAY_SIZE(keys)))
		return -EINVAL;
	const json_t *time = full ? script_key(r, at, arg, "time", place) : arg;
	const json_t *which = full ? script_key(r, at, arg, "at", end) : NULL;
	if (!full)
		snprintf(place, sizeof(place), "%s", at);
	if (!time)
		return script_fail(r, at, "no time");
	const char *word = which ? json_string_value(which) : "e1";
	if (!word || (!str_eq(word, "e1") && !str_eq(word, "e2")))
		return script_fail(r, end, "at: must be e1 or e2");
	op.at_e2 = str_eq(word, "e2");
	if (op.at_e2 && r->g->protocol != SCRIPT_TCP)
		return script_fail(r, end, "at: E2 of %s only listens", "udp and rtp");
	int ret = script_amount(r, place, time, &range, &op.amount);
	return ret ? ret : push(r, at, &op);
}

static int read_loop(struct script_reader *r, const char *at, const json_t *arg)
{
	static const char *const keys[] = {"count", "do"};
	static const struct script_range range = {SCRIPT_COUNT, 1, INT64_C(1) << 40, false};
	struct script_op op = {.command = SCRIPT_LOOP, .depth = r->depth};
	char place[SCRIPT_PLACE];
	if (!json_is_object(arg))
		return script_fail(r, at, "loop: must be a map with 'count' and 'do'");
	if (script_check_keys(r, at, arg, keys, ARRAY_SIZE(keys)))
		return -EINVAL;
	if (r->depth >= SCRIPT_DEPTH)
		return script_fail(r, at, "loop: more than %d loops in each other", SCRIPT_DEPTH);
	const json_t *count = script_key(r, at, arg, "count", place);
	int ret = count ? script_amount(r, place, count, &range, &op.amount) : 0;
	bool timed = r->timed;
	int begin = (int)r->g->ops.n;
	if (!ret)
		ret = push(r, at, &op);
	const json_t *list = script_key(r, at, arg, "do", place);
	if (!list)
		return ret ? ret : script_fail(r, at, "loop: no 'do'");
	r->depth++;
	r->inner = false;
	if (!ret)
		ret = read_commands(r, place, list);
	r->depth--;
	if (!ret && r->timed != timed)
		return script_fail(r, at, "loop: a timer that begins in a loop ends in it too");
	struct script_op next = {.command = SCRIPT_NEXT, .other = begin, .depth = r->depth};
	if (!ret)
		ret = push(r, at, &next);
	if (ret)
		return ret;
	r->g->ops.v[begin].other = (int)r->g->ops.n;
	r->g->ops.v[begin].turns = r->timed && !r->inner;
	r->inner = true;
	return 0;
}

static int read_timer(struct script_reader *r, const char *at, bool start)
{
	struct script_op op = {.command = start ? SCRIPT_START : SCRIPT_END};
	if (r->timed == start)
		return script_fail(r, at,
				   start ? "start_timer: the timer runs already"
					 : "end_timer: no timer runs");
	r->timed = start;
	r->timers = true;
	return push(r, at, &op);
}

static int read_connection(struct script_reader *r, const char *at, bool connect)
{
	struct script_op op = {.command = connect ? SCRIPT_CONNECT : SCRIPT_DISCONNECT};
	if (r->connected == connect)
		return script_fail(r, at,
				   connect ? "connect: there is a connection already"
					   : "disconnect: there is no connection");
	r->connected = connect;
	return push(r, at, &op);
}

static int read_known(struct script_reader *r, const char *at, const char *name, const json_t *arg)
{
	static const char *const names[] = {"connect", "disconnect",  "send",
					    "receive", "confirm",     "sleep",
					    "loop",    "start_timer", "end_timer"};
	static const struct script_op confirm = {.command = SCRIPT_CONFIRM};
	bool argued = arg && !json_is_null(arg);
	if ((str_eq(name, "send") || str_eq(name, "receive") || str_eq(name, "confirm")) &&
	    !r->connected)
		return script_fail(r, at, "%s: there is no connection: connect first", name);
	if (argued && str_eq(name, "send"))
		return read_transfer(r, at, arg, SCRIPT_SEND);
	if (argued && str_eq(name, "receive"))
		return read_transfer(r, at, arg, SCRIPT_RECEIVE);
	if (argued && str_eq(name, "sleep"))
		return read_sleep(r, at, arg);
	if (argued && str_eq(name, "loop"))
		return read_loop(r, at, arg);
	if (str_eq(name, "send") || str_eq(name, "receive") || str_eq(name, "sleep") ||
	    str_eq(name, "loop"))
		return script_fail(r, at, "%s: how much? write it like '%s: …'", name, name);
	bool known = false;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		known |= str_eq(name, names[i]);
	r->where->key = !known; /* what is wrong is the word, not what follows it */
	if (!known)
		return script_unknown(r, at, "command", name, names, ARRAY_SIZE(names));
	if (argued)
		return script_fail(r, at, "%s takes nothing", name);
	if (str_eq(name, "confirm"))
		return push(r, at, &confirm);
	if (str_eq(name, "connect") || str_eq(name, "disconnect"))
		return read_connection(r, at, str_eq(name, "connect"));
	return read_timer(r, at, str_eq(name, "start_timer"));
}

static int read_command(struct script_reader *r, const char *at, const json_t *j)
{
	char place[SCRIPT_PLACE];
	if (json_is_string(j))
		return read_known(r, at, json_string_value(j), NULL);
	if (!json_is_object(j) || json_object_size(j) != 1)
		return script_fail(r, at,
				   "a command is a word such as 'connect', or a map with one key "
				   "such as 'send: 1MB'");
	const char *name = json_object_iter_key(json_object_iter((json_t *)j));
	const json_t *arg = script_key(r, at, j, name, place);
	return read_known(r, place, name, arg);
}

static int read_commands(struct script_reader *r, const char *at, const json_t *list)
{
	size_t i;
	json_t *j;
	if (!json_is_array(list) || !json_array_size(list))
		return script_fail(r, at, "must be a list of commands");
	bool connected = r->connected;
	json_array_foreach((json_t *)list, i, j)
	{
		char place[SCRIPT_PLACE];
		snprintf(place, sizeof(place), "%.*s/%zu", SCRIPT_PLACE - 24, at, i);
		int ret = read_command(r, place, j);
		if (ret)
			return ret;
	}
	if (r->depth && r->connected != connected)
		return script_fail(r, at, "a loop must leave the connection as it found it");
	return 0;
}

/* A connect that is followed by data at once can carry its greeting with them. */
static void find_soon(struct script_group *g)
{
	for (size_t i = 0; i < g->ops.n; i++) {
		size_t k = i + 1;
		if (g->ops.v[i].command != SCRIPT_CONNECT)
			continue;
		while (g->ops.v[k].command == SCRIPT_START || g->ops.v[k].command == SCRIPT_LOOP)
			k++;
		g->ops.v[i].soon = g->ops.v[k].command == SCRIPT_SEND;
	}
}

/* A turn in which nothing takes time would go round without end. */
static bool loops_idle(const struct script_group *g)
{
	for (size_t i = 0; i < g->ops.n; i++) {
		bool idle = g->ops.v[i].command == SCRIPT_LOOP && !g->ops.v[i].amount.max;
		for (int k = (int)i; idle && k < g->ops.v[i].other; k++) {
			enum script_command c = g->ops.v[k].command;
			idle = c != SCRIPT_SEND && c != SCRIPT_RECEIVE && c != SCRIPT_CONFIRM &&
			       c != SCRIPT_CONNECT &&
			       !(c == SCRIPT_SLEEP && !g->ops.v[k].at_e2 &&
				 g->ops.v[k].amount.d.a > 0);
		}
		if (idle)
			return true;
	}
	return false;
}

static int read_voip(struct script_reader *r, const char *at, const json_t *j)
{
	static const char *const keys[] = {"codec", "frames", "jitter_buffer", "extra_delay"};
	static const struct script_range frames = {SCRIPT_COUNT, 1, 20, true},
					 time = {SCRIPT_TIME, 0, 10 * NSEC_PER_SEC, true};
	struct script_voip *v = &r->g->voip;
	char place[SCRIPT_PLACE];
	if (!json_is_object(j))
		return script_fail(r, at, "voip: must be a map with 'codec'");
	if (r->g->protocol != SCRIPT_RTP)
		return script_fail(r, at, "voip: needs protocol: rtp");
	if (script_check_keys(r, at, j, keys, ARRAY_SIZE(keys)))
		return -EINVAL;
	const json_t *codec = script_resolve(r, script_key(r, at, j, "codec", place));
	char text[64];
	if (!codec || !script_text(codec, text, sizeof(text)))
		return script_fail(r, at, "voip: no codec");
	if (voip_codec_parse(text, &v->codec, r->err))
		return script_failed(r, place, NULL);
	struct script_amount n = {.d.a = v->codec->frames}, buffer = {.d.a = 40 * NSEC_PER_MSEC},
			     extra = {.d.a = 0};
	const json_t *value = script_key(r, at, j, "frames", place);
	if (value && script_amount(r, place, value, &frames, &n))
		return -EINVAL;
	if (12 + n.d.a * v->codec->frame_bytes < SCRIPT_DATAGRAM)
		return script_fail(r, place,
				   "frames: a datagram needs %d bytes with RTP; take more",
				   SCRIPT_DATAGRAM);
	value = script_key(r, at, j, "jitter_buffer", place);
	if (value && script_amount(r, place, value, &time, &buffer))
		return -EINVAL;
	value = script_key(r, at, j, "extra_delay", place);
	if (value && script_amount(r, place, value, &time, &extra))
		return -EINVAL;
	v->datagram_ns = (int64_t)n.d.a * v->codec->frame_ns;
	v->jitter_buffer_ns = (int64_t)buffer.d.a;
	v->extra_delay_ns = (int64_t)extra.d.a;
	return 0;
}

static int read_protocol(struct script_reader *r, const char *at, const json_t *j)
{
	static const char *const names[] = {"tcp", "udp", "rtp"};
	const char *name = json_string_value(j);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (str_eq(name, names[i])) {
			r->g->protocol = (enum script_protocol)i;
			return 0;
		}
	return script_unknown(r, at, "protocol", name ? name : "", names, ARRAY_SIZE(names));
}

static int read_pairs(struct script_reader *r, const char *at, const json_t *j)
{
	static const struct script_range count = {SCRIPT_COUNT, 1, SCRIPT_PAIRS, true},
					 time = {SCRIPT_TIME, 0, INT64_C(86400) * NSEC_PER_SEC,
						 false};
	struct script_group *g = r->g;
	char place[SCRIPT_PLACE];
	struct script_amount n = {.d.a = 1};
	const json_t *value = script_key(r, at, j, "pairs", place);
	if (value && script_amount(r, place, value, &count, &n))
		return -EINVAL;
	g->first = r->s->pairs;
	g->pairs = (int)n.d.a;
	r->s->pairs += g->pairs;
	if (r->s->pairs > SCRIPT_PAIRS)
		return script_fail(r, place, "pairs: more than %d in all groups", SCRIPT_PAIRS);
	value = script_key(r, at, j, "validate", place);
	if (value && !json_is_boolean(value))
		return script_fail(r, place, "validate: must be true or false");
	g->validate = json_is_true(value);
	value = script_key(r, at, j, "initial_delay", place);
	return value ? script_amount(r, place, value, &time, &g->initial_delay) : 0;
}

static int read_program(struct script_reader *r, const char *at, const json_t *j)
{
	static const struct script_op done = {.command = SCRIPT_DONE};
	char place[SCRIPT_PLACE];
	const json_t *list = script_key(r, at, j, "commands", place);
	if (!list)
		return script_fail(r, at, "no commands");
	int ret = read_commands(r, place, list);
	if (!ret && r->timed)
		return script_fail(r, place, "a timer is started and not ended");
	if (!ret && !r->timers)
		return script_fail(r, place,
				   "no timing record: put start_timer and end_timer "
				   "around what is measured");
	if (!ret)
		ret = push(r, place, &done);
	if (!ret && loops_idle(r->g))
		return script_fail(r, place, "a loop without count does nothing that takes time");
	if (!ret)
		find_soon(r->g);
	return ret;
}

static int read_group(struct script_reader *r, const char *at, const json_t *j)
{
	static const char *const keys[] = {"name",     "pairs",	    "protocol", "validate",
					   "commands", "variables", "voip",	"initial_delay"};
	char place[SCRIPT_PLACE];
	if (!json_is_object(j))
		return script_fail(r, at, "a group is a map");
	if (script_check_keys(r, at, j, keys, ARRAY_SIZE(keys)))
		return -EINVAL;
	r->g = VEC_ADD(&r->s->arena, &r->s->groups);
	r->depth = 0;
	r->timed = r->timers = r->connected = r->inner = false;
	const char *name = json_string_value(json_object_get(j, "name"));
	r->g->name = name ? arena_strndup(&r->s->arena, name, 60)
			  : arena_printf(&r->s->arena, "group %zu", r->s->groups.n);
	r->variables[0] = script_key(r, at, j, "variables", place);
	if (r->variables[0] && !json_is_object(r->variables[0]))
		return script_fail(r, place, "variables: must be a map");
	const json_t *value = script_key(r, at, j, "protocol", place);
	int ret = value ? read_protocol(r, place, value) : 0;
	if (!ret)
		ret = read_pairs(r, at, j);
	value = script_key(r, at, j, "voip", place);
	if (!ret && value)
		ret = read_voip(r, place, value);
	if (!ret)
		ret = read_program(r, at, j);
	r->s->tcp |= r->g->protocol == SCRIPT_TCP;
	r->s->udp |= r->g->protocol != SCRIPT_TCP;
	return ret;
}

static int read_end(struct script_reader *r, const json_t *j)
{
	static const char *const names[] = {"time", "all", "first"};
	const json_t *end = json_object_get(j, "end");
	const char *name = json_string_value(end);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (str_eq(name, names[i])) {
			r->s->end = (enum script_end)i;
			return 0;
		}
	if (!end)
		return 0;
	return script_unknown(r, "/end", "end", name ? name : "", names, ARRAY_SIZE(names));
}

static int read_all(struct script_reader *r, const json_t *j)
{
	static const char *const keys[] = {"version",	"name",	  "end",  "duration",
					   "variables", "groups", "title"};
	char text[32];
	if (!json_is_object(j))
		return script_fail(r, "", "a script is a map with 'version' and 'groups'");
	if (script_check_keys(r, "", j, keys, ARRAY_SIZE(keys)))
		return -EINVAL;
	const json_t *version = json_object_get(j, "version");
	if (!version || !script_text(version, text, sizeof(text)) || !str_eq(text, "1"))
		return script_fail(r, version ? "/version" : "", "version: must be 1");
	const char *name = json_string_value(json_object_get(j, "name"));
	r->s->name = arena_strdup(&r->s->arena, name ? name : "script");
	r->variables[1] = json_object_get(j, "variables");
	if (r->variables[1] && !json_is_object(r->variables[1]))
		return script_fail(r, "/variables", "variables: must be a map");
	int ret = read_end(r, j);
	const json_t *groups = json_object_get(j, "groups");
	size_t n = json_array_size(groups);
	if (!ret && (!n || n > SCRIPT_GROUPS))
		return script_fail(r, groups ? "/groups" : "",
				   "groups: must be a list of 1 to %d groups", SCRIPT_GROUPS);
	for (size_t i = 0; i < n && !ret; i++) {
		char place[SCRIPT_PLACE];
		snprintf(place, sizeof(place), "/groups/%zu", i);
		ret = read_group(r, place, json_array_get(groups, i));
	}
	return ret;
}

int script_parse(const json_t *j, struct script *s, struct script_where *where, struct err *err)
{
	struct script_where own;
	struct script_reader r = {.s = s, .where = where ? where : &own, .err = err};
	*s = (struct script){0};
	arena_init(&s->arena);
	*r.where = (struct script_where){0};
	return read_all(&r, j);
}

int script_parse_text(const char *text, struct script *s, struct err *err)
{
	struct script_where where = {0};
	json_error_t why;
	json_t *j = json_loads(text, 0, &why);
	if (!j) {
		*s = (struct script){0};
		return err_input(err, "script:%d:%d: %s", why.line, why.column, why.text);
	}
	int r = script_parse(j, s, &where, err);
	json_decref(j);
	return r ? err_wrap(err, "script: %s", where.pointer) : 0;
}

void script_done(struct script *s)
{
	arena_done(&s->arena);
	*s = (struct script){0};
}

const struct script_group *script_group_of(const struct script *s, uint32_t pair)
{
	VEC_FOREACH (g, &s->groups)
		if (pair < (uint32_t)(g->first + g->pairs))
			return g;
	return NULL;
}
