// SPDX-License-Identifier: GPL-2.0-or-later
/* proofs: the table, the line, the JSON, and what reports of scenarios make of them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "core/harness/verdict.h"
#include "core/report/json.h"
#include "core/report/junit.h"
#include "core/report/proofs.h"
#include "core/report/terminal.h"

static void add(struct proofs *p, const struct proof *one)
{
	*VEC_ADD(&p->arena, &p->list) = *one;
}

static void fill(struct proofs *p, bool wrong)
{
	*p = (struct proofs){.took_ns = 2500000000};
	arena_init(&p->arena);
	add(p, &(struct proof){.link = "h1 uplink",
			       .direction = "tx",
			       .what = "rate",
			       .unit = PROOF_BPS,
			       .asked = 1e9,
			       .got = 998.9e6,
			       .tolerance = 0.003,
			       .has_basis = true,
			       .basis = BASIS_L1,
			       .verdict = VERDICT_PASS});
	add(p, &(struct proof){.link = "r-b",
			       .direction = "r→b",
			       .what = "delay",
			       .unit = PROOF_NS,
			       .asked = 1e7,
			       .got = 10030000,
			       .tolerance = 1e5,
			       .absolute = true,
			       .engine = "relay",
			       .verdict = VERDICT_PASS});
	add(p, &(struct proof){.link = "vm vNIC",
			       .direction = "rx",
			       .what = "connections",
			       .unit = PROOF_COUNT,
			       .asked = 100,
			       .got = NAN,
			       .verdict = VERDICT_SKIP,
			       .why = "not <probed>"});
	if (wrong)
		add(p, &(struct proof){.link = "a-b",
				       .direction = "sum",
				       .what = "packets",
				       .unit = PROOF_PPS,
				       .asked = 50000,
				       .got = 45000,
				       .tolerance = 0.005,
				       .verdict = VERDICT_FAIL});
}

static void contains(const struct strbuf *text, const char *part)
{
	if (!strstr(strbuf_text(text), part))
		fail_msg("'%s' is not in:\n%s", part, strbuf_text(text));
}

static void test_table(void **state)
{
	struct strbuf text = {0};
	struct proofs p;

	(void)state;
	fill(&p, true);
	proofs_table(&p, false, &text);
	contains(&text,
		 "  h1 uplink rate       tx         1 Gbit/s  l1     0.9989 Gbit/s  −0.11 %");
	contains(&text, "10 ms     –      10.03 ms       +30 µs    100 µs     pass (relay)\n");
	contains(&text, "50 kpps   –      45 kpps        −10.00 %  0.5 %      fail\n");
	contains(&text, "  vm vNIC connections rx: skip: not <probed>\n");
	assert_null(strstr(strbuf_text(&text), "\033"));
	strbuf_done(&text);
	proofs_table(&p, true, &text);
	contains(&text, "\033[1;31mfail\033[0m");
	strbuf_done(&text);
	proofs_done(&p);
}

static void test_line(void **state)
{
	struct strbuf text = {0};
	struct proofs p = {0};

	(void)state;
	proofs_line(&p, &text);
	assert_string_equal(strbuf_text(&text), "no link has anything to prove");
	strbuf_done(&text);
	fill(&p, true);
	proofs_line(&p, &text);
	assert_string_equal(strbuf_text(&text),
			    "links proven: 2 of 4 within 0.11 %, 1 failed, 1 not probed");
	strbuf_done(&text);
	proofs_describe(&p.list.v[3], &text);
	assert_string_equal(strbuf_text(&text),
			    "a-b packets sum: asked 50 kpps, got 45 kpps (−10.00 %)");
	strbuf_done(&text);
	proofs_done(&p);
}

static void test_json(void **state)
{
	struct proofs p;
	json_t *list;

	(void)state;
	fill(&p, false);
	list = proofs_json(&p);
	assert_int_equal(json_array_size(list), 3);
	const json_t *rate = json_array_get(list, 0), *skip = json_array_get(list, 2);
	assert_string_equal(json_string_value(json_object_get(rate, "basis")), "l1");
	assert_float_equal(json_real_value(json_object_get(rate, "error_share")), -0.0011, 1e-9);
	assert_true(json_is_null(json_object_get(rate, "engine")));
	assert_true(json_is_null(json_object_get(skip, "got")));
	assert_string_equal(json_string_value(json_object_get(skip, "verdict")), "skip");
	json_decref(list);
	proofs_done(&p);
}

/* A scenario of which nothing was measured, with proofs. */
static void test_reports(void **state)
{
	for (int wrong = 0; wrong < 2; wrong++) {
		struct scenario s = {.name = "tiny", .compare_base = -1};
		struct strbuf text = {0};
		struct run_result r;

		(void)state;
		result_init(&r, &s);
		r.proven = true;
		fill(&r.proofs, wrong);
		VEC_ADD(&r.arena, &r.labs)->name = "tiny";
		assert_int_equal(verdict_overall(&r), wrong ? VERDICT_FAIL : VERDICT_PASS);
		terminal_print(&r, false, &text);
		contains(&text, wrong ? "1 failed" : "links proven: 2 of 3");
		if (wrong)
			contains(&text, "    fail  a-b packets sum: asked 50 kpps, got 45 kpps");
		strbuf_done(&text);
		junit_print(&r, &text);
		contains(&text, "<testcase name=\"links are what they say\" classname=\"tiny\" "
				"time=\"2.500\">");
		contains(&text,
			 wrong ? "tests=\"1\" failures=\"1\"" : "tests=\"1\" failures=\"0\"");
		contains(&text, wrong ? "<failure message=" : "<system-out>links proven");
		strbuf_done(&text);
		json_t *j = json_result(&r);
		assert_int_equal(json_array_size(json_object_get(j, "proofs")), wrong ? 4 : 3);
		json_decref(j);
		result_done(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_table),
	    cmocka_unit_test(test_line),
	    cmocka_unit_test(test_json),
	    cmocka_unit_test(test_reports),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
