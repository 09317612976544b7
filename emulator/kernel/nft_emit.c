/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nft_emit: statements as libnftnl expressions. Register use is that of nft 1.0.6 (one value at a
 * time in NFT_REG_1; address, first and last port of a translation in NFT_REG_1 to 3), since a
 * listing shows it. Called by nft.c.
 */
#include "emulator/kernel/nft_rule.h"

#include <libnftnl/expr.h>
#include <string.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>

static struct nftnl_expr *nft_emit_new(struct nftnl_rule *out, const char *name)
{
	struct nftnl_expr *e = nftnl_expr_alloc(name);

	if (!e)
		abort(); /* no memory, or a name that libnftnl does not know: our mistake */
	nftnl_rule_add_expr(out, e);
	return e;
}

static void nft_emit_load(const struct nft_load *l, struct nftnl_rule *out)
{
	struct nftnl_expr *e;

	switch (l->from) {
	case NFT_FROM_PAYLOAD:
		e = nft_emit_new(out, "payload");
		nftnl_expr_set_u32(e, NFTNL_EXPR_PAYLOAD_DREG, NFT_REG_1);
		nftnl_expr_set_u32(e, NFTNL_EXPR_PAYLOAD_BASE, l->key);
		nftnl_expr_set_u32(e, NFTNL_EXPR_PAYLOAD_OFFSET, l->offset);
		nftnl_expr_set_u32(e, NFTNL_EXPR_PAYLOAD_LEN, l->len);
		break;
	case NFT_FROM_META:
		e = nft_emit_new(out, "meta");
		nftnl_expr_set_u32(e, NFTNL_EXPR_META_KEY, l->key);
		nftnl_expr_set_u32(e, NFTNL_EXPR_META_DREG, NFT_REG_1);
		break;
	case NFT_FROM_CT:
		e = nft_emit_new(out, "ct");
		nftnl_expr_set_u32(e, NFTNL_EXPR_CT_KEY, l->key);
		nftnl_expr_set_u32(e, NFTNL_EXPR_CT_DREG, NFT_REG_1);
		break;
	}
}

static void nft_emit_cmp(struct nftnl_rule *out, uint32_t op, const void *value, uint32_t len)
{
	struct nftnl_expr *e = nft_emit_new(out, "cmp");

	nftnl_expr_set_u32(e, NFTNL_EXPR_CMP_SREG, NFT_REG_1);
	nftnl_expr_set_u32(e, NFTNL_EXPR_CMP_OP, op);
	nftnl_expr_set(e, NFTNL_EXPR_CMP_DATA, value, len);
}

static void nft_emit_mask(struct nftnl_rule *out, const void *mask, uint32_t len)
{
	static const uint8_t zero[NFT_VALUE_MAX];
	struct nftnl_expr *e = nft_emit_new(out, "bitwise");

	nftnl_expr_set_u32(e, NFTNL_EXPR_BITWISE_SREG, NFT_REG_1);
	nftnl_expr_set_u32(e, NFTNL_EXPR_BITWISE_DREG, NFT_REG_1);
	nftnl_expr_set_u32(e, NFTNL_EXPR_BITWISE_OP, NFT_BITWISE_BOOL);
	nftnl_expr_set_u32(e, NFTNL_EXPR_BITWISE_LEN, len);
	nftnl_expr_set(e, NFTNL_EXPR_BITWISE_MASK, mask, len);
	nftnl_expr_set(e, NFTNL_EXPR_BITWISE_XOR, zero, len);
}

static void nft_emit_not_range(const struct nft_match *m, struct nftnl_rule *out)
{
	struct nftnl_expr *e = nft_emit_new(out, "range");

	nftnl_expr_set_u32(e, NFTNL_EXPR_RANGE_SREG, NFT_REG_1);
	nftnl_expr_set_u32(e, NFTNL_EXPR_RANGE_OP, NFT_RANGE_NEQ);
	nftnl_expr_set(e, NFTNL_EXPR_RANGE_FROM_DATA, m->value, m->load.len);
	nftnl_expr_set(e, NFTNL_EXPR_RANGE_TO_DATA, m->last, m->load.len);
}

static void nft_emit_lookup(const struct nft_match *m, struct nftnl_rule *out, uint32_t set_id)
{
	struct nftnl_expr *e = nft_emit_new(out, "lookup");

	nftnl_expr_set_u32(e, NFTNL_EXPR_LOOKUP_SREG, NFT_REG_1);
	nftnl_expr_set_str(e, NFTNL_EXPR_LOOKUP_SET, "__set%d");
	nftnl_expr_set_u32(e, NFTNL_EXPR_LOOKUP_SET_ID, set_id);
	if (m->test == NFT_NOT_IN_SET)
		nftnl_expr_set_u32(e, NFTNL_EXPR_LOOKUP_FLAGS, NFT_LOOKUP_F_INV);
}

