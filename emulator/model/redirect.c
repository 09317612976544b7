/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * redirect: reads "fwd to" and "dup to" in the ingress chains of family netdev. It does not ask
 * whether a rule has conditions: those that the model writes have none.
 */
#include "emulator/model/redirect.h"

#include <string.h>

#include "core/base/str.h"

#define MOST_STEPS 16

/* The device whose name in double quotes follows `before`, as nft writes it. */
static int quoted_dev(const struct wire *w, int node, const char *text, const char *before)
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

int *redirect_find(const struct wire *w)
{
	int *redirect = mem_zalloc((w->devs.n + 1) * sizeof(*redirect));

	for (size_t i = 0; i < w->devs.n; i++)
		redirect[i] = -1;
	VEC_FOREACH (c, &w->nft) {
		int from = -1;

		if (str_eq(c->family, "netdev"))
			from = quoted_dev(w, c->node, c->hook, "ingress device \"");
		if (from < 0)
			continue;
		VEC_FOREACH (rule, &c->rules) {
			int to = quoted_dev(w, c->node, rule->text, "fwd to \"");

			if (to < 0)
				to = quoted_dev(w, c->node, rule->text, "dup to \"");
			if (to >= 0)
				redirect[from] = to;
		}
	}
	return redirect;
}

int redirect_far_end(const struct wire *w, const int *redirect, int dev)
{
	for (int i = 0; i < MOST_STEPS; i++) {
		dev = w->devs.v[dev].peer;
		if (redirect[dev] < 0)
			break;
		dev = redirect[dev];
	}
	return dev;
}
