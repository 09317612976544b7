/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The listener in a process of its own, over the loopback device of a namespace of our own: who may
 * measure through it and who may not, and that nothing of many sessions is left behind.
 */
#include "tests/unit/engine/workers.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <netinet/in.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/str.h"
#include "core/engine/listen.h"

static char good_key[] = "/tmp/vpclab-key-XXXXXX", other_key[] = "/tmp/vpclab-key-XXXXXX";

struct listener_process {
	pid_t pid;
	int stop; /* closing it stops the listener */
	char port[16];
};

static void write_key(char *path, const char *text)
{
	autofd int fd = mkostemp(path, O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
}

static int before(void **state)
{
	write_key(good_key, "00112233445566778899aabbccddeeff\n0123456789ABCDEF\n");
	write_key(other_key, "ff112233445566778899aabbccddeeff");
	return own_namespace(state);
}

static int after(void **state)
{
	(void)state;
	unlink(good_key);
	unlink(other_key);
	return 0;
}

static void tell_port(void *arg, const char *address, int port)
{
	(void)address;
	dprintf(*(int *)arg, "%d\n", port);
}

static void listener_start(struct listener_process *l, const char *at, const char *key)
{
	int told[2], stop[2];

	if (no_namespace)
		skip();
	assert_int_equal(pipe2(told, O_CLOEXEC), 0);
	assert_int_equal(pipe2(stop, O_CLOEXEC), 0);
	l->pid = fork();
	assert_true(l->pid >= 0);
	if (!l->pid) {
		struct listen_options o = {.at = at,
					   .key_file = key,
					   .stop_fd = stop[0],
					   .ready = tell_port,
					   .arg = &told[1]};
		struct err err = ERR_INIT;

		close(stop[1]);
		close(told[0]);
		_exit(listen_serve(&o, &err) ? 1 : 0);
	}
	close(told[1]);
	close(stop[0]);
	l->stop = stop[1];
	ssize_t n = read(told[0], l->port, sizeof(l->port) - 1);
	close(told[0]);
	assert_true(n > 1);
	l->port[n - 1] = '\0';
}

static void listener_end(struct listener_process *l)
{
	int status;

	close(l->stop);
	assert_int_equal(waitpid(l->pid, &status, 0), l->pid);
	assert_int_equal(status, 0);
}

/* A measurement whose ends are two sessions of a listener. */
static void measure(const char *at, const char *host, const char *key)
{
	struct listener_process l;
	struct engine_result result;
	struct engine_spec spec;
	struct err err = ERR_INIT;
	struct ip ip;
	int fd[2];

	listener_start(&l, at, key);
	for (int i = 0; i < 2; i++)
		if (listen_connect(host, l.port, key, &fd[i], &err))
			fail_msg("%s", err.text);
	engine_spec_default(&spec, TEST_TCP_STREAM);
	spec.duration_ns = DURATION;
	spec.interval_ns = spec.warmup_ns = 100 * NSEC_PER_MSEC;
	spec.congestion[0] = '\0';
	assert_int_equal(ip_parse(host, &ip, &err), 0);
	struct engine_ends ends = {fd[0], fd[0], fd[1], fd[1]};
	struct engine_hooks hooks = {.own_clocks = true};
	if (engine_pair(&spec, &ip, &ends, &hooks, &result, &err))
		fail_msg("%s", err.text);
	assert_string_equal(result.invalid, "");
	assert_true(result.goodput_bps > 0);
	assert_true(result.clock_error_ns == 0); /* the same machine, and that is noticed */
	engine_result_done(&result);
	close(fd[0]);
	close(fd[1]);
	listener_end(&l);
}

static void sessions_measure(void **state)
{
	(void)state;
	measure("127.0.0.1:0", "127.0.0.1", NULL);
	measure("127.0.0.1:0", "127.0.0.1", good_key);
	measure("[::1]:0", "::1", good_key);
}

static void check_refused(const struct listener_process *l, const char *key, const char *why)
{
	struct err err = ERR_INIT;
	int fd = -1;

	assert_true(listen_connect("127.0.0.1", l->port, key, &fd, &err) < 0);
	if (!strstr(err.text, why))
		fail_msg("%s", err.text);
	assert_int_equal(fd, -1);
}

static void a_wrong_key_is_refused(void **state)
{
	struct listener_process l;

	(void)state;
	listener_start(&l, "127.0.0.1:0", good_key);
	check_refused(&l, other_key, "the same key");
	check_refused(&l, NULL, "key");
	listener_end(&l);
	listener_start(&l, "127.0.0.1:0", NULL);
	check_refused(&l, good_key, "the same key"); /* it speaks no TLS */
	listener_end(&l);
	check_refused(&l, NULL, "refused");
}

static void check_address(const char *at, const char *key, const char *why)
{
	struct listen_options o = {.at = at, .key_file = key, .stop_fd = -1};
	struct err err = ERR_INIT;

	assert_true(listen_serve(&o, &err) < 0);
	if (!strstr(err.text, why))
		fail_msg("'%s' does not say '%s'", err.text, why);
}

static void what_a_listener_does_not_take(void **state)
{
	char key[] = "/tmp/vpclab-key-XXXXXX", shorts[] = "/tmp/vpclab-key-XXXXXX";

	(void)state;
	check_address("0.0.0.0:0", NULL, "not a loopback address");
	check_address("[::]:0", NULL, "not a loopback address");
	check_address("10.0.0.1:5000", NULL, "not a loopback address");
	check_address("127.0.0.1", NULL, "ADDRESS:PORT");
	check_address("::1:5000", NULL, "[ADDRESS]:PORT");
	check_address("127.0.0.1:65536", NULL, "65536");
	check_address("localhost:0", NULL, "localhost");
	check_address("127.0.0.1:0", "/nowhere/key", "/nowhere/key");
	write_key(key, "not a key, but a text that is long enough");
	check_address("127.0.0.1:0", key, "hexadecimal");
	write_key(shorts, "0011");
	check_address("127.0.0.1:0", shorts, "4 digits");
	assert_int_equal(chmod(good_key, 0644), 0);
	check_address("127.0.0.1:0", good_key, "chmod 600");
	assert_int_equal(chmod(good_key, 0600), 0);
	unlink(key);
	unlink(shorts);
}

static int stranger(const struct listener_process *l)
{
	struct sockaddr_in a = {.sin_family = AF_INET,
				.sin_port = htons((uint16_t)atoi(l->port)),
				.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	return fd;
}

/* Those who say nothing, or nonsense, neither keep others out nor stay. */
static void strangers_do_no_harm(void **state)
{
	struct listener_process l;
	struct err err = ERR_INIT;
	int fds[20], fd;
	char byte;

	(void)state;
	listener_start(&l, "127.0.0.1:0", good_key);
	for (int i = 0; i < 20; i++) {
		fds[i] = stranger(&l);
		if (i % 2)
			assert_true(write(fds[i], "GET / HTTP/1.0\r\n\r\n", 18) == 18);
	}
	if (listen_connect("127.0.0.1", l.port, good_key, &fd, &err))
		fail_msg("%s", err.text);
	close(fd);
	int64_t begin = clock_now_ns();
	for (int i = 0; i < 20; i++) {
		while (read(fds[i], &byte, 1) > 0)
			;
		close(fds[i]);
	}
	assert_true(clock_now_ns() - begin < 8 * NSEC_PER_SEC);
	listener_end(&l);
}

static int count_fds(pid_t pid)
{
	char path[64];
	int n = 0;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	DIR *d = opendir(path);
	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

/* In KiB, and how many children there are, zombies among them. */
static long memory_of(pid_t pid)
{
	char path[64], line[256];
	long kib = 0;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	FILE *f = fopen(path, "re");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "VmRSS: %ld", &kib) == 1)
			break;
	fclose(f);
	return kib;
}

static int children_of(pid_t pid)
{
	char path[64];
	int n = 0, one;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)pid);
	FILE *f = fopen(path, "re");
	while (f && fscanf(f, "%d", &one) == 1)
		n++;
	if (f)
		fclose(f);
	return n;
}

