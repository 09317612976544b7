/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trial: reads scenarios/trials/NAME.yaml and says all that is wrong with it. A link that is
 * written in place becomes a topology in trial_link.c. Runs nothing. Called by `vpclab verify`.
 */
#include "core/harness/trial.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "core/base/str.h"
#include "core/base/units.h"
#include "core/base/yaml.h"
#include "core/harness/schedule.h"
#include "core/harness/tolerance.h"
#include "core/harness/trial_link.h"

#define KEYS(...)                                                                                  \
	(const char *const[]){__VA_ARGS__}, sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *)

struct parse {
	struct trial *t;
	struct problems *p;
};

static const char *text_of(struct parse *ps, const struct yaml_node *map, const char *key)
{
	const char *text = yaml_want_text(yaml_get(map, key), key, ps->p);

	return text ? arena_strdup(&ps->t->arena, text) : NULL;
}

static void read_time(struct parse *ps, const struct yaml_node *map, const char *key, int64_t *ns)
{
	const struct yaml_node *n = yaml_get(map, key);
	const char *text = yaml_want_text(n, key, ps->p);
	struct err err = ERR_INIT;

	if (text && units_parse_time(text, ns, &err))
		problems_add(ps->p, n->at, "%s: %s", key, err.text);
}

static void read_int(struct parse *ps, const struct yaml_node *map, const char *key, int most,
		     int *v)
{
	const struct yaml_node *n = yaml_get(map, key);
	const char *text = yaml_want_text(n, key, ps->p);
	struct err err = ERR_INIT;
	int64_t value;

	if (!text)
		return;
	if (units_parse_int(text, 1, most, &value, &err))
		problems_add(ps->p, n->at, "%s: %s", key, err.text);
	else
		*v = (int)value;
}

/* ---- where: a link, or a topology ---- */

static void read_place(struct parse *ps, const struct yaml_node *map)
{
	const struct yaml_node *link = yaml_get(map, "link"), *file = yaml_get(map, "topology");
	const char *via = text_of(ps, map, "via"), *from = text_of(ps, map, "from");
	const char *to = text_of(ps, map, "to"), *family = text_of(ps, map, "family");

	if (via && !str_eq(via, "router"))
		problems_add(ps->p, yaml_get(map, "via")->at, "via: '%s' is not router", via);
	ps->t->family = AF_INET;
	ps->t->link_local = family && str_eq(family, "link-local");
	if (ps->t->link_local && (!link || via))
		problems_add(ps->p, yaml_get(map, "family")->at,
			     "family: link-local is for a 'link' without 'via'");
	if (family && (str_eq(family, "ipv6") || ps->t->link_local))
		ps->t->family = AF_INET6;
	else if (family && !str_eq(family, "ipv4"))
		problems_add(ps->p, yaml_get(map, "family")->at,
			     "family: '%s' is none of ipv4, ipv6, link-local", family);
	if (!link == !file) {
		problems_add(ps->p, map->at, "a trial has either 'link' or 'topology'");
		return;
	}
	if (link) {
		if (yaml_want_map(link, "link", ps->p))
			trial_link(ps->t, link, via, ps->p);
		return;
	}
	ps->t->topology_name = text_of(ps, map, "topology");
	ps->t->from = from;
	ps->t->to = to;
	if (!from || !to)
		problems_add(ps->p, file->at, "a topology wants its ends: 'from' and 'to'");
}

/* ---- what is asked ---- */

/* As a measurement's keys have it. */
static const char *ask_key(const char *key, const char *text)
{
	return str_eq(key, "rate") && str_ends(text, "pps") ? "rate_packets" : key;
}

static json_t *ask_value(const char *key, const char *text)
{
	if (str_eq(key, "test") && str_eq(text, "ping"))
		return json_string("udp_latency");
	if (str_eq(text, "true") || str_eq(text, "false"))
		return json_boolean(str_eq(text, "true"));
	return json_string(text);
}

