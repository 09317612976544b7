// SPDX-License-Identifier: GPL-2.0-or-later
/* truth: predictions against numbers worked out by hand, and counters that agree or do not. */
#include <math.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "core/harness/truth.h"

struct bed { /* a path through one or more shapers, made by hand */
	struct wire w;
	struct path forward, back;
};

static int add_shaper(struct bed *b, int64_t bps, enum rate_basis basis)
{
	struct wire_dev *d = VEC_ADD(&b->w.arena, &b->w.devs);

	*d = (struct wire_dev){.name = "eth0", .egress_link = -1, .peer = -1, .master = -1};
	d->egress.rate = (struct wire_rate){.bps = bps, .basis = basis, .mode = SHAPE_EXACT};
	return (int)b->w.devs.n - 1;
}

static void add_hop(struct path *p, int shaper, int encap)
{
	*VEC_ADD(&p->arena, &p->hops) =
	    (struct path_hop){.shaper = shaper, .encap_bytes = encap, .text = ""};
}

static void bed_init(struct bed *b, int mtu)
{
	memset(b, 0, sizeof(*b));
	arena_init(&b->w.arena);
	arena_init(&b->forward.arena);
	arena_init(&b->back.arena);
	b->forward.mtu = b->back.mtu = mtu;
}

static void bed_done(struct bed *b)
{
	arena_done(&b->w.arena);
	arena_done(&b->forward.arena);
	arena_done(&b->back.arena);
}

/* A full-duplex link: the shaper of one direction carries data, that of the other answers. */
static void predict_one(int64_t bps, enum rate_basis basis, int encap,
			const struct truth_traffic *t, struct truth_predicted *out)
{
	struct bed b;

	bed_init(&b, encap ? 1450 : 1500);
	add_hop(&b.forward, add_shaper(&b, bps, basis), encap);
	add_hop(&b.back, add_shaper(&b, bps, basis), encap);
	truth_predict(&b.w, &b.forward, &b.back, t, out);
	bed_done(&b);
	assert_true(out->known);
}

#define MBIT 1000000
#define GBIT 1000000000

static const struct truth_traffic tcp = {
    .protocol = IPPROTO_TCP, .family = AF_INET, .timestamps = true};

static void check_mbit(double bps, double mbit)
{
	assert_float_equal(bps / MBIT, mbit, 0.05);
}

static void test_tcp_l1(void **state)
{
	struct truth_traffic plain = tcp;
	struct truth_predicted p;

	(void)state;
	predict_one(GBIT, BASIS_L1, 0, &tcp, &p);
	check_mbit(p.goodput_bps, 941.5);
	assert_int_equal(p.payload_bytes, 1448);
	assert_int_equal(p.charged_bytes, 1538);
	assert_null(p.assumption);
	assert_float_equal(p.low_bps, p.high_bps, 1);

	plain.timestamps = false;
	predict_one(GBIT, BASIS_L1, 0, &plain, &p);
	check_mbit(p.goodput_bps, 949.3);
}

static void test_tcp_l2_l3(void **state)
{
	struct truth_predicted p;

	(void)state;
	predict_one(100 * MBIT, BASIS_L2, 0, &tcp, &p);
	assert_int_equal(p.charged_bytes, 1514);
	assert_float_equal(p.goodput_bps, 1e8 * 1448 / 1514, 1);
	predict_one(100 * MBIT, BASIS_L3, 0, &tcp, &p);
	assert_int_equal(p.charged_bytes, 1500);
	assert_float_equal(p.goodput_bps, 1e8 * 1448 / 1500, 1);
}

static void test_tcp_ipv6(void **state)
{
	struct truth_traffic t = tcp;
	struct truth_predicted p;

	(void)state;
	t.family = AF_INET6;
	predict_one(GBIT, BASIS_L1, 0, &t, &p);
	assert_int_equal(p.payload_bytes, 1428);
	assert_float_equal(p.goodput_bps, 1e9 * 1428 / 1538, 1);
}

static void test_tcp_vxlan(void **state)
{
	struct truth_predicted p;

	(void)state;
	predict_one(GBIT, BASIS_L1, 50, &tcp, &p);
	assert_int_equal(p.payload_bytes, 1398);
	assert_int_equal(p.charged_bytes, 1538);
	check_mbit(p.goodput_bps, 909.0);
}

static void test_udp_smallest(void **state)
{
	struct truth_traffic t = {.protocol = IPPROTO_UDP, .family = AF_INET, .payload = 18};
	struct truth_predicted p;

	(void)state;
	predict_one(GBIT, BASIS_L1, 0, &t, &p);
	assert_int_equal(p.charged_bytes, 84);
	assert_float_equal(p.pps, 1488095.24, 0.01);
	/* One byte fits into the same frame, and takes the same time. */
	t.payload = 1;
	predict_one(GBIT, BASIS_L1, 0, &t, &p);
	assert_float_equal(p.pps, 1488095.24, 0.01);
	/* On l2 there is no least frame: 60 bytes without the FCS. */
	t.payload = 18;
	predict_one(GBIT, BASIS_L2, 0, &t, &p);
	assert_int_equal(p.charged_bytes, 60);
}

