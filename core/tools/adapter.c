/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * adapter: reads scenarios/tools/NAME.yaml and says all that is wrong with it: unknown keys,
 * placeholders and units, expressions that do not compile or have no capture. Starts nothing.
 * Called by `vpclab tool` and `vpclab verify`.
 */
#include "core/tools/adapter.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/str.h"
#include "core/base/units.h"
#include "core/tools/command.h"
#include "core/tools/pattern.h"
#include "core/tools/reading.h"

#define KEYS(...)                                                                                  \
	(const char *const[]){__VA_ARGS__}, sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *)

struct parse {
	struct adapter *a;
	struct problems *p;
};

static const char *keep(struct parse *ps, const char *text)
{
	return text ? arena_strdup(&ps->a->arena, text) : NULL;
}

static const char *text_of(struct parse *ps, const struct yaml_node *map, const char *key)
{
	return keep(ps, yaml_want_text(yaml_get(map, key), key, ps->p));
}

/* A text that must be there. */
static const char *need(struct parse *ps, const struct yaml_node *map, const char *key,
			const char *what)
{
	if (map && !yaml_get(map, key))
		problems_add(ps->p, map->at, "%s has no '%s'", what, key);
	return text_of(ps, map, key);
}

/* Does the expression compile and have the capture that is read from it? */
static void check_pattern(struct parse *ps, const struct yaml_node *n, const char *capture)
{
	struct err err = ERR_INIT;
	struct pattern *p;

	if (!n || n->kind != YAML_SCALAR)
		return;
	if (pattern_new(n->text, &p, &err)) {
		problems_add(ps->p, n->at, "%s", err.text);
		return;
	}
	if (capture && !pattern_has(p, capture))
		problems_add(ps->p, n->at,
			     "'%s' has no capture named '%s'; write (?<%s>…) around what is read",
			     n->text, capture, capture);
	pattern_free(p);
}

/* ---- command lines ---- */

static void check_placeholders(struct parse *ps, const char *text, struct mark at)
{
	while ((text = strchr(text, '{'))) {
		autofree char *name = NULL;
		const char *near = NULL;
		size_t len = strcspn(text + 1, "}");

		if (text[1] == '{') {
			text += 2;
			continue;
		}
		if (!text[len + 1]) {
			problems_add(ps->p, at, "'%s': a brace is not closed; '{{' is a brace",
				     text);
			return;
		}
		name = mem_printf("%.*s", (int)len, text + 1);
		if (!command_knows(name, &near))
			problems_add(ps->p, at, "there is no placeholder '{%s}'%s%s%s", name,
				     near ? "; did you mean '{" : "", near ? near : "",
				     near ? "}'?" : "");
		text += len + 1;
	}
}

