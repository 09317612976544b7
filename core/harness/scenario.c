// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * scenario: reads a scenario file into one struct and reports all that is wrong with it at once.
 * Knows the file's outer shape: names, paths, expectations, comparison, published figures; one
 * measurement is read by measure.c, one sentence by sentence.c. Opens no file but what it is given.
 * Called by run, `vpclab run` and `vpclab validate`.
 */
#include "core/harness/scenario.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "core/base/str.h"
#include "core/base/units.h"
#include "core/base/yaml.h"
#include "core/harness/measure.h"
#include "core/harness/schedule.h"
#include "core/harness/sentence.h"
#include "emulator/model/path.h"

int scenario_find_path(const struct scenario *s, const char *name)
{
	for (size_t i = 0; i < s->paths.n; i++)
		if (str_eq(s->paths.v[i].name, name))
			return (int)i;
	return -1;
}

int scenario_find_measure(const struct scenario *s, const char *name)
{
	for (size_t i = 0; i < s->measures.n; i++)
		if (str_eq(s->measures.v[i].name, name))
			return (int)i;
	return -1;
}

/* `what`: "a path of this scenario" */
static void unknown(const char *name, const char *what, const char *const *names, size_t n,
		    struct mark at, struct problems *p)
{
	const char *near = str_suggest(name, names, n);
	autostr struct strbuf list = {0};

	if (near) {
		problems_add(p, at, "'%s' is not %s; did you mean '%s'?", name, what, near);
		return;
	}
	for (size_t i = 0; i < n; i++)
		strbuf_addf(&list, "%s%s", i ? ", " : "", names[i]);
	problems_add(p, at, "'%s' is not %s; there %s %s", name, what, n == 1 ? "is" : "are",
		     n ? strbuf_text(&list) : "none");
}

#define NAMES_MAX 32 /* more than a message should list */

#define UNKNOWN_OF(list, name, what, at, p)                                                        \
	do {                                                                                       \
		const char *names[NAMES_MAX];                                                      \
		size_t n = 0;                                                                      \
                                                                                                   \
		VEC_FOREACH (it, list)                                                             \
			if (n < NAMES_MAX)                                                         \
				names[n++] = it->name;                                             \
		unknown(name, what, names, n, at, p);                                              \
	} while (0)

void scenario_unknown_path(const struct scenario *s, const char *name, struct mark at,
			   struct problems *p)
{
	UNKNOWN_OF(&s->paths, name, "a path of this scenario", at, p);
}

void scenario_unknown_measure(const struct scenario *s, const char *name, struct mark at,
			      struct problems *p)
{
	UNKNOWN_OF(&s->measures, name, "a measurement of this scenario", at, p);
}

const char *scenario_quantity_name(const struct scenario *s, const struct scenario_quantity *q,
				   char *buf, size_t size)
{
	const struct scenario_measure *m = &s->measures.v[q->measure];

	if (q->metric == metric_find(NULL, m->spec.test))
		snprintf(buf, size, "%s", m->name);
	else
		snprintf(buf, size, "%s.%s", m->name, q->metric->name);
	return buf;
}

const struct scenario_schedule *scenario_schedule_of(const struct scenario *s,
						     const struct scenario_measure *m)
{
	static const struct scenario_schedule none;

	if (m->unshaped)
		return &none;
	return m->schedule.given ? &m->schedule : &s->schedule;
}

double scenario_reference(const struct scenario *s, int measure, const struct metric *m, int path)
{
	VEC_FOREACH (r, &s->references)
		if (r->what.measure == measure && r->what.metric == m && r->what.path == path)
			return r->value;
	return NAN;
}

/* Names are words in sentences, and a dot separates a measurement from its metric. */
static bool name_valid(const char *name)
{
	return name[0] && strcspn(name, " \t\n.,:%'\"") == strlen(name);
}

static void check_name(const struct yaml_pair *pair, const char *what, struct problems *p)
{
	if (!name_valid(pair->key))
		problems_add(
		    p, pair->key_at,
		    "'%s' cannot be the name of a %s: no spaces, dots, commas, colons or quotes",
		    pair->key, what);
}

static void read_path(struct scenario *s, const struct yaml_pair *pair, struct problems *p)
{
	static const char *const keys[] = {"from", "to"};
	const struct yaml_node *map = yaml_want_map(pair->value, pair->key, p);

	check_name(pair, "path", p);
	if (!map)
		return;
	yaml_check_keys(map, "path", keys, ARRAY_SIZE(keys), p);
	const struct yaml_node *from = yaml_get(map, "from"), *to = yaml_get(map, "to");
	struct scenario_path *path = VEC_ADD(&s->arena, &s->paths);
	path->name = arena_strdup(&s->arena, pair->key);
	path->from = arena_strdup(&s->arena, yaml_want_text(from, "from", p));
	path->to = arena_strdup(&s->arena, yaml_want_text(to, "to", p));
	path->from_at = from ? from->at : pair->key_at;
	path->to_at = to ? to->at : pair->key_at;
	path->from_at.file = path->to_at.file = s->file;
	if (!from || !to)
		problems_add(p, pair->key_at, "path '%s' has no '%s'", pair->key,
			     from ? "to" : "from");
}

