/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * qdisc: rtnetlink messages for traffic control: qdiscs, classes, policers. Called by
 * emulator/lab/apply.c and tests. netem's attributes are netem.c's.
 *
 * No rate tables are sent but to the policer: a rate with a link layer is computed by the kernel
 * (tbf_change() and htb_change_class() take a table only for TC_LINKLAYER_UNAWARE), and a size
 * table with an overhead alone has no rows (qdisc_get_stab() in net/sched/sch_api.c). The policer
 * wants a table to be there (tcf_police_init()), and then does not look into it either.
 *
 * Rates of 2^32 bytes/s (34.4 Gbit/s) and more go into 64-bit attributes of their own.
 */
#include "emulator/kernel/qdisc.h"

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/pkt_cls.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>

#define TICKS_PER_USEC	  15.625 /* of 64 ns: PSCHED_SHIFT of include/net/pkt_sched.h */
#define USEC_MOST	  274877906.0
#define POLICE_CELL_LOG	  3
#define POLICE_TABLE_SIZE 1024
#define FILTER_PREF	  1

/*
 * The time that a bucket lasts, as the kernel takes it: ticks of 64 ns. Whole microseconds, as tc
 * computes it (tc_calc_xmittime() of iproute2), so that both tell the kernel the same.
 */
static uint32_t qdisc_ticks(const struct tc_bucket *b)
{
	double usec = 1e6 * ((double)b->burst_bytes / (double)b->rate_bytes);

	return (uint32_t)((uint32_t)(usec > USEC_MOST ? USEC_MOST : usec) * TICKS_PER_USEC);
}

static uint32_t qdisc_rate32(uint64_t rate)
{
	return rate >= UINT32_MAX ? UINT32_MAX : (uint32_t)rate;
}

static struct tc_ratespec qdisc_rate(const struct tc_bucket *b, const struct tc_bucket *cost)
{
	return (struct tc_ratespec){.linklayer = TC_LINKLAYER_ETHERNET,
				    .overhead = cost->overhead,
				    .mpu = cost->mpu,
				    .rate = qdisc_rate32(b->rate_bytes)};
}

static void qdisc_put_rate64(struct nlmsghdr *nlh, uint16_t attr, const struct tc_bucket *b)
{
	if (b->rate_bytes >= UINT32_MAX)
		mnl_attr_put_u64(nlh, attr, b->rate_bytes);
}

static void qdisc_put_tbf(struct nlmsghdr *nlh, const struct tc_tbf *t)
{
	struct tc_tbf_qopt opt = {.limit = t->limit_bytes};
	struct nlattr *options = mnl_attr_nest_start(nlh, TCA_OPTIONS);
	bool deep = t->rate.burst_bytes > TC_TBF_BYTES_MOST;

	opt.rate = qdisc_rate(&t->rate, &t->rate);
	if (t->peak.rate_bytes)
		opt.peakrate = qdisc_rate(&t->peak, &t->rate);
	if (deep) /* bytes go no further: as time */
		opt.buffer = qdisc_ticks(&t->rate);
	mnl_attr_put(nlh, TCA_TBF_PARMS, sizeof(opt), &opt);
	if (!deep)
		mnl_attr_put_u32(nlh, TCA_TBF_BURST, (uint32_t)t->rate.burst_bytes);
	qdisc_put_rate64(nlh, TCA_TBF_RATE64, &t->rate);
	if (t->peak.rate_bytes) {
		mnl_attr_put_u32(nlh, TCA_TBF_PBURST, qdisc_rate32(t->peak.burst_bytes));
		qdisc_put_rate64(nlh, TCA_TBF_PRATE64, &t->peak);
	}
	mnl_attr_nest_end(nlh, options);
}

static void qdisc_put_htb(struct nlmsghdr *nlh, const struct tc_htb *h)
{
	/* rate2quantum 10: as tc has it; each class says its quantum */
	struct tc_htb_glob opt = {.version = 3, .rate2quantum = 10, .defcls = h->default_minor};
	struct nlattr *options = mnl_attr_nest_start(nlh, TCA_OPTIONS);

	mnl_attr_put(nlh, TCA_HTB_INIT, sizeof(opt), &opt);
	mnl_attr_nest_end(nlh, options);
}

