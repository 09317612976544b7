/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * graph_draw: the picture for programs that draw: Graphviz' dot and Mermaid's flowchart. Both get
 * the same boxes (a host is a box around what runs on it) and lines; only the spelling differs.
 * Called by graph.c.
 */
#include "emulator/model/graph.h"

#include <string.h>

struct pen {
	const struct graph *g;
	struct strbuf *out;
	const struct spelling *spelling;
	const char *indent;
};

struct spelling {
	const char *head, *tail;
	const char *newline; /* inside a label */
	void (*escape)(struct strbuf *out, const char *text);
	void (*box)(struct pen *pen, const char *id, const char *label, enum node_kind kind);
	void (*open)(struct pen *pen, const char *id, const char *label); /* of a host */
	void (*close)(struct pen *pen);
	void (*line)(struct pen *pen, const char *a, const char *b, const struct graph_edge *e);
};

/* ---- dot ---- */

static void dot_escape(struct strbuf *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			strbuf_addc(out, '\\');
		strbuf_addc(out, *text);
	}
}

static void dot_box(struct pen *pen, const char *id, const char *label, enum node_kind kind)
{
	const char *shape = "box, style=rounded";

	if (kind == NODE_SWITCH || kind == NODE_HOST)
		shape = "box, style=filled, fillcolor=\"#e8eef7\"";
	else if (kind == NODE_ROUTER || kind == NODE_EIP)
		shape = "ellipse";
	strbuf_addf(pen->out, "%s%s [shape=%s, label=\"%s\"];\n", pen->indent, id, shape, label);
}

static void dot_open(struct pen *pen, const char *id, const char *label)
{
	strbuf_addf(pen->out, "\tsubgraph cluster_%s {\n\t\tlabel=\"%s\";\n", id, label);
}

static void dot_close(struct pen *pen)
{
	strbuf_add(pen->out, "\t}\n");
}

static void dot_line(struct pen *pen, const char *a, const char *b, const struct graph_edge *e)
{
	strbuf_addf(pen->out, "\t%s -- %s", a, b);
	if (*e->label)
		strbuf_addf(pen->out, " [label=\"%s\"%s]", e->label,
			    e->tunnel ? ", style=dashed" : "");
	strbuf_add(pen->out, ";\n");
}

/* ---- Mermaid ---- */

static void mermaid_escape(struct strbuf *out, const char *text)
{
	for (; *text; text++) {
		if (strchr("\"#<>&`", *text))
			strbuf_addf(out, "#%d;", (unsigned char)*text);
		else
			strbuf_addc(out, *text);
	}
}

static void mermaid_box(struct pen *pen, const char *id, const char *label, enum node_kind kind)
{
	if (kind == NODE_ROUTER || kind == NODE_EIP)
		strbuf_addf(pen->out, "%s%s([\"%s\"])\n", pen->indent, id, label);
	else if (kind == NODE_SWITCH || kind == NODE_HOST)
		strbuf_addf(pen->out, "%s%s[[\"%s\"]]\n", pen->indent, id, label);
	else
		strbuf_addf(pen->out, "%s%s[\"%s\"]\n", pen->indent, id, label);
}

static void mermaid_open(struct pen *pen, const char *id, const char *label)
{
	strbuf_addf(pen->out, "\tsubgraph host_%s[\"%s\"]\n", id, label);
}

static void mermaid_close(struct pen *pen)
{
	strbuf_add(pen->out, "\tend\n");
}

static void mermaid_line(struct pen *pen, const char *a, const char *b, const struct graph_edge *e)
{
	const char *stroke = e->tunnel ? "-.-" : "---";

	if (*e->label)
		strbuf_addf(pen->out, "\t%s %s|\"%s\"| %s\n", a, stroke, e->label, b);
	else
		strbuf_addf(pen->out, "\t%s %s %s\n", a, stroke, b);
}

/* ---- both ---- */

/* "n3" for a node, "d12" for a device: never a name, which may have any characters. */
static char *vertex_id(struct graph_vertex v)
{
	return mem_printf("%c%d", v.is_dev ? 'd' : 'n', v.index);
}

static void add_dev_line(struct pen *pen, struct strbuf *label, int dev)
{
	autofree char *addresses = graph_addresses(pen->g->w, dev);

	if (!*addresses)
		return;
	strbuf_add(label, pen->spelling->newline);
	pen->spelling->escape(label, addresses);
}

static void draw_node(struct pen *pen, int node)
{
	const struct wire *w = pen->g->w;
	autofree char *id = vertex_id((struct graph_vertex){false, node});
	autostr struct strbuf label = {0};

	pen->spelling->escape(&label, w->nodes.v[node].name);
	for (int i = 0; i < (int)w->devs.n; i++) {
		if (w->devs.v[i].node == node)
			add_dev_line(pen, &label, i);
	}
	pen->spelling->box(pen, id, strbuf_text(&label), w->nodes.v[node].kind);
}

/* A bridge, or a host's own device. */
static void draw_dev(struct pen *pen, int dev)
{
	const struct wire *w = pen->g->w;
	const struct wire_dev *d = &w->devs.v[dev];
	autofree char *id = vertex_id((struct graph_vertex){true, dev});
	autostr struct strbuf label = {0};

	if (w->nodes.v[d->node].kind == NODE_SWITCH) {
		pen->spelling->escape(&label, w->nodes.v[d->node].name);
		strbuf_addc(&label, ' ');
	}
	pen->spelling->escape(&label, d->name);
	add_dev_line(pen, &label, dev);
	pen->spelling->box(pen, id, strbuf_text(&label), w->nodes.v[d->node].kind);
}

