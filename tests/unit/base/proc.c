/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Child processes: what they get, how they end, and that nothing of them stays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/base/proc.h"
#include "core/base/units.h"

#define LONG (20 * NSEC_PER_SEC) /* of a deadline that should never be met */

#define SH(script) ((const char *const[]){"sh", "-c", (script), NULL})

/* Runs a script to its end; its standard output, the caller frees. */
static char *output_of(const char *script)
{
	struct strbuf out = {0};
	struct err err = ERR_INIT;
	int status = -1;

	if (proc_run(SH(script), LONG, &out, NULL, &status, &err))
		fail_msg("%s", err.text);
	assert_int_equal(status, 0);
	return strbuf_take(&out);
}

static bool no_child_is_left(void)
{
	return waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD;
}

static int64_t after(int64_t span_ns)
{
	return clock_now_ns() + span_ns;
}

static void output_error_and_status_come_back(void **state)
{
	autostr struct strbuf out = {0};
	autostr struct strbuf errout = {0};
	struct err err;
	int status;

	(void)state;
	assert_int_equal(
	    proc_run(SH("echo out; echo err >&2; exit 7"), LONG, &out, &errout, &status, &err), 0);
	assert_int_equal(status, 7);
	assert_string_equal(strbuf_text(&out), "out\n");
	assert_string_equal(strbuf_text(&errout), "err\n");
	assert_int_equal(proc_run(SH("kill -9 $$"), LONG, NULL, NULL, &status, &err), 0);
	assert_int_equal(status, 128 + SIGKILL);
	assert_true(no_child_is_left());
}

static void much_output_on_both_does_not_block(void **state)
{
	autostr struct strbuf out = {0};
	autostr struct strbuf errout = {0};
	struct err err;
	int status;

	(void)state;
	assert_int_equal(proc_run(SH("head -c 3000000 /dev/zero; head -c 3000000 /dev/zero >&2"),
				  LONG, &out, &errout, &status, &err),
			 0);
	assert_int_equal(out.len, 3000000);
	assert_int_equal(errout.len, 3000000);
}

static void without_end_is_cut_off(void **state)
{
	autostr struct strbuf out = {0};
	struct err err;
	int status = 77;

	(void)state;
	assert_int_equal(
	    proc_run(SH("exec sleep 1000"), 50 * NSEC_PER_MSEC, &out, NULL, &status, &err),
	    -ETIMEDOUT);
	assert_string_equal(err.text, "'sh' did not end within 50 ms");
	assert_int_equal(status, 77);
	assert_true(no_child_is_left());
	assert_int_equal(
	    proc_run((const char *const[]){"yes", NULL}, LONG, &out, NULL, &status, &err), -EFBIG);
	assert_true(no_child_is_left());
}

/* A daemon that keeps the pipe open must not keep us. */
static void a_grandchild_is_not_waited_for(void **state)
{
	int64_t start = clock_now_ns();
	autofree char *out = output_of("sleep 1000 & echo $!");

	(void)state;
	assert_true(clock_now_ns() - start < LONG / 2);
	assert_int_equal(kill(atoi(out), SIGKILL), 0);
}

static void what_cannot_start_says_why(void **state)
{
	const char *const none[] = {"no-such-program-here", NULL}, *const dir[] = {"/", NULL};
	struct proc_spec spec = PROC_SPEC(none);
	struct proc p = {.pid = 5, .pidfd = 6};
	struct err err;
	int status;

	(void)state;
	assert_int_equal(proc_start(&spec, &p, &err), -ENOENT);
	assert_string_equal(err.text,
			    "cannot start 'no-such-program-here': No such file or directory");
	assert_int_equal(p.pid, 5); /* written only on success */
	assert_int_equal(proc_run(dir, LONG, NULL, NULL, &status, &err), -EACCES);
	spec = PROC_SPEC(SH("true"));
	spec.cpu = CPU_SETSIZE - 1;
	assert_int_equal(proc_start(&spec, &p, &err), -EINVAL);
	spec.cpu = -1;
	spec.in = 9999;
	assert_int_equal(proc_start(&spec, &p, &err), -EBADF);
	assert_true(no_child_is_left());
}

