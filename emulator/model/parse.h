/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * parse: from YAML nodes to the cloud model. For emulator/model only.
 *
 * Each reader takes what it can, adds a problem for what it cannot, and goes on; a value that was
 * wrong counts as not given.
 */
#ifndef VPCLAB_MODEL_PARSE_H
#define VPCLAB_MODEL_PARSE_H

#include "emulator/model/cloud.h"

struct parse {
	struct topology *t;
	struct problems *p;
};

/* The keys of one kind of map: parser, problems and the editors' schema agree on these. */
struct parse_keys {
	const char *what; /* "link": in problems; with "_" for " " its name in schema.json */
	const char *const *known;
	const char *const *later; /* words of the language that this version refuses; or NULL */
};

/* parse_keys.c */
extern const struct parse_keys parse_keys_topology, parse_keys_fabric, parse_keys_nic,
    parse_keys_host, parse_keys_network, parse_keys_overlay, parse_keys_router, parse_keys_vm,
    parse_keys_vnic, parse_keys_vm_eip, parse_keys_eip, parse_keys_node, parse_keys_link,
    parse_keys_direction, parse_keys_rate, parse_keys_police, parse_keys_pps, parse_keys_jitter,
    parse_keys_loss, parse_keys_bursts, parse_keys_flap, parse_keys_queues, parse_keys_profile,
    parse_keys_profile_file;
extern const char *const parse_impair_keys[]; /* of links, directions, the fabric; ends with NULL */
extern const struct parse_keys *const parse_keys_all[]; /* ends with NULL */
/* Problems for unknown keys, and for words that come with a later version. */
void parse_keys_check(const struct parse_keys *keys, const struct yaml_node *map,
		      struct problems *p);

/* parse_value.c: NULL nodes mean "not given" and leave the output alone. */
const struct yaml_node *parse_value_map(struct parse *ps, const struct yaml_node *n,
					const char *what); /* never NULL */
/* Likewise, of a map whose `key` may be meant by a text alone: says how to write that. */
const struct yaml_node *parse_value_map_of(struct parse *ps, const struct yaml_node *n,
					   const char *what, const char *key);
struct cloud_text parse_value_text(struct parse *ps, const struct yaml_node *n, const char *what);
struct cloud_ref parse_value_ref(struct parse *ps, const struct yaml_node *n, const char *what);
void parse_value_int(struct parse *ps, const struct yaml_node *n, const char *what,
		     const int64_t range[2], struct cloud_num *out);
void parse_value_mtu(struct parse *ps, const struct yaml_node *n, struct cloud_num *out);
void parse_value_enum(struct parse *ps, const struct yaml_node *n, const char *what,
		      const char *const *names, int *out);
void parse_value_mac(struct parse *ps, const struct yaml_node *n, struct cloud_mac *out);
void parse_value_ip(struct parse *ps, const struct yaml_node *n, const char *what,
		    struct cloud_ip *out);
/* One address or a list with at most one per family. */
void parse_value_ips(struct parse *ps, const struct yaml_node *n, const char *what,
		     struct cloud_ip out[CLOUD_FAMILIES]);
void parse_value_cidrs(struct parse *ps, const struct yaml_node *n,
		       struct cloud_cidr out[CLOUD_FAMILIES]);
/* Reads rate or police, basis, mode, queue over what `out` holds already. */
void parse_value_rate(struct parse *ps, const struct yaml_node *map, struct cloud_rate *out);
/* rate or police, basis, mode, queue, and pps. */
void parse_shape(struct parse *ps, const struct yaml_node *map, struct cloud_shape *out);
/* `pps` alone: 50kpps, {shape: 50kpps, burst: 500}, {police: …}. */
void parse_value_pps_cap(struct parse *ps, const struct yaml_node *n, struct wire_pps *out,
			 struct mark *at);
/* True when there was a good value. */
bool parse_value_bps(struct parse *ps, const struct yaml_node *n, const char *what, int64_t *bps);
bool parse_value_pps(struct parse *ps, const struct yaml_node *n, const char *what, int64_t *pps);
bool parse_value_int64(struct parse *ps, const struct yaml_node *n, const char *what,
		       const int64_t range[2], int64_t *out);
bool parse_value_time(struct parse *ps, const struct yaml_node *n, const char *what, int64_t *ns);
bool parse_value_size(struct parse *ps, const struct yaml_node *n, const char *what,
		      int64_t *bytes);
bool parse_value_percent(struct parse *ps, const struct yaml_node *n, const char *what, int *ppm);
/* A name for a namespace: problem and false when it cannot be one. */
bool parse_value_name(struct parse *ps, const char *name, struct mark at, const char *what);

/* parse_impair.c: reads delay, loss, … over what `out` holds already. */
void parse_impair(struct parse *ps, const struct yaml_node *map, struct cloud_impair *out);
/* parse_caps.c: likewise of a vNIC or a profile: rate, pps, direction, queues, … */
void parse_caps(struct parse *ps, const struct yaml_node *map, struct cloud_caps *out);
/*
 * parse_profile.c: which profile a `profile` key names, in topology.profiles; -1, with a problem,
 * when there is none. Reads it from its file where it is the first to be used of it.
 */
int parse_profile_find(struct parse *ps, const struct cloud_ref *ref);
/* The profiles of a file as a map, opened at first use; NULL, with a problem, where it is none. */
const struct yaml_node *parse_profile_open(struct parse *ps, struct cloud_file *f);
/* Reads one profile over what `out` holds already. */
void parse_profile_map(struct parse *ps, const struct yaml_node *n, struct cloud_profile *out);
/* The file that a profile's name asks for, "profiles/aliyun.yaml", in `a`; NULL: none. */
const char *parse_profile_file(struct arena *a, const char *name);

/* The sections, each in a file of its own. */
void parse_profile(struct parse *ps, const struct yaml_node *n);
void parse_fabric(struct parse *ps, const struct yaml_node *n);
void parse_fabric_hosts(struct parse *ps, const struct yaml_node *n);
void parse_network(struct parse *ps, const struct yaml_node *n);
void parse_router(struct parse *ps, const struct yaml_node *n);
void parse_vm(struct parse *ps, const struct yaml_node *n);
void parse_vm_eips(struct parse *ps, const struct yaml_node *n);
void parse_node(struct parse *ps, const struct yaml_node *n);
void parse_link(struct parse *ps, const struct yaml_node *n);

/* topology_set.c: puts a "path=value" into the document. */
void topology_set(struct yaml *y, const char *assignment, struct problems *p);
/* topology_check*.c: references, then what the parts say of each other. */
void topology_check(struct topology *t, struct problems *p);
void topology_check_addresses(struct topology *t, struct problems *p);
void topology_check_links(struct topology *t, struct problems *p);
void topology_check_shapes(struct topology *t, struct problems *p);
void topology_check_caps(const struct cloud_caps *c, int mtu, struct problems *p);

#endif