static void nft_emit_match(const struct nft_match *m, struct nftnl_rule *out, uint32_t *set_id)
{
	static const uint8_t zero[NFT_VALUE_MAX];
	uint32_t len = m->load.len;

	nft_emit_load(&m->load, out);
	switch (m->test) {
	case NFT_EQ:
	case NFT_NEQ:
		if (m->masked)
			nft_emit_mask(out, m->mask, len);
		nft_emit_cmp(out, m->test == NFT_EQ ? NFT_CMP_EQ : NFT_CMP_NEQ, m->value, len);
		break;
	case NFT_IN_RANGE:
		nft_emit_cmp(out, NFT_CMP_GTE, m->value, len);
		nft_emit_cmp(out, NFT_CMP_LTE, m->last, len);
		break;
	case NFT_NOT_IN_RANGE:
		nft_emit_not_range(m, out);
		break;
	case NFT_IN_SET:
	case NFT_NOT_IN_SET:
		nft_emit_lookup(m, out, (*set_id)++);
		break;
	case NFT_ANY_BIT:
		nft_emit_mask(out, m->mask, len);
		nft_emit_cmp(out, NFT_CMP_NEQ, zero, len);
		break;
	}
}

static void nft_emit_immediate(struct nftnl_rule *out, uint32_t reg, const void *data, uint32_t len)
{
	struct nftnl_expr *e = nft_emit_new(out, "immediate");

	nftnl_expr_set_u32(e, NFTNL_EXPR_IMM_DREG, reg);
	nftnl_expr_set(e, NFTNL_EXPR_IMM_DATA, data, len);
}

static void nft_emit_verdict(const struct nft_stmt *s, struct nftnl_rule *out)
{
	struct nftnl_expr *e = nft_emit_new(out, "immediate");

	nftnl_expr_set_u32(e, NFTNL_EXPR_IMM_DREG, NFT_REG_VERDICT);
	nftnl_expr_set_u32(e, NFTNL_EXPR_IMM_VERDICT, (uint32_t)s->verdict.verdict);
	if (s->verdict.chain)
		nftnl_expr_set_str(e, NFTNL_EXPR_IMM_CHAIN, s->verdict.chain);
}

static void nft_emit_limit(const struct nft_limit *l, struct nftnl_rule *out)
{
	struct nftnl_expr *e = nft_emit_new(out, "limit");

	nftnl_expr_set_u64(e, NFTNL_EXPR_LIMIT_RATE, l->rate);
	nftnl_expr_set_u64(e, NFTNL_EXPR_LIMIT_UNIT, l->unit_s);
	nftnl_expr_set_u32(e, NFTNL_EXPR_LIMIT_TYPE,
			   l->bytes ? NFT_LIMIT_PKT_BYTES : NFT_LIMIT_PKTS);
	nftnl_expr_set_u32(e, NFTNL_EXPR_LIMIT_BURST, l->burst);
	nftnl_expr_set_u32(e, NFTNL_EXPR_LIMIT_FLAGS, l->over ? NFT_LIMIT_F_INV : 0);
}

/* Loads the ports from register `reg` on; tells the registers by the attributes min, max. */
static void nft_emit_ports(const struct nft_nat *n, struct nftnl_rule *out, uint32_t reg)
{
	if (!n->port.len)
		return;
	nft_emit_immediate(out, reg, n->port.first, n->port.len);
	if (n->port.range)
		nft_emit_immediate(out, reg + 1, n->port.last, n->port.len);
}

static void nft_emit_nat(const struct nft_nat *n, struct nftnl_rule *out)
{
	uint32_t reg = NFT_REG_1, max = 0;

	nft_emit_immediate(out, reg++, n->addr.first, n->addr.len);
	if (n->addr.range) {
		max = reg++;
		nft_emit_immediate(out, max, n->addr.last, n->addr.len);
	}
	nft_emit_ports(n, out, reg);
	struct nftnl_expr *e = nft_emit_new(out, "nat");
	nftnl_expr_set_u32(e, NFTNL_EXPR_NAT_TYPE, (uint32_t)n->type);
	nftnl_expr_set_u32(e, NFTNL_EXPR_NAT_FAMILY, (uint32_t)n->family);
	nftnl_expr_set_u32(e, NFTNL_EXPR_NAT_REG_ADDR_MIN, NFT_REG_1);
	if (max)
		nftnl_expr_set_u32(e, NFTNL_EXPR_NAT_REG_ADDR_MAX, max);
	if (n->port.len)
		nftnl_expr_set_u32(e, NFTNL_EXPR_NAT_REG_PROTO_MIN, reg);
	if (n->port.range)
		nftnl_expr_set_u32(e, NFTNL_EXPR_NAT_REG_PROTO_MAX, reg + 1);
	if (n->flags)
		nftnl_expr_set_u32(e, NFTNL_EXPR_NAT_FLAGS, n->flags);
}

