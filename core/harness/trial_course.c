/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trial_course: what happens when. How a device is cut is emulator/lab/cut.h's, how a link changes
 * lab_change()'s. Decides nothing about the tool. Called by trial_run.c.
 */
#include "core/harness/trial_course.h"

#include <errno.h>
#include <stdlib.h>

#include "core/base/str.h"
#include "core/base/units.h"
#include "core/harness/schedule.h"
#include "emulator/lab/cut.h"
#include "emulator/lab/relays.h"
#include "emulator/model/link_set.h"

#define READ_NS (50 * NSEC_PER_MSEC) /* between two readings of the counters */

struct happening {
	const struct trial_event *event;
	const char *link; /* its name in the wire model, or NULL */
	VEC(struct cut_at) devs;
	int64_t undo_ns; /* 0: nothing to undo */
};

struct trial_course {
	struct arena arena;
	struct trial_course_at at;
	struct happening *list; /* as many as events */
	bool *done;
	int64_t began_ns, read_ns; /* the flow; the last reading */
	bool spoilt;		   /* one did not happen: no more of them */
	struct err err;		   /* why */
};

/* ---- where ---- */

static void add_dev(struct trial_course *c, struct happening *h, int dev)
{
	const struct wire_dev *d = &c->at.rig->wire.devs.v[dev];

	*VEC_ADD(&c->arena, &h->devs) =
	    (struct cut_at){c->at.rig->wire.nodes.v[d->node].name, d->name};
}

static int find_node(struct trial_course *c, struct happening *h, struct err *err)
{
	const struct wire *w = &c->at.rig->wire;
	int node = wire_find_node(w, h->event->node);

	if (node < 0)
		return err_input(err, "there is no node '%s'", h->event->node);
	for (int i = 0; i < (int)w->devs.n; i++)
		if (w->devs.v[i].node == node && w->devs.v[i].peer >= 0)
			add_dev(c, h, i);
	return h->devs.n ? 0 : err_input(err, "node '%s' has no link", h->event->node);
}

static int find_link(struct trial_course *c, struct happening *h, struct err *err)
{
	const struct wire *w = &c->at.rig->wire;
	const char *name = h->event->change.link ? h->event->change.link : c->at.trial->link;
	int link = link_find(w, name, err);

	if (link < 0)
		return link;
	h->link = w->links.v[link].name;
	add_dev(c, h, w->links.v[link].dev_a);
	add_dev(c, h, w->links.v[link].dev_b);
	if (h->event->kind == EVENT_FREEZE && w->links.v[link].engine != IMPAIR_RELAY)
		return err_input(err, "freeze: link %s has no relay; say 'via: relay' of it",
				 h->link);
	return 0;
}

static int cut(const struct trial_course *c, const struct happening *h, bool mend, struct err *err)
{
	int r = 0;

	VEC_FOREACH (at, &h->devs)
		if (!r)
			r = mend ? cut_mend(c->at.rig->lab, at, err)
				 : cut_device(c->at.rig->lab, at, err);
	return r;
}

/* How the lab would be built with it. */
static int try_change(const struct trial_course *c, const struct happening *h, struct err *err)
{
	struct compile_options o = {.machine = *c->at.machine};
	struct scenario_change change = h->event->change;
	struct topology_source src;
	struct problems p;
	int r = lab_source(c->at.rig->lab, &src, err);

	problems_init(&p);
	change.link = h->link;
	change.at = change.link_at = h->event->mark;
	if (!r)
		schedule_check_change(&change, &src, &o, &c->at.rig->wire, &p);
	lab_source_done(&src);
	if (problems_count(&p))
		r = err_input(err, "%s", p.list.v[0].text);
	problems_done(&p);
	return r;
}

