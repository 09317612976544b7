/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The language of scripts: what becomes of good ones, what is said of broken ones and where; and
 * that what is drawn follows its distribution and depends on the seed alone.
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

#include "core/base/str.h"
#include "core/base/units.h"
#include "core/engine/script.h"

/* A script of one group with these commands; single quotes for double ones. */
static int parse_group(const char *more, const char *commands, struct script *s,
		       struct script_where *where, struct err *err)
{
	autofree char *text = mem_printf("{'version':1,'variables':{'size':'4kB'},'groups':[{%s"
					 "'commands':[%s]}]}",
					 more, commands);
	for (char *c = text; *c; c++)
		if (*c == '\'')
			*c = '"';
	json_error_t why;
	json_t *j = json_loads(text, 0, &why);
	if (!j)
		fail_msg("%s in %s", why.text, text);
	int r = script_parse(j, s, where, err);
	json_decref(j);
	return r;
}

static void good_ones_become_operations(void **state)
{
	static const enum script_command wanted[] = {
	    SCRIPT_CONNECT, SCRIPT_LOOP,    SCRIPT_START,      SCRIPT_LOOP,
	    SCRIPT_SEND,    SCRIPT_RECEIVE, SCRIPT_NEXT,       SCRIPT_CONFIRM,
	    SCRIPT_END,	    SCRIPT_NEXT,    SCRIPT_DISCONNECT, SCRIPT_DONE};
	struct script s;
	struct err err = ERR_INIT;

	(void)state;
	if (parse_group("'pairs':12,",
			"'connect',{'loop':{'do':['start_timer',{'loop':{'count':3,'do':["
			"{'send':{'size':'size','buffer':1000,'rate':'8mbit'}},{'receive':7}]}},"
			"'confirm','end_timer']}},'disconnect'",
			&s, NULL, &err))
		fail_msg("%s", err.text);
	const struct script_group *g = &s.groups.v[0];
	assert_int_equal(s.pairs, 12);
	assert_int_equal(g->ops.n, ARRAY_SIZE(wanted));
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++)
		assert_int_equal(g->ops.v[i].command, wanted[i]);
	assert_int_equal(g->ops.v[1].other, 10); /* goes on behind its end */
	assert_int_equal(g->ops.v[9].other, 1);
	assert_false(g->ops.v[1].turns);
	assert_true(g->ops.v[3].turns); /* the innermost one in the timer */
	assert_int_equal(script_draw(&g->ops.v[3].amount, 1, 0, 0), 3);
	assert_int_equal(script_draw(&g->ops.v[4].amount, 1, 0, 0), 4000);
	assert_int_equal(g->ops.v[4].gap_ns, NSEC_PER_MSEC); /* 1000 bytes at 8 Mbit/s */
	assert_true(g->ops.v[0].soon);
	assert_ptr_equal(script_group_of(&s, 11), g);
	assert_null(script_group_of(&s, 12));
	script_done(&s);
}

static void speech_becomes_datagrams(void **state)
{
	struct script s;
	struct err err = ERR_INIT;

	(void)state;
	if (parse_group("'protocol':'rtp','voip':{'codec':'g729','frames':3,"
			"'jitter_buffer':'60ms'},",
			"'connect','start_timer',{'send':'3s'},'end_timer'", &s, NULL, &err))
		fail_msg("%s", err.text);
	const struct script_op *send = &s.groups.v[0].ops.v[2];
	assert_int_equal(send->buffer, 12 + 3 * 10);
	assert_int_equal(send->gap_ns, 30 * NSEC_PER_MSEC);
	assert_int_equal(script_draw(&send->amount, 1, 0, 0), 100 * send->buffer);
	assert_int_equal(s.groups.v[0].voip.jitter_buffer_ns, 60 * NSEC_PER_MSEC);
	script_done(&s);
}

#define TIMED(x) "'connect','start_timer'," x ",'end_timer'"