/* Each key alone with the test, so that all mistakes are told, each at its place. */
static void ask_problems(struct parse *ps, const struct yaml_node *map, const json_t *whole,
			 const char *why)
{
	size_t before = problems_count(ps->p);

	for (size_t i = 0; i < map->pairs.n; i++) {
		const struct yaml_pair *pair = &map->pairs.v[i];
		json_t *j = json_object();
		struct engine_spec spec;
		struct err err = ERR_INIT;

		json_object_set(j, "test", json_object_get(whole, "test"));
		if (engine_spec_parse(j, &spec, &err)) {
			problems_add(ps->p, yaml_get(map, "test")->at, "ask: %s", err.text);
			json_decref(j);
			return;
		}
		if (pair->value->kind == YAML_SCALAR) {
			json_object_set_new(j, ask_key(pair->key, pair->value->text),
					    ask_value(pair->key, pair->value->text));
			if (engine_spec_parse(j, &spec, &err))
				problems_add(ps->p, pair->key_at, "ask: %s", err.text);
		}
		json_decref(j);
	}
	if (problems_count(ps->p) == before) /* they do not go together */
		problems_add(ps->p, map->at, "ask: %s", why);
}

/* The keys are a measurement's; engine_spec_parse() says what is wrong with them. */
static void read_ask(struct parse *ps, const struct yaml_node *n)
{
	const struct yaml_node *map = yaml_want_map(n, "ask", ps->p);
	json_t *j = json_object();
	struct trial_ask ask = {0};
	struct err err = ERR_INIT;

	for (size_t i = 0; map && i < map->pairs.n; i++) {
		const struct yaml_pair *pair = &map->pairs.v[i];
		const char *text = yaml_want_text(pair->value, pair->key, ps->p);

		if (!text)
			continue;
		if (str_eq(pair->key, "test"))
			ask.test = arena_strdup(&ps->t->arena, text);
		ask.warmup = ask.warmup || str_eq(pair->key, "warmup");
		json_object_set_new(j, ask_key(pair->key, text), ask_value(pair->key, text));
	}
	if (map && !ask.test)
		problems_add(ps->p, map->at, "ask: which 'test'?");
	else if (map && engine_spec_parse(j, &ask.spec, &err))
		ask_problems(ps, map, j, err.text);
	else if (map)
		*VEC_ADD(&ps->t->arena, &ps->t->asks) = ask;
	json_decref(j);
}

static void read_asks(struct parse *ps, const struct yaml_node *map)
{
	const struct yaml_node *n = yaml_get(map, "ask");

	if (!n)
		problems_add(ps->p, map->at, "the trial has no 'ask'");
	else if (n->kind == YAML_SEQ)
		VEC_FOREACH (item, &n->items)
			read_ask(ps, *item);
	else
		read_ask(ps, n);
}

/* ---- what is true ---- */

void trial_tolerance(enum figure f, double *share, double *abs)
{
	*share = *abs = 0;
	switch (figure_dimension(f)) {
	case DIM_RATE:
	case DIM_EACH_SECOND:
		*share = 0.02;
		break;
	case DIM_TIME:
		*share = 0.02;
		*abs = 50e-6;
		break;
	case DIM_SHARE:
		*abs = 0.0005;
		break;
	default:
		break;
	}
}

static void read_tolerance(struct parse *ps, const struct yaml_node *map, struct trial_question *q)
{
	const struct yaml_node *n = yaml_get(map, figure_name(q->figure));
	const char *text = yaml_want_text(n, figure_name(q->figure), ps->p);
	struct err err = ERR_INIT;

	trial_tolerance(q->figure, &q->tolerance_share, &q->tolerance_abs);
	if (text && tolerance_parse(text, q->figure, &q->tolerance_share, &q->tolerance_abs, &err))
		problems_add(ps->p, n->at, "tolerance: %s", err.text);
}

static void truth_problem(struct parse *ps, const struct yaml_node *n, const char *why)
{
	static const char *const words[] = {"counted", "predicted", "none"};
	const char *near = str_suggest(n->text, words, ARRAY_SIZE(words));

	if (near)
		problems_add(ps->p, n->at, "'%s' is no truth; did you mean '%s'?", n->text, near);
	else
		problems_add(ps->p, n->at,
			     "%s; the truth is a value, or one of counted, predicted, none", why);
}

