/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nft_tally: the counters of all rules of a namespace, in one reading. */
#ifndef VPCLAB_KERNEL_NFT_TALLY_H
#define VPCLAB_KERNEL_NFT_TALLY_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/err.h"
#include "core/base/mem.h"

struct nft_tally {
	const char *family, *table, *chain;
	const char *comment; /* or NULL */
	int number;	     /* of the rules of its chain that count: 0, 1, … */
	bool drops;	     /* its verdict is drop */
	uint64_t packets, bytes;
};

struct nft_tallies { /* zeroed is empty */
	struct arena arena;
	VEC(struct nft_tally) v;
};

/* Reads by `fd`, a NETLINK_NETFILTER socket, into `out`, which it empties first. */
int nft_tally_read(int fd, struct nft_tallies *out, struct err *err);
void nft_tally_done(struct nft_tallies *t);

#endif
