// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * procedures: saturation, ramps, RFC 2544 and RFC 6349 on simulated systems whose answer is known.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <cmocka.h>

#include "core/base/units.h"
#include "core/harness/rfc2544.h"
#include "core/harness/rfc6349.h"
#include "core/harness/saturate.h"

struct sim {
	double knee;	  /* streams at which nothing is gained any more */
	double noise;	  /* share */
	int most_streams; /* more fail */
	int slow_from;	  /* connections from which answers are slow */
	double capacity_pps, queue, sender_pps;
	double clean; /* longest burst of which the receiver's socket drops nothing; 0: any */
	double rtt_s;
	int path_mtu; /* 0: nothing answers; -1: the check fails */
	bool black_hole;
	uint64_t random;
	int calls;
};

struct fixture {
	struct arena arena;
	struct procedure p;
	struct engine_spec base;
	struct sim sim;
	struct err err;
};

static double draw(struct sim *s)
{
	s->random = s->random * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (double)(s->random >> 11) / 9007199254740992.0 * 2 - 1;
}

/* Transactions: 1000/s for each connection up to the knee. */
static int transactions(void *arg, const struct engine_spec *spec, struct run_sample *out,
			struct err *err)
{
	struct sim *s = arg;
	double tps = 1000 * fmin(spec->streams, s->knee) * (1 + s->noise * draw(s));

	s->calls++;
	if (s->most_streams && spec->streams > s->most_streams)
		return err_fail(err, ETIMEDOUT, "client: no answer");
	out->spec = *spec;
	out->engine.pps = tps;
	out->engine.latency.p50 = spec->streams / tps * 1e9;
	if (s->slow_from && spec->streams >= s->slow_from)
		out->engine.latency.p50 *= 5;
	snprintf(out->engine.limit, sizeof(out->engine.limit), "sender");
	return 0;
}

/* A link of full packets with a queue; TCP with a window; a round trip. */
static int network(void *arg, const struct engine_spec *spec, struct run_sample *out,
		   struct err *err)
{
	struct sim *s = arg;
	double duration_s = (double)spec->duration_ns / 1e9;
	struct engine_result *e = &out->engine;

	s->calls++;
	out->spec = *spec;
	if (spec->test == TEST_PATH_CHECK) {
		assert_string_equal(spec->script, "mtu");
		if (s->path_mtu < 0)
			return err_fail(err, EIO, "no socket");
		if (s->path_mtu)
			e->detail = json_pack("{s:{s:{s:i,s:b}}}", "mtu", "forward", "mtu",
					      s->path_mtu, "black_hole", s->black_hole);
	} else if (spec->test == TEST_TCP_RR) {
		e->latency.min = s->rtt_s * 1e9;
		e->mss = 1448;
	} else if (spec->test == TEST_TCP_STREAM) {
		double link = s->capacity_pps * 1448 * 8;

		e->goodput_bps =
		    spec->rcvbuf ? fmin(link, (double)spec->rcvbuf * 8 / s->rtt_s) : link;
		e->sent_bps = e->goodput_bps;
		e->client.window_ns = spec->duration_ns;
		e->retransmits = 10;
		e->mss = 1448;
		e->rtt_us = s->rtt_s * 1e6 * (spec->rcvbuf ? 1 : 1.5);
	} else {
		double rate =
		    spec->rate_pps ? fmin((double)spec->rate_pps, s->sender_pps) : s->sender_pps;
		double per_burst = spec->burst > 1 ? fmax(0, (double)spec->burst - s->queue) : 0;
		double sent = floor(rate * duration_s);
		double lost = spec->burst > 1 ? per_burst * floor(sent / (double)spec->burst)
					      : fmax(0, (rate - s->capacity_pps) * duration_s);

		if (s->clean > 0 && (double)spec->burst > s->clean)
			lost = (double)(e->lost_host = 7);
		e->client.packets = (int64_t)sent;
		e->lost = (int64_t)lost;
		e->sent_pps = rate;
		e->pps = (sent - lost) / duration_s;
		e->delay = (struct engine_dist){.count = 100, .mean = 5e6, .p99 = 6e6};
	}
	return 0;
}

