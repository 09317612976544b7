/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * path: follows a packet through the wire model, hop by hop, with every translation. Pure.
 *
 * It is a small forwarding simulation (bridges by MAC, routes by longest prefix, wire_nat, VXLAN),
 * good for the labs that this program builds, no substitute for the kernel.
 */
#ifndef VPCLAB_MODEL_PATH_H
#define VPCLAB_MODEL_PATH_H

#include "emulator/model/wire.h"

struct path_hop {
	int node, dev_in, dev_out; /* -1 at the ends */
	const char *text; /* "DNAT 192.0.2.50 → 10.10.0.10", "forward", "encapsulate VNI 100" */
	int encap_bytes;  /* by which a frame on dev_out is longer than the original: 50 in VXLAN */
	int shaper;	  /* device whose egress shapes when leaving here, or -1 */
	int impair_link;  /* index of the link whose impairment is met when leaving here, or -1 */
	bool impair_ba;	  /* its direction b→a */
};

struct path_nat { /* a translation made on the way, for the way back to undo */
	int node;
	bool source; /* of the source address, else of the destination */
	struct ip from, to;
};

struct path {
	struct arena arena;
	VEC(struct path_hop) hops;
	int mtu; /* the least IP MTU on the way, encapsulation taken off */
	int dst_node;
	struct ip src_seen;  /* source address that the destination sees */
	struct ip dst_final; /* destination address after translation */
	VEC(struct path_nat) nats;
};

/* From endpoint to endpoint ("client", "eip(flat-eip)"). path_done() in either case. */
int path_find(const struct wire *w, const char *src, const char *dst, int family, struct path *out,
	      struct err *err);
/* The way back of a path: from its end to its start, with the translations undone. */
int path_reverse(const struct wire *w, const struct path *p, struct path *out, struct err *err);
void path_done(struct path *p);

#endif