static void read_paths(struct scenario *s, const struct yaml_node *root, struct problems *p)
{
	const struct yaml_node *map = yaml_want_map(yaml_get(root, "paths"), "paths", p);

	if (!map) {
		if (!yaml_get(root, "paths"))
			problems_add(p, root->at, "there is no 'paths': {NAME: {from: …, to: …}}");
		return;
	}
	VEC_FOREACH (pair, &map->pairs)
		read_path(s, pair, p);
	if (!map->pairs.n)
		problems_add(p, map->at, "'paths' is empty");
}

static void read_measures(struct scenario *s, const struct yaml_node *root, struct problems *p)
{
	const struct yaml_node *map = yaml_want_map(yaml_get(root, "measure"), "measure", p);

	if (!map) {
		if (!yaml_get(root, "measure"))
			problems_add(p, root->at, "there is no 'measure': {NAME: {test: …}}");
		return;
	}
	VEC_FOREACH (pair, &map->pairs) {
		struct scenario_measure m = {.repeat = s->repeat};

		check_name(pair, "measurement", p);
		m.name = arena_strdup(&s->arena, pair->key);
		m.at = pair->key_at;
		m.at.file = s->file;
		measure_parse(pair->value, &m, p);
		if (pair->value->kind == YAML_MAP)
			schedule_parse(yaml_get(pair->value, "schedule"), s->file, &s->arena,
				       &m.schedule, p);
		*VEC_ADD(&s->arena, &s->measures) = m;
	}
	if (!map->pairs.n)
		problems_add(p, map->at, "'measure' is empty");
}

static void read_expects(struct scenario *s, const struct yaml_node *root, struct problems *p)
{
	const struct yaml_node *seq = yaml_want_seq(yaml_get(root, "expect"), "expect", p);

	if (!seq)
		return;
	VEC_FOREACH (item, &seq->items) {
		const char *text = yaml_want_text(*item, "an expectation", p);
		struct scenario_expect e;
		struct mark at = (*item)->at;

		if (!text)
			continue;
		at.file = s->file;
		at.column += (*item)->quoted;
		if (sentence_parse(s, arena_strdup(&s->arena, text), at, &e, p))
			*VEC_ADD(&s->arena, &s->expects) = e;
	}
}

static int find_path_problem(const struct scenario *s, const char *name, struct mark at,
			     struct problems *p)
{
	int path = scenario_find_path(s, name);

	if (path < 0)
		scenario_unknown_path(s, name, at, p);
	return path;
}

static void read_compare_lists(struct scenario *s, const struct yaml_node *map, struct problems *p)
{
	const struct yaml_node *with = yaml_want_seq(yaml_get(map, "with"), "with", p);
	const struct yaml_node *metrics = yaml_want_seq(yaml_get(map, "metrics"), "metrics", p);

	for (size_t i = 0; with && i < with->items.n; i++) {
		const char *name = yaml_want_text(with->items.v[i], "a path", p);
		int path = name ? find_path_problem(s, name, with->items.v[i]->at, p) : -1;

		if (path >= 0)
			*VEC_ADD(&s->arena, &s->compare_with) = path;
	}
	for (size_t i = 0; metrics && i < metrics->items.n; i++) {
		const char *word = yaml_want_text(metrics->items.v[i], "a metric", p);
		struct scenario_quantity q;

		if (word && sentence_metric(s, word, metrics->items.v[i]->at, &q, p))
			*VEC_ADD(&s->arena, &s->compare_metrics) = q;
	}
}

static void read_compare(struct scenario *s, const struct yaml_node *root, struct problems *p)
{
	static const char *const keys[] = {"base", "with", "metrics"};
	const struct yaml_node *map = yaml_want_map(yaml_get(root, "compare"), "compare", p);

	s->compare_base = -1;
	if (!map)
		return;
	yaml_check_keys(map, "compare", keys, ARRAY_SIZE(keys), p);
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (!yaml_get(map, keys[i]))
			problems_add(p, map->at, "'compare' has no '%s'", keys[i]);
	const char *base = yaml_want_text(yaml_get(map, "base"), "base", p);
	if (base)
		s->compare_base = find_path_problem(s, base, yaml_get(map, "base")->at, p);
	read_compare_lists(s, map, p);
}

/* {average: 927.122mbit, …} of one measurement on one path */
static void read_figures(struct scenario *s, int measure, int path, const struct yaml_node *map,
			 struct problems *p)
{
	enum engine_test test = s->measures.v[measure].spec.test;

