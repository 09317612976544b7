/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Caps of packets, queues and flows, credit, police, netem. Figures were worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/base/units.h"
#include "emulator/shaper/shaper.h"

#define MBIT	INT64_C(1000000)
#define GBIT	INT64_C(1000000000)
#define L1(b)	.rate = {.bps = (b), .basis = BASIS_L1, .mode = SHAPE_EXACT}
#define ROOT	TC_ID(1, 0)
#define SLOT(n) TC_ID(1, 0x100 + (n))

static void build(const struct wire_shape *s, int mtu, struct shaper *out)
{
	shaper_steps(s, mtu, &MACHINE_DEFAULT, out);
}

static void expect_bucket(const struct tc_bucket *b, uint64_t rate, uint64_t burst)
{
	assert_int_equal(b->rate_bytes, rate);
	assert_int_equal(b->burst_bytes, burst);
}

static void test_nothing(void **state)
{
	const struct wire_shape none = {.rate = {.basis = BASIS_L1, .mode = SHAPE_EXACT}};
	const struct wire_shape policed = {.pps = {.pps = 1000, .police = true}};
	struct shaper sh;

	(void)state;
	build(&none, 1500, &sh);
	assert_int_equal(sh.steps.n, 0);
	shaper_done(&sh);
	build(&policed, 1500, &sh); /* a rule of the model does that */
	assert_int_equal(sh.steps.n, 0);
	shaper_done(&sh);
}

static void test_packets(void **state)
{
	const struct wire_shape s = {.pps = {.pps = 10000}};
	const struct tc_step *t;
	struct shaper sh;

	(void)state;
	build(&s, 1500, &sh);
	assert_int_equal(sh.steps.n, 2);
	assert_int_equal(sh.steps.v[1].kind, TC_PFIFO);
	assert_int_equal(sh.steps.v[1].parent, TC_ID(1, 1));
	assert_int_equal(sh.steps.v[1].pfifo_limit_packets, 1000);
	t = &sh.steps.v[0];
	assert_int_equal(t->kind, TC_TBF);
	assert_int_equal(t->tbf.rate.mpu, 2048); /* no frame is longer */
	assert_int_equal(t->tbf.rate.overhead, 0);
	/* eight slips are 8 ms, 80 packets */
	expect_bucket(&t->tbf.rate, 10000 * 2048, 80 * 2048);
	assert_int_equal(t->tbf.limit_bytes, 1000); /* given on to the fifo */
	shaper_done(&sh);
	build(&s, 9000, &sh);
	assert_int_equal(sh.steps.v[0].tbf.rate.mpu, 16384);
	shaper_done(&sh);
	build(&s, 65535, &sh);
	assert_int_equal(sh.steps.v[0].tbf.rate.mpu, 65535);
	shaper_done(&sh);
}

static void test_pps_burst(void **state)
{
	static const struct {
		int64_t pps, declared, slip_ns, want;
	} rows[] = {
	    {1000, 0, NSEC_PER_MSEC, 32},	   /* eight slips: 8 */
	    {5000, 0, NSEC_PER_MSEC, 40},	   /* eight slips */
	    {100000, 0, NSEC_PER_MSEC, 800},	   /* eight slips */
	    {100000, 0, 10 * NSEC_PER_MSEC, 1000}, /* 10 ms' worth */
	    {1000, 0, 10 * NSEC_PER_MSEC, 64},	   /* 80, but 10 ms' worth are 10 */
	    {1000, 7, NSEC_PER_MSEC, 7},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct wire_pps p = {.pps = rows[i].pps, .burst = rows[i].declared};
		struct machine m = MACHINE_DEFAULT;

		m.slip_ns = rows[i].slip_ns;
		assert_int_equal(shaper_pps_burst(&p, &m), rows[i].want);
	}
}

