/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * parse_keys: which keys each map of a topology file may have. The parsers check maps against
 * these tables; a unit test compares topologies/schema.json with them.
 */
#include "emulator/model/parse.h"

#define KEYS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define SHAPE	  "rate", "police", "basis", "mode", "queue", "pps"
#define IMPAIRMENTS                                                                                \
	"delay", "jitter", "loss", "duplication", "reordering", "corruption", "flap",              \
	    "black_hole", "trace", "seed"
#define CAPS SHAPE, "direction", "queues", "per_flow", "connections", "mtu"

const char *const parse_impair_keys[] = {IMPAIRMENTS, NULL};

const struct parse_keys parse_keys_topology = {
    "topology",
    KEYS("version", "name", "description", "scale", "profiles", "fabric", "hosts", "networks",
	 "routers", "vms", "eips", "nodes", "links"),
    KEYS("security_groups", "port_forwards", "load_balancers"),
};
const struct parse_keys parse_keys_fabric = {
    "fabric",
    KEYS("nic", SHAPE, "mtu", "cidr", "bridge_netfilter", IMPAIRMENTS),
    NULL,
};
const struct parse_keys parse_keys_nic = {
    "nic",
    KEYS(SHAPE),
    NULL,
};
const struct parse_keys parse_keys_host = {
    "host",
    KEYS("bridge", "nic"),
    NULL,
};
const struct parse_keys parse_keys_network = {
    "network",
    KEYS("type", "cidr", "gateway", "mtu", "l2", "vlan", "router", "overlay"),
    KEYS("dhcp", "dns"),
};
const struct parse_keys parse_keys_overlay = {
    "overlay",
    KEYS("type", "vni"),
    NULL,
};
const struct parse_keys parse_keys_router = {
    "router",
    KEYS("host", "networks", "snat"),
    KEYS("routes", "vrrp"),
};
const struct parse_keys parse_keys_vm = {
    "vm",
    KEYS("host", "network", "networks", "vnics", "vnic", "count", "eip", "mode", "profile"),
    KEYS("security_groups"),
};
const struct parse_keys parse_keys_vnic = {
    "vnic",
    KEYS("network", "profile", CAPS, "address", "mac"),
    NULL,
};
const struct parse_keys parse_keys_vm_eip = {
    "eip of a vm",
    KEYS("address", "form"),
    KEYS("rate"),
};
const struct parse_keys parse_keys_eip = {
    "eip",
    KEYS("address", "vm", "form"),
    KEYS("rate"),
};
const struct parse_keys parse_keys_node = {
    "node",
    KEYS("kind", "addresses", "routes", "sysctls"),
    KEYS("image"),
};
const struct parse_keys parse_keys_link = {
    "link",
    KEYS("endpoints", SHAPE, "mtu", "big_tcp", IMPAIRMENTS, "via", "ab", "ba"),
    NULL,
};
const struct parse_keys parse_keys_direction = {
    "direction",
    KEYS(SHAPE, IMPAIRMENTS),
    NULL,
};
const struct parse_keys parse_keys_rate = {"rate", KEYS("base", "burst", "credit"), NULL};
const struct parse_keys parse_keys_police = {"police", KEYS("rate", "burst"), NULL};
const struct parse_keys parse_keys_pps = {"pps", KEYS("shape", "police", "burst"), NULL};
const struct parse_keys parse_keys_jitter = {
    "jitter",
    KEYS("normal", "uniform", "pareto", "correlation"),
    NULL,
};
const struct parse_keys parse_keys_loss = {
    "loss",
    KEYS("random", "correlation", "every", "bursts", "after"),
    NULL,
};
const struct parse_keys parse_keys_bursts = {
    "bursts",
    KEYS("to_bad", "to_good", "bad_loss", "good_loss"),
    NULL,
};
const struct parse_keys parse_keys_flap = {"flap", KEYS("up", "down"), NULL};
const struct parse_keys parse_keys_queues = {
    "queues",
    KEYS("count", "pps_each", "rate_each"),
    NULL,
};
const struct parse_keys parse_keys_profile = {
    "profile",
    KEYS(CAPS, "source", "date", "note", "vcpu", "memory"),
    NULL,
};
const struct parse_keys parse_keys_profile_file = {
    "profile file",
    KEYS("version", "description", "common", "profiles"),
    NULL,
};

