/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nft_print: one text for the same thing, whether the kernel tells it or we built it. libnftnl's
 * own text is used where it is the same in both; what the kernel adds by itself is left out. Called
 * by nft_dump.c.
 */
#include "emulator/kernel/nft_print.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <libnftnl/expr.h>
#include <libnftnl/udata.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_nat.h>
#include <linux/netfilter/nf_tables.h>

static void nft_print_hex(struct strbuf *out, const uint8_t *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		strbuf_addf(out, "%02x", bytes[i]);
}

void nft_print_chain(const struct nftnl_chain *c, struct strbuf *out)
{
	if (!nftnl_chain_is_set(c, NFTNL_CHAIN_HOOKNUM)) {
		strbuf_add(out, "chain");
		return;
	}
	uint32_t policy = nftnl_chain_is_set(c, NFTNL_CHAIN_POLICY)
			      ? nftnl_chain_get_u32(c, NFTNL_CHAIN_POLICY)
			      : NF_ACCEPT;
	strbuf_addf(
	    out, "chain type %s hook %u priority %d policy %s",
	    nftnl_chain_get_str(c, NFTNL_CHAIN_TYPE), nftnl_chain_get_u32(c, NFTNL_CHAIN_HOOKNUM),
	    nftnl_chain_get_s32(c, NFTNL_CHAIN_PRIO), policy == NF_ACCEPT ? "accept" : "drop");
	if (nftnl_chain_is_set(c, NFTNL_CHAIN_DEV))
		strbuf_addf(out, " device %s", nftnl_chain_get_str(c, NFTNL_CHAIN_DEV));
}

static void nft_print_reg(struct strbuf *out, const struct nftnl_expr *e, uint16_t attr,
			  const char *name)
{
	uint32_t reg = nftnl_expr_is_set(e, attr) ? nftnl_expr_get_u32(e, attr) : 0;

	/* Old and new numbering of the first registers (NFT_REG_1, NFT_REG32_00). */
	if (reg >= NFT_REG32_00)
		reg = (reg - NFT_REG32_00) / 4 + NFT_REG_1;
	if (reg)
		strbuf_addf(out, " %s %u", name, reg);
}

/* nat, masq and redir by their attributes; 0: has none. */
static const struct nft_print_nat {
	const char *name;
	uint16_t type, family, addr_min, addr_max, port_min, port_max, flags;
} nft_print_nats[] = {
    {"nat", NFTNL_EXPR_NAT_TYPE, NFTNL_EXPR_NAT_FAMILY, NFTNL_EXPR_NAT_REG_ADDR_MIN,
     NFTNL_EXPR_NAT_REG_ADDR_MAX, NFTNL_EXPR_NAT_REG_PROTO_MIN, NFTNL_EXPR_NAT_REG_PROTO_MAX,
     NFTNL_EXPR_NAT_FLAGS},
    {"masq", 0, 0, 0, 0, NFTNL_EXPR_MASQ_REG_PROTO_MIN, NFTNL_EXPR_MASQ_REG_PROTO_MAX,
     NFTNL_EXPR_MASQ_FLAGS},
    {"redir", 0, 0, 0, 0, NFTNL_EXPR_REDIR_REG_PROTO_MIN, NFTNL_EXPR_REDIR_REG_PROTO_MAX,
     NFTNL_EXPR_REDIR_FLAGS},
};

static void nft_print_pair(struct strbuf *out, const struct nftnl_expr *e, uint16_t min,
			   uint16_t max, const char *name)
{
	if (!min)
		return;
	nft_print_reg(out, e, min, name);
	if (nftnl_expr_is_set(e, max) && nftnl_expr_get_u32(e, max) != nftnl_expr_get_u32(e, min))
		nft_print_reg(out, e, max, "to");
}