static void read_question(struct parse *ps, const struct yaml_pair *pair,
			  const struct yaml_node *tolerances)
{
	const char *text = yaml_want_text(pair->value, pair->key, ps->p);
	struct trial_question q = {.at = pair->key_at};
	struct err err = ERR_INIT;

	if (!text)
		return;
	if (figure_parse(pair->key, &q.figure, &err)) {
		problems_add(ps->p, pair->key_at, "%s", err.text);
		return;
	}
	if (str_eq(text, "counted"))
		q.source = TRUTH_COUNTED;
	else if (str_eq(text, "predicted"))
		q.source = TRUTH_PREDICTED;
	else if (str_eq(text, "none"))
		q.source = TRUTH_NONE;
	else if (tolerance_value(text, q.figure, &q.value, &err))
		truth_problem(ps, pair->value, err.text);
	else
		q.source = TRUTH_FIXED;
	read_tolerance(ps, tolerances, &q);
	*VEC_ADD(&ps->t->arena, &ps->t->questions) = q;
}

static void read_questions(struct parse *ps, const struct yaml_node *map)
{
	const struct yaml_node *truth = yaml_want_map(yaml_get(map, "truth"), "truth", ps->p);
	const struct yaml_node *tolerance =
	    yaml_want_map(yaml_get(map, "tolerance"), "tolerance", ps->p);

	for (size_t i = 0; truth && i < truth->pairs.n; i++)
		read_question(ps, &truth->pairs.v[i], tolerance);
	for (size_t i = 0; tolerance && i < tolerance->pairs.n; i++)
		if (!yaml_get(truth, tolerance->pairs.v[i].key))
			problems_add(ps->p, tolerance->pairs.v[i].key_at,
				     "tolerance of '%s', of which no truth is told",
				     tolerance->pairs.v[i].key);
}

/* ---- what happens ---- */

/* What an event may have besides; other keys are a link's, which the topology's parser knows. */
static const char *const event_keys[] = {"at", "for", "link", "node", "cut", "freeze", "kill"};

/* How many kinds of event it is: must be one. */
static int read_kind(struct parse *ps, const struct yaml_node *map, struct trial_event *e)
{
	const char *who = text_of(ps, map, "kill");
	bool cut = false;
	int kinds = 0;

	yaml_want_bool(yaml_get(map, "cut"), "cut", &cut, ps->p);
	kinds += cut;
	if (yaml_get(map, "freeze")) {
		e->kind = EVENT_FREEZE;
		read_time(ps, map, "freeze", &e->for_ns);
		kinds++;
	}
	if (who) {
		e->kind = EVENT_KILL_SERVER;
		if (!str_eq(who, "server"))
			problems_add(ps->p, map->at, "kill: '%s' is not server", who);
		kinds++;
	}
	schedule_changes(map, event_keys, ARRAY_SIZE(event_keys), &ps->t->arena, &e->change);
	if (e->change.changes.n) {
		e->kind = EVENT_CHANGE;
		kinds++;
	}
	return kinds;
}

static void read_event(struct parse *ps, const struct yaml_node *n)
{
	const struct yaml_node *map = yaml_want_map(n, "event", ps->p);
	struct trial_event e = {.mark = n->at, .at_ns = -1};

	if (!map)
		return;
	read_time(ps, map, "at", &e.at_ns);
	read_time(ps, map, "for", &e.for_ns);
	if (e.at_ns < 0)
		problems_add(ps->p, map->at, "an event has no 'at'");
	e.change.link = text_of(ps, map, "link");
	e.node = text_of(ps, map, "node");
	if (read_kind(ps, map, &e) != 1)
		problems_add(ps->p, map->at,
			     "an event is one of cut, freeze, kill, or changes a link, like "
			     "rate: 5mbit");
	if (yaml_get(map, "for") && e.kind != EVENT_CUT)
		problems_add(ps->p, map->at, "for: only a cut lasts for a while");
	if (e.node && (e.kind != EVENT_CUT || e.change.link))
		problems_add(ps->p, map->at, "node: only a cut takes one, instead of a link");
	if (e.kind != EVENT_KILL_SERVER && !e.node && !e.change.link && !ps->t->link)
		problems_add(ps->p, map->at,
			     "which 'link'? The trial has a topology, and no link of its own");
	*VEC_ADD(&ps->t->arena, &ps->t->events) = e;
}

