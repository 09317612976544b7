/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What goes wrong for workers and their driver: stopped, killed, orphaned, refused, told nonsense.
 * Each ends soon, with an error that says what happened, and leaves no process.
 *
 * timeout: 300 (who stands still is waited for, 20 s a time)
 */
#include "tests/unit/engine/workers.h"

#include <fcntl.h>
#include <string.h>

#include "core/base/str.h"
#include "core/engine/control.h"

/* Ends a run of a minute at its second interval, or before it has begun; engine_pair()'s answer. */
static int stop(struct run *run, enum engine_test test, bool before)
{
	autofd int stop_fd = eventfd(before, EFD_CLOEXEC);

	prepare(run, test);
	run->spec.duration_ns = 60 * NSEC_PER_SEC;
	run->spec.file_size = INT64_C(1) << 40;
	run->hooks.stop_fd = run->stop_fd = stop_fd;
	int64_t begin = clock_now_ns();
	int r = drive(run);
	assert_true(clock_now_ns() - begin < 5 * NSEC_PER_SEC);
	worker_end(&run->client);
	worker_end(&run->server);
	return r;
}

static void check_stop_before(enum engine_test test)
{
	struct run run;

	assert_int_equal(stop(&run, test, true), -ECANCELED);
	assert_string_equal(run.err.text, "stopped before there was a result");
}

static void check_stop(enum engine_test test)
{
	struct run run;
	int r = stop(&run, test, false);

	if (r)
		fail_msg("%s", run.err.text);
	assert_true(run.result.partial);
	assert_string_equal(run.result.invalid, "stopped before its end");
	assert_true(run.result.goodput_bps > 0);
	assert_in_range(run.result.client.window_ns, 1, 5 * NSEC_PER_SEC);
	engine_result_done(&run.result);
}

static void stopped_early_is_partial(void **state)
{
	(void)state;
	for (int test = TEST_TCP_STREAM; test <= TEST_THROUGHPUT; test++) {
		check_stop_before((enum engine_test)test);
		check_stop((enum engine_test)test);
	}
}

/* What is left of a measurement whose one worker did not come to its end: what the other one found,
 * and the intervals of both. */
static void check_rest(struct run *run, const char *why, bool client)
{
	const struct engine_result *r = &run->result;

	assert_true(r->partial);
	if (!strstr(r->invalid, client ? "the client's worker" : "the server's worker") ||
	    !strstr(r->invalid, why))
		fail_msg("%s", r->invalid);
	assert_true(json_array_size(r->intervals) > 0);
	assert_true(r->goodput_bps > 0);
	engine_result_done(&run->result);
}

/* Kills one worker at the first interval: a result that names it, soon, and the other one ends. */
static void check_death(enum engine_test test, bool client)
{
	struct run run;

	prepare(&run, test);
	run.spec.duration_ns = 60 * NSEC_PER_SEC;
	run.spec.file_size = INT64_C(1) << 40;
	run.victim = client ? run.client.pid : run.server.pid;
	run.signal = SIGKILL;
	if (drive(&run))
		fail_msg("%s", run.err.text);
	assert_true(run.killed_ns > 0);
	assert_true(run.ended_ns - run.killed_ns < 2 * NSEC_PER_SEC);
	check_rest(&run, "ended without a result", client);
	/* The channels are still open here: the other one has ended by itself. */
	struct worker_process *other = client ? &run.server : &run.client;
	int status;
	assert_int_equal(waitpid(other->pid, &status, 0), other->pid);
	assert_true(WIFEXITED(status));
	assert_true(clock_now_ns() - run.killed_ns < 2 * NSEC_PER_SEC);
	close(other->fd);
	worker_end(client ? &run.client : &run.server);
}

/* One that stands still has an open channel: only its silence tells, and only once the window is
 * over or it has been long. */
static void check_freeze(bool client)
{
	struct run run;

	prepare(&run, TEST_TCP_STREAM);
	run.spec.duration_ns = 3 * NSEC_PER_SEC;
	run.victim = client ? run.client.pid : run.server.pid;
	run.signal = SIGSTOP;
	run.at_interval = 15; /* it has sent heartbeats by then */
	if (drive(&run))
		fail_msg("%s", run.err.text);
	/* It is at 1.5 s of 3 s: duration and 5 s are over 6.5 s later. */
	assert_true(run.ended_ns - run.killed_ns < 6500 * NSEC_PER_MSEC);
	check_rest(&run, "has not been heard", client);
	kill(run.victim, SIGKILL);
	worker_end(&run.client);
	worker_end(&run.server);
}

