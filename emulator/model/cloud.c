/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cloud: what follows from the cloud model by arithmetic: names of counted VMs, MTUs, gateways.
 * Checks and compilation both need these and must not disagree.
 */
#include "emulator/model/cloud.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "core/base/hash.h"

int cloud_family(const struct ip *ip)
{
	return ip->family == AF_INET6 ? CLOUD_V6 : CLOUD_V4;
}

int cloud_vm_count(const struct cloud_vm *vm)
{
	return vm->count.v ? vm->count.v : 1;
}

const char *cloud_vm_name(struct arena *a, const struct cloud_vm *vm, int i)
{
	return vm->count.v ? arena_printf(a, "%s-%d", vm->name, i + 1) : vm->name;
}

int cloud_fabric_mtu(const struct topology *t)
{
	return t->fabric.mtu.v ? t->fabric.mtu.v : CLOUD_MTU;
}

int cloud_network_mtu(const struct topology *t, const struct cloud_network *n)
{
	if (n->mtu.v)
		return n->mtu.v;
	return cloud_fabric_mtu(t) - (n->type == NETWORK_VPC ? CLOUD_VXLAN_BYTES : 0);
}

int cloud_gateway(const struct cloud_network *n, int family, struct ip *gateway)
{
	if (!n->cidr[family].prefix.ip.family)
		return -ERANGE;
	if (!n->gateway[family].ip.family)
		return prefix_nth(&n->cidr[family].prefix, 1, gateway);
	*gateway = n->gateway[family].ip;
	return 0;
}

const char *cloud_network_l2(const struct cloud_network *n)
{
	if (n->type != NETWORK_FLAT)
		return NULL;
	return n->l2.s ? n->l2.s : "";
}

bool cloud_is_host_address(const struct prefix *cidr, const struct ip *ip)
{
	struct prefix whole = {.ip = *ip, .len = cidr->len};
	struct prefix net = prefix_network(&whole);

	if (ip_equal(&net.ip, ip))
		return false;
	if (ip->family != AF_INET)
		return true;
	for (int bit = cidr->len; bit < 32; bit++) {
		if (!(ip->bytes[bit / 8] & (0x80 >> (bit % 8))))
			return true;
	}
	return false;
}

bool cloud_node_has_ipv6(const struct cloud_node *node)
{
	VEC_FOREACH (a, &node->addresses) {
		if (a->prefix.ip.family == AF_INET6)
			return true;
	}
	return false;
}

uint64_t cloud_seed(uint64_t declared, const char *sender)
{
	/* 32 bits are few enough for a person to type again. */
	uint64_t h = hash_fnv(sender, strlen(sender), declared);
	uint32_t seed = (uint32_t)(h ^ h >> 32);

	return seed ? seed : 1;
}
