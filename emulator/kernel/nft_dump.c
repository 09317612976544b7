/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nft_dump: reads rulesets back, makes the lines that are expected, compares both. Called by
 * emulator/lab/check.c and tests.
 */
#include "emulator/kernel/nft_dump.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>

#include "core/base/keyset.h"
#include "core/base/str.h"
#include "emulator/kernel/nft_hook.h"
#include "emulator/kernel/nft_print.h"

#define NFT_DUMP_TRIES 5

void nft_ruleset_done(struct nft_ruleset *r)
{
	arena_done(&r->arena);
	*r = (struct nft_ruleset){0};
}

static void nft_dump_line(struct nft_ruleset *r, const char *chain, const struct strbuf *text,
			  bool rule)
{
	struct nft_line *line = VEC_ADD(&r->arena, &r->lines);

	line->chain = arena_strdup(&r->arena, chain);
	line->text = arena_strdup(&r->arena, strbuf_text(text));
	line->rule = rule;
}

static const char *nft_dump_place(char *buf, size_t size, const struct nft_place *at)
{
	snprintf(buf, size, "%s %s %s", at->family, at->table, at->chain);
	return buf;
}

#define NFT_PLACE_TEXT 300

struct nft_dump_state {
	int fd;
	struct nl_batch batch;
	struct nft_ruleset *out;
	struct nftnl_set_list *sets;
};

static int nft_dump_chain(const struct nlmsghdr *nlh, void *arg)
{
	struct nft_dump_state *s = arg;
	struct nftnl_chain *c = nftnl_chain_alloc();
	autostr struct strbuf text = {0};
	char place[NFT_PLACE_TEXT];

	if (nftnl_chain_nlmsg_parse(nlh, c) == 0) {
		const struct nft_place at = {
		    nft_family_name(nftnl_chain_get_u32(c, NFTNL_CHAIN_FAMILY)),
		    nftnl_chain_get_str(c, NFTNL_CHAIN_TABLE),
		    nftnl_chain_get_str(c, NFTNL_CHAIN_NAME)};
		nft_print_chain(c, &text);
		nft_dump_line(s->out, nft_dump_place(place, sizeof(place), &at), &text, false);
	}
	nftnl_chain_free(c);
	return MNL_CB_OK;
}

static int nft_dump_set(const struct nlmsghdr *nlh, void *arg)
{
	struct nft_dump_state *s = arg;
	struct nftnl_set *set = nftnl_set_alloc();

	if (nftnl_set_nlmsg_parse(nlh, set) == 0)
		nftnl_set_list_add_tail(set, s->sets);
	else
		nftnl_set_free(set);
	return MNL_CB_OK;
}

static int nft_dump_elements(const struct nlmsghdr *nlh, void *arg)
{
	nftnl_set_elems_nlmsg_parse(nlh, arg);
	return MNL_CB_OK;
}

/* Finds the dumped set by family, table and name. */
struct nft_dump_lookup {
	struct nft_dump_state *state;
	uint32_t family;
	const char *table;
	struct strbuf text;
};

static const char *nft_dump_set_text(void *arg, const char *name, size_t n)
{
	struct nft_dump_lookup *l = arg;
	struct nftnl_set_list_iter *it = nftnl_set_list_iter_create(l->state->sets);
	struct nftnl_set *set;

	(void)n;
	strbuf_done(&l->text);
	while ((set = nftnl_set_list_iter_next(it))) {
		if (nftnl_set_get_u32(set, NFTNL_SET_FAMILY) != l->family ||
		    strcmp(nftnl_set_get_str(set, NFTNL_SET_TABLE), l->table) ||
		    strcmp(nftnl_set_get_str(set, NFTNL_SET_NAME), name))
			continue;
		nft_print_set(set, &l->text);
		break;
	}
	nftnl_set_list_iter_destroy(it);
	return strbuf_text(&l->text);
}

static int nft_dump_rule(const struct nlmsghdr *nlh, void *arg)
{
	struct nft_dump_state *s = arg;
	struct nftnl_rule *r = nftnl_rule_alloc();
	autostr struct strbuf text = {0};
	char place[NFT_PLACE_TEXT];

	if (nftnl_rule_nlmsg_parse(nlh, r) == 0) {
		struct nft_dump_lookup lookup = {.state = s,
						 .family = nftnl_rule_get_u32(r, NFTNL_RULE_FAMILY),
						 .table = nftnl_rule_get_str(r, NFTNL_RULE_TABLE)};
		const struct nft_sets sets = {nft_dump_set_text, &lookup};
		const struct nft_place at = {nft_family_name(lookup.family), lookup.table,
					     nftnl_rule_get_str(r, NFTNL_RULE_CHAIN)};
		nft_print_rule(r, &sets, &text);
		nft_dump_line(s->out, nft_dump_place(place, sizeof(place), &at), &text, true);
		strbuf_done(&lookup.text);
	}
	nftnl_rule_free(r);
	return MNL_CB_OK;
}