static void a_worker_that_stands_still(void **state)
{
	(void)state;
	check_freeze(true);
	check_freeze(false);
}

/* A worker that gets no CPU for 6 s, as where hundreds of threads want one, is alive: nothing is
 * lost by waiting for it, and its measurement is whole. */
static void check_pause(bool client)
{
	struct run run;

	prepare(&run, TEST_UDP_STREAM);
	run.spec.duration_ns = 9 * NSEC_PER_SEC;
	run.spec.rate_pps = 1000;
	run.victim = client ? run.client.pid : run.server.pid;
	run.signal = SIGSTOP;
	run.at_interval = 15; /* it has sent heartbeats by then */
	pid_t waker = fork();
	assert_true(waker >= 0);
	if (!waker) { /* stopped after 1.6 s, it goes on 6 s later */
		clock_sleep_until_ns(clock_now_ns() + 7600 * NSEC_PER_MSEC);
		_exit(kill(run.victim, SIGCONT) ? 1 : 0);
	}
	if (drive(&run))
		fail_msg("%s", run.err.text);
	waitpid(waker, NULL, 0);
	if (run.result.invalid[0])
		fail_msg("%s", run.result.invalid);
	assert_false(run.result.partial);
	engine_result_done(&run.result);
	worker_end(&run.client);
	worker_end(&run.server);
}

static void a_worker_that_pauses(void **state)
{
	(void)state;
	check_pause(true);
	check_pause(false);
}

/* A worker whose driver stands still ends itself, long before its measurement would end. */
static void a_driver_that_stands_still(void **state)
{
	struct run run;

	(void)state;
	prepare(&run, TEST_TCP_STREAM);
	run.spec.duration_ns = 60 * NSEC_PER_SEC;
	pid_t driver = fork();
	assert_true(driver >= 0);
	if (!driver) {
		run.victim = getpid();
		run.signal = SIGSTOP;
		run.at_interval = 15;
		_exit(drive(&run) ? 1 : 0);
	}
	for (int i = 0; i < 2; i++) {
		struct worker_process *w = i ? &run.server : &run.client;
		int status;

		assert_int_equal(waitpid(w->pid, &status, 0), w->pid);
		assert_true(WIFEXITED(status) && WEXITSTATUS(status));
		close(w->fd);
	}
	assert_int_equal(waitpid(driver, NULL, WNOHANG), 0);
	kill(driver, SIGKILL);
	waitpid(driver, NULL, 0);
}

static void a_worker_that_dies(void **state)
{
	(void)state;
	for (int test = TEST_TCP_STREAM; test <= TEST_THROUGHPUT; test++) {
		check_death((enum engine_test)test, true);
		check_death((enum engine_test)test, false);
	}
}

/* The driver is killed in the middle: both workers end at once. */
static void check_orphans(enum engine_test test)
{
	struct run run;
	int running[2];
	char byte;

	prepare(&run, test);
	run.spec.duration_ns = 60 * NSEC_PER_SEC;
	run.spec.file_size = INT64_C(1) << 40;
	assert_int_equal(pipe(running), 0);
	pid_t driver = fork();
	if (!driver) {
		run.victim = getpid();
		close(running[0]);
		_exit(drive(&run) ? 1 : 0);
	}
	close(running[1]);
	close(run.client.fd);
	close(run.server.fd);
	run.client.fd = run.server.fd = -1;
	assert_int_equal(read(running[0], &byte, 1), 0); /* the driver is gone */
	int64_t gone = clock_now_ns();
	close(running[0]);
	worker_end(&run.client);
	worker_end(&run.server);
	assert_true(clock_now_ns() - gone < NSEC_PER_SEC);
	waitpid(driver, NULL, 0);
}

static void workers_end_with_their_channel(void **state)
{
	(void)state;
	for (int test = TEST_TCP_STREAM; test <= TEST_THROUGHPUT; test++)
		check_orphans((enum engine_test)test);
}

