/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plan_diff: compares plans part by part. A part is what can change by itself: the traffic control
 * of a device, a chain, the features of a device, a relay. All other operations must be the same in
 * all plans. It does nothing to a lab (emulator/lab/change.c does) and prints nothing. Called by
 * change.c and by core/harness to check a schedule.
 */
#include "emulator/plan/plan_diff.h"

#include <string.h>

#include "core/base/keyset.h"

enum part_kind { PART_OFFLOAD, PART_TC, PART_CHAIN, PART_RELAY, PART_KINDS };

struct ops {
	VEC(const struct op *) v;
};

struct part {
	enum part_kind kind;
	int ns; /* number of its namespace */
	struct ops before[PLAN_DIFF_BEFORE_MAX], after;
};

struct diff {
	const struct plan_diff_side *before, *after;
	size_t n_before;
	struct keyset names; /* of parts, and of namespaces */
	VEC(struct part) parts;
	int n_ns;
	struct plan_diff *out;
};

enum { SCOPE_PART, SCOPE_NS };

/* ---- parts ---- */

/* Which part an operation belongs to; false: to none, it must not change. */
static bool part_of(const struct op *op, enum part_kind *kind)
{
	switch (op->kind) {
	case OP_OFFLOAD:
		*kind = PART_OFFLOAD;
		return true;
	case OP_TC:
		*kind = PART_TC;
		return true;
	case OP_NFT_CHAIN:
	case OP_NFT_RULE:
		*kind = PART_CHAIN;
		return true;
	case OP_RELAY:
		*kind = PART_RELAY;
		return true;
	case OP_NFT_TABLE: /* comes and stays with its chains */
	default:
		return false;
	}
}

static char *part_name(const struct op *op, enum part_kind kind)
{
	switch (kind) {
	case PART_CHAIN:
		return mem_printf("%d %s %s %s %s", kind, op->ns, op->nft.family, op->nft.table,
				  op->nft.chain);
	case PART_RELAY:
		return mem_printf("%d %s %s", kind, op->ns, op->relay.link);
	default:
		return mem_printf("%d %s %s", kind, op->ns, op->dev);
	}
}

static int number_of(struct diff *d, const char *ns)
{
	int n = keyset_find_text(&d->names, SCOPE_NS, ns);

	if (n >= 0)
		return n;
	keyset_add_text(&d->names, SCOPE_NS, ns, d->n_ns);
	return d->n_ns++;
}

/* The operations of one plan, each to its part. `side` n_before: the plan to become. */
static void collect(struct diff *d, const struct plan *plan, size_t side)
{
	VEC_FOREACH (op, &plan->ops) {
		enum part_kind kind;
		int i, ns = number_of(d, op->ns);

		if (!part_of(op, &kind))
			continue;
		autofree char *name = part_name(op, kind);
		i = keyset_find_text(&d->names, SCOPE_PART, name);
		if (i < 0) {
			i = (int)d->parts.n;
			keyset_add_text(&d->names, SCOPE_PART, name, i);
			*VEC_ADD(&d->out->arena, &d->parts) = (struct part){.kind = kind, .ns = ns};
		}
		struct part *part = &d->parts.v[i];
		struct ops *ops = side < d->n_before ? &part->before[side] : &part->after;
		*VEC_ADD(&d->out->arena, &ops->v) = op;
	}
}

/* ---- are they the same ---- */

static bool same_bucket(const struct tc_bucket *a, const struct tc_bucket *b)
{
	return a->rate_bytes == b->rate_bytes && a->burst_bytes == b->burst_bytes &&
	       a->overhead == b->overhead && a->mpu == b->mpu;
}

static bool same_netem(const struct tc_netem *a, const struct tc_netem *b)
{
	return a->limit_packets == b->limit_packets && a->delay_ns == b->delay_ns &&
	       a->jitter_ns == b->jitter_ns && a->distribution == b->distribution &&
	       a->delay_correlation == b->delay_correlation && a->loss == b->loss &&
	       a->loss_correlation == b->loss_correlation && a->bursts == b->bursts &&
	       a->to_bad == b->to_bad && a->to_good == b->to_good && a->bad_loss == b->bad_loss &&
	       a->good_loss == b->good_loss && a->duplicate == b->duplicate &&
	       a->corrupt == b->corrupt && a->seed == b->seed;
}

