/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * account_walk: follows each direction of each link through the lab's devices and adds up. Reads no
 * kernel and judges nothing. Called by account.c and by tests.
 */
#include "emulator/lab/account_walk.h"

#include <string.h>

#define NO_MARK 0u

/* ---- readings ---- */

struct walk {
	const struct account_map *m;
	const struct wire *w;
	const json_t *snapshot;
	struct arena *arena;
};

static int64_t number(const json_t *o, const char *key)
{
	return json_integer_value(json_object_get(o, key));
}

static const json_t *node_of(const struct walk *walk, int node)
{
	return json_object_get(json_object_get(walk->snapshot, "nodes"),
			       walk->w->nodes.v[node].name);
}

static const json_t *device(const struct walk *walk, int dev)
{
	const struct wire_dev *d = &walk->w->devs.v[dev];

	return json_object_get(json_object_get(node_of(walk, d->node), "devices"), d->name);
}

/* The qdisc of a device that hangs there ("root", "ingress"), or NULL. */
static const json_t *qdisc_at(const json_t *dev, const char *parent)
{
	const json_t *q;
	size_t i;

	json_array_foreach(
	    json_object_get(dev, "qdiscs"), i,
	    q) if (str_eq(json_string_value(json_object_get(q, "parent")), parent)) return q;
	return NULL;
}

struct stage { /* packets */
	const json_t *dev, *root;
	int64_t sent, refused, dropped, waiting; /* all together: what it was given */
	int64_t received;			 /* by its peer */
	bool replaced; /* it had other qdiscs before; what they dropped is in `dropped` */
};

static int64_t replaced(const struct walk *walk, int dev, bool *any)
{
	const struct wire_dev *d = &walk->w->devs.v[dev];
	const json_t *n =
	    json_object_get(json_object_get(json_object_get(walk->snapshot, "replaced"),
					    walk->w->nodes.v[d->node].name),
			    d->name);

	*any = n != NULL;
	return json_integer_value(n);
}

/* A root qdisc counts what those below it drop and hold (sch_tbf.c, sch_htb.c, sch_mq.c). */
static struct stage read_stage(const struct walk *walk, int dev)
{
	int peer = walk->w->devs.v[dev].peer;
	struct stage s = {.dev = device(walk, dev)};

	s.root = qdisc_at(s.dev, "root");
	s.sent = number(s.dev, "tx_packets");
	s.refused = number(s.dev, "tx_dropped");
	s.dropped = number(s.root, "dropped") + replaced(walk, dev, &s.replaced);
	s.waiting = number(s.root, "backlog_packets");
	s.received = peer < 0 ? s.sent : number(device(walk, peer), "rx_packets");
	return s;
}

static int64_t given(const struct stage *s)
{
	return s->sent + s->refused + s->dropped + s->waiting;
}

/* ---- losses ---- */

void account_lose(struct arena *arena, struct account_direction *d, const struct account_loss *l)
{
	if (!l->packets)
		return;
	for (size_t i = 0; i < d->n_lost; i++) {
		if (!str_eq(d->lost[i].cause, l->cause) || !str_eq(d->lost[i].where, l->where))
			continue;
		d->lost[i].packets += l->packets;
		return;
	}
	if (d->n_lost == ACCOUNT_CAUSES_MAX) { /* better an inexact place than a hole */
		d->lost[d->n_lost - 1].packets += l->packets;
		return;
	}
	d->lost[d->n_lost] = *l;
	d->lost[d->n_lost].cause = arena_strdup(arena, l->cause);
	d->lost[d->n_lost++].where = arena_strdup(arena, l->where);
}

static void lose(const struct walk *walk, struct account_direction *d, const char *cause, int dev,
		 const char *what, int64_t packets)
{
	const struct wire_dev *on = &walk->w->devs.v[dev];
	autofree char *where = mem_printf("%s:%s%s%s", walk->w->nodes.v[on->node].name, on->name,
					  what ? " " : "", what ? what : "");

	account_lose(walk->arena, d, &(struct account_loss){cause, where, on->node, packets});
}

