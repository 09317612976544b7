// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * queues: waits for a quiet lab. What was lost is losses.c's. Called by attempt.c.
 */
#include "core/harness/queues.h"

#include <errno.h>
#include <inttypes.h>

#include "core/base/clock.h"
#include "core/base/units.h"
#include "emulator/lab/account.h"
#include "emulator/lab/account_walk.h"

#define STEP_NS (10 * NSEC_PER_MSEC)

static bool may_hold(const struct wire_link *l)
{
	return wire_shape_any(&l->ab) || wire_shape_any(&l->ba) || l->engine != IMPAIR_NONE;
}

/* All that a link goes through. */
static void add_link(const struct account_map *m, int link, bool *nodes)
{
	struct account_way way;

	for (int ba = 0; ba < 2; ba++) {
		account_way_of(m, link, ba, &way);
		for (size_t i = 0; i < way.n; i++)
			nodes[m->w->devs.v[way.stages[i].dev].node] = true;
	}
}

/* The nodes to look at; gives the link whose far end the data arrives at, or -1. */
static int choose(const struct queues_at *at, bool *nodes)
{
	const struct path *p = at->there;
	int arrival = p->hops.n ? p->hops.v[p->hops.n - 1].dev_in : -1, last = -1;
	struct account_map m;

	account_map_init(&m, at->wire);
	for (size_t i = 0; i < at->wire->links.n; i++) {
		const struct wire_link *l = &at->wire->links.v[i];
		bool is_last = arrival >= 0 && (l->dev_a == arrival || l->dev_b == arrival);

		if (is_last)
			last = (int)i;
		if (is_last || may_hold(l))
			add_link(&m, (int)i, nodes);
	}
	account_map_done(&m);
	return last;
}

struct state {
	int64_t waiting, moved; /* packets: on all links, and over the last one */
	const char *where;	/* of those that wait, a link */
};

static int read_state(const struct queues_at *at, const bool *nodes, int last, struct state *out,
		      struct err *err)
{
	struct account a;
	int r = account_read_nodes(at->lab, at->wire, nodes, &a, err);

	if (r)
		return r;
	*out = (struct state){0};
	VEC_FOREACH (d, &a.directions) {
		out->waiting += d->waiting;
		if (d->waiting)
			out->where = at->wire->links.v[d->link].name;
		if (d->link == last)
			out->moved += d->left;
	}
	account_done(&a);
	return 0;
}

int queues_wait(const struct queues_at *at, int64_t deadline_ns, struct err *err)
{
	autofree bool *nodes = mem_zalloc((at->wire->nodes.n + 1) * sizeof(*nodes));
	int last = choose(at, nodes);
	int64_t before = -1;

	for (;;) {
		struct state s;
		int r = read_state(at, nodes, last, &s, err);

		if (r || (!s.waiting && s.moved == before))
			return r;
		if (clock_now_ns() > deadline_ns || at->stop())
			return err_fail(err, ETIMEDOUT,
					"the lab is not quiet before the run: %" PRId64
					" packets wait%s%s",
					s.waiting, s.where ? " on " : "", s.where ? s.where : "");
		before = s.moved;
		clock_sleep_until_ns(clock_now_ns() + STEP_NS);
	}
}
