/* SPDX-License-Identifier: GPL-2.0-or-later */
/* random: a counter-based generator for fates. No state. Called by fate.c. */
#include "emulator/relay/random.h"

#include <math.h>

#define GOLDEN UINT64_C(0x9e3779b97f4a7c15)

static uint64_t mix(uint64_t z)
{
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

uint64_t random_bits(uint64_t seed, uint64_t number, enum random_purpose purpose)
{
	uint64_t z = mix(seed + GOLDEN);

	z = mix(z + GOLDEN * (number + 1));
	return mix(z + GOLDEN * ((uint64_t)purpose + 1));
}

bool random_ppm(uint64_t bits, int64_t ppm)
{
	return (int64_t)((unsigned __int128)bits * 1000000 >> 64) < ppm;
}

double random_normal(uint64_t a, uint64_t b)
{
	double u = ((double)(a >> 11) + 0.5) * 0x1p-53; /* never 0 or 1 */
	double v = (double)(b >> 11) * 0x1p-53;

	return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}
