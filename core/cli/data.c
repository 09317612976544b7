// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * data: finds topologies and scenarios that come with vpclab by their name.
 *
 * Places follow from where the program itself is, so that an installed tree can be moved and a
 * checkout works without installing. It does not read the files. Called by commands.
 */
#include "core/cli/data.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/mem.h"
#include "core/base/share.h"
#include "core/base/str.h"

static bool is_file(const char *path)
{
	struct stat st;

	return !stat(path, &st) && !S_ISDIR(st.st_mode);
}

static bool find_in(const char *dir, const char *name, char **path)
{
	char *file = mem_printf("%s/%s.yaml", dir, name);
	char real[PATH_MAX];

	if (!is_file(file)) {
		free(file);
		return false;
	}
	if (dir[0] != '/' || !realpath(file, real)) {
		*path = file;
		return true;
	}
	free(file);
	*path = mem_strdup(real);
	return true;
}

static int not_found(const char *kind, const char *name, struct err *err)
{
	struct share_names names;
	struct arena a;
	struct stat st;

	if (!stat(name, &st)) {
		err_input(err, "'%s' is a directory, not a file", name);
		return -ENOENT;
	}
	if (strchr(name, '/')) { /* no shipped name */
		err_input(err, "no file '%s'", name);
		return -ENOENT;
	}
	arena_init(&a);
	share_names(kind, &a, &names);
	const char *near = str_suggest(name, names.list.v, names.list.n);
	if (near)
		err_input(err, "no file '%s', and none of the shipped %s; did you mean '%s'?", name,
			  kind, near);
	else
		err_input(err, "no file '%s', and none of the shipped %s", name, kind);
	arena_done(&a);
	return -ENOENT;
}

bool data_says_file(const char *name)
{
	return str_eq(name, "-") || strchr(name, '/') || str_ends(name, ".yaml") ||
	       str_ends(name, ".yml");
}

int data_find(const char *kind, const char *name, char **path, struct err *err)
{
	char *dir;
	bool found = false;

	for (int i = 0; !found && !data_says_file(name) && (dir = share_place(kind, i)); i++) {
		found = find_in(dir, name, path);
		free(dir);
	}
	if (!found && (str_eq(name, "-") || is_file(name))) {
		*path = mem_strdup(name);
		found = true;
	}
	return found ? 0 : not_found(kind, name, err);
}

int data_schema(const char *kind, char **path, struct err *err)
{
	char *dir, *file;

	for (int i = 0; (dir = share_place(kind, i)); i++) {
		file = mem_printf("%s/schema.json", dir);
		free(dir);
		if (is_file(file)) {
			*path = file;
			return 0;
		}
		free(file);
	}
	return err_fail(err, ENOENT, "%s/schema.json is not installed beside the program", kind);
}
