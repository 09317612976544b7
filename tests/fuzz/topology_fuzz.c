/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * topology_fuzz: any bytes as a topology file. What has no problem is compiled, shaped and
 * unshaped, and must have its interface names within the kernel's limits and unique.
 */

#include "core/base/keyset.h"
#include "emulator/model/topology.h"
#include "tests/fuzz/fuzz.h"

static void check(const struct wire *w)
{
	struct keyset names;

	keyset_init(&names);
	VEC_FOREACH (n, &w->nodes)
		require(keyset_add_text(&names, -1, n->name, 0));
	VEC_FOREACH (d, &w->devs) {
		require(strlen(d->name) <= 15 && keyset_add_text(&names, d->node, d->name, 0));
		require(!d->altname || keyset_add_text(&names, d->node, d->altname, 0));
		require(!d->alias || strlen(d->alias) < 256);
		require(d->kind != DEV_VETH || w->devs.v[d->peer].peer == d - w->devs.v);
		require(!d->egress.rate.bps || d->egress.rate.mode != SHAPE_AUTO);
	}
	VEC_FOREACH (r, &w->routes)
		require(w->devs.v[r->dev].node == r->node);
	keyset_done(&names);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct compile_options o = {.machine = MACHINE_DEFAULT};
	struct strbuf out = {0};
	struct topology *t;
	struct problems p;
	struct wire w;

	problems_init(&p);
	t = topology_parse(&(struct topology_source){.main = {"fuzz", (const char *)data, size}},
			   &p);
	for (int unshaped = 0; unshaped < 2; unshaped++) {
		o.unshaped = unshaped;
		topology_compile(t, &o, &w, &p);
		check(&w);
		wire_done(&w);
	}
	problems_print(&p, &out);
	strbuf_done(&out);
	topology_free(t);
	problems_done(&p);
	return 0;
}
