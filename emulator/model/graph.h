/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * graph: what the three pictures have in common: who is connected to whom once taps, veth pairs and
 * middles are left out. graph_print() itself is in topology.h. For emulator/model only.
 */
#ifndef VPCLAB_MODEL_GRAPH_H
#define VPCLAB_MODEL_GRAPH_H

#include "core/base/str.h"
#include "emulator/model/wire.h"

struct graph_edge {
	int a, b;	   /* the devices at its ends */
	bool tunnel;	   /* VXLAN: both ends are VXLAN devices */
	const char *label; /* "1 Gbit/s l1", or ""; arrows as seen from `a` … */
	const char *back;  /* … and from `b` */
};

struct graph {
	const struct wire *w;
	struct arena arena;
	VEC(struct graph_edge) edges; /* by device a */
	int *far;  /* by device: the other end of its edge (not tunnels), or -1 */
	int *edge; /* by device: that edge, or -1 */
};

/*
 * What a device is drawn as: the bridge that it is a port of, a bridge itself, or its node; a
 * host's own device that is no port is drawn as itself.
 */
struct graph_vertex {
	bool is_dev;
	int index; /* of the device or the node */
};
struct graph_vertex graph_vertex_of(const struct wire *w, int dev);

/* The node that an EIP belongs to, or -1. */
int graph_owner(const struct wire *w, const struct ip *eip);

/* Addresses of a device, ", " between them; heap text. */
char *graph_addresses(const struct wire *w, int dev);

/* "linux bridges", "router": what a node is, in a word or two. */
const char *graph_node_word(const struct wire_node *n);

void graph_text(const struct graph *g, struct strbuf *out);
void graph_dot(const struct graph *g, struct strbuf *out);
void graph_mermaid(const struct graph *g, struct strbuf *out);

#endif
