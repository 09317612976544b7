/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The relay's parts that need no kernel: pool, queue, trace, frame, specification. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/base/units.h"
#include "emulator/relay/frame.h"
#include "emulator/relay/pool.h"
#include "emulator/relay/queue.h"
#include "emulator/relay/relay.h"
#include "emulator/relay/trace.h"

static void pool_gives_all_and_merges(void **state)
{
	struct err err = ERR_INIT;
	static void *blocks[4096];
	struct pool p;
	size_t n = 0;

	(void)state;
	assert_int_equal(pool_init(&p, 1 << 18, &err), 0);
	while ((blocks[n] = pool_get(&p, 100)))
		memset(blocks[n++], 1, 128);
	assert_int_equal(n, (1 << 18) / 128);
	assert_null(pool_get(&p, 1));
	for (size_t i = 0; i < n; i += 2)
		pool_put(&p, blocks[i]);
	assert_null(pool_get(&p, 129)); /* every other block is still there */
	for (size_t i = 1; i < n; i += 2)
		pool_put(&p, blocks[i]);
	assert_non_null(pool_get(&p, 1 << POOL_MAX_BITS));
	assert_non_null(pool_get(&p, 1 << POOL_MAX_BITS));
	assert_null(pool_get(&p, 1));
	assert_null(pool_get(&p, (1 << POOL_MAX_BITS) + 1));
	pool_done(&p);
}

/* Blocks never overlap, whatever the order of getting and putting. */
static void pool_survives_a_random_life(void **state)
{
	static struct {
		uint8_t *p;
		size_t size;
		uint8_t mark;
	} live[500];
	struct err err = ERR_INIT;
	unsigned seed = 1;
	struct pool p;

	(void)state;
	assert_int_equal(pool_init(&p, 1 << 19, &err), 0);
	for (int step = 0; step < 200000; step++) {
		int i = rand_r(&seed) % 500;

		if (live[i].p) {
			for (size_t k = 0; k < live[i].size; k += 97)
				assert_int_equal(live[i].p[k], live[i].mark);
			pool_put(&p, live[i].p);
			live[i].p = NULL;
			continue;
		}
		live[i].size = 1 + (size_t)rand_r(&seed) % 9000;
		live[i].mark = (uint8_t)step;
		live[i].p = pool_get(&p, live[i].size);
		if (live[i].p)
			memset(live[i].p, live[i].mark, live[i].size);
	}
	for (int i = 0; i < 500; i++)
		if (live[i].p)
			pool_put(&p, live[i].p);
	for (int i = 0; i < 4; i++)
		assert_non_null(pool_get(&p, 1 << POOL_MAX_BITS));
	pool_done(&p);
}

static void queue_is_by_time_then_by_arrival(void **state)
{
	struct err err = ERR_INIT;
	int64_t last = -1, last_index = -1;
	unsigned seed = 3;
	struct queue q;

	(void)state;
	assert_int_equal(queue_init(&q, 10000, &err), 0);
	assert_null(queue_first(&q));
	for (intptr_t i = 0; i < 10000; i++)
		queue_push(&q, rand_r(&seed) % 100, (void *)i);
	for (int i = 0; i < 10000; i++) {
		struct queue_item item = queue_pop(&q);

		if (i % 3 == 0) { /* what is put back keeps its place */
			queue_put_back(&q, item);
			assert_ptr_equal(queue_pop(&q).what, item.what);
		}
		assert_true(item.due_ns > last ||
			    (item.due_ns == last && (intptr_t)item.what > last_index));
		last = item.due_ns;
		last_index = (intptr_t)item.what;
	}
	assert_null(queue_first(&q));
	queue_done(&q);
}

#define MS NSEC_PER_MSEC

