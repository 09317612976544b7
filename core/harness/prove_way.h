/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * prove_way: where a direction of a link is probed: by which device frames go in, where they are
 * looked at, and what the link says of them. Pure.
 */
#ifndef VPCLAB_HARNESS_PROVE_WAY_H
#define VPCLAB_HARNESS_PROVE_WAY_H

#include "emulator/lab/frames.h"
#include "emulator/model/wire.h"

struct way {
	const struct wire *w;
	int link;
	bool ba;
	const struct wire_link *l;
	const struct wire_shape *shape;
	const struct wire_impair *impair;
	int from, to; /* devices: frames leave by the first and are looked at at the other … */
	bool leaving; /* … when they leave by it, past its queue, instead of arriving */
	int past;     /* the device by which they leave the shaper; -1 unshaped */
	int mtu;
};

void way_of(const struct wire *w, int link, bool ba, struct way *out);

/* "tx", "rx" of a host's or a VM's card, "a→b" of others; in `a`. */
const char *way_direction(const struct way *way, struct arena *a);

/* Bytes of an IP packet that passes: so many, or what the MTU and a black hole leave of it. */
int way_fits(const struct way *way, int ip_bytes);

/* The ends of a stream, from one end of the link to the other. */
void way_stream(const struct way *way, struct frames_stream *out);
/* Looks at frames as they leave the shaper, before an impairment has them; without an impairment
 * like way_stream(). */
void way_shaper_stream(const struct way *way, struct frames_stream *out);

#endif