/* The same object of the kernel: what it is and where. */
static bool same_step_place(const struct tc_step *a, const struct tc_step *b)
{
	return a->kind == b->kind && a->parent == b->parent && a->handle == b->handle;
}

static bool same_step(const struct tc_step *a, const struct tc_step *b)
{
	if (!same_step_place(a, b) || a->stab_overhead != b->stab_overhead)
		return false;
	switch (a->kind) {
	case TC_TBF:
		return same_bucket(&a->tbf.rate, &b->tbf.rate) &&
		       same_bucket(&a->tbf.peak, &b->tbf.peak) &&
		       a->tbf.limit_bytes == b->tbf.limit_bytes;
	case TC_HTB:
		return a->htb.default_minor == b->htb.default_minor;
	case TC_CLASS:
		return same_bucket(&a->cls.rate, &b->cls.rate) &&
		       same_bucket(&a->cls.ceil, &b->cls.ceil) && a->cls.quantum == b->cls.quantum;
	case TC_FIFO:
		return a->fifo_limit_bytes == b->fifo_limit_bytes;
	case TC_PFIFO:
		return a->pfifo_limit_packets == b->pfifo_limit_packets;
	case TC_NETEM:
		return same_netem(&a->netem, &b->netem);
	case TC_POLICE:
		return same_bucket(&a->police.rate, &b->police.rate) &&
		       a->police.mtu_bytes == b->police.mtu_bytes;
	case TC_CLSACT:
	case TC_UNKNOWN:
		return true;
	}
	return false;
}

static bool same_trace(const struct wire_impair *a, const struct wire_impair *b)
{
	return a->trace_n == b->trace_n &&
	       (!a->trace_n ||
		!memcmp(a->trace_ms, b->trace_ms, a->trace_n * sizeof(*a->trace_ms)));
}

static bool same_impair(const struct wire_impair *a, const struct wire_impair *b)
{
	return a->delay_ns == b->delay_ns && a->jitter_ns == b->jitter_ns &&
	       a->jitter == b->jitter && a->jitter_correlation_ppm == b->jitter_correlation_ppm &&
	       a->loss == b->loss && a->loss_ppm == b->loss_ppm &&
	       a->loss_correlation_ppm == b->loss_correlation_ppm &&
	       a->loss_every == b->loss_every && a->loss_after == b->loss_after &&
	       a->to_bad_ppm == b->to_bad_ppm && a->to_good_ppm == b->to_good_ppm &&
	       a->bad_loss_ppm == b->bad_loss_ppm && a->good_loss_ppm == b->good_loss_ppm &&
	       a->duplication_ppm == b->duplication_ppm && a->reordering_ppm == b->reordering_ppm &&
	       a->corruption_ppm == b->corruption_ppm && a->flap_up_ns == b->flap_up_ns &&
	       a->flap_down_ns == b->flap_down_ns && a->black_hole == b->black_hole &&
	       a->seed == b->seed && same_trace(a, b);
}

static bool same_op(const struct op *a, const struct op *b)
{
	if (a->kind != b->kind)
		return false;
	switch (a->kind) {
	case OP_OFFLOAD:
		return a->offloads_off == b->offloads_off;
	case OP_TC:
		return same_step(&a->tc, &b->tc);
	case OP_NFT_CHAIN:
		return str_eq(a->nft.hook, b->nft.hook);
	case OP_NFT_RULE:
		return str_eq(a->nft.text, b->nft.text) && str_eq(a->nft.comment, b->nft.comment);
	case OP_RELAY:
		return same_impair(a->relay.impair[0], b->relay.impair[0]) &&
		       same_impair(a->relay.impair[1], b->relay.impair[1]);
	default:
		return true;
	}
}

static bool same_ops(const struct ops *a, const struct ops *b)
{
	if (a->v.n != b->v.n)
		return false;
	for (size_t i = 0; i < a->v.n; i++) {
		if (!same_op(a->v.v[i], b->v.v[i]))
			return false;
	}
	return true;
}

/* ---- changes of a part ---- */