	VEC_FOREACH (pair, &map->pairs) {
		struct err err = ERR_INIT;
		const struct metric *m = metric_find(pair->key, test);
		const char *text = yaml_want_text(pair->value, pair->key, p);
		double value;

		if (!m) {
			metric_unknown(pair->key, test, &err);
			problems_add(p, pair->key_at, "%s", err.text);
		} else if (text && metric_parse_value(m, text, &value, &err)) {
			problems_add(p, pair->value->at, "%s", err.text);
		} else if (text) {
			*VEC_ADD(&s->arena, &s->references) = (struct scenario_reference){
			    .what = {.measure = measure, .path = path, .metric = m},
			    .value = value,
			};
		}
	}
}

static void read_reference(struct scenario *s, const struct yaml_node *root, struct problems *p)
{
	const struct yaml_node *map = yaml_want_map(yaml_get(root, "reference"), "reference", p);

	if (!map)
		return;
	const char *source = yaml_want_text(yaml_get(map, "source"), "source", p);
	s->reference_source = arena_strdup(&s->arena, source);
	if (!yaml_get(map, "source"))
		problems_add(p, map->at, "'reference' has no 'source': who published the figures?");
	VEC_FOREACH (pair, &map->pairs) {
		struct scenario_quantity q;

		if (str_eq(pair->key, "source"))
			continue;
		const struct yaml_node *paths = yaml_want_map(pair->value, pair->key, p);
		if (!sentence_metric(s, pair->key, pair->key_at, &q, p) || !paths)
			continue;
		VEC_FOREACH (at, &paths->pairs) {
			const struct yaml_node *figures = yaml_want_map(at->value, at->key, p);
			int path = find_path_problem(s, at->key, at->key_at, p);

			if (figures && path >= 0)
				read_figures(s, q.measure, path, figures, p);
		}
	}
}

static void read_sets(struct scenario *s, const struct yaml_node *root, struct problems *p)
{
	const struct yaml_node *map = yaml_want_map(yaml_get(root, "set"), "set", p);

	if (!map)
		return;
	VEC_FOREACH (pair, &map->pairs) {
		const char *value = yaml_want_text(pair->value, pair->key, p);

		if (value)
			*VEC_ADD(&s->arena, &s->sets) =
			    arena_printf(&s->arena, "%s=%s", pair->key, value);
	}
}

/* Relative to the scenario's own directory. */
static void read_topology(struct scenario *s, const struct yaml_node *root, struct problems *p)
{
	const struct yaml_node *node = yaml_get(root, "topology");
	const char *text = yaml_want_text(node, "topology", p);
	const char *slash = strrchr(s->file, '/');

	s->topology_at = node ? node->at : root->at;
	s->topology_at.file = s->file;
	if (!node)
		problems_add(p, root->at, "there is no 'topology': the file to build");
	if (!text)
		return;
	if (text[0] == '/' || !slash)
		s->topology = arena_strdup(&s->arena, text);
	else
		s->topology =
		    arena_printf(&s->arena, "%.*s/%s", (int)(slash - s->file), s->file, text);
}

static void check_version(const struct yaml_node *root, struct problems *p)
{
	const struct yaml_node *node = yaml_get(root, "version");
	const char *text = yaml_want_text(node, "version", p);

	if (!node)
		problems_add(p, root->at, "there is no 'version'; write 'version: 1'");
	else if (text && !str_eq(text, "1"))
		problems_add(p, node->at, "version '%s' is not known; this program reads version 1",
			     text);
}

/* "scenarios/zstack.yaml" → "zstack" */
static const char *name_of_file(struct arena *a, const char *file)
{
	const char *slash = strrchr(file, '/'), *base = slash ? slash + 1 : file;
	const char *dot = strrchr(base, '.');

	return arena_strndup(a, base, dot && dot != base ? (size_t)(dot - base) : strlen(base));
}

static void read_texts(struct scenario *s, const struct yaml_node *root, struct problems *p)
{
	const struct yaml_node *node = yaml_get(root, "name");
	const char *name = yaml_want_text(node, "name", p);

	s->name = name ? arena_strdup(&s->arena, name) : name_of_file(&s->arena, s->file);
	if (name && (!name[0] || strpbrk(name, "/ \t\n")))
		problems_add(p, node->at, "'%s' cannot be a name: no spaces, no slashes", name);
	s->title = arena_strdup(&s->arena, yaml_want_text(yaml_get(root, "title"), "title", p));
	s->lesson = arena_strdup(&s->arena, yaml_want_text(yaml_get(root, "lesson"), "lesson", p));
}

