/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * topology: reads a topology file into the cloud model: YAML, overrides, sections, checks, in that
 * order. It builds nothing (compile.c does). Called by cli, lab and harness through topology.h.
 */
#include "emulator/model/topology.h"

#include <string.h>

#include "core/base/units.h"
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

static int64_t common_divisor(int64_t a, int64_t b)
{
	while (b) {
		int64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* "1/20", "0.05", "5%" */
static bool read_scale(const char *s, int64_t *num, int64_t *den)
{
	static const int64_t limit = 1000000;
	struct err ignored = ERR_INIT;
	autofree char *head = mem_strdup(s);
	char *slash = strchr(head, '/');
	autofree char *percent = mem_printf("%s%%", s);

	if (slash) {
		*slash = '\0';
		return !units_parse_int(head, 1, limit, num, &ignored) &&
		       !units_parse_int(slash + 1, 1, limit, den, &ignored);
	}
	*den = str_ends(s, "%") ? 1000000 : 10000; /* parts per million of what is written */
	return !units_parse_percent(str_ends(s, "%") ? s : percent, num, &ignored);
}

static void parse_scale(struct parse *ps, const struct yaml_node *n)
{
	const char *s = yaml_want_text(n, "scale", ps->p);
	int64_t num, den, divisor;

	if (!s)
		return;
	if (!read_scale(s, &num, &den)) {
		problems_add(ps->p, n->at, "'%s' is not a scale; write it like 1/20, 0.05 or 5%%",
			     s);
		return;
	}
	if (num < 1 || num > den) {
		problems_add(ps->p, n->at,
			     "scale '%s' is not above 0 and at most 1; a lab can be "
			     "slower than what it models, not faster",
			     s);
		return;
	}
	divisor = common_divisor(num, den);
	ps->t->scale_num = num / divisor;
	ps->t->scale_den = den / divisor;
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
	parse_scale(ps, yaml_get(root, "scale"));
	t->description = yaml_want_text(yaml_get(root, "description"), "description", ps->p);
}

/* A list of names, where a map of them is meant, is told how to be one. */
static void section_is_no_map(struct parse *ps, const char *key, const struct yaml_node *n)
{
	autostr struct strbuf names = {0};

	for (size_t i = 0; n->kind == YAML_SEQ && i < n->items.n; i++) {
		if (n->items.v[i]->kind != YAML_SCALAR)
			break;
		strbuf_addf(&names, "%s%s: {}", i ? ", " : "", n->items.v[i]->text);
	}
	if (names.len && (str_eq(key, "hosts") || str_eq(key, "nodes")))
		problems_add(ps->p, n->at, "'%s' must be a map, this is a list; write %s: {%s}",
			     key, key, strbuf_text(&names));
	else
		problems_add(ps->p, n->at, "'%s' must be %s, this is %s", key,
			     str_eq(key, "links") ? "a list" : "a map", yaml_kind_name(n));
}

/* False when a whole section is not what it must be: what others say of it is then no mistake. */
static bool parse_sections(struct parse *ps, const struct yaml_node *root)
{
	static const struct {
		const char *key;
		void (*read)(struct parse *ps, const struct yaml_node *n);
	} sections[] = {
	    {"profiles", parse_profile}, /* before the VMs, which use them */
	    {"fabric", parse_fabric},	 /* before the hosts, which inherit from it */
	    {"hosts", parse_fabric_hosts}, {"networks", parse_network},
	    {"routers", parse_router},	   {"vms", parse_vm},
	    {"eips", parse_vm_eips},	   {"nodes", parse_node},
	    {"links", parse_link},
	};

	bool whole = true;

	for (size_t i = 0; i < ARRAY_SIZE(sections); i++) {
		const struct yaml_node *n = yaml_get(root, sections[i].key);
		enum yaml_kind kind = str_eq(sections[i].key, "links") ? YAML_SEQ : YAML_MAP;
		bool good = !n || n->kind == YAML_NULL || n->kind == kind;

		if (!good)
			section_is_no_map(ps, sections[i].key, n);
		sections[i].read(ps, good ? n : NULL);
		whole &= good;
	}
	return whole;
}

static void keep_files(struct topology *t, const struct topology_source *src)
{
	for (size_t i = 0; i < src->n_files; i++) {
		struct cloud_file *f = VEC_ADD(&t->arena, &t->files);

		f->name = arena_strdup(&t->arena, src->files[i].name);
		f->text = src->files[i].text;
		f->len = src->files[i].len;
	}
}

struct topology *topology_parse(const struct topology_source *src, struct problems *p)
{
	struct topology *t = mem_zalloc(sizeof(*t));
	struct parse ps = {.t = t, .p = p};
	size_t before = problems_count(p);
	const struct yaml_node *root;

	arena_init(&t->arena);
	t->scale_num = t->scale_den = 1;
	keep_files(t, src);
	if (yaml_parse(&t->yaml, src->main.name, src->main.text, src->main.len, p) < 0)
		return t;
	for (size_t i = 0; i < src->n_sets; i++)
		topology_set(&t->yaml, src->sets[i], p);
	root = t->yaml.root;
	if (root->kind == YAML_NULL) {
		problems_add(p, root->at, "the file is empty");
		return t;
	}
	if (!yaml_want_map(root, "topology", p))
		return t;
	parse_keys_check(&parse_keys_topology, root, p);
	parse_head(&ps, root, src->main.name);
	if (parse_sections(&ps, root)) {
		if (!t->hosts.n && !t->nodes.n)
			problems_add(p, root->at,
				     "nothing to build: there are no hosts and no nodes");
		topology_check(t, p);
	}
	t->sound = problems_count(p) == before;
	return t;
}

void topology_free(struct topology *t)
{
	if (!t)
		return;
	VEC_FOREACH (f, &t->files) {
		if (f->opened)
			yaml_done(&f->yaml);
	}
	yaml_done(&t->yaml);
	arena_done(&t->arena);
	free(t);
}