static void test_rate_and_packets(void **state)
{
	struct wire_shape s = {L1(50 * MBIT), .pps = {.pps = 10000}};
	const struct tc_step *t;
	struct shaper sh;

	(void)state;
	build(&s, 1500, &sh);
	assert_int_equal(sh.steps.n, 3);
	t = sh.steps.v;
	assert_int_equal(t[0].parent, TC_AT_ROOT);
	assert_int_equal(t[0].handle, ROOT);
	expect_bucket(&t[0].tbf.rate, 6250000, 50000);
	assert_int_equal(t[1].kind, TC_TBF);
	assert_int_equal(t[1].parent, TC_ID(1, 1));
	assert_int_equal(t[1].handle, TC_ID(2, 0));
	expect_bucket(&t[1].tbf.rate, 20480000, 163840);
	assert_int_equal(t[2].kind, TC_PFIFO);
	assert_int_equal(t[2].parent, TC_ID(2, 1));
	assert_int_equal(t[2].handle, TC_ID(3, 0));
	assert_int_equal(t[2].pfifo_limit_packets, 1000);
	shaper_done(&sh);
	s.rate.queue_ns = 20 * NSEC_PER_MSEC; /* 4063 frames of 1538 a second */
	build(&s, 1500, &sh);
	assert_int_equal(sh.steps.v[2].pfifo_limit_packets, 82);
	shaper_done(&sh);
	s.rate.queue_bytes = 100000;
	build(&s, 1500, &sh);
	assert_int_equal(sh.steps.n, 2);
	assert_int_equal(sh.steps.v[1].tbf.limit_bytes, 100000);
	shaper_done(&sh);
}

static const struct wire_shape credit = {.rate = {.bps = 10 * MBIT,
						  .basis = BASIS_L1,
						  .mode = SHAPE_EXACT,
						  .burst_bps = 50 * MBIT,
						  .credit_ns = 2 * NSEC_PER_SEC}};

static void test_credit(void **state)
{
	struct shaper_figures f;
	const struct tc_step *t;
	struct shaper sh;

	(void)state;
	build(&credit, 1500, &sh);
	assert_int_equal(sh.steps.n, 1);
	t = &sh.steps.v[0];
	/* 40 Mbit/s for 2 s are 10 MB */
	expect_bucket(&t->tbf.rate, 1250000, 10000000);
	/* eight slips of 50 Mbit/s */
	expect_bucket(&t->tbf.peak, 6250000, 50000);
	shaper_done(&sh);
	shaper_figures(&credit, 1500, &MACHINE_DEFAULT, &f);
	assert_int_equal(f.burst_bytes, 50000);
	assert_int_equal(f.credit_ns, 2 * NSEC_PER_SEC);
	assert_int_equal(f.queue_bytes, 1514000);
	assert_int_equal(f.pps_burst, 0);
}

/* As much as the kernel holds: 4 GiB, or what 4.29 s at the base rate fill. */
static void test_credit_cut(void **state)
{
	struct wire_shape s = credit;
	struct shaper_figures f;
	struct shaper sh;

	(void)state;
	s.rate.bps = GBIT;
	s.rate.burst_bps = 10 * GBIT;
	s.rate.credit_ns = 300 * NSEC_PER_SEC;
	build(&s, 1500, &sh);
	assert_int_equal(sh.steps.v[0].tbf.rate.burst_bytes, TC_TBF_BYTES_MOST);
	shaper_done(&sh);
	shaper_figures(&s, 1500, &MACHINE_DEFAULT, &f);
	/* 4294901760 bytes at 1.125 GB/s more than the base */
	assert_int_equal(f.credit_ns / NSEC_PER_MSEC, 3817);
	s.rate.bps = 40 * GBIT;
	s.rate.burst_bps = 100 * GBIT;
	build(&s, 1500, &sh);
	assert_int_equal(sh.steps.v[0].tbf.rate.burst_bytes, 21474836475);
	shaper_done(&sh);
	s.queues.count = 2; /* a class: 274 s at the base rate */
	s.rate.bps = GBIT;
	s.rate.burst_bps = 10 * GBIT;
	build(&s, 1500, &sh);
	assert_int_equal(sh.steps.v[1].cls.rate.burst_bytes, 34359738250);
	shaper_done(&sh);
}

static void expect_class(const struct tc_step *t, uint32_t parent, uint32_t id, uint64_t ceil)
{
	assert_int_equal(t->kind, TC_CLASS);
	assert_int_equal(t->parent, parent);
	assert_int_equal(t->handle, id);
	assert_int_equal(t->cls.ceil.rate_bytes, ceil);
	assert_int_equal(t->cls.rate.rate_bytes, parent == ROOT ? ceil : 1);
	assert_int_equal(t->cls.quantum, 1514);
}

