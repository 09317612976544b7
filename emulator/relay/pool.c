/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pool: buddy allocator in one mapping. Not for several threads. Called by lane.c. */
#include "emulator/relay/pool.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

#define MAX_BYTES  ((size_t)1 << POOL_MAX_BITS)
#define STATE_FREE 0x80 /* of a block's first smallest block: or'ed with its order */

static void *map(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

int pool_init(struct pool *p, size_t bytes, struct err *err)
{
	size_t size = (bytes + MAX_BYTES - 1) / MAX_BYTES * MAX_BYTES;

	*p = (struct pool){.size = size};
	p->base = map(size);
	p->state = map(size >> POOL_MIN_BITS);
	if (!p->base || !p->state) {
		pool_done(p);
		return err_sys(err, ENOMEM, "cannot reserve %zu bytes for packets", size);
	}
	for (int i = 0; i < POOL_ORDERS; i++)
		p->free[i].next = p->free[i].prev = &p->free[i];
	return 0;
}

void pool_done(struct pool *p)
{
	if (p->base)
		munmap(p->base, p->size);
	if (p->state)
		munmap(p->state, p->size >> POOL_MIN_BITS);
	*p = (struct pool){0};
}

size_t pool_blocks(const struct pool *p)
{
	return p->size >> POOL_MIN_BITS;
}

static uint8_t *state_of(struct pool *p, const void *block)
{
	return &p->state[(size_t)((const uint8_t *)block - p->base) >> POOL_MIN_BITS];
}

static void list_add(struct pool *p, void *block, int order)
{
	struct pool_link *l = block, *head = &p->free[order];

	l->next = head->next;
	l->prev = head;
	head->next->prev = l;
	head->next = l;
	*state_of(p, block) = (uint8_t)(STATE_FREE | order);
}

static void list_remove(struct pool_link *l)
{
	l->prev->next = l->next;
	l->next->prev = l->prev;
}

/* A free block of just that order, without splitting. */
static void *take(struct pool *p, int order)
{
	struct pool_link *l = p->free[order].next;
	void *fresh;

	if (l != &p->free[order]) {
		list_remove(l);
		return l;
	}
	if (order < POOL_ORDERS - 1 || p->fresh == p->size)
		return NULL;
	fresh = p->base + p->fresh;
	p->fresh += MAX_BYTES;
	return fresh;
}

void *pool_get(struct pool *p, size_t bytes)
{
	int order = 0, from;
	uint8_t *block = NULL;

	while (order < POOL_ORDERS && ((size_t)1 << (POOL_MIN_BITS + order)) < bytes)
		order++;
	for (from = order; from < POOL_ORDERS; from++) {
		block = take(p, from);
		if (block)
			break;
	}
	if (!block)
		return NULL;
	while (from > order) {
		from--;
		list_add(p, block + ((size_t)1 << (POOL_MIN_BITS + from)), from);
	}
	*state_of(p, block) = (uint8_t)order;
	return block;
}

void pool_put(struct pool *p, void *block)
{
	size_t at = (size_t)((uint8_t *)block - p->base);
	int order = *state_of(p, block);

	for (; order < POOL_ORDERS - 1; order++) {
		size_t buddy = at ^ ((size_t)1 << (POOL_MIN_BITS + order));

		if (p->state[buddy >> POOL_MIN_BITS] != (STATE_FREE | order))
			break;
		list_remove((struct pool_link *)(void *)(p->base + buddy));
		if (buddy < at) {
			p->state[at >> POOL_MIN_BITS] = 0;
			at = buddy;
		} else {
			p->state[buddy >> POOL_MIN_BITS] = 0;
		}
	}
	list_add(p, p->base + at, order);
}