static void trace_delivers_as_mahimahi(void **state)
{
	static const int64_t ms[] = {2, 2, 5, 10};
	struct trace *t = trace_new(ms, 4, 0);

	(void)state;
	/* Full packets: one an opportunity. */
	assert_true(trace_pass(t, 0, 1500) == 2 * MS);
	assert_true(trace_pass(t, 0, 1500) == 2 * MS);
	/* Three that share one, and a fourth that begins there and ends in the next. */
	assert_true(trace_pass(t, 1 * MS, 496) == 5 * MS);
	assert_true(trace_pass(t, 1 * MS, 496) == 5 * MS);
	assert_true(trace_pass(t, 1 * MS, 496) == 5 * MS); /* 4 bytes are left */
	assert_true(trace_pass(t, 1 * MS, 496) == 10 * MS);
	/* What is left at 10 ms is still there for one that comes before, lost for one after. */
	assert_true(trace_pass(t, 10 * MS, 1000) == 10 * MS);
	assert_true(trace_pass(t, 10 * MS + 1, 100) == 12 * MS);
	/* Opportunities that nobody used are gone; many loops later too. */
	assert_true(trace_pass(t, 14 * MS, 1500) == 15 * MS);
	assert_true(trace_pass(t, 1000003 * MS, 1500) == 1000005 * MS);
	assert_true(trace_pass(t, 1000005 * MS + 1, 1500) == 1000010 * MS);
	trace_free(t);
}

static void trace_queue_is_bounded(void **state)
{
	static const int64_t ms[] = {1};
	struct trace *t = trace_new(ms, 1, 0);
	int accepted = 0;

	(void)state;
	while (trace_pass(t, 0, 1500) >= 0)
		accepted++;
	assert_int_equal(accepted, TRACE_QUEUE_BYTES / TRACE_BYTES);
	/* The first leaves at 1 ms: then there is room for one. */
	assert_true(trace_pass(t, 1 * MS, 1500) == 1001 * MS);
	assert_true(trace_pass(t, 1 * MS, 1500) == -1);
	trace_free(t);
}

/* Ethernet, a VLAN tag, IPv4 with one option word, UDP. */
static const uint8_t tagged[] = {2,    0, 0, 0,	 0,  1,	 2, 0, 0,   0,	 0,   2,
				 0x81, 0, 0, 5,	 8,  0, /* IP: */
				 0x46, 0, 0, 36, 0,  0,	 0, 0, 64,  17,	 0,   0,
				 10,   0, 0, 1,	 10, 0,	 0, 2, 1,   1,	 1,   1, /* UDP: */
				 0,    7, 0, 8,	 0,  12, 0, 0, 'a', 'b', 'c', 'd'};

static void frames_are_read(void **state)
{
	struct frame f;

	(void)state;
	frame_read(tagged, sizeof(tagged), &f);
	assert_int_equal(f.l3, 18);
	assert_int_equal(f.payload, 18 + 24);
	assert_int_equal(f.ip_bytes, 36);
	for (size_t len = 0; len < sizeof(tagged); len++) { /* under a sanitizer */
		uint8_t *cut = malloc(len + 1);

		memcpy(cut, tagged, len);
		frame_read(cut, len, &f);
		assert_true(f.l3 <= len && f.payload <= len + 24);
		frame_flip(cut, len, 12345);
		free(cut);
	}
}

static void corruption_flips_one_bit_of_the_payload(void **state)
{
	bool seen[12 * 8] = {false};

	(void)state;
	for (uint64_t bit = 0; bit < 96; bit++) {
		uint8_t copy[sizeof(tagged)];
		int flipped = 0;

		memcpy(copy, tagged, sizeof(copy));
		frame_flip(copy, sizeof(copy), bit);
		assert_memory_equal(copy, tagged, 18 + 24);
		for (int k = 0; k < 96; k++) {
			size_t at = 42 + (size_t)k / 8;

			if ((copy[at] ^ tagged[at]) & 1 << k % 8) {
				flipped++;
				seen[k] = true;
			}
		}
		assert_int_equal(flipped, 1);
	}
	for (size_t k = 0; k < ARRAY_SIZE(seen); k++)
		assert_true(seen[k]);
}

/* RFC 1071's own example: 0001 f203 f4f5 f6f7 sums to ddf2. */
static void checksums_are_finished(void **state)
{
	uint8_t data[] = {0xee, 0, 1, 0xf2, 3, 0xf4, 0xf5, 0xf6, 0xf7, 0, 0};

	(void)state;
	frame_finish_checksum(data, sizeof(data), 1, 8);
	assert_int_equal(data[9], 0x22);
	assert_int_equal(data[10], 0x0d);
	frame_finish_checksum(data, sizeof(data), 9, 8); /* beyond the end: nothing */
	frame_finish_checksum(data, sizeof(data), 1000, 1);
	assert_int_equal(data[9], 0x22);
}

