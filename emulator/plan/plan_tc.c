/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plan_tc: traffic control steps as a person reads them and as `tc` takes them. Called by
 * plan_text.c and plan_sh.c; JSON is plan_tc_json.c's.
 */
#include "emulator/plan/plan_tc.h"

#include <inttypes.h>

#include "core/base/units.h"

#define ETHERNET_HEADER 14

const char *plan_tc_word(enum tc_kind kind)
{
	static const char *const words[] = {
	    [TC_TBF] = "tbf",	    [TC_HTB] = "htb",	    [TC_CLASS] = "class",
	    [TC_FIFO] = "fifo",	    [TC_PFIFO] = "fifo",    [TC_NETEM] = "netem",
	    [TC_CLSACT] = "clsact", [TC_POLICE] = "police", [TC_UNKNOWN] = "other",
	};

	return words[kind];
}

/* As a command -------------------------------------------------------------------------------- */

static void sh_id(struct strbuf *out, const char *before, uint32_t id)
{
	strbuf_addf(out, "%s%x:", before, id >> 16);
	if (id & 0xffff)
		strbuf_addf(out, "%x", id & 0xffff);
}

static void sh_parent(struct strbuf *out, uint32_t parent)
{
	if (parent == TC_AT_ROOT)
		strbuf_add(out, " root");
	else
		sh_id(out, " parent ", parent);
}

/* tc takes no more than 32 bits, overhead included; the kernel does. */
static uint64_t sh_burst(const struct tc_bucket *b)
{
	return b->burst_bytes > TC_TBF_BYTES_MOST ? TC_TBF_BYTES_MOST : b->burst_bytes;
}

static void sh_cost(struct strbuf *out, const struct tc_bucket *b)
{
	if (b->overhead)
		strbuf_addf(out, " overhead %d", b->overhead);
	if (b->mpu)
		strbuf_addf(out, " mpu %d", b->mpu);
}

static void sh_tbf(const struct tc_tbf *t, struct strbuf *out)
{
	strbuf_addf(out, " tbf rate %" PRIu64 "bit burst %" PRIu64 " limit %" PRIu32,
		    t->rate.rate_bytes * 8, sh_burst(&t->rate), t->limit_bytes);
	if (t->peak.rate_bytes)
		strbuf_addf(out, " peakrate %" PRIu64 "bit minburst %" PRIu64,
			    t->peak.rate_bytes * 8, sh_burst(&t->peak));
	sh_cost(out, &t->rate);
}

static void sh_class(const struct tc_class *c, struct strbuf *out)
{
	strbuf_addf(
	    out, " htb rate %" PRIu64 "bit burst %" PRIu64 " ceil %" PRIu64 "bit cburst %" PRIu64,
	    c->rate.rate_bytes * 8, sh_burst(&c->rate), c->ceil.rate_bytes * 8, sh_burst(&c->ceil));
	sh_cost(out, &c->rate);
	strbuf_addf(out, " quantum %" PRIu32, c->quantum);
}

static double percent(uint32_t probability)
{
	return (double)probability * 100 / UINT32_MAX;
}

/* tc reads fractions, but no unit below the microsecond here (netem's get_ticks()). */
static void sh_time(struct strbuf *out, int64_t ns)
{
	if (ns % NSEC_PER_MSEC == 0)
		strbuf_addf(out, " %" PRId64 "ms", ns / NSEC_PER_MSEC);
	else if (ns % NSEC_PER_USEC == 0)
		strbuf_addf(out, " %" PRId64 "us", ns / NSEC_PER_USEC);
	else
		strbuf_addf(out, " %.3fus", (double)ns / NSEC_PER_USEC);
}

static void sh_percent(struct strbuf *out, const char *before, uint32_t probability)
{
	strbuf_addf(out, "%s %.6g%%", before, percent(probability));
}

