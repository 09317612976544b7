// SPDX-License-Identifier: GPL-2.0-or-later
/* sweep and repeat: words to values to points, and when there are runs enough. */
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
#include "core/harness/sweep.h"

struct sim {
	int calls, fail_at, stop_after;
	double spread; /* of successive runs, a share */
};

static struct sim *stopped;

static bool stop(void)
{
	return stopped && stopped->calls >= stopped->stop_after;
}

static int simulate(void *arg, const struct engine_spec *spec, struct run_sample *out,
		    struct err *err)
{
	struct sim *s = arg;

	s->calls++;
	if (s->calls == s->fail_at || s->fail_at < 0)
		return err_fail(err, EIO, "no answer");
	out->spec = *spec;
	out->engine.goodput_bps = 1e6 * (double)spec->size;
	out->engine.goodput_bps *= 1 + (s->calls % 2 ? s->spread : -s->spread);
	out->engine.latency.p50 = 20000;
	out->engine.pps = engine_test_traits(spec->test).datagram ? 100 : 0;
	out->engine.client.window_ns = out->engine.server.window_ns = 200 * INT64_C(1000000);
	return 0;
}

struct fixture {
	struct arena arena;
	struct procedure p;
	struct engine_spec base;
	struct sweep_plan plan;
	struct sim sim;
};

static void init(struct fixture *f, enum engine_test test)
{
	memset(f, 0, sizeof(*f));
	arena_init(&f->arena);
	f->p = (struct procedure){
	    .measure = simulate, .arg = &f->sim, .arena = &f->arena, .stop = stop};
	engine_spec_default(&f->base, test);
	f->plan.family = AF_INET;
}

/* The values of one sweep, in a line. */
static void values(enum engine_test test, const char *text, const char *wanted)
{
	struct fixture f;
	struct err err = ERR_INIT;
	autostr struct strbuf got = {0};

	init(&f, test);
	if (sweep_add(&f.plan, &f.arena, text, &f.base, &err)) {
		strbuf_addf(&got, "error: %s", err.text);
	} else {
		strbuf_addf(&got, "%s", f.plan.axes.v[0].key);
		VEC_FOREACH (v, &f.plan.axes.v[0].texts)
			strbuf_addf(&got, " %s", *v);
	}
	assert_string_equal(strbuf_text(&got), wanted);
	arena_done(&f.arena);
}

static void words(void **state)
{
	(void)state;
	values(TEST_TCP_STREAM, "size=1,64,512", "size 1 64 512");
	values(TEST_TCP_STREAM, "size=1..64KiB*8", "size 1 8 64 512 4096 32768");
	values(TEST_TCP_STREAM, "size=1..9+4", "size 1 5 9");
	values(TEST_TCP_STREAM, "size=10..40*1.5", "size 10 15 22 33");
	values(TEST_TCP_STREAM, "msg_size:1:1K:*32", "size 1 32 1024");
	values(TEST_TCP_STREAM, "msg_size:1:8", "size 1 2 4 8");
	values(TEST_TCP_STREAM, "msg_size:4:12:4", "size 4 8 12");
	values(TEST_UDP_STREAM, "rate=1mbit..4mbit*2", "rate 1000000bit 2000000bit 4000000bit");
	values(TEST_UDP_STREAM, "rate_packets=1kpps..3kpps+1kpps",
	       "rate_packets 1000pps 2000pps 3000pps");
	values(TEST_UDP_STREAM, "rate_pps=1..100*10", "rate_pps 1 10 100");
	values(TEST_TCP_STREAM, "duration=1s..2s+500ms",
	       "duration 1000000000ns 1500000000ns 2000000000ns");
	values(TEST_TCP_STREAM, "congestion=cubic,reno", "congestion cubic reno");
	values(TEST_TCP_STREAM, "no_delay=true,false", "no_delay true false");
	values(TEST_UDP_STREAM, "size=64..80+8", "size 64 72 80"); /* 8 alone would be no size */
	values(TEST_UDP_STREAM, "frame=64..256*2", "frame 64 128 256");
}