static void init(struct fixture *f, enum engine_test test,
		 int (*measure)(void *, const struct engine_spec *, struct run_sample *,
				struct err *))
{
	memset(f, 0, sizeof(*f));
	arena_init(&f->arena);
	f->p = (struct procedure){.measure = measure, .arg = &f->sim, .arena = &f->arena};
	engine_spec_default(&f->base, test);
}

static struct search_goal throughput_goal(void)
{
	return (struct search_goal){.name = "throughput",
				    .initial_ns = NSEC_PER_SEC,
				    .final_ns = NSEC_PER_SEC,
				    .sum_ns = NSEC_PER_SEC,
				    .width = 0.005};
}

static const struct saturate_options options = {
    .repeat = {.confidence = 0.95, .width = 0.02, .min = 3, .max = 5}};

static void knee(void **state)
{
	static const int knees[] = {1, 5, 64, 300};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(knees); i++) {
		struct saturate s = {0};
		struct fixture f;

		init(&f, TEST_TCP_RR, transactions);
		f.sim.knee = knees[i];
		f.sim.noise = 0.003;
		assert_int_equal(saturate_run(&f.p, &f.base, &options, &s, &f.err), 0);
		assert_int_equal(s.end, SATURATE_FLAT);
		assert_string_equal(s.metric->name, "tps");
		/* Within an eighth of it. */
		assert_true(fabs(s.streams - f.sim.knee) <= f.sim.knee / 8 + 0.5);
		assert_true(fabs(s.single / 1000 - 1) < 0.01);
		assert_true(fabs(s.figure / (1000 * f.sim.knee) - 1) < 0.15);
		assert_string_equal(s.limit, "sender");
		arena_done(&f.arena);
	}
}

static void still_growing(void **state)
{
	struct saturate_options o = options;
	struct saturate s = {0};
	struct fixture f;

	(void)state;
	init(&f, TEST_TCP_RR, transactions);
	f.sim.knee = 5000;
	o.most_streams = 100;
	assert_int_equal(saturate_run(&f.p, &f.base, &o, &s, &f.err), 0);
	assert_int_equal(s.end, SATURATE_OPEN);
	assert_int_equal(s.streams, 100);
	arena_done(&f.arena);
}

static void fails_before_it_is_flat(void **state)
{
	struct saturate s = {0};
	struct fixture f;

	(void)state;
	init(&f, TEST_TCP_RR, transactions);
	f.sim.knee = 5000;
	f.sim.most_streams = 20;
	assert_int_equal(saturate_run(&f.p, &f.base, &options, &s, &f.err), 0);
	assert_int_equal(s.end, SATURATE_FAILED);
	assert_int_equal(s.streams, 16);
	assert_string_equal(s.why, "client: no answer");
	arena_done(&f.arena);
}

static const char *evidence(void *arg, struct arena *arena)
{
	(void)arena;
	++*(int *)arg;
	return "the table is full";
}

static void counts_connections(void **state)
{
	int asked = 0;
	struct ramp_options o = {.evidence = evidence, .arg = &asked};
	struct ramp r = {0};
	struct fixture f;

	(void)state;
	init(&f, TEST_TCP_RR, transactions);
	f.sim.knee = 10;
	f.sim.most_streams = 777;
	assert_int_equal(ramp_run(&f.p, &f.base, &o, &r, &f.err), 0);
	assert_int_equal(r.works, 777);
	assert_int_equal(r.fails, 778);
	assert_int_equal(r.slow, 0); /* ten times as long for ten times as many is no surprise */
	assert_true(asked > 0);
	VEC_FOREACH (p, &r.points)
		if (p->connections == 778)
			assert_string_equal(p->evidence, "the table is full");
	r = (struct ramp){0};
	f.sim.most_streams = 0;
	f.sim.slow_from = 1000;
	assert_int_equal(ramp_run(&f.p, &f.base, &o, &r, &f.err), 0);
	assert_int_equal(r.works, 10000);
	assert_int_equal(r.fails, 0);
	assert_int_equal(r.slow, 1000);
	arena_done(&f.arena);
}

