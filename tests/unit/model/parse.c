/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From YAML to the cloud model: what each form of a rate, a cap, an impairment and a profile comes
 * to, and what overrides what. What is refused, and in which words, is tests/corpus/topology's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "core/base/units.h"
#include "emulator/model/parse.h"

struct parsed {
	struct topology *t;
	struct problems p;
};

static void parse_with(struct parsed *out, const char *text, const struct topology_file *files,
		       size_t n)
{
	problems_init(&out->p);
	out->t = topology_parse(&(struct topology_source){.main = {"t.yaml", text, strlen(text)},
							  .files = files,
							  .n_files = n},
				&out->p);
}

static void expect_problems(struct parsed *in, const char *wanted)
{
	autostr struct strbuf out = {0};

	problems_print(&in->p, &out);
	assert_string_equal(strbuf_text(&out), wanted);
}

static void drop(struct parsed *in)
{
	topology_free(in->t);
	problems_done(&in->p);
}

/* A link between two machines with these keys. */
static const struct cloud_link *parse_link_of(struct parsed *out, const char *keys)
{
	autofree char *text = mem_printf("version: 1\nnodes: {a: {}, b: {}}\nlinks:\n"
					 "  - {endpoints: [\"a:eth1\", \"b:eth1\"], %s}\n",
					 keys);

	parse_with(out, text, NULL, 0);
	expect_problems(out, "");
	assert_int_equal(out->t->links.n, 1);
	return &out->t->links.v[0];
}

/* ---- rates and packets ---- */

static void test_rates(void **state)
{
	static const struct {
		const char *keys;
		struct wire_rate want;
	} cases[] = {
	    {"rate: 100mbit", {.bps = 100000000}},
	    {"rate: {base: 1gbit}", {.bps = 1000000000}},
	    {"rate: {base: 1gbit, burst: 10gbit, credit: 60s}",
	     {.bps = 1000000000, .burst_bps = 10000000000, .credit_ns = 60 * NSEC_PER_SEC}},
	    {"rate: 100mbit, queue: 20ms, basis: l2, mode: exact",
	     {.bps = 100000000,
	      .basis = BASIS_L2,
	      .mode = SHAPE_EXACT,
	      .queue_ns = 20 * NSEC_PER_MSEC}},
	    {"police: 100mbit", {.bps = 100000000, .police = true}},
	    {"police: {rate: 100mbit, burst: 32KiB}",
	     {.bps = 100000000, .police = true, .police_bytes = 32768}},
	    /* Direction ab over the link's own. */
	    {"rate: 1gbit, queue: 64KiB, ab: {rate: 5mbit}",
	     {.bps = 5000000, .queue_bytes = 65536}},
	    {"rate: 1gbit, queue: 20ms, ab: {police: 5mbit}", {.bps = 5000000, .police = true}},
	    {"police: {rate: 1gbit, burst: 1MB}, ab: {rate: 5mbit}", {.bps = 5000000}},
	    {"rate: {base: 1gbit, burst: 2gbit, credit: 1s}, ab: {rate: 5mbit, basis: l3}",
	     {.bps = 5000000, .basis = BASIS_L3}},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct parsed in;
		const struct wire_rate *got = &parse_link_of(&in, cases[i].keys)->dir[0].rate.rate;
		const struct wire_rate *want = &cases[i].want;

		assert_int_equal(got->bps, want->bps);
		assert_int_equal(got->basis, want->basis);
		assert_int_equal(got->mode, want->mode);
		assert_int_equal(got->queue_ns, want->queue_ns);
		assert_int_equal(got->queue_bytes, want->queue_bytes);
		assert_int_equal(got->police, want->police);
		assert_int_equal(got->police_bytes, want->police_bytes);
		assert_int_equal(got->burst_bps, want->burst_bps);
		assert_int_equal(got->credit_ns, want->credit_ns);
		drop(&in);
	}
}

static void test_pps(void **state)
{
	static const struct {
		const char *keys;
		struct wire_pps want;
	} cases[] = {
	    {"pps: 50kpps", {50000, false, 0}},
	    {"pps: {shape: 2.5Mpps}", {2500000, false, 0}},
	    {"pps: {shape: 50kpps, burst: 500}", {50000, false, 500}},
	    {"pps: {police: 50kpps, burst: 500}", {50000, true, 500}},
	    {"pps: {police: 50kpps, burst: 500}, ab: {pps: 1kpps}", {1000, false, 0}},
	    {"pps: 50kpps, queue: 64KiB", {50000, false, 0}},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct parsed in;
		const struct wire_pps *got = &parse_link_of(&in, cases[i].keys)->dir[0].pps;

		assert_int_equal(got->pps, cases[i].want.pps);
		assert_int_equal(got->police, cases[i].want.police);
		assert_int_equal(got->burst, cases[i].want.burst);
		drop(&in);
	}
}

