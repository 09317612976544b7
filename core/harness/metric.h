/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * metric: every figure that a scenario may name, in one table: what it is called, its unit, which
 * way is better, which tests have it, where it comes from. Parser, verdict and reports all read
 * this table.
 */
#ifndef VPCLAB_HARNESS_METRIC_H
#define VPCLAB_HARNESS_METRIC_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/err.h"
#include "core/engine/engine.h"

struct run_sample;

enum metric_unit { METRIC_BPS, METRIC_NS, METRIC_PPS, METRIC_TPS, METRIC_SHARE, METRIC_COUNT };
enum metric_better { METRIC_HIGHER, METRIC_LOWER };
enum metric_over { METRIC_MEAN, METRIC_LEAST, METRIC_MOST }; /* what several runs together give */
/* What the model can say about it beforehand. */
enum metric_truth { METRIC_UNPREDICTED, METRIC_GOODPUT, METRIC_PACKETS, METRIC_RESPONSE };

/*
 * How fine the figure of one run can be; no mean of runs is surer than that, however alike they
 * are. FINE: as fine as the clock, or a count that is exact. BUCKETS: a quantile of a histogram,
 * 1/512 to 1/256 of itself (hist.h). PACKETS: a rate of whole packets or transactions: one of them.
 */
enum metric_grain { GRAIN_FINE, GRAIN_BUCKETS, GRAIN_PACKETS };

struct metric {
	const char *name;
	unsigned tests; /* METRIC_TEST() bits of the tests that have it */
	enum metric_unit unit;
	enum metric_better better;
	double (*get)(const struct run_sample *run); /* of one run; NAN: could not be measured */
	const char *help;
	const char *alias; /* another word for it, or NULL */
	enum metric_over over;
	enum metric_truth truth;
	bool seldom; /* for expectations and JSON; other faces say it in words of their own */
	enum metric_grain grain;
};

#define METRIC_TEST(test) (1u << (test))
_Static_assert(TEST_PATH_CHECK < 32, "a test is a bit of an unsigned");

/* Kinds of tests, for tables of metrics and of keys. */
#define METRIC_TCP_STREAMS                                                                         \
	(METRIC_TEST(TEST_TCP_STREAM) | METRIC_TEST(TEST_TCP_MAERTS) |                             \
	 METRIC_TEST(TEST_TCP_BIDIR) | METRIC_TEST(TEST_TCP_SENDFILE))
#define METRIC_UDP_STREAMS                                                                         \
	(METRIC_TEST(TEST_UDP_STREAM) | METRIC_TEST(TEST_UDP_MAERTS) |                             \
	 METRIC_TEST(TEST_UDP_BIDIR) | METRIC_TEST(TEST_UDP_MULTICAST))
#define METRIC_BIDIRS (METRIC_TEST(TEST_TCP_BIDIR) | METRIC_TEST(TEST_UDP_BIDIR))
#define METRIC_RR     (METRIC_TEST(TEST_TCP_RR) | METRIC_TEST(TEST_UDP_RR))
#define METRIC_CRR    (METRIC_TEST(TEST_TCP_CRR) | METRIC_TEST(TEST_TCP_CC))

/* The metric of that name (or alias) that `test` has; name NULL: the test's default. NULL if none.
 */
const struct metric *metric_find(const char *name, enum engine_test test);
const struct metric *metric_at(size_t i); /* the table, in order; NULL past its end */

/* The smallest difference that the figure of this run can show, in its unit; 0: FINE; NAN: it has
 * no figure. */
double metric_step(const struct metric *m, const struct run_sample *run);

/* "'p5' is not a metric of tcp_rr; did you mean 'p50'?" Returns -EINVAL. */
int metric_unknown(const char *name, enum engine_test test, struct err *err);

/* The value in the metric's unit (bits/s, ns, packets/s, share 0…1), or -EINVAL with a text. */
int metric_parse_value(const struct metric *m, const char *text, double *value, struct err *err);
/* "941.5 Mbit/s", "12.3 µs", "1.2 %" into buf; NAN prints "–". Returns buf. */
const char *metric_format(char *buf, size_t size, enum metric_unit unit, double value);
/* "941.3 ±0.2 Mbit/s"; half_width NAN: without it. */
struct metric_interval {
	double mean, half_width;
};
const char *metric_format_interval(char *buf, size_t size, enum metric_unit unit,
				   struct metric_interval v);
/* What JSON puts behind the name: "bps", "ns", "pps", "tps", "share", "count". */
const char *metric_unit_name(enum metric_unit unit);

#endif
