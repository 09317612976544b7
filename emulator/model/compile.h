/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compile: cloud model → wire model. For emulator/model only.
 *
 * Theory of operation. compile.c decides what concerns the whole lab (modes, layer 2s, who needs
 * which bridge) and calls the others in file order: compile_host.c makes bridges, uplinks and
 * VXLANs, compile_addr.c chooses addresses, compile_vm.c, compile_router.c and compile_eip.c put
 * their namespaces on the bridges, compile_fence.c the ARP rules around flat EIPs, compile_node.c
 * the wire level. compile_link.c makes what is between the ends of a link, compile_card.c what is
 * between a VM and its bridge, and compile_shape.c says what limits and impairments they have.
 * compile_dev.c is the only one that adds nodes, devices, routes and rules.
 *
 * The cloud model has passed the checks, so references are good. What can still go wrong (no
 * address left, too many ports on a bridge) becomes a problem.
 */
#ifndef VPCLAB_MODEL_COMPILE_H
#define VPCLAB_MODEL_COMPILE_H

#include "emulator/model/cloud.h"
#include "core/base/keyset.h"

struct compile_l2 {	    /* a layer 2 between the hosts; number 0 is the shared one */
	const char *name;   /* "" for the shared one */
	const char *bridge; /* wanted name of its bridge on the hosts */
	int vlan;	    /* 802.1Q tag on the shared one's wire; 0: a wire of its own */
};

struct compile_net {
	int l2;	       /* flat: index of its layer 2; vpc: -1 */
	int vni, mtu;  /* vni: vpc */
	uint64_t next; /* number from which the search for a free address goes on */
};

struct compile_host {
	int node;
	struct ip underlay;	     /* family 0 where there is no fabric */
	bool *need_l2, *need_net;    /* by layer 2; by network: is a member here? */
	int *l2_bridge, *net_bridge; /* devices, -1: none */
	int nic;		     /* its uplink on the shared layer 2 */
};

struct compile_vnic {
	int network;
	struct ip ip[CLOUD_FAMILIES];
	int dev, port; /* inside the VM; its port on the bridge */
};

struct compile_vm {	/* one instance */
	int node, host; /* host: index among the hosts */
	struct compile_vnic *vnics;
};

struct compile_fence { /* what the ARP rules around one flat EIP need to know */
	const struct cloud_eip *eip;
	int host;		    /* index among the hosts */
	int vm_port;		    /* the VM's bridge port */
	int outer_port, inner_port; /* those of the namespace */
	struct ip gateway, vm_ip;
	struct mac vm_mac, inner_mac;
};

struct compile_router; /* compile_router.c */

struct compile {
	const struct topology *t;
	const struct compile_options *o;
	struct wire *w;
	struct problems *p;
	struct arena scratch;
	struct keyset ifnames; /* scope: node */
	struct keyset taken;   /* addresses; scope: network */
	struct keyset nodes;   /* names of nodes; scope 0 */
	struct keyset joined;  /* pairs of cloud nodes: scope 0 by a link, scope 1 by several;
				* scope 2: names of links */
	VEC(int) next_ifindex; /* by node */
	VEC(struct compile_l2) l2s;
	struct compile_net *nets;
	struct compile_host *hosts;
	struct compile_vm *vms; /* by instance number */
	struct compile_router *routers;
	VEC(struct compile_fence) fences;
	struct prefix underlay;
	int fabric, wires; /* nodes, -1: none */
	bool shaped;	   /* a rate is realised somewhere */
	bool exact;	   /* a link is declared exact: frames stay single */
};

/* ---- compile_dev.c ---- */

struct compile_dev {
	int node;
	const char *want;    /* name, made short and unique … */
	const char *tail;    /* … and what follows it, see ifname.h; or NULL */
	const char *altname; /* instead of the one that follows from them, or NULL */
	enum dev_kind kind;
	enum dev_role role;
	int mtu, master;
	int big_tcp; /* 0: no */
};

int compile_dev_node(struct compile *c, const char *name, enum node_kind kind, int host);
int compile_dev_new(struct compile *c, const struct compile_dev *spec);
/* Both ends of a veth pair, one after the other. Returns the first, the second is the next. */
int compile_dev_veth(struct compile *c, const struct compile_dev *a, const struct compile_dev *b);
/*
 * An address with its connected route (addresses bring none along: the route pins cubic). A second
 * address in a network, such as a VIP, shares the first one's route.
 */
