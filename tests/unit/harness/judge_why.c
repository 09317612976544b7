// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests of core/harness/judge_why: each kind of wrong figure is derived from the evidence that it
 * leaves, and an honest answer in the same evidence is true.
 */
#include "tests/unit/harness/judge_bed.h"

struct lie {
	const char *name;
	enum figure figure;
	enum truth_source source;
	double fixed;  /* TRUTH_FIXED */
	double said;   /* the lie */
	double honest; /* what would have been true in the same evidence */
	enum fault_kind kind;
	struct with with[7];
};

#define F(figure)    FIGURE_##figure
#define K(kind)	     FAULT_##kind
#define COUNTED	     TRUTH_COUNTED, 0
#define PREDICTED    TRUTH_PREDICTED, 0
#define FIXED(value) TRUTH_FIXED, value
#define NONE                                                                                       \
	{                                                                                          \
		{                                                                                  \
			0                                                                          \
		}                                                                                  \
	}

static const struct lie lies[] = {
    {"sender's rate", F(GOODPUT), COUNTED, 40e6, 10e6, FAULT_WRONG_SIDE, {OVERLOAD}},
    {"what TCP was given",
     F(GOODPUT),
     COUNTED,
     14e6,
     10e6,
     K(WRONG_SIDE),
     {{E(asked_bps), 0}, {E(sent_bps), 10.5e6}}},
    {"the rate that was asked for",
     F(GOODPUT),
     COUNTED,
     20e6,
     10e6,
     K(WRONG_SIDE),
     {{E(asked_bps), 20e6}, {E(sent_bps), 11e6}}},
    {"bytes over all of the run",
     F(GOODPUT),
     COUNTED,
     7.5e6,
     10e6,
     K(WRONG_WINDOW),
     {{E(run_s), 4}}},
    {"what a queue held over the time asked for",
     F(GOODPUT),
     COUNTED,
     13.33e6,
     10e6,
     K(WRONG_WINDOW),
     {{E(active_s), 4}, {E(asked_bps), 0}, {E(sent_bps), 11e6}}},
    {"warm-up's bytes without its time", F(GOODPUT), COUNTED, 15e6, 10e6, K(WRONG_WINDOW), NONE},
    {"2^20 for 10^6", F(GOODPUT), COUNTED, 10e6 / 1.048576, 10e6, K(WRONG_UNIT), NONE},
    {"2^20 for 10^6, upwards", F(GOODPUT), COUNTED, 10.48576e6, 10e6, K(WRONG_UNIT), NONE},
    {"bytes for bits", F(GOODPUT), COUNTED, 1.25e6, 10e6, K(WRONG_UNIT), NONE},
    {"a rate read as another",
     F(GOODPUT),
     PREDICTED,
     10.48576e6,
     10e6,
     K(WRONG_UNIT),
     {{E(sent_bps), 10.48576e6}, {E(counted_bps), 10.48576e6}}},
    {"half of the rate, and nothing said",
     F(GOODPUT),
     PREDICTED,
     5e6,
     10e6,
     K(SILENT_FALLBACK),
     {{E(sent_bps), 5e6}, {E(counted_bps), 5e6}}},
    {"large datagrams on a full link",
     F(GOODPUT),
     PREDICTED,
     0.5e6,
     10e6,
     K(FRAGMENT_LOSS),
     {{E(asked_bps), 0}, {E(sent_bps), 9e8}, {E(fragments), 23}}},
    {"a figure out of nowhere", F(GOODPUT), COUNTED, 6.1e6, 10e6, K(OTHER), NONE},
    {"messages of a stream",
     F(PACKETS),
     COUNTED,
     1e6,
     1250,
     K(HIDDEN_COALESCING),
     {{E(asked_size), 1}, {E(asked_bps), 0}}},
    {"datagrams of many packets",
     F(PACKETS),
     COUNTED,
     55,
     1250,
     K(WRONG_PACKET_UNIT),
     {{E(fragments), 23}}},
    {"datagrams sent", F(PACKETS), COUNTED, 5000, 1250, FAULT_WRONG_SIDE, {OVERLOAD}},
    {"datagrams received, of many packets",
     F(RECEIVED),
     COUNTED,
     163,
     3750,
     K(WRONG_PACKET_UNIT),
     {{E(fragments), 23}}},
    {"gaps only", F(LOSS), COUNTED, 0, 0.75, K(HIDDEN_LOSS), {{E(arrived_packets), 937.5}}},
    {"a count of gaps only",
     F(LOST),
     COUNTED,
     0,
     750,
     K(HIDDEN_LOSS),
     {{E(arrived_packets), 3000}}},
    {"what was sent is what came",
     F(RECEIVED),
     COUNTED,
     3750,
     3000,
     K(HIDDEN_LOSS),
     {{E(arrived_packets), 3000}}},
    {"more than all",
     F(LOSS),
     COUNTED,
     1.4,
     0.2,
     K(WRONG_DENOMINATOR),
     {{E(arrived_packets), 3000}}},
    {"copies count as packets",
     F(LOSS),
     COUNTED,
     0.02,
     0.04,
     K(HIDDEN_DUPLICATES),
     {{E(arrived_packets), 3675}, {E(duplicated), 75}}},
    {"more copies than losses, and no less than none",
     F(LOSS),
     COUNTED,
     0,
     0.02,
     K(HIDDEN_DUPLICATES),
     {{E(arrived_packets), 3825}, {E(duplicated), 150}}},
    {"copies that came",
     F(RECEIVED),
     COUNTED,
     3825,
     3675,
     K(HIDDEN_DUPLICATES),
     {{E(arrived_packets), 3825}, {E(duplicated), 150}}},
    {"no copies",
     F(DUPLICATED),
     COUNTED,
     0,
     75,
     K(HIDDEN_DUPLICATES),
     {{E(arrived_packets), 3825}, {E(duplicated), 75}}},
    {"no late ones", F(REORDERED), COUNTED, 0, 150, K(HIDDEN_REORDERING), {{E(reordered), 150}}},
    {"its own socket's drops", F(LOSS), COUNTED, 0.3, 0, K(HOST_LOSS), {{E(lost_host), 1125}}},
    {"datagrams of many fragments",
     F(LOSS),
     COUNTED,
     0.36,
     0.01,
     K(FRAGMENT_LOSS),
     {{E(arrived_packets), 3712.5}, {E(fragments), 45}}},
    {"datagrams of six, and its own socket's drops",
     F(LOSS),
     COUNTED,
     0.0835,
     0.008,
     K(FRAGMENT_LOSS),
     {{E(arrived_packets), 3720}, {E(fragments), 6}, {E(lost_host), 19}}},
    {"bursts into a policer", F(LOSS), FIXED(0), 0.2, 0, K(BURSTS), {{E(arrived_packets), 3000}}},
    {"losses that there were not", F(LOSS), COUNTED, 0.1, 0, K(OTHER), NONE},
    {"half of a round trip", F(LATENCY_MEAN), FIXED(0.01), 0.0052, 0.01, K(HALF_ROUND_TRIP), NONE},
    {"milliseconds for microseconds", F(LATENCY_MEAN), FIXED(0.01), 10, 0.01, K(WRONG_UNIT), NONE},
    {"one slow answer of a closed loop",
     F(LATENCY_P99),
     FIXED(0.45),
     0.012,
     0.45,
     K(COORDINATED_OMISSION),
     {{E(frozen_s), 0.5}}},
    {"the time of a run over few answers",
     F(LATENCY_MEAN),
     FIXED(0.01),
     0.6,
     0.01,
     K(STOPPED_AT_LOSS),
     {{E(arrived_packets), 3700}}},
    {"only answers were lost",
     F(LATENCY_MEAN),
     FIXED(0.01),
     0.6,
     0.01,
     K(STOPPED_AT_LOSS),
     {{E(lost_relay), 1}}},
    {"few answers in the time of a run",
     F(TRANSACTIONS),
     FIXED(100),
     6,
     100,
     K(STOPPED_AT_LOSS),
     {{E(arrived_packets), 3700}}},
    {"slow for no reason", F(LATENCY_MEAN), FIXED(0.01), 0.017, 0.01, K(OTHER), NONE},
};

