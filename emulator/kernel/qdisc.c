/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * qdisc: rtnetlink messages for traffic control. Called by emulator/lab/apply.c and tests.
 *
 * No rate tables are sent: a rate with a link layer is computed by the kernel (tbf_change() takes a
 * table only for TC_LINKLAYER_UNAWARE), and a size table with an overhead alone has no rows
 * (qdisc_get_stab() in net/sched/sch_api.c).
 */
#include "emulator/kernel/qdisc.h"

#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>

static void qdisc_put_tbf(struct nlmsghdr *nlh, const struct qdisc_tbf *t)
{
	struct tc_tbf_qopt opt = {.limit = t->limit_bytes};

	opt.rate.linklayer = TC_LINKLAYER_ETHERNET;
	opt.rate.overhead = t->overhead;
	opt.rate.mpu = t->mpu;
	opt.rate.rate = t->rate_bytes >= UINT32_MAX ? UINT32_MAX : (uint32_t)t->rate_bytes;
	struct nlattr *options = mnl_attr_nest_start(nlh, TCA_OPTIONS);
	mnl_attr_put(nlh, TCA_TBF_PARMS, sizeof(opt), &opt);
	mnl_attr_put_u32(nlh, TCA_TBF_BURST, t->burst_bytes);
	if (t->rate_bytes >= UINT32_MAX)
		mnl_attr_put_u64(nlh, TCA_TBF_RATE64, t->rate_bytes);
	mnl_attr_nest_end(nlh, options);
}

static void qdisc_put_stab(struct nlmsghdr *nlh, int overhead)
{
	struct tc_sizespec spec = {.overhead = overhead}; /* no rows: the overhead alone */
	struct nlattr *stab = mnl_attr_nest_start(nlh, TCA_STAB);

	mnl_attr_put(nlh, TCA_STAB_BASE, sizeof(spec), &spec);
	mnl_attr_nest_end(nlh, stab);
}

void qdisc_tbf(struct nl_batch *batch, const char *dev, int ifindex, const struct qdisc_tbf *t)
{
	struct nlmsghdr *nlh =
	    nl_add(batch, RTM_NEWQDISC, NLM_F_CREATE | NLM_F_EXCL, "shape %s by tbf", dev);
	struct tcmsg *tcm = mnl_nlmsg_put_extra_header(nlh, sizeof(*tcm));

	tcm->tcm_family = AF_UNSPEC;
	tcm->tcm_ifindex = ifindex;
	tcm->tcm_parent = TC_H_ROOT;
	tcm->tcm_handle = QDISC_HANDLE;
	mnl_attr_put_strz(nlh, TCA_KIND, "tbf");
	if (t->stab_overhead)
		qdisc_put_stab(nlh, t->stab_overhead);
	qdisc_put_tbf(nlh, t);
}
