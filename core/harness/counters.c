// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * counters: puts the lab's counters where a measurement's data arrives, and reads them as
 * differences. What the numbers mean is truth.c's business. Called by attempt.c.
 */
#include "core/harness/counters.h"

#include <errno.h>
#include <stdlib.h>

#include "emulator/lab/count.h"

struct counters {
	struct count_at at;
	size_t n;
	struct count_value *flows; /* scratch for one reading */
	struct truth_counts base;  /* what they were when counting began */
	int64_t base_ns;
};

/* Addresses are those after all translations; translation 1:1 leaves ports alone. */
static void describe_flow(const struct counters_at *at, const json_t *flow, struct count_flow *out)
{
	json_t *from = json_object_get(flow, "local_port");
	json_t *to = json_object_get(flow, "remote_port");

	*out = (struct count_flow){
	    .protocol = at->protocol,
	    .src = at->path->src_seen,
	    .dst = at->path->dst_final,
	    .src_port = (uint16_t)json_integer_value(from),
	    .dst_port = (uint16_t)json_integer_value(to),
	};
}

static int install(struct counters *c, const struct counters_at *at, const json_t *flows,
		   struct err *err)
{
	autofree struct count_flow *list = mem_zalloc((c->n + 1) * sizeof(*list));

	for (size_t i = 0; i < c->n; i++)
		describe_flow(at, json_array_get(flows, i), &list[i]);
	return count_install(&c->at, list, c->n, err);
}

static int read_now(struct counters *c, struct truth_counts *out, int64_t *at_ns, struct err *err)
{
	struct count_dev dev;
	int r = count_read(&c->at, c->flows, c->n, &dev, at_ns, err);

	if (r)
		return r;
	*out = (struct truth_counts){.known = true};
	for (size_t i = 0; i < c->n; i++) {
		out->flow.packets += c->flows[i].packets;
		out->flow.bytes += c->flows[i].bytes;
	}
	out->device = (struct truth_counter){dev.rx.packets, dev.rx.bytes};
	return 0;
}

/* The device at the end of the way, by which packets enter the node where the server runs. */
static int find_device(const struct counters_at *at, struct count_at *out, struct err *err)
{
	const struct path *p = at->path;
	const struct path_hop *last = p->hops.n ? &p->hops.v[p->hops.n - 1] : NULL;

	if (!last || last->dev_in < 0)
		return err_unsupported(err,
				       "both ends are in one node: nothing arrives at a device");
	out->lab = at->lab;
	out->node = at->wire->nodes.v[last->node].name;
	out->dev = at->wire->devs.v[last->dev_in].name;
	return 0;
}

int counters_open(const struct counters_at *at, const json_t *flows, struct counters **out,
		  struct err *err)
{
	struct counters *c = mem_zalloc(sizeof(*c));

	c->n = json_array_size(flows);
	c->flows = mem_zalloc((c->n + 1) * sizeof(*c->flows));
	int r = find_device(at, &c->at, err);
	if (!r)
		r = install(c, at, flows, err);
	if (!r)
		r = read_now(c, &c->base, &c->base_ns, err);
	if (r) {
		free(c->flows);
		free(c);
		return r;
	}
	*out = c;
	return 0;
}

static void subtract(struct truth_counter *a, const struct truth_counter *b)
{
	a->packets -= b->packets;
	a->bytes -= b->bytes;
}

int counters_read(struct counters *c, struct truth_counts *out, struct err *err)
{
	struct truth_counts now;
	int64_t at_ns;
	int r = read_now(c, &now, &at_ns, err);

	if (r)
		return r;
	subtract(&now.flow, &c->base.flow);
	subtract(&now.device, &c->base.device);
	now.elapsed_ns = at_ns - c->base_ns;
	*out = now;
	return 0;
}

void counters_close(struct counters *c)
{
	struct err ignored = ERR_INIT;

	if (!c)
		return;
	count_remove(&c->at, &ignored);
	free(c->flows);
	free(c);
}