/* What is said of the fabric is said of each host's card, and a host may say otherwise. */
static void test_fabric(void **state)
{
	struct parsed in;

	(void)state;
	parse_with(&in,
		   "version: 1\n"
		   "fabric: {rate: 10gbit, nic: {pps: 1Mpps}, delay: 1ms, loss: {every: 100}}\n"
		   "hosts: {h1: {}, h2: {nic: {police: 1gbit}}}\n",
		   NULL, 0);
	expect_problems(&in, "");
	assert_int_equal(in.t->hosts.v[0].nic.rate.rate.bps, 10000000000);
	assert_int_equal(in.t->hosts.v[0].nic.pps.pps, 1000000);
	assert_int_equal(in.t->hosts.v[1].nic.rate.rate.bps, 1000000000);
	assert_true(in.t->hosts.v[1].nic.rate.rate.police);
	assert_int_equal(in.t->hosts.v[1].nic.pps.pps, 1000000);
	assert_true(in.t->fabric.impair.impair.given);
	assert_int_equal(in.t->fabric.impair.impair.delay_ns, NSEC_PER_MSEC);
	assert_int_equal(in.t->fabric.impair.impair.loss_every, 100);
	drop(&in);
}

/* ---- impairments ---- */

static void test_delay_and_jitter(void **state)
{
	static const struct {
		const char *keys;
		int64_t jitter_ns;
		enum wire_jitter jitter;
		int correlation_ppm;
	} cases[] = {
	    {"delay: 10ms", 0, JITTER_NORMAL, 0},
	    {"delay: 10ms, jitter: 1ms", NSEC_PER_MSEC, JITTER_NORMAL, 0},
	    {"delay: 10ms, jitter: {normal: 1ms, correlation: 25%}", NSEC_PER_MSEC, JITTER_NORMAL,
	     250000},
	    {"delay: 10ms, jitter: {uniform: 2ms}", 2 * NSEC_PER_MSEC, JITTER_UNIFORM, 0},
	    {"delay: 10ms, jitter: {pareto: 10ms}", 10 * NSEC_PER_MSEC, JITTER_PARETO, 0},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct parsed in;
		const struct wire_impair *got =
		    &parse_link_of(&in, cases[i].keys)->impair[1].impair;

		assert_true(got->given);
		assert_int_equal(got->delay_ns, 10 * NSEC_PER_MSEC);
		assert_int_equal(got->jitter_ns, cases[i].jitter_ns);
		assert_int_equal(got->jitter, cases[i].jitter);
		assert_int_equal(got->jitter_correlation_ppm, cases[i].correlation_ppm);
		drop(&in);
	}
}

