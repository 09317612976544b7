/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tests of core/report/matrix and matrix_ci: the table keeps to the terminal's columns however many
 * tools there are, what has no verdict says why, and a fault that the baseline has fails nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/mem.h"
#include "core/report/matrix.h"
#include "core/report/text.h"

#define TOOLS  9
#define TRIALS 2

struct bed {
	struct adapter adapters[TOOLS];
	struct verify_tool tools[TOOLS];
	struct trial trials[TRIALS];
	const struct trial *list[TRIALS];
	struct trial_result results[TOOLS * TRIALS];
	struct verify_spec spec;
	struct matrix m;
};

static const char *const names[TOOLS] = {"iperf", "iperf3",	  "netperf",  "nuttcp", "ping",
					 "qperf", "ping-busybox", "sockperf", "uperf"};

static void say(struct trial_result *r, const char *about, enum judgement j, enum fault_kind kind,
		const char *text)
{
	*VEC_ADD(&r->judged.arena, &r->judged.answers) =
	    (struct answer){.about = about, .judgement = j, .kind = kind, .text = text};
}

static struct trial_result *at(struct bed *b, int tool, int trial)
{
	return &b->results[tool * TRIALS + trial];
}

/* All is true on both trials, but: a lie, a silence, no verdict, a skip. */
static void bed_init(struct bed *b)
{
	*b = (struct bed){.trials = {{.name = "clean"}, {.name = "pps-cap-offload"}}};
	for (int k = 0; k < TRIALS; k++)
		b->list[k] = &b->trials[k];
	for (int t = 0; t < TOOLS; t++) {
		b->adapters[t].name = names[t];
		b->tools[t] = (struct verify_tool){&b->adapters[t], "1.2.3", NULL};
		for (int k = 0; k < TRIALS; k++) {
			struct trial_result *r = at(b, t, k);

			*r = (struct trial_result){
			    .tool = names[t], .version = "1.2.3", .trial = b->trials[k].name};
			arena_init(&r->judged.arena);
			if (k || t > 3)
				say(r, "goodput", JUDGED_TRUE, FAULT_NONE, "says 1; true is 1");
		}
	}
	at(b, 4, 1)->judged.answers.v[0] = (struct answer){
	    .judgement = JUDGED_INCONCLUSIVE, .kind = FAULT_WRONG_EXIT, .text = "status 3"};
	at(b, 4, 1)->evidence.machine = "CPU 0 was full";
	say(at(b, 0, 0), "loss", JUDGED_LIE, FAULT_HIDDEN_LOSS, "says no loss # of\nten");
	say(at(b, 1, 0), "loss", JUDGED_SILENT, FAULT_NONE, "tells no loss");
	at(b, 1, 0)->output.status[0] = 1;
	at(b, 1, 0)->output.text[FROM_CLIENT_ERR] = mem_strdup("first\nno <answer>\n");
	at(b, 2, 0)->inconclusive = "the machine was the limit";
	at(b, 3, 0)->skip = "nuttcp has no such test";
	b->spec = (struct verify_spec){
	    .tools = b->tools, .n_tools = TOOLS, .trials = b->list, .n_trials = TRIALS};
	b->m =
	    (struct matrix){.spec = &b->spec, .results = b->results, .columns = 80, .took_s = 61.5};
}

static void bed_done(struct bed *b)
{
	for (int i = 0; i < TOOLS * TRIALS; i++) {
		free(b->results[i].output.text[FROM_CLIENT_ERR]);
		judged_done(&b->results[i].judged);
	}
}

static int count(const char *text, const char *part)
{
	int n = 0;

	while ((text = strstr(text, part))) {
		text += strlen(part);
		n++;
	}
	return n;
}

static void has(const struct strbuf *out, const char *part)
{
	if (!strstr(strbuf_text(out), part))
		fail_msg("no '%s' in:\n%s", part, strbuf_text(out));
}

/* No line of the table is wider than `columns`, sentences and the last line aside. */
static void check_lines(const char *text, size_t columns)
{
	while (*text) {
		size_t n = strcspn(text, "\n");
		autofree char *line = mem_printf("%.*s", (int)n, text);

		if (strncmp(line, "      ", 6) && !strstr(line, "skipped: ") &&
		    !strstr(line, " trials: ") && text_width(line) > columns)
			fail_msg("%zu columns: '%s'", text_width(line), line);
		if (n && text[n - 1] == ' ')
			fail_msg("blanks at the end of '%s'", line);
		text += n + (text[n] == '\n');
	}
}

