/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * program: finds programs of the administrator (ovs-vswitchd, nft, tc) for ordinary users too. It
 * starts none. Called by ovs_run.c, and by emulator/lab for doctor and for programs inside labs.
 */
#include "emulator/kernel/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/mem.h"
#include "core/base/str.h"

static const char *const sbin[] = {"/usr/local/sbin", "/usr/sbin", "/sbin"};

static const char *path_or_default(void)
{
	const char *path = getenv("PATH");

	return path && *path ? path : "/usr/local/bin:/usr/bin:/bin";
}

static bool is_program(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

bool program_find(const char *name, char *path, size_t size)
{
	autofree char *dirs = program_path();
	char *rest = dirs, *dir;

	while ((dir = strsep(&rest, ":"))) {
		if (snprintf(path, size, "%s/%s", *dir ? dir : ".", name) < (int)size &&
		    is_program(path))
			return true;
	}
	return false;
}

static bool lists(const char *path, const char *dir)
{
	size_t len = strlen(dir);

	for (const char *p = path; p; p = strchr(p, ':')) {
		p += *p == ':';
		if (strncmp(p, dir, len) == 0 && (p[len] == ':' || p[len] == '\0'))
			return true;
	}
	return false;
}

char *program_path(void)
{
	autostr struct strbuf b = {0};

	strbuf_add(&b, path_or_default());
	for (size_t i = 0; i < ARRAY_SIZE(sbin); i++)
		if (!lists(strbuf_text(&b), sbin[i]))
			strbuf_addf(&b, ":%s", sbin[i]);
	return strbuf_take(&b);
}