static void sh_netem_delay(const struct tc_netem *n, struct strbuf *out)
{
	static const char *const words[] = {[TC_DIST_NORMAL] = " distribution normal",
					    [TC_DIST_PARETO] = " distribution pareto",
					    [TC_DIST_UNIFORM] = ""};

	if (!n->delay_ns && !n->jitter_ns)
		return;
	strbuf_add(out, " delay");
	sh_time(out, n->delay_ns);
	if (!n->jitter_ns)
		return;
	sh_time(out, n->jitter_ns);
	if (n->delay_correlation)
		sh_percent(out, "", n->delay_correlation);
	strbuf_add(out, words[n->distribution]);
}

/* The seed is left out: tc knows the word only from 6.6 on. */
static void sh_netem(const struct tc_netem *n, struct strbuf *out)
{
	strbuf_addf(out, " netem limit %" PRIu32, n->limit_packets);
	sh_netem_delay(n, out);
	if (n->bursts) {
		sh_percent(out, " loss gemodel", n->to_bad);
		sh_percent(out, "", n->to_good);
		sh_percent(out, "", n->bad_loss);
		sh_percent(out, "", n->good_loss);
	} else if (n->loss) {
		sh_percent(out, " loss random", n->loss);
		if (n->loss_correlation)
			sh_percent(out, "", n->loss_correlation);
	}
	if (n->duplicate)
		sh_percent(out, " duplicate", n->duplicate);
	if (n->corrupt)
		sh_percent(out, " corrupt", n->corrupt);
}

static void sh_police(const struct op *op, struct strbuf *out)
{
	const struct tc_policer *p = &op->tc.police;

	strbuf_add(out, "filter add dev ");
	str_shell_quote(out, op->dev);
	strbuf_addf(out,
		    " ingress pref 1 protocol all matchall action police rate %" PRIu64
		    "bit burst %" PRIu64 " mtu %" PRIu32,
		    p->rate.rate_bytes * 8, sh_burst(&p->rate), p->mtu_bytes);
	sh_cost(out, &p->rate);
	strbuf_add(out, " conform-exceed drop/ok");
}

static void sh_where(const struct op *op, const char *what, struct strbuf *out)
{
	strbuf_addf(out, "%s add dev ", what);
	str_shell_quote(out, op->dev);
	sh_parent(out, op->tc.parent);
	sh_id(out, op->tc.kind == TC_CLASS ? " classid " : " handle ", op->tc.handle);
	if (op->tc.stab_overhead)
		strbuf_addf(out, " stab overhead %d", op->tc.stab_overhead);
}

void plan_tc_sh(const struct op *op, struct strbuf *out)
{
	if (op->tc.kind == TC_POLICE) {
		sh_police(op, out);
		return;
	}
	if (op->tc.kind == TC_CLSACT) {
		strbuf_add(out, "qdisc add dev ");
		str_shell_quote(out, op->dev);
		strbuf_add(out, " clsact");
		return;
	}
	sh_where(op, op->tc.kind == TC_CLASS ? "class" : "qdisc", out);
	switch (op->tc.kind) {
	case TC_TBF:
		sh_tbf(&op->tc.tbf, out);
		break;
	case TC_HTB:
		strbuf_addf(out, " htb default %x", op->tc.htb.default_minor);
		break;
	case TC_CLASS:
		sh_class(&op->tc.cls, out);
		break;
	case TC_FIFO:
		strbuf_addf(out, " bfifo limit %" PRIu32, op->tc.fifo_limit_bytes);
		break;
	case TC_PFIFO:
		strbuf_addf(out, " pfifo limit %" PRIu32, op->tc.pfifo_limit_packets);
		break;
	case TC_NETEM:
		sh_netem(&op->tc.netem, out);
		break;
	default:
		break;
	}
}

/* For a person ----------------------------------------------------------------------------------
 */

static void text_rate(struct strbuf *out, double bps)
{
	char text[32];

	strbuf_add(out, units_format_rate(text, sizeof(text), bps));
}

static void text_size(struct strbuf *out, uint64_t bytes)
{
	char text[32];

	strbuf_add(out, units_format_size(text, sizeof(text), (int64_t)bytes));
}

