/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * path_nft: what the rules of a node do with a packet that is routed through it. It reads the part
 * of nft's language that labs are written in: interfaces, addresses, states, verdicts, jumps and
 * translations. A rule that says anything else (a port, a set) does not concern a path and is taken
 * not to match. Called by path.c.
 */
#include <string.h>
#include <sys/socket.h>

#include "core/base/str.h"
#include "emulator/model/path_walk.h"

#define DEEPEST_JUMP 16 /* as in the kernel (NFT_JUMP_STACK_SIZE) */

enum outcome { NO_MATCH, GO_ON, RETURN, FINAL };

struct eval {
	const struct path_walk *walk;
	const struct path_nft_packet *p;
	struct path_nft_verdict *verdict;
	const struct wire_nft_chain *chain;
	int depth;
};

struct words { /* of a rule, one after the other */
	const char *at;
	char word[128];
};

/* The next word without its quotes; false at the end. A word too long is no word of ours. */
static bool next_word(struct words *w)
{
	const char *end;
	size_t n;

	w->at += strspn(w->at, " \t");
	if (!*w->at)
		return false;
	if (*w->at == '"') {
		w->at++;
		n = strcspn(w->at, "\"");
		end = w->at + n + (w->at[n] == '"');
	} else {
		n = strcspn(w->at, " \t");
		end = w->at + n;
	}
	if (n >= sizeof(w->word))
		return false;
	memcpy(w->word, w->at, n);
	w->word[n] = '\0';
	w->at = end;
	return true;
}

/* The operand of a match: steps over "!=" and says whether it was there. */
static bool operand(struct words *w, bool *negated)
{
	*negated = false;
	if (!next_word(w))
		return false;
	if (str_eq(w->word, "!=")) {
		*negated = true;
		return next_word(w);
	}
	return true;
}

static bool device_matches(const struct eval *e, struct words *w, int dev)
{
	bool negated;

	if (!operand(w, &negated))
		return false;
	return (dev >= 0 && str_eq(e->walk->w->devs.v[dev].name, w->word)) != negated;
}

static bool address_matches(const struct eval *e, struct words *w, int family)
{
	struct err err = ERR_INIT;
	const struct ip *ip;
	struct prefix want;
	bool negated;

	if (!next_word(w))
		return false;
	if (!str_eq(w->word, "saddr") && !str_eq(w->word, "daddr"))
		return false;
	ip = str_eq(w->word, "saddr") ? e->p->src : e->p->dst;
	if (!operand(w, &negated) || ip->family != family)
		return false;
	if (prefix_parse(w->word, &want, &err)) {
		if (ip_parse(w->word, &want.ip, &err))
			return false;
		want.len = (int)ip_size(&want.ip) * 8;
	}
	return (want.ip.family == family && prefix_contains(&want, ip)) != negated;
}

/* "ct state new,established": the first packet is new, what comes back is established. */
static bool state_matches(const struct eval *e, struct words *w)
{
	const char *state = e->p->reply ? "established" : "new";
	size_t len = strlen(state);

	if (!next_word(w) || !str_eq(w->word, "state") || !next_word(w))
		return false;
	for (const char *s = w->word; *s; s += strcspn(s, ","), s += *s == ',') {
		if (strcspn(s, ",") == len && !strncmp(s, state, len))
			return true;
	}
	return false;
}

/* Whether the match that begins with w->word holds; false for anything that is no match we know. */
static bool matches(const struct eval *e, struct words *w)
{
	if (str_eq(w->word, "counter"))
		return true;
	if (str_eq(w->word, "iifname"))
		return device_matches(e, w, e->p->in);
	if (str_eq(w->word, "oifname"))
		return device_matches(e, w, e->p->out);
	if (str_eq(w->word, "ip"))
		return address_matches(e, w, AF_INET);
	if (str_eq(w->word, "ip6"))
		return address_matches(e, w, AF_INET6);
	if (str_eq(w->word, "ct"))
		return state_matches(e, w);
	return false;
}

static enum outcome run_chain(struct eval *e, const struct wire_nft_chain *chain);

static enum outcome jump(struct eval *e, const char *name)
{
	VEC_FOREACH (c, &e->walk->w->nft) {
		if (c->node == e->chain->node && str_eq(c->family, e->chain->family) &&
		    str_eq(c->table, e->chain->table) && str_eq(c->chain, name))
			return e->depth < DEEPEST_JUMP ? run_chain(e, c) : NO_MATCH;
	}
	return NO_MATCH;
}

static enum outcome nat(struct eval *e, struct words *w)
{
	struct err err = ERR_INIT;
	bool source = str_eq(w->word, "snat");
	struct ip to;

	if (!next_word(w) || !str_eq(w->word, "to") || !next_word(w) ||
	    ip_parse(w->word, &to, &err))
		return NO_MATCH;
	e->verdict->nat = true;
	e->verdict->source = source;
	e->verdict->to = to;
	return FINAL;
}

/* What the statement that begins with w->word does. */
static enum outcome act(struct eval *e, struct words *w)
{
	if (str_eq(w->word, "snat") || str_eq(w->word, "dnat"))
		return nat(e, w);
	if (str_eq(w->word, "drop") || str_eq(w->word, "reject")) {
		e->verdict->refused = str_eq(w->word, "drop") ? "dropped" : "rejected";
		return FINAL;
	}
	if (str_eq(w->word, "accept"))
		return FINAL;
	if (str_eq(w->word, "return"))
		return RETURN;
	if (str_eq(w->word, "jump") && next_word(w))
		return jump(e, w->word) == FINAL ? FINAL : GO_ON;
	return NO_MATCH;
}

static enum outcome run_rule(struct eval *e, const struct wire_nft_rule *rule)
{
	struct words w = {.at = rule->text};

	while (next_word(&w)) {
		enum outcome outcome;

		if (matches(e, &w))
			continue;
		outcome = act(e, &w);
		return outcome == NO_MATCH ? GO_ON : outcome;
	}
	return GO_ON;
}

static enum outcome run_chain(struct eval *e, const struct wire_nft_chain *chain)
{
	const struct wire_nft_chain *caller = e->chain;
	enum outcome outcome = GO_ON;

	e->chain = chain;
	e->depth++;
	for (size_t i = 0; i < chain->rules.n && outcome == GO_ON; i++) {
		outcome = run_rule(e, &chain->rules.v[i]);
		if (outcome == FINAL && !e->verdict->chain) {
			e->verdict->chain = chain->chain;
			e->verdict->rule = (int)i + 1;
		}
	}
	e->depth--;
	e->chain = caller;
	return outcome;
}

static bool family_fits(const char *family, const struct ip *ip)
{
	if (str_eq(family, "inet"))
		return true;
	return str_eq(family, ip->family == AF_INET6 ? "ip6" : "ip");
}

void path_nft_run(const struct path_walk *walk, int node, const char *hook,
		  const struct path_nft_packet *p, struct path_nft_verdict *verdict)
{
	*verdict = (struct path_nft_verdict){0};
	VEC_FOREACH (c, &walk->w->nft) {
		struct eval e = {.walk = walk, .p = p, .verdict = verdict};

		if (c->node != node || !c->hook || !str_starts(c->hook, hook) ||
		    !family_fits(c->family, p->dst))
			continue;
		verdict->chain = NULL;
		run_chain(&e, c);
		if (verdict->nat || verdict->refused)
			return;
	}
}
