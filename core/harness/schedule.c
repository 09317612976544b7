// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * schedule: reads and checks the changes of a scenario. It changes no lab (schedule_run.c does) and
 * knows no key of a link: values go to the topology's own parser as overrides. Called by
 * scenario.c, bench.c, `vpclab validate` and schedule_run.c.
 */
#include "core/harness/schedule.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/units.h"
#include "emulator/lab/load.h"
#include "emulator/model/link_set.h"
#include "emulator/plan/plan_diff.h"

/* ---- reading ---- */

static void add_change(struct scenario_change *c, const char *prefix, const struct yaml_pair *pair,
		       struct arena *a)
{
	autostr struct strbuf value = {0};

	if (pair->value->kind != YAML_NULL)
		yaml_write_value(pair->value, &value);
	*VEC_ADD(a, &c->changes) =
	    arena_printf(a, "%s%s=%s", prefix, pair->key, strbuf_text(&value));
}

/* `ab: {delay: 5ms}` changes the delay of that direction, and leaves its other keys alone. */
static void add_pair(struct scenario_change *c, const struct yaml_pair *pair, struct arena *a)
{
	autofree char *prefix = mem_printf("%s.", pair->key);

	if ((!str_eq(pair->key, "ab") && !str_eq(pair->key, "ba")) ||
	    pair->value->kind != YAML_MAP) {
		add_change(c, "", pair, a);
		return;
	}
	VEC_FOREACH (own, &pair->value->pairs)
		add_change(c, prefix, own, a);
}

void schedule_changes(const struct yaml_node *map, const char *const *but, size_t n_but,
		      struct arena *a, struct scenario_change *c)
{
	VEC_FOREACH (pair, &map->pairs) {
		bool other = false;

		for (size_t i = 0; i < n_but; i++)
			other = other || str_eq(pair->key, but[i]);
		if (!other)
			add_pair(c, pair, a);
	}
}

static bool read_time(const struct yaml_node *map, int64_t *ns, struct problems *p)
{
	const struct yaml_node *node = yaml_get(map, "at");
	const char *text = yaml_want_text(node, "at", p);
	struct err err = ERR_INIT;

	if (!node)
		problems_add(p, map->at,
			     "a change has no 'at': how long after the measuring window "
			     "has begun, like 2s");
	if (!text)
		return false;
	if (units_parse_time(text, ns, &err)) {
		problems_add(p, node->at, "at: %s", err.text);
		return false;
	}
	if (*ns < 0)
		problems_add(p, node->at, "at: '%s' is before the measuring window begins", text);
	return *ns >= 0;
}

static void read_change(const struct yaml_node *node, const char *file, struct arena *a,
			struct scenario_schedule *out, struct problems *p)
{
	static const char *const others[] = {"at", "link"};
	const struct yaml_node *map = yaml_want_map(node, "a change", p), *link;
	struct scenario_change c = {.at = node->at};
	bool good;

	if (!map)
		return;
	link = yaml_get(map, "link");
	good = read_time(map, &c.at_ns, p);
	if (!link)
		problems_add(p, map->at, "a change has no 'link': the name of one of the topology");
	c.link = arena_strdup(a, yaml_want_text(link, "link", p));
	schedule_changes(map, others, ARRAY_SIZE(others), a, &c);
	if (!c.changes.n)
		problems_add(p, map->at, "a change says nothing to change, like rate: 5mbit");
	if (!good || !c.link || !c.changes.n)
		return;
	c.link_at = link->at;
	c.at.file = c.link_at.file = file;
	*VEC_ADD(a, &out->changes) = c;
}

static int by_time(const void *va, const void *vb)
{
	const struct scenario_change *a = va, *b = vb;

	if (a->at_ns != b->at_ns)
		return a->at_ns < b->at_ns ? -1 : 1;
	return a->at.line != b->at.line ? a->at.line - b->at.line : a->at.column - b->at.column;
}

void schedule_parse(const struct yaml_node *node, const char *file, struct arena *a,
		    struct scenario_schedule *out, struct problems *p)
{
	const struct yaml_node *seq = yaml_want_seq(node, "schedule", p);

	if (!seq)
		return;
	out->given = true;
	VEC_FOREACH (item, &seq->items)
		read_change(*item, file, a, out, p);
	if (out->changes.n)
		qsort(out->changes.v, out->changes.n, sizeof(*out->changes.v), by_time);
}

/* ---- what it stands for ---- */

void schedule_text(const struct scenario_change *c, struct strbuf *out)
{
	VEC_FOREACH (change, &c->changes)
		strbuf_addf(out, "%s%s", change == c->changes.v ? "" : " ", *change);
}

