/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nft_arpreply: the one thing of the labs that nft's language cannot say: an xtables match and
 * target inside an nftables rule (nft_compat), as ebtables-nft writes them. Called by nft.c and by
 * emulator/lab/check.c.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <libnftnl/expr.h>
#include <linux/if_ether.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter_bridge/ebt_arp.h>
#include <linux/netfilter_bridge/ebt_arpreply.h>

#include "emulator/kernel/nft.h"

#define NFT_XT_ALIGN(n) (((n) + 7) & ~(size_t)7)
#define ARP_REQUEST	1
#define NFT_EBT_DROP	(-2) /* EBT_DROP of ebtables.h: what becomes of the request itself */

static struct nftnl_expr *nft_arpreply_expr(struct nftnl_rule *out, const char *name)
{
	struct nftnl_expr *e = nftnl_expr_alloc(name);

	if (!e)
		abort();
	nftnl_rule_add_expr(out, e);
	return e;
}

static void nft_arpreply_cmp(struct nftnl_rule *out, const void *data, size_t len)
{
	struct nftnl_expr *e = nft_arpreply_expr(out, "cmp");

	nftnl_expr_set_u32(e, NFTNL_EXPR_CMP_SREG, NFT_REG_1);
	nftnl_expr_set_u32(e, NFTNL_EXPR_CMP_OP, NFT_CMP_EQ);
	nftnl_expr_set(e, NFTNL_EXPR_CMP_DATA, data, (uint32_t)len);
}

/* meta iifname DEV, ether type arp */
static void nft_arpreply_plain(const struct nft_arpreply *a, struct nftnl_rule *out)
{
	uint16_t type = htons(ETH_P_ARP);
	struct nftnl_expr *e = nft_arpreply_expr(out, "meta");

	nftnl_expr_set_u32(e, NFTNL_EXPR_META_KEY, NFT_META_IIFNAME);
	nftnl_expr_set_u32(e, NFTNL_EXPR_META_DREG, NFT_REG_1);
	nft_arpreply_cmp(out, a->dev, strlen(a->dev) + 1);
	e = nft_arpreply_expr(out, "payload");
	nftnl_expr_set_u32(e, NFTNL_EXPR_PAYLOAD_DREG, NFT_REG_1);
	nftnl_expr_set_u32(e, NFTNL_EXPR_PAYLOAD_BASE, NFT_PAYLOAD_LL_HEADER);
	nftnl_expr_set_u32(e, NFTNL_EXPR_PAYLOAD_OFFSET, offsetof(struct ethhdr, h_proto));
	nftnl_expr_set_u32(e, NFTNL_EXPR_PAYLOAD_LEN, sizeof(type));
	nft_arpreply_cmp(out, &type, sizeof(type));
}

static void nft_arpreply_match(const struct nft_arpreply *a, struct nftnl_rule *out)
{
	struct ebt_arp_info *info = mem_zalloc(NFT_XT_ALIGN(sizeof(*info)));
	struct nftnl_expr *e = nft_arpreply_expr(out, "match");

	info->opcode = htons(ARP_REQUEST);
	memcpy(&info->daddr, a->ip.bytes, sizeof(info->daddr));
	info->dmsk = UINT32_MAX;
	info->bitmask = EBT_ARP_OPCODE | EBT_ARP_DST_IP;
	nftnl_expr_set_str(e, NFTNL_EXPR_MT_NAME, EBT_ARP_MATCH);
	nftnl_expr_set_u32(e, NFTNL_EXPR_MT_REV, 0);
	/* libnftnl takes the memory */
	nftnl_expr_set(e, NFTNL_EXPR_MT_INFO, info, (uint32_t)NFT_XT_ALIGN(sizeof(*info)));
}

static void nft_arpreply_target(const struct nft_arpreply *a, struct nftnl_rule *out)
{
	struct ebt_arpreply_info *info = mem_zalloc(NFT_XT_ALIGN(sizeof(*info)));
	struct nftnl_expr *e = nft_arpreply_expr(out, "target");

	memcpy(info->mac, a->mac.bytes, sizeof(info->mac));
	info->target = NFT_EBT_DROP;
	nftnl_expr_set_str(e, NFTNL_EXPR_TG_NAME, EBT_ARPREPLY_TARGET);
	nftnl_expr_set_u32(e, NFTNL_EXPR_TG_REV, 0);
	nftnl_expr_set(e, NFTNL_EXPR_TG_INFO, info, (uint32_t)NFT_XT_ALIGN(sizeof(*info)));
}

void nft_arpreply_rule(const struct nft_arpreply *a, struct nftnl_rule *out)
{
	nftnl_rule_set_u32(out, NFTNL_RULE_COMPAT_PROTO, htons(ETH_P_ARP));
	nftnl_rule_set_u32(out, NFTNL_RULE_COMPAT_FLAGS, 0);
	nft_arpreply_plain(a, out);
	nft_arpreply_match(a, out);
	nft_arpreply_expr(out, "counter");
	nft_arpreply_target(a, out);
}
