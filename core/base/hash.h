/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hash: FNV-1a with 64 bits, for tables and for names and addresses that follow from a text. */
#ifndef VPCLAB_BASE_HASH_H
#define VPCLAB_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/*
 * Same bytes and seed, same number, in every version: MAC addresses and short names of devices are
 * made of it. Seed 0 is plain FNV-1a (Fowler, Noll, Vo).
 */
static inline uint64_t hash_fnv(const void *key, size_t len, uint64_t seed)
{
	const uint8_t *b = key;
	uint64_t h = UINT64_C(14695981039346656037) ^ (seed * UINT64_C(0x9e3779b97f4a7c15));

	for (size_t i = 0; i < len; i++)
		h = (h ^ b[i]) * UINT64_C(1099511628211);
	return h;
}

#endif
