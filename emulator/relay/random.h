/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * random: numbers that follow from a seed, a packet's number and a purpose alone (a counter-based
 * generator): whoever asks again, in whatever order, gets the same.
 *
 * The mixing function is that of SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom
 * number generators", OOPSLA 2014; its constants are variant 13 of Stafford's), applied once to
 * each of the three.
 */
#ifndef VPCLAB_RELAY_RANDOM_H
#define VPCLAB_RELAY_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

enum random_purpose {
	RANDOM_SEED,
	RANDOM_LOSS,
	RANDOM_LOSS_REPEAT,
	RANDOM_STATE,
	RANDOM_CORRUPT,
	RANDOM_CORRUPT_BIT,
	RANDOM_DUPLICATE,
	RANDOM_HOLD,
	RANDOM_JITTER, /* two numbers, for a packet and for its copy */
	RANDOM_JITTER_2,
	RANDOM_COPY_JITTER,
	RANDOM_COPY_JITTER_2,
};

uint64_t random_bits(uint64_t seed, uint64_t number, enum random_purpose purpose);
/* True for `ppm` of a million, exactly. */
bool random_ppm(uint64_t bits, int64_t ppm);
/* Standard normal, from two numbers: Box and Muller, Ann. Math. Statist. 29 (1958). */
double random_normal(uint64_t a, uint64_t b);

#endif