static void test_loss(void **state)
{
	static const struct {
		const char *keys;
		struct wire_impair want;
	} cases[] = {
	    {"loss: 1%", {.loss = LOSS_RANDOM, .loss_ppm = 10000}},
	    {"loss: 0.0001%", {.loss = LOSS_RANDOM, .loss_ppm = 1}},
	    {"loss: 0%", {.loss = LOSS_NONE}},
	    {"loss: {random: 1%, correlation: 25%}",
	     {.loss = LOSS_RANDOM, .loss_ppm = 10000, .loss_correlation_ppm = 250000}},
	    {"loss: {every: 100}", {.loss = LOSS_EVERY, .loss_every = 100}},
	    {"loss: {after: 500}", {.loss = LOSS_AFTER, .loss_after = 500}},
	    {"loss: {after: 500 packets}", {.loss = LOSS_AFTER, .loss_after = 500}},
	    {"loss: {after: 0}", {.loss = LOSS_AFTER}},
	    {"loss: {bursts: {to_bad: 1%, to_good: 25%}}",
	     {.loss = LOSS_BURSTS,
	      .to_bad_ppm = 10000,
	      .to_good_ppm = 250000,
	      .bad_loss_ppm = 1000000}},
	    {"loss: {bursts: {to_bad: 1%, to_good: 25%, bad_loss: 50%, good_loss: 1%}}",
	     {.loss = LOSS_BURSTS,
	      .to_bad_ppm = 10000,
	      .to_good_ppm = 250000,
	      .bad_loss_ppm = 500000,
	      .good_loss_ppm = 10000}},
	    /* Another kind leaves nothing of the link's behind. */
	    {"loss: {random: 1%, correlation: 25%}, ab: {loss: {every: 7}}",
	     {.loss = LOSS_EVERY, .loss_every = 7}},
	    {"loss: 1%, ab: {loss: 0%}", {.loss = LOSS_NONE}},
	    {"loss: 1%, ab: {delay: 1ms}", {.loss = LOSS_RANDOM, .loss_ppm = 10000}},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct parsed in;
		const struct wire_impair *got =
		    &parse_link_of(&in, cases[i].keys)->impair[0].impair;
		const struct wire_impair *want = &cases[i].want;

		assert_true(got->given);
		assert_int_equal(got->loss, want->loss);
		assert_int_equal(got->loss_ppm, want->loss_ppm);
		assert_int_equal(got->loss_correlation_ppm, want->loss_correlation_ppm);
		assert_int_equal(got->loss_every, want->loss_every);
		assert_int_equal(got->loss_after, want->loss_after);
		assert_int_equal(got->to_bad_ppm, want->to_bad_ppm);
		assert_int_equal(got->to_good_ppm, want->to_good_ppm);
		assert_int_equal(got->bad_loss_ppm, want->bad_loss_ppm);
		assert_int_equal(got->good_loss_ppm, want->good_loss_ppm);
		drop(&in);
	}
}

static void test_other_impairments(void **state)
{
	struct parsed in;
	const struct cloud_link *l = parse_link_of(
	    &in, "duplication: 1%, reordering: 2%, corruption: 0.1%, flap: {up: 5s, down: 1s}, "
		 "black_hole: 1400, via: relay, ba: {flap: {up: 1s, down: 1ms}, corruption: 0%}");
	const struct wire_impair *ab = &l->impair[0].impair, *ba = &l->impair[1].impair;

	(void)state;
	assert_int_equal(l->via, VIA_RELAY);
	assert_int_equal(ab->duplication_ppm, 10000);
	assert_int_equal(ab->reordering_ppm, 20000);
	assert_int_equal(ab->corruption_ppm, 1000);
	assert_int_equal(ab->flap_up_ns, 5 * NSEC_PER_SEC);
	assert_int_equal(ab->flap_down_ns, NSEC_PER_SEC);
	assert_int_equal(ab->black_hole, 1400);
	assert_int_equal(ba->corruption_ppm, 0);
	assert_int_equal(ba->flap_up_ns, NSEC_PER_SEC);
	assert_int_equal(ba->black_hole, 1400);
	drop(&in);
}

/* A seed is the one that was asked for; without one it follows from the names, the same each time,
 * and no two directions share one. */
static void test_seeds(void **state)
{
	struct parsed in, again;
	const struct cloud_link *l = parse_link_of(&in, "seed: 42, loss: 1%");
	uint64_t ab = l->impair[0].impair.seed, ba = l->impair[1].impair.seed;

	(void)state;
	assert_int_equal(ab, 42);
	assert_true(ba && ba != ab);
	l = parse_link_of(&again, "seed: 42, loss: 2%");
	assert_int_equal(l->impair[1].impair.seed, ba);
	drop(&again);
	l = parse_link_of(&again, "loss: 1%");
	assert_true(l->impair[0].impair.seed && l->impair[1].impair.seed);
	assert_int_not_equal(l->impair[0].impair.seed, l->impair[1].impair.seed);
	assert_int_not_equal(l->impair[1].impair.seed, ba);
	drop(&again);
	l = parse_link_of(&again, "seed: 42, ab: {seed: 7}, ba: {seed: 8}");
	assert_int_equal(l->impair[0].impair.seed, 7);
	assert_int_equal(l->impair[1].impair.seed, 8);
	assert_false(l->impair[0].impair.given); /* a seed alone changes nothing */
	drop(&again);
	l = parse_link_of(&again, "delay: 0, ba: {delay: 0s}");
	assert_false(l->impair[0].impair.given); /* a bare 0 is none, 0s is one that may change */
	assert_true(l->impair[1].impair.given);
	drop(&again);
	drop(&in);
}

/* ---- delivery traces ---- */

