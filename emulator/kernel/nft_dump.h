/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nft_dump: nftables rulesets as lines of text, from the kernel or from what is expected, in one
 * form so that they can be compared. Counters' values, handles and names of anonymous sets are left
 * out.
 */
#ifndef VPCLAB_KERNEL_NFT_DUMP_H
#define VPCLAB_KERNEL_NFT_DUMP_H

#include "core/base/mem.h"
#include "core/base/str.h"
#include "emulator/kernel/nft.h"

struct nft_line {
	const char *chain; /* "ip nat prerouting" */
	const char *text;  /* of the chain itself ("hook …"), or of a rule */
	bool rule;	   /* rules of a chain are in order */
};

struct nft_ruleset {
	struct arena arena;
	VEC(struct nft_line) lines;
};

void nft_ruleset_done(struct nft_ruleset *r);

/* Reads the ruleset of the namespace of `fd` (NETLINK_NETFILTER). `out` is initialised here. */
int nft_dump(int fd, struct nft_ruleset *out, struct err *err);

/* Expected lines; `out` is zeroed, or has lines already. */
int nft_expect_chain(struct nft_ruleset *out, const struct nft_place *at, const char *hook,
		     struct err *err);
int nft_expect_rule(struct nft_ruleset *out, const struct nft_place *at, const char *text,
		    const char *comment, const struct nft_names *names, struct err *err);
void nft_expect_arpreply(struct nft_ruleset *out, const struct nft_arpreply *a);

/* One line per difference, each after `prefix`; adds to *n. */
void nft_ruleset_compare(const struct nft_ruleset *expected, const struct nft_ruleset *actual,
			 const char *prefix, struct strbuf *out, size_t *n);

#endif
