/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tool_find: where a tool is on this machine and which version, by its adapter. Runs nothing but
 * its own word for its version, outside of labs. Called by the commands before anything is built,
 * and by tool_run.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/mem.h"
#include "core/base/proc.h"
#include "core/base/str.h"
#include "core/base/units.h"
#include "core/harness/tool_run.h"
#include "core/tools/pattern.h"

#define VERSION_MAX 40 /* bytes */
#define VERSION_NS  (5 * NSEC_PER_SEC)

static bool is_program(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

/* Absolute, for who starts it in another folder; a link stays one, as its name may matter. */
static char *absolute(char *path)
{
	autofree char *folder = *path == '/' ? NULL : getcwd(NULL, 0);
	char *whole;

	if (!folder)
		return path;
	whole = mem_printf("%s/%s", folder, str_starts(path, "./") ? path + 2 : path);
	free(path);
	return whole;
}

char *tool_run_program(const char *program)
{
	const char *path = getenv("PATH");

	if (strchr(program, '/'))
		return is_program(program) ? absolute(mem_strdup(program)) : NULL;
	while (path && *path) {
		size_t len = strcspn(path, ":");
		char *file = mem_printf("%.*s/%s", (int)len, path, program);

		if (is_program(file))
			return absolute(file);
		free(file);
		path += len + (path[len] == ':');
	}
	return NULL;
}

static char *version_of(const struct adapter *a, const char *path)
{
	autostr struct strbuf text = {0}, version = {0}, line = {0};
	autofree const char **argv = mem_zalloc((a->version_args.n + 2) * sizeof(*argv));
	struct err ignored = ERR_INIT;
	struct pattern *p;
	size_t at = 0;
	int status;

	if (!a->version_match || pattern_new(a->version_match, &p, &ignored))
		return mem_strdup("");
	argv[0] = path;
	for (size_t i = 0; i < a->version_args.n; i++)
		argv[i + 1] = a->version_args.v[i];
	if (!proc_run(argv, VERSION_NS, &text, &text, &status, &ignored) &&
	    pattern_next(p, strbuf_text(&text), text.len, &at))
		pattern_get(p, "version", &version);
	pattern_free(p);
	str_add_line(&line, strbuf_text(&version), VERSION_MAX);
	return mem_strdup(strbuf_text(&line));
}

int tool_run_find(const struct adapter *a, char **path, char **version, struct err *err)
{
	*path = tool_run_program(a->program);
	*version = NULL;
	if (*path) {
		*version = version_of(a, *path);
		return 0;
	}
	const char *debian = a->package_debian, *fedora = a->package_fedora;
	err_input(err, "%s is not here%s%s%s%s%s", a->program,
		  debian ? "; on Debian it is in the package " : "", debian ? debian : "",
		  fedora ? "; on Fedora it is in the package " : "", fedora ? fedora : "",
		  debian || fedora ? "" : ", and its adapter names no package");
	return -ENOENT;
}
