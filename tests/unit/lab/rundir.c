/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rundir, ident, state: names, claims, and which run directories are stale. No lab is started. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/mem.h"
#include "core/base/str.h"
#include "core/base/units.h"
#include "emulator/lab/ident.h"
#include "emulator/lab/rundir.h"
#include "emulator/lab/state.h"

static char top[64], base[128];

static int set_up(void **state)
{
	(void)state;
	snprintf(top, sizeof(top), "/tmp/test-vpclab-XXXXXX");
	if (!mkdtemp(top))
		return -1;
	snprintf(base, sizeof(base), "%s/vpclab", top);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	return rmdir(top); /* fails, and the test with it, where something was left */
}

static void test_names(void **state)
{
	static const struct {
		const char *name, *says;
	} bad[] = {
	    {"", "no name"},
	    {"a/b", "byte 2"},
	    {"a:b", "byte 2"},
	    {"..", "start with '.'"},
	    {".hidden", "start with '.'"},
	    {"-x", "start with '-'"},
	    {"tab\there", "byte 4"},
	    {"caf\xc3\xa9", "byte 4"},
	    {"new\nline", "byte 4"},
	};
	static const char *const good[] = {"a", "zstack", "A.b_c-9", "0"};
	char longest[RUNDIR_NAME_MAX + 2];
	struct err err = ERR_INIT;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(rundir_check_name(bad[i].name, &err), -EINVAL);
		assert_int_equal(err.kind, ERR_INPUT);
		if (!strstr(err.text, bad[i].says))
			fail_msg("'%s' does not say '%s'", err.text, bad[i].says);
	}
	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		assert_int_equal(rundir_check_name(good[i], &err), 0);
	memset(longest, 'n', sizeof(longest));
	longest[RUNDIR_NAME_MAX + 1] = '\0';
	assert_int_equal(rundir_check_name(longest, &err), -EINVAL);
	longest[RUNDIR_NAME_MAX] = '\0';
	assert_int_equal(rundir_check_name(longest, &err), 0);
}

static void test_bases(void **state)
{
	static const char *const bad[] = {"relative", "/nonexistent/dir", "/etc/passwd"};
	char bases[RUNDIR_BASES][PATH_MAX], expected[64];
	autofree char *old =
	    getenv("XDG_RUNTIME_DIR") ? mem_strdup(getenv("XDG_RUNTIME_DIR")) : NULL;
	size_t n;

	(void)state;
	snprintf(expected, sizeof(expected), "/tmp/vpclab-%u", (unsigned)geteuid());
	setenv("XDG_RUNTIME_DIR", top, 1);
	n = rundir_bases(bases);
	assert_in_range(n, 1, RUNDIR_BASES);
	if (geteuid() != 0) {
		assert_string_equal(bases[0], base);
		assert_string_equal(bases[n - 1], expected);
	}
	/* not absolute, not there, not ours: not used; and /tmp never by root */
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		setenv("XDG_RUNTIME_DIR", bad[i], 1);
		n = rundir_bases(bases);
		assert_int_equal(n, 1);
		assert_string_equal(bases[0], geteuid() ? expected : "/run/vpclab");
	}
	if (old)
		setenv("XDG_RUNTIME_DIR", old, 1);
	else
		unsetenv("XDG_RUNTIME_DIR");
}