static void read_root(struct scenario *s, const struct yaml_node *root, struct problems *p)
{
	static const char *const keys[] = {"version", "name",	   "title", "topology", "set",
					   "repeat",  "schedule",  "paths", "measure",	"expect",
					   "compare", "reference", "lesson"};

	yaml_check_keys(root, "scenario", keys, ARRAY_SIZE(keys), p);
	check_version(root, p);
	read_texts(s, root, p);
	read_topology(s, root, p);
	read_sets(s, root, p);
	measure_parse_repeat(yaml_get(root, "repeat"), &s->repeat, p);
	schedule_parse(yaml_get(root, "schedule"), s->file, &s->arena, &s->schedule, p);
	read_paths(s, root, p);
	read_measures(s, root, p);
	read_expects(s, root, p);
	read_compare(s, root, p);
	read_reference(s, root, p);
}

struct scenario *scenario_parse(const char *name, const char *text, size_t len, struct problems *p)
{
	struct scenario *s = mem_zalloc(sizeof(*s));
	struct yaml y;

	arena_init(&s->arena);
	s->file = arena_strdup(&s->arena, name);
	s->name = s->title = "";
	s->compare_base = -1;
	s->repeat =
	    (struct scenario_repeat){.confidence = 0.95, .width = 0.02, .min = 3, .max = 10};
	if (!yaml_parse(&y, s->file, text, len, p)) {
		if (yaml_want_map(y.root, "a scenario", p))
			read_root(s, y.root, p);
	}
	yaml_done(&y);
	return s;
}

void scenario_free(struct scenario *s)
{
	if (!s)
		return;
	arena_done(&s->arena);
	free(s);
}

bool scenario_recognise(const char *text, size_t len)
{
	struct problems ignored;
	struct yaml y;
	bool is = false;

	problems_init(&ignored);
	if (!yaml_parse(&y, "", text, len, &ignored))
		is = y.root->kind == YAML_MAP &&
		     (yaml_get(y.root, "topology") || yaml_get(y.root, "measure"));
	yaml_done(&y);
	problems_done(&ignored);
	return is;
}

static void check_end(const struct wire *w, const char *name, struct mark at, struct problems *p)
{
	autofree char *what = mem_printf("an endpoint of topology '%s'", w->name);

	if (name && !wire_find_endpoint(w, name))
		UNKNOWN_OF(&w->endpoints, name, what, at, p);
}

/* The text of a path's error, without the ends, which the problem names itself. */
static const char *reason(const struct err *err, const struct scenario_path *path)
{
	autofree char *prefix = mem_printf("path from %s to %s: ", path->from, path->to);

	return str_starts(err->text, prefix) ? err->text + strlen(prefix) : err->text;
}

static void no_way(const struct scenario_path *path, const struct wire *w, int family,
		   const struct err *err, struct problems *p)
{
	autofree char *eip = mem_printf("eip(%s)", path->to);
	const struct wire_endpoint *e = wire_find_endpoint(w, eip);
	bool has = e && (family == AF_INET6 ? &e->ip6 : &e->ip4)->family;

	problems_add(p, path->to_at, "no way from %s to %s: %s%s%s", path->from, path->to,
		     reason(err, path), has ? "; reach it by " : "", has ? eip : "");
}

/* `answers`: something is measured that needs them. */
static void check_way(const struct scenario_path *path, const struct wire *w, int family,
		      bool answers, struct problems *p)
{
	struct path there = {0}, back = {0};
	struct err err = ERR_INIT;

	if (path_find(w, path->from, path->to, family, &there, &err))
		no_way(path, w, family, &err, p);
	else if (answers && path_reverse(w, &there, &back, &err))
		problems_add(p, path->to_at, "no %s", err.text);
	path_done(&there);
	path_done(&back);
}

/* Each family that is measured, once. */
/* Datagrams that only go forward need no way back. */
static bool needs_answers(enum engine_test test)
{
	struct engine_traits t = engine_test_traits(test);

	return !t.datagram || !t.stream || t.way != WAY_FORWARD;
}

static void check_ways(const struct scenario *s, const struct scenario_path *path,
		       const struct wire *w, struct problems *p)
{
	static const int families[] = {AF_INET, AF_INET6};

	for (size_t i = 0; i < ARRAY_SIZE(families); i++) {
		bool wanted = false, answers = false;

		VEC_FOREACH (m, &s->measures) {
			wanted = wanted || m->family == families[i];
			answers =
			    answers || (m->family == families[i] && needs_answers(m->spec.test));
		}
		if (wanted)
			check_way(path, w, families[i], answers, p);
	}
}

void scenario_check(const struct scenario *s, const struct wire *w, struct problems *p)
{
	VEC_FOREACH (path, &s->paths) {
		size_t before = problems_count(p);

		check_end(w, path->from, path->from_at, p);
		check_end(w, path->to, path->to_at, p);
		if (path->from && path->to && problems_count(p) == before)
			check_ways(s, path, w, p);
	}
}
