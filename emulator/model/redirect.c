/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * redirect: reads "fwd to" and "dup to" in the ingress chains of family netdev, with the marks that
 * they set and ask for. It does not ask whether a rule has other conditions: those that the model
 * writes have none.
 */
#include "emulator/model/redirect.h"

#include <stdio.h>
#include <string.h>

#include "core/base/str.h"

#define MOST_STEPS 16

struct step { /* frames with a mark (0: all) that come in at `from` */
	int from, to;
	uint32_t mark;
	int next; /* index of the next step of the same device, or -1 */
};

struct redirect {
	struct arena arena;
	VEC(struct step) steps;
	int *first;	/* by device: index of its first step, or -1 */
	uint32_t *sets; /* by device: the mark that frames get there, or 0 */
};

int redirect_quoted_dev(const struct wire *w, int node, const char *text, const char *before)
{
	const char *at = text ? strstr(text, before) : NULL;
	char name[64];
	size_t n;

	if (!at)
		return -1;
	at += strlen(before);
	n = strcspn(at, "\"");
	if (n >= sizeof(name))
		return -1;
	memcpy(name, at, n);
	name[n] = '\0';
	return wire_find_dev(w, node, name);
}

static void add_step(struct redirect *r, int from, int to, uint32_t mark)
{
	int *last = &r->first[from];

	while (*last >= 0)
		last = &r->steps.v[*last].next;
	*last = (int)r->steps.n;
	*VEC_ADD(&r->arena, &r->steps) = (struct step){from, to, mark, -1};
}

static void read_rule(struct redirect *r, const struct wire *w, int from, const char *text)
{
	int node = w->devs.v[from].node, to = redirect_quoted_dev(w, node, text, "fwd to \"");
	unsigned mark = 0;

	if (sscanf(text, "meta mark set %u", &mark) == 1) {
		r->sets[from] = mark;
		return;
	}
	if (to < 0)
		to = redirect_quoted_dev(w, node, text, "dup to \"");
	if (to < 0)
		return;
	if (sscanf(text, "meta mark %u", &mark) != 1)
		mark = 0;
	add_step(r, from, to, mark);
}

/* What a relay takes at one device it puts out at another. */
static void add_relays(struct redirect *r, const struct wire *w)
{
	VEC_FOREACH (l, &w->links) {
		for (int i = 0; l->engine == IMPAIR_RELAY && i < 2; i++)
			add_step(r, l->span[i], l->middle[i], 0);
	}
}

struct redirect *redirect_find(const struct wire *w)
{
	struct redirect *r = mem_zalloc(sizeof(*r));

	arena_init(&r->arena);
	r->first = arena_alloc(&r->arena, (w->devs.n + 1) * sizeof(*r->first));
	r->sets = arena_alloc(&r->arena, (w->devs.n + 1) * sizeof(*r->sets));
	for (size_t i = 0; i < w->devs.n; i++)
		r->first[i] = -1;
	VEC_FOREACH (c, &w->nft) {
		int from = -1;

		if (str_eq(c->family, "netdev"))
			from = redirect_quoted_dev(w, c->node, c->hook, "ingress device \"");
		if (from < 0)
			continue;
		VEC_FOREACH (rule, &c->rules)
			read_rule(r, w, from, rule->text);
	}
	add_relays(r, w);
	return r;
}

void redirect_free(struct redirect *r)
{
	if (!r)
		return;
	arena_done(&r->arena);
	free(r);
}

int redirect_next(const struct redirect *r, int dev, uint32_t *mark)
{
	if (r->sets[dev])
		*mark = r->sets[dev];
	for (int i = r->first[dev]; i >= 0; i = r->steps.v[i].next) {
		if (!r->steps.v[i].mark || r->steps.v[i].mark == *mark)
			return r->steps.v[i].to;
	}
	return -1;
}

int redirect_far_end(const struct wire *w, const struct redirect *r, int dev)
{
	uint32_t mark = 0;

	for (int i = 0; i < MOST_STEPS; i++) {
		int on;

		dev = w->devs.v[dev].peer;
		on = redirect_next(r, dev, &mark);
		if (on < 0)
			break;
		dev = on;
	}
	return dev;
}
