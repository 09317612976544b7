/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * scripts: YAML to JSON, node by node, with ready scripts put in and variables changed. What the
 * keys mean is checked by core/engine/script.c alone; the place that it names in the JSON is found
 * again in the YAML. Called by the command line and by scenario files.
 */
#include "core/harness/scripts.h"

#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/file.h"
#include "core/base/mem.h"
#include "core/base/share.h"
#include "core/base/str.h"
#include "core/base/units.h"
#include "core/base/yaml.h"
#include "core/engine/script.h"

#define SCRIPTS_DEEP 40 /* nested nodes; no script is near */

struct loaded { /* one file */
	char *path, *text;
	size_t len;
	struct yaml yaml;
	json_t *json;
};

static int load(const char *name, const char *beside, struct loaded *out, struct err *err);

static bool is_file(const char *path)
{
	struct stat st;
	return !stat(path, &st) && !S_ISDIR(st.st_mode);
}

static char *find_shipped(const char *name)
{
	char *dir;
	for (int i = 0; !strchr(name, '/') && (dir = share_place(SCRIPTS_KIND, i)); i++) {
		char *path = mem_printf("%s/%s.yaml", dir, name);
		free(dir);
		if (is_file(path))
			return path;
		free(path);
	}
	return NULL;
}

static int not_found(const char *name, struct err *err)
{
	struct share_names names;
	struct arena a;
	arena_init(&a);
	share_names(SCRIPTS_KIND, &a, &names);
	const char *near = str_suggest(name, names.list.v, names.list.n);
	autostr struct strbuf all = {0};
	for (size_t i = 0; i < names.list.n; i++)
		strbuf_addf(&all, "%s%s", i ? ", " : "", names.list.v[i]);
	if (near)
		err_input(err, "no script '%s', file or shipped; did you mean '%s'?", name, near);
	else
		err_input(err, "no script '%s', file or shipped; shipped are %s", name,
			  strbuf_text(&all));
	arena_done(&a);
	return -ENOENT;
}

/* A file as it is named, beside the one that names it, or a shipped script. */
static int find(const char *name, const char *beside, char **path, struct err *err)
{
	const char *slash = beside ? strrchr(beside, '/') : NULL;
	if (slash && name[0] != '/') {
		*path = mem_printf("%.*s/%s", (int)(slash - beside), beside, name);
		if (is_file(*path))
			return 0;
		free(*path);
	}
	*path = str_eq(name, "-") || is_file(name) ? mem_strdup(name) : find_shipped(name);
	return *path ? 0 : not_found(name, err);
}

static json_t *to_json(const struct yaml_node *n, int depth)
{
	json_t *j;
	if (depth > SCRIPTS_DEEP)
		return json_null();
	switch (n->kind) {
	case YAML_SCALAR:
		if (!n->quoted && (str_eq(n->text, "true") || str_eq(n->text, "false")))
			return json_boolean(str_eq(n->text, "true"));
		return json_string(n->text);
	case YAML_SEQ:
		j = json_array();
		for (size_t i = 0; i < n->items.n; i++)
			json_array_append_new(j, to_json(n->items.v[i], depth + 1));
		return j;
	case YAML_MAP:
		j = json_object();
		VEC_FOREACH (pair, &n->pairs)
			json_object_set_new(j, pair->key, to_json(pair->value, depth + 1));
		return j;
	case YAML_NULL:
		break;
	}
	return json_null();
}

/* What a JSON pointer names in the YAML, or the nearest thing around it. */
static struct mark mark_of(const struct yaml_node *n, const char *pointer, bool key)
{
	struct mark at = n->at;
	while (n && *pointer == '/') {
		size_t len = strcspn(++pointer, "/"), i = strtoul(pointer, NULL, 10);
		const struct yaml_node *next = NULL;
		if (n->kind == YAML_SEQ && i < n->items.n) {
			next = n->items.v[i];
			at = next->at;
		}
		for (i = 0; n->kind == YAML_MAP && i < n->pairs.n; i++) {
			const struct yaml_pair *pair = &n->pairs.v[i];
			if (strlen(pair->key) != len || strncmp(pair->key, pointer, len))
				continue;
			next = pair->value;
			at = (key && !pointer[len]) || !next->at.line ? pair->key_at : next->at;
		}
		pointer += len;
		n = next;
	}
	return at;
}

