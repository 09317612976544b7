/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * replaced: compares the root qdiscs of a namespace before and after a change, and remembers the
 * drops of those that are gone. Called by change_inside.c, apply.c and count_snapshot.c.
 */
#include "emulator/lab/replaced.h"

#include <string.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/str.h"
#include "core/base/units.h"
#include "emulator/lab/relays.h"

#define REPLACED_FILE  "/run/replaced.json"
#define UNSEEN_TRIES   10
#define UNSEEN_STEP_NS NSEC_PER_MSEC

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

static void replaced_add(json_t *all, const char *node, const char *dev, int64_t dropped)
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

static void replaced_write(json_t *all)
{
	struct err ignored = ERR_INIT;
	autofree char *text = json_dumps(all, JSON_COMPACT);

	file_write(REPLACED_FILE, text, strlen(text), &ignored);
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
	if (any)
		replaced_write(all);
	json_decref(all);
	dump_done(&after);
	dump_done(&r->before);
}

static int64_t replaced_rx(int rt, const char *dev)
{
	struct err ignored = ERR_INIT;
	struct dump d = {0};
	const struct dump_link *l = NULL;
	int64_t n;

	if (dump_links(rt, &d, &ignored) == 0)
		l = dump_find_name(&d, dev);
	n = l ? (int64_t)l->stats.rx_packets : 0;
	dump_done(&d);
	return n;
}

/* What the relay has taken in a direction, or its kernel lost for it; -1: it does not say. */
static int64_t replaced_taken(const struct relay_spec *spec, int direction)
{
	json_t *command = json_pack("{s:s}", "get", "stats"), *answer = NULL;
	struct err ignored = ERR_INIT;
	int64_t n = -1;

	if (relays_ask(spec->name, command, &answer, &ignored) == 0) {
		const json_t *s = json_object_get(answer, direction == RELAY_AB ? "ab" : "ba");

		n = json_integer_value(json_object_get(s, "in_packets")) +
		    json_integer_value(json_object_get(json_object_get(s, "lost"), "overrun"));
	}
	json_decref(answer);
	json_decref(command);
	return n;
}

/* Read until nothing comes between the two counters. */
static int64_t replaced_missed(const struct relay_spec *spec, int direction, int rt)
{
	const char *dev = spec->dir[direction].in;
	int64_t rx = replaced_rx(rt, dev), missed = -1;

	for (int i = 0; rx && i < UNSEEN_TRIES; i++) {
		int64_t before = rx, last = missed, taken = replaced_taken(spec, direction);

		if (taken < 0)
			return 0;
		missed = rx - taken;
		rx = replaced_rx(rt, dev);
		if (rx == before && missed == last)
			return missed;
		clock_sleep_until_ns(clock_now_ns() + UNSEEN_STEP_NS);
	}
	return rx ? missed : 0;
}

void replaced_unseen(const struct relay_spec *spec, const char *node, int rt)
{
	for (int i = 0; i < RELAY_DIRECTIONS; i++) {
		autofree char *key = mem_printf("%s rx", spec->dir[i].in);
		int64_t missed = replaced_missed(spec, i, rt);
		json_t *all;

		if (missed <= 0)
			continue;
		all = replaced_read();
		replaced_add(all, node, key, missed);
		replaced_write(all);
		json_decref(all);
	}
}
