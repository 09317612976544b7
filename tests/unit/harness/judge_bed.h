/* SPDX-License-Identifier: GPL-2.0-or-later */
/* judge_bed: evidence, a tool and what it tells, made by hand, for the tests of the judge. */
#ifndef VPCLAB_TESTS_JUDGE_BED_H
#define VPCLAB_TESTS_JUDGE_BED_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/harness/judge.h"

/* A run that went well: 3 s of 10 Mbit/s in datagrams of 1000 bytes over a link of 20 Mbit/s. */
static const struct evidence plain = {.predicted_bps = 10e6,
				      .predicted_pps = 1250,
				      .counted_bps = 10e6,
				      .counted_pps = 1250,
				      .sent_bps = 10e6,
				      .sent_pps = 1250,
				      .sent_packets = 3750,
				      .arrived_packets = 3750,
				      .wire_packets_pps = 1250,
				      .messages_pps = NAN,
				      .active_s = 3,
				      .run_s = 3.1,
				      .asked_s = 3,
				      .asked_bps = 10e6,
				      .asked_size = 1000,
				      .delay_s = 0.005,
				      .delay_back_s = 0.005,
				      .cut_at_s = -1,
				      .payload_bytes = 1000,
				      .fragments = 1};

#define E(field) offsetof(struct evidence, field)

struct with {
	size_t at; /* 0, with value 0: no more */
	double value;
};

#define MOST 6 /* figures that it tells */

struct bed {
	struct trial t;
	struct tool_test test;
	struct tool_output o;
	struct readings r;
	struct evidence e;
	struct judged judged;
	struct tool_read reads[MOST];
};

static inline void bed_init(struct bed *b)
{
	*b = (struct bed){.e = plain, .o.took_s = plain.run_s};
	arena_init(&b->t.arena);
	arena_init(&b->r.arena);
}

static inline void bed_done(struct bed *b)
{
	judged_done(&b->judged);
	arena_done(&b->t.arena);
	arena_done(&b->r.arena);
}

static inline void change(struct bed *b, const struct with *with, size_t n)
{
	for (size_t i = 0; i < n && (with[i].at || with[i].value != 0); i++)
		memcpy((char *)&b->e + with[i].at, &with[i].value, sizeof(double));
}

/* The tool tells it; NAN: it does not, though it could. */
static inline struct tool_read *tells(struct bed *b, enum figure f, double value)
{
	struct tool_read *read = &b->reads[b->r.list.n];

	assert_in_range(b->r.list.n, 0, MOST - 1);
	*read = (struct tool_read){.figure = f, .headline = true, .factor = 1, .absent = NAN};
	*VEC_ADD(&b->r.arena, &b->r.list) = (struct reading){
	    .read = read, .found = !isnan(value), .value = value, .why = "nothing in it matches"};
	return read;
}

static inline void asks(struct bed *b, enum figure f, enum truth_source source, double value)
{
	struct trial_question q = {.figure = f, .source = source, .value = value};

	trial_tolerance(f, &q.tolerance_share, &q.tolerance_abs);
	*VEC_ADD(&b->t.arena, &b->t.questions) = q;
}

static inline void judge_it(struct bed *b)
{
	judged_done(&b->judged);
	judge(&b->t, &b->test, &b->o, &b->r, &b->e, &b->judged);
}

static inline const struct answer *about(const struct bed *b, const char *what)
{
	VEC_FOREACH (a, &b->judged.answers)
		if (!strcmp(a->about, what))
			return a;
	return NULL;
}

/* Exactly one answer on it, and that is so. */
static inline void is(const struct bed *b, const char *what, enum judgement j, enum fault_kind kind)
{
	const struct answer *a = about(b, what);

	if (!a)
		fail_msg("nothing is said about %s", what);
	if (a->judgement != j || a->kind != kind)
		fail_msg("%s: %s, %s (%s) instead of %s, %s", what, judgement_name(a->judgement),
			 fault_name(a->kind), a->text, judgement_name(j), fault_name(kind));
	assert_non_null(a->text);
}

/* Four times of what the link carries is asked for and sent. */
#define OVERLOAD                                                                                   \
	{E(sent_bps), 40e6}, {E(asked_bps), 40e6}, {E(sent_packets), 15000},                       \
	{                                                                                          \
		E(sent_pps), 5000                                                                  \
	}

#endif