static void test_udp_fragments(void **state)
{
	struct truth_traffic t = {.protocol = IPPROTO_UDP, .family = AF_INET, .payload = 8000};
	struct truth_predicted p;

	(void)state;
	/* 8008 bytes after the IP header: 5 × 1480 + 608. */
	predict_one(GBIT, BASIS_L1, 0, &t, &p);
	assert_int_equal(p.charged_bytes, 5 * 1538 + 608 + 20 + 38);
	t.payload = 1472;
	predict_one(GBIT, BASIS_L1, 0, &t, &p);
	assert_int_equal(p.charged_bytes, 1538);
}

static void test_udp_offered(void **state)
{
	struct truth_traffic t = {.protocol = IPPROTO_UDP, .family = AF_INET, .payload = 1000};
	struct truth_predicted p;

	(void)state;
	t.offered_pps = 5000;
	predict_one(GBIT, BASIS_L1, 0, &t, &p);
	assert_float_equal(p.goodput_bps, 40e6, 1);
	assert_string_equal(p.link, "the sender's own rate");
	t.offered_pps = 5e6;
	predict_one(GBIT, BASIS_L1, 0, &t, &p);
	assert_float_equal(p.pps, 1e9 / 8 / 1066, 0.01);
}

/*
 * The vRouter's host: data comes in plain and leaves in VXLAN, answers the other way, all on one
 * NIC. in:  1450-byte packets, 1488 charged; answers in VXLAN: 52 + 50 + 38 = 140 for two segments
 *   out: encapsulated, 1538 charged; answers plain: 52 + 38 = 90 for two segments
 */
static void test_acks_share(void **state)
{
	struct truth_predicted p;
	struct bed b;
	int in, out;

	(void)state;
	bed_init(&b, 1450);
	in = add_shaper(&b, GBIT, BASIS_L1);
	out = add_shaper(&b, GBIT, BASIS_L1);
	add_hop(&b.forward, in, 0);
	add_hop(&b.forward, out, 50);
	add_hop(&b.back, in, 50);
	add_hop(&b.back, out, 0);
	truth_predict(&b.w, &b.forward, &b.back, &tcp, &p);
	bed_done(&b);
	check_mbit(p.high_bps, 909.0);
	check_mbit(p.low_bps, 883.1);
	assert_float_equal(p.low_bps, 1e9 * 1398 / 1583, 1);
	assert_float_equal(p.goodput_bps, p.low_bps, 0);
	assert_int_equal(p.ack_bytes, 90);
	assert_string_equal(p.assumption,
			    "acknowledgements share it, 1 per 2 segments (RFC 1122) to none");
}

/* Two equal flows in opposite directions: each wire carries one's data and the other's answers. */
static void test_opposite(void **state)
{
	struct truth_traffic t = tcp;
	struct truth_predicted p;

	(void)state;
	t.opposite = true;
	predict_one(GBIT, BASIS_L1, 0, &t, &p);
	assert_float_equal(p.low_bps, 1e9 * 1448 / (1538 + 45), 1);
	assert_float_equal(p.high_bps, 1e9 * 1448 / 1538, 1);
}

/* Segments slower than the timer of a delayed acknowledgement are each acknowledged. */
static void test_slow_acks(void **state)
{
	struct truth_traffic t = tcp;
	struct truth_predicted p;

	(void)state;
	t.opposite = true;
	predict_one(256000, BASIS_L2, 0, &t, &p);
	assert_float_equal(p.low_bps, 256e3 * 1448 / (1514 + 66), 1);
	assert_non_null(strstr(p.assumption, "1 per segment"));
	predict_one(1000000, BASIS_L2, 0, &t, &p);
	assert_float_equal(p.low_bps, 1e6 * 1448 / (1514 + 33), 1);
	t.streams = 8;
	predict_one(1000000, BASIS_L2, 0, &t, &p);
	assert_float_equal(p.low_bps, 1e6 * 1448 / (1514 + 66), 1);
}