static void specifications_go_round(void **state)
{
	static const int64_t ms[] = {0, 3, 3, 9};
	struct relay_spec s = {
	    .name = "r-b uplink",
	    .memory_bytes = 1 << 20,
	    .fates_max = 7,
	    .dir[RELAY_AB] = {"span1",
			      "mid1",
			      {.given = true,
			       .delay_ns = 1,
			       .jitter_ns = 2,
			       .jitter = JITTER_PARETO,
			       .jitter_correlation_ppm = 3,
			       .loss = LOSS_BURSTS,
			       .loss_ppm = 4,
			       .loss_correlation_ppm = 5,
			       .loss_every = 6,
			       .loss_after = 7,
			       .to_bad_ppm = 8,
			       .to_good_ppm = 9,
			       .bad_loss_ppm = 10,
			       .good_loss_ppm = 11,
			       .duplication_ppm = 12,
			       .reordering_ppm = 13,
			       .corruption_ppm = 14,
			       .flap_up_ns = 15,
			       .flap_down_ns = 16,
			       .black_hole = 17,
			       .trace_ms = ms,
			       .trace_n = 4,
			       .trace_file = "t.trace",
			       .seed = UINT64_MAX - 5}},
	    .dir[RELAY_BA] = {"span0", "mid0", {0}},
	};
	json_t *j = relay_spec_json(&s), *again;
	struct err err = ERR_INIT;
	struct relay_spec got;
	struct arena arena;

	(void)state;
	arena_init(&arena);
	assert_int_equal(relay_spec_parse(j, &arena, &got, &err), 0);
	again = relay_spec_json(&got);
	assert_true(json_equal(j, again));
	assert_string_equal(got.name, s.name);
	assert_int_equal(got.fates_max, 7);
	for (int d = 0; d < RELAY_DIRECTIONS; d++)
		assert_true(relay_impair_equal(&s.dir[d].impair, &got.dir[d].impair));
	assert_true(got.dir[RELAY_AB].impair.seed == UINT64_MAX - 5);
	got.dir[RELAY_AB].impair.black_hole++;
	assert_false(relay_impair_equal(&s.dir[0].impair, &got.dir[0].impair));
	json_decref(j);
	json_decref(again);
	arena_done(&arena);
}

static void bad_specifications_are_refused(void **state)
{
	static const char *const bad[] = {
	    "{}",
	    "[]",
	    "{\"name\": \"x\", \"ab\": {\"in\": \"a\", \"out\": \"b\"}}",
	    "{\"delay_ns\": -1}",
	    "{\"delay_ns\": \"1\"}",
	    "{\"loss_ppm\": 1000001}",
	    "{\"loss\": \"sometimes\"}",
	    "{\"loss\": 3}",
	    "{\"trace_ms\": []}",
	    "{\"trace_ms\": [0]}",
	    "{\"trace_ms\": [3, 2]}",
	    "{\"trace_ms\": [\"3\"]}",
	    "{\"given\": 1}",
	    "{\"speed\": 1}",
	};
	struct arena arena;

	(void)state;
	arena_init(&arena);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		json_t *j = json_loads(bad[i], 0, NULL);
		struct wire_impair impair;
		struct relay_spec s;
		struct err err = ERR_INIT;

		assert_non_null(j);
		assert_true(relay_spec_parse(j, &arena, &s, &err) < 0);
		assert_int_equal(err.kind, ERR_INPUT);
		if (i > 2)
			assert_true(relay_impair_parse(j, &arena, &impair, &err) < 0);
		json_decref(j);
	}
	arena_done(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(pool_gives_all_and_merges),
	    cmocka_unit_test(pool_survives_a_random_life),
	    cmocka_unit_test(queue_is_by_time_then_by_arrival),
	    cmocka_unit_test(trace_delivers_as_mahimahi),
	    cmocka_unit_test(trace_queue_is_bounded),
	    cmocka_unit_test(frames_are_read),
	    cmocka_unit_test(corruption_flips_one_bit_of_the_payload),
	    cmocka_unit_test(checksums_are_finished),
	    cmocka_unit_test(specifications_go_round),
	    cmocka_unit_test(bad_specifications_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