static void read_step(struct parse *ps, const struct yaml_node *n)
{
	const struct yaml_node *map = yaml_want_map(n, "step", ps->p);
	const struct yaml_node *run = yaml_want_seq(yaml_get(map, "run"), "run", ps->p);
	struct trial_step *s;

	if (!map)
		return;
	yaml_check_keys(map, "step", KEYS("node", "run"), ps->p);
	s = VEC_ADD(&ps->t->arena, &ps->t->before);
	*s = (struct trial_step){.at = n->at, .node = text_of(ps, map, "node")};
	for (size_t i = 0; run && i < run->items.n; i++) {
		const char *text = yaml_want_text(run->items.v[i], "run", ps->p);

		if (text)
			*VEC_ADD(&ps->t->arena, &s->argv) = arena_strdup(&ps->t->arena, text);
	}
	if (!s->node || !s->argv.n)
		problems_add(ps->p, n->at, "a step has a 'node' and what to 'run' there");
}

static void read_course(struct parse *ps, const struct yaml_node *map)
{
	const struct yaml_node *events = yaml_want_seq(yaml_get(map, "events"), "events", ps->p);
	const struct yaml_node *before = yaml_want_seq(yaml_get(map, "before"), "before", ps->p);
	const char *status = text_of(ps, map, "exit");

	for (size_t i = 0; events && i < events->items.n; i++)
		read_event(ps, events->items.v[i]);
	for (size_t i = 0; before && i < before->items.n; i++)
		read_step(ps, before->items.v[i]);
	if (status && str_eq(status, "success"))
		ps->t->exit = WANT_SUCCESS;
	else if (status && str_eq(status, "failure"))
		ps->t->exit = WANT_FAILURE;
	else if (status)
		problems_add(ps->p, yaml_get(map, "exit")->at,
			     "exit: '%s' is neither success nor failure", status);
	read_time(ps, map, "ends_within", &ps->t->ends_within_ns);
}

/* ---- the whole ---- */

static void read_all(struct parse *ps, const struct yaml_node *root)
{
	const struct yaml_node *map = yaml_want_map(root, "a trial", ps->p);
	struct trial *t = ps->t;
	const char *version;

	if (!map)
		return;
	yaml_check_keys(map, "trial",
			KEYS("version", "name", "title", "core", "link", "via", "topology", "from",
			     "to", "alone", "family", "ask", "events", "before", "no_server",
			     "clients", "repeat", "truth", "tolerance", "exit", "ends_within",
			     "explain"),
			ps->p);
	version = text_of(ps, map, "version");
	if (!version || !str_eq(version, "1"))
		problems_add(ps->p, map->at, "version: this program reads version 1");
	t->name = arena_strdup(&t->arena, yaml_want_name(yaml_get(map, "name"), "name", ps->p));
	if (!yaml_get(map, "name"))
		problems_add(ps->p, map->at, "the trial has no 'name'");
	t->title = text_of(ps, map, "title");
	t->explain = text_of(ps, map, "explain");
	yaml_want_bool(yaml_get(map, "core"), "core", &t->core, ps->p);
	yaml_want_bool(yaml_get(map, "alone"), "alone", &t->alone, ps->p);
	yaml_want_bool(yaml_get(map, "no_server"), "no_server", &t->no_server, ps->p);
	t->repeat = t->clients = 1;
	read_int(ps, map, "repeat", 1000, &t->repeat);
	read_int(ps, map, "clients", 16, &t->clients);
	read_place(ps, map);
	read_asks(ps, map);
	read_questions(ps, map);
	read_course(ps, map);
	if (!t->questions.n && t->exit == WANT_EITHER)
		problems_add(ps->p, map->at,
			     "the trial asks for nothing: give it 'truth' or 'exit'");
}

struct trial *trial_parse(const char *name, const char *text, size_t len, struct problems *p)
{
	struct trial *t = mem_zalloc(sizeof(*t));
	struct parse ps = {t, p};
	struct yaml y;

	arena_init(&t->arena);
	t->file = arena_strdup(&t->arena, name);
	if (!yaml_parse(&y, t->file, text, len, p))
		read_all(&ps, y.root);
	yaml_done(&y);
	return t;
}

void trial_free(struct trial *t)
{
	if (!t)
		return;
	arena_done(&t->arena);
	free(t);
}
