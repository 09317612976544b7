/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * graph: the picture of a lab. Finds the edges; graph_text.c and graph_draw.c put them on paper.
 * Called by cli/.
 */
#include "emulator/model/graph.h"

#include "emulator/model/redirect.h"
#include "emulator/model/topology.h"
#include "emulator/model/wire_text.h"

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

struct direction { /* of a link */
	const struct wire_shape *shape;
	const struct wire_impair *impair;
};

static void add_direction(struct strbuf *out, const struct direction *d)
{
	size_t begin = out->len;

	wire_text_shape(out, d->shape);
	if (!wire_shape_any(d->shape))
		strbuf_add(out, "unshaped");
	begin = out->len - begin;
	if (d->impair->given) {
		autostr struct strbuf text = {0};

		wire_text_impair(&text, d->impair);
		if (text.len)
			strbuf_addf(out, "%s%s", begin ? ", " : "", strbuf_text(&text));
	}
}

/* `forth`: what the edge's first end sends. */
static const char *label_text(struct graph *g, const struct wire_link *l, bool forth)
{
	struct direction ab = {&l->ab, &l->impair_ab}, ba = {&l->ba, &l->impair_ba};
	autostr struct strbuf out = {0}, back = {0};

	add_direction(&out, forth ? &ab : &ba);
	add_direction(&back, forth ? &ba : &ab);
	if (str_eq(strbuf_text(&out), strbuf_text(&back)))
		return arena_printf(&g->arena, "%s%s", strbuf_text(&out),
				    l->sum ? " (both directions together)" : "");
	return arena_printf(&g->arena, "→ %s, ← %s", strbuf_text(&out), strbuf_text(&back));
}

static bool says_anything(const struct wire_link *l)
{
	return wire_shape_any(&l->ab) || wire_shape_any(&l->ba) || l->engine != IMPAIR_NONE;
}

struct found {
	const struct wire_link *link; /* NULL: none that has anything to say */
	bool forth;		      /* seen from its end a */
};

/* The link whose ends are on the way from `a` to its far end (a vNIC's limit, say). */
static struct found find_link(const struct graph *g, const struct redirect *r, const int *link_of,
			      int a)
{
	const struct wire *w = g->w;
	uint32_t mark = 0;
	int dev = a;

	for (int steps = 0; steps < 16; steps++) {
		int peer = w->devs.v[dev].peer,
		    index = link_of[dev] >= 0 ? link_of[dev] : link_of[peer];

		if (index >= 0 && says_anything(&w->links.v[index])) {
			const struct wire_link *l = &w->links.v[index];

			return (struct found){l, l->dev_a == dev || l->dev_b == peer};
		}
		dev = redirect_next(r, peer, &mark);
		if (dev < 0)
			break;
	}
	return (struct found){NULL, false};
}

/* Gives what is to be completed: no words. */
static struct graph_edge *add_edge(struct graph *g, int a, int b)
{
	struct graph_edge *e = VEC_ADD(&g->arena, &g->edges);

	*e = (struct graph_edge){.a = a, .b = b, .label = "", .back = ""};
	return e;
}

static void add_line(struct graph *g, int a, int b, const struct found *found)
{
	struct graph_edge *e = add_edge(g, a, b);

	if (found->link) {
		e->label = label_text(g, found->link, found->forth);
		e->back = label_text(g, found->link, !found->forth);
	}
	g->far[a] = b;
	g->far[b] = a;
	g->edge[a] = g->edge[b] = (int)g->edges.n - 1;
}

static void add_tunnels(struct graph *g, int a)
{
	const struct wire_dev *d = &g->w->devs.v[a];

	for (size_t b = (size_t)a + 1; b < g->w->devs.n; b++) {
		const struct wire_dev *other = &g->w->devs.v[b];

		if (other->kind == DEV_VXLAN && other->vni == d->vni) {
			struct graph_edge *e = add_edge(g, a, (int)b);

			e->tunnel = true;
			e->label = e->back = arena_printf(&g->arena, "VXLAN %d", d->vni);
		}
	}
}

/* From the bridge of a VLAN to its card. */
static void add_vlan(struct graph *g, int dev)
{
	const struct wire_dev *d = &g->w->devs.v[dev];
	struct graph_edge *e = add_edge(g, dev, d->lower);

	e->label = e->back = arena_printf(&g->arena, "VLAN %d", d->vlan);
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

/* A device that is no end of anything: what comes in there goes on, or nothing ever comes in. */
static bool is_between(const struct graph *g, const struct redirect *r, int dev)
{
	uint32_t mark = 0;

	return g->w->devs.v[dev].role == ROLE_CAP || redirect_next(r, dev, &mark) >= 0;
}

static void find_edges(struct graph *g)
{
	const struct wire *w = g->w;
	struct redirect *r = redirect_find(w);
	autofree int *link_of = links_by_dev(w);

	g->far = arena_alloc(&g->arena, (w->devs.n + 1) * sizeof(*g->far));
	g->edge = arena_alloc(&g->arena, (w->devs.n + 1) * sizeof(*g->edge));
	for (size_t i = 0; i < w->devs.n; i++)
		g->far[i] = g->edge[i] = -1;
	for (int a = 0; a < (int)w->devs.n; a++) {
		struct found found;

		if (w->devs.v[a].kind == DEV_VXLAN)
			add_tunnels(g, a);
		if (w->devs.v[a].kind == DEV_VLAN)
			add_vlan(g, a);
		if (w->devs.v[a].kind != DEV_VETH || is_between(g, r, a) || g->far[a] >= 0)
			continue;
		found = find_link(g, r, link_of, a);
		add_line(g, a, redirect_far_end(w, r, a), &found);
	}
	redirect_free(r);
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
