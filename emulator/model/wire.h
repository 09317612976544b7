/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wire: what a lab is once no cloud word is left: namespaces, devices, addresses, routes, rules,
 * shapers. Pure data. emulator/model fills it (topology_compile()), emulator/plan orders it,
 * emulator/lab compares the kernel with it, core/harness reads paths and rates from it.
 *
 * References are indices into the arrays of `struct wire` (-1 = none), so that arrays can grow.
 * All strings live in wire.arena. The order of every array is deterministic: same topology, same
 * options, same bytes.
 */
#ifndef VPCLAB_MODEL_WIRE_H
#define VPCLAB_MODEL_WIRE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/addr.h"
#include "core/base/mem.h"

enum node_kind {
	NODE_MACHINE, /* bare metal: its own NIC pushes back on its senders */
	NODE_VM,   /* behind vNICs: what it sends is taken off its hands, then queued or dropped */
	NODE_HOST, /* hypervisor */
	NODE_SWITCH, /* the fabric */
	NODE_ROUTER, /* vRouter, or `kind: router` */
	NODE_EIP,    /* namespace of one flat EIP */
	NODE_WIRES,  /* holds the middles of shaped links between machines */
};

enum bridge_engine { ENGINE_LINUX, ENGINE_OVS };

struct wire_sysctl {
	const char *key; /* with slashes, below /proc/sys: "net/ipv4/ip_forward"; once a node */
	const char *value;
	bool optional; /* a kernel without this file is fine */
};

struct wire_node {
	const char *name; /* unique in the lab; also the name of the namespace */
	enum node_kind kind;
	int host;		   /* node index of the hypervisor it runs on, or -1 */
	enum bridge_engine engine; /* NODE_HOST, NODE_SWITCH: what its bridges are */
	VEC(struct wire_sysctl) sysctls;
};

enum dev_kind { DEV_VETH, DEV_BRIDGE, DEV_VXLAN, DEV_VLAN };

enum dev_role {
	ROLE_OTHER,
	ROLE_VNIC,   /* inside the VM: eth0, … */
	ROLE_TAP,    /* host's end of a vNIC, not a bridge port itself */
	ROLE_TAPOUT, /* host's side of the tap, towards the bridge (its peer is ROLE_PORT) */
	ROLE_CAP,    /* of the pair through which both directions of a vNIC go where one cap
		      * counts their sum; its egress has the cap, its peer tells them apart */
	ROLE_PORT,   /* bridge port */
	ROLE_UPLINK, /* host's NIC on the fabric */
	ROLE_BRIDGE,
	ROLE_MIDDLE, /* in NODE_WIRES: the other end of a link's end */
	ROLE_SPAN,   /* in NODE_WIRES: of the pair between two middles, see struct wire_link */
};

struct wire_addr { /* the first of each network is the source; VIPs come after it */
	struct prefix prefix;
};

/* Offload bits to switch off; the names are those of `ethtool -K`. */
enum {
	OFFLOAD_TSO = 1 << 0,	  /* tso */
	OFFLOAD_GSO = 1 << 1,	  /* gso */
	OFFLOAD_GRO = 1 << 2,	  /* gro */
	OFFLOAD_TX = 1 << 3,	  /* tx (checksum): userspace datapaths need it off */
	OFFLOAD_UDP_SEG = 1 << 4, /* tx-udp-segmentation */
};

enum rate_basis { BASIS_L1, BASIS_L2, BASIS_L3 };
enum shape_mode { SHAPE_AUTO, SHAPE_EXACT, SHAPE_FAST };

struct wire_rate { /* as declared, scaled; bps 0 = unshaped */
	int64_t bps;
	enum rate_basis basis;
	enum shape_mode mode; /* after compile never SHAPE_AUTO */
	int64_t queue_bytes;  /* 0: queue_ns, or chosen by the shaper */
	int64_t queue_ns;
	bool police;	      /* what is over the rate is dropped at once, nothing waits */
	int64_t police_bytes; /* police: depth of its bucket; 0: chosen by the shaper */
	int64_t burst_bps;    /* 0, or more than bps: the rate while there is credit */
	int64_t credit_ns;    /* how long full credit lasts at burst_bps: the bucket holds
			       * (burst_bps - bps) x credit_ns, and fills at bps - used */
};

/* Packets a second: one wire frame is one packet, so whatever has one is exact. */
struct wire_pps {
	int64_t pps;   /* 0: no cap */
	bool police;   /* drop what is over at once; else it waits in the queue of the rate */
	int64_t burst; /* packets that may pass at once; 0: chosen by the shaper */
};

struct wire_queues {	  /* flows are hashed to queues */
	int count;	  /* 0 or 1: one */
	int64_t bps_each; /* 0: no cap of its own */
	int64_t pps_each;
};

struct wire_shape {	       /* what one direction carries at most */
	struct wire_rate rate; /* its basis and mode count for all that follows too */
	struct wire_pps pps;
	struct wire_queues queues;
	int64_t flow_bps; /* of one flow (5-tuple); 0: no cap */
};
bool wire_shape_any(const struct wire_shape *s); /* is there any limit in it? */