static void qdisc_put_class(struct nlmsghdr *nlh, const struct tc_class *c)
{
	struct tc_htb_opt opt = {.rate = qdisc_rate(&c->rate, &c->rate),
				 .ceil = qdisc_rate(&c->ceil, &c->rate),
				 .buffer = qdisc_ticks(&c->rate),
				 .cbuffer = qdisc_ticks(&c->ceil),
				 .quantum = c->quantum};
	struct nlattr *options = mnl_attr_nest_start(nlh, TCA_OPTIONS);

	mnl_attr_put(nlh, TCA_HTB_PARMS, sizeof(opt), &opt);
	qdisc_put_rate64(nlh, TCA_HTB_RATE64, &c->rate);
	qdisc_put_rate64(nlh, TCA_HTB_CEIL64, &c->ceil);
	mnl_attr_nest_end(nlh, options);
}

static void qdisc_put_fifo(struct nlmsghdr *nlh, uint32_t limit)
{
	struct tc_fifo_qopt opt = {.limit = limit};

	mnl_attr_put(nlh, TCA_OPTIONS, sizeof(opt), &opt);
}

static void qdisc_put_stab(struct nlmsghdr *nlh, int overhead)
{
	struct tc_sizespec spec = {.overhead = overhead}; /* no rows: the overhead alone */
	struct nlattr *stab = mnl_attr_nest_start(nlh, TCA_STAB);

	mnl_attr_put(nlh, TCA_STAB_BASE, sizeof(spec), &spec);
	mnl_attr_nest_end(nlh, stab);
}

static struct nlattr *qdisc_start_action(struct nlmsghdr *nlh, uint16_t list_attr,
					 struct nlattr **list)
{
	*list = mnl_attr_nest_start(nlh, list_attr);
	return mnl_attr_nest_start(nlh, 1); /* the first and only one */
}

/* Drops what is over, lets the rest go on. */
static void qdisc_put_police(struct nlmsghdr *nlh, const struct tc_policer *p, int index)
{
	static const uint8_t table[POLICE_TABLE_SIZE];
	struct tc_police opt = {.index = (uint32_t)index,
				.action = TC_ACT_SHOT,
				.burst = qdisc_ticks(&p->rate),
				.mtu = p->mtu_bytes,
				.rate = qdisc_rate(&p->rate, &p->rate)};

	opt.rate.cell_log = POLICE_CELL_LOG;
	mnl_attr_put_strz(nlh, TCA_ACT_KIND, "police");
	struct nlattr *act = mnl_attr_nest_start(nlh, TCA_ACT_OPTIONS);
	mnl_attr_put(nlh, TCA_POLICE_TBF, sizeof(opt), &opt);
	mnl_attr_put(nlh, TCA_POLICE_RATE, sizeof(table), table);
	qdisc_put_rate64(nlh, TCA_POLICE_RATE64, &p->rate);
	mnl_attr_put_u32(nlh, TCA_POLICE_RESULT, TC_ACT_OK);
	mnl_attr_nest_end(nlh, act);
}

static struct tcmsg *qdisc_header(struct nlmsghdr *nlh, int ifindex, const struct tc_step *s)
{
	struct tcmsg *tcm = mnl_nlmsg_put_extra_header(nlh, sizeof(*tcm));

	tcm->tcm_family = AF_UNSPEC;
	tcm->tcm_ifindex = ifindex;
	tcm->tcm_parent = s->parent;
	tcm->tcm_handle = s->handle;
	if (s->kind == TC_POLICE)
		tcm->tcm_info = TC_H_MAKE(FILTER_PREF << 16, htons(ETH_P_ALL));
	return tcm;
}

static void qdisc_add_police(struct nl_batch *batch, const char *dev, int ifindex,
			     const struct tc_step *s)
{
	struct nlmsghdr *nlh = nl_add(batch, RTM_NEWTFILTER, NLM_F_CREATE | NLM_F_EXCL,
				      "police what arrives at %s", dev);
	struct nlattr *list;

	qdisc_header(nlh, ifindex, s);
	mnl_attr_put_strz(nlh, TCA_KIND, "matchall");
	struct nlattr *options = mnl_attr_nest_start(nlh, TCA_OPTIONS);
	struct nlattr *first = qdisc_start_action(nlh, TCA_MATCHALL_ACT, &list);
	qdisc_put_police(nlh, &s->police, ifindex);
	mnl_attr_nest_end(nlh, first);
	mnl_attr_nest_end(nlh, list);
	mnl_attr_nest_end(nlh, options);
}

