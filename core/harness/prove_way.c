/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * prove_way: from a link's direction to the devices of its probe. Called by prove.c and its parts.
 */
#include "core/harness/prove_way.h"

/* The bridge's side of a vNIC's tap; see emulator/model/compile_card.c. */
static int port_of_tap(const struct wire *w, int tap)
{
	for (int i = tap + 1; i < (int)w->devs.n; i++) {
		if (w->devs.v[i].role == ROLE_TAPOUT && w->devs.v[i].node == w->devs.v[tap].node)
			return w->devs.v[i].peer;
	}
	return tap;
}

/*
 * Where an arrival cannot be seen, what the other end of the pair sends is: a port of Open vSwitch
 * by AF_XDP takes packets before anybody sees them, and a pair within one namespace keeps old time
 * stamps (emulator/lab/frames.h).
 */
static bool look_at_peer(const struct wire *w, int dev)
{
	const struct wire_dev *d = &w->devs.v[dev];

	return d->peer >= 0 && (w->devs.v[d->peer].node == d->node ||
				(d->master >= 0 && w->nodes.v[d->node].engine == ENGINE_OVS));
}

void way_of(const struct wire *w, int link, bool ba, struct way *out)
{
	const struct wire_link *l = &w->links.v[link];
	int a = l->dev_a, b = l->dev_b;

	if (w->devs.v[b].role == ROLE_TAP)
		b = port_of_tap(w, b);
	*out = (struct way){.w = w,
			    .link = link,
			    .ba = ba,
			    .l = l,
			    .shape = ba ? &l->ba : &l->ab,
			    .impair = ba ? &l->impair_ba : &l->impair_ab,
			    .from = ba ? b : a,
			    .to = ba ? a : b,
			    .past = ba ? l->shaper_ba : l->shaper_ab};
	out->mtu = w->devs.v[out->from].mtu < w->devs.v[out->to].mtu ? w->devs.v[out->from].mtu
								     : w->devs.v[out->to].mtu;
	if (look_at_peer(w, out->to)) {
		out->to = w->devs.v[out->to].peer;
		out->leaving = true;
	}
}

int way_fits(const struct way *way, int ip_bytes)
{
	int64_t most = way->mtu;

	if (way->impair->black_hole && way->impair->black_hole < most)
		most = way->impair->black_hole;
	return most < ip_bytes ? (int)most : ip_bytes;
}

const char *way_direction(const struct way *way, struct arena *arena)
{
	const struct wire *w = way->w;
	const struct wire_dev *a = &w->devs.v[way->l->dev_a], *b = &w->devs.v[way->l->dev_b];

	if (a->role == ROLE_VNIC || a->role == ROLE_UPLINK)
		return way->ba ? "rx" : "tx";
	return arena_printf(arena, "%s→%s", w->nodes.v[way->ba ? b->node : a->node].name,
			    w->nodes.v[way->ba ? a->node : b->node].name);
}

static void set_ends(const struct way *way, int to, bool leaving, struct frames_stream *out)
{
	const struct wire *w = way->w;

	*out = (struct frames_stream){
	    .from_node = w->nodes.v[w->devs.v[way->from].node].name,
	    .from_dev = w->devs.v[way->from].name,
	    .to_node = w->nodes.v[w->devs.v[to].node].name,
	    .to_dev = w->devs.v[to].name,
	    .leaving = leaving,
	    .flows = 1,
	};
}

void way_stream(const struct way *way, struct frames_stream *out)
{
	set_ends(way, way->to, way->leaving, out);
}

void way_shaper_stream(const struct way *way, struct frames_stream *out)
{
	if (way->l->engine == IMPAIR_NONE || way->past < 0)
		way_stream(way, out);
	else
		set_ends(way, way->past, true, out);
}
