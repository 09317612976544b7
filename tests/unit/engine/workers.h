/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * workers: two worker processes, and a run over the loopback device of a namespace of our own, for
 * the tests that use the engines for real. Included by one test program each.
 */
#ifndef VPCLAB_TESTS_ENGINE_WORKERS_H
#define VPCLAB_TESTS_ENGINE_WORKERS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/base/units.h"
#include "core/engine/engine.h"

#define DURATION (300 * NSEC_PER_MSEC)

static const char *no_namespace; /* why these tests cannot run; NULL: they can */

static inline int own_namespace(void **state)
{
	struct ifreq lo = {.ifr_name = "lo", .ifr_flags = IFF_UP};
	autofd int fd = -1;

	(void)state;
	alarm(120); /* a test that hangs is a test that fails */
	if (unshare(geteuid() ? CLONE_NEWUSER | CLONE_NEWNET : CLONE_NEWNET) &&
	    unshare(CLONE_NEWUSER | CLONE_NEWNET))
		no_namespace = "no network namespace here";
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (!no_namespace && ioctl(fd, SIOCSIFFLAGS, &lo))
		no_namespace = "cannot bring up lo";
	if (no_namespace)
		print_message("skipped: %s\n", no_namespace);
	return 0;
}

struct worker_process {
	pid_t pid;
	int fd;
};

/* Goes into a time namespace whose CLOCK_MONOTONIC is so far ahead: its children are in it. */
static inline bool shift_clock(long long by_ms)
{
	char text[64];
	int len = snprintf(text, sizeof(text), "monotonic %lld %lld\n", by_ms / 1000,
			   by_ms % 1000 * NSEC_PER_MSEC);

	if (unshare(CLONE_NEWTIME))
		return false;
	prctl(PR_SET_DUMPABLE, 1); /* else /proc/self is root's, since the user namespace */
	autofd int fd = open("/proc/self/timens_offsets", O_WRONLY | O_CLOEXEC);
	return fd >= 0 && write(fd, text, (size_t)len) == len;
}

/* In a child: a worker of its own, in a child of that where its clock is another one. */
static inline _Noreturn void worker_be(int fd, long long clock_ms)
{
	struct err err = ERR_INIT;
	int status = 1;

	for (int other = 3; other < 64; other++)
		if (other != fd)
			close(other);
	if (clock_ms && !shift_clock(clock_ms))
		_exit(77);
	pid_t inner = clock_ms ? fork() : 0;
	if (!inner)
		_exit(engine_stdio(fd, fd, 0, &err) ? 1 : 0);
	close(fd);
	waitpid(inner, &status, 0);
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

static inline void worker_start(struct worker_process *w, long long clock_ms)
{
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	w->pid = fork();
	assert_true(w->pid >= 0);
	if (!w->pid)
		worker_be(ends[1], clock_ms);
	close(ends[1]);
	w->fd = ends[0];
}

/* Closes the channel unless it is closed, and reaps. Gives waitpid()'s status. */
static inline int worker_end(struct worker_process *w)
{
	int status = 0;

	if (w->fd >= 0)
		close(w->fd);
	w->fd = -1;
	while (waitpid(w->pid, &status, 0) < 0)
		assert_int_equal(errno, EINTR);
	return status;
}

struct run {
	struct engine_spec spec;
	struct worker_process client, server;
	struct engine_hooks hooks;
	const char *address;
	struct engine_result result;
	struct err err;
	int64_t ended_ns;
	int flows, intervals;
	pid_t victim; /* gets `signal` at interval `at_interval` (0: the first) */
	int signal, at_interval;
	int64_t killed_ns;
	int stop_fd; /* written at the second interval */
};

static inline int on_connected(void *arg, const json_t *flows, struct err *err)
{
	struct run *run = arg;

	(void)err;
	run->flows = (int)json_array_size(flows);
	return 0;
}

static inline void on_interval(void *arg, const json_t *interval)
{
	struct run *run = arg;

	(void)interval;
	run->intervals++;
	if (run->stop_fd && run->intervals == 2) /* both sides are surely in the window by then */
		eventfd_write(run->stop_fd, 1);
	if (run->victim && !run->killed_ns && run->intervals >= run->at_interval) {
		run->killed_ns = clock_now_ns();
		kill(run->victim, run->signal ? run->signal : SIGKILL);
	}
}

static inline void prepare_shifted(struct run *run, enum engine_test test, long long client_ms,
				   long long server_ms)
{
	if (no_namespace)
		skip();
	*run = (struct run){.address = "127.0.0.1"};
	engine_spec_default(&run->spec, test);
	run->spec.duration_ns = DURATION;
	run->spec.warmup_ns = test == TEST_THROUGHPUT ? 0 : 100 * NSEC_PER_MSEC;
	run->spec.interval_ns = 100 * NSEC_PER_MSEC;
	run->spec.congestion[0] = '\0';
	run->hooks = (struct engine_hooks){
	    .on_connected = on_connected, .on_interval = on_interval, .arg = run};
	worker_start(&run->server, server_ms);
	worker_start(&run->client, client_ms);
}

static inline void prepare(struct run *run, enum engine_test test)
{
	prepare_shifted(run, test, 0, 0);
}

static inline int drive(struct run *run)
{
	struct engine_ends ends = {run->client.fd, run->client.fd, run->server.fd, run->server.fd};
	struct ip ip;

	assert_int_equal(ip_parse(run->address, &ip, &run->err), 0);
	int r = engine_pair(&run->spec, &ip, &ends, &run->hooks, &run->result, &run->err);
	run->ended_ns = clock_now_ns();
	return r;
}

/* To its good end; reaps both. */
static inline void drive_to_end(struct run *run)
{
	if (drive(run))
		fail_msg("%s", run->err.text);
	assert_int_equal(worker_end(&run->client), 0);
	assert_int_equal(worker_end(&run->server), 0);
	assert_false(run->result.partial);
}

#endif
