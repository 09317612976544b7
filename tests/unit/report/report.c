// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * report: one made-up result through every face. The terminal's and JUnit's texts are compared with
 * tests/golden/report (UPDATE_GOLDEN=1 writes them anew); JSON is looked into.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/base/file.h"
#include "core/harness/verdict.h"
#include "core/report/nullable.h"
#include "core/report/json.h"
#include "core/report/junit.h"
#include "core/report/terminal.h"
#include "core/report/text.h"

#define GOLDEN "tests/golden/report/"

static const char scenario_text[] =
    "version: 1\n"
    "name: made-up\n"
    "title: Is <this> \"escaped\" & readable?\n"
    "topology: t.yaml\n"
    "paths:\n"
    "  direct: {from: a, to: b}\n"
    "  flat-eip: {from: a, to: c}\n"
    "  vpc-eip: {from: a, to: d}\n"
    "measure:\n"
    "  throughput: {test: throughput}\n"
    "  rr: {test: tcp_rr}\n"
    "  small: {test: udp_stream, frame: 64, unshaped: true}\n"
    "expect:\n"
    "  - throughput of direct within 1% of predicted\n"
    "  - throughput of vpc-eip within 1% of predicted\n"
    "  - rr.p50 of flat-eip below rr.p50 of direct\n"
    "  - rr.p99 of vpc-eip below 1ms\n"
    "compare: {base: direct, with: [flat-eip, vpc-eip], metrics: [throughput, rr, small]}\n"
    "reference:\n"
    "  source: somebody's test\n"
    "  throughput:\n"
    "    direct: {average: 927.122mbit}\n"
    "    vpc-eip: {average: 905.304mbit}\n"
    "lesson: |\n"
    "  The wire is the limit and not the path, and this sentence is long enough to need a second "
    "line.\n"
    "\n"
    "  A second paragraph.\n";

struct bed {
	struct scenario *s;
	struct problems p;
	struct run_result r;
};

static void add_throughput(struct bed *b, int path, double mbit)
{
	struct run_cell *c = result_cell(&b->r, 0, path);

	for (int i = 0; i < 3; i++) {
		struct run_sample *run = VEC_ADD(&b->r.arena, &c->runs);
		double bps = (mbit + (i - 1) * 0.1) * 1e6;

		run->index = i + 1;
		run->engine.test = TEST_THROUGHPUT;
		run->engine.goodput_bps = bps;
		run->engine.rate.mean = run->engine.rate.min = run->engine.rate.max = bps;
		run->engine.latency.mean = run->engine.latency.min = run->engine.latency.max =
		    999999999 * 8.0 / bps * 1e9;
		run->counted.goodput_bps = bps;
		run->cpu_per_packet_ns = 9000;
		run->fidelity = (struct fidelity){.known = true,
						  .idle = 0.3,
						  .least_idle = 0.2,
						  .n_cpus = 2,
						  .elapsed_ns = 8500000000};
	}
}

static void add_rr(struct bed *b, int path, double us)
{
	struct run_cell *c = result_cell(&b->r, 1, path);

	for (int i = 0; i < 3; i++) {
		struct run_sample *run = VEC_ADD(&b->r.arena, &c->runs);
		double ns = (us + (i - 1) * 0.1) * 1e3;

		run->index = i + 1;
		run->engine.test = TEST_TCP_RR;
		run->engine.latency = (struct engine_dist){.p50 = ns,
							   .p90 = ns * 1.2,
							   .p99 = ns * 2,
							   .p999 = NAN,
							   .mean = ns,
							   .min = ns,
							   .max = ns};
		run->engine.pps = 1e9 / ns;
		run->counted.goodput_bps = run->counted.pps = NAN;
	}
}