static void rfc2544(void **state)
{
	struct rfc2544_options o = {.frames = {64, 512, 9018},
				    .n_frames = 3,
				    .mtu = 1500,
				    .family = AF_INET,
				    .throughput = true,
				    .loss = true,
				    .burst = true};
	struct rfc2544 r = {0};
	struct fixture f;

	(void)state;
	init(&f, TEST_UDP_STREAM, network);
	f.sim = (struct sim){.capacity_pps = 10000, .queue = 100, .sender_pps = 200000};
	o.goal = throughput_goal();
	assert_int_equal(rfc2544_run(&f.p, &f.base, &o, &r, &f.err), 0);
	assert_true(rfc2544_complete(&r, &o));
	assert_int_equal(r.rows.n, 3);
	assert_string_equal(r.rows.v[2].skipped, "the path's MTU is 1500");
	const struct rfc2544_row *row = &r.rows.v[1];
	assert_int_equal(row->payload, 512 - 18 - 28);
	assert_true(fabs((double)row->search.found.v[0].lower_pps / 10000 - 1) < 0.006);
	assert_true(row->throughput_bps == (double)row->search.found.v[0].lower_pps * 512 * 8);
	assert_true(!row->delay_why && row->delay.mean == 5e6);
	/* 12,000 offered, then 10,800, then two without loss. */
	assert_int_equal(row->losses.n, 4);
	assert_true(fabs(row->losses.v[0].loss - 2.0 / 12) < 0.001);
	assert_true(fabs(row->losses.v[1].loss - 0.8 / 10.8) < 0.001);
	assert_int_equal(row->losses.v[3].lost, 0);
	assert_true(row->burst.known && !row->burst.open_end);
	assert_int_equal(row->burst.frames, 100);
	assert_int_equal(row->burst.lost_from, 101);
	assert_null(row->burst.wire);
	assert_true(fabs(row->burst.buffer_s - 100.0 / 200000) < 1e-9);
	assert_true(fabs(row->burst.corrected_s / row->burst.buffer_s - 0.95) < 0.001);
	arena_done(&f.arena);
}

static void rfc6349(void **state)
{
	struct rfc6349 r = {0};
	struct fixture f;

	(void)state;
	init(&f, TEST_TCP_STREAM, network);
	f.sim = (struct sim){
	    .capacity_pps = 10000, .sender_pps = 200000, .rtt_s = 0.02, .path_mtu = 1500};
	assert_int_equal(rfc6349_run(&f.p, &f.base, AF_INET, &r, &f.err), 0);
	assert_int_equal(r.mtu, 1500);
	assert_int_equal(r.path_mtu, 1500);
	assert_null(r.path_mtu_why);
	assert_true(r.bottleneck_valid && fabs(r.bottleneck_bps / (10000 * 1448 * 8.0) - 1) < 1e-6);
	assert_true(fabs(r.bdp_bytes - 10000 * 1448 * 0.02) < 2);
	assert_int_equal(r.rows.n, RFC6349_WINDOWS);
	assert_true(fabs(r.rows.v[0].time_ratio - 4) < 0.001);
	assert_true(fabs(r.rows.v[1].time_ratio - 2) < 0.001);
	assert_true(fabs(r.rows.v[2].time_ratio - 1) < 0.001);
	assert_true(fabs(r.rows.v[0].ideal_bps / r.rows.v[0].actual_bps - 1) < 0.001);
	assert_true(fabs(r.rows.v[2].buffer_delay) < 1e-9);
	assert_true(fabs(r.rows.v[4].buffer_delay - 0.5) < 1e-9);
	assert_true(r.rows.v[4].efficiency > 0.999 && r.rows.v[4].efficiency < 1);
	arena_done(&f.arena);
}