static void test_tightest_and_none(void **state)
{
	struct truth_predicted p;
	struct bed b;

	(void)state;
	bed_init(&b, 1500);
	truth_predict(&b.w, &b.forward, &b.back, &tcp, &p);
	assert_false(p.known);
	add_hop(&b.forward, -1, 0);
	add_hop(&b.forward, add_shaper(&b, GBIT, BASIS_L1), 0);
	add_hop(&b.forward, add_shaper(&b, 100 * MBIT, BASIS_L3), 0);
	add_hop(&b.forward, add_shaper(&b, 10 * (int64_t)GBIT, BASIS_L1), 0);
	truth_predict(&b.w, &b.forward, &b.back, &tcp, &p);
	bed_done(&b);
	assert_int_equal(p.rate_bps, 100 * MBIT);
	assert_int_equal(p.basis, BASIS_L3);
	assert_float_equal(p.goodput_bps, 1e8 * 1448 / 1500, 1);
}

/* 1000 full segments of 1500 bytes; the device adds an Ethernet header each. */
static struct truth_counts good_counts(void)
{
	return (struct truth_counts){
	    .known = true,
	    .flow = {.packets = 1000, .bytes = 1500000},
	    .device = {.packets = 1003, .bytes = 1514000 + 3 * 42},
	    .elapsed_ns = 1000000000,
	};
}

static void check_count(const struct truth_counts *counts, int64_t claimed, int64_t slack,
			enum truth_agreement want)
{
	struct truth_claim claim = {.bytes = claimed, .slack_bytes = slack};
	struct truth_counted c;

	truth_count(&tcp, counts, counts, &claim, &c);
	if (c.agreement != want)
		fail_msg("agreement %d, want %d: %s", c.agreement, want, c.why);
	if (want != TRUTH_AGREE)
		assert_true(c.why[0]);
}

static void test_counters_agree(void **state)
{
	struct truth_counts counts = good_counts();
	struct truth_claim claim = {.bytes = 1448000};
	struct truth_counted c;

	(void)state;
	truth_count(&tcp, &counts, &counts, &claim, &c);
	assert_int_equal(c.agreement, TRUTH_AGREE);
	assert_int_equal(c.payload_bytes, 1448000);
	assert_int_equal(c.foreign_packets, 3);
	assert_float_equal(c.goodput_bps, 1448000 * 8.0, 1);
	assert_float_equal(c.pps, 1000, 1e-6);
	/* No claim, no window. */
	claim.bytes = -1;
	truth_count(&tcp, &counts, NULL, &claim, &c);
	assert_int_equal(c.agreement, TRUTH_AGREE);
	assert_true(isnan(c.goodput_bps));
}

static void test_counters_disagree(void **state)
{
	struct truth_counts counts = good_counts();

	(void)state;
	counts.device.packets = 999; /* fewer than the flow alone */
	check_count(&counts, 1448000, 0, TRUTH_DISAGREE);
	counts = good_counts();
	counts.device.packets = 1065; /* 65 others: one too many */
	counts.device.bytes = 1514000 + 65 * 60;
	check_count(&counts, 1448000, 0, TRUTH_DISAGREE);
	struct truth_claim claim = {.bytes = -1};
	struct truth_traffic both = tcp;
	struct truth_counted c;
	both.opposite = true; /* … unless they are of the opposite flow */
	truth_count(&both, &counts, NULL, &claim, &c);
	assert_int_equal(c.agreement, TRUTH_AGREE);
	counts = good_counts();
	counts.device.bytes = 1513000; /* headers missing */
	check_count(&counts, 1448000, 0, TRUTH_DISAGREE);
	counts = good_counts();
	counts.known = false;
	check_count(&counts, 1448000, 0, TRUTH_UNKNOWN);
}

static void test_claim(void **state)
{
	struct truth_counts counts = good_counts();

	(void)state;
	counts.flow = (struct truth_counter){.packets = 100000, .bytes = 150000000};
	counts.device = (struct truth_counter){.packets = 100000, .bytes = 151400000};
	check_count(&counts, 144800000, 0, TRUTH_AGREE);
	check_count(&counts, 144800000 - 140000, 0, TRUTH_AGREE);    /* within 0.1 % */
	check_count(&counts, 144800000 + 150000, 0, TRUTH_DISAGREE); /* more than arrived */
	check_count(&counts, 144800000 - 1000000, 0, TRUTH_DISAGREE);
	check_count(&counts, 144800000 - 1000000, 1000000, TRUTH_AGREE); /* sent twice */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_tcp_l1),
	    cmocka_unit_test(test_tcp_l2_l3),
	    cmocka_unit_test(test_tcp_ipv6),
	    cmocka_unit_test(test_tcp_vxlan),
	    cmocka_unit_test(test_udp_smallest),
	    cmocka_unit_test(test_udp_fragments),
	    cmocka_unit_test(test_udp_offered),
	    cmocka_unit_test(test_acks_share),
	    cmocka_unit_test(test_opposite),
	    cmocka_unit_test(test_slow_acks),
	    cmocka_unit_test(test_tightest_and_none),
	    cmocka_unit_test(test_counters_agree),
	    cmocka_unit_test(test_counters_disagree),
	    cmocka_unit_test(test_claim),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
