/* SPDX-License-Identifier: GPL-2.0-or-later */
/* queue: binary heap of due times. Knows nothing of packets. Called by lane.c. */
#include "emulator/relay/queue.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/mman.h>

int queue_init(struct queue *q, size_t max, struct err *err)
{
	void *p = mmap(NULL, max * sizeof(struct queue_item), PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		return err_sys(err, errno, "cannot reserve a queue of %zu packets", max);
	*q = (struct queue){.items = p, .max = max};
	return 0;
}

void queue_done(struct queue *q)
{
	if (q->items)
		munmap(q->items, q->max * sizeof(struct queue_item));
	*q = (struct queue){0};
}

static bool before(const struct queue_item *a, const struct queue_item *b)
{
	return a->due_ns != b->due_ns ? a->due_ns < b->due_ns : a->order < b->order;
}

void queue_put_back(struct queue *q, struct queue_item item)
{
	size_t at = q->n++;

	while (at) {
		size_t parent = (at - 1) / 2;

		if (!before(&item, &q->items[parent]))
			break;
		q->items[at] = q->items[parent];
		at = parent;
	}
	q->items[at] = item;
}

void queue_push(struct queue *q, int64_t due_ns, void *what)
{
	queue_put_back(q, (struct queue_item){due_ns, q->order++, what});
}

const struct queue_item *queue_first(const struct queue *q)
{
	return q->n ? q->items : NULL;
}

struct queue_item queue_pop(struct queue *q)
{
	struct queue_item first = q->items[0], last = q->items[--q->n];
	size_t at = 0, child;

	while ((child = at * 2 + 1) < q->n) {
		if (child + 1 < q->n && before(&q->items[child + 1], &q->items[child]))
			child++;
		if (!before(&q->items[child], &last))
			break;
		q->items[at] = q->items[child];
		at = child;
	}
	q->items[at] = last;
	return first;
}