static bool is_end(const struct graph *g, int dev)
{
	return g->w->devs.v[dev].master < 0 && g->far[dev] >= 0;
}

/* Bridges of a host or switch, and its own devices that something is connected to. */
static void draw_devs(struct pen *pen, int node)
{
	const struct wire *w = pen->g->w;

	for (int i = 0; i < (int)w->devs.n; i++) {
		if (w->devs.v[i].node == node &&
		    (w->devs.v[i].kind == DEV_BRIDGE || is_end(pen->g, i)))
			draw_dev(pen, i);
	}
}

static bool has_devs(const struct wire_node *n)
{
	return n->kind == NODE_HOST || n->kind == NODE_SWITCH;
}

static void draw_host(struct pen *pen, int host)
{
	const struct wire *w = pen->g->w;
	autofree char *id = mem_printf("h%d", host);
	autostr struct strbuf label = {0};

	pen->spelling->escape(&label, w->nodes.v[host].name);
	strbuf_addf(&label, " (%s)", graph_node_word(&w->nodes.v[host]));
	pen->spelling->open(pen, id, strbuf_text(&label));
	pen->indent = "\t\t";
	draw_devs(pen, host);
	for (size_t i = 0; i < w->nodes.n; i++) {
		if (w->nodes.v[i].host == host)
			draw_node(pen, (int)i);
	}
	pen->indent = "\t";
	pen->spelling->close(pen);
}

static void draw_edge(struct pen *pen, const struct graph_edge *e)
{
	const struct wire *w = pen->g->w;
	struct graph_vertex va = graph_vertex_of(w, e->a), vb = graph_vertex_of(w, e->b);
	autofree char *a = vertex_id(va), *b = vertex_id(vb), *address = NULL;
	struct graph_edge named = *e;
	int eip = !va.is_dev && w->nodes.v[va.index].kind == NODE_EIP	? e->a
		  : !vb.is_dev && w->nodes.v[vb.index].kind == NODE_EIP ? e->b
									: -1;

	/* An EIP's namespace has two lines to one bridge, its outside and its inside. */
	if (!*e->label && eip >= 0)
		named.label = address = graph_addresses(w, eip);
	pen->spelling->line(pen, a, b, &named);
}

/* From who translates an EIP to its VM: the packets take the bridge, the address belongs there. */
static void draw_eip(struct pen *pen, const struct wire_nat *nat)
{
	const struct wire *w = pen->g->w;
	int vm = graph_owner(w, &nat->outside);
	char text[ADDR_TEXT];

	if (vm < 0)
		return;
	autofree char *label = mem_printf("EIP %s", ip_format(text, &nat->outside));
	autofree char *a = vertex_id((struct graph_vertex){false, nat->node});
	autofree char *b = vertex_id((struct graph_vertex){false, vm});
	struct graph_edge e = {.tunnel = true, .label = label};

	pen->spelling->line(pen, a, b, &e);
}

static void draw(const struct graph *g, struct strbuf *out, const struct spelling *spelling)
{
	struct pen pen = {.g = g, .out = out, .spelling = spelling, .indent = "\t"};
	const struct wire *w = g->w;

	strbuf_add(out, spelling->head);
	for (size_t i = 0; i < w->nodes.n; i++) {
		const struct wire_node *n = &w->nodes.v[i];

		if (n->kind == NODE_HOST)
			draw_host(&pen, (int)i);
		else if (has_devs(n))
			draw_devs(&pen, (int)i);
		else if (n->host < 0 && n->kind != NODE_WIRES)
			draw_node(&pen, (int)i);
	}
	VEC_FOREACH (e, &g->edges)
		draw_edge(&pen, e);
	VEC_FOREACH (nat, &w->nats)
		draw_eip(&pen, nat);
	strbuf_add(out, spelling->tail);
}

void graph_dot(const struct graph *g, struct strbuf *out)
{
	static const struct spelling dot = {
	    .head = "\trankdir=LR;\n"
		    "\tgraph [fontname=\"sans-serif\"];\n"
		    "\tnode [fontname=\"sans-serif\"];\n"
		    "\tedge [fontname=\"sans-serif\", fontsize=10];\n",
	    .tail = "}\n",
	    .newline = "\\n",
	    .escape = dot_escape,
	    .box = dot_box,
	    .open = dot_open,
	    .close = dot_close,
	    .line = dot_line,
	};

	strbuf_add(out, "graph \"");
	dot_escape(out, g->w->name);
	strbuf_add(out, "\" {\n");
	draw(g, out, &dot);
}

void graph_mermaid(const struct graph *g, struct strbuf *out)
{
	static const struct spelling mermaid = {
	    .head = "flowchart LR\n",
	    .tail = "",
	    .newline = "<br/>",
	    .escape = mermaid_escape,
	    .box = mermaid_box,
	    .open = mermaid_open,
	    .close = mermaid_close,
	    .line = mermaid_line,
	};

	draw(g, out, &mermaid);
}