/*
 * Flows are hashed to slots by rules where they come in: slot i has the priority, and its class in
 * the shaper the id, WIRE_SLOT_FIRST + i (1:100 and on), and belongs to queue i mod queues.count.
 * Gives the number of slots; 0: nobody tells flows apart. One a queue, or WIRE_SLOTS_FLOW where
 * each flow is capped. What is not IP has no slot.
 */
enum { WIRE_SLOT_FIRST = 0x10100, WIRE_SLOTS_FLOW = 256 };
int wire_shape_slots(const struct wire_shape *s);

/* Policed packets are dropped by an nft rule, which is in struct wire too. Its burst in packets. */
int64_t wire_police_burst(const struct wire_pps *pps);

enum wire_jitter { JITTER_NORMAL, JITTER_UNIFORM, JITTER_PARETO };
enum wire_loss { LOSS_NONE, LOSS_RANDOM, LOSS_EVERY, LOSS_BURSTS, LOSS_AFTER };

/* What happens to packets on the way, after the rate, in this order: black hole, flap, loss,
 * corruption, duplication, trace, delay and jitter, reordering. Shares are parts per million. */
struct wire_impair {
	bool given; /* anything of it was declared, even `delay: 0s` */
	int64_t delay_ns;
	int64_t jitter_ns; /* normal: standard deviation; uniform: half width; pareto: scale */
	enum wire_jitter jitter;
	int jitter_correlation_ppm;
	enum wire_loss loss;
	int loss_ppm, loss_correlation_ppm; /* LOSS_RANDOM */
	int64_t loss_every;		    /* LOSS_EVERY: exactly each Nth */
	int64_t loss_after;		    /* LOSS_AFTER: all but the first N */
	/* LOSS_BURSTS, Gilbert-Elliott: from good to bad, from bad to good, loss in each */
	int to_bad_ppm, to_good_ppm, bad_loss_ppm, good_loss_ppm;
	int duplication_ppm;
	int reordering_ppm; /* share of packets that arrive late by RFC 4737's definition */
	int corruption_ppm; /* one bit of the packet is flipped */
	int64_t flap_up_ns, flap_down_ns; /* 0: always up; the first period is up */
	int64_t black_hole;	 /* IP packets longer than this vanish without a word; 0: none */
	const int64_t *trace_ms; /* mahimahi: times of delivery of up to 1,504 bytes each, rising;
				  * the last one is the period */
	size_t trace_n;
	const char *trace_file; /* as written */
	uint64_t seed;
};

/* Who does it. */
enum impair_engine { IMPAIR_NONE, IMPAIR_NETEM, IMPAIR_RELAY };

struct wire_dev {
	int node;
	const char *name;    /* at most 15 bytes, unique in its namespace */
	const char *altname; /* the full name where `name` is a short form, else NULL */
	const char *alias;   /* ifalias, or NULL */
	enum dev_kind kind;
	enum dev_role role;
	int ifindex; /* chosen here: 100, 101, … per namespace */
	struct mac mac;
	int mtu;
	/* BIG TCP: bytes of the largest packet that the stack hands over before it is segmented
	 * (IFLA_GSO_MAX_SIZE, IFLA_GRO_MAX_SIZE: IPv6's); 0: the kernel's 64 KiB. */
	int big_tcp;
	int peer;	       /* DEV_VETH: device index of the other end */
	int master;	       /* device index of the bridge it is a port of, or -1 */
	unsigned offloads_off; /* OFFLOAD_… */
	VEC(struct wire_addr) addrs;
	/* DEV_VXLAN */
	int vni, vxlan_port;
	struct ip vxlan_local;
	VEC(struct ip) vxlan_remotes; /* head-end replication: one all-zero FDB entry each */
	/*
	 * DEV_VLAN: 802.1Q on top of another device of the same namespace. DEV_VETH, a port of an
	 * OVS bridge: what enters there gets this tag, what has it leaves there without; 0: it
	 * carries all tags. In Linux a tag travels beside its frame: no shaper and no counter sees
	 * its 4 bytes, so no truth of ours has them (wires of metal are 0.26 % slower at MTU 1500).
	 */
	int vlan, lower;
	int tx_queues, rx_queues; /* DEV_VETH; 0: the kernel's default */
	/* egress shaper of this device; empty = none */
	struct wire_shape egress;
	int egress_link; /* which wire_link's direction it realises, or -1 */
	bool egress_ba;	 /* … the direction b→a of it */
	/* netem at its egress: which wire_link's impairment it realises, or -1 */
	int netem_link;
	bool netem_ba;
};

struct wire_route {
	int node;
	struct prefix dst; /* family set, len 0: default */
	struct ip via;	   /* family 0: on link */
	int dev;
	struct ip src;	     /* family 0: none */
	const char *congctl; /* congestion control pinned on the route, or NULL */
};

struct wire_neigh { /* permanent neighbour entry */
	int node, dev;
	struct ip ip;
	struct mac mac;
};

