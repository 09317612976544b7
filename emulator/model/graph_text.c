/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * graph_text: the picture as text: each host with its bridges, each bridge with what hangs on it,
 * then nodes that are wired to each other directly, then EIPs. Fits 100 columns where names do.
 * Called by graph.c.
 */
#include "emulator/model/graph.h"

enum { FAR_COLUMN = 44 }; /* where addresses begin, in characters */

/* Characters, not bytes: what does not continue a UTF-8 sequence. */
static int columns(const char *s)
{
	int n = 0;

	for (; *s; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

/* A line of two columns; without a second one no blanks at the end. */
static void add_line(struct strbuf *out, const char *left, const char *right)
{
	int pad = FAR_COLUMN - columns(left);

	strbuf_add(out, left);
	if (*right)
		strbuf_addf(out, "%*s%s", pad < 2 ? 2 : pad, "", right);
	strbuf_addc(out, '\n');
}

/* "a, b", either of which may be empty. */
static char *joined(const char *a, const char *b)
{
	return mem_printf("%s%s%s", a, *a && *b ? "  " : "", b);
}

static void add_port(const struct graph *g, int port, const char *branch, struct strbuf *out)
{
	const struct wire *w = g->w;
	const struct wire_dev *d = &w->devs.v[port], *far;
	autofree char *addresses = NULL, *left = NULL, *right = NULL;

	if (d->kind == DEV_VXLAN) {
		left = mem_printf("    %s %s", branch, d->name);
		right = mem_printf("VNI %d to %zu other host%s, MTU %d", d->vni, d->vxlan_remotes.n,
				   d->vxlan_remotes.n == 1 ? "" : "s", d->mtu);
		add_line(out, left, right);
		return;
	}
	if (g->far[port] < 0)
		return;
	far = &w->devs.v[g->far[port]];
	addresses = graph_addresses(w, g->far[port]);
	right = joined(addresses, g->edges.v[g->edge[port]].label);
	if (far->master >= 0) /* another bridge */
		left = mem_printf("    %s %s ═ %s %s", branch, d->name, w->nodes.v[far->node].name,
				  w->devs.v[far->master].name);
	else
		left = mem_printf("    %s %s %s", branch, w->nodes.v[far->node].name, far->name);
	add_line(out, left, right);
}

static void add_bridge(const struct graph *g, int bridge, struct strbuf *out)
{
	const struct wire *w = g->w;
	autofree char *addresses = graph_addresses(w, bridge);
	autofree char *left = mem_printf("  %s", w->devs.v[bridge].name);
	int last = -1;

	add_line(out, left, addresses);
	for (int i = 0; i < (int)w->devs.n; i++) {
		if (w->devs.v[i].master == bridge)
			last = i;
	}
	for (int i = 0; i < (int)w->devs.n; i++) {
		if (w->devs.v[i].master == bridge)
			add_port(g, i, i == last ? "└─" : "├─", out);
	}
}

static bool is_direct(const struct graph *g, int dev)
{
	const struct wire *w = g->w;
	int far = g->far[dev];

	if (far < 0 || w->devs.v[dev].master >= 0)
		return false;
	return w->devs.v[far].master < 0;
}

static void add_direct(const struct graph *g, int dev, const char *branch, struct strbuf *out)
{
	const struct wire *w = g->w;
	const struct wire_dev *d = &w->devs.v[dev], *far = &w->devs.v[g->far[dev]];
	const struct graph_edge *edge = &g->edges.v[g->edge[dev]];
	autofree char *addresses = graph_addresses(w, dev);
	/* The label's arrows are as seen from its first end; there alone it is written. */
	autofree char *right = joined(addresses, edge->a == dev ? edge->label : "");
	autofree char *left =
	    mem_printf("    %s %s ═ %s %s", branch, d->name, w->nodes.v[far->node].name, far->name);

	add_line(out, left, right);
}

static void add_node(const struct graph *g, int node, struct strbuf *out)
{
	const struct wire *w = g->w;
	bool bridges = false;
	int last = -1;

	for (int i = 0; i < (int)w->devs.n; i++) {
		if (w->devs.v[i].node != node)
			continue;
		bridges = bridges || w->devs.v[i].kind == DEV_BRIDGE;
		if (is_direct(g, i))
			last = i;
	}
	if (!bridges && last < 0)
		return;
	strbuf_addf(out, "\n%s  %s\n", w->nodes.v[node].name, graph_node_word(&w->nodes.v[node]));
	for (int i = 0; i < (int)w->devs.n; i++) {
		if (w->devs.v[i].node != node)
			continue;
		if (w->devs.v[i].kind == DEV_BRIDGE)
			add_bridge(g, i, out);
		else if (is_direct(g, i))
			add_direct(g, i, i == last ? "└─" : "├─", out);
	}
}

void graph_text(const struct graph *g, struct strbuf *out)
{
	const struct wire *w = g->w;

	strbuf_add(out, w->name);
	if (w->description && *w->description)
		strbuf_addf(out, ": %s", w->description);
	strbuf_addc(out, '\n');
	for (size_t i = 0; i < w->nodes.n; i++)
		add_node(g, (int)i, out);
	if (w->nats.n)
		strbuf_add(out, "\nEIPs\n");
	VEC_FOREACH (nat, &w->nats) {
		char outside[ADDR_TEXT], inside[ADDR_TEXT];
		int owner = graph_owner(w, &nat->outside);

		strbuf_addf(out, "  %s → %s  %s, in %s\n", ip_format(outside, &nat->outside),
			    ip_format(inside, &nat->inside),
			    owner < 0 ? "?" : w->nodes.v[owner].name, w->nodes.v[nat->node].name);
	}
}
