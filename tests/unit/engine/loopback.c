/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The engines for real: two worker processes over the loopback device of a namespace of our own.
 * What is asserted holds however busy the machine is: sums, bounds and accounts, never a rate.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/base/str.h"
#include "core/base/units.h"
#include "core/engine/control.h"
#include "core/engine/engine.h"

#define DURATION (300 * NSEC_PER_MSEC)

static const char *no_namespace; /* why these tests cannot run; NULL: they can */

static int own_namespace(void **state)
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

static void worker_start(struct worker_process *w)
{
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	w->pid = fork();
	assert_true(w->pid >= 0);
	if (!w->pid) {
		struct err err = ERR_INIT;

		for (int fd = 3; fd < 64; fd++)
			if (fd != ends[1])
				close(fd);
		_exit(engine_stdio(ends[1], ends[1], &err) ? 1 : 0);
	}
	close(ends[1]);
	w->fd = ends[0];
}

/* Closes the channel unless it is closed, and reaps. Gives waitpid()'s status. */
static int worker_end(struct worker_process *w)
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
	pid_t victim; /* killed at the first interval */
	int64_t killed_ns;
	int stop_fd; /* written at the first interval */
};

static int on_connected(void *arg, const json_t *flows, struct err *err)
{
	struct run *run = arg;

	(void)err;
	run->flows = (int)json_array_size(flows);
	return 0;
}

static void on_interval(void *arg, const json_t *interval)
{
	struct run *run = arg;

	(void)interval;
	run->intervals++;
	if (run->stop_fd)
		eventfd_write(run->stop_fd, 1);
	if (run->victim && !run->killed_ns) {
		run->killed_ns = clock_now_ns();
		kill(run->victim, SIGKILL);
	}
}

static void prepare(struct run *run, enum engine_test test)
{
	if (no_namespace)
		skip();
	*run = (struct run){.address = "127.0.0.1"};
	engine_spec_default(&run->spec, test);
	run->spec.duration_ns = DURATION;
	run->spec.warmup_ns = test == TEST_THROUGHPUT ? 0 : 100 * NSEC_PER_MSEC;
	run->spec.interval_ns = 100 * NSEC_PER_MSEC;
	run->spec.congestion[0] = '\0';
	run->hooks = (struct engine_hooks){on_connected, on_interval, run, 0};
	worker_start(&run->server);
	worker_start(&run->client);
}

static int drive(struct run *run)
{
	struct engine_ends ends = {run->client.fd, run->client.fd, run->server.fd, run->server.fd};
	struct ip ip;

	assert_int_equal(ip_parse(run->address, &ip, &run->err), 0);
	int r = engine_pair(&run->spec, &ip, &ends, &run->hooks, &run->result, &run->err);
	run->ended_ns = clock_now_ns();
	return r;
}

/* Runs to its good end and reaps both. */
static void measure(struct run *run)
{
	if (drive(run))
		fail_msg("%s", run->err.text);
	assert_int_equal(worker_end(&run->client), 0);
	assert_int_equal(worker_end(&run->server), 0);
	assert_int_equal(run->flows, run->spec.streams);
	assert_false(run->result.partial);
}

static double sum_of_intervals(const struct engine_result *r, const char *key)
{
	double sum = 0, last = 0;
	size_t i;
	json_t *one;

	json_array_foreach(r->intervals, i, one)
	{
		double t = json_number_value(json_object_get(one, "t_s"));

		assert_true(t > last);
		sum += json_number_value(json_object_get(one, key)) * (t - last);
		last = t;
	}
	return sum;
}

static void near(double got, double want, double tolerance)
{
	if (!(fabs(got - want) <= tolerance))
		fail_msg("%.12g is not within %.12g of %.12g", got, tolerance, want);
}

static void check_tcp(struct run *run)
{
	measure(run);
	const struct engine_result *r = &run->result;
	double seconds = (double)DURATION / 1e9;

	assert_true(r->server.bytes > 0);
	assert_int_equal(r->server.window_ns, DURATION);
	near(r->goodput_bps, (double)r->server.bytes * 8 / seconds, 100);
	near(sum_of_intervals(r, "bps"), (double)r->server.bytes * 8, 100);
	near(sum_of_intervals(r, "sent_bps"), (double)r->client.bytes * 8, 100);
	assert_true(r->server.bytes <= r->server.bytes_all);
	assert_true(r->server.bytes_all <= r->client.bytes_all);
	assert_int_equal(json_array_size(r->intervals), 3);
	assert_true(run->intervals == 3);
	assert_true(r->mss > 500);
	assert_true(strlen(r->congestion) > 0);
	engine_result_done(&run->result);
}

static void tcp_stream(void **state)
{
	struct run run;

	(void)state;
	prepare(&run, TEST_TCP_STREAM);
	check_tcp(&run);
}

static void tcp_stream_with_four_streams(void **state)
{
	struct run run;

	(void)state;
	prepare(&run, TEST_TCP_STREAM);
	run.spec.streams = 4;
	check_tcp(&run);
}

