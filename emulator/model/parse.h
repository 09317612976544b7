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
    parse_keys_direction;
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
/* Reads rate, basis, mode, queue over what `out` holds already. */
void parse_value_rate(struct parse *ps, const struct yaml_node *map, struct cloud_rate *out);
/* `delay: 0` is all that this version knows. */
void parse_value_delay(struct parse *ps, const struct yaml_node *n);
/* A name for a namespace: problem and false when it cannot be one. */
bool parse_value_name(struct parse *ps, const char *name, struct mark at, const char *what);

/* The sections, each in a file of its own. */
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

#endif
