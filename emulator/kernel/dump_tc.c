/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dump_tc: qdiscs, classes and policers of a namespace, with what they were told and what they
 * counted. Called by emulator/lab/check.c, count_….c, and tests.
 */
#include <errno.h>
#include <string.h>
#include <linux/gen_stats.h>
#include <linux/pkt_cls.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>

#include "emulator/kernel/dump_attrs.h"

#define DUMP_TICK_NS	64 /* PSCHED_SHIFT of include/net/pkt_sched.h */
#define DUMP_NETEM_SEED 14 /* TCA_NETEM_PRNG_SEED, Linux 6.6 */

static int64_t dump_ticks(uint32_t ticks)
{
	return (int64_t)ticks * DUMP_TICK_NS;
}

static void dump_copy(void *to, size_t size, const struct nlattr *attr)
{
	size_t n = attr ? mnl_attr_get_payload_len(attr) : 0;

	memcpy(to, attr ? mnl_attr_get_payload(attr) : to, n < size ? n : size);
}

static struct tc_bucket dump_bucket(const struct tc_ratespec *spec, const struct nlattr *rate64)
{
	return (struct tc_bucket){.rate_bytes = rate64 ? mnl_attr_get_u64(rate64) : spec->rate,
				  .overhead = spec->overhead,
				  .mpu = spec->mpu};
}

static void dump_tbf(struct dump_qdisc *q, const struct nlattr *options)
{
	struct dump_attrs t = dump_nested(options);
	struct tc_tbf_qopt opt = {0};

	dump_copy(&opt, sizeof(opt), t.of[TCA_TBF_PARMS]);
	q->step.kind = TC_TBF;
	q->step.tbf.rate = dump_bucket(&opt.rate, t.of[TCA_TBF_RATE64]);
	q->step.tbf.limit_bytes = opt.limit;
	q->burst_ns = dump_ticks(opt.buffer);
	if (!opt.peakrate.rate)
		return;
	q->step.tbf.peak = dump_bucket(&opt.peakrate, t.of[TCA_TBF_PRATE64]);
	q->peak_ns = dump_ticks(opt.mtu);
}

static void dump_htb(struct dump_qdisc *q, const struct nlattr *options)
{
	struct tc_htb_glob opt = {0};

	dump_copy(&opt, sizeof(opt), dump_nested(options).of[TCA_HTB_INIT]);
	q->step.kind = TC_HTB;
	q->step.htb.default_minor = opt.defcls;
}

static void dump_class(struct dump_qdisc *q, const struct nlattr *options)
{
	struct dump_attrs t = dump_nested(options);
	struct tc_htb_opt opt = {0};

	dump_copy(&opt, sizeof(opt), t.of[TCA_HTB_PARMS]);
	q->step.kind = TC_CLASS;
	q->step.cls.rate = dump_bucket(&opt.rate, t.of[TCA_HTB_RATE64]);
	q->step.cls.ceil = dump_bucket(&opt.ceil, t.of[TCA_HTB_CEIL64]);
	q->step.cls.quantum = opt.quantum;
	q->burst_ns = dump_ticks(opt.buffer);
	q->peak_ns = dump_ticks(opt.cbuffer);
}

static void dump_fifo(struct dump_qdisc *q, const struct nlattr *options)
{
	struct tc_fifo_qopt opt = {0};

	dump_copy(&opt, sizeof(opt), options);
	q->step.kind = TC_FIFO;
	q->step.fifo_limit_bytes = opt.limit;
}

static void dump_pfifo(struct dump_qdisc *q, const struct nlattr *options)
{
	struct tc_fifo_qopt opt = {0};

	dump_copy(&opt, sizeof(opt), options);
	q->step.kind = TC_PFIFO;
	q->step.pfifo_limit_packets = opt.limit;
}

static int dump_netem_attr(const struct nlattr *attr, void *arg)
{
	struct dump_attrs *t = arg;

	if (mnl_attr_get_type(attr) < DUMP_ATTR_MAX)
		t->of[mnl_attr_get_type(attr)] = attr;
	return MNL_CB_OK;
}

static void dump_netem_bursts(struct tc_netem *n, const struct nlattr *loss)
{
	const struct nlattr *attr = dump_nested(loss).of[NETEM_LOSS_GE];
	struct tc_netem_gemodel ge = {0};

	if (!attr)
		return;
	dump_copy(&ge, sizeof(ge), attr);
	n->bursts = true;
	n->to_bad = ge.p;
	n->to_good = ge.r;
	n->bad_loss = UINT32_MAX - ge.h;
	n->good_loss = ge.k1;
}