int schedule_sets(const struct scenario_change *c, const struct topology_source *src,
		  const struct wire *w, struct link_sets *out, struct err *err)
{
	const struct link_change change = {c->link, c->changes.v, c->changes.n};

	return link_sets_change(src, w, &change, out, err);
}

/* ---- checking ---- */

struct check {
	const struct topology_source *src;
	const struct compile_options *o;
	const struct wire *w;
	struct plan plan; /* of w */
	struct problems *p;
};

/* Problems of the topology after a change are the change's, at its place. */
static void check_result(struct check *c, const struct scenario_change *change,
			 const struct link_sets *sets)
{
	struct topology_source src = *c->src;
	struct err err = ERR_INIT;
	struct plan_diff diff;
	struct problems found;
	struct load load;
	struct plan plan;
	struct wire w;

	autofree const char **all = mem_zalloc((src.n_sets + sets->v.n + 1) * sizeof(*all));
	for (size_t i = 0; i < src.n_sets; i++)
		all[i] = src.sets[i];
	for (size_t i = 0; i < sets->v.n; i++)
		all[src.n_sets + i] = sets->v.v[i];
	src.sets = all;
	src.n_sets += sets->v.n;
	problems_init(&found);
	wire_init(&w);
	load_topology(&src, &load, &found);
	if (!problems_count(&found)) {
		wire_done(&w);
		topology_compile(load.topology, c->o, &w, &found);
	}
	VEC_FOREACH (it, &found.list)
		problems_add(c->p, change->at, "%s", it->text);
	if (!problems_count(&found)) {
		plan_build(&w, &c->o->machine, &plan);
		const struct plan_diff_side before = {c->w, &c->plan}, after = {&w, &plan};
		if (plan_diff(&before, 1, &after, &diff, &err))
			problems_add(c->p, change->at, "%s", err.text);
		plan_diff_done(&diff);
		plan_done(&plan);
	}
	wire_done(&w);
	load_done(&load);
	problems_done(&found);
}

static void check_changes(struct check *c, const struct scenario_schedule *s)
{
	struct link_sets sets = {0};

	VEC_FOREACH (change, &s->changes) {
		struct err err = ERR_INIT;

		if (schedule_sets(change, c->src, c->w, &sets, &err))
			problems_add(c->p, change->link_at, "%s", err.text);
		else
			check_result(c, change, &sets);
	}
	link_sets_done(&sets);
}

void schedule_check_change(const struct scenario_change *change, const struct topology_source *src,
			   const struct compile_options *o, const struct wire *w,
			   struct problems *p)
{
	struct check c = {.src = src, .o = o, .w = w, .p = p};
	struct scenario_schedule one = {.given = true};
	struct arena a;

	arena_init(&a);
	*VEC_ADD(&a, &one.changes) = *change;
	plan_build(w, &o->machine, &c.plan);
	check_changes(&c, &one);
	plan_done(&c.plan);
	arena_done(&a);
}

/* How long the measurements that have this schedule last at most; -1: nobody knows before. */
static int64_t longest(const struct scenario *s, const struct scenario_schedule *schedule)
{
	int64_t most = 0;

	VEC_FOREACH (m, &s->measures) {
		if (scenario_schedule_of(s, m) != schedule)
			continue;
		if (engine_test_traits(m->spec.test).open_end)
			return -1;
		most = m->spec.duration_ns > most ? m->spec.duration_ns : most;
	}
	return most;
}

static void check_times(const struct scenario *s, const struct scenario_schedule *schedule,
			struct problems *p)
{
	int64_t most = longest(s, schedule);
	char end[64], at[64];

	VEC_FOREACH (c, &schedule->changes) {
		if (most < 0 || c->at_ns < most)
			continue;
		units_format_time(end, sizeof(end), most);
		units_format_time(at, sizeof(at), c->at_ns);
		problems_add(p, c->at,
			     most ? "at: %s is after the measuring window, which is %s"
				  : "at: %s: no measurement has this schedule",
			     at, end);
	}
}

void schedule_check(const struct scenario *s, const struct topology_source *src,
		    const struct compile_options *o, const struct wire *w, struct problems *p)
{
	struct check c = {.src = src, .o = o, .w = w, .p = p};
	bool any = s->schedule.changes.n > 0;

	VEC_FOREACH (m, &s->measures)
		any = any || m->schedule.changes.n;
	if (!any)
		return;
	plan_build(w, &o->machine, &c.plan);
	check_times(s, &s->schedule, p);
	check_changes(&c, &s->schedule);
	VEC_FOREACH (m, &s->measures) {
		if (m->unshaped && m->schedule.changes.n)
			problems_add(p, m->schedule.changes.v[0].at,
				     "an unshaped measurement has nothing that could change");
		else
			check_times(s, &m->schedule, p);
		check_changes(&c, &m->schedule);
	}
	plan_done(&c.plan);
}