/* What a full queue there means. */
static const char *cause_of_queue(const struct walk *walk, int dev, const json_t *root)
{
	const struct wire_dev *d = &walk->w->devs.v[dev];
	const struct wire_shape *s = &d->egress;

	if (str_eq(json_string_value(json_object_get(root, "kind")), "netem"))
		return "loss";
	if (s->rate.police || (s->pps.police && !s->rate.bps))
		return "police";
	return s->pps.pps && !s->rate.bps ? "pps cap" : "queue";
}

/* Leaves of a tree of classes, each with its own drops; gives what they dropped together. */
static int64_t lose_in_classes(const struct walk *walk, struct account_direction *d, int dev,
			       const struct stage *s, int64_t most)
{
	const json_t *class;
	int64_t sum = 0;
	size_t i;

	json_array_foreach(json_object_get(s->dev, "classes"), i, class)
	{
		int64_t n = number(class, "dropped");
		const char *id = json_string_value(json_object_get(class, "id"));

		if (n <= 0 || !json_is_true(json_object_get(class, "leaf")))
			continue;
		if (n > most - sum)
			n = most - sum;
		autofree char *what = mem_printf("class %s", id ? id : "?");
		lose(walk, d, cause_of_queue(walk, dev, s->root), dev, what, n);
		sum += n;
	}
	return sum;
}

static void lose_in_queue(const struct walk *walk, struct account_direction *d, int dev,
			  const struct stage *s, int64_t packets)
{
	packets -= lose_in_classes(walk, d, dev, s, packets);
	lose(walk, d, cause_of_queue(walk, dev, s->root), dev, NULL, packets);
}

static const char *cause_of_rule(const char *text)
{
	if (strstr(text, "limit rate"))
		return "police";
	if (strstr(text, "ct count"))
		return "connections";
	return strstr(text, "length") ? "black_hole" : "rule";
}

/* A drop without a condition is no loss: it ends what a dup or the relay's socket has taken over.
 */
static bool is_loss(const char *rule)
{
	return strstr(rule, "counter") && strstr(rule, "drop") && !str_starts(rule, "counter") &&
	       !str_starts(rule, "drop");
}

static int64_t rule_packets(const struct walk *walk, const struct wire_nft_chain *c, int counting)
{
	const json_t *r;
	size_t i;

	json_array_foreach(json_object_get(node_of(walk, c->node), "rules"), i, r)
	{
		if (number(r, "number") == counting &&
		    str_eq(json_string_value(json_object_get(r, "chain")), c->chain) &&
		    str_eq(json_string_value(json_object_get(r, "table")), c->table) &&
		    str_eq(json_string_value(json_object_get(r, "family")), c->family))
			return number(r, "packets");
	}
	return 0;
}

struct rule_losses {
	const char *cause[ACCOUNT_CAUSES_MAX];
	int64_t packets[ACCOUNT_CAUSES_MAX], sum;
	size_t n;
};

/* What rules drop of what `dev` receives, and a policer before them. */
static void read_rules(const struct walk *walk, int dev, unsigned mark, struct rule_losses *out)
{
	int64_t policed = number(qdisc_at(device(walk, dev), "ingress"), "dropped");

	*out = (struct rule_losses){0};
	if (policed) {
		out->cause[0] = "police";
		out->packets[0] = out->sum = policed;
		out->n = 1;
	}
	for (int c = walk->m->first[dev]; c >= 0; c = walk->m->next[c]) {
		int counting = 0;

		VEC_FOREACH (rule, &walk->w->nft.v[c].rules) {
			if (!strstr(rule->text, "counter"))
				continue;
			int nth = counting++;
			if (!is_loss(rule->text) || !account_meets(rule->text, mark) ||
			    out->n == ACCOUNT_CAUSES_MAX)
				continue;
			out->cause[out->n] = cause_of_rule(rule->text);
			out->packets[out->n] = rule_packets(walk, &walk->w->nft.v[c], nth);
			out->sum += out->packets[out->n++];
		}
	}
}

