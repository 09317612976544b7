/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whole files, in a directory of the test's own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/mem.h"
#include "core/base/str.h"

static char dir[64];

static int make_dir(void **state)
{
	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/test-vpclab-XXXXXX");
	return mkdtemp(dir) && chdir(dir) == 0 ? 0 : -1;
}

/* Removes what the tests made: files, and directories two deep. */
static void remove_in(const char *path)
{
	DIR *d = opendir(path);
	struct dirent *e;

	while (d && (e = readdir(d))) {
		autofree char *name = mem_printf("%s/%s", path, e->d_name);

		if (str_eq(e->d_name, ".") || str_eq(e->d_name, ".."))
			continue;
		if (unlink(name) != 0)
			remove_in(name);
	}
	if (d)
		closedir(d);
	rmdir(path);
}

static int remove_dir(void **state)
{
	(void)state;
	remove_in(dir);
	return access(dir, F_OK) == 0 ? -1 : 0;
}

static int entries(void)
{
	DIR *d = opendir(".");
	int n = 0;

	while (readdir(d))
		n++;
	closedir(d);
	return n - 2;
}

static void assert_file(const char *path, const char *want, size_t want_len)
{
	autofree char *text = NULL;
	struct err err;
	size_t len;

	assert_int_equal(file_read(path, &text, &len, &err), 0);
	assert_int_equal(len, want_len);
	assert_memory_equal(text, want, len + 1);
}

static void what_is_written_is_read(void **state)
{
	struct err err;
	struct stat st;

	(void)state;
	umask(027);
	assert_int_equal(file_write("a", "x\0y", 3, &err), 0);
	assert_file("a", "x\0y", 3);
	assert_int_equal(file_write("a", "", 0, &err), 0);
	assert_file("a", "", 0);
	assert_int_equal(stat("a", &st), 0);
	assert_int_equal(st.st_mode & 0777, 0640);
	assert_int_equal(entries(), 1); /* no temporary file is left */
}

static void large_files(void **state)
{
	size_t len = 3 * 1024 * 1024 + 17;
	autofree char *text = mem_zalloc(len + 1);
	struct err err;

	(void)state;
	for (size_t i = 0; i < len; i++)
		text[i] = (char)(i * 7 + i / 1000);
	assert_int_equal(file_write("large", text, len, &err), 0);
	assert_file("large", text, len);
	unlink("large");
}

static void what_is_not_there_says_so(void **state)
{
	char *text = NULL;
	struct err err;
	size_t len = 7;

	(void)state;
	assert_int_equal(file_read("none", &text, &len, &err), -ENOENT);
	assert_string_equal(err.text, "cannot read 'none': No such file or directory");
	assert_int_equal(file_read(".", &text, &len, &err), -EISDIR);
	assert_int_equal(file_read("/dev/zero", &text, &len, &err), -EFBIG);
	assert_null(text);
	assert_int_equal(len, 7);
}

static void a_failed_write_leaves_the_old_file(void **state)
{
	struct err err;

	(void)state;
	assert_int_equal(file_write("no/where", "x", 1, &err), -ENOENT);
	assert_string_equal(err.text, "cannot write 'no/where': No such file or directory");
	assert_int_equal(mkdir("d", 0777), 0);
	assert_int_equal(file_write("d", "x", 1, &err), -EISDIR);
	assert_int_equal(rmdir("d"), 0);
	assert_int_equal(entries(), 1);
}

static void whether_it_can_be_written_is_asked_before(void **state)
{
	struct err err;

	(void)state;
	assert_int_equal(file_check_write("new", &err), 0);
	assert_int_equal(file_check_write("/dev/null", &err), 0);
	assert_int_equal(file_check_write("no/where", &err), -ENOENT);
	assert_int_equal(mkdir("d", 0777), 0);
	assert_int_equal(file_check_write("d", &err), -EISDIR);
	assert_int_equal(rmdir("d"), 0);
	assert_int_equal(entries(), 1); /* and nothing is made by asking */
}

static void a_symlink_stays_one_and_a_device_is_written_into(void **state)
{
	struct err err;
	struct stat st;
	int fds[2];
	char path[32], got[4] = "";

	(void)state;
	assert_int_equal(symlink("a", "link"), 0);
	assert_int_equal(file_write("link", "new", 3, &err), 0);
	assert_int_equal(lstat("link", &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_file("a", "new", 3);
	assert_int_equal(file_write("/dev/null", "x", 1, &err), 0);
	assert_int_equal(stat("/dev/null", &st), 0);
	assert_true(S_ISCHR(st.st_mode));
	assert_int_equal(pipe(fds), 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fds[1]);
	assert_int_equal(file_write(path, "abc", 3, &err), 0);
	assert_int_equal(read(fds[0], got, 3), 3);
	assert_string_equal(got, "abc");
	close(fds[0]);
	close(fds[1]);
	unlink("link");
}

static void standard_input_is_a_dash(void **state)
{
	int saved = dup(0), fd = open("a", O_RDONLY);

	(void)state;
	dup2(fd, 0);
	assert_file("-", "new", 3);
	dup2(saved, 0);
	close(fd);
	close(saved);
}

static void directories_with_their_parents(void **state)
{
	autofree char *absolute = mem_printf("%s/p/q/", dir);
	struct err err;
	struct stat st;

	(void)state;
	assert_int_equal(file_mkdirs("x/y//z", &err), 0);
	assert_int_equal(stat("x/y/z", &st), 0);
	assert_true(S_ISDIR(st.st_mode));
	assert_int_equal(file_mkdirs("x/y/z/", &err), 0); /* again: fine */
	assert_int_equal(file_mkdirs(absolute, &err), 0);
	assert_int_equal(stat("p/q", &st), 0);
	assert_int_equal(file_mkdirs("a/b", &err), -ENOTDIR);
	assert_string_equal(err.text, "cannot make directory 'a': Not a directory");
	assert_int_equal(file_mkdirs("/", &err), 0);
	assert_int_equal(file_mkdirs(".", &err), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_is_written_is_read),
	    cmocka_unit_test(large_files),
	    cmocka_unit_test(what_is_not_there_says_so),
	    cmocka_unit_test(a_failed_write_leaves_the_old_file),
	    cmocka_unit_test(whether_it_can_be_written_is_asked_before),
	    cmocka_unit_test(a_symlink_stays_one_and_a_device_is_written_into),
	    cmocka_unit_test(standard_input_is_a_dash),
	    cmocka_unit_test(directories_with_their_parents),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