static void test_queues(void **state)
{
	const struct wire_shape s = {L1(100 * MBIT), .queues = {.count = 4, .bps_each = 25 * MBIT}};
	const struct tc_step *t;
	struct shaper sh;

	(void)state;
	build(&s, 1500, &sh);
	assert_int_equal(sh.steps.n, 2 + 4 * 2);
	t = sh.steps.v;
	assert_int_equal(t[0].kind, TC_HTB);
	assert_int_equal(t[0].handle, ROOT);
	assert_int_equal(t[0].htb.default_minor, 0x100);
	expect_class(&t[1], ROOT, TC_ID(1, 1), 12500000);
	assert_int_equal(t[1].cls.rate.burst_bytes, 100000);
	assert_int_equal(t[1].cls.rate.mpu, 84);
	for (unsigned q = 0; q < 4; q++) {
		expect_class(&t[2 + 2 * q], TC_ID(1, 1), SLOT(q), 3125000);
		assert_int_equal(t[2 + 2 * q].cls.ceil.burst_bytes, 25000);
		assert_int_equal(t[3 + 2 * q].kind, TC_FIFO);
		assert_int_equal(t[3 + 2 * q].parent, SLOT(q));
		assert_int_equal(t[3 + 2 * q].handle, TC_ID(0x100 + q, 0));
		assert_int_equal(t[3 + 2 * q].fifo_limit_bytes, 1514000);
	}
	assert_int_equal(wire_shape_slots(&s), 4);
	assert_int_equal(TC_ID(1, SHAPER_SLOT_CLASS), WIRE_SLOT_FIRST);
	shaper_done(&sh);
}

/* Without a rate of the whole the queues are at the top and assured all of theirs. */
static void test_queues_alone(void **state)
{
	const struct wire_shape s = {.queues = {.count = 2, .bps_each = 25 * MBIT}};
	struct shaper sh;

	(void)state;
	build(&s, 1500, &sh);
	assert_int_equal(sh.steps.n, 1 + 2 * 2);
	expect_class(&sh.steps.v[1], ROOT, SLOT(0), 3125000);
	shaper_done(&sh);
}

/* Queues that have no caps may each send all. */
static void test_queues_without_caps(void **state)
{
	const struct wire_shape s = {L1(100 * MBIT), .queues = {.count = 2}};
	struct shaper sh;

	(void)state;
	build(&s, 1500, &sh);
	assert_int_equal(sh.steps.n, 2 + 2 * 2);
	expect_class(&sh.steps.v[2], TC_ID(1, 1), SLOT(0), 12500000);
	shaper_done(&sh);
}

static void test_everything(void **state)
{
	const struct wire_shape s = {
	    L1(100 * MBIT), .pps = {.pps = 20000},
	    .queues = {.count = 3, .bps_each = 40 * MBIT, .pps_each = 8000}, .flow_bps = 5 * MBIT};
	const struct tc_step *t;
	struct shaper sh;

	(void)state;
	build(&s, 1500, &sh);
	assert_int_equal(sh.steps.n, 3 + 3 * 2 + 256 * 2);
	t = sh.steps.v;
	expect_class(&t[1], ROOT, TC_ID(1, 1), 12500000);
	expect_class(&t[2], TC_ID(1, 1), TC_ID(1, 2), 20000 * 2048);
	assert_int_equal(t[2].cls.ceil.mpu, 2048);
	expect_class(&t[3], TC_ID(1, 2), TC_ID(1, 0x2000), 8000 * 2048);
	expect_class(&t[4], TC_ID(1, 0x2000), TC_ID(1, 0x1000), 5000000);
	/* slot 4 belongs to queue 1 of 3 */
	expect_class(&t[9 + 4 * 2], TC_ID(1, 0x1001), SLOT(4), 625000);
	assert_int_equal(wire_shape_slots(&s), 256);
	shaper_done(&sh);
}

static void test_queues_credit(void **state)
{
	struct wire_shape s = credit;
	struct shaper_figures f;
	struct shaper sh;

	(void)state;
	s.queues.count = 2;
	build(&s, 1500, &sh);
	assert_int_equal(sh.steps.v[1].handle, TC_ID(1, 1));
	expect_bucket(&sh.steps.v[1].cls.rate, 1250000, 10000000);
	expect_bucket(&sh.steps.v[1].cls.ceil, 6250000, 50000);
	shaper_done(&sh);
	shaper_figures(&s, 1500, &MACHINE_DEFAULT, &f);
	assert_int_equal(f.credit_ns, 2 * NSEC_PER_SEC);
	assert_int_equal(f.burst_bytes, 50000);
}

