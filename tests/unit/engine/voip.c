/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls: R-value and MOS against figures worked out by hand from the formulas of G.107 and what
 * pairs of datagrams count: losses in a row, jitter, order; confidence of records.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/engine/pair_flow.h"
#include "core/engine/pair_stats.h"
#include "core/engine/voip.h"
#include "core/stats/summary.h"
#include "tests/unit/engine/near.h"

static const struct voip_codec *codec(const char *name)
{
	const struct voip_codec *c = NULL;
	struct err err = ERR_INIT;

	assert_int_equal(voip_codec_parse(name, &c, &err), 0);
	return c;
}

static void r_is_the_e_models(void **state)
{
	(void)state;
	near(voip_r(codec("g711u"), 0, 0), 93.2, 1e-9);
	near(voip_r(codec("g711u"), 100e6, 0), 93.2 - 2.4, 1e-9);
	near(voip_r(codec("g711u"), 177.3e6, 0), 93.2 - 4.2552, 1e-9);
	near(voip_r(codec("g711u"), 277.3e6, 0), 93.2 - 6.6552 - 11, 1e-9);
	near(voip_r(codec("g729"), 50e6, 0), 93.2 - 1.2 - 11, 1e-9);
	/* 2 % lost: 11 + 84 · 2 / (2 + 19) = 19 */
	near(voip_r(codec("g729"), 50e6, 0.02), 93.2 - 1.2 - 19, 1e-9);
	/* as much lost as Bpl: half of what is left */
	near(voip_r(codec("G.711A"), 0, 0.043), 93.2 - 47.5, 1e-9);
	near(voip_r(codec("g723.1"), 0, 0.161), 93.2 - 15 - 40, 1e-9);
	near(voip_r(codec("amr-wb"), 0, 0), 129 - 13, 1e-9);
	assert_true(isnan(voip_r(codec("g729"), NAN, 0)));
}

/* ITU-T G.113, tables I.1, I.4, IV.1 and IV.4; whatever is not theirs says so. */
static void planning_values(void **state)
{
	static const struct {
		const char *name;
		double ie, bpl;
		bool assumed;
	} table[] = {
	    {"g711u", 0, 4.3, false},	   {"g711a", 0, 4.3, false},
	    {"g711u_plc", 0, 25.1, false}, {"g711a_plc", 0, 25.1, false},
	    {"g723_63", 15, 16.1, false},  {"g723_53", 19, 16.1, true},
	    {"g726", 7, 4.3, true},	   {"g729", 11, 19, false},
	    {"amr_nb", 5, 10, true},	   {"amr_wb", 13, 4.3, true},
	};
	size_t n = 0;

	(void)state;
	while (voip_codec_at((int)n))
		n++;
	assert_int_equal(n, ARRAY_SIZE(table)); /* a new codec has its values here too */
	for (size_t i = 0; i < n; i++) {
		const struct voip_codec *c = codec(table[i].name);

		near(c->ie, table[i].ie, 0);
		near(c->bpl, table[i].bpl, 0);
		assert_int_equal(c->assumed, table[i].assumed);
	}
	/* G.107.1: 2 % lost of 12.65 kbit/s, by hand: 13 + 82 · 2 / 6.3 */
	near(voip_r(codec("amr_wb"), 0, 0.02), 129 - 13 - 82 * 2 / 6.3, 1e-9);
}

static void mos_is_of_r(void **state)
{
	const struct voip_codec *g711 = codec("g711u");

	(void)state;
	near(voip_mos(g711, 93.2), 4.4093, 1e-4);
	near(voip_mos(g711, 50), 2.575, 1e-9);
	near(voip_mos(g711, 60), 3.1, 1e-9);
	near(voip_mos(g711, 0), 1, 0);
	near(voip_mos(g711, -20), 1, 0);
	near(voip_mos(g711, 3), 1, 0); /* the cubic is below 1 there */
	near(voip_mos(g711, 120), 4.5, 0);
	near(voip_mos(codec("amr_wb"), 129), 4.5, 0);
	near(voip_mos(codec("amr_wb"), 129 * 0.6), 3.1, 1e-9);
}

static void codecs_carry_their_bit_rate(void **state)
{
	static const struct {
		const char *name;
		double bps;
	} rates[] = {{"g711u", 64000}, {"g711a", 64000},  {"g726", 32000},
		     {"g729", 8000},   {"g723_63", 6400}, {"g723_53", 16000.0 / 3}};
	const struct voip_codec *c;
	struct err err = ERR_INIT;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rates); i++) {
		c = codec(rates[i].name);
		near(c->frame_bytes * 8e9 / (double)c->frame_ns, rates[i].bps, 1e-6);
	}
	for (int i = 0; (c = voip_codec_at(i)); i++)
		assert_true(12 + c->frames * c->frame_bytes >= 32);
	assert_int_equal(voip_codec_parse("g7l1u", &c, &err), -EINVAL);
	assert_non_null(strstr(err.text, "'g711u'"));
}

static void arrive(struct pair_flow *f, int64_t number, int64_t delay_ns)
{
	pair_flow_add(f, &(struct pair_arrival){.number = (uint64_t)number,
						.delay_ns = delay_ns,
						.bytes = 100,
						.jitter_buffer_ns = 1000});
}