/* Queues of any depth, up to what 2 s of frames fill, and beyond; a sender that is no faster than
 * the path, and one whose machine spoils long bursts. */
static void bursts_of_any_length(void **state)
{
	static const struct {
		double queue, sender_pps, clean;
		int64_t least, most;
		bool open_end;
		const char *wire, *why;
	} cases[] = {
	    {1, 200000, 0, 1, 1, false, NULL, NULL},
	    {5000, 200000, 0, 4975, 5000, false, NULL, NULL},
	    {150000, 200000, 0, 149250, 150000, false, NULL, NULL},
	    {1e9, 200000, 0, 400000, 400000, true, NULL, NULL},
	    {1e9, 9000, 0, 18000, 18000, true, "did not keep the wire full", NULL},
	    {1e9, 200000, 3000, 2048, 2048, true, NULL, "receiver's own socket"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct rfc2544_options o = {.frames = {512},
					    .n_frames = 1,
					    .family = AF_INET,
					    .throughput = true,
					    .burst = true};
		struct rfc2544 r = {0};
		struct fixture f;

		init(&f, TEST_UDP_STREAM, network);
		f.sim = (struct sim){.capacity_pps = 10000,
				     .queue = cases[i].queue,
				     .sender_pps = cases[i].sender_pps,
				     .clean = cases[i].clean};
		o.goal = throughput_goal();
		assert_int_equal(rfc2544_run(&f.p, &f.base, &o, &r, &f.err), 0);
		const struct rfc2544_burst *b = &r.rows.v[0].burst;
		assert_true(b->known);
		assert_in_range(b->frames, cases[i].least, cases[i].most);
		assert_int_equal(b->open_end, cases[i].open_end);
		assert_int_equal(!b->wire, !cases[i].wire);
		assert_int_equal(!b->why, !cases[i].why);
		assert_int_equal(rfc2544_complete(&r, &o),
				 !cases[i].why &&
				     r.rows.v[0].search.found.v[0].above != SEARCH_MACHINE);
		if (cases[i].wire)
			assert_non_null(strstr(b->wire, cases[i].wire));
		if (cases[i].why)
			assert_non_null(strstr(b->why, cases[i].why));
		arena_done(&f.arena);
	}
}

/* What arrives and what TCP fills are two things, and both are told. */
static void two_mtus(void **state)
{
	static const struct {
		int path_mtu;
		bool black_hole;
		const char *why;
	} cases[] = {
	    {1500, false, NULL},
	    {9000, false, "has told it a smaller segment"},
	    {1400, true, "larger ones vanish"},
	    {1400, false, "comes by ICMP"},
	    {0, false, "no packet of the check was answered"},
	    {-1, false, "no socket"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct rfc6349 r = {0};
		struct fixture f;

		init(&f, TEST_TCP_STREAM, network);
		f.sim = (struct sim){.capacity_pps = 10000,
				     .sender_pps = 200000,
				     .rtt_s = 0.02,
				     .path_mtu = cases[i].path_mtu,
				     .black_hole = cases[i].black_hole};
		assert_int_equal(rfc6349_run(&f.p, &f.base, AF_INET, &r, &f.err), 0);
		assert_int_equal(r.mtu, 1500);
		assert_int_equal(r.path_mtu, cases[i].path_mtu > 0 ? cases[i].path_mtu : 0);
		assert_int_equal(!r.path_mtu_why, !cases[i].why);
		if (cases[i].why)
			assert_non_null(strstr(r.path_mtu_why, cases[i].why));
		assert_int_equal(r.rows.n, RFC6349_WINDOWS);
		arena_done(&f.arena);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(knee),
	    cmocka_unit_test(still_growing),
	    cmocka_unit_test(fails_before_it_is_flat),
	    cmocka_unit_test(counts_connections),
	    cmocka_unit_test(rfc2544),
	    cmocka_unit_test(rfc6349),
	    cmocka_unit_test(bursts_of_any_length),
	    cmocka_unit_test(two_mtus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
