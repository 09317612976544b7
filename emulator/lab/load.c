/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * load: reads a topology's other files, profiles and delivery traces, and parses it with them: the
 * one way from a text to a topology. What they mean is the model's business. Called by cli, harness
 * and state.c.
 */
#include "emulator/lab/load.h"

#include <string.h>
#include <sys/stat.h>

#include "core/base/file.h"
#include "core/base/share.h"

#define KIND	 "topologies"
#define FILE_MAX (64 << 20) /* bytes of one file */

static bool is_file(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode);
}

/* Its path in the topology's folder or among the shipped ones, a heap string; NULL: nowhere. */
static char *find(const char *topology, const char *name)
{
	const char *slash = strrchr(topology, '/');
	char *path, *place;

	if (*name == '/')
		return is_file(name) ? mem_strdup(name) : NULL;
	path = mem_printf("%.*s%s", slash ? (int)(slash - topology + 1) : 0, topology, name);
	for (int i = 0; !is_file(path); i++) {
		free(path);
		place = share_place(KIND, i);
		if (!place)
			return NULL;
		path = mem_printf("%s/%s", place, name);
		free(place);
	}
	return path;
}

/* "profiles/aliyn.yaml" is told as the provider that was meant. */
static void missing(const struct topology_need *need, struct arena *a, struct problems *p)
{
	struct share_names names;
	const char *near;
	size_t len;

	if (!str_starts(need->name, "profiles/")) {
		problems_add(p, need->at,
			     "no file '%s', neither beside the topology nor among the shipped ones",
			     need->name);
		return;
	}
	share_names(KIND "/profiles", a, &names);
	len = strlen(need->name) - strlen("profiles/") - strlen(".yaml");
	const char *provider = arena_strndup(a, need->name + strlen("profiles/"), len);
	near = str_suggest(provider, names.list.v, names.list.n);
	problems_add(p, need->at,
		     "no profiles of '%s': there is no file '%s', neither beside the topology nor "
		     "among the shipped ones%s%s%s",
		     provider, need->name, near ? "; did you mean '" : "", near ? near : "",
		     near ? "'?" : "");
}

/* Text of a file that may have NUL bytes; the parser is to say so. */
static const char *keep(struct arena *a, const char *text, size_t len)
{
	char *copy = arena_alloc(a, len + 1);

	memcpy(copy, text, len);
	return copy;
}

static void read_need(struct load *l, const struct topology_source *src,
		      const struct topology_need *need, struct problems *p)
{
	struct topology_file *f = VEC_ADD(&l->arena, &l->files);
	autofree char *path = NULL, *text = NULL;
	struct err err = ERR_INIT;

	f->name = need->name;
	for (size_t i = 0; i < src->n_files; i++) {
		if (str_eq(src->files[i].name, need->name)) {
			*f = src->files[i];
			return;
		}
	}
	path = find(src->main.name, need->name);
	if (!path) {
		missing(need, &l->arena, p);
	} else if (file_read(path, &text, &f->len, &err)) {
		problems_add(p, need->at, "%s", err.text);
	} else if (f->len > FILE_MAX) {
		problems_add(p, need->at, "'%s' is larger than 64 MiB", path);
	} else {
		f->text = keep(&l->arena, text, f->len);
	}
}

void load_topology(const struct topology_source *src, struct load *out, struct problems *p)
{
	struct topology_source whole = *src;
	struct topology_needs needs;

	*out = (struct load){0};
	arena_init(&out->arena);
	topology_needs(src, &out->arena, &needs);
	VEC_FOREACH (need, &needs.list)
		read_need(out, src, need, p);
	whole.files = out->files.v;
	whole.n_files = out->files.n;
	out->topology = topology_parse(&whole, p);
}

void load_done(struct load *l)
{
	topology_free(l->topology);
	arena_done(&l->arena);
	*l = (struct load){0};
}