static void bed_init(struct bed *b)
{
	problems_init(&b->p);
	b->s =
	    scenario_parse("scenarios/made-up.yaml", scenario_text, strlen(scenario_text), &b->p);
	assert_int_equal(problems_count(&b->p), 0);
	result_init(&b->r, b->s);
	for (int m = 0; m < 2; m++)
		for (int p = 0; p < 3; p++)
			*VEC_ADD(&b->r.arena, &b->r.cells) =
			    (struct run_cell){.measure = m, .path = p, .ceiling_bps = NAN};
	for (int p = 0; p < 3; p++) {
		struct truth_predicted *t = &result_cell(&b->r, 0, p)->predicted;

		*t = (struct truth_predicted){.known = true,
					      .goodput_bps = 941.5e6,
					      .low_bps = 941.5e6,
					      .high_bps = 941.5e6,
					      .pps = 81274,
					      .payload_bytes = 1448,
					      .charged_bytes = 1538,
					      .link = "h1 uplink",
					      .rate_bps = 1000000000,
					      .limit_value = 1e9};
	}
	struct truth_predicted *vpc = &result_cell(&b->r, 0, 2)->predicted;
	vpc->goodput_bps = vpc->low_bps = 883.1e6;
	vpc->high_bps = 909e6;
	vpc->assumption = "acknowledgements share it, 1 per 2 segments (RFC 1122) to none";
	add_throughput(b, 0, 941.3);
	add_throughput(b, 1, 941.2);
	add_throughput(b, 2, 700);
	add_rr(b, 0, 19.1);
	add_rr(b, 1, 26.4);
	struct run_sample *slow = &result_cell(&b->r, 0, 2)->runs.v[1];
	slow->fidelity.limit = FIDELITY_CPU;
	snprintf(slow->fidelity.why, sizeof(slow->fidelity.why), "CPU 0 was 99.9 %% busy");
	result_cell(&b->r, 1, 2)->error = "no route to host";
	struct run_lab *lab = VEC_ADD(&b->r.arena, &b->r.labs);
	*lab = (struct run_lab){
	    .name = "made-up", .hosts = 3, .vms = 4, .routers = 1, .eips = 1, .down_ns = 90000000};
	lab->timing.total_ns = 310000000;
	lab->switches = 1;
	snprintf(b->r.machine.kernel, sizeof(b->r.machine.kernel), "6.1.0");
	b->r.machine.cpus = 2;
	b->r.total_ns = 60000000000;
	verdict_judge(&b->r);
}

static void bed_done(struct bed *b)
{
	result_done(&b->r);
	scenario_free(b->s);
	problems_done(&b->p);
}

static void check_golden(const char *name, const char *text)
{
	autofree char *path = mem_printf(GOLDEN "%s", name), *expected = NULL;
	struct err err = ERR_INIT;
	size_t len;

	if (getenv("UPDATE_GOLDEN") && file_write(path, text, strlen(text), &err))
		fail_msg("%s", err.text);
	if (file_read(path, &expected, &len, &err))
		fail_msg("%s", err.text);
	assert_string_equal(text, expected);
}

static void check_columns(const char *text)
{
	while (*text) {
		size_t n = strcspn(text, "\n");
		autofree char *line = mem_printf("%.*s", (int)n, text);

		if (text_width(line) > TEXT_COLUMNS)
			fail_msg("%zu columns: %s", text_width(line), line);
		text += n + (text[n] == '\n');
	}
}

static void test_terminal(void **state)
{
	autostr struct strbuf plain = {0}, color = {0};
	struct bed b;

	(void)state;
	bed_init(&b);
	terminal_print(&b.r, false, &plain);
	terminal_print(&b.r, true, &color);
	bed_done(&b);
	check_columns(strbuf_text(&plain));
	check_golden("terminal.txt", strbuf_text(&plain));
	assert_null(strchr(strbuf_text(&plain), '\033'));
	assert_non_null(strstr(strbuf_text(&color), "\033[32m1 pass\033[0m"));
}

/* What went wrong around the measurements, where packets were lost, what a dash means. */
static void test_reasons(void **state)
{
	autostr struct strbuf text = {0}, junit = {0};
	struct bed b;
	json_t *j;

	(void)state;
	bed_init(&b);
	b.r.error = "taking the lab down: it does not end";
	b.r.labs.v[0].left = true;
	b.r.labs.v[0].choices =
	    json_pack("{s:{s:s,s:s}}", "h1", "ovs_datapath", "netdev", "ovs_port", "afxdp");
	b.r.labs.v[0].links =
	    json_pack("[{s:s, s:s, s:{s:f, s:f}}, {s:s, s:s, s:{s:s}}]", "name", "r-b",
		      "impaired_by", "relay", "ba", "credit_s", 4.25, "declared_credit_s", 60.0,
		      "name", "r-c", "impaired_by", "none", "ab", "policed_by", "act_police");
	struct run_sample *run = &result_cell(&b.r, 0, 2)->runs.v[0];
	run->losses =
	    (struct losses){.known = true, .followed = true, .sent = 70000, .delivered = 2103};
	*VEC_ADD(&b.r.arena, &run->losses.list) =
	    (struct loss){"queue", "h1:nic", "h1 uplink", false, 67894};
	*VEC_ADD(&b.r.arena, &run->losses.list) = (struct loss){"socket", "vm", NULL, false, 3};
	run->cpu_missing = "other programs used 30 % of the CPUs before it";
	terminal_print(&b.r, false, &text);
	junit_print(&b.r, &junit);
	j = json_result(&b.r);
	bed_done(&b);
	check_columns(strbuf_text(&text));
	assert_non_null(strstr(strbuf_text(&text), "could not be taken down"));
	assert_non_null(strstr(strbuf_text(&text), "Open vSwitch of h1 has datapath netdev"));
	assert_non_null(strstr(strbuf_text(&text), "impaired by relay:"));
	assert_non_null(strstr(strbuf_text(&text), "policed by act_police: r-c;"));
	assert_non_null(strstr(strbuf_text(&text), "credit for 4.25 s of 60 s"));
	assert_string_equal(
	    json_string_value(json_object_get(
		json_array_get(
		    json_object_get(json_array_get(json_object_get(j, "labs"), 0), "links"), 0),
		"impaired_by")),
	    "relay");
	assert_non_null(strstr(strbuf_text(&text), "the run: taking the lab down"));
	assert_non_null(strstr(strbuf_text(&text), "67,897 of 70,000: 67,894 at"));
	assert_non_null(strstr(strbuf_text(&text), "3 at vm"));
	assert_non_null(strstr(strbuf_text(&text), "not told for 1 of "));
	assert_non_null(strstr(strbuf_text(&junit), "<error message=\"taking the lab down"));
	assert_string_equal(json_string_value(json_object_get(j, "error")),
			    "taking the lab down: it does not end");
	json_decref(j);
}