/* The kernel fills in maxima that were not given, and flags that follow from the registers. */
static bool nft_print_nat(struct strbuf *out, const struct nftnl_expr *e, const char *name)
{
	const struct nft_print_nat *n = nft_print_nats;

	while (n < nft_print_nats + ARRAY_SIZE(nft_print_nats) && strcmp(n->name, name))
		n++;
	if (n == nft_print_nats + ARRAY_SIZE(nft_print_nats))
		return false;
	strbuf_add(out, name);
	if (n->type)
		strbuf_addf(out, " %s family %u",
			    nftnl_expr_get_u32(e, n->type) == NFT_NAT_SNAT ? "source"
									   : "destination",
			    nftnl_expr_get_u32(e, n->family));
	nft_print_pair(out, e, n->addr_min, n->addr_max, "addr");
	nft_print_pair(out, e, n->port_min, n->port_max, "port");
	uint32_t flags = nftnl_expr_is_set(e, n->flags) ? nftnl_expr_get_u32(e, n->flags) : 0;
	flags &= ~(uint32_t)(NF_NAT_RANGE_MAP_IPS | NF_NAT_RANGE_PROTO_SPECIFIED);
	strbuf_addf(out, " flags %u", flags);
	return true;
}

static void nft_print_xt(struct strbuf *out, const struct nftnl_expr *e, bool match)
{
	uint32_t len;
	const uint8_t *info =
	    nftnl_expr_get(e, match ? NFTNL_EXPR_MT_INFO : NFTNL_EXPR_TG_INFO, &len);

	strbuf_addf(out, "%s %s ", match ? "match" : "target",
		    nftnl_expr_get_str(e, match ? NFTNL_EXPR_MT_NAME : NFTNL_EXPR_TG_NAME));
	nft_print_hex(out, info, len);
}

static void nft_print_lookup(struct strbuf *out, const struct nftnl_expr *e,
			     const struct nft_sets *sets, size_t n)
{
	const char *name = nftnl_expr_get_str(e, NFTNL_EXPR_LOOKUP_SET);
	bool inverse = nftnl_expr_is_set(e, NFTNL_EXPR_LOOKUP_FLAGS) &&
		       nftnl_expr_get_u32(e, NFTNL_EXPR_LOOKUP_FLAGS) & NFT_LOOKUP_F_INV;

	strbuf_addf(out, "lookup%s %s", inverse ? " not" : "", sets->text(sets->arg, name, n));
}

/* A name is compared with all its bytes or up to its NUL: the same to the reader. */
static void nft_print_cmp(struct strbuf *out, const struct nftnl_expr *e)
{
	static const char *const ops[] = {"==", "!=", "<", "<=", ">", ">="};
	uint32_t len, op = nftnl_expr_get_u32(e, NFTNL_EXPR_CMP_OP);
	const uint8_t *data = nftnl_expr_get(e, NFTNL_EXPR_CMP_DATA, &len);

	strbuf_addf(out, "%s ", op < 6 ? ops[op] : "?");
	nft_print_hex(out, data, len);
}

static void nft_print_expr(struct strbuf *out, const struct nftnl_expr *e,
			   const struct nft_sets *sets, size_t *lookups)
{
	const char *name = nftnl_expr_get_str(e, NFTNL_EXPR_NAME);
	char text[512];

	if (!strcmp(name, "counter")) {
		strbuf_add(out, "counter");
	} else if (!strcmp(name, "lookup")) {
		nft_print_lookup(out, e, sets, (*lookups)++);
	} else if (!strcmp(name, "cmp")) {
		nft_print_cmp(out, e);
	} else if (!strcmp(name, "match") || !strcmp(name, "target")) {
		nft_print_xt(out, e, !strcmp(name, "match"));
	} else if (!nft_print_nat(out, e, name)) {
		nftnl_expr_snprintf(text, sizeof(text), e, NFTNL_OUTPUT_DEFAULT, 0);
		strbuf_addf(out, "%s %s", name, text);
	}
	while (out->len && out->s[out->len - 1] == ' ')
		out->s[--out->len] = '\0';
}