/* Each test with all that was chosen, as far as it takes it; nothing is left out without a word. */
static void tests_themselves(void **state)
{
	struct err err = ERR_INIT;
	struct engine_spec s;
	struct fixture f;
	size_t at[2] = {1, 1};

	(void)state;
	init(&f, TEST_UDP_STREAM);
	f.base.rate_pps = 5000;
	f.base.duration_ns = 3 * NSEC_PER_SEC;
	assert_int_equal(
	    sweep_add(&f.plan, &f.arena, "test=udp_stream,UDP_MAERTS,udp_latency", &f.base, &err),
	    0);
	assert_int_equal(sweep_add(&f.plan, &f.arena, "size=100,200", &f.base, &err), 0);
	assert_int_equal(sweep_spec(&f.plan, &f.base, at, &s, &err), 0);
	assert_int_equal(s.test, TEST_UDP_MAERTS);
	assert_int_equal(s.size, 200);
	assert_int_equal(s.rate_pps, 5000);
	assert_int_equal(s.duration_ns, 3 * NSEC_PER_SEC);
	at[0] = 2;
	at[1] = 0;
	assert_int_equal(sweep_spec(&f.plan, &f.base, at, &s, &err), 0);
	assert_int_equal(s.test, TEST_UDP_LATENCY);
	assert_int_equal(s.size, 100);
	arena_done(&f.arena);
	values(TEST_TCP_STREAM, "test=tcp_stream,throughput", "test tcp_stream throughput");
	values(TEST_TCP_STREAM, "test=tcp_stream,pairs",
	       "error: test: pairs does what its script says, which no other test does: measure it "
	       "by itself");
	values(TEST_TCP_STREAM, "test=tcp_strea",
	       "error: test: unknown test 'tcp_strea'; did you mean 'tcp_stream'?");
	values(TEST_TCP_STREAM, "family=ipv4,ipv6",
	       "error: family: measure twice, with -4 and with -6");
}

/* Whatever key a specification has: it is swept or it is said why not. */
static void no_key_is_ignored(void **state)
{
	static const char *const others[] = {"type", "version", "role", "session", "clock"};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		autofree char *text = mem_printf("%s=a,b", others[i]);
		autofree char *wanted =
		    mem_printf("error: %s: is of the protocol between the ends; "
			       "sweep a key of the test, such as size",
			       others[i]);
		values(TEST_TCP_STREAM, text, wanted);
	}
}

static void bad_words(void **state)
{
	(void)state;
	values(TEST_TCP_STREAM, "sise=1,2", "error: unknown key 'sise'; did you mean 'size'?");
	values(TEST_TCP_STREAM, "size=9..1*2", "error: size: the range ends before it begins");
	values(TEST_TCP_STREAM, "size=1..9*1", "error: size: '*1' is no factor above 1");
	values(TEST_TCP_STREAM, "size=1..9+0", "error: size: '+0' is no step of at least 1");
	values(TEST_TCP_STREAM, "size=0..9*2",
	       "error: size: a factor needs a range that begins above 0");
	values(TEST_TCP_STREAM, "size=1..1000000+1", "error: size: more than 1000 values");
	values(TEST_TCP_STREAM, "size=", "error: size: no value is given");
	values(TEST_TCP_STREAM, "rate=1mbit,2mbit",
	       "error: rate_bps: tcp_stream goes as fast as it can, it is not paced");
	values(TEST_TCP_STREAM, "frame=64,128",
	       "error: frame: only streams of datagrams have frames of a given size");
	values(TEST_TCP_STREAM, "congestion=a..b+c",
	       "error: congestion: a range needs numbers; give a list such as congestion=a,b");
}

static int add(struct fixture *f, const char *text)
{
	struct err err = ERR_INIT;

	return sweep_add(&f->plan, &f->arena, text, &f->base, &err);
}