/* Which distribution its table is of the kernel does not tell. */
static void dump_netem(struct dump_qdisc *q, const struct nlattr *options)
{
	struct tc_netem *n = &q->step.netem;
	struct tc_netem_qopt opt = {0};
	struct tc_netem_corr corr = {0};
	struct tc_netem_corrupt corrupt = {0};
	struct dump_attrs t = {0};
	size_t size = MNL_ALIGN(sizeof(opt));

	dump_copy(&opt, sizeof(opt), options);
	if (options && mnl_attr_get_payload_len(options) > size)
		mnl_attr_parse_payload((const char *)mnl_attr_get_payload(options) + size,
				       mnl_attr_get_payload_len(options) - size, dump_netem_attr,
				       &t);
	dump_copy(&corr, sizeof(corr), t.of[TCA_NETEM_CORR]);
	dump_copy(&corrupt, sizeof(corrupt), t.of[TCA_NETEM_CORRUPT]);
	q->step.kind = TC_NETEM;
	*n = (struct tc_netem){.limit_packets = opt.limit,
			       .delay_correlation = corr.delay_corr,
			       .loss = opt.loss,
			       .loss_correlation = corr.loss_corr,
			       .duplicate = opt.duplicate,
			       .corrupt = corrupt.probability};
	if (t.of[TCA_NETEM_LATENCY64])
		n->delay_ns = (int64_t)mnl_attr_get_u64(t.of[TCA_NETEM_LATENCY64]);
	if (t.of[TCA_NETEM_JITTER64])
		n->jitter_ns = (int64_t)mnl_attr_get_u64(t.of[TCA_NETEM_JITTER64]);
	if (t.of[DUMP_NETEM_SEED])
		n->seed = mnl_attr_get_u64(t.of[DUMP_NETEM_SEED]);
	dump_netem_bursts(n, t.of[TCA_NETEM_LOSS]);
}

static void dump_clsact(struct dump_qdisc *q, const struct nlattr *options)
{
	(void)options;
	q->step.kind = TC_CLSACT;
}

static void dump_options(struct dump_qdisc *q, const struct nlattr *options)
{
	static const struct {
		const char *kind;
		void (*read)(struct dump_qdisc *q, const struct nlattr *options);
	} kinds[] = {{"tbf", dump_tbf},	    {"htb", dump_htb},	   {"bfifo", dump_fifo},
		     {"pfifo", dump_pfifo}, {"netem", dump_netem}, {"clsact", dump_clsact}};

	q->step.kind = TC_UNKNOWN;
	for (size_t i = 0; q->kind && i < ARRAY_SIZE(kinds); i++)
		if (!strcmp(q->kind, kinds[i].kind))
			kinds[i].read(q, options);
}

static void dump_counters(struct dump_qdisc *q, const struct nlattr *stats)
{
	struct dump_attrs t = dump_nested(stats);
	struct gnet_stats_basic basic = {0};
	struct gnet_stats_queue queue = {0};

	dump_copy(&basic, sizeof(basic.bytes) + sizeof(basic.packets), t.of[TCA_STATS_BASIC]);
	dump_copy(&queue, sizeof(queue), t.of[TCA_STATS_QUEUE]);
	q->bytes = basic.bytes;
	q->packets =
	    t.of[TCA_STATS_PKT64] ? mnl_attr_get_u64(t.of[TCA_STATS_PKT64]) : basic.packets;
	q->dropped = queue.drops;
	q->overlimits = queue.overlimits;
	q->requeues = queue.requeues;
	q->backlog_bytes = queue.backlog;
	q->backlog_packets = queue.qlen;
}

static void dump_place(struct dump_qdisc *q, const struct tcmsg *tcm)
{
	q->ifindex = tcm->tcm_ifindex;
	q->handle = tcm->tcm_handle;
	q->parent = tcm->tcm_parent;
	q->step.handle = q->handle;
	q->step.parent = q->parent;
}

static int dump_one_qdisc(const struct nlmsghdr *nlh, void *arg)
{
	struct dump *d = arg;
	const struct tcmsg *tcm = mnl_nlmsg_get_payload(nlh);
	struct tc_sizespec spec = {0};

	if (nlh->nlmsg_type != RTM_NEWQDISC)
		return MNL_CB_OK;
	struct dump_attrs t = dump_attrs_of(nlh, sizeof(*tcm));
	struct dump_qdisc *q = VEC_ADD(&d->arena, &d->qdiscs);
	dump_place(q, tcm);
	q->kind = dump_str(d, t.of[TCA_KIND]);
	dump_options(q, t.of[TCA_OPTIONS]);
	dump_copy(&spec, sizeof(spec), dump_nested(t.of[TCA_STAB]).of[TCA_STAB_BASE]);
	q->step.stab_overhead = spec.overhead;
	dump_counters(q, t.of[TCA_STATS2]);
	return MNL_CB_OK;
}