static struct plan_change *add(struct diff *d, enum plan_change_kind kind, const struct op *op)
{
	struct plan_change *c = VEC_ADD(&d->out->arena, &d->out->changes);

	c->kind = kind;
	c->ns = op->ns;
	c->dev = op->dev;
	c->ifindex = op->ifindex;
	c->op = op;
	return c;
}

static const struct op *any_of(const struct diff *d, const struct part *part)
{
	for (size_t i = 0; i < d->n_before; i++) {
		if (part->before[i].v.n)
			return part->before[i].v.v[0];
	}
	return part->after.v.v[0];
}

static void diff_offload(struct diff *d, const struct part *part)
{
	unsigned off = 0, before = 0;

	for (size_t i = 0; i < part->after.v.n; i++)
		off |= part->after.v.v[i]->offloads_off;
	for (size_t side = 0; side < d->n_before; side++) {
		for (size_t i = 0; i < part->before[side].v.n; i++)
			before |= part->before[side].v.v[i]->offloads_off;
	}
	struct plan_change *c = add(d, PLAN_OFFLOAD, any_of(d, part));
	c->op = NULL;
	c->off = off;
	c->on = before & ~off;
}

static const struct op *find_step(const struct ops *ops, const struct tc_step *step)
{
	VEC_FOREACH (op, &ops->v) {
		if (same_step_place(&(*op)->tc, step))
			return *op;
	}
	return NULL;
}

/* Is it gone already with another step of `gone` above it? */
static bool hangs_below(const struct ops *gone, const struct tc_step *step)
{
	VEC_FOREACH (op, &gone->v) {
		const struct tc_step *above = &(*op)->tc;
		bool child = above->kind == TC_CLASS ? step->parent == above->handle
						     : step->parent >> 16 == above->handle >> 16;

		if (above != step && step->parent != TC_AT_ROOT && step->parent != TC_AT_INGRESS &&
		    child)
			return true;
	}
	return false;
}

/* A TBF without its child drops all until it is changed: then it makes a queue (tbf_change()). */
static bool lost_child(const struct ops *gone, const struct tc_step *s)
{
	VEC_FOREACH (op, &gone->v) {
		if (s->kind == TC_TBF && (*op)->tc.parent == (s->handle | 1))
			return true;
	}
	return false;
}

static bool at_top(const struct tc_step *s)
{
	return s->kind == TC_CLSACT || s->parent == TC_AT_ROOT;
}

/* Can the kernel change it where it is? */
static bool changeable(const struct tc_step *s)
{
	return s->kind != TC_HTB && s->kind != TC_POLICE;
}

/* All of it away, all of it new: what waits in its queues is lost. */
static void rebuild_tc(struct diff *d, const struct part *part, bool maybe)
{
	const struct op *deleted = NULL;

	for (size_t side = 0; side < d->n_before; side++) {
		VEC_FOREACH (op, &part->before[side].v) {
			if (!at_top(&(*op)->tc) || (deleted && deleted->tc.kind == (*op)->tc.kind))
				continue;
			add(d, PLAN_TC_DELETE, *op)->maybe = maybe;
			deleted = *op;
		}
	}
	VEC_FOREACH (op, &part->after.v)
		add(d, PLAN_TC_ADD, *op);
}

/* True when only new steps, gone steps and changed figures tell the two apart. */
static bool in_place(const struct ops *before, const struct ops *after)
{
	VEC_FOREACH (op, &before->v) {
		const struct op *now = find_step(after, &(*op)->tc);

		if (!now && at_top(&(*op)->tc) && after->v.n)
			return false;
		if (now && !same_step(&(*op)->tc, &now->tc) && !changeable(&now->tc))
			return false;
	}
	return true;
}

static void diff_tc(struct diff *d, const struct part *part)
{
	const struct ops *before = &part->before[0], *after = &part->after;
	struct ops gone = {0};

	if (d->n_before > 1 || !in_place(before, after)) {
		rebuild_tc(d, part, d->n_before > 1);
		return;
	}
	VEC_FOREACH (op, &before->v) {
		if (!find_step(after, &(*op)->tc))
			*VEC_ADD(&d->out->arena, &gone.v) = *op;
	}
	VEC_FOREACH (op, &gone.v) {
		if (!hangs_below(&gone, &(*op)->tc))
			add(d, PLAN_TC_DELETE, *op);
	}
	/* A child comes before its parent gets the limit that counts with it. */
	VEC_FOREACH (op, &after->v) {
		if (!find_step(before, &(*op)->tc))
			add(d, PLAN_TC_ADD, *op);
	}
	VEC_FOREACH (op, &after->v) {
		const struct op *was = find_step(before, &(*op)->tc);

		if (was && (!same_step(&was->tc, &(*op)->tc) || lost_child(&gone, &(*op)->tc)))
			add(d, PLAN_TC_CHANGE, *op);
	}
}

