/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pool: bounded memory for packets that wait: blocks of powers of two by the buddy method (Knuth,
 * The Art of Computer Programming 1, 2.5), so that small packets take little and what was freed
 * merges again. All of it is reserved at the start; the kernel gives pages when they are first
 * used.
 */
#ifndef VPCLAB_RELAY_POOL_H
#define VPCLAB_RELAY_POOL_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/err.h"

#define POOL_MIN_BITS 7	 /* a block is at least 128 bytes … */
#define POOL_MAX_BITS 17 /* … and at most 128 KiB */
#define POOL_ORDERS   (POOL_MAX_BITS - POOL_MIN_BITS + 1)

struct pool_link {
	struct pool_link *next, *prev;
};

struct pool {
	uint8_t *base, *state; /* state: of each smallest block, see pool.c */
	size_t size, fresh;    /* bytes; those beyond `fresh` were never used */
	struct pool_link free[POOL_ORDERS];
};

/* `bytes` is rounded up to whole largest blocks. */
int pool_init(struct pool *p, size_t bytes, struct err *err);
void pool_done(struct pool *p);
void *pool_get(struct pool *p, size_t bytes); /* NULL: full, or larger than a block can be */
void pool_put(struct pool *p, void *block);
size_t pool_blocks(const struct pool *p); /* at most so many can be in use */

#endif