/* However few: it either starts or says so. */
static void few_descriptors_are_said(void **state)
{
	const char *const yes[] = {"true", NULL};
	struct rlimit before, few;
	int started = 0;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	for (rlim_t n = 4; n < 32; n++) {
		struct proc_spec spec = PROC_SPEC(yes);
		struct proc p;
		struct err err = ERR_INIT;
		int status = -1;

		few = (struct rlimit){n, before.rlim_max};
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
		int r = proc_start(&spec, &p, &err);
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
		if (r) {
			assert_int_equal(r, -EMFILE);
			assert_non_null(strstr(err.text, "ulimit -n"));
			continue;
		}
		assert_int_equal(proc_wait(&p, clock_now_ns() + LONG, &status, &err), 0);
		assert_int_equal(status, 0);
		started++;
	}
	assert_true(started > 0 && started < 28);
	assert_true(no_child_is_left());
}

static void waiting_has_a_deadline_and_killing_an_end(void **state)
{
	struct proc_spec spec = PROC_SPEC(SH("exec sleep 1000"));
	int64_t start = clock_now_ns();
	struct proc p;
	struct err err;
	int status;

	(void)state;
	assert_int_equal(proc_start(&spec, &p, &err), 0);
	assert_int_equal(proc_wait(&p, after(5 * NSEC_PER_MSEC), &status, &err), -ETIMEDOUT);
	assert_int_equal(proc_wait(&p, 0, &status, &err), -ETIMEDOUT); /* long past: a look */
	assert_int_equal(kill(p.pid, 0), 0);
	proc_kill(&p, LONG); /* SIGTERM is enough */
	assert_true(clock_now_ns() - start < LONG);
	assert_int_equal(p.pid, -1);
	assert_int_equal(p.pidfd, -1);
	proc_kill(&p, LONG); /* harmless */
	assert_int_equal(proc_wait(&p, INT64_MAX, &status, &err), -ECHILD);
	assert_true(no_child_is_left());
}

static void who_ignores_sigterm_is_killed(void **state)
{
	struct proc_spec spec = PROC_SPEC(SH("trap '' TERM; echo ready; while :; do read x; done"));
	int out[2], in[2];
	char ready[6];
	struct proc p;
	struct err err;

	(void)state;
	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	assert_int_equal(pipe2(in, O_CLOEXEC), 0);
	spec.out = out[1];
	spec.in = in[0];
	assert_int_equal(proc_start(&spec, &p, &err), 0);
	assert_int_equal(read(out[0], ready, sizeof(ready)), 6);
	proc_kill(&p, 20 * NSEC_PER_MSEC);
	assert_true(no_child_is_left());
	for (int i = 0; i < 2; i++) {
		close(out[i]);
		close(in[i]);
	}
}

static void the_wait_status_is_waitpids(void **state)
{
	struct proc_spec spec = PROC_SPEC(SH("kill -USR1 $$"));
	struct proc p;
	struct err err;
	int status;

	(void)state;
	assert_int_equal(proc_start(&spec, &p, &err), 0);
	assert_int_equal(proc_wait(&p, INT64_MAX, &status, &err), 0);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(proc_shell_status(status), 128 + SIGUSR1);
	assert_int_equal(proc_shell_status(0x300), 3);
}

/* Of our own descriptors a child sees none but those that it was given. */
static void descriptors_are_those_of_the_spec(void **state)
{
	int stray = open("/dev/null", O_RDONLY), given = open("/dev/null", O_RDONLY), out[2];
	struct proc_spec spec = PROC_SPEC(SH("ls /proc/self/fd | tr '\\n' ' '"));
	char got[64] = "";
	struct proc p;
	struct err err;
	int status;

	(void)state;
	assert_true(stray > 3 || given > 3);
	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	spec.in = PROC_NULL;
	spec.out = out[1];
	assert_int_equal(proc_start(&spec, &p, &err), 0);
	assert_int_equal(proc_wait(&p, after(LONG), &status, &err), 0);
	assert_true(read(out[0], got, sizeof(got) - 1) > 0);
	assert_string_equal(got, "0 1 2 3 "); /* 3 is the directory that ls reads */
	spec.keep_fd = given;
	assert_int_equal(proc_start(&spec, &p, &err), 0);
	assert_int_equal(proc_wait(&p, after(LONG), &status, &err), 0);
	memset(got, 0, sizeof(got));
	assert_true(read(out[0], got, sizeof(got) - 1) > 0);
	assert_string_equal(got, "0 1 2 3 4 ");
	close(stray);
	close(given);
	close(out[0]);
	close(out[1]);
}

