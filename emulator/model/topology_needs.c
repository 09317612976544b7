/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * topology_needs: which other files a topology names, so that its reader can bring them. It looks
 * at nothing else of it, finds no problems and opens no file.
 */
#include "emulator/model/parse.h"

struct search {
	struct arena *arena;
	struct topology_needs *out;
	const struct yaml_node *own; /* the topology's own profiles, or NULL */
};

static void add(struct search *s, const char *name, struct mark at)
{
	struct topology_need *need;

	VEC_FOREACH (n, &s->out->list) {
		if (str_eq(n->name, name))
			return;
	}
	need = VEC_ADD(s->arena, &s->out->list);
	need->name = arena_strdup(s->arena, name);
	need->at = at;
	need->at.file = arena_strdup(s->arena, at.file);
}

static const struct yaml_node *get_map(const struct yaml_node *map, const char *key)
{
	const struct yaml_node *n = map && map->kind == YAML_MAP ? yaml_get(map, key) : NULL;

	return n && n->kind == YAML_MAP ? n : NULL;
}

static const struct yaml_node *get_list(const struct yaml_node *map, const char *key)
{
	const struct yaml_node *n = map && map->kind == YAML_MAP ? yaml_get(map, key) : NULL;

	return n && n->kind == YAML_SEQ ? n : NULL;
}

static const struct yaml_node *get_text(const struct yaml_node *map, const char *key)
{
	const struct yaml_node *n = map && map->kind == YAML_MAP ? yaml_get(map, key) : NULL;

	return n && n->kind == YAML_SCALAR && *n->text ? n : NULL;
}

static void add_profile(struct search *s, const struct yaml_node *map)
{
	const struct yaml_node *profile = get_text(map, "profile");
	const char *name;

	if (!profile || (s->own && yaml_get(s->own, profile->text)))
		return;
	name = parse_profile_file(s->arena, profile->text);
	if (name)
		add(s, name, profile->at);
}

static void add_trace(struct search *s, const struct yaml_node *map)
{
	const struct yaml_node *trace = get_text(map, "trace");

	if (trace)
		add(s, trace->text, trace->at);
}

static void search_vm(struct search *s, const struct yaml_node *vm)
{
	const struct yaml_node *vnics = get_list(vm, "vnics");

	add_profile(s, vm);
	add_profile(s, get_map(vm, "vnic"));
	for (size_t i = 0; vnics && i < vnics->items.n; i++)
		add_profile(s, vnics->items.v[i]);
}

static void search_all(struct search *s, const struct yaml_node *root)
{
	const struct yaml_node *vms = get_map(root, "vms"), *links = get_list(root, "links");

	s->own = get_map(root, "profiles");
	for (size_t i = 0; vms && i < vms->pairs.n; i++)
		search_vm(s, vms->pairs.v[i].value);
	for (size_t i = 0; links && i < links->items.n; i++) {
		add_trace(s, links->items.v[i]);
		add_trace(s, get_map(links->items.v[i], "ab"));
		add_trace(s, get_map(links->items.v[i], "ba"));
	}
	add_trace(s, get_map(root, "fabric"));
}

void topology_needs(const struct topology_source *src, struct arena *a, struct topology_needs *out)
{
	struct search s = {.arena = a, .out = out};
	struct problems ignored;
	struct yaml yaml;

	*out = (struct topology_needs){0};
	problems_init(&ignored);
	if (yaml_parse(&yaml, src->main.name, src->main.text, src->main.len, &ignored) == 0) {
		for (size_t i = 0; i < src->n_sets; i++)
			topology_set(&yaml, src->sets[i], &ignored);
		search_all(&s, yaml.root);
	}
	yaml_done(&yaml);
	problems_done(&ignored);
}
