/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nft_handle: reads the handles of a chain's rules. Called by emulator/lab/change_inside.c. */
#include <errno.h>
#include <libnftnl/rule.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>

#include "emulator/kernel/nft.h"

struct nft_handles {
	uint64_t *out;
	size_t n, found;
};

static int nft_handle_rule(const struct nlmsghdr *nlh, void *arg)
{
	struct nft_handles *h = arg;
	struct nftnl_rule *r = nftnl_rule_alloc();

	if (nftnl_rule_nlmsg_parse(nlh, r) == 0) {
		if (h->found < h->n)
			h->out[h->found] = nftnl_rule_get_u64(r, NFTNL_RULE_HANDLE);
		h->found++;
	}
	nftnl_rule_free(r);
	return MNL_CB_OK;
}

int nft_rule_handles(int fd, const struct nft_place *at, uint64_t *handles, size_t n,
		     struct err *err)
{
	struct nft_handles h = {.out = handles, .n = n};
	struct nl_batch batch = {0};
	int family = nft_family(at->family, err);

	if (family < 0)
		return family;
	struct nlmsghdr *nlh =
	    nl_add(&batch, NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_GETRULE, NLM_F_DUMP,
		   "read the rules of chain %s %s %s", at->family, at->table, at->chain);
	struct nfgenmsg *nfg = mnl_nlmsg_put_extra_header(nlh, sizeof(*nfg));
	nfg->nfgen_family = (uint8_t)family;
	mnl_attr_put_strz(nlh, NFTA_RULE_TABLE, at->table);
	mnl_attr_put_strz(nlh, NFTA_RULE_CHAIN, at->chain);
	int rc = nl_dump(fd, &batch, nft_handle_rule, &h, err);
	nl_batch_done(&batch);
	if (rc == 0 && h.found != n)
		rc = err_sys(err, ENOENT, "chain %s %s %s has %zu rules where %zu should be",
			     at->family, at->table, at->chain, h.found, n);
	return rc;
}
