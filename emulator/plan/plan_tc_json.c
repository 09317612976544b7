/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plan_tc_json: the keys of a traffic control step in the plan for programs. For plan_json.c. */
#include "emulator/plan/plan_tc.h"

static void set_int(json_t *o, const char *key, uint64_t v)
{
	json_object_set_new(o, key, json_integer((json_int_t)v));
}

static void set_id(json_t *o, const char *key, uint32_t id)
{
	char text[16];

	if (id == TC_AT_ROOT)
		snprintf(text, sizeof(text), "root");
	else if (id == TC_AT_INGRESS)
		snprintf(text, sizeof(text), "ingress");
	else
		snprintf(text, sizeof(text), "%x:%x", id >> 16, id & 0xffff);
	json_object_set_new(o, key, json_string(text));
}

static void set_asked(json_t *o, const struct wire_rate *r)
{
	set_int(o, "asked_bits_per_s", (uint64_t)r->bps);
	json_object_set_new(o, "basis", json_string(wire_basis_name(r->basis)));
	json_object_set_new(o, "mode", json_string(wire_mode_name(r->mode)));
}

static void set_cost(json_t *o, const struct tc_bucket *b)
{
	set_int(o, "overhead_bytes", b->overhead);
	set_int(o, "least_bytes", b->mpu);
}

static void set_tbf(json_t *o, const struct op *op)
{
	const struct tc_tbf *t = &op->tc.tbf;

	set_asked(o, &op->shape->rate);
	if (op->shape->pps.pps)
		set_int(o, "asked_packets_per_s", (uint64_t)op->shape->pps.pps);
	set_int(o, "rate_bytes_per_s", t->rate.rate_bytes);
	set_int(o, "burst_bytes", t->rate.burst_bytes);
	if (t->peak.rate_bytes) {
		set_int(o, "peak_bytes_per_s", t->peak.rate_bytes);
		set_int(o, "peak_burst_bytes", t->peak.burst_bytes);
	}
	set_int(o, "limit_bytes", t->limit_bytes);
	set_cost(o, &t->rate);
	json_object_set_new(o, "size_table_overhead_bytes", json_integer(op->tc.stab_overhead));
}

static void set_class(json_t *o, const struct tc_class *c)
{
	set_int(o, "rate_bytes_per_s", c->rate.rate_bytes);
	set_int(o, "burst_bytes", c->rate.burst_bytes);
	set_int(o, "ceil_bytes_per_s", c->ceil.rate_bytes);
	set_int(o, "ceil_burst_bytes", c->ceil.burst_bytes);
	set_cost(o, &c->rate);
	set_int(o, "quantum_bytes", c->quantum);
}

static void set_share(json_t *o, const char *key, uint32_t probability)
{
	json_object_set_new(o, key, json_real((double)probability / UINT32_MAX));
}

static void set_netem(json_t *o, const struct tc_netem *n)
{
	static const char *const distributions[] = {[TC_DIST_NORMAL] = "normal",
						    [TC_DIST_PARETO] = "pareto",
						    [TC_DIST_UNIFORM] = "uniform"};

	set_int(o, "limit_packets", n->limit_packets);
	set_int(o, "delay_ns", (uint64_t)n->delay_ns);
	set_int(o, "jitter_ns", (uint64_t)n->jitter_ns);
	json_object_set_new(o, "distribution", json_string(distributions[n->distribution]));
	set_share(o, "delay_correlation", n->delay_correlation);
	set_share(o, "loss", n->loss);
	set_share(o, "loss_correlation", n->loss_correlation);
	if (n->bursts) {
		set_share(o, "to_bad", n->to_bad);
		set_share(o, "to_good", n->to_good);
		set_share(o, "bad_loss", n->bad_loss);
		set_share(o, "good_loss", n->good_loss);
	}
	set_share(o, "duplicate", n->duplicate);
	set_share(o, "corrupt", n->corrupt);
	set_int(o, "seed", n->seed);
}

static void set_police(json_t *o, const struct op *op)
{
	const struct tc_policer *p = &op->tc.police;

	set_asked(o, &op->shape->rate);
	set_int(o, "rate_bytes_per_s", p->rate.rate_bytes);
	set_int(o, "burst_bytes", p->rate.burst_bytes);
	set_cost(o, &p->rate);
	set_int(o, "mtu_bytes", p->mtu_bytes);
}

/* One token bucket alone says no more than that; parts of a tree say where they are. */
static void set_place(json_t *o, const struct tc_step *s)
{
	if (s->kind == TC_CLSACT || (s->kind == TC_TBF && s->parent == TC_AT_ROOT))
		return;
	set_id(o, "parent", s->parent);
	if (s->handle)
		set_id(o, "handle", s->handle);
}

void plan_tc_json(const struct op *op, json_t *o)
{
	set_place(o, &op->tc);
	switch (op->tc.kind) {
	case TC_TBF:
		set_tbf(o, op);
		break;
	case TC_HTB:
		set_int(o, "default_class", op->tc.htb.default_minor);
		json_object_set_new(o, "size_table_overhead_bytes",
				    json_integer(op->tc.stab_overhead));
		break;
	case TC_CLASS:
		set_class(o, &op->tc.cls);
		break;
	case TC_FIFO:
		set_int(o, "limit_bytes", op->tc.fifo_limit_bytes);
		break;
	case TC_PFIFO:
		set_int(o, "limit_packets", op->tc.pfifo_limit_packets);
		break;
	case TC_NETEM:
		set_netem(o, &op->tc.netem);
		break;
	case TC_POLICE:
		set_police(o, op);
		break;
	default:
		break;
	}
}