static void sessions(const struct listener_process *l, int n, const char *key)
{
	struct err err = ERR_INIT;
	char text[256];

	for (int i = 0; i < n; i++) {
		int fd = -1;

		if (listen_connect("127.0.0.1", l->port, key, &fd, &err))
			fail_msg("session %d: %s", i, err.text);
		assert_true(write(fd,
				  "{\"type\":\"spec\",\"role\":\"server\","
				  "\"test\":\"tcp_rr\"}\n",
				  49) == 49);
		assert_true(read(fd, text, sizeof(text)) > 0);
		close(fd);
	}
}

static void settle(const struct listener_process *l, int fds)
{
	int64_t until = clock_now_ns() + 10 * NSEC_PER_SEC;

	while ((children_of(l->pid) || count_fds(l->pid) != fds) && clock_now_ns() < until)
		clock_sleep_until_ns(clock_now_ns() + 20 * NSEC_PER_MSEC);
	assert_int_equal(children_of(l->pid), 0);
	assert_int_equal(count_fds(l->pid), fds);
}

/* TCP sockets of this namespace but those in TIME_WAIT, which the kernel ends. */
static int count_sockets(void)
{
	char line[256];
	unsigned state;
	int n = 0;

	FILE *f = fopen("/proc/self/net/tcp", "re");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		n += sscanf(line, " %*d: %*s %*s %x", &state) == 1 && state != 6;
	fclose(f);
	return n;
}