/* The rules of a chain; its first operation is the chain itself. */
static void set_rules(const struct ops *ops, struct plan_change *c)
{
	c->rules = ops->v.v + 1;
	c->n_rules = ops->v.n - 1;
}

static void diff_chain(struct diff *d, const struct part *part)
{
	const struct ops *before = &part->before[0], *after = &part->after;

	if (!after->v.n) {
		add(d, PLAN_CHAIN_DELETE, any_of(d, part));
		return;
	}
	if (d->n_before > 1 || before->v.n != after->v.n) {
		set_rules(after, add(d, PLAN_CHAIN, after->v.v[0]));
		return;
	}
	for (size_t i = 1; i < after->v.n; i++) {
		if (same_op(before->v.v[i], after->v.v[i]))
			continue;
		struct plan_change *c = add(d, PLAN_RULE, after->v.v[i]);
		c->place = i - 1;
		c->of = after->v.n - 1;
	}
}

static void diff_relay(struct diff *d, const struct part *part)
{
	if (part->after.v.n)
		add(d, PLAN_RELAY, part->after.v.v[0]);
}

/* By namespace, then kind; parts of one kind as the plan has them. */
static int by_place(const void *va, const void *vb)
{
	const struct part *a = *(const struct part *const *)va;
	const struct part *b = *(const struct part *const *)vb;

	if (a->ns != b->ns)
		return a->ns - b->ns;
	if (a->kind != b->kind)
		return (int)a->kind - (int)b->kind;
	return a < b ? -1 : a > b;
}

static void diff_parts(struct diff *d)
{
	static void (*const differ[PART_KINDS])(struct diff * d, const struct part *part) = {
	    [PART_OFFLOAD] = diff_offload,
	    [PART_TC] = diff_tc,
	    [PART_CHAIN] = diff_chain,
	    [PART_RELAY] = diff_relay,
	};

	size_t n = d->parts.n;
	autofree const struct part **parts = mem_zalloc((n + 1) * sizeof(*parts));

	for (size_t i = 0; i < n; i++)
		parts[i] = &d->parts.v[i];
	qsort(parts, n, sizeof(*parts), by_place);
	for (size_t i = 0; i < n; i++) {
		bool same = true;

		for (size_t side = 0; side < d->n_before; side++)
			same = same && same_ops(&parts[i]->before[side], &parts[i]->after);
		if (!same)
			differ[parts[i]->kind](d, parts[i]);
	}
}

/* ---- what must not change ---- */

static int refuse(const struct wire_link *l, const char *what, struct err *err)
{
	return err_input(err, "link '%s' %s", l->name, what);
}

