/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nft_hash: "jhash ip saddr . ip daddr mod 4 seed 0x1 offset 10": parsed, and as expressions.
 * Called by nft_match.c and nft_emit.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <libnftnl/expr.h>
#include <linux/netfilter/nf_tables.h>

#include "emulator/kernel/nft_match.h"

#define NFT_HASH_REG_BYTES 16 /* of NFT_REG_1 to 4; those of NFT_REG32_00 on have 4 */

static int nft_hash_number(struct nft_parser *p, uint32_t *n)
{
	char *end;

	if (p->lex.now.kind != NFT_WORD || p->lex.now.text[0] < '0' || p->lex.now.text[0] > '9')
		return nft_lex_error(&p->lex, "a number");
	unsigned long v = strtoul(p->lex.now.text, &end, 0);
	if (*end || v > UINT32_MAX)
		return nft_lex_error(&p->lex, "a number of 32 bits");
	*n = (uint32_t)v;
	return nft_lex_next(&p->lex);
}

static int nft_hash_fields(struct nft_parser *p, struct nft_hash *h)
{
	int more;

	do {
		if (h->n == NFT_HASH_LOADS)
			return nft_lex_error(&p->lex, "mod (no more than 8 fields)");
		int rc = nft_match_field(p, &h->loads[h->n]);
		if (rc == 0)
			return nft_lex_error(&p->lex, "a field such as ip saddr");
		if (rc < 0)
			return rc;
		h->n++;
		more = nft_lex_accept(&p->lex, ".");
	} while (more > 0);
	return more;
}

int nft_hash_parse(struct nft_parser *p, struct nft_hash *h)
{
	int rc = nft_hash_fields(p, h);

	if (rc == 0)
		rc = nft_lex_expect(&p->lex, "mod");
	if (rc == 0)
		rc = nft_hash_number(p, &h->modulus);
	if (rc == 0 && !h->modulus)
		return nft_lex_error(&p->lex, "a modulus above 0");
	if (rc == 0)
		rc = nft_lex_accept(&p->lex, "seed");
	h->seeded = rc > 0;
	if (rc > 0)
		rc = nft_hash_number(p, &h->seed);
	if (rc == 0)
		rc = nft_lex_accept(&p->lex, "offset");
	if (rc > 0)
		rc = nft_hash_number(p, &h->offset);
	return rc;
}

/* The register `bytes` after the start of NFT_REG_2, by the name that the kernel gives it. */
static uint32_t nft_hash_reg(unsigned bytes)
{
	if (bytes % NFT_HASH_REG_BYTES == 0)
		return NFT_REG_2 + bytes / NFT_HASH_REG_BYTES;
	return NFT_REG32_00 + (NFT_HASH_REG_BYTES + bytes) / NFT_REG32_SIZE;
}

static void nft_hash_load(const struct nft_load *l, uint32_t reg, struct nftnl_rule *out)
{
	bool payload = l->from == NFT_FROM_PAYLOAD, meta = l->from == NFT_FROM_META;
	struct nftnl_expr *e = nftnl_expr_alloc(payload ? "payload" : meta ? "meta" : "ct");

	if (!e)
		abort(); /* no memory */
	if (payload) {
		nftnl_expr_set_u32(e, NFTNL_EXPR_PAYLOAD_DREG, reg);
		nftnl_expr_set_u32(e, NFTNL_EXPR_PAYLOAD_BASE, l->key);
		nftnl_expr_set_u32(e, NFTNL_EXPR_PAYLOAD_OFFSET, l->offset);
		nftnl_expr_set_u32(e, NFTNL_EXPR_PAYLOAD_LEN, l->len);
	} else {
		nftnl_expr_set_u32(e, meta ? NFTNL_EXPR_META_KEY : NFTNL_EXPR_CT_KEY, l->key);
		nftnl_expr_set_u32(e, meta ? NFTNL_EXPR_META_DREG : NFTNL_EXPR_CT_DREG, reg);
	}
	nftnl_rule_add_expr(out, e);
}

/* Each field takes whole registers of four bytes, the rest of which the kernel clears. */
void nft_hash_emit(const struct nft_hash *h, struct nftnl_rule *out)
{
	unsigned bytes = 0;

	for (unsigned i = 0; i < h->n; i++) {
		nft_hash_load(&h->loads[i], nft_hash_reg(bytes), out);
		bytes += (h->loads[i].len + NFT_REG32_SIZE - 1u) / NFT_REG32_SIZE * NFT_REG32_SIZE;
	}
	struct nftnl_expr *e = nftnl_expr_alloc("hash");
	if (!e)
		abort();
	nftnl_expr_set_u32(e, NFTNL_EXPR_HASH_SREG, NFT_REG_2);
	nftnl_expr_set_u32(e, NFTNL_EXPR_HASH_DREG, NFT_REG_1);
	nftnl_expr_set_u32(e, NFTNL_EXPR_HASH_LEN, bytes);
	nftnl_expr_set_u32(e, NFTNL_EXPR_HASH_MODULUS, h->modulus);
	if (h->seeded)
		nftnl_expr_set_u32(e, NFTNL_EXPR_HASH_SEED, h->seed);
	nftnl_expr_set_u32(e, NFTNL_EXPR_HASH_OFFSET, h->offset);
	nftnl_expr_set_u32(e, NFTNL_EXPR_HASH_TYPE, NFT_HASH_JENKINS);
	nftnl_rule_add_expr(out, e);
}