static void expect_trace(const char *text, const char *problems)
{
	static const char topology[] =
	    "version: 1\nnodes: {a: {}, b: {}}\nlinks:\n"
	    "  - {endpoints: [\"a:e\", \"b:e\"], ba: {trace: x.trace}}\n";
	struct topology_file file = {"x.trace", text, text ? strlen(text) : 0};
	struct parsed in;

	parse_with(&in, topology, &file, 1);
	expect_problems(&in, problems);
	drop(&in);
}

static void test_traces(void **state)
{
	static const char topology[] =
	    "version: 1\nnodes: {a: {}, b: {}}\nlinks:\n"
	    "  - {endpoints: [\"a:e\", \"b:e\"], ab: {trace: x.trace}}\n";
	static const char trace[] = "0\n3\r\n3\n12";
	struct topology_file file = {"x.trace", trace, strlen(trace)};
	const struct wire_impair *i;
	struct parsed in;

	(void)state;
	parse_with(&in, topology, &file, 1);
	expect_problems(&in, "");
	i = &in.t->links.v[0].impair[0].impair;
	assert_string_equal(i->trace_file, "x.trace");
	assert_int_equal(i->trace_n, 4);
	assert_int_equal(i->trace_ms[1], 3);
	assert_int_equal(i->trace_ms[3], 12);
	drop(&in);

	expect_trace("", "x.trace:1:1: the delivery trace is empty\n1 problem\n");
	expect_trace("0\n0\n", "x.trace:1:1: the last line of a delivery trace is its period: it "
			       "must be above 0\n1 problem\n");
	expect_trace("1\n5\n4\n", "x.trace:3:1: the times of a delivery trace must rise; this is "
				  "before the line above\n1 problem\n");
	expect_trace("1\nx\n", "x.trace:2:1: a line of a delivery trace is a whole number of "
			       "milliseconds, at most a day\n1 problem\n");
	expect_trace("1\n-2\n", "x.trace:2:1: a line of a delivery trace is a whole number of "
				"milliseconds, at most a day\n1 problem\n");
	expect_trace("99999999999999999999\n",
		     "x.trace:1:1: a line of a delivery trace is a whole number of milliseconds, "
		     "at most a day\n1 problem\n");
	expect_trace(NULL, ""); /* its reader has said why */
}

/* ---- cards and profiles ---- */

static const char cloud[] = "version: 1\nhosts: {h1: {}}\n"
			    "networks: {net: {cidr: 10.0.0.0/24}, two: {cidr: 10.1.0.0/24}}\n";
static const char file_text[] = "version: 1\n"
				"common: {direction: sum, source: a page, date: 2021, basis: l2}\n"
				"profiles:\n"
				"  small: {rate: {base: 1gbit, burst: 2gbit, credit: 10s}, pps: "
				"100kpps, vcpu: 2, memory: 8GiB}\n"
				"  large: {rate: 8gbit, queues: {count: 8, pps_each: 1kpps}, "
				"connections: 5, direction: each}\n";

static void parse_vms(struct parsed *out, const char *vms)
{
	autofree char *text = mem_printf("%s%s", cloud, vms);
	struct topology_file file = {"profiles/some.yaml", file_text, strlen(file_text)};

	parse_with(out, text, &file, 1);
}

static void test_caps(void **state)
{
	const struct cloud_caps *c;
	struct parsed in;

	(void)state;
	parse_vms(&in, "vms: {a: {network: net, vnic: {rate: 1gbit, pps: 2.5Mpps, direction: sum, "
		       "queues: {count: 8, pps_each: 400kpps, rate_each: 100mbit}, per_flow: "
		       "500mbit, connections: 250000, mtu: 1400}}}\n");
	expect_problems(&in, "");
	c = &in.t->vms.v[0].vnics.v[0].caps;
	assert_int_equal(c->rate.rate.bps, 1000000000);
	assert_int_equal(c->rate.rate.basis, BASIS_L3);
	assert_int_equal(c->pps.pps, 2500000);
	assert_int_equal(c->direction, DIRECTION_SUM);
	assert_int_equal(c->queues.count, 8);
	assert_int_equal(c->queues.pps_each, 400000);
	assert_int_equal(c->queues.bps_each, 100000000);
	assert_int_equal(c->flow_bps, 500000000);
	assert_int_equal(c->connections, 250000);
	assert_int_equal(c->mtu.v, 1400);
	assert_int_equal(in.t->vms.v[0].vnics.v[0].profile.index, -1);
	drop(&in);
}