static void broken_ones_are_named(void **state)
{
	static const struct {
		const char *more, *commands, *where, *text;
	} broken[] = {
	    {"", TIMED("'confrim'"), "/groups/0/commands/2", "did you mean 'confirm'"},
	    {"'pair':3,", TIMED("'confirm'"), "/groups/0/pair", "did you mean 'pairs'"},
	    {"'pairs':10001,", TIMED("'confirm'"), "/groups/0/pairs", "10000"},
	    {"'pairs':{'uniform':[1,2]},", TIMED("'confirm'"), "/groups/0/pairs", "constant"},
	    {"'protocol':'tpc',", TIMED("'confirm'"), "/groups/0/protocol", "'tcp'"},
	    {"", TIMED("{'send':'4kb '}"), "/groups/0/commands/2/send", "size"},
	    {"", TIMED("{'send':'sise'}"), "/groups/0/commands/2/send", "did you mean 'size'"},
	    {"", TIMED("{'send':{'uniform':[9,3]}}"), "/groups/0/commands/2/send", "uniform"},
	    {"", TIMED("{'send':{'uniform':3}}"), "/groups/0/commands/2/send", "two numbers"},
	    {"", TIMED("{'send':{'size':3,'bufer':4}}"), "/groups/0/commands/2/send/bufer",
	     "did you mean 'buffer'"},
	    {"", TIMED("{'send':{'size':3,'rate':'fast'}}"), "/groups/0/commands/2/send/rate",
	     "rate"},
	    {"", TIMED("'send'"), "/groups/0/commands/2", "how much"},
	    {"", TIMED("{'confirm':3}"), "/groups/0/commands/2/confirm", "takes nothing"},
	    {"", TIMED("{'sleep':{'time':'1s','at':'e3'}}"), "/groups/0/commands/2/sleep/at",
	     "e1 or e2"},
	    {"", "'connect','confirm'", "/groups/0/commands", "no timing record"},
	    {"", "'connect','start_timer','confirm'", "/groups/0/commands", "not ended"},
	    {"", "'start_timer',{'send':1},'end_timer'", "/groups/0/commands/1/send",
	     "connect first"},
	    {"", TIMED("'connect'"), "/groups/0/commands/2", "already"},
	    {"", TIMED("{'loop':{'do':['disconnect']}}"), "/groups/0/commands/2/loop/do",
	     "as it found it"},
	    {"", TIMED("{'loop':{'do':['end_timer']}},'start_timer'"), "/groups/0/commands/2/loop",
	     "timer"},
	    {"", "'connect',{'loop':{'do':['start_timer','end_timer']}}", "/groups/0/commands",
	     "takes time"},
	    {"'protocol':'udp',", TIMED("{'receive':100}"), "/groups/0/commands/2/receive",
	     "E1 to E2"},
	    {"'voip':{'codec':'g729'},", TIMED("{'send':'1s'}"), "/groups/0/voip", "rtp"},
	    {"'protocol':'rtp','voip':{'codec':'g72'},", TIMED("{'send':'1s'}"),
	     "/groups/0/voip/codec", "codec"},
	    {"'protocol':'rtp','voip':{'codec':'g729','frames':1},", TIMED("{'send':'1s'}"),
	     "/groups/0/voip/frames", "32 bytes"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(broken); i++) {
		struct script s;
		struct script_where where;
		struct err err = ERR_INIT;

		if (parse_group(broken[i].more, broken[i].commands, &s, &where, &err) != -EINVAL)
			fail_msg("%s%s: no error", broken[i].more, broken[i].commands);
		if (!strstr(err.text, broken[i].text) || !str_eq(where.pointer, broken[i].where))
			fail_msg("%s%s: %s at %s", broken[i].more, broken[i].commands, err.text,
				 where.pointer);
		script_done(&s);
	}
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

#define DRAWS 5000

/* Kolmogorov and Smirnov over the pairs of a group, the first draw of each, and over one pair. */
static void draws_follow_their_distribution(void **state)
{
	static const struct script_amount sizes[] = {
	    {{DISTRIBUTION_UNIFORM, 1e6, 9e6}, 1, 1, INT64_MAX},
	    {{DISTRIBUTION_NORMAL, 1e7, 1e6}, 1, 1, INT64_MAX},
	    {{DISTRIBUTION_EXPONENTIAL, 1e7, 0}, 1, 1, INT64_MAX},
	};
	static double v[DRAWS];

	(void)state;
	for (size_t i = 0; i < 2 * ARRAY_SIZE(sizes); i++) {
		const struct script_amount *a = &sizes[i / 2];
		double most = 0;

		for (int k = 0; k < DRAWS; k++)
			v[k] = (double)(i % 2 ? script_draw(a, 42, 7, (uint64_t)k)
					      : script_draw(a, 42, (uint32_t)k, 0));
		qsort(v, DRAWS, sizeof(*v), by_value);
		for (int k = 0; k < DRAWS; k++) {
			double p = distribution_cdf(&a->d, v[k]);

			most = fmax(most, fmax(p - (double)k / DRAWS, (double)(k + 1) / DRAWS - p));
		}
		if (most * sqrt(DRAWS) > 1.95) /* once in 1000, and the seed is fixed */
			fail_msg("case %zu: %g", i, most * sqrt(DRAWS));
	}
}

static void draws_depend_on_seed_pair_and_place(void **state)
{
	const struct script_amount a = {{DISTRIBUTION_UNIFORM, 0, 1e12}, 1, 0, INT64_MAX};
	int64_t first = script_draw(&a, 1, 2, 3);

	(void)state;
	assert_int_equal(script_draw(&a, 1, 2, 3), first);
	assert_int_not_equal(script_draw(&a, 2, 2, 3), first);
	assert_int_not_equal(script_draw(&a, 1, 3, 3), first);
	assert_int_not_equal(script_draw(&a, 1, 2, 4), first);
	assert_int_not_equal(script_draw(&a, 1, 3, 2), first);
}

static void draws_are_whole_and_in_range(void **state)
{
	const struct script_amount small = {{DISTRIBUTION_NORMAL, 2, 5}, 1, 1, 4};
	int64_t least = 9, most = 0;

	(void)state;
	for (uint64_t i = 0; i < 1000; i++) {
		int64_t v = script_draw(&small, 5, 0, i);

		least = v < least ? v : least;
		most = v > most ? v : most;
	}
	assert_int_equal(least, 1);
	assert_int_equal(most, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(good_ones_become_operations),
	    cmocka_unit_test(speech_becomes_datagrams),
	    cmocka_unit_test(broken_ones_are_named),
	    cmocka_unit_test(draws_follow_their_distribution),
	    cmocka_unit_test(draws_depend_on_seed_pair_and_place),
	    cmocka_unit_test(draws_are_whole_and_in_range),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
