/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Each figure below was worked out by hand; the comment of a row says how. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "core/base/units.h"
#include "emulator/shaper/shaper.h"

#define KBIT INT64_C(1000)
#define MBIT INT64_C(1000000)
#define GBIT INT64_C(1000000000)

struct tbf { /* of a single token bucket */
	uint64_t rate_bytes;
	uint32_t burst_bytes, limit_bytes;
	uint16_t overhead, mpu;
	int stab_overhead;
};

struct row {
	const char *what;
	struct wire_rate rate;
	int mtu;
	int64_t slip_ns; /* 0: 1 ms */
	struct tbf want;
};

#define RATE(b, base, m) .bps = (b), .basis = BASIS_##base, .mode = SHAPE_##m
#define L1_FRAME	 .overhead = 24, .mpu = 84

static const struct row rows[] = {
    /* exact, queue of 1000 frames of MTU + 14 */
    {"1 Gbit/s l1: eight slips are 8 ms of 125 MB/s",
     {RATE(GBIT, L1, EXACT)},
     1500,
     0,
     {125000000, 1000000, 1514000, L1_FRAME, 0}},
    {"1 Gbit/s l2", {RATE(GBIT, L2, EXACT)}, 1500, 0, {125000000, 1000000, 1514000, 0, 0, 0}},
    {"1 Gbit/s l3: the queue counts frames without header",
     {RATE(GBIT, L3, EXACT)},
     1500,
     0,
     {125000000, 1000000, 1500000, 0, 0, -14}},
    {"64 kbit/s l1: two frames of 1538 are more than 10 ms (80 B)",
     {RATE(64 * KBIT, L1, EXACT)},
     1500,
     0,
     {8000, 3076, 1514000, L1_FRAME, 0}},
    {"64 kbit/s l2: two frames of 1514",
     {RATE(64 * KBIT, L2, EXACT)},
     1500,
     0,
     {8000, 3028, 1514000, 0, 0, 0}},
    {"10 Mbit/s l1 at MTU 576",
     {RATE(10 * MBIT, L1, EXACT)},
     576,
     0,
     {1250000, 10000, 590000, L1_FRAME, 0}},
    {"1 Mbit/s l1 at MTU 576: 8 ms (1000) are less than two frames of 614",
     {RATE(MBIT, L1, EXACT)},
     576,
     0,
     {125000, 1228, 590000, L1_FRAME, 0}},
    {"100 Mbit/s l1 at MTU 9000",
     {RATE(100 * MBIT, L1, EXACT)},
     9000,
     0,
     {12500000, 100000, 9014000, L1_FRAME, 0}},
    {"40 Gbit/s l1: rate above 32 bits, queue raised to the burst",
     {RATE(40 * GBIT, L1, EXACT)},
     1500,
     0,
     {5000000000, 40000000, 40000000, L1_FRAME, 0}},
    {"200 Gbit/s l2 at MTU 9000",
     {RATE(200 * GBIT, L2, EXACT)},
     9000,
     0,
     {25000000000, 200000000, 200000000, 0, 0, 0}},
    {"a slip of 20 ms: no more than 10 ms of the rate",
     {RATE(GBIT, L1, EXACT)},
     1500,
     20 * NSEC_PER_MSEC,
     {125000000, 1250000, 1514000, L1_FRAME, 0}},
    {"a slip of 50 us: 400 us of 12.5 MB/s",
     {RATE(100 * MBIT, L1, EXACT)},
     1500,
     50 * NSEC_PER_USEC,
     {12500000, 5000, 1514000, L1_FRAME, 0}},
    {"a slip of 10 us: two frames",
     {RATE(100 * MBIT, L1, EXACT)},
     1500,
     10 * NSEC_PER_USEC,
     {12500000, 3076, 1514000, L1_FRAME, 0}},
    {"100 bit/s is 12.5 bytes/s, rounded",
     {RATE(100, L2, EXACT)},
     1500,
     0,
     {13, 3028, 1514000, 0, 0, 0}},
    /* fast */
    {"1 Gbit/s l1 fast: 125 MB/s * 1514 / 1538",
     {RATE(GBIT, L1, FAST)},
     1500,
     0,
     {123049414, 984396, 1514000, 0, 0, 0}},
    {"1 Gbit/s l2 fast: the rate as it is",
     {RATE(GBIT, L2, FAST)},
     1500,
     0,
     {125000000, 1000000, 1514000, 0, 0, 0}},
    {"1 Gbit/s l3 fast: 125 MB/s * 1514 / 1500",
     {RATE(GBIT, L3, FAST)},
     1500,
     0,
     {126166666, 1009334, 1514000, 0, 0, 0}},
    {"64 kbit/s fast: 65536 and 46 segments' headers of 86",
     {RATE(64 * KBIT, L2, FAST)},
     1500,
     0,
     {8000, 69492, 1514000, 0, 0, 0}},
    {"10 Mbit/s l3 fast at MTU 576: * 590 / 576; 126 segments' headers of 66",
     {RATE(10 * MBIT, L3, FAST)},
     576,
     0,
     {1280381, 73852, 590000, 0, 0, 0}},
    {"64 kbit/s fast at MTU 72: 65536 and 3277 segments of 20 bytes",
     {RATE(64 * KBIT, L2, FAST)},
     72,
     0,
     {8000, 281818, 281818, 0, 0, 0}},
    {"200 Gbit/s l1 fast at MTU 9000: * 9014 / 9038",
     {RATE(200 * GBIT, L1, FAST)},
     9000,
     0,
     {24933613631, 199468910, 199468910, 0, 0, 0}},
    /* queues as declared */
    {"100 kB",
     {RATE(10 * MBIT, L1, EXACT), .queue_bytes = 100000},
     1500,
     0,
     {1250000, 10000, 100000, L1_FRAME, 0}},
    {"20 ms of 100 Mbit/s l2",
     {RATE(100 * MBIT, L2, EXACT), .queue_ns = 20 * NSEC_PER_MSEC},
     1500,
     0,
     {12500000, 100000, 250000, 0, 0, 0}},
    {"20 ms of 100 Mbit/s l1: 250 kB * 1514 / 1538",
     {RATE(100 * MBIT, L1, EXACT), .queue_ns = 20 * NSEC_PER_MSEC},
     1500,
     0,
     {12500000, 100000, 246098, L1_FRAME, 0}},
    {"20 ms of 100 Mbit/s l3",
     {RATE(100 * MBIT, L3, EXACT), .queue_ns = 20 * NSEC_PER_MSEC},
     1500,
     0,
     {12500000, 100000, 250000, 0, 0, -14}},
    {"20 ms of 100 Mbit/s l1 fast: of the scaled rate",
     {RATE(100 * MBIT, L1, FAST), .queue_ns = 20 * NSEC_PER_MSEC},
     1500,
     0,
     {12304941, 98440, 246099, 0, 0, 0}},
    {"1 ms of 1 Gbit/s l2: declared, so less than the burst",
     {RATE(GBIT, L2, EXACT), .queue_ns = NSEC_PER_MSEC},
     1500,
     0,
     {125000000, 1000000, 125000, 0, 0, 0}},
    {"a queue of one byte still holds two frames",
     {RATE(GBIT, L1, EXACT), .queue_bytes = 1},
     1500,
     0,
     {125000000, 1000000, 3076, L1_FRAME, 0}},
    {"a queue of one byte still holds a super-packet",
     {RATE(GBIT, L2, FAST), .queue_bytes = 1},
     1500,
     0,
     {125000000, 1000000, 69492, 0, 0, 0}},
    {"bytes before time",
     {RATE(GBIT, L2, EXACT), .queue_bytes = 300000, .queue_ns = 1},
     1500,
     0,
     {125000000, 1000000, 300000, 0, 0, 0}},
    {"an hour of 200 Gbit/s: as much as 32 bits hold",
     {RATE(200 * GBIT, L2, EXACT), .queue_ns = 3600 * NSEC_PER_SEC},
     1500,
     0,
     {25000000000, 200000000, UINT32_MAX, 0, 0, 0}},
};

