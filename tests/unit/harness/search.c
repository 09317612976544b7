// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * search: against a simulated path of known capacity, with a queue, with noise, with a loss of its
 * own, and on a machine that cannot offer every rate.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "core/base/units.h"
#include "core/harness/search.h"

struct path_sim {
	double capacity_pps; /* of the path */
	double queue;	     /* packets */
	double share;	     /* lost at random, of all */
	double noise;	     /* share of trials in which 1 in 1,000 is lost too */
	double sender_pps;   /* what the sender can do */
	double receiver_pps; /* above it the receiver's socket drops */
	bool busy;	     /* other programs run: the machine may be why */
	bool followed;	     /* … but the links account for every packet */
	uint64_t random;
	int flows; /* that the path takes; 0: any number */
	int trials, stop_after;
};

static double draw(struct path_sim *s)
{
	s->random = s->random * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (double)(s->random >> 11) / 9007199254740992.0;
}

static int simulate(void *arg, const struct engine_spec *spec, struct run_sample *out,
		    struct err *err)
{
	struct path_sim *s = arg;
	double duration_s = (double)spec->duration_ns / 1e9;
	double rate = spec->rate_pps ? (double)spec->rate_pps : 1e12, lost, host = 0;

	(void)err;
	s->trials++;
	out->spec = *spec;
	if (s->flows && s->trials > s->flows) {
		out->engine.refused = 681;
		return 0;
	}
	if (rate > s->sender_pps)
		strcpy(out->engine.limit, "sender");
	rate = fmin(rate, s->sender_pps);
	double sent = floor(rate * duration_s);
	lost = fmax(0, floor((rate - s->capacity_pps) * duration_s - s->queue));
	lost += floor(sent * s->share);
	if (draw(s) < s->noise)
		lost += floor(sent / 1000);
	if (s->receiver_pps && rate > s->receiver_pps)
		lost += host = floor((rate - s->receiver_pps) * duration_s);
	out->engine.client.packets = (int64_t)sent;
	out->engine.lost = (int64_t)lost;
	out->engine.lost_host = (int64_t)host;
	out->engine.sent_pps = rate;
	out->engine.pps = (sent - lost) / duration_s;
	out->fidelity.known = true;
	if (s->busy) {
		out->fidelity.limit = FIDELITY_OTHERS;
		strcpy(out->fidelity.why, "other programs");
	}
	out->losses.known = out->losses.followed = s->followed;
	return 0;
}

static struct path_sim *stopped;

static bool stop(void)
{
	return stopped && stopped->trials >= stopped->stop_after;
}

struct bench_sim {
	struct arena arena;
	struct procedure p;
	struct engine_spec spec;
	struct search_goal goals[2];
	struct search_options o;
	struct search found;
};

static void sim_init(struct bench_sim *b, struct path_sim *path)
{
	static const struct search_goal times = {.initial_ns = NSEC_PER_SEC,
						 .final_ns = NSEC_PER_SEC,
						 .sum_ns = NSEC_PER_SEC,
						 .width = 0.005};

	memset(b, 0, sizeof(*b));
	arena_init(&b->arena);
	b->p =
	    (struct procedure){.measure = simulate, .arg = path, .arena = &b->arena, .stop = stop};
	engine_spec_default(&b->spec, TEST_UDP_STREAM);
	search_goal_set(&b->goals[0], "NDR", 0, &times);
	search_goal_set(&b->goals[1], "PDR", 0.005, &times);
	b->o = (struct search_options){.goals = b->goals, .n_goals = 2};
}

static int search(struct bench_sim *b)
{
	struct err err = ERR_INIT;

	return search_run(&b->p, &b->spec, &b->o, &b->found, &err);
}