/* Talks to one worker by hand and wants its next message to be that error. */
static void check_error(const char *const *lines, size_t n, const char *text)
{
	struct worker_process w;
	struct control c;
	struct err err = ERR_INIT;
	json_t *m = NULL;
	int status;

	if (no_namespace)
		skip();
	worker_start(&w, 0);
	control_init(&c, w.fd, w.fd);
	for (size_t i = 0; i < n; i++)
		assert_true(write(w.fd, lines[i], strlen(lines[i])) > 0);
	while (!m && !c.eof) {
		assert_int_equal(control_fill(&c, &err), 0);
		m = control_next(&c, &status, &err);
		if (m && str_eq(control_type(m), "ready")) {
			json_decref(m);
			m = control_next(&c, &status, &err);
		}
	}
	assert_non_null(m);
	assert_string_equal(control_type(m), "error");
	const char *got = json_string_value(json_object_get(m, "text"));
	if (!strstr(got, text))
		fail_msg("'%s' does not say '%s'", got, text);
	json_decref(m);
	control_done(&c);
	assert_int_equal(WEXITSTATUS(worker_end(&w)), 1);
}

/* A byte now and then is no specification: a listener has few sessions to give. */
static void who_dribbles_is_sent_away(void **state)
{
	static const char spec[] = "{\"type\":\"spec\",\"role\":\"server\",\"test\":\"tcp_rr\"";
	int ends[2], status;
	char answer[256] = "";

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		struct err err = ERR_INIT;
		close(ends[0]);
		_exit(engine_stdio(ends[1], ends[1], 500 * NSEC_PER_MSEC, &err) ? 1 : 0);
	}
	close(ends[1]);
	for (size_t i = 0; i < sizeof(spec) - 1 && !waitpid(pid, &status, WNOHANG); i++) {
		send(ends[0], &spec[i], 1, MSG_NOSIGNAL);
		clock_sleep_until_ns(clock_now_ns() + 100 * NSEC_PER_MSEC);
	}
	assert_true(recv(ends[0], answer, sizeof(answer) - 1, MSG_DONTWAIT) > 0);
	assert_non_null(strstr(answer, "no message in time"));
	close(ends[0]);
	waitpid(pid, &status, 0);
}

