/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nft_hook: where a base chain hooks in, from nft's text. */
#ifndef VPCLAB_KERNEL_NFT_HOOK_H
#define VPCLAB_KERNEL_NFT_HOOK_H

#include <libnftnl/chain.h>

#include "core/base/err.h"

struct nft_hook {
	char type[16];
	int number, priority;
	int policy;	 /* NF_ACCEPT, NF_DROP, or -1: not said */
	char device[16]; /* "" where there is none */
};

/* "type filter hook ingress device \"x\" priority 0; policy accept;" */
int nft_hook_parse(int family, const char *text, struct nft_hook *out, struct err *err);

void nft_hook_set(const struct nft_hook *hook, struct nftnl_chain *chain);

#endif
