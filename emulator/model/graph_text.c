/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * graph_text: the picture as text: each host with its bridges, each bridge with what hangs on it,
 * then nodes that are wired to each other directly, then EIPs. Fits 100 columns where names do.
 * Called by graph.c.
 */
#include <string.h>

#include "emulator/model/graph.h"

enum {
	FAR_COLUMN = 44, /* where addresses begin, in characters */
	END_COLUMN = 100,
};

/* Characters, not bytes: what does not continue a UTF-8 sequence. */
static int columns(const char *s)
{
	int n = 0;

	for (; *s; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

/* Bytes of the longest beginning of `text` that fits and ends behind a comma; 0: there is none. */
static size_t fitting(const char *text, int room)
{
	size_t fits = 0;
	int n = 0;

	for (size_t i = 0; text[i] && n <= room; i++) {
		n += ((unsigned char)text[i] & 0xc0) != 0x80;
		if (n <= room && text[i] == ',' && text[i + 1] == ' ')
			fits = i + 1;
	}
	return fits;
}

/*
 * A line of two columns; without a second one no blanks at the end. What is too long goes on below,
 * beside the branch that leads to the next one.
 */
static void add_line(struct strbuf *out, const char *left, const char *right)
{
	bool on = strstr(left, "├─") != NULL;

	for (;;) {
		int column = columns(left) + 2 > FAR_COLUMN ? columns(left) + 2 : FAR_COLUMN;
		bool whole = column + columns(right) <= END_COLUMN;
		size_t n = whole ? 0 : fitting(right, END_COLUMN - column);

		n = n ? n : strlen(right);
		strbuf_add(out, left);
		if (n)
			strbuf_addf(out, "%*s%.*s", column - columns(left), "", (int)n, right);
		strbuf_addc(out, '\n');
		right += n;
		right += strspn(right, " ");
		if (!*right)
			return;
		left = on ? "    │" : "";
	}
}

/* "a, b", either of which may be empty. */
static char *joined(const char *a, const char *b)
{
	return mem_printf("%s%s%s", a, *a && *b ? "  " : "", b);
}

/* What the edge of a device says, with arrows as seen from there. */
static const char *label_at(const struct graph *g, int dev)
{
	const struct graph_edge *e = &g->edges.v[g->edge[dev]];

	return e->a == dev ? e->label : e->back;
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
	if (d->kind == DEV_VLAN) {
		left = mem_printf("    %s %s", branch, d->name);
		right = mem_printf("VLAN %d on %s", d->vlan, w->devs.v[d->lower].name);
		add_line(out, left, right);
		return;
	}
	if (g->far[port] < 0)
		return;
	far = &w->devs.v[g->far[port]];
	addresses = graph_addresses(w, g->far[port]);
	right = joined(addresses, label_at(g, port));
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
	/* Once is enough: at its first end. */
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
	if (w->scale_num != w->scale_den)
		strbuf_addf(
		    out,
		    "scale %lld/%lld: rates and packet rates are so much of what is declared\n",
		    (long long)w->scale_num, (long long)w->scale_den);
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
