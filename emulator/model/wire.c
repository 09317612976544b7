/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wire: life, lookups and words of the wire model. What fills it is compile*.c; everyone after the
 * model reads it.
 */
#include "emulator/model/wire.h"

#include "core/base/str.h"

void wire_init(struct wire *w)
{
	*w = (struct wire){0};
	arena_init(&w->arena);
	w->scale_num = w->scale_den = 1;
}

void wire_done(struct wire *w)
{
	arena_done(&w->arena);
	*w = (struct wire){0};
}

int wire_find_node(const struct wire *w, const char *name)
{
	for (size_t i = 0; i < w->nodes.n; i++) {
		if (str_eq(w->nodes.v[i].name, name))
			return (int)i;
	}
	return -1;
}

int wire_find_dev(const struct wire *w, int node, const char *name)
{
	for (size_t i = 0; i < w->devs.n; i++) {
		const struct wire_dev *d = &w->devs.v[i];

		if (d->node == node &&
		    (str_eq(d->name, name) || (d->altname && str_eq(d->altname, name))))
			return (int)i;
	}
	return -1;
}

/* The only endpoint with that address: networks of two tenants may have the same one. */
static const struct wire_endpoint *find_address(const struct wire *w, const char *text)
{
	const struct wire_endpoint *found = NULL;
	struct err not_one = ERR_INIT;
	struct ip ip;

	if (ip_parse(text, &ip, &not_one))
		return NULL;
	VEC_FOREACH (e, &w->endpoints) {
		if (!ip_equal(&e->ip4, &ip) && !ip_equal(&e->ip6, &ip))
			continue;
		if (found)
			return NULL;
		found = e;
	}
	return found;
}

const struct wire_endpoint *wire_find_endpoint(const struct wire *w, const char *name)
{
	VEC_FOREACH (e, &w->endpoints) {
		if (str_eq(e->name, name))
			return e;
	}
	return find_address(w, name);
}

const char *wire_node_kind_name(enum node_kind kind)
{
	static const char *const names[] = {
	    [NODE_MACHINE] = "machine", [NODE_VM] = "vm",	  [NODE_HOST] = "host",
	    [NODE_SWITCH] = "switch",	[NODE_ROUTER] = "router", [NODE_EIP] = "eip",
	    [NODE_WIRES] = "wires",
	};

	return names[kind];
}

bool wire_shape_any(const struct wire_shape *s)
{
	return s->rate.bps || s->pps.pps || s->queues.bps_each || s->queues.pps_each || s->flow_bps;
}

int wire_shape_slots(const struct wire_shape *s)
{
	if (s->flow_bps)
		return WIRE_SLOTS_FLOW;
	return s->queues.count > 1 && wire_shape_any(s) ? s->queues.count : 0;
}

/* 50 ms of them, so that a timer that wakes late costs nobody a packet. */
int64_t wire_police_burst(const struct wire_pps *pps)
{
	enum { LEAST = 20, A_SECOND = 20 };
	int64_t burst = pps->pps / A_SECOND > LEAST ? pps->pps / A_SECOND : LEAST;

	if (pps->burst)
		return pps->burst;
	return burst < UINT32_MAX ? burst : UINT32_MAX;
}

const char *wire_basis_name(enum rate_basis basis)
{
	static const char *const names[] = {
	    [BASIS_L1] = "l1", [BASIS_L2] = "l2", [BASIS_L3] = "l3"};

	return names[basis];
}

const char *wire_mode_name(enum shape_mode mode)
{
	static const char *const names[] = {
	    [SHAPE_AUTO] = "auto", [SHAPE_EXACT] = "exact", [SHAPE_FAST] = "fast"};

	return names[mode];
}
