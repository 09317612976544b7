/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * share: where shipped files may be follows from where the program itself is, so that an installed
 * tree can be moved and a checkout works without installing. It reads no file. Called by cli and
 * lab/load.c.
 */
#include "core/base/share.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/str.h"

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

char *share_place(const char *kind, int n)
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

static void add_names(const char *dir, struct arena *a, struct share_names *out)
{
	DIR *d = opendir(dir);
	struct dirent *e;

	while (d && (e = readdir(d)))
		if (str_ends(e->d_name, ".yaml"))
			*VEC_ADD(a, &out->list) =
			    arena_strndup(a, e->d_name, strlen(e->d_name) - strlen(".yaml"));
	if (d)
		closedir(d);
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void share_names(const char *kind, struct arena *a, struct share_names *out)
{
	char *dir;
	size_t kept = 0;

	*out = (struct share_names){0};
	for (int i = 0; (dir = share_place(kind, i)); i++) {
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
