// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * queues: reads the lab's counters for a path. Judges nothing: a drop may be what the measurement
 * is about. Called by attempt.c.
 */
#include "core/harness/queues.h"

#include <errno.h>
#include <inttypes.h>

#include "core/base/clock.h"
#include "core/base/units.h"
#include "emulator/lab/count.h"

#define STEP_NS (10 * NSEC_PER_MSEC)

struct nodes { /* names, each once */
	const char **v;
	size_t n;
	bool *has;
};

static void nodes_init(struct nodes *s, const struct wire *w)
{
	s->v = mem_zalloc((w->nodes.n + 1) * sizeof(*s->v));
	s->has = mem_zalloc((w->nodes.n + 1) * sizeof(*s->has));
	s->n = 0;
}

static void nodes_done(struct nodes *s)
{
	free(s->v);
	free(s->has);
}

static void nodes_add(struct nodes *s, const struct wire *w, int node)
{
	if (s->has[node])
		return;
	s->has[node] = true;
	s->v[s->n++] = w->nodes.v[node].name;
}

static const json_t *devices_of(const json_t *snapshot, const char *node)
{
	return json_object_get(json_object_get(json_object_get(snapshot, "nodes"), node),
			       "devices");
}

static int64_t number(const json_t *o, const char *key)
{
	return json_integer_value(json_object_get(o, key));
}

/* Packets that wait in all shapers; *where is one of them. */
static int64_t waiting(const struct wire *w, const json_t *snapshot, const struct wire_dev **where)
{
	int64_t sum = 0;

	VEC_FOREACH (d, &w->devs) {
		const json_t *dev, *qdisc;
		size_t i;

		if (d->egress.rate.bps <= 0)
			continue;
		dev = json_object_get(devices_of(snapshot, w->nodes.v[d->node].name), d->name);
		json_array_foreach(json_object_get(dev, "qdiscs"), i, qdisc)
		{
			int64_t backlog = number(qdisc, "backlog_packets");

			if (backlog)
				*where = d;
			sum += backlog;
		}
	}
	return sum;
}

/* What the device at the end of the way has received. */
static int64_t received(const struct queues_at *at, const json_t *snapshot)
{
	const struct path *p = at->there;
	const struct path_hop *last = p->hops.n ? &p->hops.v[p->hops.n - 1] : NULL;

	if (!last || last->dev_in < 0)
		return 0;
	return number(json_object_get(devices_of(snapshot, at->wire->nodes.v[last->node].name),
				      at->wire->devs.v[last->dev_in].name),
		      "rx_packets");
}

static int wait_idle(const struct queues_at *at, const struct nodes *nodes, int64_t deadline_ns,
		     struct err *err)
{
	int64_t before = -1;

	for (;;) {
		const struct wire_dev *where = NULL;
		json_t *snapshot;
		int r = count_snapshot(at->lab, nodes->v, nodes->n, &snapshot, err);

		if (r)
			return r;
		int64_t n = waiting(at->wire, snapshot, &where), now = received(at, snapshot);
		json_decref(snapshot);
		if (!n && now == before)
			return 0;
		if (clock_now_ns() > deadline_ns || at->stop())
			return err_fail(err, ETIMEDOUT,
					"the lab is not quiet before the run: %" PRId64
					" packets wait%s%s",
					n, where ? " at " : "", where ? where->name : "");
		before = now;
		clock_sleep_until_ns(clock_now_ns() + STEP_NS);
	}
}

int queues_wait(const struct queues_at *at, int64_t deadline_ns, struct err *err)
{
	const struct wire *w = at->wire;
	struct nodes nodes;

	nodes_init(&nodes, w);
	VEC_FOREACH (d, &w->devs)
		if (d->egress.rate.bps > 0)
			nodes_add(&nodes, w, d->node);
	nodes_add(&nodes, w, at->there->dst_node);
	int r = wait_idle(at, &nodes, deadline_ns, err);
	nodes_done(&nodes);
	return r;
}