static void test_claim_and_remove(void **state)
{
	struct err err = ERR_INIT;
	struct rundir r;
	struct stat st;
	autofree char *path = mem_printf("%s/lab/state.json.tmp", base);
	autofree char *sub = mem_printf("%s/lab/sub", base), *subsub = mem_printf("%s/sub", sub);

	(void)state;
	assert_int_equal(rundir_claim(base, "lab", &r, &err), 0);
	assert_string_equal(r.name, "lab");
	assert_int_equal(stat(r.path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	assert_int_equal(stat(base, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	assert_true(mkfifo(path, 0600) == 0); /* whatever a killed process left */
	assert_int_equal(mkdir(sub, 0700), 0);
	assert_int_equal(mkdir(subsub, 0700), 0);
	rundir_remove(&r);
	assert_int_equal(access(base, F_OK), -1);
	assert_int_equal(r.fd, -1);
	rundir_remove(&r); /* harmless */
}

/* A process that holds a lab of that name, with a state.json if `with_state`, until it is killed.
 */
static pid_t hold(const char *name, bool with_state)
{
	int fds[2];
	char c;
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	if (pid == 0) {
		struct err err = ERR_INIT;
		struct rundir r;

		if (rundir_claim(base, name, &r, &err))
			_exit(1);
		if (with_state) {
			json_t *s = json_pack("{s:i, s:s, s:s}", "version", STATE_VERSION, "name",
					      name, "status", "starting");

			if (state_write(r.path, s, &err))
				_exit(1);
		}
		if (write(fds[1], "x", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(fds[1]);
	assert_int_equal(read(fds[0], &c, 1), 1);
	close(fds[0]);
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void test_log(void **state)
{
	struct err err = ERR_INIT;
	autofree char *path = NULL, *text = NULL;
	struct rundir r;

	(void)state;
	assert_int_equal(rundir_claim(base, "logs", &r, &err), 0);
	rundir_log(&r, "no %s of its own", "/proc");
	rundir_log(&r, "100 %%");
	path = mem_printf("%s/logs/log", base);
	assert_int_equal(file_read(path, &text, NULL, &err), 0);
	assert_string_equal(text, "no /proc of its own\n100 %\n");
	rundir_remove(&r);
}

static void test_held(void **state)
{
	pid_t pid = hold("held", true);
	struct err err = ERR_INIT;
	struct rundir r;

	(void)state;
	assert_int_equal(rundir_claim(base, "held", &r, &err), -EALREADY);
	assert_false(rundir_prune(base, "held"));
	assert_false(rundir_wait_gone(base, "held", clock_now_ns() + 20 * NSEC_PER_MSEC));
	/* another name is free */
	assert_int_equal(rundir_claim(base, "other", &r, &err), 0);
	rundir_remove(&r);
	end(pid);
	/* what it left is stale: taken over, or pruned */
	assert_int_equal(rundir_claim(base, "held", &r, &err), 0);
	assert_int_equal(access(r.path, F_OK), 0);
	rundir_remove(&r);
	end(hold("held", true));
	assert_true(rundir_prune(base, "held"));
	assert_int_equal(access(base, F_OK), -1);
}

/* A lock without a state is a lab that is just ending: whoever wants the name waits for that. */
static void test_ending(void **state)
{
	pid_t holder = hold("ending", false), killer = fork();
	struct err err = ERR_INIT;
	struct rundir r;

	(void)state;
	if (killer == 0) {
		clock_sleep_until_ns(clock_now_ns() + 50 * NSEC_PER_MSEC);
		kill(holder, SIGKILL);
		_exit(0);
	}
	assert_int_equal(rundir_claim(base, "ending", &r, &err), 0);
	rundir_remove(&r);
	assert_int_equal(waitpid(killer, NULL, 0), killer);
	assert_int_equal(waitpid(holder, NULL, 0), holder);
}

static void test_unsafe_base(void **state)
{
	struct err err = ERR_INIT;
	struct rundir r;

	(void)state;
	assert_int_equal(mkdir(base, 0777), 0);
	assert_int_equal(chmod(base, 0777), 0);
	assert_int_equal(rundir_claim(base, "lab", &r, &err), -EPERM);
	assert_non_null(strstr(err.text, "others may write"));
	assert_int_equal(rmdir(base), 0);
	assert_int_equal(symlink("/tmp", base), 0);
	assert_true(rundir_claim(base, "lab", &r, &err) < 0);
	assert_int_equal(unlink(base), 0);
}

/* Puts something in the place of BASE or BASE/NAME, which must be no lab then, held or not. */
static void assert_no_lab(void)
{
	struct err err = ERR_INIT;
	struct rundir r;
	DIR *dir;

	assert_int_equal(rundir_open(base, "lab", &r, &err), -ENOENT);
	assert_true(rundir_prune(base, "lab"));
	assert_int_equal(rundir_list(base, &dir, &err), 0);
	if (dir)
		closedir(dir);
}

static void test_foreign(void **state)
{
	autofree char *aside = mem_printf("%s/aside", top);
	struct err err = ERR_INIT;
	struct rundir r;
	pid_t pid = hold("lab", true);

	(void)state;
	assert_int_equal(rundir_open(base, "lab", &r, &err), 0);
	rundir_close(&r);
	/* open to others; a link to a good one; a file in the way */
	assert_int_equal(chmod(base, 0777), 0);
	assert_no_lab();
	assert_int_equal(chmod(base, 0700), 0);
	assert_int_equal(rename(base, aside), 0);
	assert_int_equal(symlink(aside, base), 0);
	assert_no_lab();
	assert_int_equal(unlink(base), 0);
	fclose(fopen(base, "w"));
	assert_no_lab();
	assert_int_equal(rundir_claim(base, "lab", &r, &err), -ENOTDIR);
	assert_non_null(strstr(err.text, "in the way"));
	assert_int_equal(unlink(base), 0);
	assert_int_equal(rename(aside, base), 0);
	if (geteuid() == 0) { /* another user's, as a whole and the lab alone */
		assert_int_equal(chown(base, 47111, 47111), 0);
		assert_no_lab();
		assert_int_equal(chown(base, 0, 0), 0);
		assert_int_equal(rundir_open(base, "lab", &r, &err), 0);
		assert_int_equal(fchown(r.fd, 47111, 47111), 0);
		assert_no_lab();
		assert_int_equal(fchown(r.fd, 0, 0), 0);
		rundir_close(&r);
	}
	end(pid);
	assert_true(rundir_prune(base, "lab"));
}

/* Whatever is there by the name of state.json, reading it does not hang. */
static void test_odd_state(void **state)
{
	autofree char *path = mem_printf("%s/odd/state.json", base);
	struct err err = ERR_INIT;
	json_t *back = NULL, *s;
	struct rundir r;

	(void)state;
	assert_int_equal(rundir_claim(base, "odd", &r, &err), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(state_read(&r, &back, &err), -EPROTO);
	rundir_ask_end(&r);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(state_read(&r, &back, &err), -EPROTO);
	rundir_ask_end(&r);
	assert_int_equal(symlink("/etc/passwd", path), 0);
	assert_true(state_read(&r, &back, &err) < 0);
	rundir_ask_end(&r);
	assert_int_equal(file_write(path, "{\"ver", 5, &err), 0);
	assert_int_equal(state_read(&r, &back, &err), -EPROTO);
	assert_non_null(strstr(err.text, "damaged"));
	s = json_pack("{s:i, s:s}", "version", STATE_VERSION, "name", "other");
	assert_int_equal(state_write(r.path, s, &err), 0);
	json_decref(s);
	assert_int_equal(state_read(&r, &back, &err), -EPROTO);
	assert_non_null(strstr(err.text, "another lab"));
	rundir_remove(&r);
}

static void test_intact(void **state)
{
	autofree char *aside = mem_printf("%s/aside", top);
	struct err err = ERR_INIT;
	struct rundir r;
	int fd;

	(void)state;
	assert_int_equal(rundir_claim(base, "lab", &r, &err), 0);
	assert_false(rundir_intact(&r)); /* no state yet */
	close(openat(r.fd, "state.json", O_CREAT | O_WRONLY, 0600));
	fd = rundir_notify(&r);
	assert_true(fd >= 0);
	assert_true(rundir_intact(&r));
	assert_int_equal(rename(base, aside), 0);
	assert_false(rundir_intact(&r));
	assert_int_equal(rename(aside, base), 0);
	assert_true(rundir_intact(&r));
	rundir_drain(fd);
	rundir_ask_end(&r);
	assert_false(rundir_intact(&r));
	assert_true(poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, 0) == 1);
	close(fd);
	rundir_remove(&r);
}

static void test_parse_start(void **state)
{
	(void)state;
	assert_int_equal(ident_parse_start("1 (init) S 0 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 "
					   "4711 1 2 3"),
			 4711);
	assert_int_equal(ident_parse_start("7 (a ) (b) S 0 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 "
					   "0 99 1"),
			 99);
	assert_int_equal(ident_parse_start("7 (cut) S 0 1"), 0);
	assert_int_equal(ident_parse_start("nonsense"), 0);
}

static void test_parse_ending(void **state)
{
	(void)state;
	assert_false(ident_parse_ending("1 (init) S 0 1 1 0 -1 4194560 1 2 3"));
	assert_true(ident_parse_ending("1 (init) S 0 1 1 0 -1 4194564 1 2 3")); /* PF_EXITING */
	assert_true(ident_parse_ending("7 (a) b) Z 0 1 1 0 -1 4194560 1 2 3"));
	assert_true(ident_parse_ending("7 (cut) S 0 1"));
	assert_true(ident_parse_ending(""));
}

static void test_ident_is_ours(void **state)
{
	struct ident me = {.pid = getpid()}, none = {.pid = -5}, first = {.pid = 1};

	(void)state;
	assert_true(ident_is_ours(&me, false));
	assert_false(ident_is_ours(&me, true)); /* it has no user namespace of its own */
	assert_false(ident_is_ours(&none, false));
	if (geteuid() != 0)
		assert_false(ident_is_ours(&first, false)); /* root's */
}

static void test_ident(void **state)
{
	struct err err = ERR_INIT;
	struct ident me, other;
	int fd;

	(void)state;
	assert_int_equal(ident_of(getpid(), &me, &err), 0);
	fd = ident_open(&me);
	assert_true(fd >= 0);
	close(fd);
	other = me;
	other.start++; /* the pid is used again by a later process */
	assert_int_equal(ident_open(&other), -ESRCH);
	other = me;
	other.boot[0] ^= 1; /* before the last boot */
	assert_int_equal(ident_open(&other), -ESRCH);
	other = me;
	other.pid = 0;
	assert_int_equal(ident_open(&other), -ESRCH);
	assert_int_equal(ident_of(-5, &other, &err), -ESRCH);
}

static json_t *sample_state(void)
{
	const char *sets[] = {"a=b", "c=\xff"};
	struct lab_up_options o = {.source_name = "caf\xe9.yaml",
				   .source_text = "version: 1\n",
				   .sets = sets,
				   .n_sets = 2,
				   .compile = {.machine = MACHINE_DEFAULT, .unshaped = true}};
	json_t *s = state_new("sample", &o);

	assert_non_null(s);
	return s;
}

static void test_state_life(void **state)
{
	json_t *s = sample_state();
	struct err err = ERR_INIT;
	struct ident me, back;
	int fd = -1;

	(void)state;
	assert_int_equal(state_life(s, NULL, &err), STATE_STARTING);
	assert_int_equal(ident_of(getpid(), &me, &err), 0);
	state_set_ident(s, "watcher", &me);
	assert_int_equal(state_life(s, NULL, &err), STATE_STARTING);
	me.start--;
	state_set_ident(s, "watcher", &me); /* who started it has died */
	assert_int_equal(state_life(s, NULL, &err), STATE_ENDED);
	json_object_set_new(s, "status", json_string("running"));
	assert_int_equal(state_life(s, NULL, &err), STATE_ENDED); /* names no supervisor */
	assert_int_equal(ident_of(getpid(), &me, &err), 0);
	state_set_ident(s, "supervisor", &me);
	assert_int_equal(json_integer_value(json_object_get(s, "pid")), getpid());
	assert_int_equal(state_get_ident(s, "supervisor", &back, &err), 0);
	assert_int_equal(back.start, me.start);
	assert_int_equal(state_life(s, &fd, &err), STATE_RUNNING);
	assert_true(fd >= 0);
	close(fd);
	me.start--;
	state_set_ident(s, "supervisor", &me);
	assert_int_equal(state_life(s, NULL, &err), STATE_ENDED);
	json_decref(s);
}

static void test_state_file(void **state)
{
	struct compile_options o = {0};
	json_t *s = sample_state(), *back = NULL;
	struct err err = ERR_INIT;
	struct rundir r;
	autofree char *path = mem_printf("%s/sample/state.json", base);
	FILE *f;

	(void)state;
	assert_int_equal(rundir_claim(base, "sample", &r, &err), 0);
	assert_int_equal(state_read(&r, &back, &err), -ENOENT);
	assert_int_equal(state_write(r.path, s, &err), 0);
	assert_int_equal(state_read(&r, &back, &err), 0);
	assert_true(json_equal(s, back));
	assert_string_equal(json_string_value(json_object_get(back, "source")), "caf?.yaml");
	assert_int_equal(state_options(back, &o, &err), 0);
	assert_true(o.unshaped);
	assert_int_equal(o.machine.exact_max_bps, MACHINE_DEFAULT.exact_max_bps);
	json_decref(back);
	json_decref(s);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs("{\"version\": 999}", f);
	fclose(f);
	assert_int_equal(state_read(&r, &back, &err), -EPROTO);
	assert_non_null(strstr(err.text, "another version"));
	rundir_remove(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_names),
	    cmocka_unit_test_setup_teardown(test_bases, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_claim_and_remove, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_log, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_held, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_ending, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_unsafe_base, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_foreign, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_odd_state, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_intact, set_up, tear_down),
	    cmocka_unit_test(test_parse_start),
	    cmocka_unit_test(test_parse_ending),
	    cmocka_unit_test(test_ident_is_ours),
	    cmocka_unit_test(test_ident),
	    cmocka_unit_test(test_state_life),
	    cmocka_unit_test_setup_teardown(test_state_file, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