static void read_group(struct parse *ps, const struct yaml_node *n, struct tool_word *w)
{
	const struct yaml_node *with = yaml_get(n, "with"), *without = yaml_get(n, "without");
	const struct yaml_node *args = yaml_want_seq(yaml_get(n, "args"), "args", ps->p);
	const char *near = NULL;

	yaml_check_keys(n, "group of words", KEYS("with", "without", "args"), ps->p);
	if (!with == !without || !yaml_get(n, "args")) {
		problems_add(ps->p, n->at,
			     "a group of words has 'with' or 'without', and 'args': {with: "
			     "streams, args: [-P, \"{streams}\"]}");
		return;
	}
	w->absent = without;
	w->when = keep(ps, yaml_want_text(with ? with : without, "with", ps->p));
	if (w->when && !command_knows(w->when, &near))
		problems_add(ps->p, n->at, "there is no placeholder '%s'%s%s%s", w->when,
			     near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
	for (size_t i = 0; args && i < args->items.n; i++) {
		const char *text = yaml_want_text(args->items.v[i], "args", ps->p);

		if (!text)
			continue;
		check_placeholders(ps, text, args->items.v[i]->at);
		*VEC_ADD(&ps->a->arena, &w->words) = keep(ps, text);
	}
}

static void read_argv(struct parse *ps, const struct yaml_node *n, struct tool_command *c)
{
	const struct yaml_node *list = yaml_want_seq(n, "argv", ps->p);

	for (size_t i = 0; list && i < list->items.n; i++) {
		const struct yaml_node *item = list->items.v[i];
		struct tool_word *w = VEC_ADD(&ps->a->arena, &c->argv);

		w->at = item->at;
		if (item->kind == YAML_MAP) {
			read_group(ps, item, w);
			continue;
		}
		w->text = keep(ps, yaml_want_text(item, "argv", ps->p));
		if (w->text)
			check_placeholders(ps, w->text, item->at);
	}
	if (list && (!list->items.n || c->argv.v[0].when))
		problems_add(ps->p, list->at, "argv: the first word is the program");
}

static void read_ready(struct parse *ps, const struct yaml_node *n, struct tool_command *c)
{
	const struct yaml_node *map = yaml_want_map(n, "ready", ps->p);
	const char *listen = text_of(ps, map, "listen");

	if (!map)
		return;
	yaml_check_keys(map, "ready", KEYS("listen", "port", "line"), ps->p);
	c->ready_line = text_of(ps, map, "line");
	check_pattern(ps, yaml_get(map, "line"), NULL);
	c->ready_port = text_of(ps, map, "port");
	if (c->ready_port)
		check_placeholders(ps, c->ready_port, map->at);
	if (listen && str_eq(listen, "tcp"))
		c->ready = READY_LISTEN_TCP;
	else if (listen && str_eq(listen, "udp"))
		c->ready = READY_LISTEN_UDP;
	else if (listen)
		problems_add(ps->p, map->at, "listen: '%s' is neither tcp nor udp", listen);
	else if (c->ready_line)
		c->ready = READY_LINE;
	else
		problems_add(ps->p, map->at,
			     "ready: say when, {listen: tcp}, {listen: udp} or {line: …}");
}

static void read_stop(struct parse *ps, const struct yaml_node *n, struct tool_command *c)
{
	static const struct {
		const char *name;
		int signal;
	} signals[] = {{"SIGINT", SIGINT}, {"SIGTERM", SIGTERM}, {"SIGKILL", SIGKILL}};
	const char *text = yaml_want_text(n, "stop", ps->p);

	c->stop_signal = SIGINT;
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		if (text && str_eq(text, signals[i].name)) {
			c->stop_signal = signals[i].signal;
			return;
		}
	if (text)
		problems_add(ps->p, n->at, "stop: '%s' is not one of SIGINT, SIGTERM, SIGKILL",
			     text);
}

static void read_command(struct parse *ps, const struct yaml_node *n, const char *what,
			 struct tool_command *c)
{
	const struct yaml_node *map = yaml_want_map(n, what, ps->p);

	if (!map)
		return;
	yaml_check_keys(map, what, KEYS("argv", "ready", "ends", "stop"), ps->p);
	c->given = true;
	if (!yaml_get(map, "argv"))
		problems_add(ps->p, map->at, "%s has no 'argv'", what);
	read_argv(ps, yaml_get(map, "argv"), c);
	read_ready(ps, yaml_get(map, "ready"), c);
	yaml_want_bool(yaml_get(map, "ends"), "ends", &c->ends, ps->p);
	read_stop(ps, yaml_get(map, "stop"), c);
	if (str_eq(what, "server") && !yaml_get(map, "ready"))
		problems_add(ps->p, map->at,
			     "server: say when it is ready: ready: {listen: tcp}, {listen: udp} or "
			     "{line: …}");
}

/* ---- readings ---- */

static int read_word(struct parse *ps, const struct yaml_node *map, const char *key,
		     const char *const *words)
{
	const struct yaml_node *n = yaml_get(map, key);
	const char *text = yaml_want_text(n, key, ps->p);
	autostr struct strbuf all = {0};

	for (int i = 0; text && words[i]; i++) {
		if (str_eq(text, words[i]))
			return i;
		strbuf_addf(&all, "%s%s", i ? ", " : "", words[i]);
	}
	if (text)
		problems_add(ps->p, n->at, "%s: '%s' is not one of %s", key, text,
			     strbuf_text(&all));
	return 0;
}

static void read_source(struct parse *ps, const struct yaml_node *map, struct tool_read *r)
{
	static const char *const sources[] = {"client.stdout",
					      "client.stderr",
					      "server.stdout",
					      "server.stderr",
					      "client.json",
					      "server.json",
					      NULL};
	static const enum tool_source from[] = {FROM_CLIENT_OUT, FROM_CLIENT_ERR, FROM_SERVER_OUT,
						FROM_SERVER_ERR, FROM_CLIENT_OUT, FROM_SERVER_OUT};
	int i = read_word(ps, map, "from", sources);
	struct err err = ERR_INIT;

	r->from = from[i];
	r->path = text_of(ps, map, "path");
	r->match = text_of(ps, map, "match");
	if (i >= 4 && !r->path)
		problems_add(ps->p, map->at,
			     "a figure from JSON needs a 'path', such as "
			     "end.sum.bits_per_second");
	if (i < 4 && !r->match)
		problems_add(ps->p, map->at,
			     "a figure from text needs a 'match', such as '(?<value>[\\d.]+) "
			     "Mbits/sec'");
	if (r->path && r->match)
		problems_add(ps->p, map->at, "give either 'path' or 'match', not both");
	if (r->path && reading_check_path(r->path, &err))
		problems_add(ps->p, yaml_get(map, "path")->at, "%s", err.text);
	check_pattern(ps, yaml_get(map, "match"), "value");
}

/* A unit is written here, or read from the text, never guessed. */
static void read_unit(struct parse *ps, const struct yaml_node *map, struct tool_read *r)
{
	struct err err = ERR_INIT;
	struct pattern *p = NULL;
	double factor;

	r->unit = text_of(ps, map, "unit");
	if (r->unit) {
		if (figure_unit(r->unit, figure_dimension(r->figure), &factor, &err))
			problems_add(ps->p, yaml_get(map, "unit")->at, "%s", err.text);
		return;
	}
	if (figure_dimension(r->figure) == DIM_NUMBER) {
		r->unit = "count";
		return;
	}
	if (!r->match || pattern_new(r->match, &p, &err))
		p = NULL;
	if (!p || !pattern_has(p, "unit"))
		problems_add(ps->p, map->at,
			     "%s: say its unit, 'unit: …', or capture it as (?<unit>…)",
			     figure_name(r->figure));
	pattern_free(p);
}

static void read_number(struct parse *ps, const struct yaml_node *map, const char *key, double *v)
{
	const struct yaml_node *n = yaml_get(map, key);
	const char *text = yaml_want_text(n, key, ps->p);
	char *end;

	if (!text)
		return;
	*v = strtod(text, &end);
	if (*end || !isfinite(*v))
		problems_add(ps->p, n->at, "%s: '%s' is not a number", key, text);
}

static void read_read(struct parse *ps, const struct yaml_node *n, struct tool_test *t)
{
	static const char *const picks[] = {"last", "first", "sum", "mean", "min", "max", NULL};
	static const char *const sides[] = {"claimed", "sender", "receiver", NULL};
	const struct yaml_node *map = yaml_want_map(n, "read", ps->p);
	struct tool_read r = {.at = n->at, .headline = true, .factor = 1, .absent = NAN};
	struct err err = ERR_INIT;

	if (!map)
		return;
	yaml_check_keys(map, "read",
			KEYS("metric", "from", "path", "match", "pick", "unit", "factor", "side",
			     "headline", "series", "absent"),
			ps->p);
	const char *metric = need(ps, map, "metric", "a read");
	if (!metric)
		return;
	if (figure_parse(metric, &r.figure, &err)) {
		problems_add(ps->p, yaml_get(map, "metric")->at, "%s", err.text);
		return;
	}
	VEC_FOREACH (other, &t->reads)
		r.headline = r.headline && !(other->headline && other->figure == r.figure);
	if (!yaml_get(map, "from"))
		problems_add(ps->p, map->at, "a read has no 'from', such as client.stdout");
	else
		read_source(ps, map, &r);
	read_unit(ps, map, &r);
	read_number(ps, map, "factor", &r.factor);
	read_number(ps, map, "absent", &r.absent);
	if (r.factor <= 0)
		problems_add(ps->p, yaml_get(map, "factor")->at, "factor: must be above 0");
	r.pick = (enum tool_pick)read_word(ps, map, "pick", picks);
	r.side = (enum tool_side)read_word(ps, map, "side", sides);
	yaml_want_bool(yaml_get(map, "headline"), "headline", &r.headline, ps->p);
	yaml_want_bool(yaml_get(map, "series"), "series", &r.series, ps->p);
	r.headline = r.headline && !r.series;
	*VEC_ADD(&ps->a->arena, &t->reads) = r;
}

/* ---- tests ---- */

static void read_exits(struct parse *ps, const struct yaml_node *n, struct tool_test *t)
{
	const struct yaml_node *map = yaml_want_map(n, "exit", ps->p);

	for (size_t i = 0; map && i < map->pairs.n; i++) {
		const struct yaml_pair *pair = &map->pairs.v[i];
		const char *word = yaml_want_text(pair->value, "exit", ps->p);
		struct err err = ERR_INIT;
		int64_t status;

		if (units_parse_int(pair->key, 0, 255, &status, &err))
			problems_add(ps->p, pair->key_at, "exit: %s", err.text);
		else if (word && !str_eq(word, "ok") && !str_eq(word, "error"))
			problems_add(ps->p, pair->value->at, "exit: '%s' is neither ok nor error",
				     word);
		else if (word)
			*VEC_ADD(&ps->a->arena, &t->exits) =
			    (struct tool_exit){(int)status, str_eq(word, "ok")};
	}
}

static void read_warnings(struct parse *ps, const struct yaml_node *n, struct tool_test *t)
{
	const struct yaml_node *list = yaml_want_seq(n, "warnings", ps->p);

	for (size_t i = 0; list && i < list->items.n; i++) {
		const char *text = yaml_want_text(list->items.v[i], "warnings", ps->p);

		check_pattern(ps, list->items.v[i], NULL);
		if (text)
			*VEC_ADD(&ps->a->arena, &t->warnings) = keep(ps, text);
	}
}

static void read_sizes(struct parse *ps, const struct yaml_node *map, struct tool_test *t)
{
	const struct yaml_node *size = yaml_get(map, "default_size"),
			       *start = yaml_get(map, "start");
	const char *a = yaml_want_text(size, "default_size", ps->p);
	const char *b = yaml_want_text(start, "start", ps->p);
	struct err err = ERR_INIT;
	int64_t v;

	if (a && units_parse_size(a, &v, &err))
		problems_add(ps->p, size->at, "default_size: %s", err.text);
	else if (a)
		t->default_size = (double)v;
	if (b && units_parse_time(b, &v, &err))
		problems_add(ps->p, start->at, "start: %s", err.text);
	else if (b)
		t->start_s = (double)v / 1e9;
}

static void read_test(struct parse *ps, const struct yaml_pair *pair)
{
	const struct yaml_node *map = yaml_want_map(pair->value, pair->key, ps->p);
	struct tool_test *t = VEC_ADD(&ps->a->arena, &ps->a->tests);

	t->name = keep(ps, pair->key);
	t->at = pair->key_at;
	if (!map)
		return;
	yaml_check_keys(
	    map, "test",
	    KEYS("server", "client", "reads", "exit", "warnings", "default_size", "start"), ps->p);
	read_command(ps, yaml_get(map, "server"), "server", &t->server);
	read_command(ps, yaml_get(map, "client"), "client", &t->client);
	if (!yaml_get(map, "client"))
		problems_add(ps->p, map->at, "test '%s' has no 'client'", pair->key);
	const struct yaml_node *reads = yaml_want_seq(yaml_get(map, "reads"), "reads", ps->p);
	for (size_t i = 0; reads && i < reads->items.n; i++)
		read_read(ps, reads->items.v[i], t);
	if (!reads || !reads->items.n)
		problems_add(ps->p, map->at, "test '%s' reads nothing: give it 'reads'", pair->key);
	read_exits(ps, yaml_get(map, "exit"), t);
	read_warnings(ps, yaml_get(map, "warnings"), t);
	read_sizes(ps, map, t);
}

static void read_find(struct parse *ps, const struct yaml_node *n)
{
	const struct yaml_node *map = yaml_want_map(n, "find", ps->p);
	const struct yaml_node *package = yaml_want_map(yaml_get(map, "package"), "package", ps->p);
	const struct yaml_node *version = yaml_want_map(yaml_get(map, "version"), "version", ps->p);
	struct adapter *a = ps->a;

	if (!map)
		return;
	yaml_check_keys(map, "find", KEYS("program", "package", "version"), ps->p);
	a->program = need(ps, map, "program", "find");
	if (package) {
		yaml_check_keys(package, "package", KEYS("debian", "fedora"), ps->p);
		a->package_debian = text_of(ps, package, "debian");
		a->package_fedora = text_of(ps, package, "fedora");
	}
	if (!version)
		return;
	yaml_check_keys(version, "version", KEYS("args", "match"), ps->p);
	a->version_match = need(ps, version, "match", "version");
	check_pattern(ps, yaml_get(version, "match"), "version");
	const struct yaml_node *args = yaml_want_seq(yaml_get(version, "args"), "args", ps->p);
	for (size_t i = 0; args && i < args->items.n; i++) {
		const char *text = yaml_want_text(args->items.v[i], "args", ps->p);

		if (text)
			*VEC_ADD(&a->arena, &a->version_args) = keep(ps, text);
	}
}

/* "all", "3.12", "3.0..3.13", "3.14..", "..3.13" */
static void read_versions(struct parse *ps, const char *text, struct tool_fault *f)
{
	const char *dots = text ? strstr(text, "..") : NULL;

	if (!text || str_eq(text, "all"))
		return;
	if (!dots) {
		f->least = f->most = text;
		return;
	}
	if (dots > text)
		f->least = arena_printf(&ps->a->arena, "%.*s", (int)(dots - text), text);
	if (dots[2])
		f->most = dots + 2;
}

static void read_fault(struct parse *ps, const struct yaml_node *n)
{
	const struct yaml_node *map = yaml_want_map(n, "known fault", ps->p);
	struct tool_fault f = {0};

	if (!map)
		return;
	yaml_check_keys(map, "known fault", KEYS("id", "kind", "trials", "versions", "reference"),
			ps->p);
	f.id = need(ps, map, "id", "a known fault");
	f.kind = text_of(ps, map, "kind");
	f.reference = need(ps, map, "reference", "a known fault");
	read_versions(ps, text_of(ps, map, "versions"), &f);
	const struct yaml_node *trials = yaml_get(map, "trials");
	if (trials && trials->kind == YAML_SEQ) {
		autostr struct strbuf all = {0};

		VEC_FOREACH (t, &trials->items) {
			const char *text = yaml_want_text(*t, "trials", ps->p);

			strbuf_addf(&all, " %s", text ? text : "");
		}
		strbuf_addc(&all, ' ');
		f.trials = keep(ps, strbuf_text(&all));
	} else if (trials) {
		f.trials = arena_printf(&ps->a->arena, " %s ",
					yaml_want_text(trials, "trials", ps->p) ?: "");
	}
	*VEC_ADD(&ps->a->arena, &ps->a->faults) = f;
}

static void read_all(struct parse *ps, const struct yaml_node *root)
{
	const struct yaml_node *map = yaml_want_map(root, "an adapter", ps->p);
	const char *version;

	if (!map)
		return;
	yaml_check_keys(map, "adapter",
			KEYS("version", "name", "title", "find", "tests", "known_faults"), ps->p);
	version = need(ps, map, "version", "the adapter");
	if (version && !str_eq(version, "1"))
		problems_add(ps->p, yaml_get(map, "version")->at,
			     "version: this program reads version 1, not '%s'", version);
	ps->a->name = need(ps, map, "name", "the adapter");
	ps->a->title = text_of(ps, map, "title");
	if (!yaml_get(map, "find"))
		problems_add(ps->p, map->at, "the adapter has no 'find'");
	read_find(ps, yaml_get(map, "find"));
	const struct yaml_node *tests = yaml_want_map(yaml_get(map, "tests"), "tests", ps->p);
	for (size_t i = 0; tests && i < tests->pairs.n; i++)
		read_test(ps, &tests->pairs.v[i]);
	if (!tests || !tests->pairs.n)
		problems_add(ps->p, map->at, "the adapter has no 'tests'");
	const struct yaml_node *faults =
	    yaml_want_seq(yaml_get(map, "known_faults"), "known_faults", ps->p);
	for (size_t i = 0; faults && i < faults->items.n; i++)
		read_fault(ps, faults->items.v[i]);
}

struct adapter *adapter_parse(const char *name, const char *text, size_t len, struct problems *p)
{
	struct adapter *a = mem_zalloc(sizeof(*a));
	struct parse ps = {a, p};
	struct yaml y;

	arena_init(&a->arena);
	a->file = arena_strdup(&a->arena, name);
	if (!yaml_parse(&y, a->file, text, len, p))
		read_all(&ps, y.root);
	yaml_done(&y);
	return a;
}

void adapter_free(struct adapter *a)
{
	if (!a)
		return;
	arena_done(&a->arena);
	free(a);
}

const struct tool_test *adapter_test(const struct adapter *a, const char *name)
{
	VEC_FOREACH (t, &a->tests)
		if (str_eq(t->name, name))
			return t;
	return NULL;
}

/* ---- versions ---- */

int adapter_version_compare(const char *a, const char *b)
{
	while (isdigit((unsigned char)*a) || isdigit((unsigned char)*b)) {
		char *end_a, *end_b;
		unsigned long x = strtoul(a, &end_a, 10), y = strtoul(b, &end_b, 10);

		if (x != y)
			return x < y ? -1 : 1;
		a = *end_a == '.' ? end_a + 1 : "";
		b = *end_b == '.' ? end_b + 1 : "";
	}
	return 0;
}

const struct tool_fault *adapter_known(const struct adapter *a, const char *version,
				       const char *kind, const char *trial)
{
	autofree char *word = mem_printf(" %s ", trial);

	VEC_FOREACH (f, &a->faults) {
		if (f->kind && !str_eq(f->kind, kind))
			continue;
		if (f->trials && !strstr(f->trials, word))
			continue;
		if (f->least && adapter_version_compare(version, f->least) < 0)
			continue;
		if (f->most && adapter_version_compare(version, f->most) > 0)
			continue;
		return f;
	}
	return NULL;
}
