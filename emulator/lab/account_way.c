/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * account_way: which devices the packets of a direction of a link pass, by the model's rules. It
 * reads no counter. Called by account_walk.c, account.c, and tests.
 */
#include "emulator/lab/account_walk.h"

#include <string.h>

#include "emulator/model/redirect.h"

static int ingress_dev(const struct wire *w, const struct wire_nft_chain *c)
{
	if (!c->hook || !str_eq(c->family, "netdev"))
		return -1;
	return redirect_quoted_dev(w, c->node, c->hook, "ingress device \"");
}

void account_map_init(struct account_map *m, const struct wire *w)
{
	m->w = w;
	m->first = mem_zalloc((w->devs.n + 1) * sizeof(*m->first));
	m->next = mem_zalloc((w->nft.n + 1) * sizeof(*m->next));
	for (size_t i = 0; i < w->devs.n; i++)
		m->first[i] = -1;
	/* From the last, so that each list is in the order of the model. */
	for (size_t i = w->nft.n; i-- > 0;) {
		int dev = ingress_dev(w, &w->nft.v[i]);

		m->next[i] = -1;
		if (dev < 0)
			continue;
		m->next[i] = m->first[dev];
		m->first[dev] = (int)i;
	}
}

void account_map_done(struct account_map *m)
{
	free(m->first);
	free(m->next);
}

/* The number after `word` in a rule, hexadecimal or not; false where it is not in it. */
static bool number_after(const char *text, const char *word, unsigned *out)
{
	const char *at = strstr(text, word);

	if (!at || !strchr("0123456789", at[strlen(word)]))
		return false;
	*out = (unsigned)strtoul(at + strlen(word), NULL, 0);
	return true;
}

/* Does a packet with that mark meet the rule? */
bool account_meets(const char *rule, unsigned mark)
{
	unsigned asked;

	return !number_after(rule, "meta mark ", &asked) || asked == mark;
}

/* Where rules send what `dev` receives, or -1; *mark is what they make of it. */
static int redirected(const struct account_map *m, int dev, unsigned *mark)
{
	for (int c = m->first[dev]; c >= 0; c = m->next[c]) {
		const struct wire_nft_chain *chain = &m->w->nft.v[c];

		VEC_FOREACH (rule, &chain->rules) {
			int to;

			number_after(rule->text, "meta mark set ", mark);
			if (!account_meets(rule->text, *mark))
				continue;
			to = redirect_quoted_dev(m->w, chain->node, rule->text, "fwd to \"");
			if (to < 0)
				to =
				    redirect_quoted_dev(m->w, chain->node, rule->text, "dup to \"");
			if (to >= 0)
				return to;
		}
	}
	return -1;
}

static int relayed(const struct wire_link *l, int dev)
{
	for (int i = 0; l->engine == IMPAIR_RELAY && i < 2; i++)
		if (l->span[i] == dev)
			return l->middle[i];
	return -1;
}

static void follow(const struct account_map *m, const struct wire_link *l, int entry,
		   struct account_way *out)
{
	struct account_stage s = {.dev = entry};

	*out = (struct account_way){0};
	while (out->n < ACCOUNT_STAGES_MAX) {
		int to;

		out->stages[out->n++] = s;
		out->exit = m->w->devs.v[s.dev].peer;
		if (out->exit < 0)
			return;
		to = redirected(m, out->exit, &s.mark);
		s.relayed = to < 0;
		if (to < 0)
			to = relayed(l, out->exit);
		if (to < 0)
			return;
		s.dev = to;
	}
}

void account_way_of(const struct account_map *m, int link, bool ba, struct account_way *out)
{
	const struct wire_link *l = &m->w->links.v[link];
	struct account_way there, back;

	follow(m, l, l->dev_a, &there);
	follow(m, l, there.exit, &back);
	*out = ba ? back : there;
	for (size_t i = 0; i < there.n; i++)
		for (size_t k = 0; k < back.n; k++)
			if (there.stages[i].dev == back.stages[k].dev)
				out->stages[ba ? k : i].shared = true;
}