int64_t account_ruled_out(const struct account_map *m, const json_t *snapshot, int dev)
{
	struct walk walk = {m, m->w, snapshot, NULL};
	struct rule_losses r;

	read_rules(&walk, dev, NO_MARK, &r);
	return r.sum;
}

static void lose_by_rules(const struct walk *walk, struct account_direction *d, int dev,
			  const struct rule_losses *r)
{
	for (size_t i = 0; i < r->n; i++)
		lose(walk, d, r->cause[i], dev, NULL, r->packets[i]);
}

/* ---- a direction ---- */

/* What the device received before its relay was there. */
static int64_t unseen(const struct walk *walk, struct account_direction *d, int dev)
{
	const struct wire_dev *on = &walk->w->devs.v[dev];
	const json_t *all = json_object_get(walk->snapshot, "replaced");
	autofree char *key = mem_printf("%s rx", on->name);
	int64_t n = number(json_object_get(all, walk->w->nodes.v[on->node].name), key);

	lose(walk, d, "before the relay", dev, NULL, n);
	return n;
}

/*
 * The relay: what it took and has not put out. `flow` packets came to its device. Gives what it
 * tried to put out; what the device then refused is counted there, *unsent only what never got
 * there.
 */
static int64_t cross_relay(const struct walk *walk, struct account_direction *d, int from,
			   int64_t flow, int64_t *unsent)
{
	static const char *const causes[] = {"black_hole", "flap",     "loss",
					     "queue",	   "oversize", "overrun"};
	const struct wire_link *l = &walk->w->links.v[d->link];
	const json_t *all = json_object_get(json_object_get(walk->snapshot, "relays"), l->name);
	const json_t *s = json_object_get(all, d->ba ? "ba" : "ab");
	const json_t *lost = json_object_get(s, "lost");
	int64_t in = number(s, "in_packets") + number(lost, "overrun");
	autofree char *where = mem_printf("relay %s", l->name);

	*unsent = 0;
	if (!s) { /* it has ended, or was not asked */
		d->hole += flow;
		return 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(causes); i++)
		account_lose(walk->arena, d,
			     &(struct account_loss){causes[i], where,
						    walk->w->devs.v[l->middle[0]].node,
						    number(lost, causes[i])});
	d->waiting += number(s, "waiting_packets");
	d->duplicated += number(s, "duplicated");
	d->corrupted += number(s, "corrupted");
	d->hole += flow - unseen(walk, d, from) - in;
	*unsent = number(lost, "send");
	return number(s, "out_packets") + *unsent;
}

/* netem says what it drops, not what it doubles: that is what there is more than came. */
static int64_t doubled(const struct walk *walk, const struct account_direction *d,
		       const struct stage *s, int64_t flow)
{
	const struct wire_link *l = &walk->w->links.v[d->link];
	const struct wire_impair *i = d->ba ? &l->impair_ba : &l->impair_ab;
	bool netem = str_eq(json_string_value(json_object_get(s->root, "kind")), "netem");

	return netem && i->duplication_ppm && given(s) > flow ? given(s) - flow : 0;
}

/* Packets that a device refuses to take from veth_xmit() are counted at both its ends. */
static void lose_refused(const struct walk *walk, struct account_direction *d, int dev,
			 const struct stage *s)
{
	lose(walk, d, "device", dev, NULL, s->refused);
}

/* A queue that is replaced takes with it what waits in it, and for a moment there is none: what is
 * missing at such a device was lost so. Gives what is missing still. */
static int64_t not_changed(const struct walk *walk, struct account_direction *d, int dev,
			   const struct stage *s, int64_t missing)
{
	if (!s->replaced || missing <= 0)
		return missing;
	lose(walk, d, "change", dev, NULL, missing);
	return 0;
}

