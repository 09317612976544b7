/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * topology_set: "path=value" overrides, put into the document before it is read, so that every
 * check sees them. A value that begins with { or [ is YAML in flow style, any other one is a text;
 * an empty one takes the key away. Maps on the way are made where they are missing. Called by
 * topology.c and link_set.c.
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

/* A copy of what was read from the value, which stands where the override does. */
static struct yaml_node *copy(struct walk *w, const struct yaml_node *from)
{
	struct yaml_node *n = new_node(w, from->kind);

	n->text = arena_strdup(&w->y->arena, from->text);
	n->quoted = from->quoted;
	VEC_FOREACH (item, &from->items)
		*VEC_ADD(&w->y->arena, &n->items) = copy(w, *item);
	VEC_FOREACH (pair, &from->pairs)
		*VEC_ADD(&w->y->arena, &n->pairs) =
		    (struct yaml_pair){.key = arena_strdup(&w->y->arena, pair->key),
				       .key_at = w->at,
				       .value = copy(w, pair->value)};
	return n;
}

/* NULL after a problem. */
static struct yaml_node *flow_value(struct walk *w, const char *text)
{
	struct yaml_node *n = NULL;
	struct problems found;
	struct yaml y;

	problems_init(&found);
	yaml_parse(&y, w->at.file, text, strlen(text), &found);
	if (problems_count(&found))
		problems_add(w->p, w->at, "%s", found.list.v[0].text);
	else
		n = copy(w, y.root);
	yaml_done(&y);
	problems_done(&found);
	return n;
}

static struct yaml_node *read_value(struct walk *w, const char *text)
{
	struct yaml_node *n;

	if (*text == '{' || *text == '[')
		return flow_value(w, text);
	n = new_node(w, YAML_SCALAR);
	n->text = arena_strdup(&w->y->arena, text);
	return n;
}

/* Takes the key at the end of the path out of its map; there may be none. */
static void remove_key(struct walk *w, struct yaml_node *n, const char *path)
{
	struct yaml_pair *pair = NULL;

	for (;;) {
		if (n->kind == YAML_SEQ) {
			struct yaml_node **place = step_seq(w, n, &path);

			if (place && !*path)
				problems_add(w->p, w->at, "an item of a list cannot be taken away");
			if (!place || !*path)
				return;
			n = *place;
		} else {
			pair = n->kind == YAML_MAP ? find_pair(n, path) : NULL;
			if (!pair)
				return;
			path += strlen(pair->key);
			if (!*path)
				break;
			n = pair->value;
		}
		path++; /* the dot */
	}
	size_t after = (size_t)(n->pairs.v + n->pairs.n - (pair + 1));
	memmove(pair, pair + 1, after * sizeof(*pair)); /* file order stays */
	n->pairs.n--;
}

static void put(struct walk *w, const char *path, const char *text)
{
	struct yaml_node **place = &w->y->root, *value;

	for (;;) {
		place = step(w, *place, &path);
		if (!place)
			return;
		if (!*path)
			break;
		path++; /* the dot */
	}
	value = read_value(w, text);
	if (value)
		*place = value;
}

void topology_set(struct yaml *y, const char *assignment, struct problems *p)
{
	struct walk w = {.y = y, .p = p};
	const char *equal = strchr(assignment, '='), *path;

	w.at.file = arena_printf(&y->arena, TOPOLOGY_SET_PREFIX "%s", assignment);
	if (!equal || equal == assignment) {
		problems_add(p, w.at, "write it like vms.client.host=h2");
		return;
	}
	path = arena_strndup(&y->arena, assignment, (size_t)(equal - assignment));
	if (equal[1])
		put(&w, path, equal + 1);
	else
		remove_key(&w, y->root, path);
}