static void test_police(void **state)
{
	struct wire_shape s = {L1(100 * MBIT)};
	struct machine m = MACHINE_DEFAULT;
	const struct tc_step *t;
	struct shaper_figures f;
	struct shaper sh;

	(void)state;
	s.rate.police = true;
	build(&s, 1500, &sh);
	assert_int_equal(sh.steps.n, 2);
	t = sh.steps.v;
	assert_int_equal(t[0].kind, TC_CLSACT);
	assert_int_equal(t[1].kind, TC_POLICE);
	/* 50 ms of 12.5 MB/s */
	expect_bucket(&t[1].police.rate, 12500000, 625000);
	/* the Ethernet header is not counted where it polices */
	assert_int_equal(t[1].police.rate.overhead, 38);
	assert_int_equal(t[1].police.rate.mpu, 84);
	shaper_done(&sh);
	m.police = false;
	shaper_steps(&s, 1500, &m, &sh);
	assert_int_equal(sh.steps.n, 1);
	expect_bucket(&sh.steps.v[0].tbf.rate, 12500000, 625000);
	assert_int_equal(sh.steps.v[0].tbf.limit_bytes, 3076); /* two frames */
	shaper_done(&sh);
	s.rate.police_bytes = 20000;
	shaper_figures(&s, 1500, &MACHINE_DEFAULT, &f);
	assert_int_equal(f.burst_bytes, 20000);
	s.rate.police_bytes = 0;
	s.rate.bps = 100000;
	assert_int_equal(shaper_police_bytes(&s.rate, 1500), 15140); /* ten frames */
}

static void test_netem(void **state)
{
	const struct wire_impair i = {.given = true,
				      .delay_ns = 100 * NSEC_PER_MSEC,
				      .jitter_ns = NSEC_PER_MSEC,
				      .jitter = JITTER_NORMAL,
				      .loss = LOSS_BURSTS,
				      .to_bad_ppm = 500000,
				      .to_good_ppm = 1000000,
				      .bad_loss_ppm = 250000,
				      .duplication_ppm = 1000000,
				      .seed = 42};
	struct wire_rate rate = {.bps = 10 * MBIT, .queue_bytes = 151400};
	struct tc_step t;

	(void)state;
	shaper_netem(&i, &rate, 1500, &t);
	assert_int_equal(t.kind, TC_NETEM);
	/* 104 ms of 1.25 MB/s in frames of 84 bytes, twice, and a queue of 100 */
	assert_int_equal(t.netem.limit_packets, 2 * 130000 / 84 + 100);
	assert_int_equal(t.netem.distribution, TC_DIST_NORMAL);
	assert_int_equal(t.netem.to_bad, 2147483648);
	assert_int_equal(t.netem.to_good, UINT32_MAX);
	assert_int_equal(t.netem.bad_loss, 1073741824);
	assert_int_equal(t.netem.duplicate, UINT32_MAX);
	assert_int_equal(t.netem.loss, 0);
	assert_int_equal(t.netem.seed, 42);
	assert_int_equal(t.netem.delay_ns, 100 * NSEC_PER_MSEC);
	assert_int_equal(t.netem.jitter_ns, NSEC_PER_MSEC);
	shaper_netem(
	    &(struct wire_impair){.delay_ns = 1000, .jitter_ns = 400, .jitter = JITTER_PARETO},
	    &rate, 1500, &t);
	assert_int_equal(t.netem.distribution, TC_DIST_PARETO);
	assert_int_equal(t.netem.delay_ns, 1200);
	assert_int_equal(t.netem.jitter_ns, 300);
	rate.bps = 0;
	shaper_netem(&i, &rate, 1500, &t); /* unknown: 64 MiB of full frames */
	assert_int_equal(t.netem.limit_packets, 67108864 / 1514);
	rate.bps = 100 * GBIT;
	shaper_netem(&i, &rate, 9000, &t);
	assert_int_equal(t.netem.limit_packets, 67108864 / 9014);
	rate.bps = 64000;
	rate.queue_bytes = 0;
	shaper_netem(&i, &rate, 1500, &t);
	assert_int_equal(t.netem.limit_packets, 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_nothing),
	    cmocka_unit_test(test_packets),
	    cmocka_unit_test(test_pps_burst),
	    cmocka_unit_test(test_rate_and_packets),
	    cmocka_unit_test(test_credit),
	    cmocka_unit_test(test_credit_cut),
	    cmocka_unit_test(test_queues),
	    cmocka_unit_test(test_queues_alone),
	    cmocka_unit_test(test_queues_without_caps),
	    cmocka_unit_test(test_everything),
	    cmocka_unit_test(test_queues_credit),
	    cmocka_unit_test(test_police),
	    cmocka_unit_test(test_netem),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
