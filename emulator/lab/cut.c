/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cut: a table of our own in the node, `netdev vpclab_cut`, with one chain a device. Called by
 * core/harness. `vpclab check` tells it as a difference, which it is.
 */
#include "emulator/lab/cut.h"

#include <linux/netlink.h>

#include "core/base/mem.h"
#include "core/base/str.h"
#include "emulator/kernel/nft.h"
#include "emulator/kernel/nl.h"

#define CUT_TABLE "vpclab_cut"

struct cut {
	const char *dev;
	bool mend;
};

static int put(struct nft_tx *tx, const struct cut *c, struct err *err)
{
	const struct nft_place at = {"netdev", CUT_TABLE, c->dev};
	autofree char *hook =
	    mem_printf("type filter hook ingress device \"%s\" priority %d; policy accept;", c->dev,
		       CUT_PRIORITY);
	int r = nft_add_table(tx, &at, err);

	if (!r)
		r = nft_add_chain(tx, &at, hook, err);
	if (!r)
		r = nft_flush_chain(tx, &at, err);
	return r || c->mend ? r : nft_add_rule(tx, &at, "counter drop", "cut", err);
}

static int cut_inside(void *arg, int out_fd, struct err *err)
{
	struct nft_tx tx;
	autofd int fd = -1;
	int r = nl_open(NETLINK_NETFILTER, &fd, err);

	(void)out_fd;
	if (r)
		return r;
	nft_start(&tx, fd);
	r = put(&tx, arg, err);
	if (!r)
		r = nft_commit(&tx, err);
	nft_done(&tx);
	return r;
}

static int call(const struct lab *lab, const struct cut_at *at, bool mend, struct err *err)
{
	struct cut c = {at->dev, mend};
	autofree char *out = NULL;
	size_t len;
	int r = lab_call(lab, at->node, cut_inside, &c, &out, &len, err);

	return r ? err_wrap(err, "%s %s of %s", mend ? "mending" : "cutting", at->dev, at->node)
		 : 0;
}

int cut_device(const struct lab *lab, const struct cut_at *at, struct err *err)
{
	return call(lab, at, false, err);
}

int cut_mend(const struct lab *lab, const struct cut_at *at, struct err *err)
{
	return call(lab, at, true, err);
}
