/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * graph: the picture of a lab. Finds the edges; graph_text.c and graph_draw.c put them on paper.
 * Called by cli/.
 */
#include "emulator/model/graph.h"

#include "core/base/units.h"
#include "emulator/model/redirect.h"
#include "emulator/model/topology.h"

struct graph_vertex graph_vertex_of(const struct wire *w, int dev)
{
	const struct wire_dev *d = &w->devs.v[dev];
	enum node_kind kind = w->nodes.v[d->node].kind;

	if (d->master >= 0)
		return (struct graph_vertex){true, d->master};
	if (kind == NODE_HOST || kind == NODE_SWITCH || kind == NODE_WIRES)
		return (struct graph_vertex){true, dev};
	return (struct graph_vertex){false, d->node};
}

/* Not who has the address inside: two VPCs may both use that. */
int graph_owner(const struct wire *w, const struct ip *eip)
{
	VEC_FOREACH (e, &w->endpoints) {
		if (ip_equal(&e->ip4, eip) || ip_equal(&e->ip6, eip))
			return e->node;
	}
	return -1;
}

char *graph_addresses(const struct wire *w, int dev)
{
	struct strbuf out = {0};
	char text[ADDR_TEXT];

	VEC_FOREACH (a, &w->devs.v[dev].addrs)
		strbuf_addf(&out, "%s%s", out.len ? ", " : "", prefix_format(text, &a->prefix));
	return strbuf_take(&out);
}

const char *graph_node_word(const struct wire_node *n)
{
	switch (n->kind) {
	case NODE_HOST:
		return n->engine == ENGINE_OVS ? "host, Open vSwitch" : "host, Linux bridges";
	case NODE_EIP:
		return "EIP namespace";
	default:
		return wire_node_kind_name(n->kind);
	}
}

static void add_rate(struct strbuf *out, const char *before, const struct wire_rate *rate)
{
	char text[32];

	if (!rate->bps)
		strbuf_addf(out, "%sunshaped", before);
	else
		strbuf_addf(out, "%s%s %s", before,
			    units_format_rate(text, sizeof(text), (double)rate->bps),
			    wire_basis_name(rate->basis));
}

/* `forth`: what the edge's first end sends. */
static const char *rates_text(struct arena *arena, const struct wire_rate *forth,
			      const struct wire_rate *back)
{
	autostr struct strbuf out = {0};

	if (!forth->bps && !back->bps)
		return "";
	if (forth->bps == back->bps && forth->basis == back->basis) {
		add_rate(&out, "", forth);
	} else {
		add_rate(&out, "→ ", forth);
		add_rate(&out, ", ← ", back);
	}
	return arena_strdup(arena, strbuf_text(&out));
}

/* Of the link whose ends are on the way from `a` to its far end (a vNIC's limit, say). */
static const char *edge_label(struct graph *g, const int *redirect, const int *link_of, int a)
{
	const struct wire *w = g->w;
	int dev = a;

	for (int steps = 0; steps < 16; steps++) {
		int peer = w->devs.v[dev].peer,
		    index = link_of[dev] >= 0 ? link_of[dev] : link_of[peer];

		if (index >= 0 &&
		    (w->links.v[index].ab.rate.bps || w->links.v[index].ba.rate.bps)) {
			const struct wire_link *l = &w->links.v[index];
			bool forward = l->dev_a == dev || l->dev_b == peer;

			return rates_text(&g->arena, forward ? &l->ab.rate : &l->ba.rate,
					  forward ? &l->ba.rate : &l->ab.rate);
		}
		if (redirect[peer] < 0)
			break;
		dev = redirect[peer];
	}
	return "";
}

static void add_edge(struct graph *g, int a, int b, bool tunnel, const char *label)
{
	*VEC_ADD(&g->arena, &g->edges) = (struct graph_edge){a, b, tunnel, label};
	if (tunnel)
		return;
	g->far[a] = b;
	g->far[b] = a;
	g->edge[a] = g->edge[b] = (int)g->edges.n - 1;
}

static void add_tunnels(struct graph *g, int a)
{
	const struct wire_dev *d = &g->w->devs.v[a];

	for (size_t b = (size_t)a + 1; b < g->w->devs.n; b++) {
		const struct wire_dev *other = &g->w->devs.v[b];

		if (other->kind == DEV_VXLAN && other->vni == d->vni)
			add_edge(g, a, (int)b, true, arena_printf(&g->arena, "VXLAN %d", d->vni));
	}
}

/* By device: the link that it is an end of, or -1. */
static int *links_by_dev(const struct wire *w)
{
	int *link_of = mem_zalloc((w->devs.n + 1) * sizeof(*link_of));

	for (size_t i = 0; i < w->devs.n; i++)
		link_of[i] = -1;
	for (size_t i = 0; i < w->links.n; i++) {
		link_of[w->links.v[i].dev_a] = (int)i;
		link_of[w->links.v[i].dev_b] = (int)i;
	}
	return link_of;
}

static void find_edges(struct graph *g)
{
	const struct wire *w = g->w;
	autofree int *redirect = redirect_find(w);
	autofree int *link_of = links_by_dev(w);

	g->far = arena_alloc(&g->arena, (w->devs.n + 1) * sizeof(*g->far));
	g->edge = arena_alloc(&g->arena, (w->devs.n + 1) * sizeof(*g->edge));
	for (size_t i = 0; i < w->devs.n; i++)
		g->far[i] = g->edge[i] = -1;
	for (int a = 0; a < (int)w->devs.n; a++) {
		if (w->devs.v[a].kind == DEV_VXLAN)
			add_tunnels(g, a);
		if (w->devs.v[a].kind != DEV_VETH || redirect[a] >= 0 || g->far[a] >= 0)
			continue;
		add_edge(g, a, redirect_far_end(w, redirect, a), false,
			 edge_label(g, redirect, link_of, a));
	}
}

int graph_print(const struct wire *w, const char *format, struct strbuf *out, struct err *err)
{
	static const struct {
		const char *name;
		void (*print)(const struct graph *g, struct strbuf *out);
	} formats[] = {{"text", graph_text}, {"dot", graph_dot}, {"mermaid", graph_mermaid}};

	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		struct graph g = {.w = w};

		if (!str_eq(format, formats[i].name))
			continue;
		arena_init(&g.arena);
		find_edges(&g);
		formats[i].print(&g, out);
		arena_done(&g.arena);
		return 0;
	}
	return err_input(err, "'%s' is no format of a picture; use text, dot or mermaid", format);
}