static int complain(const struct loaded *f, const struct mark *at, struct err *err)
{
	return err_wrap(err, "%s:%d:%d", f->path, at->line, at->column);
}

static int first_problem(const struct problems *p, struct err *err)
{
	const struct problem *first = &p->list.v[0];
	return err_input(err, "%s:%d:%d: %s", first->at.file, first->at.line, first->at.column,
			 first->text);
}

static int read_yaml(struct loaded *f, struct err *err)
{
	struct problems p;
	int r = file_read(f->path, &f->text, &f->len, err);
	if (r)
		return r;
	problems_init(&p);
	r = yaml_parse(&f->yaml, f->path, f->text, f->len, &p);
	if (r || problems_count(&p)) {
		problems_sort(&p);
		r = problems_count(&p) ? first_problem(&p, err)
				       : err_input(err, "%s: this is no YAML", f->path);
	}
	problems_done(&p);
	return r;
}

static void loaded_done(struct loaded *f)
{
	json_decref(f->json);
	yaml_done(&f->yaml);
	free(f->path);
	free(f->text);
}

/* The variables of a file are also those of its group, where that has no others. */
static void own_variables(json_t *file, json_t *group)
{
	json_t *all = json_object(), *own = json_object_get(group, "variables");
	json_object_update(all, json_object_get(file, "variables"));
	if (json_is_object(own))
		json_object_update(all, own);
	json_object_set_new(group, "variables", all);
}

/* One key of a group over what the script has. */
static int change(struct loaded *f, json_t *base, const struct yaml_pair *pair, struct err *err)
{
	json_t *value = to_json(pair->value, 0), *old = json_object_get(base, pair->key);
	bool inside = str_eq(pair->key, "variables") || str_eq(pair->key, "voip");
	if (!inside || !json_is_object(value) || !json_is_object(old)) {
		json_object_set_new(base, pair->key, value);
		return 0;
	}
	VEC_FOREACH (one, &pair->value->pairs) {
		if (str_eq(pair->key, "variables") && !json_object_get(old, one->key)) {
			const char *names[64], *key;
			json_t *ignored;
			size_t n = 0;
			json_object_foreach(old, key, ignored) if (n < 64) names[n++] = key;
			const char *near = str_suggest(one->key, names, n);
			json_decref(value);
			err_input(err, "the script has no variable '%s'%s%s%s", one->key,
				  near ? "; did you mean '" : "", near ? near : "",
				  near ? "'?" : "");
			return complain(f, &one->key_at, err);
		}
	}
	json_object_update(old, value);
	json_decref(value);
	return 0;
}

/* A group that names a script becomes that script's, with its changes. */
static int include(struct loaded *f, size_t index, const struct yaml_node *group, struct err *err)
{
	const struct yaml_node *name = yaml_get(group, "script");
	if (!name)
		return 0;
	if (name->kind != YAML_SCALAR || yaml_get(group, "commands")) {
		err_input(err, name->kind != YAML_SCALAR ? "script: must be a name"
							 : "give 'script' or 'commands', not both");
		return complain(f, &name->at, err);
	}
	struct loaded other;
	int r = load(name->text, f->path, &other, err);
	if (r) {
		if (r == -ENOENT)
			complain(f, &name->at, err);
		return r;
	}
	json_t *base = json_deep_copy(json_array_get(json_object_get(other.json, "groups"), 0));
	own_variables(other.json, base);
	VEC_FOREACH (pair, &group->pairs)
		if (!r && !str_eq(pair->key, "script"))
			r = change(f, base, pair, err);
	json_array_set_new(json_object_get(f->json, "groups"), index, base);
	loaded_done(&other);
	return r;
}