static void text_time(struct strbuf *out, double ns)
{
	char text[32];

	strbuf_addf(out, " (%s)", units_format_time(text, sizeof(text), (int64_t)ns));
}

static bool counts_packets(const struct tc_bucket *b)
{
	return b->mpu && !b->overhead;
}

/* "a frame costs 24 bytes more, at least 84" or how the rate was scaled. */
static void text_cost(struct strbuf *out, const struct op *op, const struct tc_bucket *b)
{
	const struct wire_rate *asked = &op->shape->rate;

	if (b->overhead) {
		strbuf_addf(out, "a frame costs %d bytes more, at least %d", b->overhead, b->mpu);
	} else if (op->tc.stab_overhead) {
		strbuf_addf(out, "a frame costs %d bytes less", -op->tc.stab_overhead);
	} else if (asked->mode == SHAPE_FAST && asked->basis != BASIS_L2) {
		strbuf_add(out, "scaled to ");
		text_rate(out, (double)b->rate_bytes * 8);
		strbuf_add(out, " for full frames");
	} else {
		strbuf_add(out, "a frame costs its length");
	}
}

static void text_burst(struct strbuf *out, const struct tc_bucket *b)
{
	if (counts_packets(b)) {
		strbuf_addf(out, "burst %" PRIu64 " packets", b->burst_bytes / b->mpu);
	} else {
		strbuf_add(out, "burst ");
		text_size(out, b->burst_bytes);
	}
	text_time(out, (double)b->burst_bytes * 1e9 / (double)b->rate_bytes);
}

/* `drain`: what empties it; full frames cost it more than their length. */
static void text_queue(struct strbuf *out, const struct op *op, uint32_t bytes,
		       const struct tc_bucket *drain)
{
	double frame = op->mtu + ETHERNET_HEADER;
	double cost = counts_packets(drain) ? drain->mpu : frame + drain->overhead;

	strbuf_add(out, "queue ");
	text_size(out, bytes);
	text_time(out, bytes * (cost / frame) * 1e9 / (double)drain->rate_bytes);
}

static void text_packets(struct strbuf *out, const struct tc_bucket *b)
{
	strbuf_addf(out, "%" PRIu64 " packets/s (each costs %d bytes): ", b->rate_bytes / b->mpu,
		    b->mpu);
}

/* Credit as it is, and what was asked where the kernel cannot hold that. */
static void text_credit(struct strbuf *out, const struct op *op, const struct tc_bucket *base,
			const struct tc_bucket *burst)
{
	const struct wire_rate *asked = &op->shape->rate;
	double ns =
	    (double)base->burst_bytes * 1e9 / (double)(burst->rate_bytes - base->rate_bytes);
	char text[32];

	strbuf_add(out, ", credit ");
	text_size(out, base->burst_bytes);
	strbuf_addf(out, ", full for %s of ", units_format_time(text, sizeof(text), (int64_t)ns));
	text_rate(out, (double)asked->burst_bps);
	if (ns < (double)asked->credit_ns * 0.999)
		strbuf_addf(out, " (the kernel's bucket is too small for the %s asked)",
			    units_format_time(text, sizeof(text), asked->credit_ns));
}

static void text_rate_asked(struct strbuf *out, const struct op *op, const struct tc_bucket *b)
{
	const struct wire_rate *asked = &op->shape->rate;

	text_rate(out, (double)asked->bps);
	strbuf_addf(out, " %s, %s (", wire_basis_name(asked->basis), wire_mode_name(asked->mode));
	text_cost(out, op, b);
	strbuf_add(out, "): ");
}

