/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nft_rule: a rule in nft's language, compiled.
 *
 * Theory of operation. Text → tokens (nft_lex) → statements (nft_rule.c for what a rule does,
 * nft_match.c for what it compares) → merged statements (nft_merge.c) → libnftnl expressions
 * (nft_emit.c). Statements are a small language of our own: what is loaded, how it is compared. Two
 * things happen on the way that the text does not say, exactly as nft 1.0.6 does them so that
 * `nft list ruleset` shows the text again:
 *
 * - dependencies: "tcp dport 80" in an inet chain first compares meta l4proto with tcp; "ip saddr"
 *   in a bridge chain first compares meta protocol; and so on (nft_match.c);
 * - merging: comparisons of adjacent header fields become one (nft_merge.c).
 *
 * What is not understood is an error with its column. Not understood are: named sets, maps, vmaps,
 * concatenations but in a hash, bit operations, service names, logging and everything else that no
 * lab of ours writes.
 */
#ifndef VPCLAB_KERNEL_NFT_RULE_H
#define VPCLAB_KERNEL_NFT_RULE_H

#include <libnftnl/rule.h>
#include <stdint.h>

#include "core/base/mem.h"
#include "emulator/kernel/nft_value.h"

enum nft_from { NFT_FROM_PAYLOAD, NFT_FROM_META, NFT_FROM_CT };

struct nft_load {
	enum nft_from from;
	uint32_t key;	 /* payload base (NFT_PAYLOAD_…), meta key, or conntrack key */
	uint16_t offset; /* payload */
	uint16_t len;	 /* bytes */
};

enum nft_test {
	NFT_EQ,
	NFT_NEQ,
	NFT_IN_RANGE,
	NFT_NOT_IN_RANGE,
	NFT_IN_SET,
	NFT_NOT_IN_SET,
	NFT_ANY_BIT, /* any bit of mask */
};

struct nft_element { /* of a set */
	uint8_t key[NFT_VALUE_MAX];
	bool end;  /* where an interval ends (exclusive) */
	bool open; /* an interval that reaches the greatest value */
};

struct nft_match {
	struct nft_load load;
	enum nft_type type; /* of what was written */
	enum nft_test test;
	uint8_t value[NFT_VALUE_MAX], last[NFT_VALUE_MAX];
	uint8_t mask[NFT_VALUE_MAX];
	bool masked;   /* NFT_EQ, NFT_NEQ: compare after & mask */
	bool protocol; /* says which header comes next */
	bool interval; /* the set's elements are intervals */
	VEC(struct nft_element) set;
};

enum nft_stmt_kind {
	NFT_STMT_MATCH,
	NFT_STMT_COUNTER,
	NFT_STMT_LIMIT,
	NFT_STMT_VERDICT,
	NFT_STMT_REJECT,
	NFT_STMT_NAT,
	NFT_STMT_MASQUERADE,
	NFT_STMT_REDIRECT,
	NFT_STMT_DUP,
	NFT_STMT_FWD,
	NFT_STMT_SET,	/* meta or ct mark set N, meta priority set 1:10, … set jhash … */
	NFT_STMT_COUNT, /* ct count [over] N */
	NFT_STMT_NOTRACK,
};

struct nft_limit {
	uint64_t rate, unit_s;
	uint32_t burst;
	bool bytes, over;
};

struct nft_nat {
	int type, family;	     /* NFT_NAT_…, NFPROTO_… */
	struct nft_value addr, port; /* len 0: none */
	uint32_t flags;		     /* NF_NAT_RANGE_… */
};

#define NFT_HASH_LOADS 8

struct nft_hash { /* jhash of header fields; n 0: none */
	struct nft_load loads[NFT_HASH_LOADS];
	unsigned n;
	uint32_t modulus, seed, offset;
	bool seeded; /* else the kernel chooses a seed */
};

struct nft_stmt {
	enum nft_stmt_kind kind;
	union {
		struct nft_match match;
		struct {
			uint64_t packets, bytes;
		} counter;
		struct nft_limit limit;
		struct {
			int verdict;	   /* NF_ACCEPT, NFT_JUMP, … */
			const char *chain; /* of jump and goto */
		} verdict;
		struct {
			uint32_t type;
			uint8_t code;
		} reject;
		struct nft_nat nat; /* also masquerade and redirect: ports and flags */
		int ifindex;	    /* dup, fwd */
		struct {
			struct nft_load to; /* only from and key */
			uint32_t value;
			struct nft_hash hash; /* instead of the value */
		} set;
		struct {
			uint32_t most;
			bool over;
		} count;
	};
};

struct nft_rule {
	struct arena arena;
	int family; /* NFPROTO_… */
	VEC(struct nft_stmt) stmts;
	const char *comment; /* or NULL */
};

/*
 * Compiles text for a chain of `family` (NFPROTO_…). Errors: -EINVAL with column and what was
 * expected, -ENODEV for a device that is not there. nft_rule_done() is needed in either case.
 */
int nft_rule_compile(struct nft_rule *rule, int family, const char *text,
		     const struct nft_names *names, struct err *err);
void nft_rule_done(struct nft_rule *rule);

/*
 * Adds the rule's expressions to `out`. Anonymous sets get the identities *set_id, *set_id + 1, …
 * in the order of their lookups; *set_id is advanced.
 */
void nft_emit(const struct nft_rule *rule, struct nftnl_rule *out, uint32_t *set_id);

/* Adds what computes a hash into NFT_REG_1 (nft_hash.c). Called by nft_emit(). */
void nft_hash_emit(const struct nft_hash *h, struct nftnl_rule *out);

/* Merges comparisons of adjacent header fields. Called by nft_rule_compile(). */
void nft_merge(struct nft_rule *rule);

#endif
