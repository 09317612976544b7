/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * link_set: which link is meant, and what a change of it is in its topology. It applies nothing
 * (topology_set.c does) and judges no value. Called by `vpclab set` and by core/harness for a
 * scenario's schedule.
 */
#include "emulator/model/link_set.h"

#include <errno.h>
#include <string.h>

#include "emulator/model/parse.h"

/* ---- which link ---- */

static const char *node_of(const struct wire *w, int dev)
{
	return dev < 0 ? "" : w->nodes.v[w->devs.v[dev].node].name;
}

static bool end_is(const struct wire *w, int dev, const char *node, const char *name)
{
	return dev >= 0 && str_eq(node_of(w, dev), node) && str_eq(w->devs.v[dev].name, name);
}

/* "NODE:DEV" is one of the two ends. */
static int find_by_end(const struct wire *w, const char *text)
{
	const char *colon = strrchr(text, ':');
	autofree char *node = colon ? mem_printf("%.*s", (int)(colon - text), text) : NULL;

	for (size_t i = 0; colon && i < w->links.n; i++) {
		const struct wire_link *l = &w->links.v[i];

		if (end_is(w, l->dev_a, node, colon + 1) || end_is(w, l->dev_b, node, colon + 1))
			return (int)i;
	}
	return -1;
}

/* Links of a node; *only is the last of them. A vNIC's link is its VM's before it is the host's. */
static size_t links_of(const struct wire *w, const char *node, int *only, struct strbuf *names)
{
	size_t n = 0;

	for (size_t i = 0; i < w->links.n; i++) {
		const struct wire_link *l = &w->links.v[i];

		if (!str_eq(node_of(w, l->dev_a), node) && !str_eq(node_of(w, l->dev_b), node))
			continue;
		strbuf_addf(names, "%s'%s'", n++ ? ", " : "", l->name);
		*only = (int)i;
	}
	return n;
}

static int unknown_link(const struct wire *w, const char *name, struct err *err)
{
	autofree const char **names = mem_zalloc((w->links.n + 1) * sizeof(*names));
	autostr struct strbuf list = {0};
	const char *near;

	for (size_t i = 0; i < w->links.n; i++) {
		names[i] = w->links.v[i].name;
		if (i < 12)
			strbuf_addf(&list, "%s'%s'", i ? ", " : "", names[i]);
	}
	near = str_suggest(name, names, w->links.n);
	if (near)
		return err_input(err, "there is no link '%s' in '%s'; did you mean '%s'?", name,
				 w->name, near);
	return err_input(err, "there is no link '%s' in '%s'; there %s %s%s", name, w->name,
			 w->links.n == 1 ? "is" : "are", w->links.n ? strbuf_text(&list) : "none",
			 w->links.n > 12 ? ", …" : "");
}

int link_find(const struct wire *w, const char *name, struct err *err)
{
	autostr struct strbuf names = {0};
	int link = -1;
	size_t n;

	for (size_t i = 0; i < w->links.n; i++) {
		if (str_eq(w->links.v[i].name, name))
			return (int)i;
	}
	link = find_by_end(w, name);
	if (link >= 0)
		return link;
	n = links_of(w, name, &link, &names);
	if (n > 1)
		return err_input(err, "'%s' has %zu links; say which: %s", name, n,
				 strbuf_text(&names));
	return n ? link : unknown_link(w, name, err);
}

/* ---- what a change of it is ---- */

/* The keys that the map at this path may have; NULL: not a link's. */
static const struct parse_keys *keys_of(const char *path)
{
	const char *nic = strstr(path, ".nic"), *vnic = strstr(path, ".vnic");

	if (str_starts(path, "links."))
		return &parse_keys_link;
	if (vnic)
		return &parse_keys_vnic;
	return nic ? &parse_keys_nic : NULL;
}

/* The node that the path names, or NULL. Names may have dots, so the longest key counts. */
static const struct yaml_node *node_at(const struct yaml_node *n, const char *path)
{
	while (n && *path) {
		const struct yaml_pair *best = NULL;
		size_t len = strcspn(path, "."), i;

		if (n->kind == YAML_SEQ) {
			i = strtoul(path, NULL, 10);
			n = i < n->items.n ? n->items.v[i] : NULL;
		} else {
			for (i = 0; n->kind == YAML_MAP && i < n->pairs.n; i++) {
				const struct yaml_pair *pair = &n->pairs.v[i];
				size_t key = strlen(pair->key);

				if (str_starts(path, pair->key) &&
				    (path[key] == '.' || !path[key]) &&
				    (!best || key > strlen(best->key)))
					best = pair;
			}
			n = best ? best->value : NULL;
			len = best ? strlen(best->key) : len;
		}
		path += len + (path[len] == '.');
	}
	return n;
}

