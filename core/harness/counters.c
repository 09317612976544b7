// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * counters: puts the lab's counters where a measurement's data arrives, and reads them as
 * differences. What the numbers mean is truth.c's business. Called by attempt.c.
 */
#include "core/harness/counters.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "core/base/str.h"
#include "emulator/lab/count.h"

enum { RULES_MOST = 16, ETHERNET_HEADER = 14 };

struct device { /* where counting goes on, by one measurement or several */
	struct count_at at;
	struct count_flow *rules;
	struct count_value *base, *now; /* [n]: when counting began, and scratch */
	struct count_dev dev_base, dev_now;
	size_t n;
	int64_t base_ns, now_ns;
	int users;
	struct device *next;
};

struct counters_shared {
	struct device *devices;
};

struct counters {
	struct device *device;
	size_t first, n; /* of its rules */
	bool alone;	 /* nobody else knows the device */
};

struct counters_shared *counters_shared_new(void)
{
	return mem_zalloc(sizeof(struct counters_shared));
}

static void device_free(struct device *d)
{
	free(d->rules);
	free(d->base);
	free(d->now);
	free(d);
}

void counters_shared_free(struct counters_shared *s)
{
	while (s && s->devices) {
		struct device *d = s->devices;

		s->devices = d->next;
		device_free(d);
	}
	free(s);
}

static int protocol_of(const struct counters_at *at, const json_t *flow)
{
	const char *name = json_string_value(json_object_get(flow, "protocol"));

	return !name		     ? at->protocol
	       : str_eq(name, "udp") ? IPPROTO_UDP
	       : str_eq(name, "tcp") ? IPPROTO_TCP
				     : at->protocol;
}

static bool is_group(const struct ip *ip)
{
	return ip->family == AF_INET6 ? ip->bytes[0] == 0xff : (ip->bytes[0] & 0xf0) == 0xe0;
}

/* Addresses are those after all translations; translation 1:1 leaves ports alone. What is sent to a
 * group arrives as it was. */
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
	const char *remote = json_string_value(json_object_get(flow, "remote"));
	struct err ignored = ERR_INIT;
	struct ip ip;

	if (!remote || ip_parse(remote, &ip, &ignored) || !is_group(&ip))
		return;
	out->src = (struct ip){0};
	out->dst = ip;
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

static struct device *device_of(struct counters_shared *shared, const struct count_at *at)
{
	struct device *d = shared ? shared->devices : NULL;

	while (d && (!str_eq(d->at.node, at->node) || !str_eq(d->at.dev, at->dev)))
		d = d->next;
	if (d)
		return d;
	d = mem_zalloc(sizeof(*d));
	d->at = *at;
	if (shared) {
		d->next = shared->devices;
		shared->devices = d;
	}
	return d;
}

static int device_read(struct device *d, struct err *err)
{
	return count_read(&d->at, d->now, d->n, &d->dev_now, &d->now_ns, err);
}

/* Counts these as well; all of the device's counters begin anew. */
static int device_add(struct device *d, const struct count_flow *rules, size_t n, struct err *err)
{
	size_t all = d->n + n;

	d->rules = mem_realloc(d->rules, (all + 1) * sizeof(*d->rules));
	d->base = mem_realloc(d->base, (all + 1) * sizeof(*d->base));
	d->now = mem_realloc(d->now, (all + 1) * sizeof(*d->now));
	memcpy(d->rules + d->n, rules, n * sizeof(*rules));
	d->n = all;
	int r = count_install(&d->at, d->rules, d->n, err);
	if (!r)
		r = device_read(d, err);
	if (r)
		return r;
	memcpy(d->base, d->now, all * sizeof(*d->base));
	d->dev_base = d->dev_now;
	d->base_ns = d->now_ns;
	return 0;
}

static void release(struct counters *c)
{
	struct err ignored = ERR_INIT;

	if (!--c->device->users)
		count_remove(&c->device->at, &ignored);
	if (c->alone)
		device_free(c->device);
	free(c);
}

int counters_open(const struct counters_at *at, const json_t *flows, struct counters **out,
		  struct err *err)
{
	struct count_flow rules[RULES_MOST + 1];
	struct count_at place = {0};
	int r = find_device(at, &place, err);

	if (r)
		return r;
	struct counters *c = mem_zalloc(sizeof(*c));
	c->device = device_of(at->shared, &place);
	c->device->users++;
	c->alone = !at->shared;
	c->first = c->device->n;
	c->n = make_rules(at, flows, rules);
	r = device_add(c->device, rules, c->n, err);
	if (r) {
		release(c);
		return r;
	}
	*out = c;
	return 0;
}

/* The device has what other measurements' counters saw there as well, which is theirs. */
int counters_read(struct counters *c, struct truth_counts *out, struct err *err)
{
	struct device *d = c->device;
	int r = device_read(d, err);

	if (r)
		return r;
	*out = (struct truth_counts){.known = true, .elapsed_ns = d->now_ns - d->base_ns};
	out->device = (struct truth_counter){d->dev_now.rx.packets - d->dev_base.rx.packets,
					     d->dev_now.rx.bytes - d->dev_base.rx.bytes};
	for (size_t i = 0; i < d->n; i++) {
		int64_t packets = d->now[i].packets - d->base[i].packets;
		int64_t bytes = d->now[i].bytes - d->base[i].bytes;

		if (i >= c->first && i < c->first + c->n) {
			out->flow.packets += packets;
			out->flow.bytes += bytes;
		} else {
			out->device.packets -= packets;
			out->device.bytes -= bytes + packets * ETHERNET_HEADER;
		}
	}
	return 0;
}

void counters_close(struct counters *c)
{
	if (c)
		release(c);
}
