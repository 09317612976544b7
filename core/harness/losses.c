// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * losses: the account of one measurement. Judges nothing: a loss may be what the measurement is
 * about; only what nobody can explain is wrong. Called by attempt.c, and its words by reports.
 */
#include "core/harness/losses.h"

#include <inttypes.h>
#include <string.h>

#include "emulator/lab/account_walk.h"
#include "emulator/lab/relays.h"

/* ---- the links on a way ---- */

struct crossing { /* of a direction of a link */
	int link;
	bool ba, answers;
};

struct crossings {
	struct arena arena;
	VEC(struct crossing) v; /* of the data in order, then of the answers */
};

static bool crossed(const struct crossings *c, int link, bool ba, bool answers)
{
	VEC_FOREACH (x, &c->v)
		if (x->link == link && x->ba == ba && x->answers == answers)
			return true;
	return false;
}

static void cross(const struct wire *w, const int entry[][2], const struct path *p, bool answers,
		  struct crossings *out)
{
	VEC_FOREACH (hop, &p->hops)
		for (size_t i = 0; hop->dev_out >= 0 && i < w->links.n; i++)
			for (int ba = 0; ba < 2; ba++)
				if (entry[i][ba] == hop->dev_out &&
				    !crossed(out, (int)i, ba, answers))
					*VEC_ADD(&out->arena, &out->v) =
					    (struct crossing){(int)i, ba, answers};
}

static void find_crossings(const struct losses_at *at, struct crossings *out)
{
	const struct wire *w = at->wire;
	int(*entry)[2] = mem_zalloc((w->links.n + 1) * sizeof(*entry));
	struct account_map m;
	struct account_way way;

	*out = (struct crossings){0};
	account_map_init(&m, w);
	for (size_t i = 0; i < w->links.n; i++)
		for (int ba = 0; ba < 2; ba++) {
			account_way_of(&m, (int)i, ba, &way);
			entry[i][ba] = way.stages[0].dev;
		}
	account_map_done(&m);
	cross(w, entry, at->there, false, out);
	if (at->back)
		cross(w, entry, at->back, true, out);
	free(entry);
}

/* ---- reading ---- */

static void add_nodes(const struct losses_at *at, const struct path *p, bool *nodes)
{
	const struct wire *w = at->wire;

	VEC_FOREACH (hop, &p->hops)
		nodes[hop->node] = true;
	/* A link's devices may be in the wires between the nodes. */
	for (size_t i = 0; i < w->nodes.n; i++)
		if (w->nodes.v[i].kind == NODE_WIRES)
			nodes[i] = true;
}

int losses_read(const struct losses_at *at, struct account *out, struct err *err)
{
	autofree bool *nodes = mem_zalloc((at->wire->nodes.n + 1) * sizeof(*nodes));

	add_nodes(at, at->there, nodes);
	if (at->back)
		add_nodes(at, at->back, nodes);
	return account_read_nodes(at->lab, at->wire, nodes, out, err);
}

int losses_relays(const struct losses_at *at, json_t **out, struct err *err)
{
	json_t *all = NULL, *ours = json_object();
	struct crossings c;
	int r = 0;

	find_crossings(at, &c);
	VEC_FOREACH (x, &c.v) {
		const struct wire_link *l = &at->wire->links.v[x->link];

		if (l->engine != IMPAIR_RELAY)
			continue;
		if (!all)
			r = relays_read(at->lab, at->wire, &all, err);
		if (r)
			break;
		json_object_set(ours, l->name, json_object_get(all, l->name));
	}
	arena_done(&c.arena);
	json_decref(all);
	if (r)
		json_decref(ours);
	else
		*out = ours;
	return r;
}

void losses_moving(const struct losses_at *at, const struct account *a, int64_t *waiting,
		   int64_t *open)
{
	struct crossings c;

	*waiting = *open = 0;
	find_crossings(at, &c);
	VEC_FOREACH (x, &c.v) {
		const struct account_direction *d = account_find(a, x->link, x->ba);

		*waiting += d ? d->waiting : 0;
		*open += d ? (d->hole < 0 ? -d->hole : d->hole) : 0;
	}
	arena_done(&c.arena);
}

