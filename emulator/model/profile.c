/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * profile: a whole file of profiles, where a topology reads only those that it uses. Called by cli
 * and by tests.
 */
#include "emulator/model/profile.h"

#include <string.h>

#include "emulator/model/parse.h"

static const char *const directions[] = {
    [DIRECTION_EACH] = "each", [DIRECTION_SUM] = "sum", [DIRECTION_EGRESS] = "egress"};

/* "profiles/aliyun.yaml" gives "aliyun". */
static const char *provider_of(struct arena *a, const char *file)
{
	const char *slash = strrchr(file, '/'), *base = slash ? slash + 1 : file;

	return arena_strndup(a, base, strcspn(base, "."));
}

static void add(struct profiles *out, const char *name, const struct cloud_profile *c)
{
	struct profile *p = VEC_ADD(&out->owner->arena, &out->list);

	*p = (struct profile){
	    .name = name,
	    .shape = {.rate = c->caps.rate.rate,
		      .pps = c->caps.pps,
		      .queues = c->caps.queues,
		      .flow_bps = c->caps.flow_bps},
	    .direction = directions[c->caps.direction],
	    .connections = c->caps.connections,
	    .mtu = c->caps.mtu.v,
	    .vcpu = c->vcpu,
	    .memory_gib = c->memory_gib,
	    .source = c->source,
	    .date = c->date,
	    .note = c->note,
	};
}

void profiles_read(const struct topology_file *file, struct profiles *out, struct problems *p)
{
	struct topology *t = mem_zalloc(sizeof(*t));
	struct parse ps = {.t = t, .p = p};
	const struct yaml_node *map;
	const char *provider;
	struct cloud_file *f;

	*out = (struct profiles){.owner = t};
	arena_init(&t->arena);
	f = VEC_ADD(&t->arena, &t->files);
	f->name = arena_strdup(&t->arena, file->name);
	f->text = file->text;
	f->len = file->len;
	provider = provider_of(&t->arena, f->name);
	map = parse_profile_open(&ps, f);
	for (size_t i = 0; map && i < map->pairs.n; i++) {
		struct cloud_profile profile = f->common;

		parse_profile_map(&ps, map->pairs.v[i].value, &profile);
		topology_check_caps(&profile.caps,
				    profile.caps.mtu.v ? profile.caps.mtu.v : CLOUD_MTU, p);
		add(out, arena_printf(&t->arena, "%s/%s", provider, map->pairs.v[i].key), &profile);
	}
	if (map)
		out->description =
		    yaml_want_text(yaml_get(f->yaml.root, "description"), "description", p);
}

void profiles_done(struct profiles *profiles)
{
	topology_free(profiles->owner);
	*profiles = (struct profiles){0};
}