/* Taking away what cannot be there is a slip of the pen: the parser's own words for it. */
static int check_key(const struct parse_keys *keys, const char *key, struct err *err)
{
	bool direction = str_starts(key, "ab.") || str_starts(key, "ba.");
	const char *word = direction ? key + 3 : key;
	struct yaml_node map = {.kind = YAML_MAP};
	struct arena a;
	struct problems p;
	int rc = 0;

	if (keys == &parse_keys_link && direction)
		keys = &parse_keys_direction;
	arena_init(&a);
	problems_init(&p);
	*VEC_ADD(&a, &map.pairs) = (struct yaml_pair){
	    .key = arena_strndup(&a, word, strcspn(word, ".")),
	    .value = arena_alloc(&a, sizeof(struct yaml_node)),
	};
	parse_keys_check(keys, &map, &p);
	if (problems_count(&p))
		rc = err_input(err, "%s=: %s", key, p.list.v[0].text);
	problems_done(&p);
	arena_done(&a);
	return rc;
}

/* A host's card has no impairments of its own: those of the fabric are all hosts'. */
static const char *place_of(const struct parse_keys *keys, const char *path, const char *key)
{
	autofree char *word = mem_printf("%.*s", (int)strcspn(key, "."), key);

	for (size_t i = 0; keys == &parse_keys_nic && parse_impair_keys[i]; i++) {
		if (str_eq(parse_impair_keys[i], word))
			return "fabric";
	}
	return path;
}

/* What the directions have of the key's first word for themselves goes. */
static void clear_directions(const struct yaml_node *link, const char *path, const char *key,
			     struct link_sets *out)
{
	static const char *const directions[] = {"ab", "ba"};
	autofree char *word = mem_printf("%.*s", (int)strcspn(key, "."), key);

	for (size_t i = 0; link && link->kind == YAML_MAP && i < ARRAY_SIZE(directions); i++) {
		const struct yaml_node *own = yaml_get(link, directions[i]);

		if (own && own->kind == YAML_MAP && yaml_get(own, word))
			*VEC_ADD(&out->arena, &out->v) =
			    arena_printf(&out->arena, "%s.%s.%s=", path, directions[i], word);
	}
}

static void add_set(struct link_sets *out, const char *path, const char *key, const char *value)
{
	*VEC_ADD(&out->arena, &out->v) = arena_printf(&out->arena, "%s.%s=%s", path, key, value);
}

/* What both directions have is no longer that of the one whose `key` is taken away: the other one
 * gets it for itself. */
static void split_directions(const struct yaml_node *link, const char *path, const char *key,
			     struct link_sets *out)
{
	const struct yaml_node *both, *other;
	autofree char *other_key = mem_strdup(key);
	autostr struct strbuf value = {0};

	if ((!str_starts(key, "ab.") && !str_starts(key, "ba.")) || !link || link->kind != YAML_MAP)
		return;
	both = yaml_get(link, key + 3);
	if (!both)
		return;
	other_key[0] = key[1];
	other_key[1] = key[0];
	other = yaml_get(link, key[0] == 'a' ? "ba" : "ab");
	yaml_write_value(both, &value);
	if (!other || other->kind != YAML_MAP || !yaml_get(other, key + 3))
		add_set(out, path, other_key, strbuf_text(&value));
	add_set(out, path, key + 3, "");
}

int link_sets_add(const struct topology_source *src, const char *path, const char *assignment,
		  struct link_sets *out, struct err *err)
{
	const struct parse_keys *keys = keys_of(path);
	const char *equal = strchr(assignment, '='), *value = equal ? equal + 1 : "";
	autofree char *key = mem_printf("%.*s", (int)strcspn(assignment, "="), assignment);
	struct problems ignored; /* of a topology that was good before */
	struct yaml y;
	int rc = 0;

	if (!equal || !*key)
		return err_input(err, "'%s' is no change; write key=value, like rate=20mbit",
				 assignment);
	if (str_eq(value, "none"))
		value = "";
	path = place_of(keys, path, key);
	if (str_eq(path, "fabric"))
		keys = &parse_keys_fabric;
	if (!*value && keys)
		rc = check_key(keys, key, err);
	if (rc)
		return rc;
	problems_init(&ignored);
	yaml_parse(&y, src->main.name, src->main.text, src->main.len, &ignored);
	for (size_t i = 0; i < src->n_sets; i++)
		topology_set(&y, src->sets[i], &ignored);
	VEC_FOREACH (set, &out->v)
		topology_set(&y, *set, &ignored);
	if (keys == &parse_keys_link) {
		clear_directions(node_at(y.root, path), path, key, out);
		if (!*value)
			split_directions(node_at(y.root, path), path, key, out);
	}
	yaml_done(&y);
	problems_done(&ignored);
	add_set(out, path, key, value);
	return 0;
}

int link_sets_change(const struct topology_source *src, const struct wire *w,
		     const struct link_change *c, struct link_sets *out, struct err *err)
{
	int link = link_find(w, c->link, err), rc = 0;

	if (link < 0)
		return link;
	for (size_t i = 0; rc == 0 && i < c->n; i++)
		rc = link_sets_add(src, w->links.v[link].path, c->changes[i], out, err);
	return rc;
}

void link_sets_done(struct link_sets *s)
{
	arena_done(&s->arena);
	*s = (struct link_sets){0};
}
