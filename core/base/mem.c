/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mem: arenas and heap memory that is never NULL. An arena is a chain of blocks that only grows;
 * there is no freeing of single items. Called by everybody.
 */
#include "core/base/mem.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define BLOCK_SIZE (64 * 1024)
#define ALIGNMENT  alignof(max_align_t)

struct arena_block {
	struct arena_block *next;
	size_t used, size;
	alignas(max_align_t) unsigned char data[];
};

static _Noreturn void no_memory(void)
{
	static const char text[] = "vpclab: out of memory\n";
	ssize_t written = write(STDERR_FILENO, text, sizeof(text) - 1);

	(void)written;
	abort();
}

void arena_init(struct arena *a)
{
	a->head = NULL;
}

void arena_done(struct arena *a)
{
	struct arena_block *next;

	for (struct arena_block *b = a->head; b; b = next) {
		next = b->next;
		free(b);
	}
	a->head = NULL;
}

static struct arena_block *block_new(size_t size)
{
	struct arena_block *b;

	if (size > SIZE_MAX - sizeof(*b))
		no_memory();
	b = mem_zalloc(sizeof(*b) + size);
	b->size = size;
	return b;
}

/* A large item gets a block of its own behind the head, so that the head's rest stays in use. */
static void *alloc_large(struct arena *a, size_t size)
{
	struct arena_block *b = block_new(size);

	b->used = size;
	if (a->head) {
		b->next = a->head->next;
		a->head->next = b;
	} else {
		a->head = b;
	}
	return b->data;
}

void *arena_alloc(struct arena *a, size_t size)
{
	struct arena_block *b = a->head;
	void *p;

	if (size > SIZE_MAX - ALIGNMENT)
		no_memory();
	size = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	if (size > BLOCK_SIZE / 4)
		return alloc_large(a, size);
	if (!b || b->size - b->used < size) {
		b = block_new(BLOCK_SIZE);
		b->next = a->head;
		a->head = b;
	}
	p = b->data + b->used;
	b->used += size;
	return p;
}

char *arena_strdup(struct arena *a, const char *s)
{
	return s ? arena_strndup(a, s, strlen(s)) : NULL;
}

char *arena_strndup(struct arena *a, const char *s, size_t n)
{
	size_t len = strnlen(s, n);
	char *copy = arena_alloc(a, len + 1);

	memcpy(copy, s, len);
	return copy;
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
	autofree char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	text = mem_vprintf(fmt, ap);
	va_end(ap);
	return arena_strdup(a, text);
}

void *mem_zalloc(size_t size)
{
	void *p = calloc(1, size ? size : 1);

	if (!p)
		no_memory();
	return p;
}

void *mem_realloc(void *p, size_t size)
{
	void *q = realloc(p, size ? size : 1);

	if (!q)
		no_memory();
	return q;
}

char *mem_strdup(const char *s)
{
	char *copy = s ? strdup(s) : NULL;

	if (s && !copy)
		no_memory();
	return copy;
}

char *mem_vprintf(const char *fmt, va_list ap)
{
	char *s;

	/* Fails for want of memory, or when a locale cannot say a wide character: we print none. */
	if (vasprintf(&s, fmt, ap) < 0)
		no_memory();
	return s;
}

char *mem_printf(const char *fmt, ...)
{
	va_list ap;
	char *s;

	va_start(ap, fmt);
	s = mem_vprintf(fmt, ap);
	va_end(ap);
	return s;
}

void *vec_grow(struct arena *a, void *v, size_t *n, size_t *cap, size_t item)
{
	if (*n == *cap) {
		size_t more = *cap ? *cap * 2 : 8;
		void *bigger;

		if (more > SIZE_MAX / item / 2)
			no_memory();
		bigger = arena_alloc(a, more * item);
		if (*n)
			memcpy(bigger, v, *n * item);
		v = bigger;
		*cap = more;
	}
	memset((char *)v + *n * item, 0, item); /* there was one before, if n was set back */
	(*n)++;
	return v;
}