void compile_dev_addr(struct compile *c, int dev, const struct ip *ip, int len);
void compile_dev_route(struct compile *c, int dev, const struct prefix *dst, const struct ip *via);
void compile_dev_default(struct compile *c, int dev, const struct ip *via);
/* The last value of a key counts. */
void compile_dev_sysctl(struct compile *c, int node, const char *key, const char *value);
/* Whether the node speaks IPv6, and what every such node sets. */
void compile_dev_ipv6(struct compile *c, int node, bool has_ipv6, bool forward);
void compile_dev_rp_filter_off(struct compile *c, int node);

int compile_dev_link(struct compile *c, const char *name, int a, int b);
/* Lets `dev` realise the direction a→b (or b→a) of a link; does nothing where nothing limits. */
void compile_dev_shape(struct compile *c, int dev, int link, bool ba);
/* Notes once for the lab what this machine makes of something. Both texts outlive the compiler. */
void compile_dev_choice(struct compile *c, const char *what, const char *how);
int compile_dev_endpoint(struct compile *c, const char *name, int node); /* index */

struct compile_chain {
	int node;
	const char *family, *table;
};
int compile_dev_chain(struct compile *c, const struct compile_chain *in, const char *name,
		      const char *hook); /* index */
void compile_dev_rule(struct compile *c, int chain, const char *comment, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* The chain "from-DEV" of what comes in at a device, in a table of family netdev. */
int compile_dev_ingress(struct compile *c, int dev, const char *table);
/* The rule that drops packets over a policed rate; none where they are not policed. */
void compile_dev_police(struct compile *c, int chain, const struct wire_pps *pps);

/* ---- compile_shape.c ---- */

void compile_shape_modes(struct compile *c); /* sets c->shaped and c->exact */
/* As declared, scaled, with a mode; no limit in it when the lab is unshaped. `engine`: what impairs
 * the link. */
struct wire_shape compile_shape(const struct compile *c, const struct cloud_shape *cloud,
				enum impair_engine engine);
struct wire_shape compile_shape_caps(const struct compile *c, const struct cloud_caps *caps);
struct wire_impair compile_shape_impair(const struct compile *c, const struct cloud_impair *impair);
/* Who impairs both directions of a link. `l` (NULL: auto) says who should, and may be wrong. */
enum impair_engine compile_shape_engine(struct compile *c, const struct cloud_link *l,
					const struct wire_impair impair[2]);

/* ---- compile_link.c ---- */

struct compile_link { /* index 0: end a, and what it sends */
	const char *name, *path;
	struct compile_dev end[2];
	const char *label[2]; /* names of the middles, should there be any */
	bool forwards[2];     /* a host, switch or router: shapes on its own device */
	struct wire_shape shape[2];
	struct wire_impair impair[2];
	enum impair_engine engine;
};
/* Makes the devices of a link, between its ends too, and the link. Returns its index. */
int compile_link(struct compile *c, const struct compile_link *l);
void compile_link_offloads(struct compile *c); /* of links with an impairment; at the end */

/* ---- compile_card.c ---- */

struct compile_card { /* a vNIC */
	const struct cloud_vnic *cloud;
	int vm, host; /* nodes */
	int index;    /* which of the VM's */
	int bridge;
	int mtu_inside, mtu; /* mtu: of its network */
	const char *name;    /* of the VM */
	const char *path;
};
/* Makes a vNIC's devices, rules and link. Gives the device in the VM and the bridge's port. */
void compile_card(struct compile *c, const struct compile_card *card, int *dev, int *port);

/* ---- the parts ---- */

void compile_host_all(struct compile *c);
void compile_addr_reserve(struct compile *c);
/*
 * Completes ip[] of a member of a network: what is given stays, the rest gets the same number in
 * both families, from `first` on. A problem at `at` when nothing is free.
 */
void compile_addr_choose(struct compile *c, int network, int first, struct mark at,
			 struct ip ip[CLOUD_FAMILIES]);
void compile_router_all(struct compile *c);
void compile_router_rules(struct compile *c); /* after compile_vm_all() */
void compile_vm_all(struct compile *c);
void compile_eip_all(struct compile *c);
void compile_fence_all(struct compile *c);
void compile_node_all(struct compile *c);

/* The bridge of a network on a host, -1 when there is none. */
int compile_bridge(const struct compile *c, int host, int network);

#endif