static void nft_emit_masquerade(const struct nft_nat *n, struct nftnl_rule *out)
{
	nft_emit_ports(n, out, NFT_REG_1);
	struct nftnl_expr *e = nft_emit_new(out, "masq");
	if (n->flags)
		nftnl_expr_set_u32(e, NFTNL_EXPR_MASQ_FLAGS, n->flags);
	if (n->port.len)
		nftnl_expr_set_u32(e, NFTNL_EXPR_MASQ_REG_PROTO_MIN, NFT_REG_1);
	if (n->port.range)
		nftnl_expr_set_u32(e, NFTNL_EXPR_MASQ_REG_PROTO_MAX, NFT_REG_2);
}

static void nft_emit_redirect(const struct nft_nat *n, struct nftnl_rule *out)
{
	nft_emit_ports(n, out, NFT_REG_1);
	struct nftnl_expr *e = nft_emit_new(out, "redir");
	if (n->port.len)
		nftnl_expr_set_u32(e, NFTNL_EXPR_REDIR_REG_PROTO_MIN, NFT_REG_1);
	if (n->port.range)
		nftnl_expr_set_u32(e, NFTNL_EXPR_REDIR_REG_PROTO_MAX, NFT_REG_2);
	if (n->flags)
		nftnl_expr_set_u32(e, NFTNL_EXPR_REDIR_FLAGS, n->flags);
}

static void nft_emit_device(const struct nft_stmt *s, struct nftnl_rule *out)
{
	bool dup = s->kind == NFT_STMT_DUP;

	nft_emit_immediate(out, NFT_REG_1, &s->ifindex, sizeof(s->ifindex));
	struct nftnl_expr *e = nft_emit_new(out, dup ? "dup" : "fwd");
	nftnl_expr_set_u32(e, dup ? NFTNL_EXPR_DUP_SREG_DEV : NFTNL_EXPR_FWD_SREG_DEV, NFT_REG_1);
}

static void nft_emit_set(const struct nft_stmt *s, struct nftnl_rule *out)
{
	bool meta = s->set.to.from == NFT_FROM_META;

	if (s->set.hash.n)
		nft_hash_emit(&s->set.hash, out);
	else
		nft_emit_immediate(out, NFT_REG_1, &s->set.value, sizeof(s->set.value));
	struct nftnl_expr *e = nft_emit_new(out, meta ? "meta" : "ct");
	nftnl_expr_set_u32(e, meta ? NFTNL_EXPR_META_KEY : NFTNL_EXPR_CT_KEY, s->set.to.key);
	nftnl_expr_set_u32(e, meta ? NFTNL_EXPR_META_SREG : NFTNL_EXPR_CT_SREG, NFT_REG_1);
}

static void nft_emit_stmt(const struct nft_stmt *s, struct nftnl_rule *out, uint32_t *set_id)
{
	struct nftnl_expr *e;

	switch (s->kind) {
	case NFT_STMT_MATCH:
		nft_emit_match(&s->match, out, set_id);
		break;
	case NFT_STMT_COUNTER:
		e = nft_emit_new(out, "counter");
		nftnl_expr_set_u64(e, NFTNL_EXPR_CTR_PACKETS, s->counter.packets);
		nftnl_expr_set_u64(e, NFTNL_EXPR_CTR_BYTES, s->counter.bytes);
		break;
	case NFT_STMT_LIMIT:
		nft_emit_limit(&s->limit, out);
		break;
	case NFT_STMT_VERDICT:
		nft_emit_verdict(s, out);
		break;
	case NFT_STMT_REJECT:
		e = nft_emit_new(out, "reject");
		nftnl_expr_set_u32(e, NFTNL_EXPR_REJECT_TYPE, s->reject.type);
		nftnl_expr_set_u8(e, NFTNL_EXPR_REJECT_CODE, s->reject.code);
		break;
	case NFT_STMT_NAT:
		nft_emit_nat(&s->nat, out);
		break;
	case NFT_STMT_MASQUERADE:
		nft_emit_masquerade(&s->nat, out);
		break;
	case NFT_STMT_REDIRECT:
		nft_emit_redirect(&s->nat, out);
		break;
	case NFT_STMT_DUP:
	case NFT_STMT_FWD:
		nft_emit_device(s, out);
		break;
	case NFT_STMT_SET:
		nft_emit_set(s, out);
		break;
	case NFT_STMT_COUNT:
		e = nft_emit_new(out, "connlimit");
		nftnl_expr_set_u32(e, NFTNL_EXPR_CONNLIMIT_COUNT, s->count.most);
		nftnl_expr_set_u32(e, NFTNL_EXPR_CONNLIMIT_FLAGS,
				   s->count.over ? NFT_CONNLIMIT_F_INV : 0);
		break;
	case NFT_STMT_NOTRACK:
		nft_emit_new(out, "notrack");
		break;
	}
}

void nft_emit(const struct nft_rule *rule, struct nftnl_rule *out, uint32_t *set_id)
{
	VEC_FOREACH (s, &rule->stmts)
		nft_emit_stmt(s, out, set_id);
}