static void tcp_stream_over_ipv6(void **state)
{
	struct run run;

	(void)state;
	prepare(&run, TEST_TCP_STREAM);
	run.address = "::1";
	check_tcp(&run);
}

static void check_udp(struct run *run)
{
	measure(run);
	const struct engine_result *r = &run->result;

	assert_int_equal(r->client.packets, r->server.packets + r->lost);
	assert_int_equal(r->client.bytes, r->client.packets * r->size);
	assert_true(r->loss >= 0 && r->loss <= 1);
	assert_true(r->lost_host <= r->lost);
	/* Loopback loses nothing but at the socket: the account closes to the last datagram. */
	assert_int_equal(r->client.packets_all, r->server.packets_all + r->drops_all);
	assert_int_equal(r->lost_host, r->lost);
	assert_int_equal(r->duplicated, 0);
	assert_int_equal(r->reordered, 0);
	near(sum_of_intervals(r, "pps"), r->pps * (double)DURATION / 1e9, 1e-3);
}

static void udp_stream_on_a_schedule(void **state)
{
	struct run run;

	(void)state;
	prepare(&run, TEST_UDP_STREAM);
	run.spec.rate_pps = 2000;
	run.spec.size = 200;
	run.spec.streams = 2;
	check_udp(&run);
	const struct engine_result *r = &run.result;
	assert_true(r->client.packets <= 600);
	assert_true(r->client.packets >= 600 - r->missed);
	assert_true(r->delay.count == r->server.packets);
	assert_true(r->delay.min >= 0);
	near(r->offered_bps, 2000 * 1600, 1e-3);
	engine_result_done(&run.result);
}

/* A minimum-size Ethernet frame has room for 18 bytes; over IPv6 too. */
static void udp_stream_of_the_smallest_frames(void **state)
{
	struct run run;

	(void)state;
	prepare(&run, TEST_UDP_STREAM);
	run.spec.size = 18;
	check_udp(&run);
	engine_result_done(&run.result);
	prepare(&run, TEST_UDP_STREAM);
	run.spec.size = 18;
	run.address = "::1";
	check_udp(&run);
	engine_result_done(&run.result);
}

/* A receiver with room for a few datagrams only: what it drops is the host's loss, not the path's.
 */
static void udp_stream_that_the_receiver_drops(void **state)
{
	struct run run;

	(void)state;
	prepare(&run, TEST_UDP_STREAM);
	run.spec.rcvbuf = 4096;
	run.spec.size = 1000;
	check_udp(&run);
	assert_true(run.result.lost > 0);
	engine_result_done(&run.result);
}

static void check_rr(struct run *run)
{
	measure(run);
	const struct engine_result *r = &run->result;
	const struct engine_dist *d = &r->latency;

	assert_true(d->count > 0);
	assert_int_equal(d->count, r->client.packets);
	assert_true(d->min <= d->p50 && d->p50 <= d->max);
	assert_int_equal(r->lost, 0);
	near(sum_of_intervals(r, "tps"), (double)d->count, 1e-3);
	near(r->pps, (double)d->count / ((double)DURATION / 1e9), 1e-3);
	/* One after the other without a gap: together they are the time of all streams, but for the
	 * transactions that lie across the two edges. */
	double all = (double)d->count * d->mean, streams = run->spec.streams;
	near(all, streams * (double)DURATION, 2 * streams * d->max + 0.01 * all);
	engine_result_done(&run->result);
}

static void tcp_rr(void **state)
{
	struct run run;

	(void)state;
	prepare(&run, TEST_TCP_RR);
	check_rr(&run);
	prepare(&run, TEST_TCP_RR);
	run.spec.streams = 5;
	run.spec.size = 3000;
	run.spec.response_size = 70000;
	check_rr(&run);
}

static void udp_rr(void **state)
{
	struct run run;

	(void)state;
	prepare(&run, TEST_UDP_RR);
	check_rr(&run);
	prepare(&run, TEST_UDP_RR);
	run.spec.streams = 3;
	run.spec.size = 12; /* as long as a hello */
	run.spec.response_size = 12;
	run.address = "::1";
	check_rr(&run);
}

static void throughput_by_count(void **state)
{
	struct run run;

	(void)state;
	prepare(&run, TEST_THROUGHPUT);
	run.spec.file_size = 1000001;
	run.spec.count = 3;
	run.spec.streams = 2;
	measure(&run);
	const struct engine_result *r = &run.result;
	assert_int_equal(r->latency.count, 6);
	assert_int_equal(r->server.bytes, 6 * 1000001);
	assert_int_equal(r->client.bytes, 6 * 1000001);
	assert_int_equal(json_array_size(r->pairs), 2);
	assert_true(r->rate.min <= r->rate.mean && r->rate.mean <= r->rate.max);
	near(r->rate.min * r->latency.max, 8e9 * 1000001, 1e3);
	near(sum_of_intervals(r, "bps"), 8.0 * 6 * 1000001, 100);
	engine_result_done(&run.result);
}

