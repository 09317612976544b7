/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The window: edges, phases, and how a read that lies across an edge is shared. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "core/base/mem.h"
#include "core/base/units.h"
#include "core/engine/window.h"

#define MS NSEC_PER_MSEC

static struct window window_of(int64_t warmup, int64_t duration, int64_t interval, bool open)
{
	struct window_times t = {1000 * MS, warmup, duration, interval};
	struct window w;

	window_init(&w, &t, open, 1);
	return w;
}

static void edges(void **state)
{
	struct window w = window_of(200 * MS, 1000 * MS, 300 * MS, false);
	static const int64_t want[] = {1200, 1500, 1800, 2100, 2200};

	(void)state;
	assert_int_equal(w.edges, ARRAY_SIZE(want));
	for (int k = 0; k < w.edges; k++)
		assert_int_equal(window_edge(&w, k), want[k] * MS);
	w = window_of(0, 1000 * MS, 500 * MS, false);
	assert_int_equal(w.edges, 3);
	assert_int_equal(window_edge(&w, 2), w.end_ns);
	w = window_of(0, 100 * MS, 500 * MS, false); /* one interval, cut short */
	assert_int_equal(w.edges, 2);
	assert_int_equal(window_edge(&w, 1), 1100 * MS);
	w = window_of(0, 1000 * MS, 300 * MS, true);
	assert_int_equal(w.edges, WINDOW_OPEN_EDGES + 1);
	assert_int_equal(window_edge(&w, 4), 2200 * MS); /* the nominal end is no edge */
}

static void phases(void **state)
{
	struct window w = window_of(200 * MS, 1000 * MS, 300 * MS, false);

	(void)state;
	assert_int_equal(window_phase(&w, 1000 * MS), PHASE_WARMUP);
	assert_int_equal(window_phase(&w, 1200 * MS - 1), PHASE_WARMUP);
	assert_int_equal(window_phase(&w, 1200 * MS), PHASE_MEASURE);
	assert_int_equal(window_phase(&w, 2200 * MS - 1), PHASE_MEASURE);
	assert_int_equal(window_phase(&w, 2200 * MS), PHASE_TAIL);
	w.open = true;
	assert_int_equal(window_phase(&w, 2200 * MS), PHASE_MEASURE);
}

/* 1448 bytes every 11.584 ms are 1 Mbit/s exactly, and the window must say so although no read
 * falls on an edge. */
static void an_even_flow_is_exact(void **state)
{
	struct window w = window_of(100 * MS, 1000 * MS, 250 * MS, false);
	struct window_track t;

	(void)state;
	window_track_init(&t, &w, 100 * MS);
	for (int64_t now = w.start_ns + 3 * MS; now < w.end_ns + 20 * MS; now += 11584000)
		window_track_add(&t, now, 1448);
	double bits = 8 * (window_track_at(&t, w.edges - 1) - window_track_at(&t, 0));
	assert_true(fabs(bits - 1e6) < 1);
	double sum = 0;
	for (int k = 1; k < w.edges; k++)
		sum += 8 * (window_track_at(&t, k) - window_track_at(&t, k - 1));
	assert_true(fabs(sum - bits) < 1e-3);
	window_track_done(&t);
}

static void reads_across_edges(void **state)
{
	static const struct {
		const char *what;
		int64_t max_gap, before, at, more; /* ms; bytes */
		double edge;			   /* bytes at the edge, which is at 1200 ms */
	} table[] = {
	    {"before", 100, 1150, 1190, 400, 1400},
	    {"on the edge: after it", 100, 1150, 1200, 400, 1400},
	    {"a quarter is before", 100, 1190, 1230, 400, 1100},
	    {"three quarters are before", 100, 1170, 1210, 400, 1300},
	    {"after a long pause: all after", 100, 1090, 1210, 400, 1000},
	    {"never shared", 0, 1190, 1230, 400, 1000},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct window w = window_of(200 * MS, 1000 * MS, 500 * MS, false);
		struct window_track t;

		print_message("%s\n", table[i].what);
		window_track_init(&t, &w, table[i].max_gap * MS);
		window_track_add(&t, table[i].before * MS, 1000);
		window_track_add(&t, table[i].at * MS, table[i].more);
		assert_true(fabs(window_track_at(&t, 0) - table[i].edge) < 1e-6);
		window_track_done(&t);
	}
}

/* A pause over several edges: all of them see the count before it; those still to come, the last.
 */
static void several_edges_at_once(void **state)
{
	struct window w = window_of(0, 1000 * MS, 100 * MS, false);
	struct window_track t;

	(void)state;
	window_track_init(&t, &w, 10 * MS);
	window_track_add(&t, 1050 * MS, 7);
	window_track_add(&t, 1550 * MS, 5);
	assert_int_equal(t.passed, 6);
	for (int k = 1; k <= 5; k++)
		assert_true(fabs(window_track_at(&t, k) - 7) < 1e-9);
	assert_true(fabs(window_track_at(&t, 6) - 12) < 1e-9);
	window_track_add(&t, 5000 * MS, 100);
	assert_true(fabs(window_track_at(&t, 10) - 12) < 1e-9);
	assert_int_equal(t.units, 112);
	window_track_done(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(edges),
	    cmocka_unit_test(phases),
	    cmocka_unit_test(an_even_flow_is_exact),
	    cmocka_unit_test(reads_across_edges),
	    cmocka_unit_test(several_edges_at_once),
	};
	return cmocka_run_group_tests_name("engine: window", tests, NULL, NULL);
}
