/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cloud: a topology as its author wrote it: hosts, networks, routers, VMs, EIPs, and the wire
 * level's own nodes and links. Each value knows its place in the file, so that whoever finds it
 * wrong can point at it.
 *
 * parse_*.c fill it, topology_check*.c judge it and resolve the references, compile*.c read it.
 * Nothing outside emulator/model includes this file. Everything lives in topology.arena.
 */
#ifndef VPCLAB_MODEL_CLOUD_H
#define VPCLAB_MODEL_CLOUD_H

#include "core/base/yaml.h"
#include "emulator/model/topology.h"

#define CLOUD_NAME_MAX	  200	/* bytes of a node's name: it becomes a file name with a prefix */
#define CLOUD_COUNT_MAX	  10000 /* VMs that one `count` makes, and VMs in all */
#define CLOUD_BRIDGE_MAX  1023	/* ports of a Linux bridge (BR_MAX_PORTS) */
#define CLOUD_VXLAN_BYTES 50	/* outer IPv4, UDP, VXLAN and the inner Ethernet header */
#define CLOUD_VXLAN_PORT  4789	/* IANA's port for VXLAN, RFC 7348 */
#define CLOUD_MTU	  1500	/* of the fabric and of links, unless said */
#define CLOUD_MTU_MIN	  68	/* IPv4's least, RFC 791 */

/* Where a thing has one IPv4 and one IPv6 form: index by family. */
enum { CLOUD_V4, CLOUD_V6, CLOUD_FAMILIES };
int cloud_family(const struct ip *ip); /* CLOUD_V4 or CLOUD_V6 */

struct cloud_text {
	const char *s; /* NULL: not given */
	struct mark at;
};

struct cloud_ref {	  /* the name of another thing */
	const char *name; /* NULL: not given */
	struct mark at;
	int index; /* -1: not given or unknown */
};

struct cloud_num {
	int v; /* 0: not given */
	struct mark at;
};

struct cloud_ip {
	struct ip ip; /* family 0: not given */
	struct mark at;
};

struct cloud_cidr {
	struct prefix prefix; /* family 0: not given */
	struct mark at;
};

struct cloud_mac {
	struct mac mac;
	struct mark at;
	bool given;
};

struct cloud_rate {
	struct wire_rate rate; /* bps 0: not given */
	struct mark at, queue_at, mode_at;
};

/* What a link's direction or a card carries. Marks have no file where nothing was given. */
struct cloud_shape {
	struct cloud_rate rate;
	struct wire_pps pps; /* pps 0: not given */
	struct mark pps_at;
};

struct cloud_impair {		   /* impair.given: something was declared */
	struct wire_impair impair; /* seed 0: not given; a link's is always resolved */
	struct mark at, delay_at, jitter_at, black_hole_at;
	struct cloud_text trace; /* file of a delivery trace, as written; read by the checks */
};

enum cloud_direction { DIRECTION_EACH, DIRECTION_SUM, DIRECTION_EGRESS };

/* A vNIC's caps, by profile or in place; what is in place overrides the profile's. */
struct cloud_caps {
	struct cloud_rate rate;
	struct wire_pps pps;
	struct mark pps_at;
	enum cloud_direction direction;
	struct mark direction_at;
	struct wire_queues queues; /* count 0: not given */
	struct mark queues_at;
	int64_t flow_bps; /* 0: not given */
	struct mark flow_at;
	int64_t connections; /* 0: not given */
	struct mark connections_at;
	struct cloud_num mtu;
};

struct cloud_profile {	  /* of the topology's own `profiles`, or of a profile file */
	const char *name; /* "aliyun/ecs.g7a.large"; of the topology's own: as written there */
	struct mark at;
	struct cloud_caps caps;
	const char *source, *date, *note; /* or NULL */
	int vcpu;
	double memory_gib; /* 0: not known */
};

struct cloud_fabric {
	struct cloud_shape nic;	    /* of every host, both directions */
	struct cloud_impair impair; /* of what each host sends */
	struct cloud_num mtu;
	struct cloud_cidr cidr; /* of the hosts' own addresses */
	bool bridge_netfilter;	/* bridged packets also cross the hosts' iptables hooks */
};

struct cloud_host {
	const char *name;
	struct mark at;
	enum bridge_engine engine;
	struct cloud_shape nic; /* instead of the fabric's */
};

enum network_type { NETWORK_FLAT, NETWORK_VPC };

struct cloud_network {
	const char *name;
	struct mark at;
	enum network_type type;
	struct cloud_cidr cidr[CLOUD_FAMILIES];
	struct cloud_ip gateway[CLOUD_FAMILIES];
	struct cloud_num mtu;
	struct cloud_text l2;	 /* flat: name of its layer 2; NULL: the shared one */
	struct cloud_ref router; /* vpc */
	struct cloud_num vni;	 /* vpc */
	struct cloud_num vlan;	 /* flat: 802.1Q tag between the hosts; 0: untagged */
	bool has_overlay;
	struct mark overlay_at;
};

