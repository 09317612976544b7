/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * parse_profile: profiles of vNICs: the topology's own section `profiles`, and those of profile
 * files, of which only what is used is read. Opens no file itself: topology_source has the texts.
 * Called by topology.c, parse_vm.c and profile.c.
 */
#include <string.h>

#include "emulator/model/parse.h"

#define GIB	   (1024.0 * 1024 * 1024)
#define MEMORY_MIN (1024 * 1024) /* a bare number is bytes, and hardly meant */

const char *parse_profile_file(struct arena *a, const char *name)
{
	const char *slash = strchr(name, '/');
	size_t len = slash ? (size_t)(slash - name) : 0;

	/* No way out of the folder, and no name that a shell would stumble over. */
	if (!len || name[0] == '.' ||
	    strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") < len)
		return NULL;
	return arena_printf(a, "profiles/%.*s.yaml", (int)len, name);
}

/* Reads a profile over what `out` holds already, in a file: what its profiles have in common. */
void parse_profile_map(struct parse *ps, const struct yaml_node *n, struct cloud_profile *out)
{
	const struct yaml_node *map = parse_value_map(ps, n, "profile");
	struct cloud_num vcpu = {.v = out->vcpu};
	struct cloud_text text;
	int64_t bytes;

	parse_keys_check(&parse_keys_profile, map, ps->p);
	parse_caps(ps, map, &out->caps);
	text = parse_value_text(ps, yaml_get(map, "source"), "source");
	out->source = text.s ? text.s : out->source;
	text = parse_value_text(ps, yaml_get(map, "date"), "date");
	out->date = text.s ? text.s : out->date;
	text = parse_value_text(ps, yaml_get(map, "note"), "note");
	out->note = text.s ? text.s : out->note;
	parse_value_int(ps, yaml_get(map, "vcpu"), "vcpu", (const int64_t[]){1, 100000}, &vcpu);
	out->vcpu = vcpu.v;
	if (!parse_value_size(ps, yaml_get(map, "memory"), "memory", &bytes))
		return;
	if (bytes < MEMORY_MIN)
		problems_add(ps->p, yaml_get(map, "memory")->at,
			     "memory: '%s' is less than 1 MiB; write it like 8GiB",
			     yaml_get(map, "memory")->text);
	else
		out->memory_gib = (double)bytes / GIB;
}

static struct cloud_profile empty_profile(void)
{
	return (struct cloud_profile){.caps.rate.rate.basis = BASIS_L3}; /* as most clouds meter */
}

void parse_profile(struct parse *ps, const struct yaml_node *n)
{
	const struct yaml_node *map = parse_value_map(ps, n, "profiles");

	VEC_FOREACH (pair, &map->pairs) {
		struct cloud_profile *profile = VEC_ADD(&ps->t->arena, &ps->t->profiles);

		*profile = empty_profile();
		profile->name = pair->key;
		profile->at = pair->key_at;
		parse_profile_map(ps, pair->value, profile);
	}
}

/* ---- files ---- */

/* The map of all its profiles; NULL, after a problem, where the file is none. */
const struct yaml_node *parse_profile_open(struct parse *ps, struct cloud_file *f)
{
	const struct yaml_node *root;

	if (!f->opened) {
		f->opened = true;
		f->common = empty_profile();
		if (yaml_parse(&f->yaml, f->name, f->text, f->len, ps->p) < 0)
			return NULL;
		root = f->yaml.root;
		if (!yaml_want_map(root, "profile file", ps->p))
			return NULL;
		parse_keys_check(&parse_keys_profile_file, root, ps->p);
		if (!str_eq(yaml_want_text(yaml_get(root, "version"), "version", ps->p), "1"))
			problems_add(ps->p, root->at, "the file does not say 'version: 1'");
		if (yaml_get(root, "common"))
			parse_profile_map(ps, yaml_get(root, "common"), &f->common);
		yaml_want_map(yaml_get(root, "profiles"), "profiles", ps->p);
	}
	root = yaml_get(f->yaml.root, "profiles");
	return root && root->kind == YAML_MAP ? root : NULL;
}

static struct cloud_file *find_file(struct topology *t, const char *name)
{
	VEC_FOREACH (f, &t->files) {
		if (str_eq(f->name, name))
			return f;
	}
	return NULL;
}

/* "profile 'x' does not exist; did you mean 'y'?" */
static void unknown(struct parse *ps, const struct cloud_ref *ref, const struct yaml_node *profiles)
{
	struct topology *t = ps->t;
	VEC(const char *) names = {0};
	const char *near;

	VEC_FOREACH (own, &t->profiles)
		*VEC_ADD(&t->arena, &names) = own->name;
	for (size_t i = 0; profiles && i < profiles->pairs.n; i++)
		*VEC_ADD(&t->arena, &names) =
		    arena_printf(&t->arena, "%.*s/%s", (int)strcspn(ref->name, "/"), ref->name,
				 profiles->pairs.v[i].key);
	near = str_suggest(ref->name, names.v, names.n);
	if (near)
		problems_add(ps->p, ref->at, "profile '%s' does not exist; did you mean '%s'?",
			     ref->name, near);
	else if (profiles)
		problems_add(ps->p, ref->at,
			     "profile '%s' does not exist; 'vpclab profile ls %.*s' lists those "
			     "that do",
			     ref->name, (int)strcspn(ref->name, "/"), ref->name);
	else
		problems_add(ps->p, ref->at,
			     "profile '%s' does not exist; write one of the topology's own "
			     "'profiles', or one like aliyun/ecs.g7a.large",
			     ref->name);
}

static int from_file(struct parse *ps, const struct cloud_ref *ref, struct cloud_file *f)
{
	const struct yaml_node *profiles = parse_profile_open(ps, f);
	const char *key = strchr(ref->name, '/') + 1;
	struct cloud_profile *new;

	if (!profiles)
		return -1;
	VEC_FOREACH (pair, &profiles->pairs) {
		if (!str_eq(pair->key, key))
			continue;
		new = VEC_ADD(&ps->t->arena, &ps->t->profiles);
		*new = f->common;
		new->name = ref->name;
		new->at = pair->key_at;
		parse_profile_map(ps, pair->value, new);
		return (int)ps->t->profiles.n - 1;
	}
	unknown(ps, ref, profiles);
	return -1;
}

int parse_profile_find(struct parse *ps, const struct cloud_ref *ref)
{
	struct topology *t = ps->t;
	const char *name = parse_profile_file(&t->arena, ref->name);
	struct cloud_file *f = name ? find_file(t, name) : NULL;

	for (size_t i = 0; i < t->profiles.n; i++) {
		if (str_eq(t->profiles.v[i].name, ref->name))
			return (int)i;
	}
	if (f && f->text)
		return from_file(ps, ref, f);
	if (!name)
		unknown(ps, ref, NULL);
	else if (!f) /* else whoever wanted to read it has said why it could not */
		problems_add(ps->p, ref->at, "profile '%s': its file '%s' was not found", ref->name,
			     name);
	return -1;
}