static void a_worker_says_what_is_wrong(void **state)
{
	static const struct {
		const char *lines[2], *text;
	} table[] = {
	    {{"{\"type\":\"spec\",\"role\":\"client\",\"test\":\"tcp_rr\",\"strems\":1}\n"},
	     "unknown key 'strems'; did you mean 'streams'?"},
	    {{"{\"type\":\"spec\",\"role\":\"boss\",\"test\":\"tcp_rr\"}\n"}, "role: must be"},
	    {{"{\"type\":\"spec\",\"role\":\"client\",\"clock\":\"ptp\",\"test\":\"tcp_rr\"}\n"},
	     "clock: must be"},
	    {{"{\"type\":\"spec\",\"role\":\"client\",\"test\":\"tcp_rr\",\"client_cpu\":1000}\n"},
	     "client_cpu: CPU 1000 does not exist"},
	    {{"{\"type\":\"spec\",\"role\":\"server\",\"test\":\"tcp_rr\",\"congestion\":\"x\"}\n"},
	     "congestion: this kernel has no 'x'; it has "},
	    {{"{\"type\":\"spec\",\"role\":\"client\",\"session\":-1,\"test\":\"tcp_rr\"}\n"},
	     "session: must be a whole number"},
	    {{"{\"type\":\"spec\",\"role\":\"client\",\"test\":\"udp_rr\"}\n",
	      "{\"type\":\"connect\",\"address\":\"127.0.0.1\",\"port\":1,\"ports\":[-1]}\n"},
	     "connect: ports: -1 is not within"},
	    {{"{\"type\":\"spec\",\"role\":\"client\",\"test\":\"tcp_rr\"}\n",
	      /* 2^32 + 80 */
	      "{\"type\":\"connect\",\"address\":\"127.0.0.1\",\"port\":4294967376}\n"},
	     "connect: port: 4294967376 is not within"},
	    {{"nonsense\n"}, "not a JSON object"},
	    {{"{\"type\":\"start\",\"at_ns\":5}\n"}, "the first message must be 'spec'"},
	    {{"{\"type\":\"spec\",\"role\":\"client\",\"test\":\"tcp_rr\",\"congestion\":\"\"}\n",
	      "{\"type\":\"connect\",\"address\":\"127.0.0.1\",\"port\":1}\n"},
	     "connecting to 127.0.0.1 port 1: Connection refused"},
	    {{"{\"type\":\"spec\",\"role\":\"client\",\"test\":\"udp_rr\"}\n",
	      "{\"type\":\"connect\",\"address\":\"127.0.0.1\",\"port\":1}\n"},
	     "127.0.0.1 port 1 by UDP: Connection refused"},
	    {{"{\"type\":\"spec\",\"role\":\"client\",\"test\":\"tcp_rr\",\"congestion\":\"\"}\n",
	      "{\"type\":\"start\",\"at_ns\":1}\n"},
	     "later than the warm-up"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		check_error(table[i].lines, table[i].lines[1] ? 2 : 1, table[i].text);
}

#define TCP_CLIENT                                                                                 \
	"{\"type\":\"spec\",\"role\":\"client\",\"test\":\"tcp_stream\",\"congestion\":\"\"}\n"
#define UDP_SERVER "{\"type\":\"spec\",\"role\":\"server\",\"test\":\"udp_stream\"}\n"

/* Numbers that would overflow, or ask for more memory than there is. */
static void a_start_is_not_believed(void **state)
{
	static const struct {
		const char *spec, *start, *text;
	} table[] = {
	    {TCP_CLIENT, "\"at_ns\":-9223372036854775808", "start: at_ns: -9223372036854775808 is"},
	    {TCP_CLIENT, "\"at_ns\":9223372036854775807",
	     "start: at_ns: 9223372036854775807 is not"},
	    {TCP_CLIENT, "\"size\":5", "start: at_ns: must be a whole number"},
	    {TCP_CLIENT, "\"at_ns\":\"now\"", "start: at_ns: must be a whole number"},
	    {TCP_CLIENT, "\"at_ns\":1,\"size\":-5", "start: size: -5 is not within 0 to"},
	    {TCP_CLIENT, "\"at_ns\":1,\"size\":3000000000000", "start: size: 3000000000000 is not"},
	    {TCP_CLIENT, "\"at_ns\":1,\"size\":9223372036854775807", "start: size: 92233720368"},
	    {TCP_CLIENT, "\"at_ns\":1,\"size\":0", "start: size: a write of 0 bytes"},
	    {UDP_SERVER, "\"at_ns\":1,\"size\":70000", "start: size: a datagram of udp_stream has"},
	    {UDP_SERVER, "\"at_ns\":1", "start: size: how large is a datagram?"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		autofree char *start = mem_printf("{\"type\":\"start\",%s}\n", table[i].start);
		check_error((const char *[]){table[i].spec, start}, 2, table[i].text);
	}
}

/* With SO_REUSEADDR set too early, the kernel gives the same port to several of a thousand. */
static void every_udp_stream_has_its_own_port(void **state)
{
	static const char spec[] =
	    "{\"type\":\"spec\",\"role\":\"server\",\"test\":\"udp_rr\",\"streams\":1000}\n";
	static bool taken[65536];
	struct worker_process w;
	struct control c;
	struct err err = ERR_INIT;
	json_t *m = NULL, *port;
	int status;
	size_t i;

	(void)state;
	if (no_namespace)
		skip();
	worker_start(&w, 0);
	control_init(&c, w.fd, w.fd);
	assert_true(write(w.fd, spec, strlen(spec)) > 0);
	while (!m && !c.eof) {
		assert_int_equal(control_fill(&c, &err), 0);
		m = control_next(&c, &status, &err);
	}
	json_t *ports = json_object_get(m, "ports");
	assert_int_equal(json_array_size(ports), 1000);
	json_array_foreach(ports, i, port)
	{
		assert_false(taken[json_integer_value(port)]);
		taken[json_integer_value(port)] = true;
	}
	json_decref(m);
	control_done(&c);
	worker_end(&w);
}

/* ---- a driver that is late ---- */

struct late { /* two scripted workers; both answer and end while the driver does something else */
	int go[2]; /* pipe: written by the driver's hook, twice */
	pid_t pid[2];
};

static void say(int fd, const char *line)
{
	if (write(fd, line, strlen(line)) != (ssize_t)strlen(line))
		_exit(1);
}

/* Reads one line of the driver's, whatever it is. */
static void hear(int fd)
{
	char c = 0;

	while (c != '\n')
		if (read(fd, &c, 1) != 1)
			_exit(1);
}

static _Noreturn void late_client(int fd, int go)
{
	char c;

	hear(fd);
	say(fd, "{\"type\":\"ready\"}\n");
	hear(fd);
	say(fd, "{\"type\":\"connected\",\"flow\":[],\"size\":100}\n");
	hear(fd);
	if (read(go, &c, 1) != 1)
		_exit(1);
	say(fd, "{\"type\":\"result\",\"sent\":[10]}\n");
	_exit(0);
}

/* It does not read what the driver says after "start": the channel ends with it unread. */
static _Noreturn void late_server(int fd, int go)
{
	char c;

	hear(fd);
	say(fd, "{\"type\":\"ready\",\"port\":1}\n");
	hear(fd);
	say(fd, "{\"type\":\"interval\",\"t_s\":0.1,\"bps\":1}\n");
	if (read(go, &c, 1) != 1)
		_exit(1);
	say(fd, "{\"type\":\"result\"}\n");
	_exit(0);
}

static void late_interval(void *arg, const json_t *interval)
{
	struct late *l = arg;
	siginfo_t info;

	(void)interval;
	assert_int_equal(write(l->go[1], "gg", 2), 2);
	for (int i = 0; i < 2; i++)
		assert_int_equal(waitid(P_PID, (id_t)l->pid[i], &info, WEXITED | WNOWAIT), 0);
}

static void late_start(struct late *l, int which, int *fd)
{
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	l->pid[which] = fork();
	assert_true(l->pid[which] >= 0);
	if (!l->pid[which]) {
		for (int i = 3; i < 64; i++)
			if (i != ends[1] && i != l->go[0])
				close(i);
		if (which)
			late_server(ends[1], l->go[0]);
		late_client(ends[1], l->go[0]);
	}
	close(ends[1]);
	*fd = ends[0];
}

/* The client's result is read first, and what it makes the driver tell the server meets nobody. */
static void both_results_wait_for_a_late_driver(void **state)
{
	struct late l;
	struct engine_hooks hooks = {.on_interval = late_interval, .arg = &l};
	struct engine_result result;
	struct engine_spec spec;
	struct err err = ERR_INIT;
	struct ip ip;
	int fd[2];

	(void)state;
	assert_int_equal(pipe2(l.go, O_CLOEXEC), 0);
	for (int i = 0; i < 2; i++)
		late_start(&l, i, &fd[i]);
	engine_spec_default(&spec, TEST_UDP_STREAM);
	assert_int_equal(ip_parse("127.0.0.1", &ip, &err), 0);
	struct engine_ends ends = {fd[0], fd[0], fd[1], fd[1]};
	if (engine_pair(&spec, &ip, &ends, &hooks, &result, &err))
		fail_msg("%s", err.text);
	engine_result_done(&result);
	for (int i = 0; i < 2; i++) {
		int status;

		close(fd[i]);
		close(l.go[i]);
		assert_int_equal(waitpid(l.pid[i], &status, 0), l.pid[i]);
		assert_int_equal(status, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(both_results_wait_for_a_late_driver),
	    cmocka_unit_test(every_udp_stream_has_its_own_port),
	    cmocka_unit_test(stopped_early_is_partial),
	    cmocka_unit_test(a_worker_that_dies),
	    cmocka_unit_test(a_worker_that_stands_still),
	    cmocka_unit_test(a_worker_that_pauses),
	    cmocka_unit_test(a_driver_that_stands_still),
	    cmocka_unit_test(workers_end_with_their_channel),
	    cmocka_unit_test(who_dribbles_is_sent_away),
	    cmocka_unit_test(a_worker_says_what_is_wrong),
	    cmocka_unit_test(a_start_is_not_believed),
	};
	return cmocka_run_group_tests_name("engine: robustness", tests, own_namespace, NULL);
}