/* Both goals, for capacities far apart: the truth lies between the bounds. */
static void finds_the_capacity(void **state)
{
	static const double capacities[] = {997, 61234, 250000};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(capacities); i++) {
		struct path_sim path = {.capacity_pps = capacities[i], .sender_pps = 400000};
		struct bench_sim b;

		sim_init(&b, &path);
		assert_int_equal(search(&b), 0);
		assert_int_equal(b.found.found.n, 2);
		const struct search_found *ndr = &b.found.found.v[0], *pdr = &b.found.found.v[1];
		assert_int_equal(ndr->above, SEARCH_LOSS);
		assert_true((double)ndr->lower_pps <= path.capacity_pps + 1);
		assert_true((double)ndr->upper_pps > path.capacity_pps);
		assert_true(ndr->upper_pps - ndr->lower_pps <=
			    (int64_t)(ndr->upper_pps * 0.005 + 1));
		assert_true(fabs(ndr->conditional_pps - (double)ndr->lower_pps) < 1);
		/* Half a per cent too many, and half a per cent lost. */
		double pdr_truth = path.capacity_pps / 0.995;
		assert_true((double)pdr->lower_pps <= pdr_truth * 1.0001 + 1);
		assert_true((double)pdr->upper_pps > pdr_truth * 0.9999);
		assert_true(pdr->conditional_pps <= path.capacity_pps + 1);
		assert_true(b.p.measured < 40);
		arena_done(&b.arena);
	}
}

/* A long queue hides a rate that is a little too high from a short trial; a longer one sees it. */
static void short_trials_never_prove_a_rate(void **state)
{
	struct path_sim path = {.capacity_pps = 10000, .queue = 500, .sender_pps = 400000};
	struct bench_sim b;

	(void)state;
	sim_init(&b, &path);
	b.o.n_goals = 1;
	b.goals[0].final_ns = b.goals[0].sum_ns = 10 * NSEC_PER_SEC;
	assert_int_equal(search(&b), 0);
	const struct search_found *f = &b.found.found.v[0];
	assert_int_equal(f->above, SEARCH_LOSS);
	assert_true(f->lower_pps <= 10050 && f->upper_pps > 10050);
	int full = 0, shorter = 0;
	VEC_FOREACH (t, &b.found.trials) {
		full += t->duration_ns == 10 * NSEC_PER_SEC;
		shorter += t->duration_ns == NSEC_PER_SEC;
	}
	assert_true(shorter >= 2 && full >= 2 && full <= 8);
	arena_done(&b.arena);
}

/* One bad trial in ten is forgiven by a goal that says so; without, it would be far too low. */
static void noise(void **state)
{
	struct path_sim path = {
	    .capacity_pps = 50000, .sender_pps = 400000, .noise = 0.1, .random = 7};
	struct bench_sim b;

	(void)state;
	sim_init(&b, &path);
	b.o.n_goals = 1;
	b.goals[0].exceed_ratio = 0.4;
	b.goals[0].sum_ns = 21 * NSEC_PER_SEC;
	assert_int_equal(search(&b), 0);
	const struct search_found *f = &b.found.found.v[0];
	assert_true(f->lower_pps <= 50001 && f->lower_pps > 49000);
	assert_int_equal(f->above, SEARCH_LOSS);
	arena_done(&b.arena);
}

/* A path that loses 1 % of all has no rate without loss, and none with half a per cent. */
static void loss_at_any_rate(void **state)
{
	struct path_sim path = {.capacity_pps = 50000, .sender_pps = 400000, .share = 0.01};
	struct bench_sim b;

	(void)state;
	sim_init(&b, &path);
	assert_int_equal(search(&b), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(b.found.found.v[i].lower_pps, 0);
		assert_int_equal(b.found.found.v[i].upper_pps, 100);
		assert_true(isnan(b.found.found.v[i].conditional_pps));
	}
	arena_done(&b.arena);
}

/* What the sender cannot offer, or the receiver cannot read, is never the path's loss. */
static void machine(void **state)
{
	struct path_sim slow = {.capacity_pps = 1e9, .sender_pps = 80000};
	struct path_sim deaf = {.capacity_pps = 1e9, .sender_pps = 400000, .receiver_pps = 70000};
	struct bench_sim b;

	(void)state;
	sim_init(&b, &slow);
	b.o.most_pps = 200000;
	assert_int_equal(search(&b), 0);
	assert_int_equal(b.found.found.v[0].above, SEARCH_MACHINE);
	assert_false(search_complete(&b.found.found.v[0]));
	assert_true(b.found.found.v[0].lower_pps > 79000 && b.found.found.v[0].lower_pps < 80500);
	assert_non_null(strstr(b.found.found.v[0].why, "the sender offered 80000 of"));
	arena_done(&b.arena);
	sim_init(&b, &deaf);
	assert_int_equal(search(&b), 0);
	assert_int_equal(b.found.found.v[0].above, SEARCH_MACHINE);
	assert_true(b.found.found.v[0].lower_pps > 69000 && b.found.found.v[0].lower_pps <= 70001);
	assert_non_null(strstr(b.found.found.v[0].why, "receiver's own socket"));
	arena_done(&b.arena);
}

