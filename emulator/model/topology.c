/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * topology: reads a topology file into the cloud model: YAML, overrides, sections, checks, in that
 * order. It builds nothing (compile.c does). Called by cli, lab and harness through topology.h.
 */
#include "emulator/model/topology.h"

#include <string.h>

#include "emulator/model/parse.h"

/* "topologies/zstack.yaml" gives "zstack": the name of a lab whose file has none. */
static const char *name_of_file(struct arena *a, const char *file)
{
	const char *slash = strrchr(file, '/'), *base = slash ? slash + 1 : file;
	size_t len = strcspn(base, ".");
	char *name;

	if (!len || (len == 1 && *base == '-') || len > CLOUD_NAME_MAX)
		return "lab";
	name = arena_strndup(a, base, len);
	for (char *c = name; *c; c++) {
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_", *c))
			*c = '-';
	}
	return *name == '-' ? "lab" : name;
}

static void parse_head(struct parse *ps, const struct yaml_node *root, const char *file)
{
	const struct yaml_node *version = yaml_get(root, "version");
	struct topology *t = ps->t;

	if (!version)
		problems_add(ps->p, root->at, "the file does not say 'version: 1'");
	else if (version->kind != YAML_SCALAR || !str_eq(version->text, "1"))
		problems_add(ps->p, version->at, "this program reads topologies of version 1");
	t->name = parse_value_text(ps, yaml_get(root, "name"), "name");
	if (t->name.s)
		parse_value_name(ps, t->name.s, t->name.at, "lab");
	else
		t->name.s = name_of_file(&t->arena, file);
	t->description = yaml_want_text(yaml_get(root, "description"), "description", ps->p);
}

static void parse_sections(struct parse *ps, const struct yaml_node *root)
{
	static const struct {
		const char *key;
		void (*read)(struct parse *ps, const struct yaml_node *n);
	} sections[] = {
	    {"fabric", parse_fabric}, /* before the hosts, which inherit from it */
	    {"hosts", parse_fabric_hosts}, {"networks", parse_network},
	    {"routers", parse_router},	   {"vms", parse_vm},
	    {"eips", parse_vm_eips},	   {"nodes", parse_node},
	    {"links", parse_link},
	};

	for (size_t i = 0; i < ARRAY_SIZE(sections); i++)
		sections[i].read(ps, yaml_get(root, sections[i].key));
}

struct topology *topology_parse(const char *name, const char *text, size_t len,
				const char *const *sets, size_t n_sets, struct problems *p)
{
	struct topology *t = mem_zalloc(sizeof(*t));
	struct parse ps = {.t = t, .p = p};
	size_t before = problems_count(p);
	const struct yaml_node *root;

	arena_init(&t->arena);
	if (yaml_parse(&t->yaml, name, text, len, p) < 0)
		return t;
	for (size_t i = 0; i < n_sets; i++)
		topology_set(&t->yaml, sets[i], p);
	root = t->yaml.root;
	if (root->kind == YAML_NULL) {
		problems_add(p, root->at, "the file is empty");
		return t;
	}
	if (!yaml_want_map(root, "topology", p))
		return t;
	parse_keys_check(&parse_keys_topology, root, p);
	parse_head(&ps, root, name);
	parse_sections(&ps, root);
	if (!t->hosts.n && !t->nodes.n)
		problems_add(p, root->at, "nothing to build: there are no hosts and no nodes");
	topology_check(t, p);
	t->sound = problems_count(p) == before;
	return t;
}

void topology_free(struct topology *t)
{
	if (!t)
		return;
	yaml_done(&t->yaml);
	arena_done(&t->arena);
	free(t);
}
