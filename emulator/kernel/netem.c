/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * netem: the attributes of a netem qdisc, with the tables of its distributions. For qdisc.c.
 *
 * The kernel knows only the uniform distribution; others come as a table of deviations in units of
 * jitter / 8192 from which it draws (tabledist() in net/sched/sch_netem.c). Ours follow the
 * formulas of iproute2's normal.c and pareto.c: the standard normal distribution, and a Pareto
 * distribution of shape 3, shifted to a mean of zero and scaled by 4/3.
 */
#include <math.h>
#include <string.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>

#include "emulator/kernel/qdisc.h"

#ifndef NETEM_DIST_SCALE
#define NETEM_DIST_SCALE 8192
#endif
#define NETEM_ROWS	   4096
#define NETEM_ROW_MOST	   32767
#define NETEM_PARETO_SHAPE 3.0
#define NETEM_PARETO_MEAN  1.5
#define NETEM_PARETO_SCALE (4.0 / 3.0)
#define NETEM_NORMAL_MOST  5.0
#define NETEM_BISECTIONS   40
/* Linux 6.6; older ones pass over attributes beyond theirs. */
#define NETEM_ATTR_PRNG_SEED 14

static int16_t netem_row(double deviation)
{
	double v = rint(deviation * NETEM_DIST_SCALE);

	return (int16_t)(v > NETEM_ROW_MOST    ? NETEM_ROW_MOST
			 : v < -NETEM_ROW_MOST ? -NETEM_ROW_MOST
					       : v);
}

/* The value that a standard normal variable is below with probability p. */
static double netem_normal(double p)
{
	double low = -NETEM_NORMAL_MOST, high = NETEM_NORMAL_MOST;

	for (int i = 0; i < NETEM_BISECTIONS; i++) {
		double mid = (low + high) / 2;

		if (erfc(-mid / M_SQRT2) / 2 < p)
			low = mid;
		else
			high = mid;
	}
	return (low + high) / 2;
}

static double netem_pareto(double p)
{
	return (pow(1 - p, -1 / NETEM_PARETO_SHAPE) - NETEM_PARETO_MEAN) * NETEM_PARETO_SCALE;
}

static void netem_put_distribution(struct nlmsghdr *nlh, enum tc_distribution distribution)
{
	int16_t rows[NETEM_ROWS];

	for (int i = 0; i < NETEM_ROWS; i++) {
		double p = (i + 0.5) / NETEM_ROWS;

		rows[i] =
		    netem_row(distribution == TC_DIST_NORMAL ? netem_normal(p) : netem_pareto(p));
	}
	mnl_attr_put(nlh, TCA_NETEM_DELAY_DIST, sizeof(rows), rows);
}

/* Probabilities of tc_netem_gemodel: h and k1 as loss_gilb_ell() of the kernel compares them. */
static void netem_put_bursts(struct nlmsghdr *nlh, const struct tc_netem *n)
{
	struct tc_netem_gemodel ge = {
	    .p = n->to_bad, .r = n->to_good, .h = UINT32_MAX - n->bad_loss, .k1 = n->good_loss};
	struct nlattr *nest = mnl_attr_nest_start(nlh, TCA_NETEM_LOSS);

	mnl_attr_put(nlh, NETEM_LOSS_GE, sizeof(ge), &ge);
	mnl_attr_nest_end(nlh, nest);
}

/* struct tc_netem_qopt first, attributes after it in the same options (parse_attr()). */
void qdisc_put_netem(struct nlmsghdr *nlh, const struct tc_netem *n)
{
	struct tc_netem_qopt opt = {
	    .limit = n->limit_packets, .loss = n->loss, .duplicate = n->duplicate};
	struct tc_netem_corr corr = {.delay_corr = n->delay_correlation,
				     .loss_corr = n->loss_correlation};
	struct tc_netem_corrupt corrupt = {.probability = n->corrupt};
	struct nlattr *options = mnl_attr_nest_start(nlh, TCA_OPTIONS);
	char *tail = mnl_nlmsg_get_payload_tail(nlh);

	memcpy(tail, &opt, sizeof(opt));
	nlh->nlmsg_len += MNL_ALIGN(sizeof(opt));
	if (corr.delay_corr || corr.loss_corr)
		mnl_attr_put(nlh, TCA_NETEM_CORR, sizeof(corr), &corr);
	if (corrupt.probability)
		mnl_attr_put(nlh, TCA_NETEM_CORRUPT, sizeof(corrupt), &corrupt);
	if (n->bursts)
		netem_put_bursts(nlh, n);
	mnl_attr_put_u64(nlh, TCA_NETEM_LATENCY64, (uint64_t)n->delay_ns);
	mnl_attr_put_u64(nlh, TCA_NETEM_JITTER64, (uint64_t)n->jitter_ns);
	if (n->jitter_ns && n->distribution != TC_DIST_UNIFORM)
		netem_put_distribution(nlh, n->distribution);
	mnl_attr_put_u64(nlh, NETEM_ATTR_PRNG_SEED, n->seed);
	mnl_attr_nest_end(nlh, options);
}