static void test_junit(void **state)
{
	autostr struct strbuf out = {0};
	struct bed b;

	(void)state;
	bed_init(&b);
	junit_print(&b.r, &out);
	bed_done(&b);
	check_golden("junit.xml", strbuf_text(&out));
}

static void test_escape(void **state)
{
	autostr struct strbuf out = {0};

	(void)state;
	junit_escape(&out, "a<b>&\"c\"\n\x01 ±");
	assert_string_equal(strbuf_text(&out), "a&lt;b&gt;&amp;&quot;c&quot;&#10;\xef\xbf\xbd ±");
}

static double number_at(json_t *j, const char *key)
{
	json_t *v = json_object_get(j, key);

	assert_non_null(v);
	assert_true(json_is_number(v));
	return json_number_value(v);
}

static void test_json(void **state)
{
	struct bed b;
	json_t *cell, *metrics, *j;

	(void)state;
	bed_init(&b);
	j = json_result(&b.r);
	bed_done(&b);
	assert_string_equal(json_string_value(json_object_get(j, "schema")), "vpclab-result/1");
	assert_string_equal(json_string_value(json_object_get(j, "verdict")), "fail");
	assert_int_equal(number_at(j, "exit_status"), 1);
	assert_int_equal(json_array_size(json_object_get(j, "expectations")), 4);
	assert_int_equal(json_array_size(json_object_get(j, "measurements")), 3);
	cell = json_array_get(
	    json_object_get(json_array_get(json_object_get(j, "measurements"), 0), "paths"), 2);
	assert_float_equal(number_at(json_object_get(cell, "predicted"), "low_bps"), 883.1e6, 1);
	metrics = json_object_get(cell, "metrics");
	assert_float_equal(number_at(json_object_get(metrics, "average_bps"), "value"), 700e6, 1);
	assert_true(json_object_get(metrics, "response.average_ns") != NULL);
	assert_true(json_is_null(json_object_get(cell, "unshaped_ceiling_bps")));
	assert_int_equal(json_array_size(json_object_get(cell, "runs")), 3);
	json_decref(j);
}

static void test_wrap(void **state)
{
	autostr struct strbuf out = {0};
	autofree char *word = mem_printf("%090d", 0);
	autofree char *text = mem_printf("a %s b\nc\n\nd", word);
	autofree char *expected = mem_printf("a %s\n  b c\n\n  d", word);

	(void)state;
	text_wrap(&out, text, 8, 2);
	assert_string_equal(strbuf_text(&out), expected);
	assert_int_equal(text_width("±µ−–x"), 5);
}

/* json_pack() drops a whole object for one text that is no UTF-8: file names may be anything. */
static void test_any_text(void **state)
{
	static const struct {
		const char *text, *dumped;
	} cases[] = {
	    {"a\nb", "\"a\\nb\""},
	    {"/tmp/\xff/x", "\"/tmp/\xef\xbf\xbd/x\""},
	    {"\xff\xfe\xfd", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
	    {NULL, "null"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		json_t *j = nullable_text(cases[i].text);
		autofree char *dumped = json_dumps(j, JSON_ENCODE_ANY);

		assert_string_equal(dumped, cases[i].dumped);
		json_decref(j);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_terminal), cmocka_unit_test(test_junit),
	    cmocka_unit_test(test_escape),   cmocka_unit_test(test_json),
	    cmocka_unit_test(test_any_text), cmocka_unit_test(test_wrap),
	    cmocka_unit_test(test_reasons),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