void nft_print_comment(const char *comment, struct strbuf *out)
{
	if (comment)
		strbuf_addf(out, "; comment \"%s\"", comment);
}

static int nft_print_udata(const struct nftnl_udata *attr, void *arg)
{
	const char **comment = arg;

	if (nftnl_udata_type(attr) == NFTNL_UDATA_RULE_COMMENT)
		*comment = nftnl_udata_get(attr);
	return 0;
}

struct nft_print_state {
	struct strbuf *out;
	const struct nft_sets *sets;
	size_t lookups;
	bool first;
};

static int nft_print_each(struct nftnl_expr *e, void *arg)
{
	struct nft_print_state *s = arg;

	if (!s->first)
		strbuf_add(s->out, "; ");
	s->first = false;
	nft_print_expr(s->out, e, s->sets, &s->lookups);
	return 0;
}

void nft_print_rule(const struct nftnl_rule *r, const struct nft_sets *sets, struct strbuf *out)
{
	struct nft_print_state s = {.out = out, .sets = sets, .first = true};
	const char *comment = NULL;
	uint32_t len;

	nftnl_expr_foreach((struct nftnl_rule *)r, nft_print_each, &s);
	if (nftnl_rule_is_set(r, NFTNL_RULE_USERDATA)) {
		const void *data = nftnl_rule_get_data(r, NFTNL_RULE_USERDATA, &len);
		nftnl_udata_parse(data, len, nft_print_udata, &comment);
	}
	nft_print_comment(comment, out);
}

/* Elements by value: the kernel's hash sets have no order. */
struct nft_print_element {
	uint8_t key[NFT_VALUE_MAX];
	bool end;
};

static int nft_print_order(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct nft_print_element));
}

static void nft_print_sorted(struct nft_print_element *v, size_t n, size_t len, struct strbuf *out)
{
	qsort(v, n, sizeof(*v), nft_print_order);
	strbuf_add(out, "{");
	for (size_t i = 0; i < n; i++) {
		strbuf_addc(out, ' ');
		nft_print_hex(out, v[i].key, len);
		if (v[i].end)
			strbuf_add(out, "/end");
	}
	strbuf_add(out, " }");
}

void nft_print_set(const struct nftnl_set *set, struct strbuf *out)
{
	struct nftnl_set_elems_iter *it = nftnl_set_elems_iter_create(set);
	autofree struct nft_print_element *v = NULL;
	struct nftnl_set_elem *e;
	size_t n = 0, keylen = 0;

	while ((e = nftnl_set_elems_iter_next(it))) {
		uint32_t len;
		const void *key = nftnl_set_elem_get(e, NFTNL_SET_ELEM_KEY, &len);
		v = mem_realloc(v, (n + 1) * sizeof(*v));
		v[n] = (struct nft_print_element){0};
		memcpy(v[n].key, key, len < NFT_VALUE_MAX ? len : NFT_VALUE_MAX);
		v[n++].end =
		    nftnl_set_elem_is_set(e, NFTNL_SET_ELEM_FLAGS) &&
		    nftnl_set_elem_get_u32(e, NFTNL_SET_ELEM_FLAGS) & NFT_SET_ELEM_INTERVAL_END;
		keylen = len < NFT_VALUE_MAX ? len : NFT_VALUE_MAX;
	}
	nftnl_set_elems_iter_destroy(it);
	nft_print_sorted(v, n, keylen, out);
}

void nft_print_elements(const struct nft_match *m, struct strbuf *out)
{
	autofree struct nft_print_element *v = mem_zalloc((m->set.n + 1) * sizeof(*v));

	for (size_t i = 0; i < m->set.n; i++) {
		memcpy(v[i].key, m->set.v[i].key, NFT_VALUE_MAX);
		v[i].end = m->set.v[i].end;
	}
	nft_print_sorted(v, m->set.n, m->load.len, out);
}
