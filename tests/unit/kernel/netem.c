/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The message for a netem qdisc, byte by byte, as net/sched/sch_netem.c takes it apart. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>

#include "core/base/mem.h"
#include "emulator/kernel/qdisc.h"

#define ATTRS 20
#define SEED  14

struct message {
	struct nl_batch batch;
	struct tc_netem_qopt opt;
	const struct nlattr *of[ATTRS];
};

static int keep(const struct nlattr *attr, void *arg)
{
	struct message *m = arg;

	if (mnl_attr_get_type(attr) < ATTRS)
		m->of[mnl_attr_get_type(attr)] = attr;
	return MNL_CB_OK;
}

static void make(const struct tc_netem *netem, struct message *m)
{
	const struct tc_step step = {
	    .kind = TC_NETEM, .parent = TC_AT_ROOT, .handle = TC_ID(1, 0), .netem = *netem};
	const struct nlattr *attr, *options = NULL;
	const struct nlmsghdr *nlh;
	size_t skip = MNL_ALIGN(sizeof(m->opt));

	memset(m, 0, sizeof(*m));
	qdisc_step(&m->batch, "v0", 7, &step, QDISC_ADD);
	nlh = (const struct nlmsghdr *)m->batch.buf;
	assert_int_equal(nlh->nlmsg_type, RTM_NEWQDISC);
	mnl_attr_for_each(attr, nlh, sizeof(struct tcmsg))
	{
		if (mnl_attr_get_type(attr) == TCA_KIND)
			assert_string_equal(mnl_attr_get_str(attr), "netem");
		if (mnl_attr_get_type(attr) == TCA_OPTIONS)
			options = attr;
	}
	assert_non_null(options);
	memcpy(&m->opt, mnl_attr_get_payload(options), sizeof(m->opt));
	assert_true(mnl_attr_parse_payload((const char *)mnl_attr_get_payload(options) + skip,
					   mnl_attr_get_payload_len(options) - skip, keep, m) >= 0);
}

static void done(struct message *m)
{
	nl_batch_done(&m->batch);
}

static void figures(void **state)
{
	const struct tc_netem n = {.limit_packets = 5000,
				   .delay_ns = 100000001,
				   .jitter_ns = 2,
				   .delay_correlation = 5,
				   .loss = 11,
				   .loss_correlation = 12,
				   .duplicate = 13,
				   .corrupt = 14,
				   .seed = UINT64_C(0x123456789abcdef0)};
	struct tc_netem_corr corr;
	struct tc_netem_corrupt corrupt;
	struct message m;

	(void)state;
	make(&n, &m);
	assert_int_equal(m.opt.limit, 5000);
	assert_int_equal(m.opt.loss, 11);
	assert_int_equal(m.opt.duplicate, 13);
	assert_int_equal(m.opt.gap, 0);
	assert_int_equal(mnl_attr_get_u64(m.of[TCA_NETEM_LATENCY64]), 100000001);
	assert_int_equal(mnl_attr_get_u64(m.of[TCA_NETEM_JITTER64]), 2);
	memcpy(&corr, mnl_attr_get_payload(m.of[TCA_NETEM_CORR]), sizeof(corr));
	assert_int_equal(corr.delay_corr, 5);
	assert_int_equal(corr.loss_corr, 12);
	memcpy(&corrupt, mnl_attr_get_payload(m.of[TCA_NETEM_CORRUPT]), sizeof(corrupt));
	assert_int_equal(corrupt.probability, 14);
	assert_int_equal(mnl_attr_get_u64(m.of[SEED]), UINT64_C(0x123456789abcdef0));
	assert_null(m.of[TCA_NETEM_DELAY_DIST]); /* uniform is the kernel's own */
	assert_null(m.of[TCA_NETEM_LOSS]);
	done(&m);
}

static void bursts(void **state)
{
	const struct tc_netem n = {
	    .bursts = true, .to_bad = 1, .to_good = 2, .bad_loss = UINT32_MAX, .good_loss = 4};
	struct tc_netem_gemodel ge;
	struct message m;

	(void)state;
	make(&n, &m);
	const struct nlattr *inner = mnl_attr_get_payload(m.of[TCA_NETEM_LOSS]);
	assert_int_equal(mnl_attr_get_type(inner), NETEM_LOSS_GE);
	memcpy(&ge, mnl_attr_get_payload(inner), sizeof(ge));
	assert_int_equal(ge.p, 1);
	assert_int_equal(ge.r, 2);
	assert_int_equal(ge.h, 0); /* the share that passes when bad */
	assert_int_equal(ge.k1, 4);
	done(&m);
}

/* Rising, and as its distribution has it: units of 1/8192. */
static void expect_table(enum tc_distribution distribution, double mean, double sd)
{
	const struct tc_netem n = {.delay_ns = 10, .jitter_ns = 5, .distribution = distribution};
	double sum = 0, squares = 0;
	struct message m;
	size_t rows;

	make(&n, &m);
	const struct nlattr *attr = m.of[TCA_NETEM_DELAY_DIST];
	assert_non_null(attr);
	rows = mnl_attr_get_payload_len(attr) / sizeof(int16_t);
	assert_int_equal(rows, 4096);
	const int16_t *table = mnl_attr_get_payload(attr);
	for (size_t i = 0; i < rows; i++) {
		if (i)
			assert_true(table[i] >= table[i - 1]);
		sum += table[i] / 8192.0;
		squares += table[i] / 8192.0 * table[i] / 8192.0;
	}
	assert_float_equal(sum / (double)rows, mean, 0.001);
	assert_float_equal(sqrt(squares / (double)rows), sd, 0.01);
	done(&m);
}

static void distributions(void **state)
{
	(void)state;
	expect_table(TC_DIST_NORMAL, 0, 1);
	/* Its tail is cut at four times the jitter, where a table of 16 bits ends. */
	expect_table(TC_DIST_PARETO, -0.0329, 0.8215);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(figures),
	    cmocka_unit_test(bursts),
	    cmocka_unit_test(distributions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
