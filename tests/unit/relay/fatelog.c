/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The fate log: written by the relay's side, saved, opened, and as pcapng parsed back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "emulator/relay/fatelog.h"

static const struct relay_spec spec = {
    .name = "r-b",
    .fates_max = 3,
    .dir[RELAY_AB] = {.in = "s2", .out = "mb"},
    .dir[RELAY_BA] = {.in = "s1", .out = "ma"},
};

static void add(struct fatelog *l, int direction, const struct fatelog_record *what)
{
	struct fatelog_record *r = fatelog_add(l, direction);

	if (r)
		*r = *what;
}

/* Three of a→b, one more that finds no place, and one of b→a between them. */
static void fill(struct strbuf *bytes)
{
	static const struct fatelog_record passed = {.number = 1,
						     .arrival_ns = 1000,
						     .due_ns = 2000,
						     .departure_ns = 2500,
						     .len = 1514,
						     .kept = 64,
						     .data = {1, 2, 3}};
	static const struct fatelog_record lost = {
	    .number = 2, .arrival_ns = 3000, .cause = FATE_LOSS, .len = 61, .kept = 61};
	static const struct fatelog_record waits = {.number = 3,
						    .arrival_ns = 5000,
						    .due_ns = 9000,
						    .flags = FATELOG_CORRUPTED | FATELOG_COPY,
						    .len = 60,
						    .kept = 60};
	static const struct fatelog_record back = {
	    .number = 1, .arrival_ns = 4000, .departure_ns = 4100, .len = 42, .kept = 42};
	struct err err = ERR_INIT;
	struct fatelog l;

	assert_int_equal(fatelog_init(&l, &spec, &err), 0);
	l.head->wall_ns = INT64_C(1700000000000000000);
	add(&l, RELAY_AB, &passed);
	add(&l, RELAY_AB, &lost);
	add(&l, RELAY_BA, &back);
	add(&l, RELAY_AB, &waits);
	add(&l, RELAY_AB, &passed);
	assert_int_equal(fatelog_save(l.fd, bytes, &err), 0);
	fatelog_done(&l);
}

static void a_log_is_saved_and_read_in_order(void **state)
{
	static const char *const words[] = {"#1 passed after 1.5 µs", "#2 lost: loss",
					    "#1 passed after 100 ns", "#3 waits: copy, corrupted"};
	static const int directions[] = {RELAY_AB, RELAY_AB, RELAY_BA, RELAY_AB};
	autostr struct strbuf bytes = {0};
	size_t at[RELAY_DIRECTIONS] = {0}, n = 0;
	const struct fatelog_record *r;
	struct err err = ERR_INIT;
	struct fatelog_view v;
	int d;

	(void)state;
	fill(&bytes);
	assert_int_equal(fatelog_open(bytes.s, bytes.len, &v, &err), 0);
	assert_string_equal(v.head->link, "r-b");
	assert_int_equal(v.head->dir[RELAY_AB].not_logged, 1);
	while ((r = fatelog_next(&v, at, &d))) {
		autostr struct strbuf text = {0};

		fatelog_words(r, &text);
		assert_true(n < ARRAY_SIZE(words));
		assert_int_equal(d, directions[n]);
		assert_string_equal(strbuf_text(&text), words[n++]);
	}
	assert_int_equal(n, 4);
}

static void what_is_cut_is_refused(void **state)
{
	autostr struct strbuf bytes = {0};
	struct err err = ERR_INIT;
	struct fatelog_view v;

	(void)state;
	fill(&bytes);
	for (size_t len = 0; len < bytes.len; len += 13)
		assert_int_equal(fatelog_open(bytes.s, len, &v, &err), -EPROTO);
	bytes.s[0] = 'X';
	assert_int_equal(fatelog_open(bytes.s, bytes.len, &v, &err), -EPROTO);
}

static void without_a_log_nothing_happens(void **state)
{
	struct relay_spec none = spec;
	struct err err = ERR_INIT;
	struct fatelog l;

	(void)state;
	none.fates_max = 0;
	assert_int_equal(fatelog_init(&l, &none, &err), 0);
	assert_null(fatelog_add(&l, RELAY_AB));
	fatelog_done(&l);
}

static uint32_t get32(const char *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static uint16_t get16(const char *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* The value of an option, as heap text, or NULL. `p` to `end`: the options of a block. */
static char *option(const char *p, const char *end, unsigned code)
{
	while (p + 4 <= end && get16(p)) {
		unsigned len = get16(p + 2);

		assert_true(p + 4 + len <= end);
		if (get16(p) == code) {
			char *text = mem_zalloc(len + 1);

			memcpy(text, p + 4, len);
			return text;
		}
		p += 4 + (len + 3) / 4 * 4;
	}
	return NULL;
}

/* Block by block, by the specification: types, both lengths, padding, interfaces, time stamps. */
static void pcapng_is_parsed_back(void **state)
{
	static const char *const comments[] = {"#1 passed after 1.5 µs", "#2 lost: loss",
					       "#1 passed after 100 ns",
					       "#3 waits: copy, corrupted"};
	static const unsigned lens[] = {1514, 61, 42, 60}, kept[] = {64, 61, 42, 60};
	autostr struct strbuf bytes = {0}, out = {0};
	size_t sections = 0, interfaces = 0, packets = 0;
	struct err err = ERR_INIT;
	struct fatelog_view v;

	(void)state;
	fill(&bytes);
	assert_int_equal(fatelog_open(bytes.s, bytes.len, &v, &err), 0);
	fatelog_pcapng(&v, &out);
	for (const char *p = out.s; p < out.s + out.len; p += get32(p + 4)) {
		uint32_t type = get32(p), total = get32(p + 4);
		const char *end = p + total - 4;
		uint64_t when;

		assert_true(total % 4 == 0 && end + 4 <= out.s + out.len);
		assert_int_equal(get32(end), total);
		if (type == 0x0a0d0d0a) {
			assert_ptr_equal(p, out.s);
			assert_int_equal(get32(p + 8), 0x1a2b3c4d);
			sections++;
			continue;
		}
		if (type == 1) {
			autofree char *name = option(p + 16, end, 2);
			autofree char *resolution = option(p + 16, end, 9);

			assert_int_equal(get16(p + 8), 1);
			assert_string_equal(name, interfaces ? "r-b b to a" : "r-b a to b");
			assert_int_equal(resolution[0], 9);
			interfaces++;
			continue;
		}
		assert_int_equal(type, 6);
		assert_true(packets < ARRAY_SIZE(lens));
		assert_int_equal(get32(p + 8), packets == 2);
		when = (uint64_t)get32(p + 12) << 32 | get32(p + 16);
		assert_true(when >= UINT64_C(1700000000000001000) &&
			    when <= UINT64_C(1700000000000005000));
		assert_int_equal(get32(p + 20), kept[packets]);
		assert_int_equal(get32(p + 24), lens[packets]);
		autofree char *comment = option(p + 28 + (kept[packets] + 3) / 4 * 4, end, 1);
		assert_string_equal(comment, comments[packets]);
		packets++;
	}
	assert_int_equal(sections, 1);
	assert_int_equal(interfaces, 2);
	assert_int_equal(packets, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_log_is_saved_and_read_in_order),
	    cmocka_unit_test(what_is_cut_is_refused),
	    cmocka_unit_test(without_a_log_nothing_happens),
	    cmocka_unit_test(pcapng_is_parsed_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
