/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * replaced: compares the root qdiscs of a namespace before and after a change, and remembers the
 * drops of those that are gone. Called by change_inside.c and count_snapshot.c.
 */
#include "emulator/lab/replaced.h"

#include <string.h>

#include "core/base/file.h"
#include "core/base/str.h"

#define REPLACED_FILE "/run/replaced.json"

void replaced_before(struct replaced *r, int rt)
{
	struct err ignored = ERR_INIT;

	*r = (struct replaced){0};
	if (dump_links(rt, &r->before, &ignored) < 0 || dump_qdiscs(rt, &r->before, &ignored) < 0)
		r->before.qdiscs.n = 0;
}

static const struct dump_qdisc *replaced_root(const struct dump *d, int ifindex)
{
	VEC_FOREACH (q, &d->qdiscs)
		if (q->ifindex == ifindex && q->parent == TC_AT_ROOT)
			return q;
	return NULL;
}

/* Counters never fall, but those of a new qdisc begin at 0. */
static bool replaced_is(const struct dump_qdisc *was, const struct dump_qdisc *is)
{
	return !is || !str_eq(was->kind, is->kind) || is->packets < was->packets ||
	       is->dropped < was->dropped;
}

static void replaced_add(json_t *all, const char *node, const char *dev, uint32_t dropped)
{
	json_t *devices = json_object_get(all, node);
	json_int_t earlier = json_integer_value(json_object_get(devices, dev));

	if (!devices) {
		devices = json_object();
		json_object_set_new(all, node, devices);
	}
	json_object_set_new(devices, dev, json_integer(earlier + dropped));
}

json_t *replaced_read(void)
{
	struct err ignored = ERR_INIT;
	autofree char *text = NULL;
	json_t *j = NULL;
	size_t len;

	if (file_read(REPLACED_FILE, &text, &len, &ignored) == 0)
		j = json_loads(text, 0, NULL);
	return j ? j : json_object();
}

void replaced_after(struct replaced *r, const char *node, int rt)
{
	struct err ignored = ERR_INIT;
	struct dump after = {0};
	json_t *all = replaced_read();
	bool any = false;

	if (dump_qdiscs(rt, &after, &ignored) < 0)
		r->before.qdiscs.n = 0; /* nothing to compare with */
	VEC_FOREACH (l, &r->before.links) {
		const struct dump_qdisc *was = replaced_root(&r->before, l->ifindex);

		if (!was || !replaced_is(was, replaced_root(&after, l->ifindex)))
			continue;
		replaced_add(all, node, l->name, was->dropped);
		any = true;
	}
	if (any) {
		autofree char *text = json_dumps(all, JSON_COMPACT);
		file_write(REPLACED_FILE, text, strlen(text), &ignored);
	}
	json_decref(all);
	dump_done(&after);
	dump_done(&r->before);
}