static int checked(const struct loaded *f, struct err *err)
{
	struct script s;
	struct script_where where;
	int r = script_parse(f->json, &s, &where, err);
	script_done(&s);
	if (!r)
		return 0;
	struct mark at = mark_of(f->yaml.root, where.pointer, where.key);
	return complain(f, &at, err);
}

static int load(const char *name, const char *beside, struct loaded *out, struct err *err)
{
	static int nested;
	*out = (struct loaded){0};
	int r = find(name, beside, &out->path, err);
	if (!r)
		r = read_yaml(out, err);
	if (!r) {
		out->json = to_json(out->yaml.root, 0);
		const struct yaml_node *groups = yaml_get(out->yaml.root, "groups");
		if (++nested > 4)
			r = err_input(err, "%s: scripts that name each other", out->path);
		for (size_t i = 0; !r && groups && i < groups->items.n; i++)
			r = include(out, i, groups->items.v[i], err);
		nested--;
	}
	if (!r)
		r = checked(out, err);
	if (r)
		loaded_done(out);
	return r;
}

/* Sets a variable wherever it is; false: nowhere. Suggestions go to `names`. */
static bool set_in(json_t *map, const char *name, json_t *value, const char **names, size_t *n)
{
	const char *key;
	json_t *ignored;
	json_object_foreach(map, key, ignored) if (*n < 64) names[(*n)++] = key;
	if (!json_object_get(map, name))
		return false;
	json_object_set(map, name, value);
	return true;
}

static int set_value(json_t *j, const char *name, json_t *value, struct err *err)
{
	const char *names[64];
	size_t n = 0, i;
	json_t *group;
	bool found = set_in(json_object_get(j, "variables"), name, value, names, &n);
	json_array_foreach(json_object_get(j, "groups"), i, group) found |=
	    set_in(json_object_get(group, "variables"), name, value, names, &n);
	if (found)
		return 0;
	const char *near = str_suggest(name, names, n);
	return err_input(err, "the script has no variable '%s'%s%s%s", name,
			 near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

/* "NAME=VALUE", the value as a file would have it. */
static int set_variable(json_t *j, const char *text, struct err *err)
{
	const char *equals = strchr(text, '=');
	struct problems p;
	struct yaml y;
	if (!equals || equals == text)
		return err_input(err, "'%s' is not like NAME=VALUE", text);
	autofree char *name = mem_printf("%.*s", (int)(equals - text), text);
	problems_init(&p);
	int r = yaml_parse(&y, "the variable", equals + 1, strlen(equals + 1), &p);
	if (r && problems_count(&p))
		r = first_problem(&p, err);
	if (!r) {
		json_t *value = to_json(y.root, 0);
		r = set_value(j, name, value, err);
		json_decref(value);
	}
	yaml_done(&y);
	problems_done(&p);
	return r;
}

static int finish(const struct loaded *f, struct scripts *out, struct err *err)
{
	const char *duration = json_string_value(json_object_get(f->json, "duration")),
		   *title = json_string_value(json_object_get(f->json, "title"));
	struct script s;
	*out = (struct scripts){0};
	int r = script_parse(f->json, &s, NULL, err);
	out->pairs = s.pairs;
	script_done(&s);
	if (!r && duration && units_parse_time(duration, &out->duration_ns, err)) {
		struct mark at = mark_of(f->yaml.root, "/duration", false);
		return complain(f, &at, err);
	}
	if (r)
		return r;
	out->json = json_dumps(f->json, JSON_COMPACT);
	out->title = title ? mem_strdup(title) : NULL;
	return 0;
}

int scripts_load(const struct scripts_source *source, struct scripts *out, struct err *err)
{
	struct loaded f;
	int r = load(source->name, source->beside, &f, err);
	if (r)
		return r;
	for (size_t i = 0; i < source->n_set && !r; i++)
		r = set_variable(f.json, source->set[i], err);
	if (!r && source->n_set)
		r = checked(&f, err);
	if (!r)
		r = finish(&f, out, err);
	loaded_done(&f);
	return r;
}

void scripts_done(struct scripts *s)
{
	free(s->json);
	free(s->title);
	*s = (struct scripts){0};
}
