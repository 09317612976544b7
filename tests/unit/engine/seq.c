/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sequence accounting: loss, duplication, reordering (RFC 4737), the ring's end and 2^32. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/base/mem.h"
#include "core/engine/packet.h"
#include "core/engine/seq.h"

struct expect {
	int64_t unique, duplicated, reordered, late;
};

static void check(const struct seq *s, struct expect want)
{
	assert_int_equal(s->unique, want.unique);
	assert_int_equal(s->duplicated, want.duplicated);
	assert_int_equal(s->reordered, want.reordered);
	assert_int_equal(s->late, want.late);
}

#define NUMBERS 12
static const struct {
	const char *what;
	uint64_t numbers[NUMBERS]; /* those that arrive, in order, n of them */
	size_t n;
	struct expect want;
} arrivals[] = {
    {"in order", {0, 1, 2, 3, 4, 5}, 6, {6, 0, 0, 0}},
    {"one lost", {0, 1, 3, 4}, 4, {4, 0, 0, 0}},
    {"the first ones lost", {5, 6}, 2, {2, 0, 0, 0}},
    {"one twice", {0, 1, 1, 2}, 4, {3, 1, 0, 0}},
    {"the first twice", {0, 0}, 2, {1, 1, 0, 0}},
    {"two swapped: one is reordered", {0, 2, 1, 3}, 4, {4, 0, 1, 0}},
    {"one late by three", {0, 2, 3, 4, 1, 5}, 6, {6, 0, 1, 0}},
    {"one early: those behind are reordered", {0, 4, 1, 2, 3, 5}, 6, {6, 0, 3, 0}},
    {"reordered and twice", {0, 2, 1, 1, 2}, 5, {3, 2, 1, 0}},
    {"backwards", {4, 3, 2, 1, 0}, 5, {5, 0, 4, 0}},
    {"a word apart", {0, 64, 63, 65, 127, 128, 64}, 7, {6, 1, 1, 0}},
};

static void tables(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(arrivals); i++) {
		struct seq s;

		print_message("%s\n", arrivals[i].what);
		seq_init(&s);
		for (size_t k = 0; k < arrivals[i].n; k++)
			seq_add(&s, arrivals[i].numbers[k]);
		check(&s, arrivals[i].want);
		seq_done(&s);
	}
}

/* The same tables, begun just below the end of the ring, and just below 2^32. */
static void tables_across_the_ends(void **state)
{
	static const uint64_t bases[] = {SEQ_WINDOW - 3, 3 * SEQ_WINDOW - 1,
					 (UINT64_C(1) << 32) - 2, (UINT64_C(1) << 62) - 200};

	(void)state;
	for (size_t b = 0; b < ARRAY_SIZE(bases); b++)
		for (size_t i = 0; i < ARRAY_SIZE(arrivals); i++) {
			struct seq s;

			seq_init(&s);
			for (size_t k = 0; k < arrivals[i].n; k++)
				seq_add(&s, bases[b] + arrivals[i].numbers[k]);
			check(&s, arrivals[i].want);
			seq_done(&s);
		}
}

/* The ring is used again: what was seen a turn ago is not taken for seen now. */
static void the_ring_forgets(void **state)
{
	struct seq s;

	(void)state;
	seq_init(&s);
	for (uint64_t n = 0; n < 3 * SEQ_WINDOW; n++)
		assert_true(seq_add(&s, n));
	check(&s, (struct expect){3 * SEQ_WINDOW, 0, 0, 0});
	assert_false(seq_add(&s, 2 * SEQ_WINDOW));     /* the oldest that is remembered */
	assert_false(seq_add(&s, 2 * SEQ_WINDOW - 1)); /* one older */
	check(&s, (struct expect){3 * SEQ_WINDOW, 1, 0, 1});
	seq_done(&s);
}

static void a_gap_longer_than_the_ring(void **state)
{
	struct seq s;

	(void)state;
	seq_init(&s);
	for (uint64_t n = 0; n < 1000; n++)
		seq_add(&s, n);
	assert_true(seq_add(&s, 10 * SEQ_WINDOW + 500));
	assert_true(seq_add(&s, 10 * SEQ_WINDOW + 100)); /* same places as 500 and 100 before */
	assert_true(seq_add(&s, 9 * SEQ_WINDOW + 501));
	assert_false(seq_add(&s, 500));
	check(&s, (struct expect){1003, 0, 2, 1});
	seq_done(&s);
}

static void a_packet_both_ways(void **state)
{
	static const size_t sizes[] = {PACKET_MIN, 18, PACKET_TIMED, 1472};
	char data[1472] = {0};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct packet in = {0xdeadbeef, PHASE_TAIL, (UINT64_C(1) << 62) - 1, 1234567890123};
		struct packet out;

		packet_put(data, sizes[i], &in);
		assert_true(packet_get(data, sizes[i], &out));
		assert_int_equal(out.session, in.session);
		assert_int_equal(out.phase, in.phase);
		assert_int_equal(out.number, in.number);
		assert_int_equal(out.sent_ns, sizes[i] >= PACKET_TIMED ? in.sent_ns : 0);
	}
	assert_false(packet_get(data, PACKET_MIN - 1, &(struct packet){0}));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(tables),
	    cmocka_unit_test(tables_across_the_ends),
	    cmocka_unit_test(the_ring_forgets),
	    cmocka_unit_test(a_gap_longer_than_the_ring),
	    cmocka_unit_test(a_packet_both_ways),
	};
	return cmocka_run_group_tests_name("engine: sequence", tests, NULL, NULL);
}