static int dump_one_class(const struct nlmsghdr *nlh, void *arg)
{
	struct dump *d = arg;
	const struct tcmsg *tcm = mnl_nlmsg_get_payload(nlh);

	if (nlh->nlmsg_type != RTM_NEWTCLASS)
		return MNL_CB_OK;
	struct dump_attrs t = dump_attrs_of(nlh, sizeof(*tcm));
	struct dump_qdisc *q = VEC_ADD(&d->arena, &d->classes);
	dump_place(q, tcm);
	/* A class without a parent says so by the handle of the root. */
	if (q->parent == TC_AT_ROOT)
		q->step.parent = q->handle & 0xffff0000;
	q->kind = dump_str(d, t.of[TCA_KIND]);
	dump_class(q, t.of[TCA_OPTIONS]);
	dump_counters(q, t.of[TCA_STATS2]);
	return MNL_CB_OK;
}

/* A matchall filter whose first action polices; without options it only names its chain. */
static int dump_one_filter(const struct nlmsghdr *nlh, void *arg)
{
	struct dump *d = arg;
	const struct tcmsg *tcm = mnl_nlmsg_get_payload(nlh);
	struct tc_police opt = {0};

	if (nlh->nlmsg_type != RTM_NEWTFILTER)
		return MNL_CB_OK;
	struct dump_attrs t = dump_attrs_of(nlh, sizeof(*tcm));
	struct dump_attrs list = dump_nested(dump_nested(t.of[TCA_OPTIONS]).of[TCA_MATCHALL_ACT]);
	struct dump_attrs action = dump_nested(list.of[1]);
	if (!action.of[TCA_ACT_KIND] ||
	    strcmp(mnl_attr_get_str(action.of[TCA_ACT_KIND]), "police") != 0)
		return MNL_CB_OK;
	struct dump_attrs police = dump_nested(action.of[TCA_ACT_OPTIONS]);
	struct dump_qdisc *q = VEC_ADD(&d->arena, &d->policers);
	dump_copy(&opt, sizeof(opt), police.of[TCA_POLICE_TBF]);
	dump_place(q, tcm);
	q->step.handle = 0;
	q->kind = dump_str(d, t.of[TCA_KIND]);
	q->step.kind = TC_POLICE;
	q->step.police.rate = dump_bucket(&opt.rate, police.of[TCA_POLICE_RATE64]);
	q->step.police.mtu_bytes = opt.mtu;
	q->burst_ns = dump_ticks(opt.burst);
	dump_counters(q, action.of[TCA_ACT_STATS]);
	return MNL_CB_OK;
}

struct dump_tc_request {
	uint16_t type;
	int ifindex;
	uint32_t parent;
	mnl_cb_t cb;
	const char *what;
};

static int dump_tc_read(int rt, struct dump *d, const struct dump_tc_request *r, struct err *err)
{
	struct nl_batch batch = {0};
	struct nlmsghdr *nlh = nl_add(&batch, r->type, NLM_F_DUMP, "read %s", r->what);
	struct tcmsg *tcm = mnl_nlmsg_put_extra_header(nlh, sizeof(*tcm));

	tcm->tcm_ifindex = r->ifindex;
	tcm->tcm_parent = r->parent;
	int rc = nl_dump(rt, &batch, r->cb, d, err);
	nl_batch_done(&batch);
	return rc;
}

int dump_qdiscs(int rt, struct dump *d, struct err *err)
{
	static const struct dump_tc_request r = {
	    .type = RTM_GETQDISC, .cb = dump_one_qdisc, .what = "qdiscs"};
	int rc = -EAGAIN;

	for (int i = 0; rc == -EAGAIN && i < DUMP_TRIES; i++) {
		d->qdiscs.n = 0;
		rc = dump_tc_read(rt, d, &r, err);
	}
	return rc;
}

/* Both are dumped by device: those that have a qdisc of `kind`. */
static int dump_of_devices(int rt, struct dump *d, const char *kind,
			   const struct dump_tc_request *like, struct err *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < d->qdiscs.n; i++) {
		struct dump_tc_request r = *like;

		if (!d->qdiscs.v[i].kind || strcmp(d->qdiscs.v[i].kind, kind) != 0)
			continue;
		r.ifindex = d->qdiscs.v[i].ifindex;
		rc = dump_tc_read(rt, d, &r, err);
	}
	return rc;
}

int dump_classes(int rt, struct dump *d, struct err *err)
{
	static const struct dump_tc_request r = {
	    .type = RTM_GETTCLASS, .cb = dump_one_class, .what = "classes"};
	int rc = -EAGAIN;

	for (int i = 0; rc == -EAGAIN && i < DUMP_TRIES; i++) {
		d->classes.n = 0;
		rc = dump_of_devices(rt, d, "htb", &r, err);
	}
	return rc;
}

int dump_policers(int rt, struct dump *d, struct err *err)
{
	static const struct dump_tc_request r = {.type = RTM_GETTFILTER,
						 .parent = TC_AT_INGRESS,
						 .cb = dump_one_filter,
						 .what = "filters"};
	int rc = -EAGAIN;

	for (int i = 0; rc == -EAGAIN && i < DUMP_TRIES; i++) {
		d->policers.n = 0;
		rc = dump_of_devices(rt, d, "clsact", &r, err);
	}
	return rc;
}
