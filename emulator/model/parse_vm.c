/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * parse_vm: the sections `vms` and `eips` of a topology file. A VM's vNICs may be written in three
 * ways (network, networks, vnics), an EIP in two (in its VM, in `eips`); the cloud model knows one.
 * Called by topology.c.
 */
#include "core/base/units.h"
#include "emulator/model/parse.h"

struct vnic_maps { /* where a vNIC's caps are written, the later over the former */
	const struct yaml_node *vm, *common, *own;
};

/* The profile of the map that is nearest to the vNIC. */
static void read_profile(struct parse *ps, const struct vnic_maps *m, struct cloud_vnic *out)
{
	const struct yaml_node *maps[] = {m->vm, m->common, m->own};

	out->profile = (struct cloud_ref){.index = -1};
	for (size_t i = 0; i < ARRAY_SIZE(maps); i++) {
		if (maps[i] && yaml_get(maps[i], "profile"))
			out->profile = parse_value_ref(ps, yaml_get(maps[i], "profile"), "profile");
	}
	if (out->profile.name)
		out->profile.index = parse_profile_find(ps, &out->profile);
}

static void read_caps(struct parse *ps, const struct vnic_maps *m, struct cloud_vnic *out)
{
	struct yaml_pair mode = {.key = "mode", .value = yaml_get(m->vm, "mode")};
	struct yaml_node only = {.kind = YAML_MAP, .pairs = {.v = &mode, .n = 1}};

	read_profile(ps, m, out);
	if (out->profile.index >= 0)
		out->caps = ps->t->profiles.v[out->profile.index].caps;
	else
		out->caps = (struct cloud_caps){.rate.rate.basis = BASIS_L3};
	if (mode.value)
		parse_value_rate(ps, &only, &out->caps.rate);
	parse_caps(ps, m->common, &out->caps);
	if (m->own)
		parse_caps(ps, m->own, &out->caps);
}

/* Reads the keys of a vNIC's map, but for its caps, over what `out` holds already. */
static void read_vnic(struct parse *ps, const struct yaml_node *map, struct cloud_vnic *out)
{
	parse_keys_check(&parse_keys_vnic, map, ps->p);
	if (yaml_get(map, "network"))
		out->network = parse_value_ref(ps, yaml_get(map, "network"), "network");
	parse_value_ips(ps, yaml_get(map, "address"), "address", out->address);
	parse_value_mac(ps, yaml_get(map, "mac"), &out->mac);
}

static void add_network(struct parse *ps, struct cloud_vm *vm, const struct yaml_node *n,
			const struct cloud_vnic *common)
{
	struct cloud_vnic *v = VEC_ADD(&ps->t->arena, &vm->vnics);

	*v = *common;
	v->at = n->at;
	v->network = parse_value_ref(ps, n, "network");
}

static void read_vnic_list(struct parse *ps, struct cloud_vm *vm, const struct vnic_maps *maps,
			   const struct cloud_vnic *common)
{
	const struct yaml_node *list = yaml_want_seq(yaml_get(maps->vm, "vnics"), "vnics", ps->p);

	for (size_t i = 0; list && i < list->items.n; i++) {
		const struct yaml_node *n = list->items.v[i];
		struct vnic_maps own = *maps;
		struct cloud_vnic v = *common;

		own.own = parse_value_map(ps, n, "vnic");
		v.at = n->at;
		read_vnic(ps, own.own, &v);
		read_caps(ps, &own, &v);
		if (!v.network.name)
			problems_add(ps->p, n->at, "a vNIC of vm '%s' has no network", vm->name);
		*VEC_ADD(&ps->t->arena, &vm->vnics) = v;
	}
}

static void read_vnics(struct parse *ps, struct cloud_vm *vm, const struct yaml_node *map)
{
	const struct yaml_node *one = yaml_get(map, "network"), *many = yaml_get(map, "networks");
	const struct yaml_node *full = yaml_get(map, "vnics"), *vnic = yaml_get(map, "vnic");
	struct vnic_maps maps = {.vm = map, .common = parse_value_map_of(ps, vnic, "vnic", "rate")};
	struct cloud_vnic common = {.network.index = -1};

	read_vnic(ps, maps.common, &common);
	read_caps(ps, &maps, &common);
	if (!!one + !!many + !!full + !!common.network.name != 1) {
		problems_add(ps->p, vm->at, "vm '%s' needs one of network, networks or vnics",
			     vm->name);
		return;
	}
	if (common.network.name) {
		common.at = vnic->at;
		*VEC_ADD(&ps->t->arena, &vm->vnics) = common;
	}
	if (one)
		add_network(ps, vm, one, &common);
	many = yaml_want_seq(many, "networks", ps->p);
	for (size_t i = 0; many && i < many->items.n; i++)
		add_network(ps, vm, many->items.v[i], &common);
	read_vnic_list(ps, vm, &maps, &common);
	if (vm->vnics.n > 1 && vnic && (yaml_get(vnic, "address") || yaml_get(vnic, "mac")))
		problems_add(ps->p, vnic->at,
			     "vm '%s' has several vNICs: give addresses and MACs "
			     "in its 'vnics'",
			     vm->name);
}