/* One stage of a direction of its own, given `flow` packets; gives how many come out of it. */
static int64_t cross_stage(const struct walk *walk, struct account_direction *d,
			   const struct account_stage *stage, int from, int64_t flow)
{
	struct stage s = read_stage(walk, stage->dev);
	struct rule_losses rules;
	int64_t unsent = 0, twice;

	if (stage->relayed && from >= 0) {
		flow = cross_relay(walk, d, from, flow, &unsent);
		/* A refusal may have been told to the relay, or not. */
		if (unsent > flow - given(&s))
			unsent = flow > given(&s) ? flow - given(&s) : 0;
		lose(walk, d, "send", stage->dev, NULL, unsent);
		flow -= unsent;
	}
	twice = doubled(walk, d, &s, flow);
	d->duplicated += twice;
	d->hole += not_changed(walk, d, stage->dev, &s, flow + twice - given(&s));
	d->hole += s.sent - s.received;
	d->waiting += s.waiting;
	lose_in_queue(walk, d, stage->dev, &s, s.dropped);
	lose_refused(walk, d, stage->dev, &s);
	read_rules(walk, walk->w->devs.v[stage->dev].peer, stage->mark, &rules);
	lose_by_rules(walk, d, walk->w->devs.v[stage->dev].peer, &rules);
	return s.received - rules.sum;
}

/*
 * A stage through which both directions go. How much of each got lost in it follows from what the
 * next stages were given; which packets of which direction met which cause nobody counts, so the
 * causes are dealt out, a→b first.
 */
struct shared {
	struct stage s;
	struct rule_losses rules;
	int64_t queue, refused, waiting; /* not dealt out yet */
	bool begun;
};

static int64_t deal(int64_t *from, int64_t *gap)
{
	int64_t n = *from < *gap ? *from : *gap;

	if (n < 0)
		n = 0;
	*from -= n;
	*gap -= n;
	return n;
}

static int64_t cross_shared(const struct walk *walk, struct account_direction *d,
			    const struct account_stage *stage, int64_t flow, struct shared *both)
{
	int peer = walk->w->devs.v[stage->dev].peer;
	struct stage next = read_stage(walk, stage[1].dev);
	int64_t gap = flow - given(&next);

	if (!both->begun) {
		both->begun = true;
		both->s = read_stage(walk, stage->dev);
		read_rules(walk, peer, NO_MARK, &both->rules);
		both->queue = both->s.dropped;
		both->refused = both->s.refused;
		both->waiting = both->s.waiting;
	}
	lose_in_queue(walk, d, stage->dev, &both->s, deal(&both->queue, &gap));
	lose(walk, d, "device", stage->dev, NULL, deal(&both->refused, &gap));
	for (size_t i = 0; i < both->rules.n; i++)
		lose(walk, d, both->rules.cause[i], peer, NULL,
		     deal(&both->rules.packets[i], &gap));
	d->waiting += deal(&both->waiting, &gap);
	d->hole += not_changed(walk, d, stage->dev, &both->s, gap);
	if (d->ba) { /* what was counted as lost and is missing from neither direction */
		d->hole -= both->queue + both->refused + both->waiting;
		for (size_t i = 0; i < both->rules.n; i++)
			d->hole -= both->rules.packets[i];
	}
	return given(&next);
}

static void walk_direction(const struct walk *walk, struct account_direction *d,
			   struct shared *both)
{
	struct account_way way;
	struct stage first;
	int64_t flow;
	int from = -1;

	account_way_of(walk->m, d->link, d->ba, &way);
	first = read_stage(walk, way.stages[0].dev);
	flow = d->entered = given(&first);
	for (size_t i = 0; i < way.n; i++) {
		const struct account_stage *s = &way.stages[i];

		/* `from`: the device where they arrived before this stage. */
		flow = s->shared && i + 1 < way.n ? cross_shared(walk, d, s, flow, both)
						  : cross_stage(walk, d, s, from, flow);
		from = walk->w->devs.v[s->dev].peer;
	}
	d->left = flow;
}

/* ---- nodes ---- */

static void lose_at_node(const struct walk *walk, struct account *out, int node, const char *cause,
			 const char *what, int64_t packets)
{
	const char *name = walk->w->nodes.v[node].name;

	if (packets)
		*VEC_ADD(&out->arena, &out->elsewhere) =
		    (struct account_loss){arena_strdup(&out->arena, cause),
					  what ? arena_printf(&out->arena, "%s:%s", name, what)
					       : arena_strdup(&out->arena, name),
					  node, packets};
}

