// SPDX-License-Identifier: GPL-2.0-or-later
/* bound: what the lab knows goes over what the ends suspect. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "core/harness/bound.h"

static struct run_sample sample(enum engine_test test, double bps, const char *limit)
{
	struct run_sample run = {.spec.test = test, .engine.test = test};

	run.engine.goodput_bps = bps;
	snprintf(run.engine.limit, sizeof(run.engine.limit), "%s", limit);
	snprintf(run.engine.limit_why, sizeof(run.engine.limit_why), "as the ends say");
	return run;
}

static const struct truth_predicted gigabit = {
    .known = true,
    .goodput_bps = 941.5e6,
    .low_bps = 941.5e6,
    .high_bps = 941.5e6,
    .limit_value = 1e9,
    .link = "h1 uplink",
};

static void is(const struct run_sample *run, const char *limit, const char *why)
{
	assert_string_equal(run->engine.limit, limit);
	if (!strstr(run->engine.limit_why, why))
		fail_msg("'%s' does not say '%s'", run->engine.limit_why, why);
}

static void what_is_predicted_is_the_link(void **state)
{
	struct run_sample run = sample(TEST_TCP_STREAM, 940e6, "sender");

	(void)state;
	bound_refine(&gigabit, &run);
	is(&run, "link", "99.8 %");
	is(&run, "link", "h1 uplink");
	run = sample(TEST_TCP_STREAM, 700e6, "sender");
	bound_refine(&gigabit, &run);
	is(&run, "sender", "as the ends say");
	run = sample(TEST_TCP_RR, 940e6, "");
	bound_refine(&gigabit, &run);
	is(&run, "", "as the ends say");
}

static void what_the_sender_offers_is_the_schedule(void **state)
{
	struct run_sample run = sample(TEST_UDP_STREAM, 10e6, "schedule");
	struct truth_predicted p = gigabit;

	(void)state;
	p.limit = LIMIT_SENDER;
	p.goodput_bps = p.low_bps = p.high_bps = 10e6;
	bound_refine(&p, &run);
	is(&run, "schedule", "100.0 %");
}

static void drops_have_a_place(void **state)
{
	struct arena arena;
	struct run_sample run = sample(TEST_UDP_STREAM, 500e6, "link");

	(void)state;
	arena_init(&arena);
	*VEC_ADD(&arena, &run.losses.list) =
	    (struct loss){.cause = "queue is full", .where = "h2:vnic0", .packets = 90};
	*VEC_ADD(&arena, &run.losses.list) =
	    (struct loss){.cause = "loss", .where = "fabric", .packets = 10};
	bound_refine(NULL, &run);
	is(&run, "link", "90 packets were dropped at h2:vnic0: queue is full");
	arena_done(&arena);
}

static void a_short_machine_is_said_where_nothing_is_proven(void **state)
{
	struct run_sample run = sample(TEST_TCP_STREAM, 100e6, "");

	(void)state;
	run.fidelity.limit = FIDELITY_CPU;
	snprintf(run.fidelity.why, sizeof(run.fidelity.why), "CPU 0 was 99.0 %% busy");
	bound_refine(&gigabit, &run);
	is(&run, "", "perhaps the machine: CPU 0");
	run = sample(TEST_TCP_STREAM, 100e6, "window");
	run.fidelity.limit = FIDELITY_CPU;
	bound_refine(&gigabit, &run);
	is(&run, "window", "as the ends say");
	run = sample(TEST_UDP_STREAM, 100e6, "");
	run.fidelity.limit = FIDELITY_BACKLOG;
	bound_refine(&gigabit, &run);
	is(&run, "receiver", "");
}

/* Drops of the machine's before a link's name, whatever the model or the ledger says; but not where
 * nothing of this flow is missing, nor where a link dropped more. */
static void the_machines_drops_come_first(void **state)
{
	static const struct {
		enum engine_test test;
		enum fidelity_limit short_of;
		int64_t missing, dropped, by_link;
		const char *limit, *why;
	} cases[] = {
	    {TEST_UDP_STREAM, FIDELITY_BACKLOG, 50, 50, 0, "receiver", "short of it"},
	    {TEST_UDP_STREAM, FIDELITY_BACKLOG, 50, 40, 10, "receiver", "short of it"},
	    {TEST_UDP_STREAM, FIDELITY_BACKLOG, 50, 10, 40, "link", "h1 uplink"},
	    {TEST_UDP_STREAM, FIDELITY_BACKLOG, 0, 50, 0, "link", "h1 uplink"},
	    {TEST_UDP_STREAM, FIDELITY_SOCKET, 50, 50, 0, "receiver", "short of it"},
	    {TEST_UDP_STREAM, FIDELITY_RELAY, 50, 0, 0, "link", "short of it"},
	    {TEST_UDP_STREAM, FIDELITY_CPU, 50, 0, 0, "link", "h1 uplink"},
	    {TEST_TCP_STREAM, FIDELITY_BACKLOG, 7, 9, 0, "receiver", "short of it"},
	    {TEST_TCP_STREAM, FIDELITY_BACKLOG, 0, 9, 0, "link", "h1 uplink"},
	    {TEST_TCP_BIDIR, FIDELITY_BACKLOG, 7, 9, 0, "receiver", "short of it"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct run_sample run = sample(cases[i].test, 940e6, "link");
		struct arena arena;

		arena_init(&arena);
		if (cases[i].test == TEST_UDP_STREAM)
			run.engine.lost = cases[i].missing;
		else
			run.engine.retransmits = cases[i].missing;
		run.fidelity.limit = cases[i].short_of;
		run.fidelity.softnet_dropped = cases[i].dropped;
		snprintf(run.fidelity.why, sizeof(run.fidelity.why), "short of it");
		if (cases[i].by_link)
			*VEC_ADD(&arena, &run.losses.list) =
			    (struct loss){.cause = "queue is full",
					  .where = "h1 uplink",
					  .packets = cases[i].by_link};
		bound_refine(&gigabit, &run);
		is(&run, cases[i].limit, cases[i].why);
		arena_done(&arena);
	}
}

/* With another measurement on the way no drop is this flow's alone, and no model knew of two. */
static void nothing_is_attributed_in_company(void **state)
{
	static const struct {
		const char *limit, *says;
	} cases[] = {{"link", "another one"}, {"", "another one"}, {"sender", "as the ends say"}};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct run_sample run = sample(TEST_UDP_STREAM, 940e6, cases[i].limit);

		run.company = "another one";
		run.engine.lost = run.fidelity.softnet_dropped = 9;
		run.fidelity.limit = FIDELITY_BACKLOG;
		bound_refine(&gigabit, &run);
		is(&run, cases[i].limit, cases[i].says);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_is_predicted_is_the_link),
	    cmocka_unit_test(what_the_sender_offers_is_the_schedule),
	    cmocka_unit_test(drops_have_a_place),
	    cmocka_unit_test(the_machines_drops_come_first),
	    cmocka_unit_test(nothing_is_attributed_in_company),
	    cmocka_unit_test(a_short_machine_is_said_where_nothing_is_proven),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
