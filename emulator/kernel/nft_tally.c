/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nft_tally: reads the counters of all rules that have one, and which of them drop. It resets none.
 * Called by emulator/lab/count_snapshot.c.
 */
#include "emulator/kernel/nft_tally.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <libnftnl/expr.h>
#include <libnftnl/rule.h>
#include <libnftnl/udata.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>

#include "emulator/kernel/nft.h"
#include "emulator/kernel/nl.h"

#define TALLY_TRIES 5

struct tally_rule { /* what its expressions say */
	bool counts, drops;
	uint64_t packets, bytes;
};

static int tally_expr(struct nftnl_expr *e, void *arg)
{
	const char *name = nftnl_expr_get_str(e, NFTNL_EXPR_NAME);
	struct tally_rule *r = arg;

	if (!strcmp(name, "counter")) {
		r->counts = true;
		r->packets = nftnl_expr_get_u64(e, NFTNL_EXPR_CTR_PACKETS);
		r->bytes = nftnl_expr_get_u64(e, NFTNL_EXPR_CTR_BYTES);
	} else if (!strcmp(name, "immediate") && nftnl_expr_is_set(e, NFTNL_EXPR_IMM_VERDICT)) {
		r->drops = nftnl_expr_get_u32(e, NFTNL_EXPR_IMM_VERDICT) == NF_DROP;
	}
	return 0;
}

static int tally_comment(const struct nftnl_udata *attr, void *arg)
{
	if (nftnl_udata_type(attr) == NFTNL_UDATA_RULE_COMMENT)
		*(const char **)arg = nftnl_udata_get(attr);
	return 0;
}

static const char *tally_comment_of(struct nft_tallies *t, const struct nftnl_rule *r)
{
	const char *text = NULL;
	uint32_t len = 0;
	const void *data = nftnl_rule_get_data(r, NFTNL_RULE_USERDATA, &len);

	if (data)
		nftnl_udata_parse(data, len, tally_comment, &text);
	return text ? arena_strdup(&t->arena, text) : NULL;
}

/* Rules come chain by chain, in their order. */
static int tally_number(const struct nft_tallies *t, const struct nft_tally *of)
{
	const struct nft_tally *last = t->v.n ? &t->v.v[t->v.n - 1] : NULL;
	bool same = last && !strcmp(last->family, of->family) && !strcmp(last->table, of->table) &&
		    !strcmp(last->chain, of->chain);

	return same ? last->number + 1 : 0;
}

static int tally_one(const struct nlmsghdr *nlh, void *arg)
{
	struct nft_tallies *t = arg;
	struct nftnl_rule *r = nftnl_rule_alloc();
	struct tally_rule found = {0};

	if (nftnl_rule_nlmsg_parse(nlh, r) == 0)
		nftnl_expr_foreach(r, tally_expr, &found);
	if (found.counts) {
		struct nft_tally one = {
		    .family = nft_family_name(nftnl_rule_get_u32(r, NFTNL_RULE_FAMILY)),
		    .table = arena_strdup(&t->arena, nftnl_rule_get_str(r, NFTNL_RULE_TABLE)),
		    .chain = arena_strdup(&t->arena, nftnl_rule_get_str(r, NFTNL_RULE_CHAIN)),
		    .comment = tally_comment_of(t, r),
		    .drops = found.drops,
		    .packets = found.packets,
		    .bytes = found.bytes,
		};
		one.number = tally_number(t, &one);
		*VEC_ADD(&t->arena, &t->v) = one;
	}
	nftnl_rule_free(r);
	return MNL_CB_OK;
}

int nft_tally_read(int fd, struct nft_tallies *out, struct err *err)
{
	int rc = -EAGAIN;

	for (int i = 0; rc == -EAGAIN && i < TALLY_TRIES; i++) {
		struct nl_batch batch = {0};

		out->v.n = 0;
		nft_put_header(nl_add(&batch, NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_GETRULE,
				      NLM_F_DUMP, "read the counters of rules"),
			       NFPROTO_UNSPEC, 0);
		rc = nl_dump(fd, &batch, tally_one, out, err);
		nl_batch_done(&batch);
	}
	return rc;
}

void nft_tally_done(struct nft_tallies *t)
{
	arena_done(&t->arena);
	*t = (struct nft_tallies){0};
}