static struct nlmsghdr *nft_dump_request(struct nft_dump_state *s, uint16_t message,
					 uint32_t family, const char *what)
{
	struct nlmsghdr *nlh =
	    nl_add(&s->batch, NFNL_SUBSYS_NFTABLES << 8 | message, NLM_F_DUMP, "%s", what);

	nft_put_header(nlh, family, 0);
	return nlh;
}

static int nft_dump_all_elements(struct nft_dump_state *s, struct err *err)
{
	struct nftnl_set_list_iter *it = nftnl_set_list_iter_create(s->sets);
	struct nftnl_set *set;
	int rc = 0;

	while (rc == 0 && (set = nftnl_set_list_iter_next(it))) {
		struct nlmsghdr *nlh =
		    nft_dump_request(s, NFT_MSG_GETSETELEM,
				     nftnl_set_get_u32(set, NFTNL_SET_FAMILY), "read nft sets");
		nftnl_set_nlmsg_build_payload(nlh, set);
		rc = nl_dump(s->fd, &s->batch, nft_dump_elements, set, err);
	}
	nftnl_set_list_iter_destroy(it);
	return rc;
}

static int nft_dump_once(struct nft_dump_state *s, struct err *err)
{
	nft_dump_request(s, NFT_MSG_GETCHAIN, NFPROTO_UNSPEC, "read nft chains");
	int rc = nl_dump(s->fd, &s->batch, nft_dump_chain, s, err);
	if (rc == 0) {
		nft_dump_request(s, NFT_MSG_GETSET, NFPROTO_UNSPEC, "read nft sets");
		rc = nl_dump(s->fd, &s->batch, nft_dump_set, s, err);
	}
	if (rc == 0)
		rc = nft_dump_all_elements(s, err);
	if (rc == 0) {
		nft_dump_request(s, NFT_MSG_GETRULE, NFPROTO_UNSPEC, "read nft rules");
		rc = nl_dump(s->fd, &s->batch, nft_dump_rule, s, err);
	}
	return rc;
}

int nft_dump(int fd, struct nft_ruleset *out, struct err *err)
{
	int rc = -EAGAIN;

	for (int i = 0; rc == -EAGAIN && i < NFT_DUMP_TRIES; i++) {
		struct nft_dump_state s = {.fd = fd, .out = out};
		*out = (struct nft_ruleset){0};
		arena_init(&out->arena);
		s.sets = nftnl_set_list_alloc();
		rc = nft_dump_once(&s, err);
		nftnl_set_list_free(s.sets);
		nl_batch_done(&s.batch);
		if (rc < 0)
			nft_ruleset_done(out);
	}
	return rc;
}

int nft_expect_chain(struct nft_ruleset *out, const struct nft_place *at, const char *hook,
		     struct err *err)
{
	autostr struct strbuf text = {0};
	char place[NFT_PLACE_TEXT];
	int family = nft_family(at->family, err);

	if (family < 0)
		return family;
	struct nft_hook h;
	int rc = hook ? nft_hook_parse(family, hook, &h, err) : 0;
	if (rc < 0)
		return rc;
	struct nftnl_chain *c = nftnl_chain_alloc();
	if (hook)
		nft_hook_set(&h, c);
	nft_print_chain(c, &text);
	nft_dump_line(out, nft_dump_place(place, sizeof(place), at), &text, false);
	nftnl_chain_free(c);
	return 0;
}

/* The n-th set of a compiled rule. */
struct nft_expect_sets {
	const struct nft_rule *rule;
	struct strbuf text;
};

static const char *nft_expect_set_text(void *arg, const char *name, size_t n)
{
	struct nft_expect_sets *s = arg;

	(void)name;
	strbuf_done(&s->text);
	VEC_FOREACH (stmt, &s->rule->stmts) {
		if (stmt->kind == NFT_STMT_MATCH && stmt->match.set.n && n-- == 0)
			nft_print_elements(&stmt->match, &s->text);
	}
	return strbuf_text(&s->text);
}

