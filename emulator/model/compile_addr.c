/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compile_addr: chooses the addresses that a topology leaves out, the same ones every time: routers
 * from .2 on, VMs from .10 on in file order, IPv6 with the same number. Given addresses were
 * checked by topology_check_addr.c. Called by compile.c, compile_router.c and compile_vm.c.
 */
#include <string.h>

#include "emulator/model/compile.h"

#define LOWEST 2 /* 0 is the network itself, 1 the gateway by habit */

static void reserve(struct compile *c, int network, const struct ip *ip)
{
	if (ip->family)
		keyset_add(&c->taken, network, ip, sizeof(*ip), 0);
}

void compile_addr_reserve(struct compile *c)
{
	const struct topology *t = c->t;

	for (size_t i = 0; i < t->networks.n; i++) {
		for (int f = 0; f < CLOUD_FAMILIES; f++) {
			struct ip gw = {0};

			cloud_gateway(&t->networks.v[i], f, &gw);
			reserve(c, (int)i, &gw);
		}
	}
	VEC_FOREACH (vm, &t->vms) {
		VEC_FOREACH (v, &vm->vnics) {
			for (int f = 0; f < CLOUD_FAMILIES; f++)
				reserve(c, v->network.index, &v->address[f].ip);
		}
	}
	VEC_FOREACH (e, &t->eips)
		reserve(c, e->network, &e->address.ip);
}

/* Address n of the network in a family, where it can be had. */
static bool candidate(const struct compile *c, int network, int family, uint64_t n, struct ip *ip)
{
	const struct prefix *cidr = &c->t->networks.v[network].cidr[family].prefix;

	return prefix_nth(cidr, n, ip) == 0 && cloud_is_host_address(cidr, ip) &&
	       keyset_find(&c->taken, network, ip, sizeof(*ip)) < 0;
}

/* Takes number n in all wanted families, or in none. */
static bool take(struct compile *c, int network, const bool want[CLOUD_FAMILIES], uint64_t n,
		 struct ip ip[CLOUD_FAMILIES])
{
	struct ip got[CLOUD_FAMILIES] = {0};

	for (int f = 0; f < CLOUD_FAMILIES; f++) {
		if (want[f] && !candidate(c, network, f, n, &got[f]))
			return false;
	}
	for (int f = 0; f < CLOUD_FAMILIES; f++) {
		if (!want[f])
			continue;
		ip[f] = got[f];
		reserve(c, network, &got[f]);
	}
	return true;
}

/* The number of an address in its network; the last 32 bits are enough for what people write. */
static uint64_t number_of(const struct prefix *cidr, const struct ip *ip)
{
	size_t size = ip_size(ip);
	uint64_t n = 0;

	for (size_t i = size - 4; i < size; i++)
		n = n << 8 | ip->bytes[i];
	if (cidr->len > (int)size * 8 - 32)
		n &= (UINT64_C(1) << (size * 8 - (size_t)cidr->len)) - 1;
	return n;
}

/* Numbers from `first` to the end of the smallest family, then from the lowest up to `first`. */
static bool search(struct compile *c, int network, const bool want[CLOUD_FAMILIES], uint64_t first,
		   struct ip ip[CLOUD_FAMILIES])
{
	const struct cloud_network *net = &c->t->networks.v[network];
	uint64_t *next = &c->nets[network].next, end = UINT64_C(1) << 32;

	for (int f = 0; f < CLOUD_FAMILIES; f++) {
		const struct prefix *cidr = &net->cidr[f].prefix;
		int bits = (int)ip_size(&cidr->ip) * 8 - cidr->len;

		if (want[f] && bits < 32 && end > UINT64_C(1) << bits)
			end = UINT64_C(1) << bits;
	}
	/* Searches that start alike go on where the last one ended. */
	for (uint64_t n = *next > first && first > LOWEST ? *next : first; n < end; n++) {
		if (take(c, network, want, n, ip)) {
			if (first > LOWEST)
				*next = n + 1;
			return true;
		}
	}
	for (uint64_t n = LOWEST; n < first && n < end; n++) {
		if (take(c, network, want, n, ip))
			return true;
	}
	return false;
}

void compile_addr_choose(struct compile *c, int network, int first, struct mark at,
			 struct ip ip[CLOUD_FAMILIES])
{
	const struct cloud_network *net = &c->t->networks.v[network];
	bool want[CLOUD_FAMILIES];

	for (int f = 0; f < CLOUD_FAMILIES; f++)
		want[f] = net->cidr[f].prefix.ip.family && !ip[f].family;
	if (!want[CLOUD_V4] && !want[CLOUD_V6])
		return;
	for (int f = 0; f < CLOUD_FAMILIES; f++) {
		/* One is given: the other takes its number where that is free. */
		if (ip[f].family &&
		    take(c, network, want, number_of(&net->cidr[f].prefix, &ip[f]), ip))
			return;
	}
	if (!search(c, network, want, (uint64_t)first, ip))
		problems_add(c->p, at, "network '%s' has no address left", net->name);
}
