/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * path_walk: what path.c (routing), path_nft.c (translation, filters) and path_l2.c (bridges, taps,
 * tunnels) share. A walk appends hops to the path that is being found; whoever gives up cuts the
 * hops back to where it began. Nobody outside emulator/model includes this file.
 */
#ifndef VPCLAB_MODEL_PATH_WALK_H
#define VPCLAB_MODEL_PATH_WALK_H

#include "emulator/model/path.h"
#include "emulator/model/redirect.h"

struct path_packet {
	struct ip src, dst; /* src family 0: the route decides */
	int encap_bytes;    /* around the original packet */
	int ttl;	    /* the loop guard, as in real life */
	bool outer;	    /* of a tunnel: no translation, no hop where it is delivered */
};

struct path_walk {
	const struct wire *w;
	struct path *out;
	const struct path *undo; /* the way there, when this is the way back */
	struct redirect *redirect;
	struct err *err;
};

/*
 * Routes `p` from `node`, which it entered by device `in` (-1: made there), to the node that has
 * its destination. Gives the device by which it was delivered (-1: it never left the node) in *end.
 */
int path_route(struct path_walk *walk, struct path_packet *p, int node, int in, int *end);

/*
 * Carries a frame that leaves by `out` to whoever has `next`, asking as `p`'s sender does:
 * permanent neighbours, ARP answers at the bridge port, then the whole layer 2. Gives the device it
 * arrives at, or -1 (and no hops) when nobody answers.
 */
int path_l2_carry(struct path_walk *walk, const struct path_packet *p, int out,
		  const struct ip *next);

struct path_nft_packet {
	const struct ip *src, *dst;
	int in, out; /* devices, -1: none (yet) */
	bool reply;  /* of a connection that exists */
};

struct path_nft_verdict {
	const char *refused; /* "dropped", "rejected", or NULL: it passes */
	bool nat, source;    /* an address is translated; the source */
	struct ip to;
	const char *chain; /* where it was decided; NULL: by no rule */
	int rule;	   /* its number in that chain, from 1 */
};

/* Runs the base chains of `node` whose text begins with `hook` ("type nat hook prerouting"). */
void path_nft_run(const struct path_walk *walk, int node, const char *hook,
		  const struct path_nft_packet *p, struct path_nft_verdict *verdict);

struct path_hop *path_add_hop(struct path_walk *walk, const struct path_packet *p, int node, int in,
			      int out);
bool path_node_has(const struct wire *w, int node, const struct ip *ip);
bool path_dev_has(const struct wire *w, int dev, const struct ip *ip);

#endif
