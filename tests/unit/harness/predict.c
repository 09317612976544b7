// SPDX-License-Identifier: GPL-2.0-or-later
/* truth_predict: caps, queues, credit, impairments and scale, against numbers worked out by hand.
 */
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "core/base/units.h"
#include "core/harness/truth.h"

#define MBIT 1000000

/* One link between two devices, each of which shapes what it sends. */
struct bed {
	struct wire w;
	struct path forward, back;
};

static struct wire_dev *add_dev(struct bed *b)
{
	struct wire_dev *d = VEC_ADD(&b->w.arena, &b->w.devs);

	*d = (struct wire_dev){
	    .name = "eth0", .egress_link = 0, .peer = -1, .master = -1, .netem_link = -1};
	return d;
}

static void add_hop(struct path *p, int dev, int shaper)
{
	*VEC_ADD(&p->arena, &p->hops) =
	    (struct path_hop){.dev_in = -1, .dev_out = dev, .shaper = shaper, .text = ""};
}

static int bed_up(void **state)
{
	static struct bed b;

	memset(&b, 0, sizeof(b));
	wire_init(&b.w);
	arena_init(&b.forward.arena);
	arena_init(&b.back.arena);
	add_dev(&b);
	add_dev(&b);
	*VEC_ADD(&b.w.arena, &b.w.links) =
	    (struct wire_link){.name = "r-b", .dev_a = 0, .dev_b = 1, .engine = IMPAIR_RELAY};
	b.forward.mtu = b.back.mtu = 1500;
	add_hop(&b.forward, 0, 0);
	add_hop(&b.back, 1, 1);
	*state = &b;
	return 0;
}

static int bed_down(void **state)
{
	struct bed *b = *state;

	wire_done(&b->w);
	arena_done(&b->forward.arena);
	arena_done(&b->back.arena);
	return 0;
}

static struct wire_shape *shape(struct bed *b, int dev)
{
	return &b->w.devs.v[dev].egress;
}

static void set_rate(struct bed *b, int64_t bps)
{
	for (int i = 0; i < 2; i++)
		shape(b, i)->rate =
		    (struct wire_rate){.bps = bps, .basis = BASIS_L3, .mode = SHAPE_EXACT};
}

static struct wire_impair *impair(struct bed *b)
{
	return &b->w.links.v[0].impair_ab;
}

static void predict(const struct bed *b, const struct truth_traffic *t, struct truth_predicted *out)
{
	truth_predict(&b->w, &b->forward, &b->back, t, out);
}

static const struct truth_traffic tcp = {
    .protocol = IPPROTO_TCP, .family = AF_INET, .timestamps = true};
static const struct truth_traffic udp = {
    .protocol = IPPROTO_UDP, .family = AF_INET, .payload = 1472};

static void test_packets_cap(void **state)
{
	struct bed *b = *state;
	struct truth_predicted p;

	set_rate(b, 100 * MBIT);
	shape(b, 0)->pps.pps = 1000;
	predict(b, &udp, &p);
	assert_true(p.known);
	assert_int_equal(p.limit, LIMIT_PACKETS);
	assert_float_equal(p.pps, 1000, 1e-6);
	assert_float_equal(p.goodput_bps, 1000.0 * 1472 * 8, 1e-3);

	/* A rate that is tighter wins: 1 Mbit/s of 1,500-byte packets are 83.3 a second. */
	set_rate(b, MBIT);
	predict(b, &udp, &p);
	assert_int_equal(p.limit, LIMIT_RATE);
	assert_float_equal(p.pps, 1e6 / 8 / 1500, 1e-6);
}

/* One bucket for both directions: acknowledgements take their share, and an opposite flow half. */
static void test_sum(void **state)
{
	struct truth_traffic both = udp;
	struct bed *b = *state;
	struct truth_predicted p;

	set_rate(b, 100 * MBIT);
	shape(b, 0)->pps.pps = 3000;
	b->back.hops.v[0].shaper = 0;
	predict(b, &tcp, &p);
	assert_float_equal(p.low_pps, 2000, 1e-6);
	assert_float_equal(p.high_pps, 3000, 1e-6);
	assert_string_equal(p.assumption,
			    "acknowledgements share it, 1 per 2 segments (RFC 1122) to none");
	predict(b, &udp, &p);
	assert_float_equal(p.pps, 3000, 1e-6);
	both.opposite = true;
	predict(b, &both, &p);
	assert_float_equal(p.pps, 1500, 1e-6);
}

