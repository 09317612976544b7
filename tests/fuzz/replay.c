/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * replay: feeds files to a fuzz target once each, so that what a fuzzer found stays tested where
 * there is no fuzzer. Arguments are files, or directories whose files are taken. Prints TAP. A file
 * that crashes the target ends the program: the last line names it.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "core/base/file.h"
#include "core/base/mem.h"
#include "core/base/str.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int count;

static int replay_file(const char *path)
{
	autofree char *text = NULL;
	struct err err = ERR_INIT;
	size_t len;

	count++;
	printf("# %s\n", path);
	fflush(stdout);
	if (file_read(path, &text, &len, &err)) {
		printf("not ok %d - %s\n# %s\n", count, path, err.text);
		return 1;
	}
	/* A copy without the NUL behind it: a target that reads too far is found. */
	uint8_t *exact = malloc(len ? len : 1);
	if (!exact)
		abort();
	for (size_t i = 0; i < len; i++)
		exact[i] = (uint8_t)text[i];
	LLVMFuzzerTestOneInput(exact, len);
	free(exact);
	printf("ok %d - %s\n", count, path);
	return 0;
}

static int not_hidden(const struct dirent *e)
{
	return e->d_name[0] != '.';
}

static int replay_dir(const char *path)
{
	struct dirent **list;
	int n = scandir(path, &list, not_hidden, alphasort), failed = 0;

	if (n < 0) {
		perror(path);
		return 1;
	}
	for (int i = 0; i < n; i++) {
		autofree char *name = mem_printf("%s/%s", path, list[i]->d_name);

		failed |= replay_file(name);
		free(list[i]);
	}
	free(list);
	return failed;
}

int main(int argc, char **argv)
{
	int failed = 0;

	for (int i = 1; i < argc; i++) {
		struct stat st;

		if (stat(argv[i], &st) == 0 && S_ISDIR(st.st_mode))
			failed |= replay_dir(argv[i]);
		else
			failed |= replay_file(argv[i]);
	}
	printf("1..%d\n", count);
	return failed || !count;
}
