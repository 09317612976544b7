// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests of core/harness/baseline and verify: a baseline accepts faults by tool, trial, what about
 * and kind, and no others; results are counted by the worst that is said of each; exit statuses.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/mem.h"
#include "core/base/str.h"
#include "core/harness/verify.h"

static void result_init(struct trial_result *r, const char *trial)
{
	*r = (struct trial_result){.tool = "mytool", .version = "1.4", .trial = trial};
	arena_init(&r->judged.arena);
}

static void say(struct trial_result *r, const char *about, enum judgement j, enum fault_kind kind)
{
	*VEC_ADD(&r->judged.arena, &r->judged.answers) =
	    (struct answer){.about = about, .judgement = j, .kind = kind};
}

static void results_init(struct trial_result r[3])
{
	result_init(&r[0], "clean");
	say(&r[0], "goodput", JUDGED_TRUE, FAULT_NONE);
	say(&r[0], "loss", JUDGED_LIE, FAULT_HIDDEN_LOSS);
	say(&r[0], "exit", JUDGED_WRONG_EXIT, FAULT_WRONG_EXIT);
	result_init(&r[1], "cut");
	say(&r[1], "end", JUDGED_HANG, FAULT_HANG);
	result_init(&r[2], "freeze");
	say(&r[2], "latency_p99", JUDGED_INCONCLUSIVE, FAULT_COORDINATED_OMISSION);
	say(&r[2], "loss", JUDGED_SILENT, FAULT_NONE);
}

static void results_done(struct trial_result r[3])
{
	for (int i = 0; i < 3; i++)
		judged_done(&r[i].judged);
}

static char *temporary(void)
{
	char *path = mem_strdup("/tmp/vpclab-test-XXXXXX");
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	return path;
}

static int fresh(const char *path, struct trial_result r[3])
{
	struct err err = ERR_INIT;
	struct verify_counts c;
	struct baseline *b;

	assert_int_equal(baseline_read(path, &b, &err), 0);
	verify_count(r, 3, b, &c);
	baseline_free(b);
	return c.fresh;
}

static void test_baseline(void **state)
{
	autofree char *path = temporary(), *text = NULL;
	struct trial_result r[3];
	struct err err = ERR_INIT;
	size_t len;

	(void)state;
	results_init(r);
	assert_int_equal(fresh(path, r), 3); /* empty */
	assert_int_equal(baseline_write(path, r, 3, &err), 0);
	assert_int_equal(file_read(path, &text, &len, &err), 0);
	assert_non_null(strstr(text, "\nmytool\tclean\tloss\thidden-loss\t# mytool 1.4\n"));
	assert_null(strstr(text, "freeze")); /* inconclusive is no fault */
	assert_int_equal(fresh(path, r), 0);
	r[0].version = "1.5"; /* a remark: another version may have the same fault */
	assert_int_equal(fresh(path, r), 0);
	r[0].judged.answers.v[1].kind = FAULT_BURSTS;
	assert_int_equal(fresh(path, r), 1);
	r[0].judged.answers.v[1].kind = FAULT_HIDDEN_LOSS;
	r[1].trial = "cuts";
	assert_int_equal(fresh(path, r), 1);
	r[1].trial = "cut";
	say(&r[1], "crash", JUDGED_CRASH, FAULT_CRASH);
	assert_int_equal(fresh(path, r), 1);
	results_done(r);
	unlink(path);
}

/* By hand as well: remarks, empty lines, blanks at the end, no end of line. */
static void test_baseline_by_hand(void **state)
{
	static const char text[] = "# known\n\nmytool\tclean\tloss\thidden-loss  # see 17\n"
				   "mytool\tclean\texit\twrong-exit \n"
				   "mytool\tcut\tend\thang";
	autofree char *path = temporary();
	struct trial_result r[3];
	struct err err = ERR_INIT;

	(void)state;
	results_init(r);
	assert_int_equal(file_write(path, text, strlen(text), &err), 0);
	assert_int_equal(fresh(path, r), 0);
	unlink(path);
	assert_int_equal(fresh(path, r), 3); /* one that is not there has none */
	results_done(r);
}

/* A line that could never accept anything is a mistake, not silence. */
static void test_baseline_broken(void **state)
{
	static const struct {
		const char *text;
		size_t len; /* 0: as long as it is */
		const char *wanted;
	} cases[] = {
	    {"garbage\n", 0, ": line 1: 'garbage' is no line of a baseline"},
	    {"# known\nmytool\tclean\tloss\n", 0, ": line 2: 'mytool"},
	    {"mytool\tclean\tloss\thidden-los\n", 0, "did you mean 'hidden-loss'?"},
	    {"mytool\tclean\tloss\thidden-loss\tmore\n", 0, ": line 1: "},
	    {"mytool\t\tloss\thidden-loss\n", 0, "is no line of a baseline"},
	    {"mytool clean loss hidden-loss\n", 0, "with tabs between them"},
	    {"mytool\tclean\tloss\thidden-loss\n\0\n", 33, "is no text"},
	    {"mytool\tclean\tlo\xff\thidden-loss\n", 0, "is no text"},
	};
	autofree char *path = temporary();

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t len = cases[i].len ? cases[i].len : strlen(cases[i].text);
		struct err err = ERR_INIT;
		struct baseline *b;

		assert_int_equal(file_write(path, cases[i].text, len, &err), 0);
		assert_int_equal(baseline_read(path, &b, &err), -EINVAL);
		baseline_free(b);
		assert_int_equal(err.kind, ERR_INPUT);
		if (!strstr(err.text, cases[i].wanted))
			fail_msg("%zu: %s", i, err.text);
	}
	unlink(path);
}

static void test_counts(void **state)
{
	struct trial_result r[3];
	struct verify_counts c;

	(void)state;
	results_init(r);
	verify_count(r, 3, NULL, &c);
	assert_int_equal(c.lies, 1); /* worse than the wrong status */
	assert_int_equal(c.hangs, 1);
	assert_int_equal(c.inconclusive, 1);
	assert_int_equal(c.wrong_exits + c.true_ + c.silent, 0);
	assert_int_equal(c.fresh, 3);
	assert_int_equal(verify_exit_status(&c), 1);
	r[0].skip = "mytool is not here";
	verify_count(r, 3, NULL, &c);
	assert_int_equal(c.skipped, 1);
	results_done(r);
}

static void test_statuses(void **state)
{
	static const struct {
		struct verify_counts c;
		int status;
	} rows[] = {
	    {{.true_ = 3}, 0},
	    {{.true_ = 3, .inconclusive = 1}, 0},
	    {{.inconclusive = 2}, 3},
	    {{.inconclusive = 2, .skipped = 1}, 3},
	    {{.skipped = 2}, 0},
	    {{.lies = 2}, 0}, /* all of them known */
	    {{.lies = 2, .inconclusive = 1, .fresh = 1}, 1},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_int_equal(verify_exit_status(&rows[i].c), rows[i].status);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_baseline),	    cmocka_unit_test(test_baseline_by_hand),
	    cmocka_unit_test(test_baseline_broken), cmocka_unit_test(test_counts),
	    cmocka_unit_test(test_statuses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