const struct parse_keys *const parse_keys_all[] = {
    &parse_keys_topology, &parse_keys_fabric,	 &parse_keys_nic,     &parse_keys_host,
    &parse_keys_network,  &parse_keys_overlay,	 &parse_keys_router,  &parse_keys_vm,
    &parse_keys_vnic,	  &parse_keys_vm_eip,	 &parse_keys_eip,     &parse_keys_node,
    &parse_keys_link,	  &parse_keys_direction, &parse_keys_rate,    &parse_keys_police,
    &parse_keys_pps,	  &parse_keys_jitter,	 &parse_keys_loss,    &parse_keys_bursts,
    &parse_keys_flap,	  &parse_keys_queues,	 &parse_keys_profile, NULL,
};

/* Keys that people write by habit, where they belong here. */
static const struct {
	const struct parse_keys *keys;
	const char *key, *instead;
} hints[] = {
    {&parse_keys_vm, "ip", "vnic: {address: …}"},
    {&parse_keys_vm, "address", "vnic: {address: …}"},
    {&parse_keys_vm, "mac", "vnic: {mac: …}"},
    {&parse_keys_vm, "mtu", "vnic: {mtu: …}"},
    {&parse_keys_vm, "rate", "vnic: {rate: …}"},
    {&parse_keys_vnic, "ip", "address: …"},
    {&parse_keys_host, "rate", "nic: {rate: …}"},
    {&parse_keys_link, "drop", "loss: {after: …}"},
    {&parse_keys_direction, "drop", "loss: {after: …}"},
    {&parse_keys_fabric, "drop", "loss: {after: …}"},
    {&parse_keys_link, "reorder", "reordering: …"},
    {&parse_keys_direction, "reorder", "reordering: …"},
    {&parse_keys_vnic, "ab", "direction: …; a vNIC has the same caps both ways"},
    {&parse_keys_vnic, "ba", "direction: …; a vNIC has the same caps both ways"},
    {&parse_keys_vnic, "delay", "delay: … in a link or in the fabric"},
    {&parse_keys_vnic, "loss", "loss: … in a link or in the fabric"},
    {&parse_keys_nic, "delay", "delay: … in the fabric"},
    {&parse_keys_nic, "loss", "loss: … in the fabric"},
    {&parse_keys_vm, "pps", "vnic: {pps: …}"},
    {&parse_keys_vm, "queues", "vnic: {queues: …}"},
    {&parse_keys_network, "vni", "overlay: {type: vxlan, vni: …}"},
    {&parse_keys_network, "subnet", "cidr: …"},
};

static const char *hint_for(const struct parse_keys *keys, const char *key)
{
	for (size_t i = 0; i < ARRAY_SIZE(hints); i++)
		if (hints[i].keys == keys && str_eq(hints[i].key, key))
			return hints[i].instead;
	return NULL;
}

static bool is_in(const char *const *list, const char *word)
{
	for (; list && *list; list++) {
		if (str_eq(*list, word))
			return true;
	}
	return false;
}

void parse_keys_check(const struct parse_keys *keys, const struct yaml_node *map,
		      struct problems *p)
{
	const char *words[64];
	size_t n = 0;

	for (const char *const *k = keys->known; *k; k++)
		words[n++] = *k;
	for (const char *const *k = keys->later; k && *k; k++)
		words[n++] = *k;
	for (size_t i = 0; i < ARRAY_SIZE(hints); i++)
		if (hints[i].keys == keys && yaml_get(map, hints[i].key))
			words[n++] = hints[i].key;
	yaml_check_keys(map, keys->what, words, n, p);
	if (map->kind != YAML_MAP)
		return;
	VEC_FOREACH (pair, &map->pairs) {
		const char *instead = hint_for(keys, pair->key);

		if (instead)
			problems_add(p, pair->key_at, "unknown key '%s' in %s; write %s", pair->key,
				     keys->what, instead);
		if (is_in(keys->later, pair->key))
			problems_add(p, pair->key_at, "'%s' is not in this version", pair->key);
	}
}