static void losses_are_told_in_order_of_sending(void **state)
{
	struct pair_flow f = {0};

	(void)state;
	/* 0 1 . . 4 3 5 5 . . . and 11 never came, of 12 */
	static const int come[] = {0, 1, 4, 3, 5, 5};
	for (size_t i = 0; i < ARRAY_SIZE(come); i++)
		arrive(&f, come[i], 10);
	pair_flow_settle(&f);
	assert_int_equal(f.received, 5);
	assert_int_equal(f.duplicated, 1);
	assert_int_equal(f.reordered, 1);
	assert_int_equal(f.longest, 1);
	pair_flow_close(&f, 12);
	assert_int_equal(f.longest, 6);
	assert_int_equal(f.runs, 2);
	assert_int_equal(f.bytes, 500);
}

static void long_flows_keep_their_account(void **state)
{
	struct pair_flow f = {0}, copy;
	int64_t lost = 0, row = 0, longest = 0;

	(void)state;
	srand(7);
	for (int i = 0; i < 50000; i++) {
		bool gone = rand() % 10 == 0 || (i > 20000 && i < 20050);

		row = gone ? row + 1 : 0;
		longest = row > longest ? row : longest;
		lost += gone;
		if (!gone)
			arrive(&f, i, 10);
	}
	pair_flow_settle(&f);
	pair_flow_close(&f, 50000);
	assert_int_equal(f.received, 50000 - lost);
	assert_int_equal(f.longest, longest);
	arrive(&f, 3, 10); /* too old to tell */
	assert_int_equal(f.late, 1);
	json_t *j = pair_flow_pack(&f);
	pair_flow_unpack(j, &copy);
	json_decref(j);
	assert_int_equal(copy.received, f.received);
	assert_int_equal(copy.longest, longest);
	near(copy.jitter_ns, f.jitter_ns, 0);
}

static void jitter_is_rfc_3550s(void **state)
{
	struct pair_flow f = {0};
	double jitter = 0;

	(void)state;
	for (int i = 0; i < 100; i++) {
		arrive(&f, i, i % 2 ? 5000 : 2000);
		jitter += i ? (3000 - jitter) / 16 : 0;
	}
	near(f.jitter_ns, jitter, 1e-6);
	near(f.delay_mean, 3500, 1e-6);
	assert_int_equal(f.delay_min, 2000);
	assert_int_equal(f.delay_max, 5000);
	assert_int_equal(f.unplayed, 50); /* 3 µs late, and the buffer waits for 1 */
}

static void records_add_up(void **state)
{
	struct pair_stats whole = {0}, a = {0}, b = {0}, copy;

	(void)state;
	for (int i = 0; i < 40; i++) {
		struct pair_record r = {i * 100000, i * 100000 + 1000 * (1 + i % 7), 500 + 10 * i,
					1 + i % 3};

		pair_stats_add(&whole, &r);
		pair_stats_add(i < 13 ? &a : &b, &r);
	}
	pair_stats_merge(&a, &b);
	assert_int_equal(a.records, 40);
	for (int i = 0; i < PAIR_QUANTITIES; i++)
		assert_int_equal(a.sum[i], whole.sum[i]);
	near(pair_stats_half(&a, PAIR_BYTES, PAIR_NS), pair_stats_half(&whole, PAIR_BYTES, PAIR_NS),
	     1e-9);
	near(pair_stats_half(&a, PAIR_NS, PAIR_TRANSACTIONS),
	     pair_stats_half(&whole, PAIR_NS, PAIR_TRANSACTIONS), 1e-6);
	assert_int_equal(a.last_ns, whole.last_ns);
	near(a.rate.max, whole.rate.max, 0);
	json_t *j = pair_stats_pack(&a);
	pair_stats_unpack(j, &copy);
	json_decref(j);
	near(pair_stats_half(&copy, PAIR_BYTES, PAIR_NS), pair_stats_half(&a, PAIR_BYTES, PAIR_NS),
	     0);
}

/* With one transaction a record, the time of one is a plain mean: its interval is Student's. */
static void confidence_is_students(void **state)
{
	static const double ns[] = {120, 90, 105, 133, 98, 101};
	struct pair_stats s = {0};
	struct summary plain;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(ns); i++)
		pair_stats_add(&s, &(struct pair_record){0, (int64_t)ns[i], 1000, 1});
	summary_of(ns, ARRAY_SIZE(ns), 0.95, &plain);
	near(pair_stats_ratio(&s, PAIR_NS, PAIR_TRANSACTIONS), plain.mean, 1e-9);
	near(pair_stats_half(&s, PAIR_NS, PAIR_TRANSACTIONS), plain.half_width, 1e-9);
	/* Bytes are the same each time: the rate is as precise as the time. */
	near(pair_stats_half(&s, PAIR_BYTES, PAIR_NS) / pair_stats_ratio(&s, PAIR_BYTES, PAIR_NS),
	     plain.half_width / plain.mean, 1e-9);
	s.records = 1;
	assert_true(isnan(pair_stats_half(&s, PAIR_BYTES, PAIR_NS)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(r_is_the_e_models),
	    cmocka_unit_test(planning_values),
	    cmocka_unit_test(mos_is_of_r),
	    cmocka_unit_test(codecs_carry_their_bit_rate),
	    cmocka_unit_test(losses_are_told_in_order_of_sending),
	    cmocka_unit_test(long_flows_keep_their_account),
	    cmocka_unit_test(jitter_is_rfc_3550s),
	    cmocka_unit_test(records_add_up),
	    cmocka_unit_test(confidence_is_students),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