/*
 * nftables of a node, in nft's own syntax. `hook` is the text inside the braces before the rules
 * ("type nat hook prerouting priority -100; policy accept;"), NULL for a regular chain.
 */
struct wire_nft_rule {
	const char *text;    /* "ip daddr 192.0.2.50 counter dnat to 10.10.0.10" */
	const char *comment; /* stored as the rule's comment, or NULL */
};
struct wire_nft_chain {
	int node;
	const char *family, *table, *chain;
	const char *hook;
	VEC(struct wire_nft_rule) rules;
};

/*
 * ARP requests for `ip` (IPv4) that enter bridge port `dev` are answered by the bridge with `mac`.
 * What nft's language cannot say: ebtables' arpreply on a Linux bridge, an OpenFlow rule on OVS.
 */
struct wire_arpreply {
	int node, dev;
	struct ip ip;
	struct mac mac;
};

struct wire_flow {	  /* an OpenFlow rule of an OVS bridge, ovs-ofctl syntax */
	int bridge;	  /* device index */
	const char *text; /* port names as names: in_port="vnic0" */
};

/* 1:1 translation by a node, for those who follow a path (rules are in wire_nft_chain). */
struct wire_nat {
	int node;
	struct ip outside, inside;
};

/*
 * A link as the user declared it. Direction ab carries what a sends. `shaper_ab` is the device
 * whose egress realises the rate (-1 unshaped): a's own where a forwards (host, switch, router),
 * else a middle or span in NODE_WIRES, or the tap for a vNIC's cap; both directions the same
 * ROLE_CAP where `sum`.
 *
 * Links of machines that a limit holds, and links that police packets, go through NODE_WIRES, from
 * middle to middle by a fwd. A link with an impairment has a span as well:
 *
 *   a ── MIDDLE a   ⇉ fwd ⇉  SPAN 1 ── SPAN 2  ⇉ impairment ⇉   MIDDLE b ── b
 *                   ⇇ impairment ⇇             ⇇ fwd ⇇
 *
 * What a sends leaves by SPAN 1, whose egress has the rate, then meets the impairment on the way
 * to MIDDLE b: netem at MIDDLE b's egress behind a fwd, or the relay, which takes packets at SPAN 2
 * and puts them out at MIDDLE b (a rule drops them at SPAN 2 once its socket has them). The other
 * way likewise with SPAN 2 and MIDDLE a.
 */
struct wire_link {
	const char *name; /* "h1 uplink", "client vNIC", "r-b" */
	const char *path; /* of its map in the topology, for changes: "links.1", "vms.web.vnic" */
	int dev_a, dev_b;
	struct wire_shape ab, ba;
	bool sum; /* one cap counts both directions: ab and ba are the same */
	int shaper_ab, shaper_ba;
	int64_t connections; /* a vNIC's: at most so many at once; 0: no cap */
	struct wire_impair impair_ab, impair_ba;
	enum impair_engine engine; /* for both directions */
	int middle[2], span[2];	   /* devices; -1: it has none */
	const char *profile;	   /* a vNIC's: "aliyun/ecs.g7a.large", or NULL */
};

/* Who may be an endpoint of a measurement, and by which address it is reached. */
struct wire_endpoint {
	const char *name;   /* "client", "eip(flat-eip)" */
	int node;	    /* where the program runs */
	struct ip ip4, ip6; /* address to connect to; family 0 where there is none */
};

/* What this machine made of something that it cannot do as asked; for those who read results. */
struct wire_choice {
	const char *what, *how; /* "vlan 100", "own wire; 802.1Q not in this kernel" */
};

struct wire {
	struct arena arena;
	const char *name, *description;
	VEC(struct wire_node) nodes;
	VEC(struct wire_dev) devs;
	VEC(struct wire_route) routes;
	VEC(struct wire_neigh) neighs;
	VEC(struct wire_nft_chain) nft;
	VEC(struct wire_arpreply) arpreplies;
	VEC(struct wire_flow) flows;
	VEC(struct wire_nat) nats;
	VEC(struct wire_link) links;
	VEC(struct wire_endpoint) endpoints;
	VEC(struct wire_choice) choices;
	/* Rates, packets/s, bytes and packets of queues, bursts and credit, and deliveries of
	 * traces above are the declared ones times num/den; times are as declared. */
	int64_t scale_num, scale_den;
};

void wire_init(struct wire *w);
void wire_done(struct wire *w);
int wire_find_node(const struct wire *w, const char *name);	     /* index or -1 */
int wire_find_dev(const struct wire *w, int node, const char *name); /* index or -1 */
/* By its name, or by its address where no other has the same; or NULL. */
const struct wire_endpoint *wire_find_endpoint(const struct wire *w, const char *name);
const char *wire_node_kind_name(enum node_kind kind); /* "vm", "host", … */
const char *wire_basis_name(enum rate_basis basis);   /* "l1", … */
const char *wire_mode_name(enum shape_mode mode);

#endif
