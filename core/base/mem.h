/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mem: memory for a program that gives up when there is none.
 *
 * Models, plans and results live in an arena and are freed whole; that is why they hold plain
 * pointers and have no per-field owner. Allocation never returns NULL: with no memory the process
 * writes one line to standard error and aborts, the one exception to "below cli nothing exits".
 */
#ifndef VPCLAB_BASE_MEM_H
#define VPCLAB_BASE_MEM_H

#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

struct arena_block;
struct arena {
	struct arena_block *head;
};

void arena_init(struct arena *a);
void arena_done(struct arena *a);

/* Zeroed memory, aligned for any type, owned by the arena. */
void *arena_alloc(struct arena *a, size_t size);
char *arena_strdup(struct arena *a, const char *s); /* NULL gives NULL */
char *arena_strndup(struct arena *a, const char *s, size_t n);
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Heap memory, zeroed; gives ownership to the caller, who frees it with free(). */
void *mem_zalloc(size_t size);
void *mem_realloc(void *p, size_t size);
char *mem_strdup(const char *s);
char *mem_printf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
char *mem_vprintf(const char *fmt, va_list ap) __attribute__((format(printf, 1, 0)));

/*
 * Growing arrays in an arena: declare `VEC(struct foo) foos;` (zeroed is empty), then
 * `struct foo *f = VEC_ADD(arena, &x->foos);` gives a zeroed new item. Items move when the array
 * grows: keep indices, not pointers, across VEC_ADD.
 */
#define VEC(type)                                                                                  \
	struct {                                                                                   \
		type *v;                                                                           \
		size_t n, cap;                                                                     \
	}
#define VEC_ADD(arena, vec)                                                                        \
	((vec)->v = vec_grow((arena), (vec)->v, &(vec)->n, &(vec)->cap, sizeof(*(vec)->v)),        \
	 &(vec)->v[(vec)->n - 1])
#define VEC_FOREACH(it, vec)                                                                       \
	for (__typeof__((vec)->v + 0) it = (vec)->v; it && it < (vec)->v + (vec)->n; it++)
void *vec_grow(struct arena *a, void *v, size_t *n, size_t *cap, size_t item);

/* Cleanup attributes: `autofree char *s`, `autofd int fd = -1`. */
static inline void mem_autofree(void *p)
{
	free(*(void **)p);
}
static inline void mem_autoclose(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}
#define autofree __attribute__((cleanup(mem_autofree)))
#define autofd	 __attribute__((cleanup(mem_autoclose)))

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#endif
