/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * topology_set: "path=value" overrides, put into the document before it is read, so that every
 * check sees them. Only scalars can be set; maps on the way are made where they are missing. Called
 * by topology.c.
 */
#include <string.h>

#include "core/base/units.h"
#include "emulator/model/parse.h"

struct walk {
	struct yaml *y;
	struct problems *p;
	struct mark at; /* the override itself */
};

static struct yaml_node *new_node(struct walk *w, enum yaml_kind kind)
{
	struct yaml_node *n = arena_alloc(&w->y->arena, sizeof(*n));

	n->kind = kind;
	n->at = w->at;
	return n;
}

/* The pair whose key is the longest head of the path: names may have dots themselves. */
static struct yaml_pair *find_pair(struct yaml_node *map, const char *path)
{
	struct yaml_pair *best = NULL;

	VEC_FOREACH (pair, &map->pairs) {
		size_t len = strlen(pair->key);

		if (str_starts(path, pair->key) && (path[len] == '.' || !path[len]) &&
		    (!best || len > strlen(best->key)))
			best = pair;
	}
	return best;
}

/* The place that the next part of the path names, made if need be; NULL after a problem. */
static struct yaml_node **step_map(struct walk *w, struct yaml_node *map, const char **path)
{
	struct yaml_pair *pair = find_pair(map, *path);

	if (!pair) {
		size_t len = strcspn(*path, ".");

		if (!len) {
			problems_add(w->p, w->at, "the path has an empty part");
			return NULL;
		}
		pair = VEC_ADD(&w->y->arena, &map->pairs);
		pair->key = arena_strndup(&w->y->arena, *path, len);
		pair->key_at = w->at;
		pair->value = new_node(w, YAML_NULL);
	}
	*path += strlen(pair->key);
	return &pair->value;
}

static struct yaml_node **step_seq(struct walk *w, struct yaml_node *seq, const char **path)
{
	size_t len = strcspn(*path, ".");
	autofree char *text = mem_printf("%.*s", (int)len, *path);
	struct err err = ERR_INIT;
	int64_t i;

	if (units_parse_int(text, 0, (int64_t)seq->items.n - 1, &i, &err) < 0) {
		problems_add(w->p, w->at, "'%s' is no place in a list of %zu (the first is 0)",
			     text, seq->items.n);
		return NULL;
	}
	*path += len;
	return &seq->items.v[i];
}

static struct yaml_node **step(struct walk *w, struct yaml_node *n, const char **path)
{
	if (n->kind == YAML_NULL)
		n->kind = YAML_MAP;
	if (n->kind == YAML_MAP)
		return step_map(w, n, path);
	if (n->kind == YAML_SEQ)
		return step_seq(w, n, path);
	problems_add(w->p, w->at, "nothing can be set below the text '%s'", n->text);
	return NULL;
}

void topology_set(struct yaml *y, const char *assignment, struct problems *p)
{
	struct walk w = {.y = y, .p = p};
	const char *equal = strchr(assignment, '=');
	struct yaml_node **place = &y->root, *value;
	const char *path;

	w.at.file = arena_printf(&y->arena, "--set %s", assignment);
	if (!equal || equal == assignment) {
		problems_add(p, w.at, "write it like vms.client.host=h2");
		return;
	}
	path = arena_strndup(&y->arena, assignment, (size_t)(equal - assignment));
	for (;;) {
		place = step(&w, *place, &path);
		if (!place)
			return;
		if (!*path)
			break;
		path++; /* the dot */
	}
	if ((*place)->kind == YAML_MAP || (*place)->kind == YAML_SEQ) {
		problems_add(p, w.at, "only single values can be set, this is %s",
			     yaml_kind_name(*place));
		return;
	}
	value = new_node(&w, YAML_SCALAR);
	value->text = arena_strdup(&y->arena, equal + 1);
	*place = value;
}