/* Drops of rules that are not about one device's arrivals, one chain; gives their sum. */
static int64_t walk_chain(const struct walk *walk, const struct wire_nft_chain *c,
			  struct account *out)
{
	int64_t sum = 0;
	int counting = 0;

	VEC_FOREACH (rule, &c->rules) {
		if (!strstr(rule->text, "counter"))
			continue;
		int nth = counting++;
		if (!strstr(rule->text, "drop"))
			continue;
		int64_t n = rule_packets(walk, c, nth);
		autofree char *what = mem_printf("%s %s", c->table, c->chain);
		sum += n;
		if (out)
			lose_at_node(walk, out, c->node, cause_of_rule(rule->text), what, n);
	}
	return sum;
}

static void walk_rules(const struct walk *walk, struct account *out)
{
	VEC_FOREACH (c, &walk->w->nft)
		if (!str_eq(c->family, "netdev"))
			walk_chain(walk, c, out);
}

int64_t account_refused(const struct account_map *m, const json_t *snapshot, int node)
{
	struct walk walk = {m, m->w, snapshot, NULL};
	int64_t sum = 0;

	VEC_FOREACH (c, &m->w->nft)
		if (c->node == node && !str_eq(c->family, "netdev"))
			sum += walk_chain(&walk, c, NULL);
	return sum;
}

/* Packets for which nobody in the node had a use, beyond those that never came (see refused). */
static void walk_devices(const struct walk *walk, struct account *out, int node)
{
	for (size_t i = 0; i < walk->w->devs.n; i++) {
		const struct wire_dev *d = &walk->w->devs.v[i];
		int64_t n;

		if (d->node != node)
			continue;
		n = number(device(walk, (int)i), "rx_dropped");
		if (d->peer >= 0)
			n -= number(device(walk, d->peer), "tx_dropped");
		if (n > 0)
			lose_at_node(walk, out, node, "not taken", d->name, n);
	}
}

static void walk_node(const struct walk *walk, struct account *out, int node)
{
	const json_t *j = node_of(walk, node), *value;
	const char *cause;

	if (!j)
		return;
	walk_devices(walk, out, node);
	lose_at_node(walk, out, node, "socket", NULL,
		     number(json_object_get(j, "udp"), "rcvbuf_errors"));
	lose_at_node(walk, out, node, "no_port", NULL,
		     number(json_object_get(j, "udp"), "no_ports"));
	json_object_foreach((json_t *)json_object_get(j, "ip"), cause, value)
	    lose_at_node(walk, out, node, cause, NULL, json_integer_value(value));
}

/* ---- all ---- */

/* Only some nodes may have been. */
static bool was_read(const struct walk *walk, int link)
{
	struct account_way way;

	account_way_of(walk->m, link, false, &way);
	for (size_t i = 0; i < way.n; i++)
		if (!device(walk, way.stages[i].dev))
			return false;
	return way.exit >= 0 && device(walk, way.exit);
}

void account_walk(const struct wire *w, const json_t *snapshot, struct account *out)
{
	struct account_map m;
	struct walk walk = {&m, w, snapshot, &out->arena};

	account_map_init(&m, w);
	out->at_ns = number(snapshot, "at_ns");
	out->softnet_dropped = number(json_object_get(snapshot, "softnet"), "dropped");
	for (size_t i = 0; i < w->links.n; i++) {
		struct shared both = {0};

		for (int ba = 0; ba < 2 && was_read(&walk, (int)i); ba++) {
			struct account_direction *d = VEC_ADD(&out->arena, &out->directions);

			d->link = (int)i;
			d->ba = ba;
			walk_direction(&walk, d, &both);
		}
	}
	walk_rules(&walk, out);
	for (size_t i = 0; i < w->nodes.n; i++)
		walk_node(&walk, out, (int)i);
	account_map_done(&m);
}