static void test_columns(void **state)
{
	const size_t widths[] = {40, 80, 100, 300};
	struct bed b;

	(void)state;
	bed_init(&b);
	for (size_t i = 0; i < ARRAY_SIZE(widths); i++) {
		autostr struct strbuf out = {0};

		b.m.columns = widths[i];
		matrix_text(&b.m, &out);
		check_lines(strbuf_text(&out), widths[i]);
		for (int t = 0; t < TOOLS; t++)
			has(&out, names[t]);
		assert_int_equal(count(strbuf_text(&out), "1.2.3"), TOOLS);
		has(&out, "iperf: says no loss # of ten");
		if (widths[i] == 300)
			assert_int_equal(count(strbuf_text(&out), "pps-cap-offload"), 1);
	}
	bed_done(&b);
}

static void test_words(void **state)
{
	autostr struct strbuf out = {0}, colored = {0};
	struct bed b;

	(void)state;
	bed_init(&b);
	matrix_text(&b.m, &out);
	has(&out, "iperf3: tells no loss; status 1: no <answer>\n");
	has(&out, "netperf: the machine was the limit\n");
	has(&out, "ping: status 3; the machine was the limit: CPU 0 was full\n");
	has(&out, "18 trials: 13 true, 1 lie, 1 silent, 2 inconclusive, 1 skipped · 1 min 1 s");
	has(&out, "  skipped: nuttcp has no such test: clean\n");
	assert_int_equal(count(strbuf_text(&out), "\033"), 0);
	b.m.color = true;
	matrix_text(&b.m, &colored);
	has(&colored, "\033[31mLIE\033[0m");
	has(&colored, "\033[33minconclusive\033[0m");
	assert_int_equal(count(strbuf_text(&colored), "\033[32m"), 13);
	bed_done(&b);
}

static void test_ci(void **state)
{
	autostr struct strbuf junit = {0}, tap = {0};
	struct bed b;

	(void)state;
	bed_init(&b);
	matrix_junit(&b.m, &junit);
	has(&junit, "tests=\"18\" failures=\"1\" errors=\"0\" skipped=\"4\" time=\"61.500\"");
	has(&junit, "<failure type=\"hidden-loss\" message=\"lie: says no loss # of&#10;ten\"/>");
	has(&junit, "<skipped message=\"silent: tells no loss; status 1: no &lt;answer&gt;\"/>");
	has(&junit, "<skipped message=\"inconclusive: the machine was the limit\"/>");
	has(&junit, "<skipped message=\"nuttcp has no such test\"/>");
	assert_int_equal(count(strbuf_text(&junit), "<testcase "), 18);
	matrix_tap(&b.m, &tap);
	has(&tap, "TAP version 13\n1..18\nnot ok 1 - iperf on clean\n"
		  "# lie: says no loss \\# of ten\nok 2 - iperf on pps-cap-offload\n");
	has(&tap, "ok 7 - nuttcp on clean # SKIP nuttcp has no such test\n");
	has(&tap, "ok 5 - netperf on clean # SKIP inconclusive: the machine was the limit\n");
	bed_done(&b);
}

static void test_known(void **state)
{
	autostr struct strbuf junit = {0}, tap = {0}, text = {0};
	autofree char *path = mem_strdup("/tmp/vpclab-test-XXXXXX");
	struct err err = ERR_INIT;
	struct baseline *known;
	struct bed b;
	int fd = mkstemp(path);

	(void)state;
	bed_init(&b);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(baseline_write(path, b.results, TOOLS * TRIALS, &err), 0);
	assert_int_equal(baseline_read(path, &known, &err), 0);
	unlink(path);
	b.m.baseline = known;
	matrix_junit(&b.m, &junit);
	has(&junit, "failures=\"0\" errors=\"0\" skipped=\"5\"");
	has(&junit, "<skipped message=\"known: lie: says no loss");
	matrix_tap(&b.m, &tap);
	has(&tap, "not ok 1 - iperf on clean # TODO known\n");
	say(at(&b, 0, 0), "goodput", JUDGED_OFF, FAULT_OTHER, "says 2, true is 1");
	matrix_text(&b.m, &text);
	has(&text, "iperf: says 2, true is 1 NEW");
	has(&text, "new since the baseline: 1");
	strbuf_done(&junit);
	matrix_junit(&b.m, &junit);
	has(&junit, "failures=\"1\"");
	baseline_free(known);
	bed_done(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_columns),
	    cmocka_unit_test(test_words),
	    cmocka_unit_test(test_ci),
	    cmocka_unit_test(test_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
