// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * data: finds topologies and scenarios that come with vpclab by their name.
 *
 * Places follow from where the program itself is, so that an installed tree can be moved and a
 * checkout works without installing. It does not read the files. Called by commands.
 */
#include "core/cli/data.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/mem.h"
#include "core/base/str.h"

static bool is_file(const char *path)
{
	struct stat st;

	return !stat(path, &st) && !S_ISDIR(st.st_mode);
}

/* The directory of the running program. */
static int program_dir(char dir[static PATH_MAX])
{
	ssize_t n = readlink("/proc/self/exe", dir, PATH_MAX - 1);

	if (n < 0)
		return -errno;
	dir[n] = '\0';
	*strrchr(dir, '/') = '\0';
	return 0;
}

/* The n-th place where KIND may be, as a heap string; NULL after the last. */
static char *place(const char *kind, int n)
{
	char dir[PATH_MAX];
	bool known = !program_dir(dir);

	switch (n) {
	case 0:
		return mem_printf("%s/../share/vpclab/%s", known ? dir : ".", kind);
	case 1:
		return mem_printf("%s/../%s", known ? dir : ".", kind);
	case 2:
		return mem_strdup(kind);
	default:
		return NULL;
	}
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

static void add_names(const char *dir, struct arena *a, struct data_names *out)
{
	DIR *d = opendir(dir);
	struct dirent *e;

	while (d && (e = readdir(d)))
		if (str_ends(e->d_name, ".yaml"))
			*VEC_ADD(a, &out->list) =
			    arena_strndup(a, e->d_name, strlen(e->d_name) - 5);
	if (d)
		closedir(d);
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void data_names(const char *kind, struct arena *a, struct data_names *out)
{
	char *dir;
	size_t kept = 0;

	*out = (struct data_names){0};
	for (int i = 0; (dir = place(kind, i)); i++) {
		add_names(dir, a, out);
		free(dir);
	}
	if (out->list.n)
		qsort(out->list.v, out->list.n, sizeof(*out->list.v), compare_names);
	for (size_t i = 0; i < out->list.n; i++)
		if (!kept || strcmp(out->list.v[kept - 1], out->list.v[i]))
			out->list.v[kept++] = out->list.v[i];
	out->list.n = kept;
}

static int not_found(const char *kind, const char *name, struct err *err)
{
	struct data_names names;
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
	data_names(kind, &a, &names);
	const char *near = str_suggest(name, names.list.v, names.list.n);
	if (near)
		err_input(err, "no file '%s', and none of the shipped %s; did you mean '%s'?", name,
			  kind, near);
	else
		err_input(err, "no file '%s', and none of the shipped %s", name, kind);
	arena_done(&a);
	return -ENOENT;
}

int data_find(const char *kind, const char *name, char **path, struct err *err)
{
	char *dir;
	bool found = false;

	if (str_eq(name, "-") || is_file(name)) {
		*path = mem_strdup(name);
		return 0;
	}
	for (int i = 0; !found && !strchr(name, '/') && (dir = place(kind, i)); i++) {
		found = find_in(dir, name, path);
		free(dir);
	}
	return found ? 0 : not_found(kind, name, err);
}

int data_schema(const char *kind, char **path, struct err *err)
{
	char *dir, *file;

	for (int i = 0; (dir = place(kind, i)); i++) {
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