/* ---- the difference ---- */

static void add(struct arena *arena, struct losses *out, const struct loss *l)
{
	struct loss *to;

	if (l->packets <= 0)
		return;
	to = VEC_ADD(arena, &out->list);
	*to = *l;
	to->cause = arena_strdup(arena, l->cause);
	to->where = arena_strdup(arena, l->where);
	to->link = l->link ? arena_strdup(arena, l->link) : NULL; /* the lab's model goes before */
}

static void add_direction(const struct losses_at *at, const struct crossing *x,
			  const struct account_direction *d, struct arena *arena,
			  struct losses *out)
{
	const char *link = at->wire->links.v[x->link].name;
	char number[32];

	for (size_t i = 0; i < d->n_lost; i++)
		add(arena, out,
		    &(struct loss){d->lost[i].cause, d->lost[i].where, link, x->answers,
				   d->lost[i].packets});
	if (!x->answers)
		out->duplicated += d->duplicated;
	out->waiting += d->waiting > 0 ? d->waiting : 0;
	if (!d->hole)
		return;
	out->unexplained += d->hole < 0 ? -d->hole : d->hole;
	if (out->why)
		return;
	account_number(number, d->hole < 0 ? -d->hole : d->hole);
	out->why = arena_printf(arena,
				d->hole < 0 ? "%s packets more left link %s, %s, than entered it"
					    : "%s packets unexplained on link %s, %s",
				number, link, x->ba ? "b→a" : "a→b");
}

void losses_of(const struct losses_at *at, const struct account *between, struct arena *arena,
	       struct losses *out)
{
	struct crossings c;

	*out = (struct losses){.known = true};
	find_crossings(at, &c);
	VEC_FOREACH (x, &c.v) {
		const struct account_direction *d = account_find(between, x->link, x->ba);

		if (d)
			add_direction(at, x, d, arena, out);
	}
	arena_done(&c.arena);
	if (!out->waiting)
		return;
	out->unexplained = 0; /* read while packets moved, counters are never of one moment */
	out->why = NULL;
}

/* ---- the flow ---- */

struct sums { /* of the way of the data */
	int64_t lost, duplicated, waiting, corrupted;
	int64_t others;	 /* entered a link and can be no packet of the flow */
	int64_t kept;	 /* handed to the sender's system, and never on the first link */
	int64_t earlier; /* on the way before the flow began, so none of its own */
};

static struct sums sum_up(const struct losses_at *at, const struct account *between,
			  const struct losses_flow *f)
{
	struct sums s = {0};
	struct crossings c;
	int64_t flow = f->sent;
	bool first = true;

	find_crossings(at, &c);
	VEC_FOREACH (x, &c.v) {
		const struct account_direction *d =
		    x->answers ? NULL : account_find(between, x->link, x->ba);

		if (!d)
			continue;
		if (d->entered > flow)
			s.others += d->entered - flow;
		else if (first)
			s.kept = flow - d->entered;
		first = false;
		flow += d->duplicated - account_lost(d);
		s.lost += account_lost(d);
		s.duplicated += d->duplicated;
		if (d->waiting > 0)
			s.waiting += d->waiting;
		else
			s.earlier -= d->waiting;
		s.corrupted += d->corrupted;
	}
	arena_done(&c.arena);
	return s;
}

struct loss_sink {
	struct arena *arena;
	struct losses *out;
};

/* Before the counter at the receiving device, or behind it: that stands at the end's own door. */
static bool on_way(const struct losses_at *at, int node, bool behind)
{
	if (node == at->there->dst_node)
		return behind;
	VEC_FOREACH (hop, &at->there->hops)
		if (hop->node == node)
			return !behind;
	return false;
}

/* What nodes on the way threw away explains at most `gap`; gives what it leaves. */
static int64_t explain_by_nodes(const struct losses_at *at, const struct account *between,
				bool behind, int64_t gap, const struct loss_sink *sink)
{
	VEC_FOREACH (l, &between->elsewhere) {
		int64_t n = l->packets < gap ? l->packets : gap;

		if (n <= 0 || !on_way(at, l->node, behind) || str_eq(l->cause, "socket"))
			continue;
		add(sink->arena, sink->out, &(struct loss){l->cause, l->where, NULL, false, n});
		gap -= n;
	}
	return gap;
}