/* The first link that the lab does not have as it would need it; 0 when there is none. */
static int check_link(const struct wire *a, const struct wire *b, size_t i, struct err *err)
{
	const struct wire_link *was = &a->links.v[i], *is = &b->links.v[i];

	if (was->span[0] < 0 && is->span[0] >= 0)
		return refuse(is,
			      "has no middle where packets could be delayed or lost; declare "
			      "`delay: 0s` for it in the topology, so that it can be changed later",
			      err);
	if (was->middle[0] < 0 && is->middle[0] >= 0)
		return refuse(is,
			      "has no middle where packets could be limited; declare a rate or "
			      "`delay: 0s` for it in the topology, so that it can be changed later",
			      err);
	if (was->middle[0] != is->middle[0] || was->span[0] != is->span[0])
		return refuse(
		    is,
		    "cannot lose its middle while the lab runs; declare `delay: 0s` for it "
		    "in the topology, or set `delay=0s` as well",
		    err);
	if (was->engine != is->engine)
		return refuse(is,
			      is->engine == IMPAIR_RELAY
				  ? "has no relay in this lab; declare `via: relay` and `delay: "
				    "0s` for it in the topology"
				  : "would need netem instead of its relay; declare `via: netem` "
				    "for it in the topology",
			      err);
	if (was->sum != is->sum)
		return refuse(is,
			      "counts its directions together or apart by its devices; declare "
			      "`direction` in the topology",
			      err);
	if (was->ab.queues.count != is->ab.queues.count ||
	    was->ba.queues.count != is->ba.queues.count)
		return refuse(is,
			      "has as many queues as it was built with; declare another `queues` "
			      "in the topology",
			      err);
	if (a->devs.v[was->dev_a].mtu != b->devs.v[is->dev_a].mtu)
		return refuse(is,
			      "has the MTU that it was built with; declare another one in the "
			      "topology",
			      err);
	if (a->devs.n != b->devs.n &&
	    (was->shaper_ab != is->shaper_ab || was->shaper_ba != is->shaper_ba))
		return refuse(is,
			      "has no device that could carry this limit; declare one in the "
			      "topology, so that it can be changed later",
			      err);
	return 0;
}

static int check_links(const struct plan_diff_side *a, const struct plan_diff_side *b,
		       struct err *err)
{
	int rc = 0;

	if (a->wire->links.n != b->wire->links.n)
		return err_input(err,
				 "the lab has %zu links and would have %zu: links come and go "
				 "only by another topology",
				 a->wire->links.n, b->wire->links.n);
	for (size_t i = 0; rc == 0 && i < a->wire->links.n; i++)
		rc = check_link(a->wire, b->wire, i, err);
	return rc;
}

/* A plan of what must stay alone. */
static json_t *rest_json(struct diff *d, const struct plan *plan)
{
	struct plan rest = {.name = ""};
	enum part_kind ignored;

	VEC_FOREACH (op, &plan->ops) {
		if (op->kind != OP_NFT_TABLE && !part_of(op, &ignored))
			*VEC_ADD(&d->out->arena, &rest.ops) = *op;
	}
	return plan_json(&rest);
}

static int describe(const json_t *was, const json_t *is, struct err *err)
{
	const json_t *any = is ? is : was;
	const char *dev = json_string_value(json_object_get(any, "device"));

	return err_input(err,
			 "this cannot change in a running lab: it would %s %s of %s%s%s; links can "
			 "change in what they carry",
			 !was  ? "add"
			 : !is ? "take away"
			       : "change",
			 json_string_value(json_object_get(any, "op")),
			 json_string_value(json_object_get(any, "namespace")), dev ? ":" : "",
			 dev ? dev : "");
}

static int check_rest(struct diff *d, const struct plan *a, const struct plan *b, struct err *err)
{
	json_t *before = rest_json(d, a), *after = rest_json(d, b);
	const json_t *was = json_object_get(before, "operations");
	const json_t *is = json_object_get(after, "operations");
	size_t n =
	    json_array_size(was) > json_array_size(is) ? json_array_size(was) : json_array_size(is);
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < n; i++) {
		json_t *x = json_array_get(was, i), *y = json_array_get(is, i);

		if (!x || !y || !json_equal(x, y))
			rc = describe(x, y, err);
	}
	json_decref(before);
	json_decref(after);
	return rc;
}

int plan_diff(const struct plan_diff_side *before, size_t n_before,
	      const struct plan_diff_side *after, struct plan_diff *out, struct err *err)
{
	struct diff d = {.before = before, .after = after, .n_before = n_before, .out = out};
	int rc = 0;

	memset(out, 0, sizeof(*out));
	arena_init(&out->arena);
	keyset_init(&d.names);
	for (size_t i = 0; rc == 0 && i < n_before; i++) {
		rc = check_links(&before[i], after, err);
		if (rc == 0)
			rc = check_rest(&d, before[i].plan, after->plan, err);
		collect(&d, before[i].plan, i);
	}
	collect(&d, after->plan, n_before);
	if (rc == 0)
		diff_parts(&d);
	keyset_done(&d.names);
	return rc;
}

void plan_diff_done(struct plan_diff *d)
{
	arena_done(&d->arena);
	memset(d, 0, sizeof(*d));
}
