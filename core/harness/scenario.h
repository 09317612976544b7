/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * scenario: a scenario file, read and checked: which topology, which paths, what to measure on
 * each, what to expect, what to compare, what was published, what the reader should learn. Pure.
 */
#ifndef VPCLAB_HARNESS_SCENARIO_H
#define VPCLAB_HARNESS_SCENARIO_H

#include "core/base/problems.h"
#include "core/engine/engine.h"
#include "core/harness/metric.h"
#include "emulator/model/wire.h"

struct scenario_repeat {   /* until the interval is narrow enough */
	double confidence; /* 0…1 */
	double width;	   /* half width of the interval over the mean, 0…1 */
	int min, max;	   /* runs */
};

struct scenario_path {
	const char *name, *from, *to; /* endpoints of the topology */
	struct mark from_at, to_at;
};

struct scenario_change {	   /* of a link, while a measurement runs */
	int64_t at_ns;		   /* since the measuring window began */
	const char *link;	   /* as link_find() takes it */
	VEC(const char *) changes; /* "key=value", as link_sets_add() takes them */
	struct mark at, link_at;
};

struct scenario_schedule { /* by time */
	bool given;
	VEC(struct scenario_change) changes;
};

enum scenario_cpus { CPUS_DEFAULT, CPUS_SAME, CPUS_APART, CPUS_FREE, CPUS_SPREAD };

struct scenario_measure {
	const char *name;
	struct mark at;
	struct engine_spec spec; /* CPUs are set when it runs */
	int64_t frame;		 /* udp_stream: Ethernet frame with FCS, bytes; 0: spec.size */
	bool unshaped;		 /* on a twin of the lab without any rate */
	int family;		 /* AF_INET or AF_INET6 */
	enum scenario_cpus cpus;
	int client_cpu, server_cpu; /* named by the user, they win over `cpus`; -1: not given */
	struct scenario_repeat repeat;
	struct scenario_schedule schedule; /* given: instead of the scenario's */
};

struct scenario_quantity { /* "rr.p50 of flat-eip" */
	int measure, path; /* indices; path -1 where a sentence has none */
	const struct metric *metric;
};

enum expect_relation { EXPECT_WITHIN, EXPECT_ABOVE, EXPECT_BELOW, EXPECT_AT_LEAST, EXPECT_AT_MOST };
enum expect_against {
	AGAINST_VALUE,
	AGAINST_QUANTITY,
	AGAINST_PREDICTED,
	AGAINST_COUNTED,
	AGAINST_REFERENCE
};

struct scenario_expect {
	const char *text; /* the sentence as written */
	struct mark at;
	struct scenario_quantity what;
	enum expect_relation relation;
	enum expect_against against;
	double factor;			/* "2 times …"; else 1 */
	double value;			/* AGAINST_VALUE, in the metric's unit */
	struct scenario_quantity other; /* AGAINST_QUANTITY */
	double tolerance_share;		/* EXPECT_WITHIN: the larger of the two counts */
	double tolerance_abs;		/* in the metric's unit */
};

struct scenario_reference { /* a published figure */
	struct scenario_quantity what;
	double value;
};

struct scenario {
	struct arena arena;
	const char *file, *name, *title, *lesson;
	const char *topology; /* path, relative to where the process runs */
	struct mark topology_at;
	VEC(const char *) sets; /* "path=value" overrides of the topology */
	struct scenario_repeat repeat;
	struct scenario_schedule schedule; /* of measurements that have none of their own */
	VEC(struct scenario_path) paths;
	VEC(struct scenario_measure) measures;
	VEC(struct scenario_expect) expects;
	int compare_base; /* path, or -1: nothing is compared */
	VEC(int) compare_with;
	VEC(struct scenario_quantity) compare_metrics;
	const char *reference_source;
	VEC(struct scenario_reference) references;
};

/* Does the text look like a scenario rather than a topology (a map with `topology` or `measure`)?
 */
bool scenario_recognise(const char *text, size_t len);

/*
 * Reads scenario text. `name` is its file name: what problems call it, and what `topology` is
 * relative to. Gives a scenario also when there are problems (then it must only be freed).
 */
struct scenario *scenario_parse(const char *name, const char *text, size_t len, struct problems *p);
void scenario_free(struct scenario *s);

/* Adds a problem for each end of a path that the topology does not have, and for each path that has
 * no way through it, or none back where answers are needed. */
void scenario_check(const struct scenario *s, const struct wire *w, struct problems *p);

/* The one that counts for a measurement; may be empty. An unshaped lab has nothing to change. */
const struct scenario_schedule *scenario_schedule_of(const struct scenario *s,
						     const struct scenario_measure *m);

/* Index by name, or -1. */
int scenario_find_path(const struct scenario *s, const char *name);
int scenario_find_measure(const struct scenario *s, const char *name);

/* Adds "'x' is not a path of this scenario; did you mean 'y'?", or lists what there is. */
void scenario_unknown_path(const struct scenario *s, const char *name, struct mark at,
			   struct problems *p);
void scenario_unknown_measure(const struct scenario *s, const char *name, struct mark at,
			      struct problems *p);

/* The name of a quantity as a reader types it: "rr.p50", or "throughput" for a default metric. */
const char *scenario_quantity_name(const struct scenario *s, const struct scenario_quantity *q,
				   char *buf, size_t size);

/* A published figure, or NAN. */
double scenario_reference(const struct scenario *s, int measure, const struct metric *m, int path);

#endif