int queues_read(const struct queues_at *at, json_t **out, struct err *err)
{
	const struct wire *w = at->wire;
	struct nodes nodes;

	nodes_init(&nodes, w);
	VEC_FOREACH (hop, &at->there->hops) {
		nodes_add(&nodes, w, hop->node);
		if (hop->shaper >= 0) /* it may be in the wire itself */
			nodes_add(&nodes, w, w->devs.v[hop->shaper].node);
	}
	VEC_FOREACH (hop, &at->back->hops) {
		nodes_add(&nodes, w, hop->node);
		if (hop->shaper >= 0)
			nodes_add(&nodes, w, w->devs.v[hop->shaper].node);
	}
	int r = count_snapshot(at->lab, nodes.v, nodes.n, out, err);
	nodes_done(&nodes);
	return r;
}

/* A classful queue counts what its inner one drops, so the first, the root, has them all. */
static int64_t dropped_by_queue(const json_t *dev)
{
	return number(json_array_get(json_object_get(dev, "qdiscs"), 0), "dropped");
}

static void add(struct arena *arena, struct queue_drops *out, const struct queue_drop *d)
{
	if (d->packets > 0)
		*VEC_ADD(arena, &out->list) = *d;
}

static void add_device(const struct wire *w, int node, const char *name, const json_t *before,
		       const json_t *after, struct arena *arena, struct queue_drops *out)
{
	int index = wire_find_dev(w, node, name);
	const struct wire_dev *d = index >= 0 ? &w->devs.v[index] : NULL;
	struct queue_drop drop = {
	    .kind = QUEUE_SHAPER,
	    .node = w->nodes.v[node].name,
	    .dev = arena_strdup(arena, name),
	    .link = d && d->egress_link >= 0 ? w->links.v[d->egress_link].name : NULL,
	    .packets = dropped_by_queue(after) - dropped_by_queue(before),
	};

	add(arena, out, &drop);
	drop.kind = QUEUE_DEVICE;
	drop.link = NULL;
	drop.packets = number(after, "rx_dropped") - number(before, "rx_dropped");
	add(arena, out, &drop);
}

static void add_node(const struct wire *w, int node, const json_t *before, const json_t *after,
		     struct arena *arena, struct queue_drops *out)
{
	const json_t *old = json_object_get(before, "devices"), *dev;
	struct queue_drop drop = {.kind = QUEUE_SOCKET, .node = w->nodes.v[node].name};
	const char *name;

	json_object_foreach((json_t *)json_object_get(after, "devices"), name, dev)
	    add_device(w, node, name, json_object_get(old, name), dev, arena, out);
	drop.packets = number(json_object_get(after, "udp"), "rcvbuf_errors") -
		       number(json_object_get(before, "udp"), "rcvbuf_errors");
	add(arena, out, &drop);
}

void queues_between(const struct wire *w, const json_t *before, const json_t *after,
		    struct arena *arena, struct queue_drops *out)
{
	const json_t *old = json_object_get(before, "nodes"), *value;
	const char *name;

	*out = (struct queue_drops){0};
	json_object_foreach((json_t *)json_object_get(after, "nodes"), name, value)
	{
		int node = wire_find_node(w, name);

		if (node >= 0)
			add_node(w, node, json_object_get(old, name), value, arena, out);
	}
}

void queues_describe(const struct queue_drop *d, struct strbuf *out)
{
	strbuf_addf(out, "%" PRId64 " at %s", d->packets, d->node);
	if (d->kind == QUEUE_SOCKET) {
		strbuf_add(out, " (receiving socket)");
		return;
	}
	strbuf_addf(out, " %s", d->dev);
	if (d->link)
		strbuf_addf(out, " (queue of %s)", d->link);
	else if (d->kind == QUEUE_DEVICE)
		strbuf_add(out, " (received and not taken)");
}
