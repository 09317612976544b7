/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * adapter: reads scenarios/tools/NAME.yaml and says all that is wrong with it: unknown keys,
 * placeholders and units, expressions that do not compile or have no capture. Starts nothing.
 * Called by `vpclab tool` and `vpclab verify`.
 */
#include "core/tools/adapter.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/str.h"
#include "core/base/units.h"
#include "core/tools/adapter_parse.h"
#include "core/tools/pattern.h"

const char *adapter_parse_keep(struct adapter_parse *ps, const char *text)
{
	return text ? arena_strdup(&ps->a->arena, text) : NULL;
}

const char *adapter_parse_text(struct adapter_parse *ps, const struct yaml_node *map,
			       const char *key)
{
	return adapter_parse_keep(ps, yaml_want_text(yaml_get(map, key), key, ps->p));
}

/* A text that must be there. */
const char *adapter_parse_need(struct adapter_parse *ps, const struct yaml_node *map,
			       const char *key, const char *what)
{
	if (map && !yaml_get(map, key))
		problems_add(ps->p, map->at, "%s has no '%s'", what, key);
	return adapter_parse_text(ps, map, key);
}

/* Does the expression compile and have the capture that is read from it? */
void adapter_parse_pattern(struct adapter_parse *ps, const struct yaml_node *n, const char *capture)
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

/* ---- tests ---- */

static void read_exits(struct adapter_parse *ps, const struct yaml_node *n, struct tool_test *t)
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

static void read_warnings(struct adapter_parse *ps, const struct yaml_node *n, struct tool_test *t)
{
	const struct yaml_node *list = yaml_want_seq(n, "warnings", ps->p);

	for (size_t i = 0; list && i < list->items.n; i++) {
		const char *text = yaml_want_text(list->items.v[i], "warnings", ps->p);

		adapter_parse_pattern(ps, list->items.v[i], NULL);
		if (text)
			*VEC_ADD(&ps->a->arena, &t->warnings) = adapter_parse_keep(ps, text);
	}
}

static void read_sizes(struct adapter_parse *ps, const struct yaml_node *map, struct tool_test *t)
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

static void read_test(struct adapter_parse *ps, const struct yaml_pair *pair)
{
	const struct yaml_node *map = yaml_want_map(pair->value, pair->key, ps->p);
	struct tool_test *t = VEC_ADD(&ps->a->arena, &ps->a->tests);

	t->name = adapter_parse_keep(ps, pair->key);
	t->at = pair->key_at;
	if (!map)
		return;
	yaml_check_keys(
	    map, "test",
	    ADAPTER_KEYS("server", "client", "reads", "exit", "warnings", "default_size", "start"),
	    ps->p);
	adapter_parse_command(ps, yaml_get(map, "server"), "server", &t->server);
	adapter_parse_command(ps, yaml_get(map, "client"), "client", &t->client);
	if (!yaml_get(map, "client"))
		problems_add(ps->p, map->at, "test '%s' has no 'client'", pair->key);
	const struct yaml_node *reads = yaml_want_seq(yaml_get(map, "reads"), "reads", ps->p);
	for (size_t i = 0; reads && i < reads->items.n; i++)
		adapter_parse_read(ps, reads->items.v[i], t);
	if (!reads || !reads->items.n)
		problems_add(ps->p, map->at, "test '%s' reads nothing: give it 'reads'", pair->key);
	read_exits(ps, yaml_get(map, "exit"), t);
	read_warnings(ps, yaml_get(map, "warnings"), t);
	read_sizes(ps, map, t);
}

/* With a slash it is a file, relative to the adapter's own folder; else PATH has it. */
static void read_program(struct adapter_parse *ps, const char *text)
{
	const char *slash = strrchr(ps->a->file, '/');

	ps->a->program = text;
	if (text && str_starts(text, "./"))
		text += 2;
	if (text && strchr(ps->a->program, '/') && text[0] != '/' && slash)
		ps->a->program = arena_printf(&ps->a->arena, "%.*s/%s", (int)(slash - ps->a->file),
					      ps->a->file, text);
}

static void read_find(struct adapter_parse *ps, const struct yaml_node *n)
{
	const struct yaml_node *map = yaml_want_map(n, "find", ps->p);
	const struct yaml_node *package = yaml_want_map(yaml_get(map, "package"), "package", ps->p);
	const struct yaml_node *version = yaml_want_map(yaml_get(map, "version"), "version", ps->p);
	struct adapter *a = ps->a;

	if (!map)
		return;
	yaml_check_keys(map, "find", ADAPTER_KEYS("program", "package", "version"), ps->p);
	read_program(ps, adapter_parse_need(ps, map, "program", "find"));
	if (package) {
		yaml_check_keys(package, "package", ADAPTER_KEYS("debian", "fedora"), ps->p);
		a->package_debian = adapter_parse_text(ps, package, "debian");
		a->package_fedora = adapter_parse_text(ps, package, "fedora");
	}
	if (!version)
		return;
	yaml_check_keys(version, "version", ADAPTER_KEYS("args", "match"), ps->p);
	a->version_match = adapter_parse_need(ps, version, "match", "version");
	adapter_parse_pattern(ps, yaml_get(version, "match"), "version");
	const struct yaml_node *args = yaml_want_seq(yaml_get(version, "args"), "args", ps->p);
	for (size_t i = 0; args && i < args->items.n; i++) {
		const char *text = yaml_want_text(args->items.v[i], "args", ps->p);

		if (text)
			*VEC_ADD(&a->arena, &a->version_args) = adapter_parse_keep(ps, text);
	}
}