/* What is nearer to the vNIC wins, figure by figure. */
static void test_profiles(void **state)
{
	const struct cloud_vnic *v;
	struct parsed in;

	(void)state;
	parse_vms(&in,
		  "profiles: {mine: {rate: 5mbit, basis: l1}}\n"
		  "vms:\n"
		  "  a: {network: net, profile: some/small}\n"
		  "  b: {network: net, profile: some/small, vnic: {rate: 3gbit}}\n"
		  "  c: {network: net, profile: some/small, vnic: {profile: mine}}\n"
		  "  d:\n"
		  "    profile: some/small\n"
		  "    vnic: {pps: 7kpps}\n"
		  "    vnics: [{network: net}, {network: two, profile: some/large, queues: 2}]\n");
	expect_problems(&in, "");
	v = &in.t->vms.v[0].vnics.v[0];
	assert_string_equal(in.t->profiles.v[v->profile.index].name, "some/small");
	assert_string_equal(in.t->profiles.v[v->profile.index].source, "a page");
	assert_int_equal(in.t->profiles.v[v->profile.index].vcpu, 2);
	assert_true(in.t->profiles.v[v->profile.index].memory_gib == 8);
	assert_int_equal(v->caps.rate.rate.burst_bps, 2000000000);
	assert_int_equal(v->caps.rate.rate.basis, BASIS_L2);
	assert_int_equal(v->caps.direction, DIRECTION_SUM);
	v = &in.t->vms.v[1].vnics.v[0];
	assert_int_equal(v->caps.rate.rate.bps, 3000000000);
	assert_int_equal(v->caps.rate.rate.burst_bps, 0); /* a rate replaces the whole rate */
	assert_int_equal(v->caps.pps.pps, 100000);
	v = &in.t->vms.v[2].vnics.v[0];
	assert_string_equal(in.t->profiles.v[v->profile.index].name, "mine");
	assert_int_equal(v->caps.rate.rate.bps, 5000000);
	assert_int_equal(v->caps.pps.pps, 0);
	v = &in.t->vms.v[3].vnics.v[0];
	assert_int_equal(v->caps.rate.rate.bps, 1000000000);
	assert_int_equal(v->caps.pps.pps, 7000);
	v = &in.t->vms.v[3].vnics.v[1];
	assert_int_equal(v->caps.rate.rate.bps, 8000000000);
	assert_int_equal(v->caps.pps.pps, 7000); /* said of all its cards */
	assert_int_equal(v->caps.queues.count, 2);
	assert_int_equal(v->caps.queues.pps_each, 0);
	assert_int_equal(v->caps.direction, DIRECTION_EACH);
	assert_int_equal(in.t->profiles.n, 3); /* mine, small, large: each is read once */
	drop(&in);
}

static void test_unknown_profiles(void **state)
{
	struct parsed in;

	(void)state;
	parse_vms(&in, "vms:\n"
		       "  a: {network: net, profile: some/smal}\n"
		       "  b: {network: net, profile: some/quite-another}\n"
		       "  c: {network: net, profile: other/small}\n");
	expect_problems(&in, "t.yaml:5:30: profile 'some/smal' does not exist; did you mean "
			     "'some/small'?\n"
			     "t.yaml:6:30: profile 'some/quite-another' does not exist; 'vpclab "
			     "profile ls some' lists those that do\n"
			     "t.yaml:7:30: profile 'other/small': its file 'profiles/other.yaml' "
			     "was not found\n"
			     "3 problems\n");
	drop(&in);
}

static void expect_profile_file(const char *text, const char *problems)
{
	autofree char *topology =
	    mem_printf("%svms: {a: {network: net, profile: some/x}}\n", cloud);
	struct topology_file file = {"profiles/some.yaml", text, strlen(text)};
	struct parsed in;

	parse_with(&in, topology, &file, 1);
	expect_problems(&in, problems);
	drop(&in);
}