struct cloud_router {
	const char *name;
	struct mark at;
	struct cloud_ref host;
	VEC(struct cloud_ref) networks;
	bool snat;
	struct mark snat_at;
	int public_net; /* resolved: its flat network, or -1 */
};

struct cloud_vnic {
	struct mark at;
	struct cloud_ref network;
	struct cloud_ip address[CLOUD_FAMILIES];
	struct cloud_mac mac;
	struct cloud_ref profile; /* index: in topology.profiles, or -1 */
	struct cloud_caps caps;	  /* resolved: the profile's with what is in place over it */
};

struct cloud_vm { /* or `count` VMs that are alike */
	const char *name;
	struct mark at;
	struct cloud_ref host;
	struct cloud_num count; /* 0: one, of just this name */
	VEC(struct cloud_vnic) vnics;
	int first; /* number of its first instance among all VMs of the lab, file order */
};

struct cloud_eip {
	struct mark at;
	struct cloud_ip address;
	struct cloud_ref vm; /* index: of the cloud_vm */
	int instance;	     /* which of that VM's `count`, from 0 */
	int form;	     /* 2018 or 2019; 0: not given */
	struct mark form_at;
	int network; /* resolved: the flat network that its address is in, or -1 */
};

struct cloud_ifaddr {
	const char *ifname; /* NULL: the node's only interface */
	struct prefix prefix;
	struct mark at;
};

struct cloud_route {
	struct prefix dst; /* len 0: default */
	struct ip via;	   /* family 0: on link */
	const char *dev;   /* NULL: the interface that reaches `via` */
	struct mark at;
};

struct cloud_sysctl {
	const char *key; /* with slashes */
	const char *value;
};

struct cloud_node {
	const char *name;
	struct mark at;
	enum node_kind kind; /* machine, router or switch */
	VEC(struct cloud_ifaddr) addresses;
	VEC(struct cloud_route) routes;
	VEC(struct cloud_sysctl) sysctls;
	VEC(const char *) ifnames; /* resolved: those that links give it, file order */
};

struct cloud_end {
	struct cloud_ref node;
	const char *ifname;
};

struct cloud_file { /* another file that a topology names */
	const char *name;
	const char *text; /* borrowed from topology_source while it is parsed, then NULL */
	size_t len;
	bool opened; /* a profile file that was looked into: `yaml` and `common` are in use */
	struct yaml yaml;
	struct cloud_profile common;
};

enum cloud_via { VIA_AUTO, VIA_NETEM, VIA_RELAY }; /* who impairs: auto is netem where it can */

struct cloud_link {
	struct mark at;
	struct cloud_end end[2];
	struct cloud_shape dir[2];     /* what end 0 sends, what end 1 sends */
	struct cloud_impair impair[2]; /* likewise */
	enum cloud_via via;
	struct mark via_at;
	struct cloud_num mtu;
	struct cloud_num big_tcp; /* bytes of the largest TCP packet in the stack, see wire_dev */
};

struct topology {
	struct arena arena;
	struct yaml yaml; /* owns the texts and the names in marks */
	struct cloud_text name;
	const char *description;
	struct cloud_fabric fabric;
	VEC(struct cloud_host) hosts;
	VEC(struct cloud_network) networks;
	VEC(struct cloud_router) routers;
	VEC(struct cloud_vm) vms;
	VEC(struct cloud_eip) eips;
	VEC(struct cloud_node) nodes;
	VEC(struct cloud_link) links;
	VEC(struct cloud_profile) profiles; /* the topology's own, then those of files in use */
	VEC(struct cloud_file) files; /* the other files that it names, as far as they were read */
	int64_t scale_num, scale_den; /* 1/1 unless said; num <= den */
	int n_vms;		      /* instances, `count` taken out */
	bool sound;		      /* no problem was found: may be compiled */
};

/*
 * A seed of `sender`'s own, as what a host sends, or one end of a link: made of the declared one
 * (0: none) and the name, so that no two directions fare alike.
 */
uint64_t cloud_seed(uint64_t declared, const char *sender);

int cloud_vm_count(const struct cloud_vm *vm); /* how many VMs it makes, at least 1 */
/* Name of instance `i` (from 0): "web", or "web-1", "web-2", … with a `count`. Lives in `a`. */
const char *cloud_vm_name(struct arena *a, const struct cloud_vm *vm, int i);

/* MTU of a network: its own, else what the fabric leaves for its kind. */
int cloud_network_mtu(const struct topology *t, const struct cloud_network *n);
int cloud_fabric_mtu(const struct topology *t);
/* Gateway of a network in a family: the declared one, else the first address. -ERANGE: no such
 * family there. */
int cloud_gateway(const struct cloud_network *n, int family, struct ip *gateway);

/* Neither the network's own address nor IPv4's broadcast address. */
bool cloud_is_host_address(const struct prefix *cidr, const struct ip *ip);

/* Name of the flat network's layer 2 ("" is the shared one); NULL for a VPC network. */
const char *cloud_network_l2(const struct cloud_network *n);
/* Without an address of it, IPv6 is off in a node. */
bool cloud_node_has_ipv6(const struct cloud_node *node);

#endif