static int64_t explain(int64_t gap, int64_t most, const struct loss *as, struct arena *arena,
		       struct losses *out)
{
	struct loss l = *as;

	l.packets = gap < most ? gap : most;
	if (l.packets <= 0)
		return gap;
	add(arena, out, &l);
	return gap - l.packets;
}

static void unexplained(const struct losses_flow *f, int64_t n, struct arena *arena,
			struct losses *out)
{
	char number[32];

	if (!n)
		return;
	out->unexplained += n < 0 ? -n : n;
	if (out->why)
		return;
	account_number(number, n < 0 ? -n : n);
	out->why = n < 0 ? arena_printf(arena, "%s packets more between %s and %s than were sent",
					number, f->from, f->to)
			 : arena_printf(arena, "%s packets unexplained between %s and %s", number,
					f->from, f->to);
}

void losses_follow(const struct losses_at *at, const struct account *between,
		   const struct losses_flow *f, struct arena *arena, struct losses *out)
{
	struct sums s = sum_up(at, between, f);
	int64_t gap = f->sent + s.duplicated - s.lost - s.waiting - f->arrived;
	int64_t unread = f->arrived - f->delivered - f->socket;
	struct loss as = {.cause = "corrupted", .where = f->to};
	const struct loss_sink sink = {arena, out};
	const struct loss kept = {.cause = "never left", .where = f->from};

	out->followed = true;
	out->sent = f->sent;
	out->delivered = f->delivered;
	add(arena, out, &(struct loss){"socket", f->to, NULL, false, f->socket});
	if (gap < 0 && -gap <= s.others) { /* as many of what was lost was not the flow's */
		out->others = -gap;
		gap = 0;
	}
	if (gap < 0 && -gap <= s.earlier)
		gap = 0;
	gap = explain_by_nodes(at, between, false, gap, &sink);
	gap = explain(gap, s.kept, &kept, arena, out); /* nobody answered ARP, as a rule */
	if (gap > 0) { /* a flipped bit in a header: nobody knows it as a packet of the flow */
		int64_t rest = explain(gap, s.corrupted, &as, arena, out);

		s.corrupted -= gap - rest;
		gap = rest;
	}
	unexplained(f, gap, arena, out);
	/* The server counts what comes twice once. */
	unread -= unread < s.duplicated ? (unread > 0 ? unread : 0) : s.duplicated;
	out->behind = unread > 0 ? unread : 0;
	unread = explain_by_nodes(at, between, true, unread, &sink);
	out->behind -= unread > 0 ? unread : 0;
	unread = explain(unread, s.corrupted, &as, arena, out);
	as.cause = "unread at the end";
	unread = explain(unread, f->unread_most, &as, arena, out);
	unexplained(f, unread, arena, out);
}

/* ---- words ---- */

void losses_describe(const struct losses *l, struct strbuf *out)
{
	autostr struct strbuf list = {0};
	char lost[32], sent[32];

	if (!l->known)
		return;
	VEC_FOREACH (i, &l->list) {
		account_describe(&(struct account_loss){i->cause, i->where, -1, i->packets}, &list);
		if (i->answers)
			strbuf_add(&list, " (answers)");
	}
	if (!list.len && !l->unexplained && !l->followed && !l->waiting)
		return;
	if (l->followed)
		strbuf_addf(out, "%s of %s%s", account_number(lost, l->sent - l->delivered),
			    account_number(sent, l->sent), list.len ? ": " : "");
	strbuf_add(out, strbuf_text(&list));
	if (l->others)
		strbuf_addf(out, ", %s of them not of this measurement",
			    account_number(lost, l->others));
	if (l->waiting)
		strbuf_addf(out, "%s%s packets still wait on the way", out->len ? "; " : "",
			    account_number(lost, l->waiting));
	else
		strbuf_addf(out, "%s%s", out->len ? "; " : "",
			    l->unexplained ? l->why : "nothing unexplained");
}