static int make_ready(struct trial_course *c, struct happening *h, struct err *err)
{
	int r = h->event->kind == EVENT_KILL_SERVER ? 0
		: h->event->node		    ? find_node(c, h, err)
						    : find_link(c, h, err);

	if (!r && h->event->kind == EVENT_CUT)
		r = cut(c, h, true, err); /* by the run before */
	else if (!r && h->event->kind == EVENT_CHANGE)
		r = try_change(c, h, err);
	return r ? err_wrap(err, "%s:%d:%d: event", c->at.trial->file, h->event->mark.line,
			    h->event->mark.column)
		 : 0;
}

int trial_course_open(const struct trial_course_at *at, struct trial_course **out, struct err *err)
{
	struct trial_course *c = mem_zalloc(sizeof(*c));
	size_t n = at->trial->events.n;
	int r = 0;

	c->at = *at;
	arena_init(&c->arena);
	c->list = mem_zalloc((n + 1) * sizeof(*c->list));
	c->done = mem_zalloc(n + 1);
	for (size_t i = 0; i < n && !r; i++) {
		c->list[i].event = &at->trial->events.v[i];
		r = make_ready(c, &c->list[i], err);
	}
	*out = c;
	return r;
}

/* ---- what ---- */

static int change(struct trial_course *c, const struct happening *h)
{
	struct scenario_change change = h->event->change;
	autostr struct strbuf what = {0};
	struct link_sets sets = {0};
	struct topology_source src;
	int r = lab_source(c->at.rig->lab, &src, &c->err);

	change.link = h->link;
	if (!r)
		r = schedule_sets(&change, &src, &c->at.rig->wire, &sets, &c->err);
	lab_source_done(&src);
	if (!r)
		r = lab_change(c->at.rig->lab, sets.v.v, sets.v.n, &what, &c->err);
	link_sets_done(&sets);
	return r;
}

/* True: the server is to be killed. */
static bool happen(struct trial_course *c, struct happening *h, int64_t now)
{
	const struct trial_event *e = h->event;
	int r = 0;

	if (e->kind == EVENT_CUT) {
		r = cut(c, h, false, &c->err);
	} else if (e->kind == EVENT_FREEZE) {
		r = relays_freeze(c->at.rig->lab, h->link, true, &c->err);
		trial_evidence_froze(c->at.evidence, (double)e->for_ns / 1e9);
	} else if (e->kind == EVENT_CHANGE) {
		r = change(c, h);
	}
	h->undo_ns = e->for_ns ? now + e->for_ns : 0;
	c->spoilt = r != 0;
	return e->kind == EVENT_KILL_SERVER;
}

static void undo(struct trial_course *c, struct happening *h)
{
	int r = 0;

	h->undo_ns = 0;
	if (h->event->kind == EVENT_FREEZE)
		r = relays_freeze(c->at.rig->lab, h->link, false, &c->err);
	else if (h->event->kind == EVENT_CUT)
		r = cut(c, h, true, &c->err);
	c->spoilt = c->spoilt || r != 0;
}

/* Events are by the flow's own time: a tool may take seconds before it begins. */
bool trial_course_tick(void *arg, int64_t now)
{
	struct trial_course *c = arg;
	struct err ignored = ERR_INIT;
	bool kill = false;

	if (now - c->read_ns >= READ_NS || !c->began_ns) {
		trial_evidence_read(c->at.evidence, &c->began_ns, &ignored);
		c->read_ns = now;
	}
	for (size_t i = 0; i < c->at.trial->events.n && c->began_ns; i++) {
		struct happening *h = &c->list[i];

		if (h->undo_ns && now >= h->undo_ns)
			undo(c, h);
		if (c->done[i] || c->spoilt || now < c->began_ns + h->event->at_ns)
			continue;
		c->done[i] = true;
		kill = happen(c, h, now) || kill;
	}
	return kill;
}

int trial_course_close(struct trial_course *c, struct err *err)
{
	int r = 0;

	if (!c)
		return 0;
	for (size_t i = 0; i < c->at.trial->events.n; i++)
		if (c->list[i].undo_ns)
			undo(c, &c->list[i]);
	if (c->spoilt) {
		*err = c->err;
		r = -EIO;
	}
	free(c->list);
	free(c->done);
	arena_done(&c->arena);
	free(c);
	return r;
}