static void test_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct row *r = &rows[i];
		const struct wire_shape shape = {.rate = r->rate};
		struct machine m = MACHINE_DEFAULT;
		const struct tc_step *got;
		struct shaper sh;

		if (r->slip_ns)
			m.slip_ns = r->slip_ns;
		shaper_steps(&shape, r->mtu, &m, &sh);
		print_message("%s\n", r->what);
		assert_int_equal(sh.steps.n, 1);
		got = &sh.steps.v[0];
		assert_int_equal(got->kind, TC_TBF);
		assert_int_equal(got->parent, TC_AT_ROOT);
		assert_int_equal(got->handle, TC_ID(1, 0));
		assert_int_equal(got->tbf.rate.rate_bytes, r->want.rate_bytes);
		assert_int_equal(got->tbf.rate.burst_bytes, r->want.burst_bytes);
		assert_int_equal(got->tbf.limit_bytes, r->want.limit_bytes);
		assert_int_equal(got->tbf.rate.overhead, r->want.overhead);
		assert_int_equal(got->tbf.rate.mpu, r->want.mpu);
		assert_int_equal(got->tbf.peak.rate_bytes, 0);
		assert_int_equal(got->stab_overhead, r->want.stab_overhead);
		shaper_done(&sh);
	}
}

/* A full TCP segment's share of the wire is the same in both modes, whatever the basis. */
static void test_modes_agree(void **state)
{
	static const int mtus[] = {576, 1400, 1500, 9000};
	static const int extra[] = {[BASIS_L1] = 38, [BASIS_L2] = 14, [BASIS_L3] = 0};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(mtus); i++) {
		for (int basis = BASIS_L1; basis <= BASIS_L3; basis++) {
			struct wire_shape shape = {.rate = {.bps = GBIT,
							    .basis = (enum rate_basis)basis,
							    .mode = SHAPE_FAST}};
			struct shaper sh;
			double frames;

			shaper_steps(&shape, mtus[i], &MACHINE_DEFAULT, &sh);
			frames = (double)sh.steps.v[0].tbf.rate.rate_bytes / (mtus[i] + 14);
			shaper_done(&sh);
			assert_float_equal(frames * (mtus[i] + extra[basis]), 125e6, 2);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_rows),
	    cmocka_unit_test(test_modes_agree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
