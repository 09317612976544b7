// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests of core/cli/data: shipped files found by name, others left as they are. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "core/base/str.h"
#include "core/cli/command.h"
#include "core/base/share.h"
#include "core/cli/data.h"

static void make_file(const char *path)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fclose(f), 0);
}

/* A current directory of our own with topologies/one.yaml, topologies/two.yaml, mine.yaml, and the
 * files two and other. */
static int enter_directory(void **state)
{
	char *dir = mem_strdup("/tmp/test-vpclab-XXXXXX");

	*state = dir;
	if (!mkdtemp(dir) || chdir(dir) || mkdir("topologies", 0777) || mkdir("one", 0777))
		return -1;
	make_file("topologies/one.yaml");
	make_file("topologies/two.yaml");
	make_file("topologies/readme.txt");
	make_file("mine.yaml");
	make_file("two");
	make_file("other");
	return 0;
}

static int leave_directory(void **state)
{
	static const char *const files[] = {"topologies/one.yaml",
					    "topologies/two.yaml",
					    "topologies/readme.txt",
					    "mine.yaml",
					    "two",
					    "other"};

	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		unlink(files[i]);
	rmdir("topologies");
	rmdir("one");
	if (chdir("/"))
		return -1;
	rmdir(*state);
	free(*state);
	return 0;
}

static void assert_found(const char *name, const char *end)
{
	struct err err = ERR_INIT;
	autofree char *path = NULL;

	assert_int_equal(data_find(DATA_TOPOLOGIES, name, &path, &err), 0);
	assert_true(str_ends(path, end));
}

static void test_found(void **state)
{
	(void)state;
	assert_found("-", "-");
	assert_found("mine.yaml", "mine.yaml");
	assert_found("./mine.yaml", "./mine.yaml");
	assert_found("two", "topologies/two.yaml"); /* a file of that name hides nothing */
	assert_found("./two", "./two");
	assert_found("other", "other");
	assert_found("one", "topologies/one.yaml"); /* a directory of that name is no file */
}

static void test_missing(void **state)
{
	struct err err = ERR_INIT;
	char *path = NULL;
	(void)state;

	assert_int_equal(data_find(DATA_TOPOLOGIES, "twoo", &path, &err), -ENOENT);
	assert_null(path);
	assert_int_equal(err_exit_status(&err), EXIT_USAGE);
	assert_non_null(strstr(err.text, "did you mean 'two'?"));
	assert_int_equal(data_find(DATA_TOPOLOGIES, "none/two", &path, &err), -ENOENT);
	assert_non_null(strstr(err.text, "no file 'none/two'"));
}

static void test_names(void **state)
{
	struct share_names names;
	struct arena a;
	size_t seen = 0;
	(void)state;

	arena_init(&a);
	share_names(DATA_TOPOLOGIES, &a, &names);
	for (size_t i = 0; i < names.list.n; i++) {
		seen += str_eq(names.list.v[i], "one") || str_eq(names.list.v[i], "two");
		assert_false(str_starts(names.list.v[i], "readme"));
		assert_true(!i || strcmp(names.list.v[i - 1], names.list.v[i]) < 0);
	}
	assert_int_equal(seen, 2);
	arena_done(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_found),
	    cmocka_unit_test(test_missing),
	    cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
