/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nft_merge: makes one comparison of those of adjacent header fields, as nft 1.0.6 does
 * ("tcp sport 1 tcp dport 2" loads four bytes once). Called by nft_rule_compile().
 *
 * Two differences, both on purpose, since nft 1.0.6 changes there what the rule means: comparisons
 * are not merged across a counter or another statement, and "!=" is never merged (sport != 1 and
 * dport != 2 is not the same as (sport, dport) != (1, 2)).
 */
#include "emulator/kernel/nft_rule.h"

#include <string.h>
#include <linux/netfilter/nf_tables.h>

#define NFT_MERGE_MAX 32 /* comparisons in one run; more stay as they are */

static bool nft_merge_candidate(const struct nft_stmt *s)
{
	return s->match.load.from == NFT_FROM_PAYLOAD && s->match.test == NFT_EQ &&
	       !s->match.masked;
}

static bool nft_merge_fits(const struct nft_load *a, const struct nft_load *b)
{
	unsigned total = a->len + b->len;

	if (a->key != b->key || a->offset + a->len != b->offset || total > NFT_VALUE_MAX)
		return false;
	/* Up to four bytes of network and transport headers are read on the kernel's fast path
	 * (nft_payload_fast_eval()): two of those are better than one slow one. */
	return total <= 4 || a->key == NFT_PAYLOAD_LL_HEADER || a->len > 4 || b->len > 4;
}

static int nft_merge_order(const void *pa, const void *pb)
{
	const struct nft_load *a = &(*(struct nft_stmt *const *)pa)->match.load;
	const struct nft_load *b = &(*(struct nft_stmt *const *)pb)->match.load;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return a->offset - b->offset;
}

/*
 * Joins b, the later field, to a. The joined comparison stands where the one stood that says which
 * header comes next, so that what depends on it still comes after it. Returns the one that lives.
 */
static struct nft_stmt *nft_merge_join(struct nft_stmt *a, struct nft_stmt *b, bool *dead_a)
{
	struct nft_match joined = a->match;

	memcpy(joined.value + a->match.load.len, b->match.value, b->match.load.len);
	joined.load.len = (uint16_t)(a->match.load.len + b->match.load.len);
	joined.protocol = a->match.protocol || b->match.protocol;
	*dead_a = b->match.protocol;
	struct nft_stmt *alive = *dead_a ? b : a;
	alive->match = joined;
	return alive;
}

static void nft_merge_run(struct nft_stmt *first, struct nft_stmt *end, bool *dead)
{
	struct nft_stmt *s[NFT_MERGE_MAX];
	size_t n = 0;

	for (struct nft_stmt *i = first; i < end && n < NFT_MERGE_MAX; i++)
		if (nft_merge_candidate(i))
			s[n++] = i;
	if (n < 2)
		return;
	qsort(s, n, sizeof(s[0]), nft_merge_order);
	struct nft_stmt *last = s[0];
	for (size_t i = 1; i < n; i++) {
		if (!nft_merge_fits(&last->match.load, &s[i]->match.load)) {
			last = s[i];
			continue;
		}
		bool dead_a;
		struct nft_stmt *alive = nft_merge_join(last, s[i], &dead_a);
		dead[(dead_a ? last : s[i]) - first] = true;
		last = alive;
	}
}

void nft_merge(struct nft_rule *rule)
{
	struct nft_stmt *v = rule->stmts.v;
	size_t n = rule->stmts.n, kept = 0;
	autofree bool *dead = mem_zalloc(n + 1);

	for (size_t from = 0; from < n;) {
		size_t end = from;
		while (end < n && v[end].kind == NFT_STMT_MATCH)
			end++;
		nft_merge_run(v + from, v + end, dead + from);
		from = end + 1;
	}
	for (size_t i = 0; i < n; i++)
		if (!dead[i])
			v[kept++] = v[i];
	rule->stmts.n = kept;
}