/* A bound of a range: nothing, or a version as adapter_version_compare() reads it. */
static bool is_version(const char *text)
{
	return !*text || (isdigit((unsigned char)*text) && !strstr(text, ".."));
}

/* "all", "3.12", "3.0..3.13", "3.14..", "..3.13" */
static void read_versions(struct adapter_parse *ps, const struct yaml_node *n, struct tool_fault *f)
{
	const char *text = yaml_want_text(n, "versions", ps->p);
	const char *dots = text ? strstr(text, "..") : NULL;

	if (!text || str_eq(text, "all"))
		return;
	f->least = dots ? arena_printf(&ps->a->arena, "%.*s", (int)(dots - text), text)
			: adapter_parse_keep(ps, text);
	f->most = dots ? adapter_parse_keep(ps, dots + 2) : f->least;
	if (!is_version(f->least) || !is_version(f->most) || (!*f->least && !*f->most)) {
		problems_add(ps->p, n->at,
			     "versions: '%s' is none of all, 3.12, 3.0..3.13, 3.14.., ..3.13",
			     text);
		return;
	}
	if (*f->least && *f->most && adapter_version_compare(f->least, f->most) > 0)
		problems_add(ps->p, n->at, "versions: '%s' ends before it begins", text);
	f->least = *f->least ? f->least : NULL;
	f->most = *f->most ? f->most : NULL;
}

static void read_fault(struct adapter_parse *ps, const struct yaml_node *n)
{
	const struct yaml_node *map = yaml_want_map(n, "known fault", ps->p);
	struct tool_fault f = {.at = n->at};

	if (!map)
		return;
	yaml_check_keys(map, "known fault",
			ADAPTER_KEYS("id", "kind", "trials", "versions", "reference"), ps->p);
	f.id = adapter_parse_need(ps, map, "id", "a known fault");
	f.kind = adapter_parse_text(ps, map, "kind");
	f.reference = adapter_parse_need(ps, map, "reference", "a known fault");
	read_versions(ps, yaml_get(map, "versions"), &f);
	const struct yaml_node *trials = yaml_get(map, "trials");
	if (trials && trials->kind == YAML_SEQ) {
		autostr struct strbuf all = {0};

		VEC_FOREACH (t, &trials->items) {
			const char *text = yaml_want_text(*t, "trials", ps->p);

			strbuf_addf(&all, " %s", text ? text : "");
		}
		strbuf_addc(&all, ' ');
		f.trials = adapter_parse_keep(ps, strbuf_text(&all));
	} else if (trials) {
		f.trials = arena_printf(&ps->a->arena, " %s ",
					yaml_want_text(trials, "trials", ps->p) ?: "");
	}
	*VEC_ADD(&ps->a->arena, &ps->a->faults) = f;
}

/* A command whose first word is the tool's name starts the program that was found. */
static void name_program(const struct adapter *a, struct tool_command *c)
{
	const char *first = c->argv.n ? c->argv.v[0].text : NULL;
	const char *base = a->program ? strrchr(a->program, '/') : NULL;

	if (!first || !a->program)
		return;
	base = base ? base + 1 : a->program;
	if (str_eq(first, a->program) || str_eq(first, base) ||
	    (strrchr(first, '/') && str_eq(strrchr(first, '/') + 1, base)))
		c->argv.v[0].text = "{program}";
}

static void read_all(struct adapter_parse *ps, const struct yaml_node *root)
{
	const struct yaml_node *map = yaml_want_map(root, "an adapter", ps->p);
	const char *version;

	if (!map)
		return;
	yaml_check_keys(map, "adapter",
			ADAPTER_KEYS("version", "name", "title", "find", "tests", "known_faults"),
			ps->p);
	version = adapter_parse_need(ps, map, "version", "the adapter");
	if (version && !str_eq(version, "1"))
		problems_add(ps->p, yaml_get(map, "version")->at,
			     "version: this program reads version 1, not '%s'", version);
	ps->a->name =
	    arena_strdup(&ps->a->arena, yaml_want_name(yaml_get(map, "name"), "name", ps->p));
	if (!yaml_get(map, "name"))
		problems_add(ps->p, map->at, "the adapter has no 'name'");
	ps->a->title = adapter_parse_text(ps, map, "title");
	if (!yaml_get(map, "find"))
		problems_add(ps->p, map->at, "the adapter has no 'find'");
	read_find(ps, yaml_get(map, "find"));
	const struct yaml_node *tests = yaml_want_map(yaml_get(map, "tests"), "tests", ps->p);
	for (size_t i = 0; tests && i < tests->pairs.n; i++)
		read_test(ps, &tests->pairs.v[i]);
	if (!tests || !tests->pairs.n)
		problems_add(ps->p, map->at, "the adapter has no 'tests'");
	VEC_FOREACH (t, &ps->a->tests) {
		name_program(ps->a, &t->server);
		name_program(ps->a, &t->client);
	}
	const struct yaml_node *faults =
	    yaml_want_seq(yaml_get(map, "known_faults"), "known_faults", ps->p);
	for (size_t i = 0; faults && i < faults->items.n; i++)
		read_fault(ps, faults->items.v[i]);
}

struct adapter *adapter_parse(const char *name, const char *text, size_t len, struct problems *p)
{
	struct adapter *a = mem_zalloc(sizeof(*a));
	struct adapter_parse ps = {a, p};
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

bool tool_test_takes(const struct tool_test *t, const char *placeholder)
{
	VEC_FOREACH (word, &t->client.argv) {
		if (word->text && strstr(word->text, placeholder))
			return true;
		VEC_FOREACH (inner, &word->words)
			if (strstr(*inner, placeholder))
				return true;
	}
	return false;
}
