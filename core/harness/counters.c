// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * counters: puts the lab's counters where a measurement's data arrives, and reads them as
 * differences. What the numbers mean is truth.c's business. Called by attempt.c.
 */
#include "core/harness/counters.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>

#include "core/base/str.h"
#include "emulator/lab/count.h"

enum { RULES_MOST = 16 };

struct counters {
	struct count_at at;
	size_t n;
	struct truth_counts base; /* what they were when counting began */
	int64_t base_ns;
};

static int protocol_of(const struct counters_at *at, const json_t *flow)
{
	const char *name = json_string_value(json_object_get(flow, "protocol"));

	return !name		     ? at->protocol
	       : str_eq(name, "udp") ? IPPROTO_UDP
	       : str_eq(name, "tcp") ? IPPROTO_TCP
				     : at->protocol;
}

/* Addresses are those after all translations; translation 1:1 leaves ports alone. */
static void describe_flow(const struct counters_at *at, const json_t *flow, bool any_client,
			  struct count_flow *out)
{
	uint16_t client = (uint16_t)json_integer_value(json_object_get(flow, "local_port"));
	uint16_t server = (uint16_t)json_integer_value(json_object_get(flow, "remote_port"));

	if (any_client)
		client = 0;
	*out = (struct count_flow){
	    .protocol = protocol_of(at, flow),
	    .src = at->path->src_seen,
	    .dst = at->path->dst_final,
	    .src_port = at->from_server ? server : client,
	    .dst_port = at->from_server ? client : server,
	};
}

static bool same_rule(const struct count_flow *a, const struct count_flow *b)
{
	return a->protocol == b->protocol && a->src_port == b->src_port &&
	       a->dst_port == b->dst_port;
}

static size_t add_rule(struct count_flow *list, size_t n, const struct count_flow *f)
{
	for (size_t i = 0; i < n; i++)
		if (same_rule(&list[i], f))
			return n;
	list[n] = *f;
	return n + 1;
}

/* The rules for these flows: at most RULES_MOST, by ports of the server, or of no port at all. */
static size_t make_rules(const struct counters_at *at, const json_t *flows, struct count_flow *list)
{
	size_t n = 0;

	for (size_t i = at->first; i < at->first + at->n; i++) {
		struct count_flow f;

		describe_flow(at, json_array_get(flows, i), at->n > RULES_MOST, &f);
		n = add_rule(list, n, &f);
		if (n <= RULES_MOST)
			continue;
		f.src_port = f.dst_port = 0;
		list[0] = f;
		return 1;
	}
	return n;
}

static int install(struct counters *c, const struct counters_at *at, const json_t *flows,
		   struct err *err)
{
	struct count_flow list[RULES_MOST + 1];

	c->n = make_rules(at, flows, list);
	return count_install(&c->at, list, c->n, err);
}

static int read_now(struct counters *c, struct truth_counts *out, int64_t *at_ns, struct err *err)
{
	struct count_dev dev;
	struct count_value flows[RULES_MOST + 1];
	int r = count_read(&c->at, flows, c->n, &dev, at_ns, err);

	if (r)
		return r;
	*out = (struct truth_counts){.known = true};
	for (size_t i = 0; i < c->n; i++) {
		out->flow.packets += flows[i].packets;
		out->flow.bytes += flows[i].bytes;
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

	int r = find_device(at, &c->at, err);
	if (!r)
		r = install(c, at, flows, err);
	if (!r)
		r = read_now(c, &c->base, &c->base_ns, err);
	if (r) {
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
	free(c);
}