/* On a busy machine a loss counts only when the links themselves dropped all of it, each time. */
static void busy_machine(void **state)
{
	struct path_sim path = {.capacity_pps = 20000, .sender_pps = 400000, .busy = true};
	struct bench_sim b;

	(void)state;
	sim_init(&b, &path);
	assert_int_equal(search(&b), 0);
	assert_int_equal(b.found.found.v[0].above, SEARCH_MACHINE);
	arena_done(&b.arena);
	path.followed = true;
	sim_init(&b, &path);
	assert_int_equal(search(&b), 0);
	assert_int_equal(b.found.found.v[0].above, SEARCH_LOSS);
	assert_true(fabs((double)b.found.found.v[0].lower_pps / 20000 - 1) < 0.006);
	arena_done(&b.arena);
}

/* What nothing can change is not tried again: at most twice a load, where a busy machine gets three
 * tries; and what the path turns away whole ends the search at once. */
static void no_trial_in_vain(void **state)
{
	struct path_sim slow = {.capacity_pps = 1e9, .sender_pps = 80000};
	struct path_sim busy = {.capacity_pps = 20000, .sender_pps = 400000, .busy = true};
	struct path_sim full = {.capacity_pps = 20000, .sender_pps = 400000, .flows = 5};
	struct bench_sim b;

	(void)state;
	sim_init(&b, &slow);
	b.o.most_pps = 200000;
	assert_int_equal(search(&b), 0);
	VEC_FOREACH (t, &b.found.trials)
		assert_int_equal(t->tries, t->valid ? 1 : 2);
	arena_done(&b.arena);
	sim_init(&b, &busy);
	assert_int_equal(search(&b), 0);
	VEC_FOREACH (t, &b.found.trials)
		assert_int_equal(t->tries, t->valid ? 1 : PROCEDURE_TRIES);
	arena_done(&b.arena);
	sim_init(&b, &full);
	assert_int_equal(search(&b), 0);
	assert_int_equal(full.trials, 6);
	const struct search_found *f = &b.found.found.v[0];
	assert_int_equal(f->above, SEARCH_REFUSED);
	assert_false(search_complete(f));
	assert_non_null(strstr(f->why, "refused each of 681 sends"));
	assert_true(f->lower_pps <= 20000);
	arena_done(&b.arena);
}