static void read_form(struct parse *ps, const struct yaml_node *n, struct cloud_eip *e)
{
	static const char *const forms[] = {"2018", "2019", NULL};
	int form = -1;

	parse_value_enum(ps, n, "form", forms, &form);
	if (form >= 0) {
		e->form = form ? 2019 : 2018;
		e->form_at = n->at;
	}
}

/* The address of an EIP; false, with a problem, when there is none. */
static bool read_eip_address(struct parse *ps, const struct yaml_node *n, struct mark at,
			     struct cloud_eip *e)
{
	if (!n)
		problems_add(ps->p, at, "an EIP needs an address");
	parse_value_ip(ps, n, "EIP", &e->address);
	if (!e->address.ip.family)
		return false;
	if (cloud_family(&e->address.ip) == CLOUD_V6) {
		problems_add(ps->p, n->at, "IPv6 EIPs are not in this version");
		return false;
	}
	return true;
}

static void add_eip(struct parse *ps, const struct cloud_eip *e)
{
	struct cloud_eip *new = VEC_ADD(&ps->t->arena, &ps->t->eips);

	*new = *e;
	new->vm.index = -1;
	new->network = -1;
}

static void read_vm_eip(struct parse *ps, const struct cloud_vm *vm, const struct yaml_node *n)
{
	struct cloud_eip e = {.vm = {.name = vm->name, .at = vm->at}};
	const struct yaml_node *address = n;
	bool good;

	if (!n)
		return;
	e.at = n->at;
	if (n->kind != YAML_SCALAR) {
		const struct yaml_node *map = parse_value_map(ps, n, "eip");

		parse_keys_check(&parse_keys_vm_eip, map, ps->p);
		read_form(ps, yaml_get(map, "form"), &e);
		address = yaml_get(map, "address");
	}
	good = read_eip_address(ps, address, n->at, &e);
	if (vm->count.v)
		problems_add(ps->p, n->at,
			     "vm '%s' has a count: its EIPs go to the top-level "
			     "'eips', each with 'vm: %s-1' and so on",
			     vm->name, vm->name);
	else if (good)
		add_eip(ps, &e);
}

static void read_vm(struct parse *ps, const struct yaml_pair *pair)
{
	const struct yaml_node *map = parse_value_map(ps, pair->value, pair->key);
	struct cloud_vm *vm = VEC_ADD(&ps->t->arena, &ps->t->vms);

	vm->name = pair->key;
	vm->at = pair->key_at;
	parse_value_name(ps, pair->key, pair->key_at, "vm");
	parse_keys_check(&parse_keys_vm, map, ps->p);
	vm->host = parse_value_ref(ps, yaml_get(map, "host"), "host");
	parse_value_int(ps, yaml_get(map, "count"), "count", (const int64_t[]){1, CLOUD_COUNT_MAX},
			&vm->count);
	read_vnics(ps, vm, map);
	read_vm_eip(ps, vm, yaml_get(map, "eip"));
	for (size_t i = 0; vm->count.v && i < vm->vnics.n; i++) {
		const struct cloud_vnic *v = &vm->vnics.v[i];

		if (v->mac.given || v->address[0].ip.family || v->address[1].ip.family)
			problems_add(ps->p, v->at,
				     "vm '%s' has a count: its addresses and MACs are "
				     "chosen",
				     vm->name);
	}
}

void parse_vm(struct parse *ps, const struct yaml_node *n)
{
	const struct yaml_node *map = parse_value_map(ps, n, "vms");

	VEC_FOREACH (pair, &map->pairs)
		read_vm(ps, pair);
}

void parse_vm_eips(struct parse *ps, const struct yaml_node *n)
{
	const struct yaml_node *map = parse_value_map(ps, n, "eips");

	VEC_FOREACH (pair, &map->pairs) {
		const struct yaml_node *eip = parse_value_map(ps, pair->value, pair->key);
		struct cloud_eip e = {.at = pair->key_at};
		bool good;

		parse_keys_check(&parse_keys_eip, eip, ps->p);
		read_form(ps, yaml_get(eip, "form"), &e);
		e.vm = parse_value_ref(ps, yaml_get(eip, "vm"), "vm");
		if (!yaml_get(eip, "vm"))
			problems_add(ps->p, pair->key_at, "EIP '%s' needs a vm", pair->key);
		good = read_eip_address(ps, yaml_get(eip, "address"), pair->key_at, &e);
		if (good && e.vm.name)
			add_eip(ps, &e);
	}
}