static void text_tbf(const struct op *op, struct strbuf *out)
{
	const struct tc_tbf *t = &op->tc.tbf;
	const struct tc_bucket *fast = t->peak.rate_bytes ? &t->peak : &t->rate;

	if (counts_packets(&t->rate))
		text_packets(out, &t->rate);
	else
		text_rate_asked(out, op, &t->rate);
	text_burst(out, fast);
	if (t->peak.rate_bytes)
		text_credit(out, op, &t->rate, &t->peak);
	/* Of the others the queue is what is below. */
	if (!op->shape->pps.pps || op->shape->pps.police || op->shape->rate.queue_bytes) {
		strbuf_add(out, ", ");
		text_queue(out, op, t->limit_bytes, &t->rate);
	}
}

/* The how many-th flow slot a step is about; -1: about none. */
static int flow_slot(const struct op *op)
{
	uint32_t class = op->tc.kind == TC_CLASS ? op->tc.handle : op->tc.parent;
	int slot = (int)(class - WIRE_SLOT_FIRST);

	if (op->kind != OP_TC ||
	    (op->tc.kind != TC_CLASS && op->tc.kind != TC_FIFO && op->tc.kind != TC_PFIFO) ||
	    !op->shape->flow_bps)
		return -1;
	return slot >= 0 && slot < WIRE_SLOTS_FLOW ? slot : -1;
}

bool plan_tc_repeats(const struct op *op)
{
	return flow_slot(op) > (op->tc.kind == TC_CLASS ? 1 : 0);
}

static void text_class(const struct op *op, struct strbuf *out)
{
	const struct tc_class *c = &op->tc.cls;

	if (flow_slot(op) == 1) {
		sh_id(out, "", op->tc.handle);
		sh_id(out, " to ", WIRE_SLOT_FIRST + WIRE_SLOTS_FLOW - 1);
		sh_id(out, ": the same as ", WIRE_SLOT_FIRST);
		strbuf_add(out, ", below one queue after the other");
		return;
	}
	sh_id(out, "", op->tc.handle);
	sh_id(out, " below ", op->tc.parent);
	strbuf_add(out, ": at most ");
	if (counts_packets(&c->ceil)) {
		text_packets(out, &c->ceil);
	} else {
		text_rate(out, (double)c->ceil.rate_bytes * 8);
		strbuf_add(out, ", ");
	}
	text_burst(out, &c->ceil);
	if (c->rate.rate_bytes > 1 && c->rate.rate_bytes < c->ceil.rate_bytes) {
		strbuf_add(out, ", base ");
		text_rate(out, (double)c->rate.rate_bytes * 8);
		text_credit(out, op, &c->rate, &c->ceil);
	}
}

static void text_netem(const struct op *op, struct strbuf *out)
{
	struct strbuf words = {0};

	sh_netem(&op->tc.netem, &words);
	strbuf_add(out, strbuf_text(&words) + 1);
	strbuf_done(&words);
}

static void text_police(const struct op *op, struct strbuf *out)
{
	const struct tc_policer *p = &op->tc.police;

	strbuf_add(out, "what arrives: ");
	text_rate_asked(out, op, &p->rate);
	text_burst(out, &p->rate);
	strbuf_add(out, ", what is over is dropped");
}

void plan_tc_text(const struct op *op, struct strbuf *out)
{
	strbuf_addf(out, "%s: ", op->dev);
	switch (op->tc.kind) {
	case TC_TBF:
		text_tbf(op, out);
		break;
	case TC_HTB:
		strbuf_addf(out, "classes; what nobody classified goes to 1:%x",
			    op->tc.htb.default_minor);
		break;
	case TC_CLASS:
		text_class(op, out);
		break;
	case TC_FIFO:
		sh_id(out, "below ", op->tc.parent);
		strbuf_add(out, ": queue ");
		text_size(out, op->tc.fifo_limit_bytes);
		break;
	case TC_PFIFO:
		sh_id(out, "below ", op->tc.parent);
		strbuf_addf(out, ": queue %" PRIu32 " packets", op->tc.pfifo_limit_packets);
		break;
	case TC_NETEM:
		text_netem(op, out);
		break;
	case TC_POLICE:
		text_police(op, out);
		break;
	default:
		strbuf_add(out, "filters of what arrives");
		break;
	}
}