/* The last sweep turns fastest; each point has its own specification and figures. */
static void nested(void **state)
{
	static const int wanted[][2] = {{1, 10}, {1, 20}, {3, 10}, {3, 20}};
	struct scenario_repeat once = {.confidence = 0.95, .min = 1, .max = 1};
	struct fixture f;
	struct sweep s = {0};
	struct err err = ERR_INIT;
	size_t metric;

	(void)state;
	init(&f, TEST_TCP_STREAM);
	assert_int_equal(add(&f, "streams=1,3"), 0);
	assert_int_equal(add(&f, "size=10,20"), 0);
	assert_int_equal(add(&f, "size=5"), -EINVAL); /* twice */
	assert_int_equal(sweep_run(&f.p, &f.plan, &f.base, &once, &s, &err), 0);
	assert_int_equal(s.points.n, 4);
	assert_non_null(repeat_metric(TEST_TCP_STREAM, &metric));
	for (size_t i = 0; i < 4; i++) {
		struct summary sum;

		assert_int_equal(s.points.v[i].r.spec.streams, wanted[i][0]);
		assert_int_equal(s.points.v[i].r.spec.size, wanted[i][1]);
		repeat_summary(&s.points.v[i].r, metric, 0.95, &sum);
		assert_true(sum.mean == 1e6 * wanted[i][1]);
		assert_true(s.points.v[i].r.settled);
	}
	arena_done(&f.arena);
}

/* Values that do not go together are found before anything is measured. */
static void checked_first(void **state)
{
	struct scenario_repeat once = {.confidence = 0.95, .min = 1, .max = 1};
	struct fixture f;
	struct sweep s = {0};
	struct err err = ERR_INIT;

	(void)state;
	init(&f, TEST_UDP_STREAM);
	assert_int_equal(add(&f, "rate_pps=0,1000"), 0);
	assert_int_equal(add(&f, "rate_bps=0,1000000"), 0);
	assert_int_equal(sweep_run(&f.p, &f.plan, &f.base, &once, &s, &err), -EINVAL);
	assert_non_null(strstr(err.text, "rate_bps=1000000: "));
	assert_int_equal(f.sim.calls, 0);
	arena_done(&f.arena);
}

static void goes_on_after_a_failure(void **state)
{
	struct scenario_repeat once = {.confidence = 0.95, .min = 1, .max = 1};
	struct fixture f;
	struct sweep s = {0};
	struct err err = ERR_INIT;

	(void)state;
	init(&f, TEST_TCP_STREAM);
	f.sim.fail_at = 2; /* once: tried again */
	assert_int_equal(add(&f, "size=10,20,30"), 0);
	assert_int_equal(sweep_run(&f.p, &f.plan, &f.base, &once, &s, &err), 0);
	assert_int_equal(s.points.n, 3);
	assert_int_equal(s.points.v[1].r.runs.n, 1);
	assert_int_equal(s.points.v[1].r.failed, 1);
	assert_null(s.points.v[1].r.error);
	s = (struct sweep){0};
	f.sim.fail_at = -1; /* always */
	assert_int_equal(sweep_run(&f.p, &f.plan, &f.base, &once, &s, &err), 0);
	assert_int_equal(s.points.n, 3);
	assert_string_equal(s.points.v[2].r.error, "no answer");
	arena_done(&f.arena);
}

static void stops(void **state)
{
	struct scenario_repeat once = {.confidence = 0.95, .min = 1, .max = 1};
	struct fixture f;
	struct sweep s = {0};
	struct err err = ERR_INIT;

	(void)state;
	init(&f, TEST_TCP_STREAM);
	f.sim.stop_after = 2;
	stopped = &f.sim;
	assert_int_equal(add(&f, "size=10,20,30"), 0);
	assert_int_equal(sweep_run(&f.p, &f.plan, &f.base, &once, &s, &err), -EINTR);
	stopped = NULL;
	assert_true(s.interrupted);
	assert_int_equal(s.points.n, 2);
	arena_done(&f.arena);
}