/* The filter stays, its action gets new figures: no packet passes in between. */
static void qdisc_change_police(struct nl_batch *batch, const char *dev, int ifindex,
				const struct tc_step *s)
{
	struct nlmsghdr *nlh =
	    nl_add(batch, RTM_NEWACTION, NLM_F_CREATE | NLM_F_REPLACE, "change police of %s", dev);
	struct tcamsg *tca = mnl_nlmsg_put_extra_header(nlh, sizeof(*tca));
	struct nlattr *list;

	tca->tca_family = AF_UNSPEC;
	struct nlattr *first = qdisc_start_action(nlh, TCA_ACT_TAB, &list);
	qdisc_put_police(nlh, &s->police, ifindex);
	mnl_attr_nest_end(nlh, first);
	mnl_attr_nest_end(nlh, list);
}

static const char *qdisc_kind(enum tc_kind kind)
{
	static const char *const kinds[] = {
	    [TC_TBF] = "tbf",	    [TC_HTB] = "htb",	      [TC_CLASS] = "htb",
	    [TC_FIFO] = "bfifo",    [TC_PFIFO] = "pfifo",     [TC_NETEM] = "netem",
	    [TC_CLSACT] = "clsact", [TC_POLICE] = "matchall", [TC_UNKNOWN] = "",
	};

	return kinds[kind];
}

static void qdisc_put_options(struct nlmsghdr *nlh, const struct tc_step *s)
{
	switch (s->kind) {
	case TC_TBF:
		qdisc_put_tbf(nlh, &s->tbf);
		break;
	case TC_HTB:
		qdisc_put_htb(nlh, &s->htb);
		break;
	case TC_CLASS:
		qdisc_put_class(nlh, &s->cls);
		break;
	case TC_FIFO:
		qdisc_put_fifo(nlh, s->fifo_limit_bytes);
		break;
	case TC_PFIFO:
		qdisc_put_fifo(nlh, s->pfifo_limit_packets);
		break;
	case TC_NETEM:
		qdisc_put_netem(nlh, &s->netem);
		break;
	default:
		break;
	}
}

void qdisc_step(struct nl_batch *batch, const char *dev, int ifindex, const struct tc_step *s,
		enum qdisc_how how)
{
	uint16_t type = s->kind == TC_CLASS ? RTM_NEWTCLASS : RTM_NEWQDISC;
	uint16_t flags = how == QDISC_ADD ? NLM_F_CREATE | NLM_F_EXCL : 0;
	struct nlmsghdr *nlh;

	if (s->kind == TC_POLICE) {
		if (how == QDISC_ADD)
			qdisc_add_police(batch, dev, ifindex, s);
		else
			qdisc_change_police(batch, dev, ifindex, s);
		return;
	}
	if (how == QDISC_CHANGE && (s->kind == TC_HTB || s->kind == TC_CLSACT))
		return; /* nothing of them changes but where they are */
	nlh = nl_add(batch, type, flags, "shape %s by %s %x:%x", dev, qdisc_kind(s->kind),
		     s->handle >> 16, s->handle & 0xffff);
	qdisc_header(nlh, ifindex, s);
	mnl_attr_put_strz(nlh, TCA_KIND, qdisc_kind(s->kind));
	if (s->stab_overhead)
		qdisc_put_stab(nlh, s->stab_overhead);
	qdisc_put_options(nlh, s);
}

void qdisc_delete(struct nl_batch *batch, const char *dev, int ifindex, const struct tc_step *s)
{
	static const uint16_t types[] = {[TC_CLASS] = RTM_DELTCLASS, [TC_POLICE] = RTM_DELTFILTER};
	uint16_t type = RTM_DELQDISC;

	if (s->kind == TC_CLASS || s->kind == TC_POLICE)
		type = types[s->kind];
	qdisc_header(nl_add(batch, type, 0, "take away %s %x:%x of %s", qdisc_kind(s->kind),
			    s->handle >> 16, s->handle & 0xffff, dev),
		     ifindex, s);
}