static void check_leaks(const char *key)
{
	struct listener_process l;

	listener_start(&l, "127.0.0.1:0", key);
	int fds = count_fds(l.pid);
	sessions(&l, 50, key);
	settle(&l, fds);
	long memory = memory_of(l.pid);
	int mine = count_fds(getpid());
	sessions(&l, 500, key);
	settle(&l, fds);
	assert_true(memory_of(l.pid) <= memory + 256);
	assert_true(count_fds(getpid()) <= mine + 8); /* threads that have not ended yet */
	listener_end(&l);
	int64_t until = clock_now_ns() + 5 * NSEC_PER_SEC;
	while (count_sockets() && clock_now_ns() < until)
		clock_sleep_until_ns(clock_now_ns() + 20 * NSEC_PER_MSEC);
	assert_int_equal(count_sockets(), 0);
}

static void a_thousand_sessions_leave_nothing(void **state)
{
	(void)state;
	check_leaks(NULL);
	check_leaks(good_key);
}

/* Both sides are one process here, and the listener is killed: its sessions go with it. */
static void sessions_end_with_their_listener(void **state)
{
	struct listener_process l;
	struct err err = ERR_INIT;
	int fd;
	char byte;

	(void)state;
	for (int i = 0; i < 2; i++) {
		listener_start(&l, "127.0.0.1:0", i ? good_key : NULL);
		if (listen_connect("127.0.0.1", l.port, i ? good_key : NULL, &fd, &err))
			fail_msg("%s", err.text);
		kill(l.pid, SIGKILL);
		waitpid(l.pid, NULL, 0);
		assert_true(read(fd, &byte, 1) <= 0); /* at once, not after a timeout: alarm() */
		close(fd);
		close(l.stop);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_a_listener_does_not_take),
	    cmocka_unit_test(sessions_measure),
	    cmocka_unit_test(a_wrong_key_is_refused),
	    cmocka_unit_test(strangers_do_no_harm),
	    cmocka_unit_test(sessions_end_with_their_listener),
	    cmocka_unit_test(a_thousand_sessions_leave_nothing),
	};
	return cmocka_run_group_tests_name("engine: listener", tests, before, after);
}
