/* SPDX-License-Identifier: GPL-2.0-or-later */
/* trace: delivery by opportunities; it holds numbers, no packets. Called by lane.c. */
#include "emulator/relay/trace.h"

#include <stdlib.h>

#include "core/base/mem.h"
#include "core/base/units.h"

#define TUNNEL_BYTES 4
#define WAITING_MAX  32768 /* packets: the queue's bytes in packets of 46 */

struct waiting {
	int64_t leaves_ns, bytes;
};

struct trace {
	const int64_t *ms;
	size_t n;
	int64_t started_ns, period_ns;
	/* The first opportunity that has something left: its loop, its index, how much. */
	int64_t loop, left;
	size_t at;
	int64_t waiting_bytes;
	size_t first, count; /* of `waiting`, a ring */
	struct waiting waiting[WAITING_MAX];
};

struct trace *trace_new(const int64_t *ms, size_t n, int64_t started_ns)
{
	struct trace *t = mem_zalloc(sizeof(*t));

	t->ms = ms;
	t->n = n;
	t->started_ns = started_ns;
	t->period_ns = ms[n - 1] * NSEC_PER_MSEC;
	t->left = TRACE_BYTES;
	return t;
}

void trace_free(struct trace *t)
{
	free(t);
}

void trace_borrow(struct trace *t, const int64_t *ms)
{
	if (t)
		t->ms = ms;
}

static int64_t when(const struct trace *t)
{
	return t->started_ns + t->loop * t->period_ns + t->ms[t->at] * NSEC_PER_MSEC;
}

/* To the first opportunity that is not before `now_ns`: what came before found nobody waiting. */
static void skip_to(struct trace *t, int64_t now_ns)
{
	int64_t before = now_ns - t->started_ns - 1; /* opportunities up to here are gone */
	size_t low = 0, high = t->n - 1;

	if (when(t) >= now_ns)
		return;
	t->loop = before / t->period_ns;
	before %= t->period_ns;
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (t->ms[mid] * NSEC_PER_MSEC > before)
			high = mid;
		else
			low = mid + 1;
	}
	t->at = low;
	t->left = TRACE_BYTES;
}

static int64_t use(struct trace *t, int64_t bytes)
{
	int64_t last = 0;

	while (bytes > 0) {
		int64_t part = bytes < t->left ? bytes : t->left;

		last = when(t);
		bytes -= part;
		t->left -= part;
		if (t->left)
			break;
		t->left = TRACE_BYTES;
		if (++t->at == t->n) {
			t->at = 0;
			t->loop++;
		}
	}
	return last;
}

static void forget_gone(struct trace *t, int64_t now_ns)
{
	while (t->count && t->waiting[t->first].leaves_ns <= now_ns) {
		t->waiting_bytes -= t->waiting[t->first].bytes;
		t->first = (t->first + 1) % WAITING_MAX;
		t->count--;
	}
}

int64_t trace_pass(struct trace *t, int64_t arrival_ns, int64_t ip_bytes)
{
	int64_t bytes = ip_bytes + TUNNEL_BYTES, leaves_ns;

	forget_gone(t, arrival_ns);
	if (t->count == WAITING_MAX || t->waiting_bytes + bytes > TRACE_QUEUE_BYTES)
		return -1;
	skip_to(t, arrival_ns);
	leaves_ns = use(t, bytes);
	t->waiting[(t->first + t->count++) % WAITING_MAX] = (struct waiting){leaves_ns, bytes};
	t->waiting_bytes += bytes;
	return leaves_ns;
}
