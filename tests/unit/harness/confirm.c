// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests of core/harness/confirm: what two runs say alike stands, what one says alone is told as
 * inconclusive with both, and no more runs are made than can change it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/harness/confirm.h"

struct bed {
	struct trial_result runs[CONFIRM_RUNS];
};

static void bed_init(struct bed *b)
{
	for (int i = 0; i < CONFIRM_RUNS; i++) {
		b->runs[i] = (struct trial_result){.runs = 1};
		arena_init(&b->runs[i].judged.arena);
	}
}

static void bed_done(struct bed *b)
{
	for (int i = 0; i < CONFIRM_RUNS; i++)
		judged_done(&b->runs[i].judged);
}

static void say(struct bed *b, int run, const char *about, enum judgement j, enum fault_kind kind)
{
	static const char *const text[] = {"first", "second", "third"};

	*VEC_ADD(&b->runs[run].judged.arena, &b->runs[run].judged.answers) =
	    (struct answer){.about = about, .judgement = j, .kind = kind, .text = text[run]};
}

static const struct answer *told(const struct bed *b, int run, const char *about)
{
	const struct answer *found = NULL;

	VEC_FOREACH (a, &b->runs[run].judged.answers)
		if (!strcmp(a->about, about)) {
			assert_null(found); /* once */
			found = a;
		}
	assert_non_null(found);
	return found;
}

static void test_nothing(void **state)
{
	struct bed b;

	(void)state;
	bed_init(&b);
	say(&b, 0, "goodput", JUDGED_TRUE, FAULT_NONE);
	say(&b, 0, "loss", JUDGED_INCONCLUSIVE, FAULT_HIDDEN_LOSS);
	assert_false(confirm_wants_more(b.runs, 1)); /* nobody is accused */
	assert_int_equal(confirm_settle(b.runs, 1), 0);
	assert_int_equal(told(&b, 0, "goodput")->judgement, JUDGED_TRUE);
	bed_done(&b);
}

static void test_stands(void **state)
{
	struct bed b;

	(void)state;
	bed_init(&b);
	for (int i = 0; i < 2; i++) {
		say(&b, i, "goodput", JUDGED_LIE, FAULT_WRONG_SIDE);
		say(&b, i, "end", JUDGED_HANG, FAULT_HANG);
		assert_int_equal(confirm_wants_more(b.runs, i + 1), i == 0);
	}
	assert_int_equal(confirm_settle(b.runs, 2), 0);
	assert_int_equal(told(&b, 0, "goodput")->judgement, JUDGED_LIE);
	assert_string_equal(told(&b, 0, "goodput")->text, "first");
	assert_int_equal(told(&b, 0, "end")->judgement, JUDGED_HANG);
	bed_done(&b);
}

/* Each judgement against a tool: once is not enough, whatever it is. */
static void test_once(void **state)
{
	static const enum judgement all[] = {JUDGED_LIE, JUDGED_OFF, JUDGED_HANG, JUDGED_CRASH,
					     JUDGED_WRONG_EXIT};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		struct bed b;

		bed_init(&b);
		say(&b, 0, "exit", all[i], FAULT_OTHER);
		say(&b, 1, "exit", JUDGED_TRUE, FAULT_NONE);
		assert_true(confirm_wants_more(b.runs, 2));
		say(&b, 2, "exit", JUDGED_TRUE, FAULT_NONE);
		assert_false(confirm_wants_more(b.runs, 3));
		const struct answer *a = told(&b, confirm_settle(b.runs, 3), "exit");
		assert_int_equal(a->judgement, JUDGED_INCONCLUSIVE);
		assert_non_null(strstr(a->text, "first")); /* both are told */
		assert_non_null(strstr(a->text, "second"));
		bed_done(&b);
	}
}

/* Two of three; and another kind of the same question does not help. */
static void test_two_of_three(void **state)
{
	struct bed b;

	(void)state;
	bed_init(&b);
	say(&b, 0, "goodput", JUDGED_LIE, FAULT_OTHER);
	say(&b, 1, "goodput", JUDGED_LIE, FAULT_WRONG_UNIT);
	assert_true(confirm_wants_more(b.runs, 2));
	say(&b, 2, "goodput", JUDGED_LIE, FAULT_WRONG_UNIT);
	int run = confirm_settle(b.runs, 3);
	assert_int_equal(run, 1);
	assert_int_equal(told(&b, run, "goodput")->judgement, JUDGED_LIE);
	assert_int_equal(told(&b, run, "goodput")->kind, FAULT_WRONG_UNIT);
	bed_done(&b);
	bed_init(&b);
	say(&b, 0, "goodput", JUDGED_LIE, FAULT_OTHER);
	say(&b, 1, "goodput", JUDGED_LIE, FAULT_WRONG_UNIT);
	say(&b, 2, "goodput", JUDGED_LIE, FAULT_WRONG_SIDE);
	assert_int_equal(told(&b, confirm_settle(b.runs, 3), "goodput")->judgement,
			 JUDGED_INCONCLUSIVE);
	bed_done(&b);
}

/* One question stands, another of the same run does not, and one was only seen in others. */
static void test_each_by_itself(void **state)
{
	struct bed b;

	(void)state;
	bed_init(&b);
	say(&b, 0, "goodput", JUDGED_LIE, FAULT_WRONG_SIDE);
	say(&b, 0, "loss", JUDGED_LIE, FAULT_HOST_LOSS);
	say(&b, 1, "goodput", JUDGED_LIE, FAULT_WRONG_SIDE);
	say(&b, 1, "loss", JUDGED_TRUE, FAULT_NONE);
	say(&b, 1, "crash", JUDGED_CRASH, FAULT_CRASH);
	say(&b, 2, "goodput", JUDGED_TRUE, FAULT_NONE);
	say(&b, 2, "crash", JUDGED_CRASH, FAULT_CRASH);
	int run = confirm_settle(b.runs, 3);
	assert_int_equal(run, 1); /* both that stand are in it */
	assert_int_equal(told(&b, run, "goodput")->judgement, JUDGED_LIE);
	assert_int_equal(told(&b, run, "crash")->judgement, JUDGED_CRASH);
	assert_int_equal(told(&b, run, "loss")->judgement, JUDGED_INCONCLUSIVE);
	assert_non_null(strstr(told(&b, run, "loss")->text, "second"));
	bed_done(&b);
}

/* A run that had no lab says nothing, for or against. */
static void test_no_lab(void **state)
{
	struct bed b;

	(void)state;
	bed_init(&b);
	say(&b, 0, "goodput", JUDGED_LIE, FAULT_OTHER);
	b.runs[1].inconclusive = "the lab did not come up";
	assert_true(confirm_wants_more(b.runs, 2));
	const struct answer *a = told(&b, confirm_settle(b.runs, 2), "goodput");
	assert_int_equal(a->judgement, JUDGED_INCONCLUSIVE);
	assert_non_null(strstr(a->text, "did not come up"));
	bed_done(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_nothing),	   cmocka_unit_test(test_stands),
	    cmocka_unit_test(test_once),	   cmocka_unit_test(test_two_of_three),
	    cmocka_unit_test(test_each_by_itself), cmocka_unit_test(test_no_lab),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