/* Each way has a bucket of its own: of an opposite flow just the acknowledgements are met, one for
 * two of its segments. */
static void test_opposite_rate(void **state)
{
	struct truth_traffic t = tcp;
	struct bed *b = *state;
	struct truth_predicted p;

	set_rate(b, 100 * MBIT);
	b->w.devs.v[0].egress.rate.basis = BASIS_L1;
	t.opposite = true;
	t.opposite_pps = 1000; /* so 500 acknowledgements of 90 bytes a second */
	predict(b, &t, &p);
	assert_float_equal(p.high_pps, 12500000.0 / 1538, 1e-6);
	assert_float_equal(p.low_pps, (12500000.0 - 500 * 90) / 1538, 1e-6);
	assert_non_null(p.assumption);
	t.opposite_pps = 0; /* an equal flow: half as many acknowledgements as segments */
	predict(b, &t, &p);
	assert_float_equal(p.low_pps, 12500000.0 / (1538 + 45), 1e-6);
	shape(b, 0)->rate.bps = 0;
	shape(b, 0)->pps.pps = 3000;
	t.opposite_pps = 1000;
	predict(b, &t, &p);
	assert_float_equal(p.low_pps, 2500, 1e-6);
	b->back.hops.v[0].shaper = 0; /* one bucket: its data is there too, whatever its rate */
	predict(b, &t, &p);
	assert_float_equal(p.low_pps, 1000, 1e-6);
}

static void test_queues_and_flows(void **state)
{
	struct truth_traffic many = udp;
	struct bed *b = *state;
	struct truth_predicted p;

	set_rate(b, 100 * MBIT);
	shape(b, 0)->queues = (struct wire_queues){.count = 4, .pps_each = 100};
	predict(b, &udp, &p);
	assert_int_equal(p.limit, LIMIT_QUEUE);
	assert_float_equal(p.low_pps, 100, 1e-6);
	assert_float_equal(p.high_pps, 100, 1e-6);
	assert_null(p.assumption);
	many.streams = 16;
	predict(b, &many, &p);
	assert_float_equal(p.low_pps, 100, 1e-6);
	assert_float_equal(p.high_pps, 400, 1e-6);
	assert_non_null(p.assumption);

	shape(b, 0)->queues.pps_each = 0;
	shape(b, 0)->flow_bps = 12 * MBIT;
	predict(b, &udp, &p);
	assert_int_equal(p.limit, LIMIT_FLOW);
	assert_float_equal(p.pps, 1000, 1e-6);
}

static void test_credit(void **state)
{
	struct bed *b = *state;
	struct truth_predicted p;

	set_rate(b, 12 * MBIT);
	shape(b, 0)->rate.burst_bps = 24 * MBIT;
	predict(b, &udp, &p);
	assert_float_equal(p.low_pps, 1000, 1e-6);
	assert_float_equal(p.high_pps, 2000, 1e-6);
	assert_non_null(p.assumption);
}

static void test_udp_loss(void **state)
{
	struct truth_traffic offered = udp;
	struct bed *b = *state;
	struct truth_predicted p;

	set_rate(b, 12 * MBIT);
	impair(b)->loss = LOSS_EVERY;
	impair(b)->loss_every = 10;
	predict(b, &udp, &p);
	assert_float_equal(p.pps, 900, 1e-6); /* loss comes after the rate */
	assert_float_equal(p.delivered_share, 0.9, 1e-9);
	offered.offered_pps = 100;
	predict(b, &offered, &p);
	assert_int_equal(p.limit, LIMIT_SENDER);
	assert_float_equal(p.pps, 90, 1e-6);

	*impair(b) = (struct wire_impair){
	    .loss = LOSS_BURSTS, .to_bad_ppm = 10000, .to_good_ppm = 90000, .bad_loss_ppm = 500000};
	predict(b, &udp, &p);
	assert_float_equal(p.pps, 950, 1e-6); /* a tenth of the time bad, half of that lost */

	*impair(b) =
	    (struct wire_impair){.flap_up_ns = 3 * NSEC_PER_SEC, .flap_down_ns = NSEC_PER_SEC};
	predict(b, &udp, &p);
	assert_float_equal(p.pps, 750, 1e-6);

	*impair(b) = (struct wire_impair){.black_hole = 1000};
	predict(b, &udp, &p);
	assert_float_equal(p.pps, 0, 1e-6);
}

