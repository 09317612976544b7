/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nft_match: comparisons in a rule ("ip saddr 10.0.0.0/24", "tcp dport { 22, 80 }"). */
#ifndef VPCLAB_KERNEL_NFT_MATCH_H
#define VPCLAB_KERNEL_NFT_MATCH_H

#include "core/base/str.h"
#include "emulator/kernel/nft_lex.h"
#include "emulator/kernel/nft_rule.h"

struct nft_parser {
	struct nft_lex lex;
	struct nft_rule *rule;
	const struct nft_names *names;
	/* What the packet is known to be at this point of the rule. */
	bool ether;	  /* has an Ethernet header */
	uint16_t network; /* Ethernet type of the network header, 0: not known */
	int transport;	  /* IP protocol, -1: not known */
};

/* 1: one comparison was added, with what it depends on. 0: the current token starts none. */
int nft_match_parse(struct nft_parser *p);

/* Adds a comparison with this Ethernet type, IP protocol, where the rule does not imply it yet. */
int nft_match_need_network(struct nft_parser *p, uint16_t ethertype);
int nft_match_need_transport(struct nft_parser *p, int protocol);

/*
 * Reads the words of a field ("ip saddr") and adds what they depend on; *load is then how to get
 * it. 1; 0: the current token starts no field.
 */
int nft_match_field(struct nft_parser *p, struct nft_load *load);

/* "jhash" is read: its fields, modulus, seed and offset (nft_hash.c). */
int nft_hash_parse(struct nft_parser *p, struct nft_hash *h);

/* Reads the current token as a value of the type, and steps over it. */
int nft_match_value(struct nft_parser *p, enum nft_type type, struct nft_value *v);

#endif