/* Each kind of spoiled trial, and whether another one could be better. */
static void hopeless(void **state)
{
	static const struct {
		struct trial now, before;
		bool first, hopeless;
	} cases[] = {
	    {{.fault = TRIAL_REFUSED}, {0}, true, true},
	    {{.fault = TRIAL_SENDER, .sent_pps = 100}, {0}, true, false},
	    {{.fault = TRIAL_SENDER, .sent_pps = 100},
	     {.fault = TRIAL_SENDER, .sent_pps = 101},
	     false,
	     true},
	    {{.fault = TRIAL_SENDER, .sent_pps = 100},
	     {.fault = TRIAL_SENDER, .sent_pps = 120},
	     false,
	     false},
	    {{.fault = TRIAL_LATE, .sent_pps = 100},
	     {.fault = TRIAL_LATE, .sent_pps = 100},
	     false,
	     false},
	    {{.fault = TRIAL_OTHERS, .loss = 0.1},
	     {.fault = TRIAL_OTHERS, .loss = 0.1},
	     false,
	     false},
	    {{.fault = TRIAL_MACHINE, .loss = 0.1},
	     {.fault = TRIAL_MACHINE, .loss = 0.11},
	     false,
	     true},
	    {{.fault = TRIAL_MACHINE, .loss = 0.1},
	     {.fault = TRIAL_MACHINE, .loss = 0.5},
	     false,
	     false},
	    {{.fault = TRIAL_MACHINE}, {.fault = TRIAL_SENDER}, false, false},
	    {{.fault = TRIAL_ENDED}, {.fault = TRIAL_ENDED}, false, false},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(
		    trial_hopeless(&cases[i].now, cases[i].first ? NULL : &cases[i].before),
		    cases[i].hopeless);
}

static void nothing_above(void **state)
{
	struct path_sim path = {.capacity_pps = 50000, .sender_pps = 400000};
	struct bench_sim b;

	(void)state;
	sim_init(&b, &path);
	b.o.most_pps = 30000;
	assert_int_equal(search(&b), 0);
	assert_int_equal(b.found.found.v[0].above, SEARCH_END);
	assert_int_equal(b.found.found.v[0].lower_pps, 30000);
	assert_int_equal(b.p.measured, 1); /* and the second goal asks nothing more */
	arena_done(&b.arena);
}

static void can_be_stopped(void **state)
{
	struct path_sim path = {.capacity_pps = 50000, .sender_pps = 400000, .stop_after = 4};
	struct bench_sim b;

	(void)state;
	sim_init(&b, &path);
	stopped = &path;
	assert_int_equal(search(&b), -EINTR);
	stopped = NULL;
	assert_int_equal(b.found.trials.n, 3); /* the first was the flood */
	assert_int_equal(b.found.found.n, 1);
	assert_int_equal(b.found.found.v[0].above, SEARCH_UNKNOWN);
	assert_false(search_complete(&b.found.found.v[0]));
	arena_done(&b.arena);
}

/* The draft's arithmetic at one load, by hand. */
static void classification(void **state)
{
	struct search_goal g = {.loss_ratio = 0,
				.exceed_ratio = 0.5,
				.initial_ns = 1,
				.final_ns = NSEC_PER_SEC,
				.sum_ns = 4 * NSEC_PER_SEC};
	struct trial v[6] = {0};

	(void)state;
	for (int i = 0; i < 6; i++)
		v[i] = (struct trial){.load_pps = 5, .valid = true, .duration_ns = NSEC_PER_SEC};
	assert_int_equal(search_classify(v, 1, 5, &g), SEARCH_UNDECIDED);
	assert_int_equal(search_classify(v, 2, 5, &g), SEARCH_LOWER); /* half is enough */
	v[0].loss = v[1].loss = 0.1;
	assert_int_equal(search_classify(v, 2, 5, &g), SEARCH_UNDECIDED);
	assert_int_equal(search_classify(v, 4, 5, &g), SEARCH_LOWER);
	v[2].loss = 0.1;
	assert_int_equal(search_classify(v, 3, 5, &g), SEARCH_UPPER);
	/* Short ones: good ones never help to pass, but make up for bad ones. */
	for (int i = 0; i < 6; i++)
		v[i].duration_ns = NSEC_PER_SEC / 2;
	assert_int_equal(search_classify(v, 3, 5, &g), SEARCH_UNDECIDED);
	v[2].loss = v[1].loss = v[0].loss = 0;
	assert_int_equal(search_classify(v, 6, 5, &g), SEARCH_UNDECIDED);
	g.exceed_ratio = 0;
	v[5].loss = 0.1;
	assert_int_equal(search_classify(v, 6, 5, &g), SEARCH_UPPER);
	assert_int_equal(search_classify(v, 6, 6, &g), SEARCH_UNDECIDED); /* another load */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(finds_the_capacity),
	    cmocka_unit_test(short_trials_never_prove_a_rate),
	    cmocka_unit_test(noise),
	    cmocka_unit_test(loss_at_any_rate),
	    cmocka_unit_test(machine),
	    cmocka_unit_test(busy_machine),
	    cmocka_unit_test(no_trial_in_vain),
	    cmocka_unit_test(hopeless),
	    cmocka_unit_test(nothing_above),
	    cmocka_unit_test(can_be_stopped),
	    cmocka_unit_test(classification),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