static void throughput_by_duration_does_one_at_least(void **state)
{
	struct run run;

	(void)state;
	prepare(&run, TEST_THROUGHPUT);
	run.spec.duration_ns = NSEC_PER_MSEC;
	run.spec.interval_ns = NSEC_PER_MSEC;
	run.spec.file_size = 20000000;
	measure(&run);
	assert_int_equal(run.result.latency.count, 1);
	assert_int_equal(run.result.server.bytes, 20000000);
	engine_result_done(&run.result);
}

/* Ends a run of a minute at its first interval, or before it has begun. */
static void check_stop(enum engine_test test, bool before)
{
	struct run run;
	autofd int stop = eventfd(before, EFD_CLOEXEC);

	prepare(&run, test);
	run.spec.duration_ns = 60 * NSEC_PER_SEC;
	run.spec.file_size = INT64_C(1) << 40;
	run.hooks.stop_fd = run.stop_fd = stop;
	int64_t begin = clock_now_ns();
	int r = drive(&run);
	assert_true(clock_now_ns() - begin < 5 * NSEC_PER_SEC);
	if (before) {
		assert_int_equal(r, -ECANCELED);
		assert_string_equal(run.err.text, "stopped before there was a result");
	} else {
		if (r)
			fail_msg("%s", run.err.text);
		assert_true(run.result.partial);
		assert_true(run.result.goodput_bps > 0);
		assert_in_range(run.result.client.window_ns, 1, 5 * NSEC_PER_SEC);
		engine_result_done(&run.result);
	}
	worker_end(&run.client);
	worker_end(&run.server);
}

static void stopped_early_is_partial(void **state)
{
	(void)state;
	for (int test = TEST_TCP_STREAM; test <= TEST_THROUGHPUT; test++) {
		check_stop((enum engine_test)test, true);
		check_stop((enum engine_test)test, false);
	}
}

/* Kills one worker at the first interval: an error that names it, soon, and the other one ends. */
static void check_death(enum engine_test test, bool client)
{
	struct run run;

	prepare(&run, test);
	run.spec.duration_ns = 60 * NSEC_PER_SEC;
	run.spec.file_size = INT64_C(1) << 40;
	run.victim = client ? run.client.pid : run.server.pid;
	assert_true(drive(&run) < 0);
	assert_true(run.killed_ns > 0);
	assert_true(run.ended_ns - run.killed_ns < 2 * NSEC_PER_SEC);
	if (!strstr(run.err.text,
		    client ? "the client's worker ended" : "the server's worker ended"))
		fail_msg("%s", run.err.text);
	/* The channels are still open here: the other one has ended by itself. */
	struct worker_process *other = client ? &run.server : &run.client;
	int status;
	assert_int_equal(waitpid(other->pid, &status, 0), other->pid);
	assert_true(WIFEXITED(status));
	assert_true(clock_now_ns() - run.killed_ns < 2 * NSEC_PER_SEC);
	close(other->fd);
	worker_end(client ? &run.client : &run.server);
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
	worker_start(&w);
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

static void a_worker_says_what_is_wrong(void **state)
{
	static const struct {
		const char *lines[2], *text;
	} table[] = {
	    {{"{\"type\":\"spec\",\"role\":\"client\",\"test\":\"tcp_rr\",\"strems\":1}\n"},
	     "unknown key 'strems'; did you mean 'streams'?"},
	    {{"{\"type\":\"spec\",\"role\":\"boss\",\"test\":\"tcp_rr\"}\n"}, "role: must be"},
	    {{"{\"type\":\"spec\",\"role\":\"client\",\"clock\":\"ptp\",\"test\":\"tcp_rr\"}\n"},
	     "clock: only 'shared'"},
	    {{"{\"type\":\"spec\",\"role\":\"client\",\"test\":\"tcp_rr\",\"client_cpu\":1000}\n"},
	     "client_cpu: CPU 1000 does not exist"},
	    {{"{\"type\":\"spec\",\"role\":\"server\",\"test\":\"tcp_rr\",\"congestion\":\"x\"}\n"},
	     "congestion: this kernel has no 'x'; it has "},
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

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(tcp_stream),
	    cmocka_unit_test(tcp_stream_with_four_streams),
	    cmocka_unit_test(tcp_stream_over_ipv6),
	    cmocka_unit_test(udp_stream_on_a_schedule),
	    cmocka_unit_test(udp_stream_of_the_smallest_frames),
	    cmocka_unit_test(udp_stream_that_the_receiver_drops),
	    cmocka_unit_test(tcp_rr),
	    cmocka_unit_test(udp_rr),
	    cmocka_unit_test(throughput_by_count),
	    cmocka_unit_test(throughput_by_duration_does_one_at_least),
	    cmocka_unit_test(stopped_early_is_partial),
	    cmocka_unit_test(a_worker_that_dies),
	    cmocka_unit_test(workers_end_with_their_channel),
	    cmocka_unit_test(a_worker_says_what_is_wrong),
	};
	return cmocka_run_group_tests_name("engine: loopback", tests, own_namespace, NULL);
}