static void test_trace(void **state)
{
	static const int64_t times[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
	struct bed *b = *state;
	struct truth_predicted p;

	impair(b)->trace_ms = times;
	impair(b)->trace_n = ARRAY_SIZE(times);
	predict(b, &udp, &p);
	assert_true(p.known);
	assert_int_equal(p.limit, LIMIT_TRACE);
	assert_float_equal(p.pps, 1000.0 * 1504 / 1514, 1e-6);
}

static void expect_unknown(const struct bed *b, const char *why)
{
	struct truth_predicted p;

	predict(b, &tcp, &p);
	assert_false(p.known);
	assert_non_null(strstr(p.unknown, why));
}

static void test_tcp_answers(void **state)
{
	struct bed *b = *state;
	struct truth_predicted p;

	set_rate(b, 100 * MBIT);
	predict(b, &tcp, &p);
	assert_true(p.known);
	impair(b)->loss = LOSS_RANDOM;
	impair(b)->loss_ppm = 10000;
	expect_unknown(b, "loss");
	*impair(b) = (struct wire_impair){.reordering_ppm = 10000};
	expect_unknown(b, "reordering");
	*impair(b) = (struct wire_impair){0};
	shape(b, 0)->rate.police = true;
	expect_unknown(b, "policer");
	shape(b, 0)->rate.police = false;
	shape(b, 1)->rate.bps = MBIT; /* 82,000 acknowledgements' bits per 100 Mbit/s are more */
	expect_unknown(b, "acknowledgements");
}

static void test_tcp_delay(void **state)
{
	struct bed *b = *state;
	struct truth_predicted p;

	set_rate(b, 100 * MBIT);
	impair(b)->delay_ns = 20 * NSEC_PER_MSEC; /* 250 kB on the way, 1,000 frames may wait */
	predict(b, &tcp, &p);
	assert_true(p.known);
	shape(b, 0)->rate.queue_ns = 2 * NSEC_PER_MSEC;
	expect_unknown(b, "queue");
	shape(b, 0)->rate.queue_ns = 0;
	impair(b)->delay_ns = 500 * NSEC_PER_MSEC;
	expect_unknown(b, "buffers");
	predict(b, &udp, &p);
	assert_true(p.known); /* nobody waits for an answer */
}

static void test_scale(void **state)
{
	struct bed *b = *state;
	struct truth_predicted p;

	set_rate(b, 100 * MBIT);
	predict(b, &udp, &p);
	assert_false(truth_scaled(&p));
	b->w.scale_den = 20;
	predict(b, &udp, &p);
	assert_true(truth_scaled(&p));
	assert_float_equal(truth_full_size(&p, 5.0), 100.0, 1e-9);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, bed_up, bed_down)

/* Linux sends no segments below 48 bytes, options included: they leave in two packets. */
static void test_least_mtu(void **state)
{
	struct bed *b = *state;
	struct truth_predicted p;

	set_rate(b, 20 * MBIT);
	shape(b, 0)->rate.basis = BASIS_L1;
	b->forward.mtu = b->back.mtu = 68;
	predict(b, &tcp, &p);
	assert_int_equal(p.payload_bytes, 36);
	assert_int_equal(p.charged_bytes, (68 + 38) + 84);
	assert_float_equal(p.high_bps, 20e6 * 36 / 190, 1);
	b->forward.mtu = 88; /* the least that fits one */
	predict(b, &tcp, &p);
	assert_int_equal(p.payload_bytes, 36);
	assert_int_equal(p.charged_bytes, 88 + 38);
	b->forward.mtu = 89;
	predict(b, &tcp, &p);
	assert_int_equal(p.payload_bytes, 37);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(test_packets_cap),   TEST(test_sum),	    TEST(test_queues_and_flows),
	    TEST(test_credit),	      TEST(test_udp_loss),  TEST(test_trace),
	    TEST(test_tcp_answers),   TEST(test_tcp_delay), TEST(test_scale),
	    TEST(test_opposite_rate), TEST(test_least_mtu),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