/* Sources in the places of other targets: each must arrive where it is wanted. */
static void descriptors_may_cross_over(void **state)
{
	struct proc_spec spec = PROC_SPEC(SH("read a; read b <&3; echo \"$a$b\"; echo e >&2"));
	int saved[4], in[2], keep[2], out[2], errs[2], status;
	char got[16] = "", got_err[16] = "";
	struct proc p;
	struct err err;

	(void)state;
	for (int i = 0; i < 4; i++)
		saved[i] = fcntl(i, F_DUPFD_CLOEXEC, 100);
	assert_int_equal(pipe2(in, O_CLOEXEC) | pipe2(keep, O_CLOEXEC), 0);
	assert_int_equal(pipe2(out, O_CLOEXEC) | pipe2(errs, O_CLOEXEC), 0);
	dup2(in[0], 3);
	dup2(keep[0], 2);
	dup2(out[1], 0);
	dup2(errs[1], 1);
	spec.in = 3;
	spec.keep_fd = 2;
	spec.out = 0;
	spec.errfd = 1;
	assert_int_equal(write(in[1], "in\n", 3) + write(keep[1], "keep\n", 5), 8);
	status = proc_start(&spec, &p, &err);
	for (int i = 0; i < 4; i++) {
		if (saved[i] >= 0) {
			dup2(saved[i], i);
			close(saved[i]);
		} else {
			close(i);
		}
	}
	assert_int_equal(status, 0);
	assert_int_equal(proc_wait(&p, after(LONG), &status, &err), 0);
	assert_int_equal(read(out[0], got, sizeof(got) - 1), 7);
	assert_string_equal(got, "inkeep\n");
	assert_int_equal(read(errs[0], got_err, sizeof(got_err) - 1), 2);
	assert_string_equal(got_err, "e\n");
	for (int i = 0; i < 2; i++) {
		close(in[i] == 3 ? -1 : in[i]);
		close(keep[i] == 3 ? -1 : keep[i]);
		close(out[i]);
		close(errs[i]);
	}
}

static void environment_and_cpu(void **state)
{
	const char *const env[] = {"VPCLAB_TEST=yes", "HOME=/nowhere", NULL};
	const char *script = "[ $VPCLAB_TEST$HOME = yes/nowhere ] && [ -n \"$PATH\" ] && "
			     "grep -q '^Cpus_allowed_list:.0$' /proc/self/status";
	struct proc_spec spec = PROC_SPEC(SH(script));
	struct proc p;
	struct err err;
	cpu_set_t set;
	int status;

	(void)state;
	sched_getaffinity(0, sizeof(set), &set);
	if (!CPU_ISSET(0, &set))
		skip();
	spec.env = env;
	spec.cpu = 0;
	assert_int_equal(proc_start(&spec, &p, &err), 0);
	assert_int_equal(proc_wait(&p, after(LONG), &status, &err), 0);
	assert_int_equal(status, 0);
	assert_null(getenv("VPCLAB_TEST"));
}

static void signals_are_as_at_login(void **state)
{
	sigset_t block, old;
	autofree char *got = NULL;

	(void)state;
	signal(SIGPIPE, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	sigemptyset(&block);
	sigaddset(&block, SIGTERM);
	sigprocmask(SIG_BLOCK, &block, &old);
	got = output_of("grep -E '^Sig(Blk|Ign):' /proc/self/status | cut -f2");
	sigprocmask(SIG_SETMASK, &old, NULL);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGINT, SIG_DFL);
	/* Signals 32 and 33 are libc's own: whoever started us by posix_spawn() has them ignored.
	 */
	if (!strcmp(got, "0000000000000000\n0000000180000000\n"))
		return;
	assert_string_equal(got, "0000000000000000\n0000000000000000\n");
}