static void targets(void **state)
{
	struct scenario_repeat how;
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(repeat_parse("99%,2.5%", &how, &err), 0);
	assert_true(how.confidence == 0.99 && how.width == 0.025 && how.min == 3 && how.max == 30);
	assert_int_equal(repeat_parse("95%,5%,7", &how, &err), 0);
	assert_int_equal(how.max, 7);
	assert_int_equal(repeat_parse("99%", &how, &err), -EINVAL);
	assert_int_equal(repeat_parse("99%,", &how, &err), -EINVAL);
	assert_int_equal(repeat_parse("99%,0%", &how, &err), -EINVAL);
	assert_int_equal(repeat_parse("100%,5%", &how, &err), -EINVAL);
	assert_int_equal(repeat_parse("99%,5%,2", &how, &err), -EINVAL);
	assert_int_equal(repeat_parse("99%,5%,101", &how, &err), -EINVAL);
	assert_int_equal(repeat_parse("99%,5%,x", &how, &err), -EINVAL);
}

/* Equal runs are settled after the least number, wide ones never. */
static void until_narrow(void **state)
{
	struct scenario_repeat how = {.confidence = 0.95, .width = 0.02, .min = 3, .max = 8};
	struct fixture f;
	struct repeat r = {0};
	struct err err = ERR_INIT;

	(void)state;
	init(&f, TEST_TCP_STREAM);
	f.sim.spread = 0.001;
	assert_int_equal(repeat_run(&f.p, &f.base, &how, &r, &err), 0);
	assert_true(r.settled && r.runs.n == 3);
	r = (struct repeat){0};
	f.sim.spread = 0.2;
	assert_int_equal(repeat_run(&f.p, &f.base, &how, &r, &err), 0);
	assert_true(!r.settled && r.runs.n == 8);
	/* Runs of ±1 %: t of 95 % over root of n comes below 2 % only at the fourth. */
	r = (struct repeat){0};
	f.sim.calls = 0;
	f.sim.spread = 0.01;
	assert_int_equal(repeat_run(&f.p, &f.base, &how, &r, &err), 0);
	assert_true(r.settled && r.runs.n == 4);
	arena_done(&f.arena);
}

/* Runs that are alike to the digit are no surer than the figure is fine, whatever it is. */
static void alike(enum engine_test test, double step, double mean)
{
	struct scenario_repeat how = {.confidence = 0.95, .min = 3, .max = 5};
	struct fixture f;
	struct summary sum;
	size_t metric;
	struct err err = ERR_INIT;

	init(&f, test);
	assert_non_null(repeat_metric(test, &metric));
	for (int finer = 0; finer < 2; finer++) {
		struct repeat r = {0};

		how.width = step / mean * (finer ? 0.99 : 1);
		assert_int_equal(repeat_run(&f.p, &f.base, &how, &r, &err), 0);
		assert_int_equal(r.runs.n, finer ? 5 : 3);
		assert_int_equal(r.settled, !finer);
		repeat_summary(&r, metric, how.confidence, &sum);
		assert_true(sum.mean == mean && sum.half_width == step);
	}
	arena_done(&f.arena);
}

static void no_surer_than_fine(void **state)
{
	(void)state;
	alike(TEST_TCP_RR, 64, 20000);	/* p50: 16,384 to 32,767 in 256 buckets */
	alike(TEST_UDP_STREAM, 5, 100); /* pps: one of the 20 packets in a window of 200 ms */
}

/* Quantiles come from histograms, whatever they are of. */
static void quantiles_have_steps(void **state)
{
	const struct metric *m;

	(void)state;
	for (size_t i = 0; (m = metric_at(i)); i++) {
		const char *dot = strrchr(m->name, '.'), *last = dot ? dot + 1 : m->name;
		bool quantile = last[0] == 'p' && last[1] >= '0' && last[1] <= '9';

		assert_int_equal(m->grain == GRAIN_BUCKETS, quantile);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(words),
	    cmocka_unit_test(tests_themselves),
	    cmocka_unit_test(no_key_is_ignored),
	    cmocka_unit_test(bad_words),
	    cmocka_unit_test(nested),
	    cmocka_unit_test(checked_first),
	    cmocka_unit_test(goes_on_after_a_failure),
	    cmocka_unit_test(stops),
	    cmocka_unit_test(targets),
	    cmocka_unit_test(until_narrow),
	    cmocka_unit_test(no_surer_than_fine),
	    cmocka_unit_test(quantiles_have_steps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