static void one_figure(const struct lie *l, double said, enum judgement j, enum fault_kind kind)
{
	struct bed b;

	bed_init(&b);
	change(&b, l->with, ARRAY_SIZE(l->with));
	tells(&b, l->figure, said);
	asks(&b, l->figure, l->source, l->fixed);
	judge_it(&b);
	is(&b, figure_name(l->figure), j, kind);
	bed_done(&b);
}

static void test_figures(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lies); i++) {
		print_message("%s\n", lies[i].name);
		one_figure(&lies[i], lies[i].said, JUDGED_LIE, lies[i].kind);
		one_figure(&lies[i], lies[i].honest, JUDGED_TRUE, FAULT_NONE);
	}
}

/* Kinds that are not of a figure but of the run or the output: judge.c in this folder has them. */
static bool elsewhere(enum fault_kind k)
{
	return k == FAULT_UNSUPPORTED_DIGITS || k >= FAULT_DISAGREES;
}

static void test_all_kinds(void **state)
{
	bool derived[FAULT_KINDS] = {false};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lies); i++)
		derived[lies[i].kind] = true;
	for (int k = FAULT_NONE + 1; k < FAULT_KINDS; k++)
		if (!derived[k] && !elsewhere((enum fault_kind)k))
			fail_msg("%s is never derived", fault_name((enum fault_kind)k));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_figures),
	    cmocka_unit_test(test_all_kinds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