/* A starter that is killed takes its child along. */
static void dies_with_its_parent(void **state)
{
	int report[2], pidfd;
	struct pollfd fd;
	pid_t starter, orphan;

	(void)state;
	prctl(PR_SET_CHILD_SUBREAPER, 1); /* so that we can reap it */
	assert_int_equal(pipe2(report, O_CLOEXEC), 0);
	starter = fork();
	if (starter == 0) {
		struct proc_spec spec = PROC_SPEC(SH("exec sleep 1000"));
		struct proc p;
		struct err err;

		spec.die_with_parent = true;
		if (proc_start(&spec, &p, &err) == 0)
			write(report[1], &p.pid, sizeof(p.pid)) == sizeof(p.pid) ? (void)0
										 : abort();
		pause();
		_exit(1);
	}
	assert_int_equal(read(report[0], &orphan, sizeof(orphan)), sizeof(orphan));
	pidfd = pidfd_open(orphan, 0);
	assert_true(pidfd >= 0);
	kill(starter, SIGKILL);
	fd = (struct pollfd){.fd = pidfd, .events = POLLIN};
	assert_int_equal(poll(&fd, 1, 20000), 1);
	assert_int_equal(waitpid(starter, NULL, 0), starter);
	assert_int_equal(waitpid(orphan, NULL, 0), orphan);
	prctl(PR_SET_CHILD_SUBREAPER, 0);
	close(pidfd);
	close(report[0]);
	close(report[1]);
}

/* The first process of a new PID namespace sees its parent as 0: that is no orphan. */
static void a_parent_in_another_pid_namespace_counts(void **state)
{
	int status;
	pid_t starter = fork();

	(void)state;
	if (starter == 0) {
		struct proc_spec spec = PROC_SPEC(SH("exit 5"));
		struct proc p;
		struct err err;

		if (unshare(CLONE_NEWPID) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0)
			_exit(77);
		spec.die_with_parent = true;
		if (proc_start(&spec, &p, &err) || proc_wait(&p, after(LONG), &status, &err))
			_exit(1);
		_exit(proc_shell_status(status));
	}
	assert_int_equal(waitpid(starter, &status, 0), starter);
	if (proc_shell_status(status) == 77)
		skip();
	assert_int_equal(proc_shell_status(status), 5);
}

static void descriptors_do_not_leak(void **state)
{
	int before = dup(0), now;

	(void)state;
	close(before);
	output_error_and_status_come_back(state);
	what_cannot_start_says_why(state);
	without_end_is_cut_off(state);
	now = dup(0);
	close(now);
	assert_int_equal(before, now);
}

static void only_what_is_kept_stays_open(void **state)
{
	static const struct {
		int keep[3];
		size_t n;
	} cases[] = {{{0}, 0}, {{3}, 1}, {{9, 4}, 2}, {{5, -1, 6}, 3}, {{2, 12, 12}, 3}};

	(void)state;
	for (size_t k = 0; k < ARRAY_SIZE(cases); k++) {
		pid_t child = fork();
		int status;

		if (!child) {
			int wrong = 0;

			for (int fd = 3; fd <= 12; fd++)
				dup2(0, fd);
			proc_close_others(cases[k].keep, cases[k].n);
			for (int fd = 0; fd <= 12; fd++) {
				bool kept = fd < 3;

				for (size_t i = 0; i < cases[k].n; i++)
					kept = kept || fd == cases[k].keep[i];
				wrong += kept != (fcntl(fd, F_GETFD) >= 0);
			}
			_exit(wrong);
		}
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_int_equal(proc_shell_status(status), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(output_error_and_status_come_back),
	    cmocka_unit_test(much_output_on_both_does_not_block),
	    cmocka_unit_test(without_end_is_cut_off),
	    cmocka_unit_test(a_grandchild_is_not_waited_for),
	    cmocka_unit_test(what_cannot_start_says_why),
	    cmocka_unit_test(few_descriptors_are_said),
	    cmocka_unit_test(waiting_has_a_deadline_and_killing_an_end),
	    cmocka_unit_test(who_ignores_sigterm_is_killed),
	    cmocka_unit_test(the_wait_status_is_waitpids),
	    cmocka_unit_test(descriptors_are_those_of_the_spec),
	    cmocka_unit_test(descriptors_may_cross_over),
	    cmocka_unit_test(environment_and_cpu),
	    cmocka_unit_test(signals_are_as_at_login),
	    cmocka_unit_test(dies_with_its_parent),
	    cmocka_unit_test(a_parent_in_another_pid_namespace_counts),
	    cmocka_unit_test(descriptors_do_not_leak),
	    cmocka_unit_test(only_what_is_kept_stays_open),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