static void test_profile_files(void **state)
{
	(void)state;
	expect_profile_file("version: 1\nprofiles: {x: {rate: 1gbit}}\n", "");
	expect_profile_file("[]\n", "profiles/some.yaml:1:1: 'profile file' must be a map, this is "
				    "a list\n1 problem\n");
	expect_profile_file("version: 2\nprofile: {x: {rate: 1gbit}}\nprofiles: {x: {}}\n",
			    "profiles/some.yaml:1:1: the file does not say 'version: 1'\n"
			    "profiles/some.yaml:2:1: unknown key 'profile' in profile file; did "
			    "you mean 'profiles'?\n2 problems\n");
	expect_profile_file("version: 1\nprofiles: {x: {rate: fast}}\n",
			    "profiles/some.yaml:2:22: 'fast' is not a rate; write it like 100mbit "
			    "(bits per second: kbit, mbit, gbit)\n1 problem\n");
}

/* ---- scale ---- */

/* 40 Gbit/s for 20 ms are 100 MB and have no room; at a twentieth they have. */
static void test_scaled_delay(void **state)
{
	static const char *const scales[] = {"1", "1/20"};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(scales); i++) {
		struct parsed in;
		autofree char *text =
		    mem_printf("version: 1\nscale: %s\nnodes: {a: {}, b: {}}\nlinks:\n"
			       "  - {endpoints: [\"a:e\", \"b:e\"], rate: 40gbit, delay: 20ms}\n",
			       scales[i]);

		parse_with(&in, text, NULL, 0);
		assert_int_equal(problems_count(&in.p) > 0, i == 0);
		drop(&in);
	}
}

static void test_scale(void **state)
{
	static const struct {
		const char *text;
		int64_t num, den;
	} cases[] = {{"1/20", 1, 20}, {"0.05", 1, 20}, {"5%", 1, 20},
		     {"1", 1, 1},     {"100%", 1, 1},  {"2/40", 1, 20},
		     {"0.5", 1, 2},   {"3/4", 3, 4},   {"0.0001%", 1, 1000000}};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		autofree char *text =
		    mem_printf("version: 1\nscale: %s\nnodes: {a: {}}\n", cases[i].text);
		struct parsed in;

		parse_with(&in, text, NULL, 0);
		expect_problems(&in, "");
		assert_int_equal(in.t->scale_num, cases[i].num);
		assert_int_equal(in.t->scale_den, cases[i].den);
		drop(&in);
	}
}

/* ---- the other files of a topology ---- */

static void test_needs(void **state)
{
	static const char text[] =
	    "version: 1\nprofiles: {own/x: {}}\nfabric: {trace: up.trace}\n"
	    "vms:\n"
	    "  a: {profile: aliyun/x, vnic: {profile: own/x}}\n"
	    "  b: {vnic: {profile: aliyun/y}, vnics: [{profile: aws/z}, {profile: plain}]}\n"
	    "  c: {profile: ../x}\n"
	    "links: [{trace: l.trace, ab: {trace: l.trace}, ba: {trace: ba.trace}}]\n";
	static const char *const wanted[] = {"profiles/aliyun.yaml",
					     "profiles/aws.yaml",
					     "profiles/gcp.yaml",
					     "l.trace",
					     "ba.trace",
					     "up.trace"};
	static const char *const sets[] = {"vms.d.profile=gcp/x"};
	struct topology_source src = {
	    .main = {"t.yaml", text, strlen(text)}, .sets = sets, .n_sets = ARRAY_SIZE(sets)};
	struct topology_needs needs;
	struct arena a;

	(void)state;
	arena_init(&a);
	topology_needs(&src, &a, &needs);
	assert_int_equal(needs.list.n, ARRAY_SIZE(wanted));
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++)
		assert_string_equal(needs.list.v[i].name, wanted[i]);
	assert_int_equal(needs.list.v[0].at.line, 5);
	src.main.text = "{";
	src.main.len = 1;
	topology_needs(&src, &a, &needs);
	assert_int_equal(needs.list.n, 0);
	arena_done(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_rates),
	    cmocka_unit_test(test_pps),
	    cmocka_unit_test(test_fabric),
	    cmocka_unit_test(test_delay_and_jitter),
	    cmocka_unit_test(test_loss),
	    cmocka_unit_test(test_other_impairments),
	    cmocka_unit_test(test_seeds),
	    cmocka_unit_test(test_traces),
	    cmocka_unit_test(test_caps),
	    cmocka_unit_test(test_profiles),
	    cmocka_unit_test(test_unknown_profiles),
	    cmocka_unit_test(test_profile_files),
	    cmocka_unit_test(test_scale),
	    cmocka_unit_test(test_scaled_delay),
	    cmocka_unit_test(test_needs),
	};

	return cmocka_run_group_tests_name("parse", tests, NULL, NULL);
}
