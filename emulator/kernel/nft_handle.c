/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nft_handle: reads handles and counters of a chain's rules. Called by lab/change_inside.c
 * and lab/count_inside.c. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <libnftnl/expr.h>
#include <libnftnl/rule.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>

#include "emulator/kernel/nft.h"

struct nft_handles {
	struct nft_rule_now *out;
	size_t n, found;
};

static int nft_handle_expr(struct nftnl_expr *e, void *arg)
{
	struct nft_rule_now *now = arg;

	if (strcmp(nftnl_expr_get_str(e, NFTNL_EXPR_NAME), "counter") == 0)
		now->counter = (struct nft_counter){
		    .packets = nftnl_expr_get_u64(e, NFTNL_EXPR_CTR_PACKETS),
		    .bytes = nftnl_expr_get_u64(e, NFTNL_EXPR_CTR_BYTES),
		};
	return 0;
}

static int nft_handle_rule(const struct nlmsghdr *nlh, void *arg)
{
	struct nft_handles *h = arg;
	struct nftnl_rule *r = nftnl_rule_alloc();

	if (nftnl_rule_nlmsg_parse(nlh, r) == 0) {
		if (h->found < h->n) {
			struct nft_rule_now *now = &h->out[h->found];

			*now = (struct nft_rule_now){.handle =
							 nftnl_rule_get_u64(r, NFTNL_RULE_HANDLE)};
			nftnl_expr_foreach(r, nft_handle_expr, now);
		}
		h->found++;
	}
	nftnl_rule_free(r);
	return MNL_CB_OK;
}

int nft_read_rules(int fd, const struct nft_place *at, struct nft_rule_now *out, size_t n,
		   struct err *err)
{
	struct nft_handles h = {.out = out, .n = n};
	struct nl_batch batch = {0};
	int family = nft_family(at->family, err);

	if (family < 0)
		return family;
	struct nlmsghdr *nlh =
	    nl_add(&batch, NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_GETRULE, NLM_F_DUMP,
		   "read the rules of chain %s %s %s", at->family, at->table, at->chain);
	nft_put_header(nlh, family, 0);
	mnl_attr_put_strz(nlh, NFTA_RULE_TABLE, at->table);
	mnl_attr_put_strz(nlh, NFTA_RULE_CHAIN, at->chain);
	int rc = nl_dump(fd, &batch, nft_handle_rule, &h, err);
	nl_batch_done(&batch);
	if (rc == 0 && h.found != n)
		rc = err_sys(err, ENOENT, "chain %s %s %s has %zu rules where %zu should be",
			     at->family, at->table, at->chain, h.found, n);
	return rc;
}
