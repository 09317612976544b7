/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nft_print: libnftnl objects as text for comparison. Inside of nft_dump. */
#ifndef VPCLAB_KERNEL_NFT_PRINT_H
#define VPCLAB_KERNEL_NFT_PRINT_H

#include <libnftnl/chain.h>
#include <libnftnl/rule.h>
#include <libnftnl/set.h>

#include "core/base/str.h"
#include "emulator/kernel/nft_rule.h"

/* Text of the elements of the set that the n-th lookup of a rule uses. */
struct nft_sets {
	const char *(*text)(void *arg, const char *name, size_t n);
	void *arg;
};

void nft_print_chain(const struct nftnl_chain *c, struct strbuf *out);
void nft_print_rule(const struct nftnl_rule *r, const struct nft_sets *sets, struct strbuf *out);
void nft_print_set(const struct nftnl_set *set, struct strbuf *out);	/* "{ … }" */
void nft_print_elements(const struct nft_match *m, struct strbuf *out); /* the same */
void nft_print_comment(const char *comment, struct strbuf *out);

#endif