int nft_expect_rule(struct nft_ruleset *out, const struct nft_place *at, const char *text,
		    const char *comment, const struct nft_names *names, struct err *err)
{
	autostr struct strbuf line = {0};
	char place[NFT_PLACE_TEXT];
	struct nft_rule rule;
	uint32_t set_id = 1;
	int family = nft_family(at->family, err);

	if (family < 0)
		return family;
	int rc = nft_rule_compile(&rule, family, text, names, err);
	if (rc == 0) {
		struct nft_expect_sets state = {.rule = &rule};
		const struct nft_sets sets = {nft_expect_set_text, &state};
		struct nftnl_rule *r = nftnl_rule_alloc();
		nft_emit(&rule, r, &set_id);
		nft_print_rule(r, &sets, &line);
		nft_print_comment(comment ? comment : rule.comment, &line);
		nft_dump_line(out, nft_dump_place(place, sizeof(place), at), &line, true);
		nftnl_rule_free(r);
		strbuf_done(&state.text);
	}
	nft_rule_done(&rule);
	return rc;
}

void nft_expect_arpreply(struct nft_ruleset *out, const struct nft_arpreply *a)
{
	autostr struct strbuf line = {0};
	const struct nft_sets no_sets = {NULL, NULL};
	struct nftnl_rule *r = nftnl_rule_alloc();

	nft_arpreply_rule(a, r);
	nft_print_rule(r, &no_sets, &line);
	nft_dump_line(out, "bridge nat PREROUTING", &line, true);
	nftnl_rule_free(r);
}

/* Where each line of a ruleset stands, and which line stands at a place. */
struct nft_places {
	struct arena arena;
	struct nft_at {
		int chain;
		size_t index; /* among the lines of its kind in the chain */
	} * of;
	struct keyset lines; /* by place */
};

/* `chains` numbers the chains (scope: rules or not) of both rulesets alike. */
static void nft_places_init(struct nft_places *p, const struct nft_ruleset *r,
			    struct keyset *chains)
{
	struct {
		VEC(size_t) n; /* lines so far, by chain */
	} count = {0};

	arena_init(&p->arena);
	keyset_init(&p->lines);
	p->of = arena_alloc(&p->arena, (r->lines.n + 1) * sizeof(*p->of));
	for (size_t i = 0; i < r->lines.n; i++) {
		const struct nft_line *line = &r->lines.v[i];
		struct nft_at *at = &p->of[i];

		keyset_add_text(chains, line->rule, line->chain, (int)chains->n);
		at->chain = keyset_find_text(chains, line->rule, line->chain);
		while (count.n.n <= (size_t)at->chain)
			*VEC_ADD(&p->arena, &count.n) = 0;
		at->index = count.n.v[at->chain]++;
		keyset_add(&p->lines, (uint64_t)at->chain, &at->index, sizeof(at->index), (int)i);
	}
}

static void nft_places_done(struct nft_places *p)
{
	keyset_done(&p->lines);
	arena_done(&p->arena);
}

struct nft_compare {
	const struct nft_ruleset *ruleset[2]; /* expected, actual */
	struct nft_places places[2];
	const char *prefix;
	struct strbuf *out;
	size_t *n;
};

/* Lines of one side that the other lacks; of the expected side also those that it has otherwise. */
static void nft_compare_side(struct nft_compare *c, bool actual)
{
	const struct nft_ruleset *r = c->ruleset[actual], *others = c->ruleset[!actual];

	for (size_t k = 0; k < r->lines.n; k++) {
		const struct nft_line *line = &r->lines.v[k], *other;
		const struct nft_at *at = &c->places[actual].of[k];
		int i = keyset_find(&c->places[!actual].lines, (uint64_t)at->chain, &at->index,
				    sizeof(at->index));

		other = i < 0 ? NULL : &others->lines.v[i];
		if (other && (actual || !strcmp(other->text, line->text)))
			continue;
		(*c->n)++;
		strbuf_addf(c->out, "%snft %s", c->prefix, line->chain);
		if (line->rule)
			strbuf_addf(c->out, " rule %zu", at->index + 1);
		if (other)
			strbuf_addf(c->out, ": planned \"%s\", is \"%s\"\n", line->text,
				    other->text);
		else
			strbuf_addf(c->out, ": %s: %s\n", actual ? "not planned" : "missing",
				    line->text);
	}
}

void nft_ruleset_compare(const struct nft_ruleset *expected, const struct nft_ruleset *actual,
			 const char *prefix, struct strbuf *out, size_t *n)
{
	struct nft_compare c = {
	    .ruleset = {expected, actual}, .prefix = prefix, .out = out, .n = n};
	struct keyset chains;

	keyset_init(&chains);
	for (int side = 0; side < 2; side++)
		nft_places_init(&c.places[side], c.ruleset[side], &chains);
	for (int side = 0; side < 2; side++)
		nft_compare_side(&c, side);
	for (int side = 0; side < 2; side++)
		nft_places_done(&c.places[side]);
	keyset_done(&chains);
}
